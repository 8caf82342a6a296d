"""The three steps of a release in their order, and what they come to together: one `Draft`, and then an order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...lab.release_lessons import has_live_picture
from ...privacy.budget import Budget
from ...privacy.ledger.ledger import Ledger
from ...releases.forecast.draft import Draft
from ...releases.forecast.kernel_choice import radius_of
from ...releases.payment import unit_words
from ...releases.seal import promised_with
from ...sources.public_tables import Sample, sample
from ..frame.marks import note, side
from ..frame.session import OwnData, Session
from ..own_data.paying import EXACT, SLACK, choose_epsilon, choose_payer, choose_slack, left_of
from ..own_data.release_questions import choose_aim
from ..released.live_samples import live_view
from .bought_first import counting_first, fitting_first, has_room, plan_of
from .fineness import choose_density, choose_fineness, choose_records, choose_scale
from .progress import hash_seed
from .release_forecast import (
    choose_sample,
    draw_error_curve,
    offer_need,
    possible_outcomes,
    side_panel,
    slack_sentence,
    within_promise,
)
from .release_route import choose_way
from .release_task import ReleaseRequest
from .several import added, choose_pairs, go_back, offer_another, own_budget, show_added, together


def release_steps(visitor: Session, ledger: Ledger) -> Draft:
    """Draw the steps and what they come to. What takes longer to work out is drawn last, in the place it belongs."""
    main, aside = st.columns([1.75, 1], gap="large")
    with main:
        draft, gain, outcomes = _choose(visitor, ledger)
    with aside, side("release"):
        curve = side_panel(draft, _promised(draft, visitor.own))
    if draft.way is not None:
        if draft.several is None:  # what ε and slack gain is said of one question
            if draft.has_places:
                with curve:
                    draw_error_curve(draft)
            with gain:
                note(slack_sentence(draft))
        if draft.has_places:
            with outcomes:
                st.header("What could come out", anchor=False)
                possible_outcomes(draft)
    return draft


def _promised(draft: Draft, own: OwnData) -> Budget | None:
    """What the file promises, which shows what was found out before as well; None before there is a budget."""
    if draft.budget is None or draft.way is None or not own.costs:
        return None if draft.budget is None else draft.total
    return promised_with(draft.total, own.costs, own.within, draft.cost)


def order_of(draft: Draft, own: OwnData, ledger: Ledger, looked: Collection[str]) -> ReleaseRequest:
    """The release as an order; only when nothing is missing. ``looked``: samples whose truth was looked at."""
    account = draft.account
    total = None if account.known else account.total
    note = {"compared_with_exact": True} if own.sample in looked else {}
    return ReleaseRequest(
        own.source,
        draft.released,
        draft.total,
        ledger,
        account.name,
        total,
        note,
        own.sample,
        own.costs,
        own.within,
        own.bought[-1] if own.bought else None,
        plan_of(draft, own.costs, own.within),
    )


def _choose(visitor: Session, ledger: Ledger) -> tuple[Draft, DeltaGenerator, DeltaGenerator]:
    """The controls; what was chosen, and the places for what a δ gains and for what could come out.

    In view are the question, ε, the choice of a δ, the budget and how fine it is; what few people change lies under
    Fine-tune.
    """
    own, number = visitor.own, visitor.records.number
    known = None if own.sample is None else sample(own.sample)
    go_back()
    listed = st.container()
    more = "else " if added(number) else ""
    st.header(f"1 · What {more}should people be able to ask?", anchor=False)
    draft = choose_aim(_begun(own, number), number, known)
    st.header("2 · How much privacy?", anchor=False)
    live = known is not None and has_live_picture(known)
    epsilon = choose_epsilon(live)
    if live and epsilon is not None:
        live_view(known, "release-live", float(epsilon), EXACT)
    slack = choose_slack(own.sample is not None)
    gain, need = st.container(), st.container()
    paying, front = st.container(), st.container()
    with st.expander("Fine-tune", key="release-fine-tune"):
        hidden, detail = st.container(), st.container()
    another, outcomes = st.container(), st.container()
    with paying:
        neighbours, account, missing = choose_payer(
            visitor, ledger, own, number, unit_words(own.domain.unit), slack, epsilon, hidden
        )
    visitor.dataset = None if account is None else account.name
    draft = replace(draft, account=account)
    promised = None if epsilon is None else Budget(epsilon, SLACK if slack else 0, neighbours)
    if promised is not None:
        with paying:
            promised = left_of(own, promised)
    with front:
        st.header("3 · How fine?", anchor=False)
        draft, refusal = _refined(draft, promised, own, number, known, ledger, detail)
    with listed:
        show_added(draft, number)
    if draft.way is not None:
        if draft.several is None:  # what is needed is said of one question
            with need:
                offer_need(draft)
        with another:
            offer_another(draft, own.domain, number)
    return draft.lacking(*missing, *refusal), gain, outcomes


def _begun(own: OwnData, number: int) -> Draft:
    """A draft of which nothing is chosen yet; how many records there are is known where it was found out."""
    draft = Draft(own.domain, hash_seed(number), within=own.within)
    if own.records is None:
        return draft
    st.session_state.setdefault(f"release-records-said-{number}", True)
    return replace(draft, records=own.records)


def _refined(
    draft: Draft,
    promised: Budget | None,
    own: OwnData,
    number: int,
    known: Sample | None,
    ledger: Ledger,
    detail: DeltaGenerator,
) -> tuple[Draft, tuple[str, ...]]:
    """The draft with how fine it is and the way it is made; with what is missing where it cannot be made.

    Beside it why the budget does not admit it, if so.
    """
    if draft.missing:
        note("First say what should be asked.")
    if draft.missing or promised is None:
        return draft if promised else draft.lacking("a privacy loss ε"), ()
    by_hand, settling = False, None
    if draft.has_places:  # of others nothing is left to choose
        with detail:
            draft = choose_scale(draft, number)
        draft, by_hand, settling = choose_fineness(draft, number, known, ledger, detail)
    with st.container() if known is None else detail:  # of a sample it is known
        draft = choose_records(draft, number, known, by_hand)
    with detail:
        if known is None and draft.has_places:
            draft = choose_sample(draft, number)
        if draft.sample is None:
            draft = choose_density(draft, number, known)
    try:
        draft = replace(draft, radius=radius_of(draft.compared, own.longest))
        draft = replace(draft, budget=own_budget(draft, promised, number))
        if known is None and not own.bought:  # typed by hand; what was found out of records fits them
            draft = fitting_first(draft, ledger, number)
        draft = counting_first(draft, ledger)
        if settling is not None:
            draft = settling(draft)
        draft = choose_pairs(draft, number)
        if draft.choosing:  # pairs are chosen with all of the promise
            draft = replace(draft, budget=draft.total, whole=None, first=())
        chosen = within_promise(together(choose_way(draft, by_hand, detail), promised, number))
        after = chosen.after
        if (after is None or after.admitted) and not has_room(chosen):
            chosen = chosen.lacking("room in the total for counting first; say how many there are")
    except RequestError as error:
        st.error(in_markdown(error))
        return replace(draft, budget=None).lacking("settings that can be used"), ()
    return chosen, () if after is None or after.admitted else (after.refusal,)
