"""The page Compare from top to bottom."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ...experiments.comparison_work import Task
from ..frame.marks import note
from ..frame.session import Session
from .choice import Chosen, choose_plan
from .data import choose_subject
from .functions import choose_epsilon, functions
from .local import beside_local
from .methods import about_methods
from .results import as_asked, bench, choose_measure, results, trials_of
from .saving import nothing_to_save, save_action


def compare(visitor: Session) -> None:
    """Choices, curves, costs, functions, methods.

    Raises
    ------
    RequestError
        When the data cannot be read or compared.
    """
    subject = choose_subject(visitor)
    if subject is None:
        nothing_yet()
        return
    chosen = choose_plan(subject)
    if chosen is None:
        nothing_yet("a method")
        return
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        st.header("Error against ε", anchor=False, width="content")
        measure, tuned = choose_measure(subject.data)
    curves, pictures = st.container(), st.container()
    with pictures:
        chosen = _shown(chosen)
    chosen = as_asked(chosen)
    desk = bench(subject)
    desk.aim(Task(subject.identity, chosen.plan, subject.work))
    with curves:
        results(chosen, desk, measure, tuned)
    if subject.data is not None:
        with pictures:
            functions(chosen, desk)
    beside_local(subject, chosen.plan.epsilons)
    st.header("How each works", anchor=False)
    about_methods(chosen, desk.known(subject.identity), measure, desk.running)
    save_action(chosen, lambda: trials_of(chosen, desk.known(subject.identity)), measure, tuned)


def _shown(chosen: Chosen) -> Chosen:
    """With the ε at which functions are drawn: chosen where they are, and known before anything is worked out."""
    if chosen.subject.data is None:
        return chosen
    st.header("What is released", anchor=False)
    exact = "The thick grey line" if len(chosen.subject.picture.axes) == 1 else "The first map"
    note(f"{exact} is exact, and the others are what one would get.")
    shown_at = choose_epsilon(chosen.plan.epsilons)
    return replace(chosen, plan=replace(chosen.plan, shown_at=shown_at, places=len(chosen.subject.picture.points)))


def nothing_yet(missing: str = "public data to compare on") -> None:
    """The main action while there is nothing to compare."""
    nothing_to_save(missing)
