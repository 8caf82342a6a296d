"""Which budget a release is paid from: a data set that the ledger knows, or a new one with its total."""

from __future__ import annotations

import streamlit as st

from ...privacy.budget import Budget
from ...privacy.ledger.account import Account
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.names import LONGEST_NAME, look_alike
from ...privacy.neighbours import Neighbours
from ...words.escapes import in_markdown
from ..frame.marks import note
from ..frame.session import OwnData, Session
from ..ledger.opening import note_stranger, open_sandbox
from .privacy import SLACK, choose_relation

SAMPLE_TOTAL = 3
WHAT_IS_FORGOTTEN = "Forgets what was spent on all samples, and the files released of them that are kept here."


def choose_payer(
    visitor: Session, ledger: Ledger, own: OwnData, number: int, unit: str, slack: bool
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

    Returns
    -------
    tuple
        What the release hides; who pays, None while nobody does; and what is missing, in a few words each.
    """
    if own.sample is not None:
        return _sample_pays(visitor, ledger, own.title, unit)
    named, total = st.columns([1.6, 1], gap="medium")
    with named:
        name = _name(ledger, own, number)
    note_stranger()
    known = name in ledger.names()
    if known:
        account = Account.of(ledger.status(name))
        with total:
            note(f"Its total is ε = {account.total.epsilon:f}{' with slack' if account.total.delta else ''}, for ever.")
        neighbours = choose_relation(account.total.neighbours)
        trouble = account.mismatch(neighbours, unit)
        if trouble:
            st.error(in_markdown(trouble))
        return neighbours, account, ("a data set that protects the same people",) if trouble else ()
    with total:
        epsilon = st.number_input(
            "Its total budget, for ever (ε)",
            0.0,
            100.0,
            None,
            step=None,
            format="%.12g",
            placeholder="such as 3",
            key=f"release-total-{number}",
            persist_state="session",
            help="All releases of this data set together will never pass it. It is a promise to the people in it and "
            "cannot be changed later.",
        )
    delta = SLACK if _total_slack(slack) else 0
    neighbours = choose_relation(None)
    if name and epsilon:
        return neighbours, Account(name, Budget(epsilon, delta, neighbours), unit), ()
    words = {"a name for the data set": name, "the total budget of the data set": epsilon}
    return neighbours, None, tuple(word for word, given in words.items() if not given)


def _sample_pays(visitor: Session, ledger: Ledger, name: str, unit: str) -> tuple[Neighbours, Account, tuple[str, ...]]:
    """A sample needs no promise: its total is set, and begins again whenever one likes.

    The total has slack, so that releases with and without it can be tried from it.
    """
    known = Account.of(ledger.status(name)) if name in ledger.names() else None
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note(f"A sample is nobody's secret: it has ε = {SAMPLE_TOTAL} to play with, counted apart from your own data.")
        if known and st.button("Begin again", key="sandbox-begin-again", help=WHAT_IS_FORGOTTEN):
            begin_again(visitor)
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
    """Whether the new total has a δ; a release with slack needs one."""
    words = "Count the total with a slack of one in a million"
    reason = "Several releases together then cost less than the sum of their ε."
    if needed:
        st.toggle(words, True, key="release-total-slack-needed", disabled=True, help=reason, wrap=True)
        return True
    return st.toggle(words, key="release-total-slack", persist_state="session", help=reason, wrap=True)
