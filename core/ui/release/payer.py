"""Which budget a release is paid from: a data set that the ledger knows, or a new one with its total."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...privacy.budget import Budget
from ...privacy.ledger.account import Account
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.names import LONGEST_NAME, look_alike
from ...privacy.neighbours import Neighbours
from ...words.escapes import in_markdown
from ..frame.marks import note
from ..frame.session import OwnData, Session
from ..ledger.opening import note_stranger, open_sandbox
from .privacy import COUNTED_TOGETHER, SLACK, WHY_TOGETHER, choose_relation
from .totals import choose_total

SAMPLE_TOTAL = 3
WHAT_IS_FORGOTTEN = "Forgets what was spent on all samples, and the files released of them that are kept here."


def choose_payer(
    visitor: Session,
    ledger: Ledger,
    own: OwnData,
    number: int,
    unit: str,
    slack: bool,
    epsilon: Decimal | None = None,
    fine: DeltaGenerator | None = None,
) -> tuple[Neighbours, Account | None, tuple[str, ...]]:
    """Let the owner name the data set and, when the ledger does not know it, its total; a sample has both.

    Parameters
    ----------
    visitor, ledger, own : Session, Ledger, OwnData
        The owner's.
    number : int
        Number of the pick on the Data page, part of every key.
    unit : str
        Whom the release protects, in the ledger's words.
    slack : bool
        Whether the release needs a total with a δ.
    epsilon : Decimal | None
        What this release costs, by which a new total may be chosen as so many times that; None asks for a number.
    fine : DeltaGenerator | None
        The place of what hardly anyone changes: what is hidden, and a δ of the total; None draws it here.

    Returns
    -------
    tuple
        What the release hides; who pays, None while nobody does; and what is missing, in a few words each.
    """
    if own.sample is not None:
        return _sample_pays(visitor, ledger, own.title, unit, fine or st.container())
    name = _name(ledger, own, number)
    note_stranger()
    if name in ledger.names():
        account = Account.of(ledger.status(name))
        risk = " with a one-in-a-million risk" if account.total.delta else ""
        note(f"Its total is ε = {account.total.epsilon:f}{risk}, for ever.")
        with fine or st.container():
            neighbours = choose_relation(account.total.neighbours)
        trouble = account.mismatch(neighbours, unit)
        if trouble:
            st.error(in_markdown(trouble))
        return neighbours, account, ("a data set that protects the same people",) if trouble else ()
    total = choose_total(epsilon, number, "record" if unit == "record" else "person")
    with fine or st.container():
        delta = SLACK if _total_slack(slack) else 0
        neighbours = choose_relation(None)
    if name and total:
        return neighbours, Account(name, Budget(total, delta, neighbours), unit), ()
    words = {"a name for the data set": name, "the total budget of the data set": total}
    return neighbours, None, tuple(word for word, given in words.items() if not given)


def _sample_pays(
    visitor: Session, ledger: Ledger, name: str, unit: str, fine: DeltaGenerator
) -> tuple[Neighbours, Account, tuple[str, ...]]:
    """A sample needs no promise: its total is set, and begins again whenever one likes.

    The total has a δ, so that releases with and without one can be tried from it.
    """
    known = Account.of(ledger.status(name)) if name in ledger.names() else None
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note(f"A sample is nobody's secret: it has ε = {SAMPLE_TOTAL} to play with, counted apart from your own data.")
        if known and st.button("Begin again", key="sandbox-begin-again", help=WHAT_IS_FORGOTTEN):
            begin_again(visitor)
    with fine:
        neighbours = choose_relation(None if known is None else known.total.neighbours)
    account = known or Account(name, Budget(SAMPLE_TOTAL, SLACK, neighbours), unit)
    trouble = account.mismatch(neighbours, unit)
    if trouble:
        st.error(in_markdown(trouble))
    return neighbours, account, ("a sample that begins again, as it protects others now",) if trouble else ()


def begin_again(visitor: Session) -> None:
    """Forget what was spent on samples, and run the page again."""
    open_sandbox(visitor).begin_again()
    st.rerun(scope="app")


def _name(ledger: Ledger, own: OwnData, number: int) -> str | None:
    """The name in the ledger's spelling, or None for one that cannot be used."""
    names = ledger.names()
    default = own.title[:LONGEST_NAME].strip()
    offered = names if default in names or not default.isprintable() else [default, *names]
    typed = st.selectbox(
        "Data set in your ledger",
        offered,
        index=offered.index(default) if default in offered else None,
        accept_new_options=True,
        key=f"release-dataset-{number}",
        persist_state="session",
        help="Whatever is released of the same people must be paid from the same budget, so use one name for them, "
        "always. The name stays in your ledger.",
    )
    typed = (typed or "").strip()
    if not 1 <= len(typed) <= LONGEST_NAME or not typed.isprintable():
        return None
    return typed if typed in names else next((known for known in names if look_alike(known, typed)), typed)


def _total_slack(needed: bool) -> bool:
    """Whether the new total has a δ; a release with one needs it."""
    if needed:
        st.toggle(COUNTED_TOGETHER, True, key="release-total-slack-needed", disabled=True, help=WHY_TOGETHER, wrap=True)
        return True
    return st.toggle(COUNTED_TOGETHER, key="release-total-slack", persist_state="session", help=WHY_TOGETHER, wrap=True)
