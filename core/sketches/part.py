"""Sketches inside others: one question of a release of several, and the sketch that another one is around.

A part has a name, a weight, and a domain beside the others'. Files name the mechanism of every sketch inside another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..domain import Column, Domain
from ..errors import RequestError
from ..runtime.counter_tables import Counters
from ..runtime.parameters import Described, check_choice, check_number, check_text, exact_fields, field_names
from .linear import MAX_COUNTERS, LinearSketch
from .registry import card_of

MAX_NAME = 100
LARGEST_RATIO = 1e9  # Between the deviations of the noise of two parts.
COLUMNS_NAMED = 3  # In a part's own name.
FIELDS = ("name", "columns", "scale", "category_distance", "mechanism", "parameters", "noise")


@dataclass(frozen=True)
class Part:
    """One question of a release.

    RequestError when it is no sketch that could be a part, or a number is out of range.

    Parameters
    ----------
    sketch : LinearSketch
        What is released; its domain has the columns that are used, and the rules and the people of all parts.
    name : str
        Public words of the owner's; from what is asked and the columns where they are left out.
    weight : float
        How much its answers matter beside those of the others: of twice the weight, half the error.
    noise : float | None
        How large the deviation of its counters' noise is beside that of the other parts; None until the forecast
        chooses it.
    share : float | None
        Of the budget, between 0 and 1, where the owner has fixed it: the weights of the others share the rest. No file
        holds it, as the noise follows from it.
    """

    sketch: LinearSketch
    name: str = ""
    weight: float = 1.0
    noise: float | None = None
    share: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.sketch, LinearSketch):
            raise RequestError(
                "A part of a release is a linear sketch; what chooses under noise before it measures is released apart."
            )
        if self.sketch.parts:
            raise RequestError("The parts of a release cannot have parts themselves; put them side by side.")
        if not self.name:
            object.__setattr__(self, "name", words_for(self.sketch))
        check_text(self.name, "The name of a part")
        if len(self.name) > MAX_NAME or self.name != self.name.strip():
            raise RequestError(
                f"The name of a part may have {MAX_NAME} characters, and none of them is a space around it."
            )
        for value, what in ((self.weight, "The weight of a part"), (self.noise, "The noise of a part")):
            if value is not None and not 1 / LARGEST_RATIO <= check_number(value, what) <= LARGEST_RATIO:
                raise RequestError(f"{what} must lie between a billionth and a billion, beside 1 for the others.")
        if self.share is not None and not 0.0 < check_number(self.share, "The share of a part") < 1.0:
            raise RequestError("The share of a part must lie between 0 and 1: the others need some of the budget too.")

    @property
    def settled_noise(self) -> float:
        """The ratio of its noise; RequestError before the forecast has chosen it."""
        if self.noise is None:
            raise RequestError(f"The share of the part {self.name!r} is not settled yet; let the forecast choose it.")
        return self.noise


def words_for(sketch: LinearSketch) -> str:
    """A part's name from what is asked of it and its columns: "density of age and pay by sex"."""
    names = [shortened(name) for name in sketch.query_domain.names]
    if len(names) > COLUMNS_NAMED:
        names = [*names[: COLUMNS_NAMED - 1], f"{len(names) - COLUMNS_NAMED + 1} others"]
    columns = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    answers = card_of(sketch.one_answer[0]).answers
    what = {"closeness": "density"}.get(answers, answers)
    label = next((name for name in sketch.domain.names if name not in sketch.query_domain.names), None)
    return f"{what} of {columns}" + ("" if label is None else f" by {shortened(label)}")


def shortened(name: str) -> str:
    """A column's name as it fits into that of a part."""
    name = name.strip() or "?"
    return name if len(name) <= MAX_NAME // 5 else f"{name[: MAX_NAME // 5 - 1]}…"


def of_inner(name: str) -> Any:
    """What a sketch around another one says as that one does: its attribute or method of this name."""
    return property(lambda self: getattr(self.inner, name))


