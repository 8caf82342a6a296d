"""What an owner gets: the file, its picture, what it promises, and where to go next."""

from __future__ import annotations

import streamlit as st

from ...figures.report.label import PrivacyLabel, privacy_label
from ...figures.report.meaning import left_out_in_words
from ...figures.report.programs import command_for, program_for
from ...releases.release import Release
from ...releases.shelf import public_name
from ...sketches.tables.tables import Tables
from ...words.numbers import percent, size
from ...words.phrases import day, listed, lowered
from ..frame.charts import show
from ..frame.marks import Visibility, facts, note, odds, rail
from ..frame.navigation import CLASSIFY, EXPLORE, LEDGER
from ..frame.session import Opened, Session
from ..frame.visiting import stranger
from ..released.chosen_view import choose_question
from .making import Desk, Making
from .picture import release_picture
from .truth import offer_comparison


def show_result(visitor: Session, desk: Desk) -> None:
    """The page after a release was made."""
    opened = _opened(visitor, desk.making)
    _go_on(opened, desk.making)  # first: whatever happens to the rest of the page, the file can be saved
    st.header("It is released", anchor=False)
    label = privacy_label(opened.release, opened.data)
    main, aside = st.columns([1.75, 1], gap="large")
    with main, rail(Visibility.PUBLIC, "file", "Public: this file may be handed out"):
        note(f"{_contents(label)}, released {day(label.created)}.")
        asked = choose_question(opened)
        if asked.release.sketch.name == Tables.name and (words := left_out_in_words(asked.release)):
            note(words)
        drawn = release_picture(asked.identity, asked.release, lowered(_contents(label)))
        if drawn is not None:
            figure, words, below = drawn
            show(figure, "release-picture", words)
            if below:
                note(below)
        offer_comparison(desk, desk.making, asked)
    with aside, rail(Visibility.PUBLIC, "label", "Its privacy label"):
        _label(opened.release, label)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="release-next"):
        st.page_link(LEDGER.path, label="See what is left of the budget")
        if st.button("Make another release", key="release-again"):
            desk.clear()
            st.rerun()


def _go_on(opened: Opened, making: Making) -> None:
    """To the page that asks the file what it was made for, as anyone can who gets it; and the file itself."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-save"):
        if st.button("Explore it", key="release-explore", type="primary"):
            st.switch_page(CLASSIFY.path if opened.release.sketch.classes else EXPLORE.path)
        st.download_button(
            "Save the file",
            opened.data,
            opened.name,
            "application/octet-stream",
            key="release-save",
            on_click="ignore",
        )
        _as_program(opened)
        note(f"{size(len(opened.data))}. {_where_kept(making)}")


def _as_program(opened: Opened) -> None:
    """The same release as a program and as a command, for other records: next month's, or another branch's."""
    with st.popover("As a program"):
        st.caption("The same columns, question and promise for other records, such as those of next month.")
        st.download_button(
            "Python program",
            lambda: program_for(opened.release).encode(),
            f"{opened.stem}-again.py",
            "text/x-python",
            key="release-program",
            on_click="ignore",
            width="stretch",
        )
        st.caption("On the command line, with the file beside it:")
        st.code(command_for(opened.release, opened.name), language=None, wrap_lines=True)


def _where_kept(making: Making) -> str:
    """Whether the release is there when this session is not."""
    if making.kept is None or stranger() is not None:
        again = "only this session keeps it, and making it again would cost the same again."
        return f"{making.remark} Save it now: {again}".strip()
    return "A copy is kept beside your ledger and is here again after a reload."


def _opened(visitor: Session, making: Making) -> Opened:
    """The release among the visitor's open files, where the pages on released sketches find it."""
    name = file_name(making)
    if name not in visitor.opened:
        visitor.remember(name, making.release.to_bytes(), making.release)
    return visitor.opened[name]


def file_name(making: Making) -> str:
    """A name that says nothing of the data: the time of release, and a mark that tells two of one second apart."""
    if making.kept is not None:
        return public_name(making.kept.name)
    stamp = "".join(sign for sign in making.release.created[:19] if sign.isdigit() or sign == "T")
    return f"release-{stamp}-{making.order.ticket[:4]}.npz"


def _contents(label: PrivacyLabel) -> str:
    records = f"{label.records[:1].upper()}{label.records[1:]}"
    return f"{records} {label.counted} by {listed([column.name for column in label.columns])}"


def _label(release: Release, label: PrivacyLabel) -> None:
    """The promise as odds, and what else the file says of itself."""
    privacy = release.privacy
    odds(float(privacy.epsilon), float(privacy.delta), "record" if privacy.unit.column is None else "person")
    facts(
        [
            (label.promise, label.slack),
            (f"Protects {label.protected}", f"Hidden is {label.hidden}."),
            (f"Holds {label.records} {label.counted}", f"The number is {label.records_source}."),
            *([] if label.parts else [(label.table[:1].upper() + label.table[1:], " ".join(label.noise))]),
            *((f"{part.name}: {percent(part.share, 2)} of the budget", part.sentences[0]) for part in label.parts),
            ("Fingerprint of the file", label.fingerprint),
        ]
    )
