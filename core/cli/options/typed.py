"""Which options of a group were typed, and the refusal of those that contradict another one."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from ...errors import RequestError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def typed(group: DataclassInstance) -> list[str]:
    """Names of the options of a group that differ from their defaults, as they are typed."""
    return [
        f"--{field.name.replace('_', '-')}" for field in fields(group) if getattr(group, field.name) != field.default
    ]


def refuse_typed(options: list[str], why: str) -> None:
    """Refuse options that contradict another one."""
    if options:
        raise RequestError(f"{options[0]} cannot be given here, as {why}.")
