"""The same question with nobody to trust: what local reports give at the same ε, and how many people they need."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import streamlit as st

from ...errors import RequestError
from ...forecast.recommendation import Closeness
from ...local.trust import Trust, of_density
from ...sketches.hashed.race import Race
from ...sketches.making import hashed
from ...words.escapes import in_markdown
from ...words.numbers import about, percent
from ..frame.marks import note
from ..frame.turns import turn
from .subject import Subject

LEAST, MOST = Decimal("0.1"), Decimal(10)
"""ε between which local reports are of use and a promise."""
SHOWN = 3


def beside_local(subject: Subject, epsilons: Sequence[Decimal]) -> None:
    """RACE with an owner beside RACE of local reports, by forecast; worked out when it is asked for."""
    if not isinstance(subject.question, Closeness):
        return
    st.header("With nobody to trust", anchor=False)
    if not hashed(subject.question.kernel):
        note(
            "Local reports say which random cell a record falls into, and this kernel has no such cells: choose "
            "another above to compare."
        )
        return
    note("Every device randomises its own record before it leaves, and the collector adds up what arrives.")
    if not st.toggle("Forecast what local reports would give", key="compare-local"):
        return
    try:
        rows = tuple(_trust(subject.identity, subject, epsilon) for epsilon in shown(epsilons))
    except RequestError as error:
        note(in_markdown(error))
        return
    st.dataframe(
        {
            "ε": [f"{one.epsilon:g}" for one in rows],
            "with an owner": [percent(one.owner) for one in rows],
            "local reports": [percent(one.local) for one in rows],
            "people": [about(one.needed) for one in rows],
        },
        hide_index=True,
        key="compare-local-table",
        alt=f"RACE with an owner and of local reports, for {subject.records:,} records",
    )
    note(
        f"Both are RACE with {subject.records:,} records, each with the rows that suit it. Errors are forecast "
        "standard deviations, as shares of all records; the last column "
        "says how many people local reports need for the owner's error."
    )


def shown(epsilons: Sequence[Decimal]) -> list[Decimal]:
    """A few of the ε of a plan: its ends, and one between."""
    fine = [one for one in epsilons if LEAST <= one <= MOST]
    return sorted({fine[place * (len(fine) - 1) // (SHOWN - 1)] for place in range(SHOWN)}) if fine else [Decimal(1)]


@st.cache_data(max_entries=64, show_spinner="Forecasting", scope="session")
def _trust(identity: str, _subject: Subject, epsilon: Decimal) -> Trust:
    sketch = Race(_subject.domain, _subject.question.kernel, seed=0)
    with turn():
        return of_density(sketch, epsilon, _subject.records, getattr(_subject.question, "density", None))
