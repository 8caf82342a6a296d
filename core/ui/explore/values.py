"""Fields in which one value of a column is chosen or typed: a number, a date, or a category."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
import streamlit as st

from ...domain import Categorical, Column, Dates, Ordered
from ...words.escapes import in_markdown

STEPS = 1000
"""Numbers typed or slid go in steps of this part of a column's range, or finer."""
SHORTEST = "%.15g"
"""Numbers are written with the digits that they have: 59, and 59.25."""
SHOWN_DATE = "YYYY-MM-DD"


def value_field(column: Column, key: str, on_change: Callable | None = None, slides: bool = False) -> object:
    """A field for a value of a column, in natural units; a date comes back as its text in ISO 8601."""
    label, state = label_of(column), {"key": key, "persist_state": "session", "on_change": on_change}
    if isinstance(column, (Categorical, Ordered)):
        return st.selectbox(label, column.categories, **state)
    if isinstance(column, Dates):
        return said(column, _date_field(column, label, state))
    step, form, middle = grain(column), SHORTEST, tidy((column.low + column.high) / 2, column)
    known = {} if key in st.session_state else {"value": middle}  # one that starts with a value twice is warned about
    field = st.slider if slides else st.number_input
    return field(label, column.low, column.high, step=step, format=form, **known, **state)


def _date_field(column: Dates, label: str, state: dict) -> date | datetime:
    low, middle, high = column.present(np.array([column.low, (column.low + column.high) // 2, column.high])).tolist()
    if column.step != "day":
        low, middle, high = (moment.replace(second=0) for moment in (low, middle, high))
    known = {} if state["key"] in st.session_state else {"value": middle}
    if column.step == "day":
        days = {name: moment.date() for name, moment in known.items()}
        return st.date_input(label, **days, min_value=low.date(), max_value=high.date(), format=SHOWN_DATE, **state)
    return st.datetime_input(
        label, **known, min_value=low, max_value=high, format=SHOWN_DATE, step=STEPS_OF[column.step], **state
    )


STEPS_OF = {"hour": 3600, "minute": 60, "second": 60}
"""Seconds that times are typed to."""


def state_of(column: Column, value: object) -> object:
    """What a field holds for a value in natural units."""
    if isinstance(column, (Categorical, Ordered)):
        return str(value)
    if isinstance(column, Dates):
        place = np.clip(column.numbers_of([value]), column.low, column.high)
        moment = column.present(place)[0].item()
        return moment.date() if column.step == "day" else moment.replace(second=0)
    return tidy(float(value), column)


def read_value(column: Column, text: str) -> object:
    """What a field holds for a value that was written as text; ValueError or RequestError where it cannot be one."""
    if isinstance(column, (Categorical, Ordered)):
        if text not in column.categories:
            raise ValueError(text)
        return text
    if isinstance(column, Dates):
        return state_of(column, text)
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return state_of(column, float(text))


def said(column: Column, state: Any) -> object:
    """The value in natural units that a field holds."""
    return state.isoformat() if isinstance(column, Dates) else state


def label_of(column: Column) -> str:
    """The label of a field for a value of a column: its name, with its unit."""
    unit = "" if isinstance(column, Dates) else getattr(column, "said_unit", "")
    return in_markdown(f"{column.name} ({unit})" if unit else column.name)


def grain(column: Column) -> float:
    """The step of numbers of a column: its own, or a power of ten, at most a thousandth of its range, where finer."""
    return max(_fine(column), column.spacing)


def _fine(column: Column) -> float:
    return 10.0 ** math.floor(math.log10((column.high - column.low) / STEPS))


def tidy(value: float, column: Column) -> float:
    """A number rounded to the grain of its column, inside its bounds."""
    if grain(column) > _fine(column):  # numbers that anyone could have
        return float(column.present(np.float64(value)))
    digits = -round(math.log10(_fine(column)))
    return min(max(round(value, digits), column.low), column.high)
