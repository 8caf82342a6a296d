"""The exact answers beside the released ones: for bundled samples only, as looking at the truth is not private."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from ...engine.building import Building
from ...figures.forecast_figures import exact_figure
from ...releases.release import Release
from ...sources import Source
from ...tasks.classification import classify_points
from ...words.numbers import percent
from ..frame.charts import show
from ..frame.marks import Visibility, mark, note
from ..frame.session import Opened
from .making import Desk, Making

PLACES = 300


@dataclass(frozen=True)
class Agreement:
    """How often a release of groups names the group that it would name without its noise, of so many places.

    Attributes
    ----------
    same : int
        At how many places.
    sure, wrong : int
        At how many the release is sure, and at how many of these it names another one.
    """

    same: int
    sure: int
    wrong: int


@dataclass(frozen=True)
class Compared:
    """Exact and released answers at places where records of a sample lie, float64 (n,) each, and the intervals.

    ``agreement`` is about groups, where the release has some.
    """

    exact: np.ndarray
    released: np.ndarray
    low: np.ndarray
    high: np.ndarray
    agreement: Agreement | None = None

    @property
    def error(self) -> float:
        """The typical error as forecasts define it: root mean square, as a share of a typical exact answer."""
        return float(np.sqrt(np.mean((self.released - self.exact) ** 2)) / np.mean(self.exact))

    @property
    def held(self) -> int:
        """How many intervals hold the exact answer."""
        return int(((self.low <= self.exact) & (self.exact <= self.high)).sum())


def compare(release: Release, source: Source) -> Compared:
    """Ask the release and the records themselves at the same places; never to be called on anyone's own data."""
    sketch = release.sketch
    batches = list(source.batches(sketch.domain))
    records = np.concatenate([sketch.domain.encode(batch, sketch.metric) for batch in batches])
    places = np.concatenate([sketch.query_domain.encode(batch, sketch.metric) for batch in batches])
    queries = np.asfortranarray(np.random.default_rng(0).permutation(places)[:PLACES])
    exact = sketch.exact(queries, np.asfortranarray(records))
    answers = release.answer_points(queries)
    agreement = agreement_of(release, source, queries) if sketch.classes else None
    return Compared(exact, answers.estimate, answers.low, answers.high, agreement)


def agreement_of(release: Release, source: Source, queries: np.ndarray) -> Agreement:
    """Compare decisions with those of the same table before its noise."""
    building = Building(release.sketch, source)
    for _ in building:
        pass
    exact = replace(release, counters=building.exact.table, counted=building.exact.records)
    said, without = classify_points(release, queries), classify_points(exact, queries)
    same = said.codes == without.codes
    return Agreement(int(same.sum()), int(said.certain.sum()), int((said.certain & ~same).sum()))


def offer_comparison(desk: Desk, making: Making, opened: Opened) -> None:
    """The switch, and behind it the truth under a mark that nobody can miss; nothing for anyone's own data."""
    if making.order.sample is None:
        return
    if not st.toggle("Compare with the exact answer — sample data only", key="release-exact", wrap=True):
        return
    desk.looked.add(making.order.sample)
    compared = _compared(opened.identity, opened.release, making.order.source)
    with st.container(key="fg-exact"):
        mark(Visibility.PRIVATE, "Exact and not private: shown only because this is made-up sample data")
        words = (
            f"At {len(compared.exact)} places the typical error is {percent(compared.error)} of a typical answer, and "
            f"{compared.held} of its {len(compared.exact)} intervals of 95% hold the exact answer."
        )
        show(exact_figure(compared.exact, compared.released), "release-exact-figure", words)
        note(words)
        if compared.agreement is not None:
            note(_agreement_words(compared.agreement, len(compared.exact)))
        note(
            "Never look like this at real data: what you choose after a look gives away what you saw. A release of "
            "this sample that is made after it says so in your ledger."
        )


def _agreement_words(agreement: Agreement, places: int) -> str:
    return (
        f"At {agreement.same} of these places it names the group that it would name without its noise. It is sure at "
        f"{agreement.sure} of them, and wrong about that at {agreement.wrong}."
    )


@st.cache_data(scope="session", max_entries=4, show_spinner=False)
def _compared(fingerprint: str, _release: Release, _source: Source) -> Compared:
    return compare(_release, _source)
