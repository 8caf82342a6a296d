"""A trained model: what it is, what carries it, and what it says of one record. All of it is public."""

from __future__ import annotations

from importlib.util import find_spec

import pandas as pd
import streamlit as st

from ...domain import Dates, Vector
from ...errors import RequestError
from ...figures.model_figures import coefficient_figure, coefficients_in_words, model_figure, model_in_words
from ...figures.share.shared_page import share_html
from ...models.contest.choice import chosen_among
from ...models.linear_model import LinearModel
from ...models.number_model import NO_BANDS, NumberModel
from ...models.onnx_export import to_onnx
from ...models.opening import Model, load_model
from ...words.escapes import in_markdown
from ...words.numbers import percent, significant
from ...words.phrases import listed
from ..explore.point import say
from ..explore.values import value_field
from ..frame.charts import show
from ..frame.marks import Visibility, facts, note, rail
from ..release.shelves import keep_opened
from .choosing import MODEL
from .judging import judge_view

ABREAST = 3
"""Fields in a line."""


def model_view(model: Model) -> None:
    """Everything about a model, with the way to another one."""
    with rail(Visibility.PUBLIC, "model", "The model may be handed out"):
        facts([*((sentence, "") for sentence in model.card()), *_chosen_among(model)])
        with st.container(horizontal=True, gap="small"):
            _download("Model (JSON)", model.to_bytes(teaching=not model.private), "model.json", "application/json")
            st.download_button(
                "One page that predicts (HTML)",
                lambda: share_html(model, model.to_bytes(teaching=not model.private), "model.json").encode(),
                "model.html",
                "text/html",
                key="train-page",
                on_click="ignore",
            )
            table = model.coefficients()
            _download("Coefficients (CSV)", table.to_csv(index=False).encode(), "coefficients.csv", "text/csv")
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
    st.download_button(
        "For other programs (ONNX)",
        lambda: to_onnx(model),
        "model.onnx",
        "application/octet-stream",
        key="train-onnx",
        on_click="ignore",
        help="It predicts without Frostglass, in whatever runs ONNX.",
    )


def _carries_class(model: LinearModel) -> None:
    row = _row(model)
    show(model_figure(model, row), "train-coefficients", model_in_words(model, row))
    note(
        "Each bar is how far a column moves the score over its range. Small ones may be noise. There are no bands: how "
        "far noise moves a bar depends on how many records lie near the border, which nobody released."
    )


def _carries_number(model: NumberModel) -> None:
    table = model.coefficients().iloc[1:]
    show(coefficient_figure(table, model.moved), "train-coefficients", coefficients_in_words(table, model.moved))
    told = "the logarithm of the prediction" if model.counts else "the prediction"
    bands = "Lines hold with 95% what the same method would give without noise, and hollow dots may as well be zero."
    note(
        f"Each dot says how far a column moves {told} over its range. "
        + (bands if model.errors is not None else f"Small ones may be noise. {NO_BANDS}")
    )


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
    if model.residual_deviation is None:
        return ""
    measure = getattr(model.task.target, "measure", "")
    return (
        f"; records are typically {significant(model.residual_deviation, 2)} {in_markdown(measure)}".rstrip() + " off"
    )


def _download(label: str, content: bytes, name: str, mime: str) -> None:
    st.download_button(label, content, name, mime, key=f"train-{name}", on_click="ignore")


def warn_of(model: Model) -> None:
    """What must be said of a model's promise wherever it is opened."""
    for sentence in model.warnings:
        st.warning(sentence, icon=":material/warning:")


def open_model(key: str = "train-file") -> None:
    """A drop zone for a model file."""
    dropped = st.file_uploader("A model file", "json", key=key, max_upload_size=100)
    if dropped is None or st.session_state.get(f"{key}-read") == dropped.file_id:
        return
    st.session_state[f"{key}-read"] = dropped.file_id
    try:
        st.session_state[MODEL] = load_model(dropped.getvalue())
    except RequestError as error:
        st.error(in_markdown(error))
    else:
        keep_opened(dropped.name, dropped.getvalue())
        st.rerun()
