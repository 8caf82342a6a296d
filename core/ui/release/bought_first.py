"""What a release finds out first, for a few percent of its ε: whether records fit, how many, how far apart."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import streamlit as st

from ...formatting.numbers import amount, percent
from ...models.prospects import class_kernel
from ...privacy.accounting import Cost, PureParts, first_entry
from ...privacy.budget import Budget, Sensitivity
from ...privacy.calibration import calibrate, calibrate_gaussian
from ...privacy.ledger.ledger import Ledger
from ...releases.fitting import Fitting
from ...releases.forecast.draft import Draft
from ...releases.forecast.reference_population import DEFAULT_SPREAD
from ...releases.forecast.scales import chosen_scales, has_scales
from ...releases.kind import Plain
from ...releases.payment import LedgerAccount
from ...releases.purchase_plan import PurchasePlan
from ...releases.stages import BROADEST, NARROWEST, Count, Known, Spread, Stage
from ..frame.marks import note
from ..frame.visiting import turn
from ..serving.owners import OwnLedger
from .release_route import picked_way, way_of
from .several import added

ONE_CELL = Sensitivity(1, 1, unit_shifts=True)


def can_find(draft: Draft, number: int) -> bool:
    """Whether a release may find its distance: of more columns than a grid is for, and of one question alone."""
    return (
        draft.measures_closeness
        and not has_scales(draft.compared)
        and not draft.compared.holds_sets
        and not added(number)
    )


def fitting_first(draft: Draft, ledger: Ledger, number: int) -> Draft:
    """The draft of a settled budget, less what it costs to see that records fit what their owner typed.

    A list of words that nobody has would otherwise be paid for in full. Where there is no room for an entry of its own,
    it would warn too late; and whoever approves says yes to one release that is known in full. Who was warned and asks
    for the same again means it: nothing is counted again, and the release takes the rest.
    """
    account, stage = draft.account, Fitting(draft.domain)
    if account is None or added(number) or _awaits_approval(draft, ledger):
        return draft
    one = stage.offered(Known(draft.promise, draft.records))
    if one is None or one.cost is None:
        return draft
    counted, just = LedgerAccount(ledger, account.name, draft.promise, account.unit).bought_before(stage, one.cost)
    if just:
        note(f"ε = {amount(one.cost.epsilon)} was spent on seeing that hardly any fit; the release takes the rest.")
        return replace(draft, budget=one.left)
    if counted or first_entry(account.has_room_for, one.cost, _alone(one.left)) is None:
        return draft
    note(
        f"ε = {amount(one.cost.epsilon)} of the price first counts the {draft.counted} that fit what is declared; "
        "where hardly any do, nothing more is spent."
    )
    return replace(draft, budget=one.left, whole=draft.total, first=((Fitting.name, one.cost),))


def _alone(left: Budget) -> Cost:
    """What a release of all that is left costs, about: of one table with the noise that is usual under its promise."""
    noise = (calibrate if left.pure else calibrate_gaussian)(ONE_CELL, Fraction(left.epsilon), Fraction(left.delta))
    return Cost.of([(ONE_CELL, noise)], left.epsilon, left.delta)


def counting_first(draft: Draft, ledger: Ledger) -> Draft:
    """The draft of a settled budget, less what counting its records costs; not where others have to approve of it.

    Whoever says yes says it to one release that is known in full.
    """
    if draft.records_said or _awaits_approval(draft, ledger):
        return draft
    one = Count(draft.domain, draft.records).offered(Known(draft.promise, draft.records))
    if one.cost is None:
        return replace(draft, first=(*draft.first, (Count.name, None)), whole=draft.total)
    note(
        f"ε = {amount(one.cost.epsilon)} of the price counts the {draft.counted} first; the size of the file follows, "
        f"and the forecast is for {draft.records:,}."
    )
    return replace(draft, budget=one.left, whole=draft.total, first=(*draft.first, (Count.name, one.cost)))


def finding_first(draft: Draft, ledger: Ledger) -> Draft:
    """The draft of a settled budget, less what is bought first; forecast for ordinary records until that is known.

    Where noise would hide how far they lie apart, or there is no room for it, nothing is bought.
    """
    one = Spread(draft.compared).offered(Known(draft.promise, draft.records))
    left = None
    if one is not None:
        first = (*draft.first, (Spread.name, one.cost))
        left = _usual(replace(draft, budget=one.left, whole=draft.total, first=first))
    if one is None or left is None or _awaits_approval(draft, ledger) or not has_room(replace(left, way=way_of(left))):
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


def has_room(draft: Draft) -> bool:
    """Whether the account has room for what a finished draft buys first and for its table, in turn or together."""
    account = draft.account
    if account is None or not draft.first:
        return True
    # Whether records fit is counted only where there is room for it.
    in_turn = [cost for name, cost in draft.first if cost is not None and name != Fitting.name]
    alone = not account.releases and draft.total.epsilon <= account.total.epsilon
    return account.has_room_for(*in_turn, draft.rest) or (alone and draft.total.delta <= account.total.delta)


def supposed(draft: Draft) -> Draft:
    """The draft of a settled budget with the distance that suits ordinary records, of which nothing is bought."""
    note(
        f"What counts as close suits ordinary records: {_usually(draft)}. Fine-tune lets you say the distance from "
        "public knowledge."
    )
    return _usual(draft)


def plan_of(draft: Draft, bought: tuple[Cost, ...], within: Budget | None = None) -> PurchasePlan[Plain] | None:
    """What a finished draft buys first, and what it makes of that beside bounds that were bought; None where nothing.

    As the draft was settled for ordinary records, it is what is made where nothing better is known.
    """
    if not draft.first:
        return None
    picked, names = picked_way(draft), [name for name, _ in draft.first]
    stages: list[Stage] = [Fitting(draft.domain)] if Fitting.name in names else []
    if Count.name in names:
        stages.append(Count(draft.domain, draft.records))
    if Spread.name in names:
        stages.append(Spread(draft.compared))

    def made(known: Known) -> Plain:
        if draft.settled or (known.records == draft.records and known.spread is None):
            return Plain(draft.sketch, known.left)
        seen = replace(draft, records=max(1, round(known.records)), budget=known.left)
        return Plain(_as_near(seen, known.spread, Spread.name in names).sketch_of(picked), known.left)

    return PurchasePlan(stages, Known.having_paid(draft.total, bought, draft.records, within), made)


def _as_near(draft: Draft, spread: float | None, finds: bool) -> Draft:
    """The draft with the kernel that follows from what is known now; the owner's own where they said one."""
    if spread is not None or finds:
        return _suited(draft, _supposed_spread(draft) if spread is None else spread)
    if not (draft.measures_closeness and has_scales(draft.compared)):
        return draft
    groups = 1 if draft.label is None else len(draft.domain.categories_of(draft.label))
    scales = chosen_scales(draft.compared, draft.promise, draft.records / groups)
    return replace(draft, kernel=scales.kernel, finest=scales.finest)


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


def _awaits_approval(draft: Draft, ledger: Ledger) -> bool:
    """Whether somebody else has to say yes to the release."""
    account, whole = draft.account, draft.total
    if account is None or not isinstance(ledger, OwnLedger):
        return False
    one = Cost((PureParts(Fraction(whole.epsilon)),), whole.epsilon)
    return ledger.needs_approval(account.releases, one, account.total)
