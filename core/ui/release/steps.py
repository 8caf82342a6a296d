"""The three steps of a release in their order, and what they come to together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...errors import RequestError
from ...privacy.budget import Budget
from ...privacy.ledger.ledger import Ledger, Preview
from ...releases.payment import unit_words
from ...sources.samples import sample
from ...words.escapes import in_markdown
from ..frame.marks import note, side
from ..frame.session import OwnData, Session
from .account import Account, price
from .draft import SLACK, Draft, radius_of
from .fineness import choose_fineness, choose_guesses, choose_scale
from .forecast import error_curve, side_panel, slack_sentence
from .making import Order
from .outcomes import possible_outcomes
from .outlook import Outlook
from .payer import choose_payer
from .privacy import choose_epsilon, choose_slack
from .progress import hash_seed
from .questions import choose_aim
from .way import choose_way
from .ways import ways
from .words import summary


@dataclass(frozen=True)
class Chosen:
    """What was chosen so far.

    Attributes
    ----------
    draft, seen : Draft | None, Outlook | None
        The release and its forecasts; None while it cannot be made as it stands.
    account, after : Account | None, Preview | None
        Who pays, and what that would leave.
    missing : tuple[str, ...]
        What is in the way of the release, in a few words each.
    """

    draft: Draft | None
    seen: Outlook | None
    account: Account | None
    after: Preview | None
    missing: tuple[str, ...]

    @property
    def label(self) -> str:
        """The main button, with the price on it."""
        if self.draft is None:
            return "Release"
        return f"Release for {price(self.draft.budget, self.left)}"

    @property
    def left(self) -> Decimal | None:
        """What the release leaves of the total; None while it may not be made."""
        return self.account.left(self.after) if self.after is not None and self.after.admitted else None

    @property
    def summary(self) -> str:
        """The forecast in a few words, in view on every screen."""
        if self.draft is None or self.seen is None:
            return ""
        return summary(self.draft, self.seen.chosen)

    def order(self, own: OwnData, ledger: Ledger, looked: Collection[str]) -> Order:
        """The release as an order; only when nothing is missing. ``looked``: samples whose truth was looked at."""
        total = None if self.account.known else self.account.total
        note = {"compared_with_exact": True} if own.sample in looked else {}
        sketch, budget = self.seen.sketch, self.draft.budget
        return Order(own.source, sketch, budget, ledger, self.account.name, total, note, own.sample, own.bought)


def release_steps(visitor: Session, ledger: Ledger) -> Chosen:
    """Draw the steps and what they come to. What takes longer to work out is drawn last, in the place it belongs."""
    main, aside = st.columns([1.75, 1], gap="large")
    with main:
        chosen, gain, outcomes = _choose(visitor, ledger)
    with aside, side("release"):
        curve = side_panel(chosen)
    if chosen.seen is not None:
        with curve:
            error_curve(chosen.seen)
        with gain:
            note(slack_sentence(chosen.seen))
        with outcomes:
            st.subheader("What could come out", anchor=False)
            possible_outcomes(chosen.seen)
    return chosen


def _choose(visitor: Session, ledger: Ledger) -> tuple[Chosen, DeltaGenerator, DeltaGenerator]:
    """The controls; what was chosen, and the places for what slack gains and for what could come out."""
    own, number = visitor.own, visitor.records.number
    known = None if own.sample is None else sample(own.sample)
    st.subheader("1 · What should people be able to ask?", anchor=False)
    aim, domain, missing = choose_aim(own.domain, number, known)
    st.subheader("2 · How much privacy?", anchor=False)
    epsilon, slack = choose_epsilon(), choose_slack()
    gain = st.container()
    payer = choose_payer(ledger, own, number, unit_words(own.domain.unit), slack)
    visitor.dataset = None if payer.account is None else payer.account.name
    st.subheader("3 · How fine?", anchor=False)
    if aim is None:
        note("First say what should be asked.")
    missing += () if epsilon else ("a privacy loss ε",)
    if aim is None or epsilon is None:
        return Chosen(None, None, payer.account, None, (*missing, *payer.missing)), gain, st.container()
    domain = choose_scale(domain, number)
    fineness = choose_fineness(domain, aim, number, known)
    guesses = choose_guesses(aim, number, known)
    way = st.container()
    outcomes = st.container()
    try:
        budget = Budget(epsilon, SLACK if slack else 0, payer.neighbours)
        radius = radius_of(aim.compared(domain), own.longest)
        draft = Draft(domain, budget, aim, fineness, guesses, hash_seed(number), radius)
        with way:
            seen = Outlook(draft, choose_way(draft, ways(draft)))
        after = None if payer.account is None else payer.account.after(seen.cost)
    except RequestError as error:
        st.error(in_markdown(error))
        return Chosen(None, None, payer.account, None, ("settings that can be used", *payer.missing)), gain, outcomes
    refusal = () if after is None or after.admitted else (after.refusal,)
    return Chosen(draft, seen, payer.account, after, (*payer.missing, *refusal)), gain, outcomes
