"""Answers of released files, remembered for all visitors: the files are public, and so are answers computed from them.

Every function takes the file's fingerprint, by which the answer is remembered, and the release, which is not hashed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from ..releases import Release
from ..report.label import PrivacyLabel, describe, privacy_label
from ..sketches.linear import Answers
from ..tasks import density
from ..tasks.averaging import averaged_answers, averaging
from ..tasks.box import Box
from ..tasks.modes import Mode, find_modes
from ..tasks.partition import Intersection, intersect_partitions
from ..tasks.sampling import Sample, sample
from .session import Opened

REMEMBERED = 64
LEVEL = 0.95
MAP_SIZE, AVERAGED_MAP_SIZE = 200, 64
"""Cells along a side; an average reads many points a cell."""
MOST_MODES = 10


@dataclass(frozen=True)
class View:
    """What a picture shows: one or two columns, and the others that are held at a value; the rest is averaged over."""

    columns: tuple[str, ...]
    held: tuple[tuple[str, object], ...] = ()

    def averages(self, release: Release) -> bool:
        """Whether any column of the release is neither drawn nor held."""
        return len(self.columns) + len(self.held) < len(release.domain.columns)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def label(fingerprint: str, _opened: Opened) -> tuple[PrivacyLabel, list[str]]:
    """The privacy label of a file, and the same in sentences."""
    return privacy_label(_opened.release, _opened.data), describe(_opened.release, _opened.data)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def picture(fingerprint: str, _release: Release, view: View) -> density.Curve | density.Heatmap:
    """The curve or map of a view."""
    held = dict(view.held)
    if len(view.columns) == 1:
        if view.averages(_release):
            return density.marginal_line(_release, *view.columns, held, level=LEVEL)
        return density.line(_release, *view.columns, held, level=LEVEL)
    if view.averages(_release):
        return density.marginal_grid(_release, *view.columns, held, AVERAGED_MAP_SIZE, LEVEL)
    return density.grid(_release, *view.columns, held, MAP_SIZE, LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner=False)
def small_pictures(fingerprint: str, _release: Release, columns: tuple[str, ...]) -> density.Pairs:
    """The matrix to start exploring from."""
    return density.pairs(_release, columns, level=LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner="Looking for modes …")
def modes(fingerprint: str, _release: Release) -> tuple[Mode, ...]:
    """Where the density has its peaks."""
    return find_modes(_release, MOST_MODES, level=LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner="Intersecting cells …")
def intersection(fingerprint: str, _release: Release) -> Intersection:
    """The densest place by the paper's method."""
    return intersect_partitions(_release, LEVEL)


@st.cache_data(max_entries=REMEMBERED, show_spinner="Drawing points …")
def synthetic(fingerprint: str, _release: Release, count: int, seed: int, sharpen: bool) -> Sample:
    """Synthetic points."""
    return sample(_release, count, seed, sharpen=sharpen)


def answer(release: Release, at: dict[str, object]) -> Answers:
    """The answer at one point; columns that it does not name are averaged over. Arrays of shape (1,)."""
    box = Box.of(release.sketch)
    held = box.encode_fixed(at)
    others = tuple(name for name in box.columns if name not in held)
    first = next(iter(held))
    drawn = {first: held.pop(first)[np.newaxis]}
    return averaged_answers(release, drawn, held, averaging(release, others, 1), LEVEL)
