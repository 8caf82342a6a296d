"""A trained model, which is public: what it is and says of one record, and what it gets right of a public test file."""

from importlib.util import find_spec
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ...analysis.classification import Rate
from ...domain import Dates, Vector
from ...figures.class_figures import confusion_figure, confusion_in_words
from ...figures.model_figures import (
    MOST_CURVES,
    coefficient_figure,
    coefficients_in_words,
    curves_figure,
    curves_in_words,
    numbers_figure,
    numbers_in_words,
    reaches,
    reliability_figure,
    reliability_in_words,
)
from ...figures.share.shared_page import share_html
from ...formatting.escapes import in_markdown
from ...formatting.numbers import listed, percent, plural, significant
from ...models.classifier_choice import chosen_among
from ...models.judging import Tested, calibrated, calibrated_reliability, judge_classes, judge_numbers, read_test
from ...models.linear_models import NO_BANDS, LinearModel, Model, NumberModel, load_model
from ...models.onnx_export import to_onnx
from ...sources import Upload, open_source
from ...sources.source_opening import FILE_TYPES
from ..frame.marks import Visibility, facts, note, offer, rail, refusals, show
from .asked_points import MAX_MEGABYTES, say, value_field
from .kept_files import MODEL, keep_opened

PUBLIC_ONLY = (
    "Take records that are public, or people who are not in the model: figures made from private records tell about "
    "them, and no promise covers that."
)


@refusals()
def judge_view(model: Model, key: str = "train") -> None:
    """A drop zone for a test file, and what it says of a model."""
    wanted = f"A public table with the column {model.task.label} and those that it is predicted from"
    dropped = st.file_uploader(in_markdown(wanted), FILE_TYPES, max_upload_size=MAX_MEGABYTES, key=f"{key}-test")
    if dropped is None:
        note(PUBLIC_ONLY)
        return
    with st.spinner("Asking the model about every record"):
        tested = _tested(model, dropped, key)
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
    offer(
        "Model with probabilities made to fit",
        lambda: better.to_bytes(teaching=not better.private),
        "model-fitted.json",
        f"{key}-test-fitted",
        help="It gives the same promise: only the released model and public records were used.",
    )


def between(rate: Rate) -> str:
    return f"very likely between {percent(float(rate.low), 3)} and {percent(float(rate.high), 3)}"


ABREAST = 3  # Fields in a line.


def model_view(model: Model) -> None:
    """Everything about a model, with the way to another one."""
    with rail(Visibility.PUBLIC, "model", "The model may be handed out"):
        facts([*((sentence, "") for sentence in model.card()), *_chosen_among(model)])
        with st.container(horizontal=True, gap="small"):
            offer("Model (JSON)", model.to_bytes(teaching=not model.private), "model.json", "train-model.json")
            offer(
                "One page that predicts (HTML)",
                lambda: share_html(model, model.to_bytes(teaching=not model.private), "model.json").encode(),
                "model.html",
                "train-page",
            )
            table = model.coefficients()
            offer(
                "Coefficients (CSV)", table.to_csv(index=False).encode(), "coefficients.csv", "train-coefficients.csv"
            )
            _onnx(model)
            if st.button("Another model", key="train-again"):
                del st.session_state[MODEL]
                st.rerun()
    warn_of(model)
    st.header("What carries it", anchor=False)
    if isinstance(model, NumberModel):
        _carries_number(model)
    else:
        _carries_class(model)
    st.header("For one record", anchor=False)
    _one_record(model)
    st.header("On a public test file", anchor=False)
    judge_view(model)


def _chosen_among(model: Model) -> list[tuple[str, str]]:
    """What it was chosen from, where several competed."""
    among = chosen_among(model) if isinstance(model, LinearModel) else ()
    return [("It was right of most held-out records, as far as noise lets one tell.", listed(among))] if among else []


def _onnx(model: Model) -> None:
    """A button for the file that other programs run, where the package is there that makes it."""
    if find_spec("onnx") is None or not model.private:
        return
    offer(
        "For other programs (ONNX)",
        lambda: to_onnx(model),
        "model.onnx",
        "train-onnx",
        help="It predicts without Frostglass, in whatever runs ONNX.",
    )


BANDS = (
    "Bands and lines hold, with about 95%, what the same training would give of these records without noise; that the "
    "records are a sample of others is not in them."
)
NO_CLASS_BANDS = (
    "Small ones may be noise. There are no bands: how far noise moves them depends on how many records lie near the "
    "border, which this method does not release."
)


