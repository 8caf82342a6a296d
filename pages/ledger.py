"""Ledger: what was promised for each data set, what was spent, and what one more release would do."""

import streamlit as st

from core.errors import RequestError
from core.formatting.escapes import in_markdown
from core.privacy.ledger.ledger import Ledger
from core.releases.payment import check_all_remembered
from core.releases.release_store import counts_samples
from core.ui.frame.marks import Visibility, choose_one, note, rail, side
from core.ui.frame.navigation import LEDGER, RELEASE
from core.ui.frame.session import Session
from core.ui.frame.visiting import stranger
from core.ui.ledger_page import PICK, explain_composition, pick_account, register_data_set, show_account, what_if
from core.ui.own_data.paying import WHAT_IS_FORGOTTEN, begin_again, note_stranger, open_ledger, open_sandbox
from core.ui.released.kept_files import kept_releases
from core.ui.surroundings import frame

OWN, SAMPLES = "Your data", "Samples"


def choose_ledger(visitor: Session) -> str:
    """Whose budgets are shown; a choice only where samples have been released."""
    if not open_sandbox(visitor).exists:
        return OWN
    playing = visitor.own is not None and visitor.own.sample is not None
    return choose_one(
        "Budgets of", [OWN, SAMPLES], "ledger-whose", SAMPLES if playing else OWN, persist_state="session"
    )


def accounts(visitor: Session, ledger: Ledger) -> None:
    """All data sets, and one of them in full."""
    main, aside = st.columns([1.75, 1], gap="large")
    with main:
        status = pick_account(ledger, visitor.dataset)
        with rail(Visibility.PRIVATE, "account", f"Budget of {status.name}"):
            show_account(status, counts_samples(ledger))
        kept_releases(visitor, "ledger", "Its releases, kept beside this ledger", ledger, status.name)
    with aside, side("ledger"):
        with rail(Visibility.PRIVATE, "what-if", "What if I release once more?"):
            what_if(ledger, status)
        st.space("small")
        with rail(Visibility.PRIVATE, "composition", "How costs add up"):
            explain_composition(status)


def empty() -> None:
    note("No data set has a budget yet. Release something, or promise a total first.")
    if st.button("Release a data set"):
        st.switch_page(RELEASE.path)


def warn_of_forgotten(ledger: Ledger) -> None:
    """Say that the ledger is an older copy, where its releases say so; what it shows is less than was spent then."""
    try:
        check_all_remembered(ledger)
    except RequestError as error:
        st.error(in_markdown(error))


def show_own(visitor: Session) -> None:
    """The owner's ledger, in which nothing is ever forgotten."""
    ledger = open_ledger(visitor)
    note_stranger()
    warn_of_forgotten(ledger)
    if ledger.names():
        accounts(visitor, ledger)
    else:
        empty()
    st.header("Register a data set", anchor=False)
    registered = register_data_set(ledger)
    if stranger() is None:
        note(f"This ledger is kept in {ledger.where}.")
    if registered is not None:
        visitor.dataset = registered
        st.session_state.pop(PICK, None)
        st.rerun()


def show_samples(visitor: Session) -> None:
    """What was spent on samples, and the way to begin again."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note("Samples are nobody's secret, so their budgets can begin again. Those of your own data never do.")
        if st.button("Begin again with all samples", key="ledger-begin-again", help=WHAT_IS_FORGOTTEN):
            begin_again(visitor)
    ledger = open_sandbox(visitor).ledger
    if ledger.names():
        accounts(visitor, ledger)


with frame(LEDGER) as visitor:
    try:
        {OWN: show_own, SAMPLES: show_samples}[choose_ledger(visitor)](visitor)
    except RequestError as error:
        st.error(in_markdown(error))
