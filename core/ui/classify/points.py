"""Your points: a table of places, which group each is like, and how often that is right where the truth is told."""

from __future__ import annotations

from typing import cast

import pandas as pd
import pyarrow as pa
import streamlit as st

from ...errors import RequestError
from ...figures.answer_sentences import NEARLY, asked_domain
from ...figures.class_figures import confusion_figure, confusion_in_words
from ...sketches.classes import Classes
from ...sources.public_tables import beside
from ...tasks.classification import Classification, classify
from ...tasks.confusion import DONT_KNOW, Confusion, Rate, confusion_of, label_codes
from ...words.escapes import csv_of, in_markdown
from ...words.numbers import percent
from ...words.phrases import plural
from ..frame.asked_table import LISTED, dropped_table, note_rest, read_table
from ..frame.marks import Visibility, main_action, mark, note
from ..frame.markup import draw
from ..frame.session import Opened
from .map import say_decision, warn_of_largest

SAVE = "Save the groups of your points"
NO_TRUTH = "Nobody told"


def no_points_yet(*before: str) -> None:
    """The main action while there are no points, nor what is named here and comes before them."""
    main_action(SAVE, [*before, "a table of your points"], "classify-save")


def points_view(opened: Opened, rule: str, level: float) -> None:
    """Everything under Your points."""
    say_decision(rule, level)
    mark(Visibility.PRIVATE, "Your points stay in this session; they are compared with the file, never added to it")
    dropped = dropped_table("points", asked_domain(opened.release).names, "classify-points")
    if dropped is None:
        note("A further column with the true groups lets you see how often the file is right.")
        no_points_yet()
        return
    try:
        table = read_table(dropped, asked_domain(opened.release))
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
    try:
        made = confusion_of(found, label_codes(opened.release.sketch, table.column(column)), level)
    except RequestError as error:
        st.error(in_markdown(error))
        return
    st.markdown(_right(made))
    st.plotly_chart(
        confusion_figure(made), key="classify-confusion", alt=confusion_in_words(made), config={"displayModeBar": False}
    )


def _right(made: Confusion) -> str:
    where = f" Where it is certain, in {rate_words(made.certain_accuracy)}." if made.certain.estimate > 0 else ""
    return f"**Right in {rate_words(made.accuracy)} of the points**, certain or not.{where}"


def rate_words(rate: Rate) -> str:
    """A share with its interval."""
    low, high = percent(float(rate.low)), percent(float(rate.high))
    return f"{percent(float(rate.estimate))} (very likely between {low} and {high})"


def _save(opened: Opened, result: pd.DataFrame) -> None:
    """The main action: the points with their groups."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-classify"):
        st.download_button(
            SAVE,
            lambda: csv_of(result),
            f"{opened.stem}-groups.csv",
            "text/csv",
            key="classify-save",
            type="primary",
            on_click="ignore",
        )
        draw('<p class="fg-missing">Your points with the group of each, and how sure that is, as a CSV file.</p>')
