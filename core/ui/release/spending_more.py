"""Topping up what was just released: a second release of the same records, and one file of both."""

from __future__ import annotations

import streamlit as st

from ...privacy.budget import Budget
from ...releases.less_noise_later import kept_for
from ...releases.payment import LedgerAccount, unit_words
from ...releases.topping_up import ToppingUp
from ..frame.marks import note, refusals
from ..frame.navigation import CLASSIFY, EXPLORE
from ..frame.session import Opened, Session
from ..frame.visiting import visitor_now
from ..released.kept_files import open_any
from .release_task import ReleaseRequest


def offer_more(visitor: Session, order: ReleaseRequest, opened: Opened) -> None:
    """How much less noise more ε would leave, and the button that pays for it.

    Not where others are served: there a steward may have to say yes, which the page Release asks for.
    """
    if visitor_now() is not None:
        return
    with st.expander("Spend more on it", type="compact"), refusals():
        kept = kept_for(opened.release, order.ledger, order.dataset)
        if kept is None:
            note("A second release of the same records is made, and one file of both, weighted by how exact each is.")
        else:
            note("What was kept beside the ledger is shown with less noise, as if all had been spent at once.")
        more = st.number_input(
            "Privacy loss ε to add", 0.0, 100.0, None, step=None, format="%.12g", key="release-more", width=200
        )
        if not more:
            return
        wanted = ToppingUp(opened.release, Budget(more).epsilon, kept)
        note(wanted.sentence)
        if not st.button(f"Pay ε = {wanted.more:f} more", key="release-pay-more"):
            return
        payer = LedgerAccount(order.ledger, order.dataset, wanted.second, unit_words(opened.release.domain.unit))
        with st.spinner("Making it"):
            made = wanted.made(lambda: order.source, payer)
        open_any(visitor, f"both-{payer.note.get('file', opened.name)}", made.to_bytes(), title=opened.title)
        st.switch_page(CLASSIFY.path if made.sketch.classes else EXPLORE.path)
