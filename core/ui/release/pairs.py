"""Which pairs of columns are counted, where noise lets but some be seen: by public sizes, or by what is found."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import streamlit as st

from ...forecast.draft import TABLE, Draft
from ...sketches.tables.tables import Tables
from ..frame.marks import note
from .several import added
from .way import way_of

SMALLEST, STRONGEST = "The smallest tables", "Those that go together most"
WHY = {
    SMALLEST: "They follow from public facts alone: how many cells each table has, and in which order the columns are.",
    STRONGEST: "Which ones these are is found out under the same promise. A tenth of the budget pays for it, so each "
    "count is about a twentieth noisier. Where columns hardly go together, the smallest tables serve better.",
}
WITHOUT_RISK = (
    "Not all pairs of columns can be seen here. With the one-in-a-million risk, under Fine-tune, more can, and those "
    "that go together most may be chosen."
)


def choose_pairs(draft: Draft, number: int) -> Draft:
    """The draft with the pairs chosen as the owner likes, where some have to be left out; else as it is.

    Parameters
    ----------
    draft : Draft
        With a settled budget.
    number : int
        Number of the pick on the Data page, part of the control's key.

    Raises
    ------
    RequestError
        When there is no way to make the release.
    """
    if draft.question != TABLE or draft.by or added(number):
        return draft
    tables = cast(Tables, way_of(draft).answering)
    seen, every = len(tables.pairs), math.comb(len(tables.axes), 2)
    if not 0 < seen < every:
        return draft
    if draft.promise.pure:
        note(WITHOUT_RISK)
        return draft
    chosen = st.segmented_control(
        f"Of {every:,} pairs of columns, noise lets {seen:,} be seen. Which?",
        list(WHY),
        key=f"release-pairs-{number}",
        required=True,
        default=SMALLEST,
        persist_state="session",
    )
    note(WHY[chosen])
    return replace(draft, choosing=chosen == STRONGEST)
