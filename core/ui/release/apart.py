"""The distance that a release finds by itself: a few percent of its ε buy first how far records lie apart."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ...forecast.draft import Draft
from ...forecast.reference_population import DEFAULT_SPREAD
from ...forecast.scales import has_scales
from ...models.contest.prospects import class_kernel
from ...privacy.accounting import Cost
from ...privacy.ledger.ledger import Ledger
from ...releases.plain import Plain
from ...releases.purchase_plan import Known, Offer, PurchasePlan
from ...releases.stages import BROADEST, NARROWEST, Spread
from ...serving.owners import OwnLedger
from ...words.numbers import amount, percent
from ..frame.marks import note
from ..frame.visiting import turn
from .several import added
from .way import picked_way, way_of


def can_find(draft: Draft, number: int) -> bool:
    """Whether a release may find its distance: of more columns than a grid is for, and of one question alone."""
    return (
        draft.measures_closeness
        and not has_scales(draft.compared)
        and not draft.compared.holds_sets
        and not added(number)
    )


def finding_first(draft: Draft, ledger: Ledger) -> Draft:
    """The draft of a settled budget, less what is bought first; forecast for ordinary records until that is known.

    Where noise would hide how far they lie apart, or there is no room for two entries, nothing is bought.
    """
    one = Spread(draft.compared).offered(Known(draft.promise, draft.records))
    left = None if one is None else _usual(replace(draft, budget=one.left, whole=draft.promise, first=one.cost))
    if one is None or left is None or not _may_buy(left, one, ledger):
        note(
            "How far records lie apart is not bought, as noise would hide it or the budget has no room for it; "
            f"{_usually(draft)}. Fine-tune lets you say the distance."
        )
        return _usual(draft)
    st.markdown("**The release finds out by itself how near counts as close.**")
    follows = "half of that" if draft.label is None else "what tells made-up groups apart best that lie so"
    note(
        f"ε = {amount(one.cost.epsilon)} of the price buys how far {draft.counted} typically lie apart; the distance "
        f"within which they count as close is {follows}. In the forecast {_usually(draft)}, as nobody looks before it "
        "is paid for."
    )
    return left


def supposed(draft: Draft) -> Draft:
    """The draft of a settled budget with the distance that suits ordinary records, of which nothing is bought."""
    note(
        f"What counts as close suits ordinary records: {_usually(draft)}. Fine-tune lets you say the distance from "
        "public knowledge."
    )
    return _usual(draft)


def apart_first(draft: Draft, bought: tuple[Cost, ...]) -> PurchasePlan[Plain] | None:
    """What a finished draft buys first, and what it makes of that beside bounds that were bought; None where nothing.

    As the draft was settled for ordinary records, it is what is made where nothing better is known.
    """
    if draft.first is None:
        return None
    picked = picked_way(draft)

    def made(known: Known) -> Plain:
        sketch = draft.sketch if known.spread is None else _suited(draft, known.spread).sketch_of(picked)
        return Plain(sketch, known.left, bought)

    return PurchasePlan([Spread(draft.compared)], Known(draft.total, draft.records), made)


def _usual(draft: Draft) -> Draft:
    with turn():
        return _suited(draft, _supposed_spread(draft))


def _supposed_spread(draft: Draft) -> float:
    """How far apart records are taken to lie while nobody knows: as those of a public sample, or as ordinary ones."""
    if draft.sample is None:
        return DEFAULT_SPREAD
    return min(max(draft.sample.spread(draft.compared), NARROWEST), BROADEST)


def _usually(draft: Draft) -> str:
    """The same in words, as the middle of a sentence."""
    whose = "" if draft.sample is None else ", as in your public sample"
    share = percent(_supposed_spread(draft), 2)
    return f"a typical value is taken to lie {share} of its bounds from the middle of all{whose}"


def _suited(draft: Draft, spread: float) -> Draft:
    """The draft with the kernel that suits how far records lie apart; of groups, the one that tells them apart best."""
    if draft.label is None:
        return draft.apart(spread)
    return replace(draft, kernel=class_kernel(draft.domain, draft.label, draft.promise, draft.records, spread))


def _may_buy(left: Draft, one: Offer, ledger: Ledger) -> bool:
    """Whether an offer may be bought beside the release with what it leaves."""
    account = left.account
    if account is None:
        return True
    made = replace(left, way=way_of(left))
    if isinstance(ledger, OwnLedger) and ledger.needs_approval(account.releases, made.cost, account.total):
        return False  # whoever says yes says it to one release that is known in full
    return account.has_room_for(one.cost, made.rest)
