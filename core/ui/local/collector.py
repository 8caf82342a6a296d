"""Being the collector: which oracle to ask people by, and what it would tell."""

from __future__ import annotations

from functools import cache

import streamlit as st

from ...errors import RequestError
from ...figures.promise_lesson_figures import errors_figure
from ...local.choosing import Outlook, outlooks, recommended, sentence
from ...local.oracles.table import ORACLES
from ...local.shuffle import Shuffled
from ...local.trust import of_counts
from ...words.numbers import about, significant
from ..frame.charts import show
from ..frame.marks import Visibility, note, rail
from .words import words_view

EPSILONS = ("0.2", "0.5", "1", "2", "3", "4")
DOMAINS = (2, 4, 10, 30, 100, 300, 1000, 3000, 10_000)
PEOPLE = (100, 1000, 10_000, 100_000, 1_000_000)
SHUFFLED_DELTA = 1e-6
"""Of what a crowd hides, where reports come in random order."""
SHOWN = ("de", "oue", "ss", "hm", "pgr", "hr")


def collector_view() -> None:
    """Everything under Be the collector."""
    field, drawn = st.columns([1, 2], gap="large")
    with field:
        domain = st.select_slider("Answers", DOMAINS, 100, key="collector-domain", format_func=lambda one: f"{one:,}")
        people = st.select_slider("People", PEOPLE, 10_000, key="collector-people", format_func=lambda one: f"{one:,}")
        epsilon = st.select_slider("Local ε", EPSILONS, "1", key="collector-epsilon")
    every = _every(domain, people, epsilon)
    with drawn:
        errors = {
            name: [
                one.share_error for size in DOMAINS for one in _every(size, people, epsilon) if one.oracle.name == name
            ]
            for name in SHOWN
        }
        titles = {name: ORACLES[name].title for name in SHOWN if len(errors[name]) == len(DOMAINS)}
        best = recommended(every)
        show(
            errors_figure(DOMAINS, {title: errors[name] for name, title in titles.items()}),
            "collector-errors",
            f"Errors of {len(titles)} oracles over numbers of answers. {sentence(best)}",
        )
    with field, rail(Visibility.PUBLIC, "collector", "What to take"):
        note(sentence(best))
        note(_with_an_owner(best))
        note(Shuffled.of(best.oracle, people).sentence(SHUFFLED_DELTA))
    st.dataframe(
        {
            "oracle": [one.oracle.title for one in every],
            "± points": [float(f"{100 * one.share_error:.3g}") for one in every],
            "bits sent": [one.bits for one in every],
        },
        hide_index=True,
        column_config={
            "± points": st.column_config.NumberColumn(help="To how many points in a hundred a share is known"),
            "bits sent": st.column_config.NumberColumn(help="How long the report of one phone is"),
        },
        key="collector-table",
        alt="Every oracle with its error and the length of its reports, the best first",
    )
    words_view()


def _with_an_owner(best: Outlook) -> str:
    """What it costs that nobody is trusted."""
    found = of_counts(best)
    return (
        f"An owner whom all of them trust would know a share to ± {significant(200 * found.owner, 2)} points at the "
        f"same ε. Local reports need {about(found.needed)} people for that."
    )


@cache
def _every(domain: int, people: int, epsilon: str) -> tuple[Outlook, ...]:
    try:
        return tuple(outlooks(domain, people, epsilon))
    except RequestError:
        return ()
