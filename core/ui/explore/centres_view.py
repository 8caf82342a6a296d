"""The Centres view: the place, or the few places, that everyone is least far away from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from ...analysis.centres import MOST_CENTRES, Centre, described
from ...domain import Column
from ...figures.answer_sentences import distance_sentence, kind_sentence, noun, one_sided, place_words
from ...figures.distance_figures import distance_unit
from ...figures.exploration import Centres, Density, table_of
from ...figures.figure_axes import View
from ...figures.release_pictures import drawn, in_words, marked, picture_figure
from ...formatting.numbers import THOUSANDS_FROM, listed, percent, plural, rounded, rounded_range, significant
from ...releases.release import Release
from ..frame.marks import for_screen, note, picture_config, refusals, show
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import say
from ..released.chosen_view import choose_two, drawable
from ..released.taking_along import take_along

REACHES = 2 * 1.96  # Standard errors between the ends of a 95% interval.
MOST_SAID = 4
BETWEEN = "Very likely between"


def has_centres(release: Release) -> bool:
    """Whether a release of distances has a place in the middle of everyone."""
    return release.sketch.answers == "distance" and not one_sided(release.sketch)


def several(release: Release) -> bool:
    """Whether more than one centre can be told: L1 distances of one column of numbers."""
    sketch = release.sketch
    return sketch.by_column and sketch.distance_norm == "l1" and sketch.domain.dimensions == 1


@refusals(st.info)
def centres_view(opened: Opened) -> None:
    release, count = opened.release, 1
    if several(release):
        count = int(
            st.number_input(
                "How many centres", 1, MOST_CENTRES, 1, key="explore-centres-count", persist_state="session", width=160
            )
        )
    found = public_answers.centres(opened.identity, release, count)
    say(centre_sentence(release, found))
    if count == 1:
        say(_from_there(release, found[0]))
    note(f"{described(release, count)} {kind_sentence(release.sketch)}")
    if drawable(release.domain):
        words_of_table = "The centre, column by column" if count == 1 else "The centres"
        st.dataframe(centre_table(release, found), hide_index=True, key="explore-centres", alt=words_of_table)
        note(
            "How far noise may have moved a centre is seen by adding noise of the same strength again and again. "
            "Between the ends of an interval the centre without noise very likely lies."
        )
    figure, title, steps = None, "", (Centres(count),)
    if drawable(release.domain):
        columns = choose_two(release.domain)
        view = View(columns, tuple((name, value) for name, value in place_of(found[0]).items() if name not in columns))
        picture = public_answers.picture(opened.identity, release, view)
        title = f"{drawn(release)} over {listed(columns)}, with its {plural(count, 'centre')}"
        marks = marked(release, picture, [[centre.position[name] for name in columns] for centre in found])
        figure = picture_figure(release, picture, marks)
        show(for_screen(figure), "explore-centres-picture", in_words(release, picture), picture_config(opened))
        steps = (Density(columns, dict(view.held), public_answers.DISTANCE_MAP_SIZE), *steps)
    take_along(opened, "centres", lambda: table_of(found), steps, figure, title)


def place_of(centre: Centre) -> dict[str, object]:
    """A centre's values by column, such that a view can hold them."""
    return {
        name: tuple(value.tolist()) if isinstance(value, np.ndarray) else value
        for name, value in centre.position.items()
    }


def centre_sentence(release: Release, found: tuple[Centre, ...]) -> str:
    counted = noun(release)
    if not drawable(release.domain):
        place = listed(list(place_words(found[0].position, release).values()), MOST_SAID)
        return f"The centre is **{place}**; take it along as a file."
    if len(found) == 1:
        said = _said(release, found[0])
        place = listed([f"{name} {value}" for name, value in said.items()], MOST_SAID)
        return f"Everyone is nearest to **{place}**."
    (name,) = release.domain.names
    places = listed([_said(release, centre)[name] for centre in found], MOST_CENTRES)
    return f"If all {counted} go to the nearest of {len(found)} places, the way is shortest to **{name} {places}**."


def _from_there(release: Release, centre: Centre) -> str:
    """How far everyone is from a centre, in Markdown."""
    error = (centre.mean_high - centre.mean_low) / REACHES
    sentence = distance_sentence(release.sketch, centre.mean, centre.mean_low, centre.mean_high, error)
    return f"From there, {sentence[:1].lower()}{sentence[1:]}"


def _said(release: Release, centre: Centre) -> dict[str, str]:
    """A centre in words by column, in the digits that its interval supports."""
    said = place_words(centre.position, release)
    for column in release.domain.columns:
        if _measured(centre, column):
            error = _error(centre, column.name)
            place = float(centre.position[column.name])
            value = rounded(place, error) if error > 0 else said[column.name]
            value = value.replace(",", "") if abs(place) < THOUSANDS_FROM else value
            said[column.name] = f"{value} {column.unit}".rstrip() if error > 0 else value
    return said


def _measured(centre: Centre, column: Column) -> bool:
    """Whether an interval for the centre's value in a column can be said: categories have none, vectors too many."""
    return isinstance(centre.low.get(column.name), (float, np.floating)) and column.width == 1


def _error(centre: Centre, name: str) -> float:
    return float(centre.high[name] - centre.low[name]) / REACHES


def centre_table(release: Release, found: tuple[Centre, ...]) -> pd.DataFrame:
    """One centre, a row a column; or several of one column, a row each, and what is known of those around it."""
    if len(found) == 1:
        return _one(release, found[0])
    (column,) = release.domain.columns
    unit = distance_unit(release.sketch)
    return pd.DataFrame(
        {
            column.name: [_said(release, centre)[column.name] for centre in found],
            BETWEEN: [_between(centre, column) for centre in found],
            f"{noun(release).capitalize()} nearest to it": [percent(centre.share) for centre in found],
            "Their average distance": [f"{significant(centre.mean, 3)} {unit}".rstrip() for centre in found],
        }
    )


def _one(release: Release, centre: Centre) -> pd.DataFrame:
    said = _said(release, centre)
    columns = release.domain.columns
    ends = [_between(centre, column) if _measured(centre, column) else "" for column in columns]
    return pd.DataFrame(
        {"Column": release.domain.names, "Centre": [said[column.name] for column in columns], BETWEEN: ends}
    )


def _between(centre: Centre, column: Column) -> str:
    low, high = float(centre.low[column.name]), float(centre.high[column.name])
    if high <= low:
        return ""
    least, most = rounded_range(low, high, _error(centre, column.name))
    return f"{least} and {most}"
