"""Pictures of a page that are looked at and not asked: columns of a released table, and densities that were asked for.

The page draws them with the same code as the picture that is asked; here is what it draws them from, and what is said
below each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...analysis import table_profile
from ...analysis.box import Box
from ...analysis.density import Curve, Heatmap
from ...analysis.table_profile import Number, Profile
from ...formatting.escapes import in_html
from ...formatting.numbers import listed, shown
from ...releases.release import Release
from ...sketches.tables.answers import TableAnswers
from ...sketches.tables.table_axes import Axis
from ..distance_figures import distance_unit
from ..report.exploration import Density, Step
from ..report.meaning import counted
from ..report.release_pictures import drawn, height, in_units, in_words
from ..table_figures import column_in_words, rows_of, share_words
from .page_sections import answers_html, cell_words
from .shared_pictures import category_facts, cells_facts, column_facts, numbers, packed

MOST_COLUMNS = 30  # Columns that are drawn; the file answers the rest.
Facts = dict[str, Any]


def steps_html(release: Release, steps: tuple[Step, ...], whom: str, stills: list[Facts]) -> Iterator[str]:
    """A section for each thing that was asked: a picture, whose facts are added to ``stills``, or a table."""
    for place, step in enumerate(steps, start=1):
        title = f"{drawn(release)} over {listed(step.columns)}" if isinstance(step, Density) else step.title
        title = f"{title} ({shown(whom)})" if whom else title
        yield f"<section aria-labelledby='step-{place}'><h2 id='step-{place}'>{in_html(title)}</h2>"
        if isinstance(step, Density):
            picture = step.call.of(release)
            stills.append(_density(release, picture))
            yield from figure_html(f"{in_words(release, picture)} {_others(picture)}", f"step-{place}-words")
        else:
            yield from answers_html(release, step)
        yield "</section>"


def columns_html(answers: TableAnswers, stills: list[Facts]) -> Iterator[str]:
    """All columns of a released table with their numbers; what they are drawn from is added to ``stills``."""
    names = [axis.name for axis in answers.axes if table_profile.measured(answers, [axis.name])]
    yield "<section aria-labelledby='columns'><h2 id='columns'>Columns</h2><div class='columns'>"
    for place, name in enumerate(names[:MOST_COLUMNS]):
        yield from _column(table_profile.profile(answers, name, {}), f"column-{place}", stills)
    yield "</div>"
    if len(names) > MOST_COLUMNS:
        yield f"<p class='note'>The first {MOST_COLUMNS} of {len(names):,} columns.</p>"
    yield "</section>"


def figure_html(words: str, identity: str) -> Iterator[str]:
    """Where the page's script draws the next still; without it the words are there."""
    yield f"<figure class='still'><figcaption id='{identity}'>{in_html(words.strip())}</figcaption></figure>"


def _column(profile: Profile, identity: str, stills: list[Facts]) -> Iterator[str]:
    yield f"<div><h3>{in_html(shown(profile.name))}</h3>"
    if profile.missing:
        yield f"<p>{in_html(profile.missing)}</p></div>"
        return
    rows = rows_of(profile)
    stills.append(_shares(profile, rows))
    said = "; ".join(_number(profile.axis, number) for number in profile.numbers)
    of = profile.axis.valued
    more = f" The {len(rows)} most frequent are drawn, of {of:,}." if of > len(rows) else ""
    numbers_said = f"{said[:1].upper()}{said[1:]}." if said else ""
    yield from figure_html(f"{column_in_words(profile)}{more} {numbers_said}", identity)
    yield "</div>"


def _shares(profile: Profile, rows: np.ndarray) -> Facts:
    """Shares of the cells of a column in percent, with their intervals."""
    column = cells_facts(profile.axis)
    if profile.axis.categories:
        column |= category_facts(profile.name, tuple(profile.axis.categories[row] for row in rows))
    shares = [100.0 * ends[rows] for ends in (profile.share, profile.low, profile.high)]
    return {"columns": [column], "pictures": {"0": packed(shares)}, "answers": "count", "title": "share in %"}


def _density(release: Release, picture: Curve | Heatmap) -> Facts:
    names = (picture.column,) if isinstance(picture, Curve) else (picture.x, picture.y)
    box = Box.of(release.sketch)
    return {
        "columns": [column_facts(box, name) for name in names],
        "pictures": {"0" if len(names) == 1 else "0,1": numbers(in_units(release, picture))},
        "answers": release.sketch.answers,
        "counted": counted(release.domain),
        "unit": distance_unit(release.sketch) if release.sketch.answers == "distance" else "",
        "title": height(release),
    }


def _others(picture: Curve | Heatmap) -> str:
    """A sentence about the columns that are not drawn."""
    sentences = []
    if picture.at:
        held = [f"{shown(name)} at {cell_words(value)}" for name, value in picture.at.items()]
        sentences.append(f"Held: {listed(held)}.")
    if picture.averaged:
        sentences.append(f"Averaged over all values, likely or not: {listed(picture.averaged)}.")
    return " ".join(sentences)


def _number(axis: Axis, number: Number) -> str:
    if number.share:
        return f"{number.name} {share_words(number.estimate, number.low, number.high)}"
    error = (number.high - number.low) / 4.0
    ends = (number.estimate, number.low, number.high)
    estimate, low, high = (table_profile.written(axis, value, error) for value in ends)
    return f"{number.name} {estimate} ({low} to {high})"
