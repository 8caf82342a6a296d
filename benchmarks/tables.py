"""Results as a table: each piece of work beside its targets, published figures, rivals in the same run, and limits."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .measuring import Comparison
from .results import Results
from .words import amount, digits, times

BREAK, ESCAPED = "<br>", "\\|"
"""Within the cell of a table in Markdown: a new line, and an upright stroke."""


@dataclass(frozen=True)
class Sheet:
    """A table of texts."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """For a page."""
        return f"### {self.title}\n\n{rows_of(self.heads, self.rows)}"


def rows_of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = (f"| {' | '.join(cell.replace('|', ESCAPED) for cell in cells)} |" for cells in (heads, *rows))
    head, *others = lines
    return "\n".join([head, f"|{'---|' * len(heads)}", *others])


def sheet(results: Iterable[Results]) -> Sheet:
    """All that was measured: medians, in brackets the least and the most of all repetitions."""
    rows = tuple(
        (f"`{one.benchmark}`", found.work, _spread(found.values, found.unit), BREAK.join(beside(one, found)))
        for one in results
        for found in one.comparisons
    )
    return Sheet("Speed and memory", ("benchmark", "work", "Frostglass", "beside it"), rows)


def beside(measured: Results, found: Comparison) -> Iterator[str]:
    """What a piece of work stands beside; results of small sizes say nothing about targets and papers."""
    if not measured.quick and measured.scale == 1.0:
        for target in found.targets:
            sign, judged = "≥" if target.at_least else "≤", "reached" if target.reached else "**missed**"
            yield f"target {target.what} {sign} {digits(target.bound)}: {digits(target.measured)}, {judged}"
        for paper in found.published:
            ours = found.median / found.pieces
            here = f"one {found.piece} {amount(ours, found.unit)}, " if found.piece else ""
            where = f"{paper.where} ({paper.means})" if paper.means else paper.where
            yield f"{here}{where}: {amount(paper.value, found.unit)}, {times(paper.value / ours)}"
    for one in found.rivals:
        yield f"{one.name}: {_spread(one.values, found.unit)}, {times(found.ratio(one))}"
    for one in found.limits:
        alone = amount(statistics.median(one.values), found.unit)
        yield f"limit, {one.name}: {alone}, the whole {times(1 / found.ratio(one))}"
    more = {name: value for name, value in found.facts.items() if value not in [one.measured for one in found.targets]}
    if more:
        yield "; ".join(f"{digits(value)} {name}" for name, value in more.items())


def machines(results: Iterable[Results]) -> str:
    """One line for every machine and day that figures come from, and what versions all of them had."""
    results = list(results)
    common = set.intersection(*(set(one.machine["versions"].items()) for one in results))
    lines: dict[str, list[str]] = {}
    for one in results:
        where = one.machine
        own = "".join(f", {name} {said}" for name, said in where["versions"].items() if (name, said) not in common)
        line = (
            f"{where['processor']}, {where['cores']} cores, {where['memory_gib']} GiB; {where['system']}, "
            f"{where['blas']}, Python {where['python']}{own}; {one.day}"
        )
        lines.setdefault(line, []).append(one.benchmark)
    versions = ", ".join(
        f"{name} {said}" for name, said in results[0].machine["versions"].items() if (name, said) in common
    )
    if len(lines) == 1:
        return f"{next(iter(lines))}; {versions}."
    named = "\n".join(f"* {', '.join(f'`{name}`' for name in names)}: {line}." for line, names in lines.items())
    return f"{named}\n\nAll with {versions}."


def _spread(values: Sequence[float], unit: str) -> str:
    middle, low, high = (amount(value, unit) for value in (statistics.median(values), min(values), max(values)))
    return middle if low == high else f"{middle} ({low} – {high})"
