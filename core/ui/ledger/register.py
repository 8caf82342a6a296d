"""Promising a total for a data set, before or without releasing anything of it."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...privacy.budget import Budget
from ...privacy.ledger.account import price
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.names import LONGEST_NAME
from ...privacy.unit import PrivacyUnit
from ...releases.payment import unit_words
from ...words.escapes import in_markdown
from ..frame.marks import main_action, note
from ..release.privacy import COUNTED_TOGETHER, RELATIONS, SLACK, WHY_TOGETHER

EACH_ROW, BY_COLUMN = "Each row is one person", "A column says who the person is"


def register_data_set(ledger: Ledger) -> str | None:
    """Let the owner promise a total; the name of the data set in the run in which it was registered."""
    note(
        "A data set is registered by its first release, or here. The total is a promise to the people in it: all "
        "releases together will never pass it, and it cannot be changed."
    )
    named, total = st.columns([1.6, 1], gap="medium")
    name = named.text_input("Name of the data set", max_chars=LONGEST_NAME, key="ledger-name").strip()
    epsilon = total.number_input(
        "Its total budget, for ever (ε)",
        0.0,
        100.0,
        None,
        step=None,
        format="%.12g",
        key="ledger-total",
    )
    slack = st.toggle(
        COUNTED_TOGETHER,
        key="ledger-total-slack",
        wrap=True,
        help=WHY_TOGETHER,
    )
    hidden, unit, missing = _people()
    words = {"a name for the data set": name, "its total budget": epsilon}
    missing = [*(word for word, given in words.items() if not given), *missing]
    label = f"Register for {price(Budget(epsilon))}" if epsilon else "Register"
    if not main_action(label, missing, "ledger-register", "Nothing is released by this."):
        return None
    try:
        ledger.register(name, epsilon, SLACK if slack else 0, hidden, unit)
    except RequestError as error:
        st.error(in_markdown(error))
        return None
    return name


def _people():
    """What is hidden of whom: the relation, the unit in the ledger's words, and what is missing."""
    who, what = st.columns(2, gap="medium")
    hidden = what.radio(
        "What should stay hidden?", list(RELATIONS), format_func=RELATIONS.__getitem__, key="ledger-relation"
    )
    if who.radio("Who is one person?", [EACH_ROW, BY_COLUMN], key="ledger-unit") == EACH_ROW:
        return hidden, unit_words(PrivacyUnit()), []
    column = who.text_input("The column", key="ledger-unit-column").strip()
    rows = who.number_input("At most this many rows each", 1, 1_000_000, None, key="ledger-unit-rows")
    given = {"the column that says who the person is": column, "how many rows one person may have": rows}
    missing = [word for word, value in given.items() if not value]
    return hidden, "" if missing else unit_words(PrivacyUnit(column, rows)), missing
