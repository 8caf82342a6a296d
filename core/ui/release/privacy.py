"""Step 2 of a release: how much privacy each person keeps."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from ...privacy.neighbours import Neighbours
from ..frame.marks import note
from .draft import EPSILONS, SLACK, amount, nearest_step

STEP, EXACT, WITH_SLACK, RELATION = (
    "release-epsilon",
    "release-epsilon-exact",
    "release-slack",
    "release-relation",
)
START = Decimal(1)
RELATIONS = {
    Neighbours.ADD_REMOVE: "That someone is in the data at all",
    Neighbours.REPLACE_ONE: "What someone's record says",
}
CAPTIONS = (
    "Nobody can tell whether any one person is in it. How many there are stays private too.",
    "Nobody can tell what any one record holds. That someone is in the data, and how many are, is not hidden.",
)


def choose_epsilon() -> Decimal | None:
    """The slider on its logarithmic scale, with an exact field beside it; None while the field is empty."""
    st.session_state.setdefault(STEP, START)
    st.session_state.setdefault(EXACT, float(START))
    slider, field = st.columns([4, 1.15], gap="medium", vertical_alignment="bottom", wrap=False)
    slider.select_slider(
        "Privacy loss ε",
        EPSILONS,
        format_func=amount,
        key=STEP,
        persist_state="session",
        on_change=_step_moved,
        help="How much the presence of any one person may change what comes out. Smaller is more private, larger is "
        "more accurate, and all of it is paid from the budget.",
    )
    typed = field.number_input(
        "exactly", 0.0, 100.0, step=None, format="%.12g", key=EXACT, persist_state="session", on_change=_exact_typed
    )
    return Decimal(str(typed)) if typed else None


def _step_moved() -> None:
    st.session_state[EXACT] = float(st.session_state[STEP])


def _exact_typed() -> None:
    if st.session_state[EXACT]:
        st.session_state[STEP] = nearest_step(Decimal(str(st.session_state[EXACT])))


def choose_slack() -> bool:
    """The switch for δ; what it gains is said once the forecasts are there."""
    return st.toggle(
        f"Allow a slack of one in a million (δ = {SLACK:f})",
        key=WITH_SLACK,
        persist_state="session",
        wrap=True,
        help="With a chance of at most one in a million, what comes out may say more about someone than ε allows. In "
        "return, less noise is needed to hide a person in many numbers at once.",
    )


def choose_relation(settled: Neighbours | None) -> Neighbours:
    """What is hidden about a person; a data set that the ledger knows has settled it already."""
    if settled is not None:
        st.session_state[RELATION] = settled
    chosen = st.radio(
        "What should stay hidden?",
        list(RELATIONS),
        format_func=RELATIONS.__getitem__,
        captions=CAPTIONS,
        key=RELATION,
        persist_state="session",
        disabled=settled is not None,
    )
    if settled is not None:
        note("The budget of this data set was promised for this, and promises of two kinds do not add up.")
    return chosen
