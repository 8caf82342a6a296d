"""Options that several commands share, written once as the fields of a dataclass."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def grouped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters of a dataclass's type stand for the fields of that dataclass, one option each.

    Typer reads options off a function's signature; this writes the fields into it, and gathers them again at the call.
    """
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, type[Any]] = {
        name: part.annotation
        for name, part in signature.parameters.items()
        if isinstance(part.annotation, type) and is_dataclass(part.annotation)
    }
    flat: list[inspect.Parameter] = []
    for name, parameter in signature.parameters.items():
        options = _options(groups[name]) if name in groups else [parameter.replace(kind=parameter.KEYWORD_ONLY)]
        flat.extend(options)

    @wraps(function)
    def command(**given: Any) -> Any:
        gathered = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        return function(**given, **gathered)

    command.__signature__ = signature.replace(parameters=flat)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in flat}
    return command


def _options(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=_default(field), annotation=hints[field.name]
        )
        for field in fields(group)
    ]


def _default(field: Field) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default
