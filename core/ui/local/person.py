"""Being one person: coins are flipped, a report is sent, and whoever sees it may conclude little."""

from __future__ import annotations

import streamlit as st

from ...experiments.local_lessons import told
from ...words.numbers import percent
from ...words.phrases import listed
from ..frame.bars import bar
from ..frame.marks import Visibility, note, rail
from .poll import EPSILONS

ANSWERS = ("Never", "Once or twice", "More often", "I would rather not say")
ORACLES = {"One answer": "de", "A few answers": "ss", "A bit for each": "oue"}


def person_view() -> None:
    """Everything under Be one person."""
    field, seen = st.columns([1, 1.2], gap="large")
    with field:
        st.markdown("**How often did you copy homework?**")
        answer = st.radio("You think", ANSWERS, key="person-answer")
        how = st.segmented_control(
            "Your phone sends", list(ORACLES), default="One answer", required=True, key="person-oracle"
        )
        epsilon = st.select_slider("Local ε", EPSILONS, "1", key="person-epsilon")
        flips = st.session_state.setdefault("person-flips", 0)
        if st.button("Flip the coins again", key="person-flip"):
            st.session_state["person-flips"] = flips + 1
    sent = told(ORACLES[how], len(ANSWERS), epsilon, ANSWERS.index(answer), st.session_state["person-flips"])
    with seen, rail(Visibility.PUBLIC, "person", "What travels, and what anyone may conclude"):
        named = [ANSWERS[place] for place in sent.named]
        st.markdown(f"Your phone sends: **{listed(named) if named else 'none of them'}**")
        note("Whoever thought before that all answers were equally likely, thinks now:")
        for name, chance in zip(ANSWERS, sent.chances, strict=True):
            said = percent(float(chance), 2)
            bar([float(chance)], f"{name}: {said}", name, said)
        note(
            f"No answer has become more than {sent.odds:.2f} times likelier than another. These coins are repeatable, "
            "for a lesson; those of a poll are not."
        )
