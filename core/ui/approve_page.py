"""The page Approve, for stewards: what waits for a yes, with all that there is to know about it."""

import json
from typing import Any

import streamlit as st

from ..errors import RequestError
from ..formatting.escapes import in_markdown
from ..formatting.numbers import day, listed
from ..privacy.ledger.ledger_store import Store
from ..sketches.registry import card
from .frame.marks import Visibility, facts, note, rail, refusals
from .frame.visiting import visitor_now
from .serving.approvals import Approvals, Request
from .serving.door import Visitor, the_door
from .serving.settings import Role


@refusals()
def waiting() -> None:
    """List the requests, each with yes and no."""
    visitor = visitor_now()
    if visitor is None:
        note("This app serves its own computer alone, where nobody else has to approve anything.")
        return
    settings = the_door().started
    approvals = Approvals(Store(settings.ledger_place, settings.witness))
    requests = approvals.waiting()
    if not requests:
        note("Nothing waits for a yes.")
    for request in requests:
        _one(approvals, request, visitor)


def _one(approvals: Approvals, request: Request, visitor: Visitor) -> None:
    plan = request.plan
    with rail(Visibility.PRIVATE, f"request-{request.number}", f"Request {request.number}"):
        facts(
            [
                (f"{request.who} asks, on {day(request.when)}", f"Of the data set “{plan['dataset']}”."),
                (f"It spends ε = {plan['cost']['epsilon']}{_slack(plan['cost']['delta'])}", _total(plan)),
                (
                    f"It releases: {_made(str(plan.get('mechanism', '')))}",
                    f"Of {listed([str(name) for name in plan['columns']], 12)}." if plan.get("columns") else "",
                ),
                *([("Approved so far by", listed(list(request.yeses), 5))] if request.yeses else []),
            ]
        )
        with st.expander("All that becomes public with it", type="compact"):
            st.code(json.dumps(plan, indent=1, ensure_ascii=False), language=None)  # colours of code are faint
        if request.who == visitor.name:
            note("It is your own, so somebody else has to answer it.")
            return
        if visitor.name in request.yeses:
            note(_after_yes(request))
            return
        with st.container(horizontal=True, gap="small"):
            yes = st.button("Approve", key=f"approve-{request.number}", type="primary")
            no = st.button("Decline", key=f"decline-{request.number}")
    if yes or no:
        _answer(approvals, request, yes)


def _made(mechanism: str) -> str:
    """What a mechanism does, in words; its name where only another version knows it."""
    try:
        return card(mechanism).plainly
    except RequestError:
        return mechanism


def _after_yes(request: Request) -> str:
    """What is still to come once this steward has said yes."""
    people = (the_door().rules or the_door().started).approval.people
    missing = people - sum(name != request.who for name in request.yeses)
    if missing <= 0:
        return f"It is approved, and stays here until {in_markdown(request.who)} releases it."
    return f"You have said yes; {missing} more {'person has' if missing == 1 else 'people have'} to."


@refusals()
def _answer(approvals: Approvals, request: Request, yes: bool) -> None:
    visitor = visitor_now()  # judged in this moment, as the click came after the page was drawn
    if visitor is None or not visitor.has(Role.STEWARD):
        raise RequestError("Only a steward can answer a request.")
    approvals.answer(visitor.name, request.number, yes)
    st.rerun()


def _slack(delta: str) -> str:
    return f" with risk δ = {delta}" if delta not in ("0", "") else ""


def _total(plan: dict[str, Any]) -> str:
    epsilon, delta = plan["total"]
    return f"All releases of this data set together may spend ε = {epsilon}{_slack(delta)}."
