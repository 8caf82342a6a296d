"""The owner's side of an approval: laying a release before the stewards, and what became of it."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...privacy.ledger.account import Account
from ...releases.payment import facts_of
from ...serving.approvals import Request, State
from ...serving.owners import OwnLedger
from ...words.escapes import in_markdown
from ..frame.marks import main_action, note
from .making import Order


def asks_first(order: Order, account: Account, said: str) -> bool:
    """Where a release needs the yes of somebody else and has none yet, offer to ask; whether that is so."""
    ledger = order.ledger
    if not isinstance(ledger, OwnLedger) or not ledger.needs_approval(account.releases, order.cost, account.total):
        return False
    plan = ledger.plan(order.dataset, account.total, order.cost, facts_of(order.sketch))
    found = ledger.approvals.latest(ledger.who, plan)
    if found is not None and _granted(found, ledger):
        note(f"Approved by {in_markdown(', '.join(found.yeses))}, for one release exactly like this.")
        return False
    if found is not None and found.state is State.WAITING:
        said_yes = sum(name != ledger.who for name in found.yeses)
        missing = [f"the yes of a steward ({said_yes} of {ledger.approval.people} given to request {found.number})"]
        note("Nothing is spent until then. Come back with the same choices, or stay: any click here looks again.")
        main_action("Release", missing, "release")
        return True
    if found is not None and found.state is State.DECLINED:
        note(f"Request {found.number} for exactly this was declined. You may ask for something smaller, or again.")
    words = f"More than ε = {ledger.approval.epsilon:g} of a data set needs the yes of a steward. Nothing is spent now."
    if main_action("Ask for approval", (), "release", words):
        try:
            ledger.approvals.ask(ledger.who, plan)
        except RequestError as error:
            st.error(in_markdown(error))
        else:
            st.rerun()  # which says that it waits, and offers no second request
    return True


def _granted(request: Request, ledger: OwnLedger) -> bool:
    yeses = {name for name in request.yeses if name != ledger.who}
    return request.state is State.WAITING and len(yeses) >= ledger.approval.people
