"""Step 2 of a release: how much privacy each person keeps."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from ...formatting.numbers import amount
from ...privacy.budget import Budget
from ...privacy.neighbours import Neighbours
from ..frame.marks import note, refusals

STEP, EXACT, WITH_SLACK, RELATION = (
    "release-epsilon",
    "release-epsilon-exact",
    "release-slack",
    "release-relation",
)
START = Decimal(1)
WHAT = (
    "How much the presence of any one person may change what comes out. Smaller is more private, larger is more "
    "accurate, and all of it is paid from the budget."
)
SLACK = Decimal("0.000001")  # The δ behind the switch: one in a million.
COUNTED_TOGETHER = "Count several releases as less than their sum, for a one-in-a-million risk"
WHY_TOGETHER = (
    "Losses of several releases hardly ever all point the same way, so that together they cost less than the sum of "
    "their ε, but for a chance of at most one in a million."
)
# Steps of the slider: round numbers, about equally far apart on a logarithmic scale from 0.01 to 10.
EPSILONS = tuple(
    Decimal(step)
    for step in (
        "0.01 0.012 0.015 0.02 0.025 0.03 0.04 0.05 0.06 0.08 "
        "0.1 0.12 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.8 "
        "1 1.2 1.5 2 2.5 3 4 5 6 8 10"
    ).split()
)
RELATIONS = {
    Neighbours.ADD_REMOVE: "That someone is in the data at all",
    Neighbours.REPLACE_ONE: "What someone's record says",
}
CAPTIONS = (
    "Nobody can tell whether any one person is in it. How many there are stays private too.",
    "Nobody can tell what any one record holds. That someone is in the data, and how many are, is not hidden.",
)


@refusals()
def choose_epsilon(live: bool = False) -> Decimal | None:
    """The slider on its logarithmic scale, with an exact field beside it; None while no promise can be made with it.

    `live`: Whether a picture below has the slider, which the field follows.
    """
    st.session_state.setdefault(STEP, START)
    st.session_state.setdefault(EXACT, float(START))
    slider, field = st.columns([4, 1.15], gap="medium", vertical_alignment="bottom", wrap=False)
    if live:
        slider.caption("Slide the ε of the picture, or type it: smaller is more private, larger is more accurate.")
    else:
        slider.select_slider(
            "Privacy loss ε",
            EPSILONS,
            format_func=amount,
            key=STEP,
            persist_state="session",
            on_change=_step_moved,
            help=WHAT,
        )
    typed = field.number_input(
        "Privacy loss ε" if live else "exactly",
        0.0,
        100.0,
        step=None,
        format="%.12g",
        key=EXACT,
        persist_state="session",
        on_change=_exact_typed,
        help=WHAT if live else None,
    )
    if not typed:
        return None
    return Budget(typed).epsilon


def _step_moved() -> None:
    st.session_state[EXACT] = float(st.session_state[STEP])


def _exact_typed() -> None:
    if st.session_state[EXACT]:
        st.session_state[STEP] = nearest_step(Decimal(str(st.session_state[EXACT])))


def set_epsilon(epsilon: Decimal) -> None:
    """Put an ε into the slider and the field, before they are drawn: in a callback."""
    st.session_state[EXACT], st.session_state[STEP] = float(epsilon), nearest_step(epsilon)


def choose_slack(sample: bool = False) -> bool:
    """The switch for δ beside ε, named by what it buys, with its price; how much it buys is said by the forecasts.

    What was tried on a sample says nothing of people's own data, of which no categories can be found without it.
    """
    risky = st.toggle(
        f"Less noise, for a one-in-a-million risk (δ = {SLACK:f})",
        key=f"{WITH_SLACK}-sample" if sample else WITH_SLACK,
        persist_state="session",
        wrap=True,
        help="Less noise is needed to hide a person in many numbers at once. Off, the promise is pure: ε always holds.",
    )
    note(
        "Its price: with a chance of at most one in a million, what comes out may say more about someone than ε allows."
    )
    return risky


def choose_relation(settled: Neighbours | None) -> Neighbours:
    """What is hidden about a person; a data set that the ledger knows has settled it already."""
    if settled is not None:
        st.session_state[RELATION] = settled
    chosen = st.radio(
        "What should stay hidden?",
        list(RELATIONS),
        format_func=RELATIONS.__getitem__,
        captions=CAPTIONS,
        help="Ask what it says about someone to be on the list. To be among the patients of a clinic says much; to "
        "have been drawn for a survey of all voters says next to nothing.",
        key=RELATION,
        persist_state="session",
        disabled=settled is not None,
    )
    if settled is not None:
        note("The budget of this data set was promised for this, and promises of two kinds do not add up.")
    return chosen


def nearest_step(epsilon: Decimal) -> Decimal:
    """The step of the slider that is nearest to an ε, on its logarithmic scale."""
    return min(EPSILONS, key=lambda step: abs((step / epsilon).ln()))
