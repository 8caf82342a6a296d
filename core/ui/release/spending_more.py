"""Topping up what was just released: a second release of the same records, and one file of both."""

from __future__ import annotations

import streamlit as st

from ...privacy.budget import Budget
from ...releases.payment import LedgerAccount, unit_words
from ...releases.release_store import public_name
from ...releases.topping_up import ToppingUp, averaged
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
        note("A second release of the same records is made, and one file of both, weighted by how exact each is.")
        more = st.number_input(
            "Privacy loss ε to add", 0.0, 100.0, None, step=None, format="%.12g", key="release-more", width=200
        )
        if not more:
            return
        wanted = ToppingUp(opened.release, Budget(more).epsilon)
        note(wanted.sentence)
        if not st.button(f"Pay ε = {wanted.more:f} more", key="release-pay-more"):
            return
        payer = LedgerAccount(order.ledger, order.dataset, wanted.second, unit_words(opened.release.domain.unit))
        with st.spinner("Reading the records"):
            job = wanted.job(order.source, payer)
            made = averaged(wanted.first, job.run(), wanted.promise)
        name = "both-" + (opened.name if job.kept is None else public_name(job.kept.name))
        open_any(visitor, name, made.to_bytes(), title=opened.title)
        st.switch_page(CLASSIFY.path if made.sketch.classes else EXPLORE.path)
