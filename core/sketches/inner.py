"""A sketch inside another one, as a parameter of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..checks import exact_fields
from ..parameters import Described

if TYPE_CHECKING:
    from .linear import LinearSketch


class InnerKind(Described):
    """A sketch, written with its mechanism. Its domain follows from the outer sketch, which therefore makes it."""

    def written(self, value: LinearSketch) -> dict[str, Any]:
        return {"mechanism": value.name, "parameters": value.parameters()}

    def read(self, value: object) -> dict[str, Any]:
        """The name of the mechanism and its parameters, both unchecked."""
        return exact_fields(value, "sketch inside another one", ("mechanism", "parameters"))
