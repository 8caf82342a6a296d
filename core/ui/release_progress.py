"""The yes that a release needs, and the time until it is there."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import streamlit as st

from ..sketches.race import SEED_BITS
from .marks import note
from .odds import odds_sentence
from .release_account import price
from .release_draft import amount
from .release_making import Desk, Making, Order

if TYPE_CHECKING:
    from .release_steps import Chosen

KEY = "release-desk"
BEGUN = "release-begun"
LOOK_EVERY = 0.2
"""Seconds until the browser asks for the work to begin, or to go on."""


def hash_seed(number: int) -> int:
    """The public seed of the sketch's hash functions: the same while an owner tries settings on one data set."""
    return st.session_state.setdefault(f"release-seed-{number}", secrets.randbits(SEED_BITS))


def release_desk() -> Desk:
    """Where this visitor's release stands."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Desk()
    return st.session_state[KEY]


@st.dialog("Release it?", on_dismiss="rerun")
def confirm(desk: Desk, order: Order, chosen: Chosen) -> None:
    """Ask once more, in words; the ticket of the order counts once, however often the button is pressed."""
    budget = order.budget
    odds = odds_sentence(float(budget.epsilon), float(budget.delta), chosen.draft.protected)
    # Names are data set names as the owner typed them: as text, in which nothing is Markdown.
    st.markdown(f"You hand out one file, for ever, at the price of **{price(budget)}**. {odds}")
    st.text(f"It is paid from the budget of “{order.dataset}”.")
    if order.bought:
        st.markdown(
            f"The file also shows bounds that were bought and paid for before, so what it promises is "
            f"**ε = {amount(order.promised)}**."
        )
    if order.total is not None:
        st.markdown(f"Its total of **{price(order.total)}** is promised by this, for all releases there will ever be.")
    st.markdown(
        f"What is spent cannot be had back, even if nobody ever gets the file. "
        f"It leaves **ε = {amount(chosen.left)}** of the total of {amount(chosen.account.total.epsilon)}."
    )
    with st.container(horizontal=True, gap="small"):
        ticket = (order.ticket,)
        yes = st.button("Yes, release it", type="primary", key="release-yes", on_click=desk.confirm, args=ticket)
        no = st.button("Not yet", key="release-no", on_click=desk.decline)
    if yes or no:
        st.rerun()


def show_progress(making: Making) -> None:
    """Progress with a way out; the page shows nothing else meanwhile."""
    st.subheader("Making the release", anchor=False)
    _work(making)
    # Outside the fragment: a click on it interrupts the work, where a click inside would wait for its end.
    st.button("Stop, at no cost", key="release-stop", on_click=making.stop)
    note(
        "Stopping costs nothing as long as records are being read: the price is paid in the moment before the noise is "
        "drawn, and from then on it cannot be had back."
    )


@st.fragment(run_every=LOOK_EVERY)
def _work(making: Making) -> None:
    """Read batch after batch, then pay and draw the noise.

    The first run only draws, so that the rest of the page is there and what was on it before is gone; the browser calls
    again at once. Every report of progress is a moment at which Streamlit hears a click on Stop and leaves; the batches
    read so far stay with the making, and another visit of the page goes on from them.
    """
    total = making.order.source.rows_total()
    bar = st.progress(*_progress(making, total))
    if st.session_state.get(BEGUN) != making.order.ticket:
        st.session_state[BEGUN] = making.order.ticket
        return
    while making.read_on():
        bar.progress(*_progress(making, total))
    bar.progress(1.0, "All records read. Drawing the noise.")
    making.finish()
    st.rerun()


def _progress(making: Making, total: int | None) -> tuple[float, str]:
    """How far reading is, for the owner's eyes; where the total is unknown, the bar only says that it goes on."""
    if total:
        return min(1.0, making.rows / total), f"{making.rows:,} of {total:,} rows read"
    return making.rows / (making.rows + 1_000_000), f"{making.rows:,} rows read"
