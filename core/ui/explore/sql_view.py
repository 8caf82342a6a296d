"""The Ask view: questions in SQL to a released table, answered with bands or refused in one sentence."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from ...analysis.sql import ask_sql
from ...analysis.table_profile import measured
from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...releases.release import Release
from ..frame.marks import note
from ..frame.session import Opened
from ..released.public_answers import LEVEL


def ask_view(opened: Opened) -> None:
    """Everything under Ask."""
    question = st.text_area(
        "A question in SQL, to the table “records”",
        first_question(opened.release),
        key=f"explore-ask-{opened.identity[:12]}",
        persist_state="session",
        height=110,
    )
    note(
        "COUNT(*), SUM, AVG, MEDIAN and QUANTILE(column, share), with WHERE and GROUP BY of columns that were measured "
        "together. Each answer has the ends of its 95% interval beside it; where the low end is 0 or less, it cannot "
        "be told from none."
    )
    try:
        found = ask_sql(opened.release, question, LEVEL)
    except RequestError as error:
        st.info(in_markdown(error))
        return
    st.dataframe(readable(found), hide_index=True, key="explore-asked")
    st.download_button(
        "Answers (CSV)",
        lambda: found.to_csv(index=False).encode(),
        f"{opened.stem}-answers.csv",
        "text/csv",
        key="explore-ask-csv",
        on_click="ignore",
    )


def first_question(release: Release) -> str:
    """A question to begin with: how many by a column of categories, and the mean of a number where there are both."""
    answers = release.asked(LEVEL)
    axes = answers.axes
    group = next((axis for axis in axes if axis.categories), axes[0])
    numbers = [axis for axis in axes if not axis.categories and axis is not group]
    number = next((axis for axis in numbers if measured(answers, [group.name, axis.name])), None)
    by = _quoted(group.name)
    mean = "" if number is None else f", AVG({_quoted(number.name)}) AS average"
    return f"SELECT {by}, COUNT(*) AS people{mean}\nFROM records\nGROUP BY {by}"


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def readable(found: pd.DataFrame) -> pd.DataFrame:
    """Groups as texts, and numbers in as many digits as anyone reads."""
    shown = found.copy()
    for name in shown.columns:
        if isinstance(shown[name].dtype, pd.CategoricalDtype):
            shown[name] = shown[name].astype(str)
        elif pd.api.types.is_float_dtype(shown[name]):
            shown[name] = shown[name].round(3)
    return shown
