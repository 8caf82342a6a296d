"""The distance that a release finds by itself: a few percent of its ε buy first how far records lie apart."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ...forecast.draft import DENSITY, Draft
from ...forecast.reference_population import DEFAULT_SPREAD
from ...forecast.scales import has_scales
from ...privacy.ledger.ledger import Ledger
from ...releases.apart import ApartFirst
from ...releases.spread import Offered, offered
from ...serving.ledger import OwnLedger
from ...words.numbers import amount, percent
from ..frame.marks import note
from .several import added
from .way import picked_way, way_of


def can_find(draft: Draft, number: int) -> bool:
    """Whether a release may find its distance: of more columns than a grid is for, and of one question alone."""
    return (
        draft.question == DENSITY
        and draft.measures_closeness
        and not has_scales(draft.compared)
        and not draft.compared.holds_sets
        and not added(number)
    )


def finding_first(draft: Draft, ledger: Ledger) -> Draft:
    """The draft of a settled budget, less what is bought first; forecast for ordinary records until that is known.

    Where noise would hide how far they lie apart, or there is no room for two entries, nothing is bought.
    """
    draft = draft.apart(DEFAULT_SPREAD)
    one = _offered(draft, ledger)
    if one is None:
        note(
            "How far records lie apart is not bought, as noise would hide it or the budget has no room for it, so "
            f"{percent(DEFAULT_SPREAD, 2)} of the bounds is supposed. Fine-tune lets you say the distance."
        )
        return draft
    st.markdown("**The release finds out by itself how near counts as close.**")
    note(
        f"ε = {amount(one.cost.epsilon)} of the price buys how far {draft.counted} typically lie apart; the bandwidth "
        f"is half of that. The forecast has the rest, and supposes that a typical value lies "
        f"{percent(DEFAULT_SPREAD, 2)} of the bounds from the middle of all: nobody looks before it is paid for."
    )
    return replace(draft, budget=one.left, whole=draft.promise, first=one.cost)


def apart_first(draft: Draft) -> ApartFirst | None:
    """What a finished draft buys first, and what it makes of that; None where it buys nothing."""
    if draft.first is None:
        return None
    picked, one = picked_way(draft), offered(draft.compared, draft.total, draft.records)
    if one is None:
        return None
    return ApartFirst(draft.compared, one, lambda spread: draft.apart(spread).sketch_of(picked))


def _offered(draft: Draft, ledger: Ledger) -> Offered | None:
    """The offer, where it says something and may be bought beside the release."""
    one, account = offered(draft.compared, draft.promise, draft.records), draft.account
    if one is None or account is None:
        return one
    left = replace(draft, budget=one.left, whole=draft.promise, first=one.cost)
    made = replace(left, way=way_of(left))
    rest = made.rest
    if isinstance(ledger, OwnLedger) and ledger.needs_approval(account.releases, made.cost, account.total):
        return None  # whoever says yes says it to one release that is known in full
    return one if account.has_room_for(one.cost, rest) else None
