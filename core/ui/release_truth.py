"""The exact answers beside the released ones: for bundled samples only, as looking at the truth is not private."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from ..figures.forecast import exact_figure
from ..releases import Release
from ..sources import Source
from .marks import Visibility, mark, note
from .release_charts import show
from .release_making import Desk, Making
from .session import Opened

PLACES = 300


@dataclass(frozen=True)
class Compared:
    """Exact and released answers at places where records of a sample lie, float64 (n,) each, and the intervals."""

    exact: np.ndarray
    released: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def error(self) -> float:
        """Average |error| as a share of the exact answer."""
        return float(np.mean(np.abs(self.released - self.exact) / self.exact))

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
    return Compared(exact, answers.estimate, answers.low, answers.high)


def offer_comparison(desk: Desk, making: Making, opened: Opened) -> None:
    """The switch, and behind it the truth under a mark that nobody can miss; nothing for anyone's own data."""
    if making.order.sample is None:
        return
    if not st.toggle("Compare with the exact answer — sample data only", key="release-exact", wrap=True):
        return
    desk.looked.add(making.order.sample)
    compared = _compared(opened.fingerprint, opened.release, making.order.source)
    with st.container(key="fg-exact"):
        mark(Visibility.PRIVATE, "Exact and not private: shown only because this is made-up sample data")
        words = (
            f"At {len(compared.exact)} places, the release is off by {100 * compared.error:.2g}% on average, and "
            f"{compared.held} of its {len(compared.exact)} intervals of 95% hold the exact answer."
        )
        show(exact_figure(compared.exact, compared.released), "release-exact-figure", words)
        note(words)
        note(
            "Never look like this at real data: what you choose after a look gives away what you saw. A release of "
            "this sample that is made after it says so in your ledger."
        )


@st.cache_data(scope="session", max_entries=4, show_spinner=False)
def _compared(fingerprint: str, _release: Release, _source: Source) -> Compared:
    return compare(_release, _source)
