"""What a report shows of released tables: columns, pairs that go together, and the difference to another file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from ...analysis import table_profile
from ...analysis.differences import (
    Row,
    cell_differences,
    groups_of,
    means_of_groups,
    rows_of_differences,
    strength_differences,
)
from ...analysis.table_profile import Number, Profile, place_columns
from ...domain import Dates
from ...formatting.escapes import in_html
from ...formatting.numbers import significant
from ...formatting.phrases import listed, shown
from ...releases.comparison import Comparison
from ...releases.release import Release
from ...sketches.tables.answers import TableAnswers
from ...sketches.tables.table_axes import Axis as Cells
from ..difference_figures import difference_words, strength_words
from ..figure_axes import Axis
from ..table_figures import MOST_PAIRS, column_in_words, rows_of, share_words
from .svg import shares_svg

HEADS = ("columns", "Cramér's V", "low", "high", "bits", "χ²", "noise alone")
MOST_COLUMNS = 30  # Columns that are drawn; the file answers the rest.


def counts_html(release: Release) -> Iterator[str]:
    """The sections of a release of tables, as lines of HTML."""
    answers = release.asked()
    names = [axis.name for axis in answers.axes if table_profile.measured(answers, [axis.name])]
    yield "<section aria-labelledby='columns'><h2 id='columns'>Columns</h2>"
    for place, name in enumerate(names[:MOST_COLUMNS]):
        yield from _column(table_profile.profile(answers, name, {}), f"column-{place}")
    if len(names) > MOST_COLUMNS:
        yield f"<p class='note'>The first {MOST_COLUMNS} of {len(names):,} columns.</p>"
    yield "</section>"
    yield from _pairs(answers)


def _column(profile: Profile, identity: str) -> Iterator[str]:
    words = column_in_words(profile)
    yield f"<h3 id='{identity}'>{in_html(shown(profile.name))}</h3>"
    if profile.missing:
        yield f"<p>{in_html(profile.missing)}</p>"
        return
    rows = rows_of(profile)
    yield f"<figure><div class='wide' tabindex='0' role='region' aria-labelledby='{identity}'>"
    ends = _ends(profile.axis, rows)
    shares = (values[rows] for values in (profile.share, profile.low, profile.high))
    yield shares_svg(_axis(profile.axis, rows), ends, *shares, words, identity)
    numbers = "; ".join(_number(profile.axis, number) for number in profile.numbers)
    hidden = profile.axis.valued - len(rows)
    more = f" The {len(rows)} most frequent are drawn, of {profile.axis.valued:,}." if hidden else ""
    said = f"{numbers[:1].upper()}{numbers[1:]}." if numbers else ""
    yield f"</div><figcaption>{in_html(f'{words}{more} {said}'.strip())}</figcaption></figure>"


def _axis(cells: Cells, rows: np.ndarray) -> Axis:
    """The column along the bottom: its categories side by side, or its values between their bounds."""
    if cells.categories:
        labels = tuple(cells.categories[row] for row in rows)
        return Axis(cells.name, np.arange(len(rows), dtype=np.float64), -0.5, len(rows) - 0.5, "", labels)
    edges, dates = cells.edges(), cells.column if isinstance(cells.column, Dates) else None
    unit = "" if dates is not None else getattr(cells.column, "unit", "")
    return Axis(cells.name, edges, float(edges[0]), float(edges[-1]), unit, dates=dates)


def _ends(cells: Cells, rows: np.ndarray) -> np.ndarray:
    """Where the bar of each cell begins and ends, float64 (rows, 2)."""
    if cells.categories:
        places = np.arange(len(rows), dtype=np.float64)
        return np.stack([places - 0.33, places + 0.33], axis=1)
    edges = cells.edges()
    return np.stack([edges[:-1], edges[1:]], axis=1)


def _number(axis: Cells, number: Number) -> str:
    if number.share:
        return f"{number.name} {share_words(number.estimate, number.low, number.high)}"
    error = (number.high - number.low) / 4.0
    ends = (number.estimate, number.low, number.high)
    estimate, low, high = (table_profile.written(axis, value, error) for value in ends)
    return f"{number.name} {estimate} ({low} to {high})"


def _pairs(answers: TableAnswers) -> Iterator[str]:
    strengths = answers.strengths().head(MOST_PAIRS)
    if not len(strengths):
        return
    yield "<section aria-labelledby='pairs'><h2 id='pairs'>Which columns go together</h2>"
    yield "<div class='wide' tabindex='0' role='region' aria-labelledby='pairs'><table><thead><tr>"
    yield "".join(f"<th scope='col'>{head}</th>" for head in HEADS)
    yield "</tr></thead><tbody>"
    for one, other, *values in strengths[["column", "other", "estimate", "low", "high"]].itertuples(index=False):
        told = table_profile.association(answers, one, other)
        values += [told.bits, told.statistic, told.alone]
        cells = "".join(f"<td>{in_html(significant(value, 2))}</td>" for value in values)
        yield f"<tr><td>{in_html(listed([shown(one), shown(other)]))}</td>{cells}</tr>"
    yield (
        "</tbody></table></div><p class='note'>0 where two columns have nothing to do with each other, 1 where one "
        "tells the other. What noise alone would add is taken off. Beside it the bits that one tells of the other, and "
        "χ² with noise, with what noise and chance alone stay below in 19 of 20 releases.</p></section>"
    )


MOST_ROWS = 30  # Lines of a table that are printed, those that are more than noise first; the two files answer the rest
NOISE = (
    "Bold: more than noise alone may make. Of a hundred lines without a difference, about five are bold all the same."
)


def differences_html(compared: Comparison, other: str) -> Iterator[str]:
    """The section of a comparison of two releases of tables, as lines of HTML."""
    yield "<section aria-labelledby='differences'>"
    yield f"<h2 id='differences'>Difference to {in_html(shown(other))}</h2>"
    counted = "shares of all" if compared.shares else "numbers of records"
    yield f"<p>This file less the other. Means are of numbers and dates, {counted} of categories. {NOISE}</p>"
    yield from _table("Columns", ("column", "difference"), _lines(rows_of_differences(compared), compared.shares))
    places = place_columns(compared.first.asked())
    if places is not None:
        yield from _table("On the map", (*places, "difference"), _cells(compared, places))
    means = [row for pair in groups_of(compared) for row in _named(means_of_groups(compared, *pair), pair[1])]
    yield from _table("Means of groups", ("mean", "difference"), _lines(means, False))
    strengths = (
        (row.told, (_both(row.column, row.other), *strength_words(row))) for row in strength_differences(compared)
    )
    yield from _table(
        "What goes together (Cramér's V)", ("columns", "this file", "the other", "difference"), list(strengths)
    )
    yield "</section>"


def _lines(rows: Iterable[Row], shares: bool) -> list[tuple[bool, tuple[str, ...]]]:
    return [
        (
            row.told,
            (
                f"{shown(row.column)}: {shown(row.what)}{f' ({shown(row.unit)})' if row.unit else ''}",
                difference_words(row.estimate, row.low, row.high, shares and not row.mean),
            ),
        )
        for row in rows
    ]


def _named(rows: Iterable[Row], by: str) -> Iterator[Row]:
    """Differences of means whose names say by which column their groups are."""
    return (replace(row, what=f"{by} {row.what}") for row in rows)


def _cells(compared: Comparison, places: tuple[str, str]) -> list[tuple[bool, tuple[str, ...]]]:
    frame = cell_differences(compared, *places).frame()
    return [
        (low > 0.0 or high < 0.0, (across, up, difference_words(estimate, low, high, compared.shares)))
        for across, up, estimate, low, high in frame.itertuples(index=False)
    ]


def _both(one: str, other: str) -> str:
    return listed([shown(one), shown(other)])


def _table(title: str, heads: Sequence[str], lines: list[tuple[bool, tuple[str, ...]]]) -> Iterator[str]:
    """An HTML table of differences, those that are more than noise first."""
    if not lines:
        return
    lines = sorted(lines, key=lambda line: not line[0])
    yield f"<h3>{in_html(title)}</h3><div class='wide' tabindex='0' role='region' aria-label='{in_html(title)}'>"
    head = "".join(f"<th scope='col'>{in_html(shown(name))}</th>" for name in heads)
    yield f"<table><thead><tr>{head}</tr></thead><tbody>"
    for told, cells in lines[:MOST_ROWS]:
        written = [f"<strong>{in_html(cell)}</strong>" if told else in_html(cell) for cell in cells]
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in written)}</tr>"
    yield "</tbody></table></div>"
    if len(lines) > MOST_ROWS:
        yield f"<p class='note'>The first {MOST_ROWS} of {len(lines):,}.</p>"
