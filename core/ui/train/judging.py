"""A public test file on the Train page: what a model gets right of it, and probabilities that are made to fit it."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ...errors import RequestError
from ...figures.class_figures import confusion_figure, confusion_in_words
from ...figures.model_figures import numbers_figure, numbers_in_words, reliability_figure, reliability_in_words
from ...models.calibrating import calibrated, calibrated_reliability
from ...models.judging import Tested, judge_classes, judge_numbers, read_test
from ...models.linear_model import LinearModel
from ...models.number_model import NumberModel
from ...models.opening import Model
from ...sources import Upload, open_source
from ...tasks.confusion import Rate
from ...words.escapes import in_markdown
from ...words.numbers import percent, significant
from ...words.phrases import plural
from ..explore.point import say
from ..frame.asked_table import FILE_TYPES, MAX_MEGABYTES
from ..frame.charts import show
from ..frame.marks import note

PUBLIC_ONLY = (
    "Take records that are public, or people who are not in the model: figures made from private records tell about "
    "them, and no promise covers that."
)


def judge_view(model: Model, key: str = "train") -> None:
    """A drop zone for a test file, and what it says of a model."""
    wanted = f"A public table with the column {model.task.label} and those that it is predicted from"
    dropped = st.file_uploader(in_markdown(wanted), FILE_TYPES, max_upload_size=MAX_MEGABYTES, key=f"{key}-test")
    if dropped is None:
        note(PUBLIC_ONLY)
        return
    try:
        with st.spinner("Asking the model about every record"):
            tested = _tested(model, dropped, key)
    except RequestError as error:
        st.error(in_markdown(error))
        return
    if tested.left_out:
        note(f"Left out, as they miss something: {tested.left_out:,} {plural(tested.left_out, 'record')}.")
    if isinstance(model, NumberModel):
        _numbers(model, tested, key)
    else:
        _classes(model, tested, key)


def _tested(model: Model, dropped: UploadedFile, key: str) -> Tested:
    """What the model says of the file, worked out once a session."""
    known = (dropped.file_id, id(model))
    kept: Any = st.session_state.get(f"{key}-tested")
    if kept is None or kept[0] != known:
        kept = (known, read_test(model, open_source(Upload(dropped.name, dropped.getvalue()))))
        st.session_state[f"{key}-tested"] = kept
    return kept[1]


def _numbers(model: NumberModel, tested: Tested, key: str) -> None:
    found = judge_numbers(model, tested)
    unit = in_markdown(getattr(model.task.target, "measure", ""))
    off, mean = (f"{significant(one, 3)} {unit}".rstrip() for one in (found.typical, found.of_mean))
    say(f"Typically off by **{off}** on {len(tested.truth):,} public records; always their mean would be by {mean}.")
    show(numbers_figure(found, model.named), f"{key}-test-picture", numbers_in_words(found, model.named))
    way = "high" if found.above > 0 else "low"
    note(
        f"Each dot is a tenth of the records, and its line holds four in five of them. It explains "
        f"{percent(max(0.0, found.explained))} of how they differ, and is too {way} by "
        f"{significant(abs(found.above), 2)} {unit}".rstrip()
        + " on average."
    )


def _classes(model: LinearModel, tested: Tested, key: str) -> None:
    found = judge_classes(model, tested)
    say(
        f"Right in **{percent(float(found.confusion.accuracy.estimate), 3)}** of {len(tested.truth):,} public records "
        f"({between(found.confusion.accuracy)}); always the most common answer would be in {percent(found.common, 3)}."
    )
    show(confusion_figure(found.confusion), f"{key}-test-confusion", confusion_in_words(found.confusion))
    st.header("Do its probabilities mean what they say?", anchor=False)
    fitted = calibrated_reliability(model, tested)
    show(
        reliability_figure(found.reliability, fitted),
        f"{key}-test-reliability",
        reliability_in_words(found.reliability),
    )
    said, after = (percent(one.off, 2) for one in (found.reliability, fitted))
    note(
        f"On the dotted line they do. They are off by {said} on average, and by {after} once they are made to fit this "
        "file (each half of it judged by the other)."
    )
    better = calibrated(model, tested)
    st.download_button(
        "Model with probabilities made to fit",
        lambda: better.to_bytes(teaching=not better.private),
        "model-fitted.json",
        "application/json",
        key=f"{key}-test-fitted",
        on_click="ignore",
        help="It gives the same promise: only the released model and public records were used.",
    )


def between(rate: Rate) -> str:
    """An interval in words."""
    return f"very likely between {percent(float(rate.low), 3)} and {percent(float(rate.high), 3)}"
