"""The total of a new data set: so many releases of this quality, or a number of one's own."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from ...words.numbers import amount
from ..frame.marks import note
from ..frame.odds import odds_sentence

OFTEN = (1, 2, 3, 5, 10)
"""How many releases a total may be chosen for."""
MOST = Decimal(100)
"""No total is larger, as it would promise next to nothing."""


def choose_total(epsilon: Decimal | None, number: int, protected: str) -> Decimal | None:
    """Let the owner say how many releases there will ever be, or type the total; None while it is neither.

    Nothing is chosen at first, as it is a promise for ever and the owner's to make. The number follows ε while a choice
    of releases stands; typing a number takes the choice back.

    Parameters
    ----------
    epsilon : Decimal | None
        What one release costs; without it only the number can be typed.
    number : int
        Number of the pick on the Data page, part of every key.
    protected : str
        "person" or "record", whatever is protected.
    """
    often, typed = f"release-often-{number}", f"release-total-{number}"
    asked = epsilon is not None
    times, field = st.columns([1.9, 1], gap="medium", vertical_alignment="bottom") if asked else (None, st.container())
    chosen: int | None = None
    if times is not None:
        chosen = times.segmented_control(
            "How many releases of this quality do you ever want to make?",
            OFTEN,
            key=often,
            persist_state="session",
            help="The total of the data set becomes that many times this ε. It is a promise to the people in it: all "
            "releases together will never pass it, and it cannot be changed later.",
        )
    exact = None if chosen is None or epsilon is None else chosen * epsilon
    if exact is not None and exact > MOST:
        note(f"That would come to ε = {amount(exact)}, and a total is at most {MOST}, as more would promise nothing.")
        exact = None
    if chosen is not None:
        st.session_state[typed] = None if exact is None else float(exact)
    given = field.number_input(
        "Its total budget, for ever (ε)",
        0.0,
        float(MOST),
        None,
        step=None,
        format="%.12g",
        key=typed,
        persist_state="session",
        on_change=_forget,
        args=(often,),
        help="All releases of this data set together will never pass it. It is a promise to the people in it and "
        "cannot be changed later.",
    )
    total = exact if exact is not None else Decimal(str(given)) if given else None
    if total is not None:
        note(f"After all of them together: {_lowered(odds_sentence(float(total), protected=protected))}")
    return total


def _forget(often: str) -> None:
    """A total that was typed is no multiple any more."""
    st.session_state[often] = None


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
