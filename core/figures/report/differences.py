"""What a report says of the difference to another file of tables: columns, means of groups, and what goes together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...releases.comparison import Comparison
from ...tasks.differences import (
    Row,
    cell_differences,
    groups_of,
    means_of_groups,
    rows_of_differences,
    strength_differences,
)
from ...tasks.table_profile import place_columns
from ...words.escapes import in_html
from ...words.phrases import listed, shown
from ..table_difference import difference_words, strength_words

MOST_ROWS = 30
"""Lines of a table that are printed, those that are more than noise first; the two files answer the rest."""
NOISE = (
    "Bold: more than noise alone may make. Of a hundred lines without a difference, about five are bold all the same."
)


def differences_html(compared: Comparison, other: str) -> Iterator[str]:
    """The section of a comparison of two releases of tables, as lines of HTML.

    Parameters
    ----------
    compared : Comparison
        The release of the report, less another.
    other : str
        What the other one is called.
    """
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
    """Rows of means that say by which column their groups are."""
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
    """A table of lines, those that are told first."""
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
