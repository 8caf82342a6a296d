"""Views of the released population as a whole: Regression, any column predicted from any others and how columns hang
together; Sample, synthetic points that look like it and are nobody; and Centres, the places that everyone is least far
away from.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...analysis.centres import MOST_CENTRES, Centre, described
from ...analysis.product_sums import Sums, components, correlations
from ...analysis.regression import ABOUT, Regression, regression
from ...analysis.sampling import MOST_POINTS, Sample, drawn_together, nearness_words, not_meant_for
from ...domain import Categorical, Column, Vector
from ...errors import RequestError
from ...figures.answer_sentences import NO_RIDGE, distance_sentence, kind_sentence, noun, one_sided, place_words
from ...figures.distance_figures import distance_unit
from ...figures.exploration import Centres, Density, Sampled, table_of
from ...figures.figure_axes import View
from ...figures.map_layers import MAX_DRAWN, sample_figure
from ...figures.model_figures import (
    MOST_SHOWN,
    coefficient_figure,
    coefficients_in_words,
    component_figure,
    component_in_words,
    correlation_figure,
    correlations_in_words,
)
from ...figures.release_pictures import drawn, in_words, marked, picture_figure
from ...formatting.numbers import THOUSANDS_FROM, listed, percent, plural, rounded, rounded_range, significant
from ...releases.release import Release
from ..frame.marks import Visibility, for_screen, mark, note, picture_config, refusals, show
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import say, state_of, value_field
from ..released.chosen_view import choose_two, drawable, sample_of_more
from ..released.taking_along import take_along

MOST_FIELDS = 12  # Columns that get a slider; others stay where people are on average.


@refusals(st.info)
def regression_view(opened: Opened) -> None:
    """Any column predicted from others, with coefficients and a prediction for one record."""
    sums = Sums.of(opened.release)
    domain = sums.sketch.domain
    single = [column.name for column in domain.columns if not isinstance(column, Vector)]
    if not single or len(domain.columns) < 2:
        st.info("A column is predicted from others, and there is none here that could be.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        target = st.selectbox("Predict", single, len(single) - 1, key="regression-target")
        column = domain.columns[domain.names.index(target)]
        category = _category(column)
        others = [name for name in domain.names if name != target]
        on = st.multiselect("From", others, others, key=f"regression-on-{target}", width="stretch")
    found = regression(sums, target, on, category)
    about = ABOUT[sample_of_more(opened)]
    table = found.coefficients(about=about)
    unit = getattr(column, "unit", "")
    named = found.name + (f" ({unit})" if unit else "")
    say(_explained(found, unit))
    show(coefficient_figure(table, named), "regression-coefficients", coefficients_in_words(table, named))
    hollow = "Each dot says how far a column moves the prediction over its range; a hollow one may as well be zero. "
    more = f"The {MOST_SHOWN} strongest of {len(table)} are shown. " if len(table) > MOST_SHOWN else ""
    holds = {
        "records": "the records themselves would give; how people vary by chance is not in them.",
        "population": "all people would give from whom the records were drawn at random.",
    }
    plainly = f" {NO_RIDGE}" if about == "population" and found.ridge > 0.0 else ""
    note(f"{more}{hollow}Lines hold with 95% what {holds[about]}{plainly}")
    _one_person(opened, sums, found, column, unit, about)
    take_along(opened, "regression", lambda: table)


def _category(column: Column) -> str | None:
    if not isinstance(column, Categorical):
        return None
    return st.selectbox("How likely is", column.categories, len(column.categories) - 1)


def _explained(found: Regression, unit: str) -> str:
    """How good the prediction is, in Markdown."""
    away = f"{significant(found.residual_deviation, 3)} {unit}".rstrip()
    if math.isinf(found.ridge):
        return f"The noise hides what {found.name} follows from: **its mean is predicted**, whoever is asked about."
    share = percent(found.explained)
    return f"It explains about **{share}** of how {found.name} differs, and is typically off by {away}."


def _one_person(opened: Opened, sums: Sums, found: Regression, column: Column, unit: str, about: str) -> None:
    """A prediction for values that the visitor slides."""
    st.header("For one record", anchor=False)
    asked = [one for one in found.domain.columns if not isinstance(one, Vector)]
    values = _average(sums, found)
    fields, shown = st.columns(3, gap="large"), asked[:MOST_FIELDS]
    for place, one in enumerate(shown):
        with fields[place % 3]:
            key = f"regression-{opened.fingerprint[:12]}-{one.name}"
            st.session_state.setdefault(key, state_of(one, values[one.name][0]))
            values[one.name] = [value_field(one, key, slides=True)]
    answer = found.predict(pd.DataFrame(values), about=about).iloc[0]
    error = (answer.high - answer.low) / 3.92
    least, most = rounded_range(answer.low, answer.high, max(error, 1e-12))
    middle = rounded(answer.estimate, max(error, 1e-12))
    said = f"**{middle}** {unit}".rstrip()
    truth = "without noise" if about == "records" else "of all people"
    say(f"Predicted: {said}; {truth} very likely between **{least}** and **{most}**.")
    if len(shown) < len(asked):
        note(f"Held where most are: {listed([one.name for one in asked[MOST_FIELDS:]])}.")


def _average(sums: Sums, found: Regression) -> dict[str, list]:
    """Values of all columns: the mean of numbers, the most frequent category."""
    means = sums.matrix[0] / sums.records
    encoded = means[list(found.places[1:])]
    middle, half = type(sums.sketch)(found.domain).scaling
    frame = found.domain.decode_points((encoded * half + middle)[None], inside=True)
    return {name: list(frame[name]) for name in frame}


def together_view(opened: Opened) -> None:
    found = correlations(opened.release)
    show(correlation_figure(found), "regression-correlations", correlations_in_words(found))
    note("Teal columns rise together, brown ones against each other; empty cells are hidden by noise.")
    take_along(opened, "correlations", lambda: found.frame().reset_index(names="column"))


def axes_view(opened: Opened) -> None:
    found = components(opened.release)
    told = max(1, found.told)
    axis = int(st.number_input("Axis", 1, min(told, 10), 1, key="regression-axis", width=160)) - 1
    share = percent(found.variances[axis] / max(found.total, 1e-300))
    hidden = " The noise hides whether there is any." if found.told == 0 else ""
    say(f"Along this axis lies **{share}** of how the records differ.{hidden}")
    show(component_figure(found, axis), "regression-axis-picture", component_in_words(found, axis))
    note(f"{found.told} of {len(found.variances)} axes stand out from the noise. Columns count by their bounds.")
    take_along(opened, "axes", lambda: found.frame())


WHAT_THEY_ARE = (
    "These points are **nobody**. They were made from the released file alone, never from a person's record, so they "
    "cost no one any privacy. Together they agree with the file within its noise; one by one they mean nothing. Detail "
    "finer than the closeness that was released, and how many columns hang together, is partly invented."
)
OF_TABLES = (
    "These records are **nobody**. They were made from the released file alone, never from a person's record, so they "
    "cost no one any privacy. Their counts are those of the file's best guess, as nearly as whole records can be."
)
OF_BOTH = (
    "These records are **nobody**. They were made from the released file alone, never from a person's record, so they "
    "cost no one any privacy. Their counts are those of the tables, as nearly as whole records can be. Within cells "
    "they lie where the densities say."
)
SHARP, SMOOTH = "A population that explains the file", "The file's own smooth density"
ALONE, TOGETHER = "The tables alone", "Tables and density together"
POOR_FIT = 1.5  # A population whose misfit is larger than this does not explain the release well.
UNMIXED = 1.05


@refusals(st.info)
def sample_view(opened: Opened) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        count = st.number_input(
            "How many", 1, MOST_POINTS, 1000, key="explore-sample-count", persist_state="session", width=160
        )
        draw = st.number_input(
            "Draw number",
            0,
            1_000_000,
            0,
            key="explore-sample-seed",
            persist_state="session",
            width=160,
            help="The same number gives the same points, so that others can check them.",
        )
        kinds = kinds_of(opened)
        kind = kinds[0]
        if len(kinds) > 1:
            kind = st.selectbox(
                "Drawn from", kinds, key=f"explore-sample-kind-{len(kinds)}", persist_state="session", width=320
            )
    if kind == TOGETHER:
        opened = replace(opened, release=opened.several, several=None, question=None, part=None, bandwidth=None)
    drawn = public_answers.synthetic(opened.identity, opened.release, int(count), int(draw), kind != SMOOTH)
    mark(Visibility.PUBLIC, "Synthetic points: safe to hand out")
    st.markdown({ALONE: OF_TABLES, TOGETHER: OF_BOTH}.get(kind, WHAT_THEY_ARE))
    if drawn.nearness is not None:
        note(nearness_words(drawn.nearness))
    caution = not_meant_for(opened.release, drawn)
    if caution is not None:
        st.warning(caution)
    figure = None
    if drawable(opened.release.domain):
        figure = _show(opened, drawn.points)
    warn_of(drawn)
    step = Sampled(int(count), int(draw), kind != SMOOTH)
    take_along(opened, "sample", lambda: drawn.points, (step,), figure, "Synthetic points", typed=True)


def kinds_of(opened: Opened) -> tuple[str, ...]:
    """What can be drawn from, the usual first: of a file with tables and densities, both together too."""
    counted = opened.release.sketch.asked_for == "tables"
    own = (ALONE,) if counted else (SHARP, SMOOTH)
    if opened.several is None:
        return own
    try:
        _, densities = drawn_together(opened.several)
    except RequestError:  # no tables, or more than one
        return own
    if counted and densities:
        return TOGETHER, *own
    return (*own, TOGETHER) if opened.question in densities else own


def warn_of(drawn: Sample) -> None:
    """Say when the points are not what they should be."""
    if drawn.misfit is not None and drawn.misfit > POOR_FIT:
        st.warning(
            f"The file knows more than these points show: they differ from it by {drawn.misfit:.1f} times its own "
            "noise, as too few places were tried for so fine a picture. Take numbers from the other views."
        )
    if drawn.r_hat is not None and drawn.r_hat > UNMIXED:
        st.warning(
            "The chains that draw these points have not met, so some places may be drawn too often or too rarely; "
            "draw more points, or take numbers from the other views."
        )


def _show(opened: Opened, points: pd.DataFrame) -> go.Figure:
    domain = opened.release.domain
    columns = choose_two(domain)
    axes = tuple(domain.columns[domain.names.index(name)] for name in columns)
    shown = min(len(points), MAX_DRAWN) if len(columns) == 2 else len(points)
    figure = sample_figure(points, axes)
    show(
        for_screen(figure),
        "explore-sample",
        f"{shown:,} synthetic points over {listed(columns)}",
        picture_config(opened),
    )
    if shown < len(points):
        note(f"The first {shown:,} points are drawn.")
    return figure


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
