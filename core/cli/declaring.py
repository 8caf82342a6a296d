"""From what was typed to a domain and a sketch: all of it public, none of it read from private data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import RequestError
from . import notation
from .options import DataOptions, GuessOptions, SketchOptions, refuse_typed, typed
from .output import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..domain import Column, Domain
    from ..kernels import Kernel
    from ..privacy.budget import Budget
    from ..releases import Release
    from ..sketches.race import Race

TAKEN = "--like takes it from the release file"


def declared_sketch(data: DataOptions, shape: SketchOptions, found: Mapping[str, Column] | None = None) -> Race:
    """The sketch that was typed, or that of the release file which ``--like`` names.

    Parameters
    ----------
    data, shape : what was typed.
    found : columns whose bounds come from elsewhere, such as bounds bought with a share of the budget.

    Raises
    ------
    RequestError
        When something is missing or contradicts itself.
    """
    from ..sketches.race import Race

    if shape.like is not None:
        refuse_typed([*typed(data), *(option for option in typed(shape) if option != "--like")], TAKEN)
        return like(shape).sketch
    domain = declared_domain(data, found)
    seed = None if shape.seed is None else notation.parse_seed(shape.seed)
    return Race(domain, declared_kernel(shape, domain), shape.rows, shape.width, seed=seed, groups=shape.groups)


def like(shape: SketchOptions) -> Release:
    """The release that ``--like`` names."""
    from ..release_file import load

    return load(shape.like)


def declared_domain(data: DataOptions, found: Mapping[str, Column] | None = None) -> Domain:
    """Columns with their bounds and categories, and the rules for records that do not fit."""
    from ..domain import Domain, PrivacyUnit

    unit = PrivacyUnit() if data.unit is None else PrivacyUnit(*notation.parse_unit(data.unit))
    columns = declared_columns(data, found or {})
    return Domain(columns, data.outside, data.missing, unit, data.scale, data.category_distance)


def declared_columns(data: DataOptions, found: Mapping[str, Column]) -> tuple[Column, ...]:
    """The columns in their order, each with facts from exactly one place."""
    facts, common = _typed_facts(data)
    for name in facts:
        if name in found:
            raise RequestError(f"The bounds of {name!r} are given twice.")
    facts |= found
    names = tuple(facts) if data.columns is None else notation.parse_names(data.columns)
    notation.check_known([*facts, *_lengths(data)], names)
    open_names = [name for name in names if name not in facts]
    if common is not None:
        facts |= {name: _numeric(name, common, data) for name in open_names}
    elif open_names and data.bounds_from_sample is not None:
        facts |= _sample_facts(data, open_names)
    undeclared = [name for name in names if name not in facts]
    if undeclared or not names:
        name = undeclared[0] if undeclared else "COLUMN"
        raise RequestError(
            f"Every column needs public bounds or categories, and {name!r} has none; say --bounds {name}=LOW:HIGH or "
            f"--categories {name}=A,B,C from public knowledge, as what is read off private data would give people away."
        )
    return tuple(facts[name] for name in names)


def _typed_facts(data: DataOptions) -> tuple[dict[str, Column], tuple[float, float] | None]:
    """Columns declared one by one, and the bounds that hold for all others."""
    from ..domain import Categorical

    common: tuple[float, float] | None = None
    facts: dict[str, Column] = {}
    for name, low, high in map(notation.parse_bounds, data.bounds or ()):
        if name in facts or (name is None and common is not None):
            raise RequestError(f"The bounds of {'all columns' if name is None else repr(name)} are given twice.")
        if name is None:
            common = low, high
        else:
            facts[name] = _numeric(name, (low, high), data)
    for name, categories in map(notation.parse_categories, data.categories or ()):
        if name in facts:
            raise RequestError(f"The column {name!r} is declared twice.")
        facts[name] = Categorical(name, categories)
    return facts, common


def _numeric(name: str, bounds: tuple[float, float], data: DataOptions) -> Column:
    """A column of numbers, or of vectors of them."""
    from ..domain import Numeric, Vector

    lengths = _lengths(data)
    return Vector(name, lengths[name], *bounds) if name in lengths else Numeric(name, *bounds)


def _lengths(data: DataOptions) -> dict[str, int]:
    return dict(map(notation.parse_length, data.vector or ()))


def _sample_facts(data: DataOptions, names: list[str]) -> dict[str, Column]:
    from ..public_sample import public_facts
    from ..sources import open_source

    return public_facts(open_source(data.bounds_from_sample), names)


def declared_kernel(shape: SketchOptions, domain: Domain) -> Kernel:
    """The kernel, with one bandwidth or one a column."""
    from ..kernels import KERNELS, Angular

    kind = KERNELS[shape.kernel]
    if kind is Angular:
        if shape.bandwidth is not None:
            raise RequestError("The angular kernel has no bandwidth, as angles need no unit; raise its --power.")
        return Angular(shape.power)
    if shape.bandwidth is None:
        raise RequestError(
            f"The {shape.kernel} kernel needs a --bandwidth: the distance at which closeness fades, in the units of "
            "the columns."
        )
    return kind(notation.parse_bandwidth(shape.bandwidth, domain.names), shape.power)


def with_rows(sketch: Race, budget: Budget, guess: GuessOptions) -> Race:
    """The sketch with a number of rows: its own, or the best by forecast for what was guessed, and says so."""
    from ..forecast import DEFAULT_RECORDS, choose_rows

    if sketch.rows is not None:
        return sketch
    rows = choose_rows(sketch, budget, guess.records, guess.density)
    reason = "" if guess.records else ", as no --records says more"
    say(f"The forecast chose {rows:,} rows for about {guess.records or DEFAULT_RECORDS:,.0f} records{reason}.")
    chosen = sketch.with_rows(rows)
    return chosen if sketch.groups is None else replace(chosen, groups=sketch.groups)
