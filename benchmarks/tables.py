"""Results as tables: what was measured beside rivals, beside what papers published, and beside its targets."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .results import Results
from .words import amount, digits, times


@dataclass(frozen=True)
class Sheet:
    """A table of texts."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """For a page."""
        lines = [self.heads, ("---",) * len(self.heads), *self.rows]
        return f"### {self.title}\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def sheets(results: Sequence[Results]) -> list[Sheet]:
    """All tables that results fill."""
    drawn = (targets(results), published(results), rivals(results), limits(results), facts(results))
    return [sheet for sheet in drawn if sheet.rows]


def targets(results: Iterable[Results]) -> Sheet:
    """What was to be reached; results of small sizes say nothing about that."""
    rows = [
        (
            f"`{one.benchmark}`",
            found.work,
            f"{target.what} {'≥' if target.at_least else '≤'} {digits(target.bound)}",
            digits(target.measured),
            "yes" if target.reached else "**no**",
        )
        for one in results
        if _full(one)
        for found in one.comparisons
        for target in found.targets
    ]
    return Sheet("Targets", ("benchmark", "work", "target", "measured", "reached"), tuple(rows))


def published(results: Iterable[Results]) -> Sheet:
    """What papers say their own took, and what it takes here."""
    rows = [
        (
            paper.where,
            f"{found.work}{f', one {found.piece}' if found.piece else ''}",
            f"{amount(paper.value, found.unit)}{f' ({paper.means})' if paper.means else ''}",
            amount(found.median / found.pieces, found.unit),
            times(paper.value * found.pieces / found.median),
        )
        for one in results
        if _full(one)
        for found in one.comparisons
        for paper in found.published
    ]
    return Sheet("Beside the papers", ("table", "work", "published", "here", "ratio"), tuple(rows))


def rivals(results: Iterable[Results]) -> Sheet:
    """Everything that ran side by side: medians, and in brackets the least and the most of all repetitions."""
    rows = []
    for measured in results:
        for found in measured.comparisons:
            own = (f"`{measured.benchmark}`", found.work, _spread(found.values, found.unit))
            beside = [(one.name, _spread(one.values, found.unit), times(found.ratio(one))) for one in found.rivals]
            for number, cells in enumerate(beside or [("", "", "")]):
                rows.append((own if number == 0 else ("", "", "")) + cells)
    heads = ("benchmark", "work", "Frostglass", "rival", "rival's", "rival / Frostglass")
    return Sheet("Side by side, in the same run", heads, tuple(rows))


def limits(results: Iterable[Results]) -> Sheet:
    """How long the whole takes as a multiple of what it cannot do without."""
    rows = [
        (f"`{one.benchmark}`", found.work, limit.name, _spread(limit.values, found.unit), times(1 / found.ratio(limit)))
        for one in results
        for found in one.comparisons
        for limit in found.limits
    ]
    return Sheet("How far from the limit", ("benchmark", "work", "limit", "limit alone", "all / limit"), tuple(rows))


def facts(results: Iterable[Results]) -> Sheet:
    """Rates, memory and errors that came with the times."""
    rows = [
        (f"`{one.benchmark}`", found.work, "; ".join(f"{digits(value)} {name}" for name, value in found.facts.items()))
        for one in results
        for found in one.comparisons
        if found.facts
    ]
    return Sheet("What came with it", ("benchmark", "work", "measured as well"), tuple(rows))


def machines(results: Iterable[Results]) -> str:
    """One line for every machine and day that figures come from."""
    lines = {}
    for one in results:
        where = one.machine
        versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
        line = (
            f"{where['processor']}, {where['cores']} cores, {where['memory_gib']} GiB; {where['system']}, "
            f"{where['blas']}, Python {where['python']}, {versions}; {one.day}"
        )
        lines.setdefault(line, []).append(one.benchmark)
    if len(lines) == 1:
        return next(iter(lines)) + "."
    return "\n".join(f"* {', '.join(f'`{name}`' for name in names)}: {line}." for line, names in lines.items())


def markdown(results: Sequence[Results]) -> str:
    """All tables, for a page."""
    return "\n\n".join([machines(results), *(sheet.markdown() for sheet in sheets(results))]) + "\n"


def _full(one: Results) -> bool:
    return not one.quick and one.scale == 1.0


def _spread(values: Sequence[float], unit: str) -> str:
    middle, low, high = (amount(value, unit) for value in (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} – {high})"
