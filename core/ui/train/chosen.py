"""A classifier that was chosen among several and is a release with a table a class: what it is, and who asks it."""

from __future__ import annotations

import streamlit as st

from ...figures.report.label import privacy_label
from ...models.contest.choice import chosen_among
from ...releases.release import Release
from ...words.numbers import size
from ...words.phrases import listed
from ..frame.frame import CLASSIFY
from ..frame.marks import Visibility, facts, note, rail
from ..frame.session import Session
from ..release.shelves import keep_opened

RELEASED = "train-released"
"""In the session: the name of the release that was chosen, among the visitor's open files."""


def keep_release(visitor: Session, made: Release, ticket: str) -> str:
    """Open a release in this session, and keep its file where files are kept; its name."""
    stamp = "".join(sign for sign in made.created[:19] if sign.isdigit() or sign == "T")
    name, data = f"release-{stamp}-{ticket[:4]}.npz", made.to_bytes()
    visitor.remember(name, data, made)
    keep_opened(name, data)
    return name


def chosen_view(visitor: Session) -> bool:
    """Show the release that was chosen last; whether there is one that is open still."""
    opened = visitor.opened.get(st.session_state.get(RELEASED, ""))
    if opened is None:
        return False
    label = privacy_label(opened.release, opened.data)
    with rail(Visibility.PUBLIC, "chosen", "This file may be handed out"):
        facts(
            [
                (label.table, ""),
                (label.promise, label.slack),
                (f"Protects {label.protected}", f"Hidden: {label.hidden}."),
            ]
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if st.button("Classify with it", type="primary", key="train-classify"):
                st.switch_page(CLASSIFY.path)
            st.download_button(
                "Save the file",
                opened.data,
                opened.name,
                "application/octet-stream",
                key="train-save",
                on_click="ignore",
            )
            if st.button("Another model", key="train-again"):
                del st.session_state[RELEASED]
                st.rerun()
            note(size(len(opened.data)))
    among = chosen_among(opened.release)
    why = (
        f"It was kept as it was right of most held-out records, as far as noise lets one tell, among {listed(among)}."
        if among
        else "It was made alone, of all records: several would have left too little of the budget for each."
    )
    note(why)
    return True