def _carries_class(model: LinearModel) -> None:
    row = _row(model)
    _carried(model, row, reaches(model, row), f"the score of {model.categories[row if len(model.rows) > 1 else 1]}")


def _carries_number(model: NumberModel) -> None:
    table = model.coefficients().iloc[1:]
    bent = [place for places, _ in model.task.curves_of.values() for place in places]
    _carried(model, 0, table.drop(table.index[bent]), model.moved)


def _carried(model: Model, row: int, table: pd.DataFrame, moved: str) -> None:
    """Curves, and beneath them what has none: lines and categories."""
    curves = model.curves(row)
    if curves:
        show(curves_figure(curves, moved), "train-curves", curves_in_words(curves, moved))
        hidden = [curve.column for curve in curves if not curve.sure]
        more = f" The {MOST_CURVES} that move it most of {len(curves)}." if len(curves) > MOST_CURVES else ""
        unsure = f" Noise alone may have bent {in_markdown(listed(hidden, 6))}." if hidden else ""
        note(f"Each curve is what a column adds to {in_markdown(moved)}, told from its middle.{more}{unsure}")
    if len(table):
        show(coefficient_figure(table, moved), "train-coefficients", coefficients_in_words(table, moved))
        hollow = " Hollow dots may as well be zero." if model.bands is not None else ""
        note(f"Each dot says how far a column moves {in_markdown(moved)} over its range.{hollow}")
    note(BANDS if model.bands is not None else NO_CLASS_BANDS if isinstance(model, LinearModel) else NO_BANDS)


def _row(model: LinearModel) -> int:
    if len(model.rows) == 1:
        return 0
    named = st.selectbox("Class", model.categories, key="train-class", width=320)
    return model.categories.index(str(named))


def _one_record(model: Model) -> None:
    asked = [column for column in model.features.columns if not isinstance(column, Vector)]
    if len(asked) < len(model.features.columns):
        note("Columns of vectors are asked about from Python or the command line.")
        return
    values: dict[str, list] = {}
    for first in range(0, len(asked), ABREAST):  # line by line, as the keyboard and a phone come to them
        for field, column in zip(st.columns(ABREAST, gap="large"), asked[first : first + ABREAST], strict=False):
            with field:
                values[column.name] = [value_field(column, f"train-{column.name}", slides=True)]
    say(predicted_in_words(model, pd.DataFrame(values)))


def predicted_in_words(model: Model, record: pd.DataFrame) -> str:
    """What a model says of one record, in Markdown."""
    if isinstance(model, NumberModel):
        found = {name: _told(value) for name, value in model.predict(record).iloc[0].items()}
        unit = "" if isinstance(model.task.target, Dates) else in_markdown(model.task.target.unit)
        band = (
            f"; without noise it would be between {found['low']} and {found['high']}, with 95%"
            if "low" in found
            else ""
        )
        return f"Predicted: **{found['predicted']}** {unit}".rstrip() + f"{band}{_off(model)}."
    probabilities = model.probabilities(record)[0]
    best = int(probabilities.argmax())
    name = in_markdown(model.categories[best])
    return f"Most likely **{name}**, with a probability of {percent(float(probabilities[best]))}."


def _told(value: object) -> str:
    """A date, a number or a category that is predicted, in Markdown."""
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}"
    return significant(float(value), 4) if isinstance(value, (int, float)) else in_markdown(str(value))


def _off(model: NumberModel) -> str:
    """How far off it typically is, where that is known."""
    said = model.off_in_words()
    return f"; records are typically {in_markdown(said)}" if said else ""


def warn_of(model: Model) -> None:
    """What must be said of a model's promise wherever it is opened."""
    for sentence in model.warnings:
        st.warning(sentence, icon=":material/warning:")


@refusals()
def open_model(key: str = "train-file") -> None:
    """A drop zone for a model file."""
    dropped = st.file_uploader("A model file", "json", key=key, max_upload_size=100)
    if dropped is None or st.session_state.get(f"{key}-read") == dropped.file_id:
        return
    st.session_state[f"{key}-read"] = dropped.file_id
    st.session_state[MODEL] = load_model(dropped.getvalue())
    keep_opened(dropped.name, dropped.getvalue())
    st.rerun()
