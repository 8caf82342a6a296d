"""Which group a place is like, on a map of decisions over two columns, and which each place of a visitor's table."""

from dataclasses import replace
from typing import cast

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from ..analysis.classification import (
    DONT_KNOW,
    Classification,
    Confusion,
    DecisionMap,
    Rate,
    classify,
    confusion_of,
    label_codes,
)
from ..errors import RequestError
from ..figures.answer_sentences import NEARLY, RULES, asked_domain, decision_sentence, drowned_sentence, rules
from ..figures.class_figures import (
    confusion_figure,
    confusion_in_words,
    decision_figure,
    decision_in_words,
    probability_figure,
    probability_in_words,
)
from ..figures.figure_axes import Axis
from ..formatting.escapes import csv_of, in_html, in_markdown
from ..formatting.numbers import listed, percent, plural, several
from ..releases.release import Release
from ..sketches.classes import Classes
from ..sources import open_source
from ..sources.public_tables import beside, bundled_groups, read_queries
from .frame.marks import (
    BARE,
    Visibility,
    draw,
    for_screen,
    main_action,
    mark,
    note,
    offer,
    picture_config,
    refusals,
    show,
    side,
)
from .frame.session import Opened
from .released.asked_points import (
    LISTED,
    MOST_RECORDS,
    STRONG,
    AskedPoint,
    dropped_table,
    note_rest,
    read_table,
    value_field,
)
from .released.chosen_view import choose_two, drawable, hold_others
from .released.public_answers import at_place, drawn_map
from .released.taking_along import take_along

CHART = "classify-map"
LEVELS = {"80%": 0.8, "90%": 0.9, "95%": 0.95, "99%": 0.99}


def choose_decision(release: Release) -> tuple[str, float]:
    """Let the visitor say what decides, and how sure it must be that the noise did not."""
    with st.popover("How it decides"):
        offered = rules(release)
        rule = st.selectbox(
            "What decides",
            offered,
            format_func=lambda rule: RULES[rule][0],
            key="classify-rule",
            persist_state="session",
        )
        note(RULES[rule][1])
        chosen = st.select_slider(
            "Answer only when at least this sure that the noise did not decide",
            list(LEVELS),
            "95%",
            key="classify-level",
            persist_state="session",
        )
    return rule, LEVELS[chosen]


def say_decision(rule: str, level: float) -> None:
    """What decides, in one quiet line."""
    note(f"{RULES[rule][0]} Answered where it is at least {level:.0%} sure that the noise does not decide.")


def warn_of_largest(release: Release, rule: str, codes: np.ndarray) -> None:
    """Say where the rule hardly says anything but the largest group."""
    drowned = drowned_sentence(release, rule, codes)
    if drowned is not None:
        st.warning(drowned)


def has_map(release: Release) -> bool:
    """Whether a place of a file can be typed and its columns drawn: a long list of numbers has no axes."""
    domain = asked_domain(release)
    return len(drawable(domain)) == len(domain.columns)


def map_view(opened: Opened, rule: str, level: float) -> None:
    say_decision(rule, level)
    domain = asked_domain(opened.release)
    if len(domain.columns) == 1:
        _one_column(opened, rule, level)
        return
    columns = choose_two(domain)
    _map(replace(opened, release=opened.release.of_class(0)), opened.release, columns, rule, level)


