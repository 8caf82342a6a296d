"""A trained model: what it is, what carries it, and what it says of one record. All of it is public."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ...domain import Vector
from ...errors import RequestError
from ...figures.model import model_figure, model_in_words
from ...figures.share.page import share_html
from ...models.linear_model import LinearModel, load_model
from ...words.escapes import in_markdown
from ...words.numbers import percent
from ..explore.point import say
from ..explore.values import value_field
from ..frame.charts import show
from ..frame.marks import Visibility, facts, note, rail
from ..release.shelves import keep_opened
from .choosing import MODEL

MOST_FIELDS = 12


def model_view(model: LinearModel) -> None:
    """Everything about a model, with the way to another one."""
    with rail(Visibility.PUBLIC, "model", "The model may be handed out"):
        facts((sentence, "") for sentence in model.card())
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
            if st.button("Another model", key="train-again"):
                del st.session_state[MODEL]
                st.rerun()
    if not model.private:
        st.warning("A teaching file: its noise protects nobody.", icon=":material/school:")
    st.header("What carries it", anchor=False)
    row = _row(model)
    show(model_figure(model, row), "train-coefficients", model_in_words(model, row))
    note("Each bar is how far a column moves the score over its range. Small ones may be noise.")
    st.header("For one record", anchor=False)
    _one_record(model)


def _row(model: LinearModel) -> int:
    if len(model.rows) == 1:
        return 0
    named = st.selectbox("Class", model.categories, key="train-class", width=320)
    return model.categories.index(str(named))


def _one_record(model: LinearModel) -> None:
    asked = [column for column in model.features.columns if not isinstance(column, Vector)]
    if len(asked) < len(model.features.columns):
        note("Columns of vectors are asked about from Python or the command line.")
        return
    fields = st.columns(3, gap="large")
    values: dict[str, list] = {}
    with st.container():
        for place, column in enumerate(asked):
            with fields[place % 3]:
                values[column.name] = [value_field(column, f"train-{column.name}", slides=True)]
    probabilities = model.probabilities(pd.DataFrame(values))[0]
    best = int(probabilities.argmax())
    say(f"Most likely **{model.categories[best]}**, with a probability of {percent(float(probabilities[best]))}.")


def _download(label: str, content: bytes, name: str, mime: str) -> None:
    st.download_button(label, content, name, mime, key=f"train-{name}", on_click="ignore")


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
