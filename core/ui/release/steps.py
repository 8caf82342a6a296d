"""The three steps of a release in their order, and what they come to together: one `Draft`, and then an order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...errors import RequestError
from ...experiments.live import has_live_picture
from ...forecast.draft import Draft
from ...forecast.nearness import radius_of
from ...privacy.budget import Budget
from ...privacy.ledger.ledger import Ledger
from ...releases.payment import unit_words
from ...sources.samples import sample
from ...words.escapes import in_markdown
from ..frame.live import live_view
from ..frame.marks import note, side
from ..frame.session import OwnData, Session
from .fineness import choose_fineness, choose_guesses, choose_scale, chosen_by_forecast
from .forecast import error_curve, side_panel, slack_sentence
from .making import Order
from .outcomes import possible_outcomes
from .payer import choose_payer
from .privacy import SLACK, choose_epsilon, choose_slack
from .progress import hash_seed
from .questions import choose_aim
from .several import added, go_back, offer_another, own_budget, show_added, together
from .way import choose_way


def release_steps(visitor: Session, ledger: Ledger) -> Draft:
    """Draw the steps and what they come to. What takes longer to work out is drawn last, in the place it belongs."""
    main, aside = st.columns([1.75, 1], gap="large")
    with main:
        draft, gain, outcomes = _choose(visitor, ledger)
    with aside, side("release"):
        curve = side_panel(draft)
    if draft.way is not None:
        if draft.several is None:  # what ε and slack gain is said of one question
            if draft.has_places:
                with curve:
                    error_curve(draft)
            with gain:
                note(slack_sentence(draft))
        if draft.has_places:
            with outcomes:
                st.header("What could come out", anchor=False)
                possible_outcomes(draft)
    return draft


def order_of(draft: Draft, own: OwnData, ledger: Ledger, looked: Collection[str]) -> Order:
    """The release as an order; only when nothing is missing. ``looked``: samples whose truth was looked at."""
    account = draft.account
    total = None if account.known else account.total
    note = {"compared_with_exact": True} if own.sample in looked else {}
    return Order(own.source, draft.released, draft.total, ledger, account.name, total, note, own.sample, own.bought)


def _choose(visitor: Session, ledger: Ledger) -> tuple[Draft, DeltaGenerator, DeltaGenerator]:
    """The controls; what was chosen, and the places for what slack gains and for what could come out."""
    own, number = visitor.own, visitor.records.number
    known = None if own.sample is None else sample(own.sample)
    go_back()
    listed = st.container()
    first = (
        "1 · What should people be able to ask?" if not added(number) else "1 · What else should people be able to ask?"
    )
    st.header(first, anchor=False)
    draft = choose_aim(Draft(own.domain, hash_seed(number)), number, known)
    asked = not draft.missing
    st.header("2 · How much privacy?", anchor=False)
    epsilon, slack = choose_epsilon(), choose_slack()
    gain = st.container()
    if known is not None and epsilon is not None and has_live_picture(known):
        live_view(known, "release-live", float(epsilon))
    neighbours, account, missing = choose_payer(visitor, ledger, own, number, unit_words(own.domain.unit), slack)
    visitor.dataset = None if account is None else account.name
    draft = replace(draft, account=account)
    st.header("3 · How fine?", anchor=False)
    if not asked:
        note("First say what should be asked.")
    if not asked or epsilon is None:
        lacking = draft.lacking(*(() if epsilon else ("a privacy loss ε",)), *missing)
        with listed:
            show_added(lacking, number)
        return lacking, gain, st.container()
    by_hand = by_forecast = False
    if draft.has_places:  # of others nothing is left to choose
        draft, by_hand, by_forecast = choose_fineness(choose_scale(draft, number), number, known)
    draft = choose_guesses(draft, number, known)
    fine = st.container()
    way = st.container()
    another = st.container()
    outcomes = st.container()
    try:
        budget = Budget(epsilon, SLACK if slack else 0, neighbours)
        radius = radius_of(draft.compared, own.longest)
        draft = replace(draft, radius=radius)
        draft = replace(draft, budget=own_budget(draft, budget, number))
        if by_forecast:
            with fine:
                draft = chosen_by_forecast(draft)
        with way:
            chosen = together(choose_way(draft, by_hand), budget, number)
        after = chosen.after
    except RequestError as error:
        st.error(in_markdown(error))
        lacking = replace(draft, budget=None).lacking("settings that can be used", *missing)
        with listed:
            show_added(lacking, number)
        return lacking, gain, outcomes
    with listed:
        show_added(chosen, number)
    with another:
        offer_another(chosen, own.domain, number)
    refusal = () if after is None or after.admitted else (after.refusal,)
    return chosen.lacking(*missing, *refusal), gain, outcomes