@st.fragment
def _map(opened: Opened, release: Release, columns: tuple[str, ...], rule: str, level: float) -> None:
    view = hold_others(opened, columns)
    drawn = drawn_map(opened.fingerprint, release, view, rule, level)
    warn_of_largest(release, rule, drawn.codes)
    asked = AskedPoint(opened, view)
    asked.start((drawn.x_values[len(drawn.x_values) // 2], drawn.y_values[len(drawn.y_values) // 2]))
    domain = asked_domain(release)
    axes = tuple(
        Axis.of(domain.drawn[name], values) for name, values in ((drawn.x, drawn.x_values), (drawn.y, drawn.y_values))
    )
    main, aside = st.columns([2, 1], gap="large")
    title = f"Groups over {listed(columns)}"
    with main:
        figure = decision_figure(drawn, domain, asked.ringed())
        st.plotly_chart(
            for_screen(figure),
            key=CHART,
            selection_mode="points",
            on_select=lambda: asked.clicked(CHART, axes),
            alt=decision_in_words(title, drawn),
            config=picture_config(opened),
        )
        if drawn.averaged:
            note(f"Averaged over all values of {listed(drawn.averaged)}, likely or not.")
        take_along(opened, "groups", lambda: table_of_map(drawn), figure=figure, title=title)
    with aside, side("group"):
        st.header("Ask a place", anchor=False)
        note("Click on the map or type a place.")
        asked.fields()
        place = dict(view.held) | dict(zip(columns, asked.values, strict=True))
        _others(opened, domain, place)
        say_place(release, place, rule, level)


def _others(opened: Opened, domain, place: dict[str, object]) -> None:
    """Fields for the columns that are neither drawn nor held: a place has them all."""
    others = [column for column in domain.columns if column.name not in place]
    if not others:
        return
    with st.expander(f"The place's other {len(others)} columns" if len(others) > 1 else "The place's other column"):
        note("The map averages over them unless they are held; the place has a value for each.")
        for column in others:
            place[column.name] = value_field(column, f"classify-{opened.fingerprint[:12]}-{column.name}")


def _one_column(opened: Opened, rule: str, level: float) -> None:
    """A place of one column: no map, but the field and what is said."""
    (column,) = asked_domain(opened.release).columns
    place = {column.name: value_field(column, f"classify-{opened.fingerprint[:12]}-{column.name}")}
    say_place(opened.release, place, rule, level)


def say_place(release: Release, place: dict[str, object], rule: str, level: float) -> None:
    """What is said of a place, as a sentence and as bars."""
    found = at_place(release, place, rule, level)
    sentence = STRONG.sub(r"<strong>\1</strong>", in_html(decision_sentence(found)))
    draw(f'<p class="fg-odds" role="status">{sentence}</p>')
    certain = bool(found.certain[0])
    show(
        probability_figure(found.classes, found.probabilities[0], certain),
        "classify-bars",
        probability_in_words(found.classes, found.probabilities[0], certain),
        BARE,
    )


def table_of_map(drawn: DecisionMap) -> pd.DataFrame:
    """The map as a table: a row a cell."""
    table = pd.DataFrame(
        {
            drawn.x: list(drawn.x_values) * len(drawn.y_values),
            drawn.y: [value for value in drawn.y_values for _ in drawn.x_values],
            "group": [drawn.classes[code] for code in drawn.codes.ravel()],
            "confidence": drawn.confidence.ravel(),
            "certain": drawn.certain.ravel(),
        }
    )
    for code, name in enumerate(drawn.classes):
        table[f"probability_{name}"] = drawn.probabilities[..., code].ravel()
    return table


SAVE = "Save the groups of your points"
NO_TRUTH = "Nobody told"
PUBLIC = 200  # Records of a sample, evenly from all of its file.


def no_points_yet(*before: str) -> None:
    """The main action while there are no points, nor what is named here and comes before them."""
    main_action(SAVE, [*before, "a table of your points"], "classify-save")


def points_view(opened: Opened, rule: str, level: float) -> None:
    say_decision(rule, level)
    mark(Visibility.PRIVATE, "Your points stay in this session; they are compared with the file, never added to it")
    dropped = dropped_table("points", asked_domain(opened.release).names, "classify-points")
    public = _public_points(opened.release) if dropped is None else None
    if dropped is None and public is None:
        note("A further column with the true groups lets you see how often the file is right.")
        no_points_yet()
        return
    try:
        table = read_table(dropped, asked_domain(opened.release)) if public is None else public
        with st.spinner("Comparing …"):
            found = classify(opened.release, table, rule, level)
    except RequestError as error:
        st.error(in_markdown(error))
        no_points_yet()
        return
    result = with_groups(table, found)
    warn_of_largest(opened.release, rule, found.codes)
    _say(found)
    _truth(opened, table, found, level)
    st.dataframe(shown_groups(table, found), hide_index=True, key="classify-listed", alt="The points and their groups")
    note_rest(len(result))
    _save(opened, result)


def _public_points(release: Release) -> pa.Table | None:
    """Records of the bundled sample that a file is of, where there is one and the visitor wants them."""
    names = asked_domain(release).names
    of = next(
        (one for one, _ in bundled_groups() if one.domain.names == names and one.label in release.domain.columns), None
    )
    if of is None or not st.toggle(
        f"Take {PUBLIC} {several(of.domain.record)} of the sample, which are public", key="classify-public"
    ):
        return None
    table = read_queries(open_source(of.path), asked_domain(release), MOST_RECORDS)
    return table.take(np.linspace(0, table.num_rows - 1, PUBLIC).astype(np.int64))


def with_groups(table: pa.Table, found: Classification) -> pd.DataFrame:
    """The points with what is said of each in further columns."""
    said = {"group": pa.array(found.labels), "confidence": found.confidence, "certain": found.certain}
    shares = {f"probability_{name}": share for name, share in zip(found.classes, found.probabilities.T, strict=True)}
    return beside(table, said | shares).to_pandas()


def shown_groups(table: pa.Table, found: Classification) -> pd.DataFrame:
    """The first points with what is said of each, as people read it."""
    listed_codes = found.codes[:LISTED]
    said = {
        "group": [
            name if certain else f"{DONT_KNOW}, perhaps {name}"
            for name, certain in zip(found.labels[:LISTED], found.certain[:LISTED], strict=True)
        ],
        "how likely": [percent(float(found.probabilities[row, code])) for row, code in enumerate(listed_codes)],
        "sure without noise": [percent(min(float(sure), NEARLY)) for sure in found.confidence[:LISTED]],
    }
    points = table.slice(0, LISTED).to_pandas()
    for name, values in points.items():
        if len(values) and not isinstance(values.iloc[0], str) and hasattr(values.iloc[0], "__len__"):
            points[name] = [f"a list of {len(value):,} numbers" for value in values]
    answered = {(f"answer: {name}" if name in points.columns else name): values for name, values in said.items()}
    # What is asked for comes first: a table of many columns is wider than the page.
    return pd.concat([pd.DataFrame(answered), points], axis=1)


def _say(found: Classification) -> None:
    certain, every = int(found.certain.sum()), len(found.codes)
    draw(
        f'<p class="fg-odds" role="status">The file knows the group of <strong>{certain:,} of {every:,}</strong> '
        f"{plural(every, 'point')}; for the others the noise decides.</p>"
    )


@refusals()
def _truth(opened: Opened, table: pa.Table, found: Classification, level: float) -> None:
    """How often it is right, where a column tells."""
    others = [name for name in table.column_names if name not in asked_domain(opened.release).names]
    if not others:
        return
    label = cast(Classes, opened.release.sketch).label
    first = 1 + others.index(label) if label in others else 0
    column = st.selectbox(
        "Which column tells the true group?",
        [NO_TRUTH, *others],
        first,
        format_func=in_markdown,
        key="classify-truth",
        width=360,
    )
    if column == NO_TRUTH:
        return
    st.info(
        "Compare with a truth that is public, or with people who are not in the release: figures made from private "
        "records tell about them, and the release's promise does not cover that."
    )
    made = confusion_of(found, label_codes(opened.release.sketch, table.column(column)), level)
    st.markdown(_right(made))
    show(confusion_figure(made), "classify-confusion", confusion_in_words(made), BARE)


def _right(made: Confusion) -> str:
    where = f" Where it is certain, in {rate_words(made.certain_accuracy)}." if made.certain.estimate > 0 else ""
    return f"**Right in {rate_words(made.accuracy)} of the points**, certain or not.{where}"


def rate_words(rate: Rate) -> str:
    low, high = percent(float(rate.low)), percent(float(rate.high))
    return f"{percent(float(rate.estimate))} (very likely between {low} and {high})"


def _save(opened: Opened, result: pd.DataFrame) -> None:
    """The main action: the points with their groups."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-classify"):
        offer(SAVE, lambda: csv_of(result), f"{opened.stem}-groups.csv", "classify-save", type="primary")
        draw('<p class="fg-missing">Your points with the group of each, and how sure that is, as a CSV file.</p>')