class Slabs(LinearSketch):
    """A slab of counters of one inner sketch for each group of records, which a column of the domain tells apart."""

    inner: LinearSketch
    apart: ClassVar[str]  # The field that names the column.
    metric = of_inner("metric")
    setup_bytes = of_inner("setup_bytes")
    query_domain = of_inner("query_domain")
    sized = of_inner("sized")
    needs_records = of_inner("needs_records")
    gaussian_only = of_inner("gaussian_only")
    check_budget = of_inner("check_budget")
    total_variance = of_inner("total_variance")

    @property
    def shape(self) -> tuple[int, ...]:
        shape = (*self.count_shape, *self.inner.shape)
        if np.prod(shape, dtype=np.float64) > MAX_COUNTERS:
            raise RequestError(
                f"{shape[0]:,} tables of {' by '.join(f'{side:,}' for side in shape[1:])} are more than "
                f"{MAX_COUNTERS:,} counters, which is the most that a {self.described} may have."
            )
        return shape

    def with_inner(self, inner: LinearSketch) -> Self:
        return replace(self, inner=inner)  # type: ignore[call-arg]  # a field of each

    def reseeded(self, seed: int) -> Self:
        return self.with_inner(self.inner.reseeded(seed))

    def within(self, domain: Domain) -> Self:
        inner = self.inner.within(domain.without(getattr(self, self.apart)))
        return replace(self, domain=domain, inner=inner)  # type: ignore[call-arg]

    def with_one_answer(self, one: LinearSketch) -> LinearSketch:
        return self.with_inner(one)

    def total(self, table: Counters) -> np.ndarray:
        """The number of records in each slab, float64."""
        return np.array([self.inner.total(slab) for slab in table])


class InnerKind(Described):
    """A sketch, written with its mechanism. Its domain follows from the outer sketch, which therefore makes it."""

    def written(self, value: LinearSketch) -> dict[str, Any]:
        return {"mechanism": value.name, "parameters": value.parameters()}

    def read(self, value: object) -> dict[str, Any]:
        """The name of the mechanism and its parameters, both unchecked."""
        return exact_fields(value, "sketch inside another one", ("mechanism", "parameters"))


class PartKind(Described):
    """A part, written with its mechanism and the columns of its domain."""

    def written(self, value: Part) -> dict[str, Any]:
        sketch = value.sketch
        facts = (
            value.name,
            list(sketch.domain.names),
            sketch.domain.scale,
            sketch.domain.category_distance,
            sketch.name,
            sketch.parameters(),
            value.noise,
        )
        return dict(zip(FIELDS, facts, strict=True))

    def read(self, value: object) -> dict[str, Any]:
        return exact_fields(value, "part of a release", FIELDS)


OWN = ("columns", "scale", "category_distance")  # Of a domain: what parts may have of their own.


def joined(domains: Sequence[Domain]) -> Domain:
    """All columns of several domains that share their rules and the people whom they protect.

    RequestError when they do not, or declare a column differently.
    """
    first = domains[0]
    columns: dict[str, Column] = {}
    for domain in domains:
        if domain.unit != first.unit:
            raise RequestError("The parts of a release must protect the same people, as one promise is made to them.")
        if _rules(domain) != _rules(first):
            raise RequestError(
                "The parts of a release must treat values outside the bounds and missing ones alike, as they are of "
                "the same records."
            )
        for column in domain.columns:
            if columns.setdefault(column.name, column) != column:
                raise RequestError(
                    f"The column {column.name!r} is declared differently in two parts; say once what it may hold."
                )
    return replace(first, columns=tuple(columns.values()), scale="none", category_distance=1.0)


def _rules(domain: Domain) -> dict[str, object]:
    """What is said of records beside their columns, and beside how a part compares them."""
    return {name: getattr(domain, name) for name in field_names(Domain) if name not in OWN}


def of_part(domain: Domain, own: Domain) -> Domain:
    return restricted(domain, list(own.names), own.scale, own.category_distance)


def restricted(domain: Domain, names: object, scale: Any, category_distance: Any) -> Domain:
    """Some columns of a domain, compared in a way of their own; RequestError when it does not have them."""
    by_name = {column.name: column for column in domain.columns}
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name in by_name for name in names):
        raise RequestError("The columns of a part must be a list of columns of the release.")
    check_choice(scale, "The scale of a part", ("none", "box"))
    columns = tuple(by_name[name] for name in names)
    return replace(domain, columns=columns, scale=scale, category_distance=category_distance)
