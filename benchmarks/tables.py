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


def sheet(results: Iterable[Results], everything: bool = True) -> Sheet:
    """Medians, of ours with the least and the most; without `everything` only what stands beside something."""
    cells = [
        (f"`{one.benchmark}`", found.work, _spread(found.values, found.unit), list(beside(one, found)), found.facts)
        for one in results
        for found in one.comparisons
    ]
    rows = [
        (name, work, ours, BREAK.join([*others, *(_rates(facts) if everything else ())]))
        for name, work, ours, others, facts in cells
        if others or everything
    ]
    return Sheet("Speed and memory", ("benchmark", "work", "Frostglass", "beside it"), tuple(rows))


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
        yield f"{one.name}: {_median(one.values, found.unit)}, {times(found.ratio(one))}"
    for one in found.limits:
        yield f"limit, {one.name}: {_median(one.values, found.unit)}, the whole {times(1 / found.ratio(one))}"


def _rates(facts: dict[str, float]) -> Iterator[str]:
    """Rates, memory and errors that came with the times."""
    if facts:
        yield "; ".join(f"{digits(value)} {name}" for name, value in facts.items())


def machines(results: Iterable[Results]) -> str:
    """One line for every machine and day that figures come from."""
    lines: dict[str, list[str]] = {}
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


def _median(values: Sequence[float], unit: str) -> str:
    return amount(statistics.median(values), unit)


def _spread(values: Sequence[float], unit: str) -> str:
    low, high = (amount(value, unit) for value in (min(values), max(values)))
    return _median(values, unit) + ("" if low == high else f" ({low} – {high})")
