"""Ledger: what was promised for each data set, what was spent, and what one more release would do."""

import streamlit as st

from core.errors import RequestError
from core.privacy.ledger.ledger import Ledger
from core.ui.frame.frame import LEDGER, RELEASE, frame
from core.ui.frame.marks import Visibility, note, rail, side
from core.ui.frame.owner import stranger
from core.ui.frame.session import Session
from core.ui.ledger.accounts import PICK, pick_account, show_account
from core.ui.ledger.opening import note_stranger, open_ledger
from core.ui.ledger.register import register_data_set
from core.ui.ledger.what_if import explain_composition, what_if
from core.ui.release.kept import kept_releases
from core.words.escapes import in_markdown


def accounts(visitor: Session, ledger: Ledger) -> None:
    """All data sets, and one of them in full."""
    main, aside = st.columns([1.75, 1], gap="large")
    with main:
        status = pick_account(ledger, visitor.dataset)
        with rail(Visibility.PRIVATE, "account", f"Budget of {status.name}"):
            show_account(status)
        kept_releases(visitor, "ledger", "Its releases, kept beside this ledger", status.name)
    with aside, side("ledger"):
        with rail(Visibility.PRIVATE, "what-if", "What if I release once more?"):
            what_if(ledger, status)
        st.space("small")
        with rail(Visibility.PRIVATE, "composition", "How costs add up"):
            explain_composition(status)


def empty() -> None:
    note("No data set has a budget yet. Release something, or promise a total first.")
    st.page_link(RELEASE.path, label="Release a data set")


with frame(LEDGER) as visitor:
    try:
        ledger = open_ledger(visitor)
        note_stranger()
        if ledger.names():
            accounts(visitor, ledger)
        else:
            empty()
        st.subheader("Register a data set", anchor=False)
        registered = register_data_set(ledger)
        if stranger() is None:
            note(f"This ledger is kept in {ledger.where}.")
        if registered is not None:
            visitor.dataset = registered
            st.session_state.pop(PICK, None)
            st.rerun()
    except RequestError as error:
        st.error(in_markdown(error))
