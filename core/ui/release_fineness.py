"""Step 3 of a release: how fine it is, and what is guessed about the data to forecast with."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ..domain import Domain
from ..figures.kernel import kernel_figure, kernel_in_words
from ..kernels import MAX_POWER, Angular, Kernel
from ..samples import sample
from .marks import note
from .release_charts import show
from .release_draft import (
    DEFAULT_SHARE,
    DEFAULT_WIDTH,
    KERNELS,
    POWER,
    SHARES,
    Fineness,
    Guesses,
    distance_words,
    kernel_at,
    nearest_share,
)

AUTOMATIC, BY_HAND = "Automatic", "By hand"
FALLING = {
    "Euclidean": "Distance in a straight line. At power 1, closeness falls off slowly: far records count too.",
    "Manhattan": "Differences of all columns added up. At power 1, closeness falls off slowly.",
    "Laplacian": "Differences of all columns added up. Closeness falls off fast and evenly.",
    "Angular": "The angle between two records, seen from zero: for directions and profiles, not for places.",
}
RECORDS = tuple(digit * 10**zeros for zeros in range(2, 10) for digit in (1, 3))
"""Coarse on purpose: an exact number of records would be a private fact."""
DENSITIES = (None, 0.003, 0.01, 0.03, 0.1, 0.3)
DENSITY_WORDS = {
    None: "ordinary", 0.003: "scattered (0.3%)", 0.01: "1%", 0.03: "3%", 0.1: "10%", 0.3: "crowded (30%)",
}


def choose_scale(domain: Domain, number: int) -> Domain:
    """The domain, compared in natural units or in shares of each column's range."""
    if len(domain.columns) == 1:
        return domain
    key = f"release-box-{number}"
    st.session_state.setdefault(key, domain.scale == "box")
    box = st.toggle(
        "Measure every column in shares of its range", key=key, persist_state="session", wrap=True,
        help="Switch it on when units differ: a metre and a year cannot be compared as they are. It uses the bounds "
        "you typed and nothing of the data.",
    )
    return replace(domain, scale="box" if box else "none")


def choose_fineness(domain: Domain, number: int, sample_name: str | None) -> Fineness:
    """Kernel, bandwidth and size of the table; a sample starts with the nearness that suits it."""
    start = DEFAULT_SHARE if sample_name is None else nearest_share(domain, sample(sample_name).kernel)
    how = st.segmented_control(
        "Settings", [AUTOMATIC, BY_HAND], required=True, default=AUTOMATIC, key="release-how",
        persist_state="session", label_visibility="collapsed",
    )
    if how == AUTOMATIC:
        share = st.select_slider(
            "How near is “here”? Someone counts half at a distance of", SHARES, start, key=f"release-share-{number}",
            format_func=lambda share: distance_words(domain, share), persist_state="session",
            help="Within about this distance people count as close. Nearer shows more detail, and drowns sooner in "
            "noise.",
        )
        offered = kernel_at(domain, share)
        _draw(domain, offered)
        return Fineness(offered)
    kernel = _kernel(domain, number, start)
    _draw(domain, kernel)
    return _size(kernel)


def _kernel(domain: Domain, number: int, start: float) -> Kernel:
    named, width, sharp = st.columns([1.4, 1, 0.8], gap="medium")
    name = named.selectbox("Kernel", list(KERNELS), key="release-kernel", persist_state="session")
    power = sharp.number_input(
        "Power", 1, MAX_POWER, POWER, key="release-power", persist_state="session",
        help="How many hashes must agree in a row: the more, the less do far records count.",
    )
    if KERNELS[name] is Angular:
        note(FALLING[name])
        return Angular(power)
    key = f"release-bandwidth-{number}-{domain.scale}"
    st.session_state.setdefault(key, kernel_at(domain, start).bandwidth)
    bandwidth = width.number_input(
        "Bandwidth", 1e-12, 1e12, step=None, format="%.12g", key=key, persist_state="session",
        help="The distance at which closeness fades, " + (
            "in shares of the range." if domain.scale == "box" else "in the unit of the columns."
        ),
    )
    note(FALLING[name])
    return KERNELS[name](bandwidth, power)


def _size(kernel: Kernel) -> Fineness:
    rows, width = st.columns(2, gap="medium")
    chosen = rows.number_input(
        "Rows R", 8, 1_000_000, None, placeholder="chosen by forecast", key="release-rows", persist_state="session",
        help="How many random hash functions. More rows follow the data more closely; without slack they also need "
        "more noise. Left empty, the forecast chooses the best.",
    )
    columns = width.number_input(
        "Columns at most W", 2, 1_000_000, DEFAULT_WIDTH, key="release-width", persist_state="session",
        help="Counters a row may have. Where all cells fit, a smaller table loses nothing.",
    )
    return Fineness(kernel, chosen, columns)


def _draw(domain: Domain, kernel: Kernel) -> None:
    words = kernel_in_words(domain, kernel)
    show(kernel_figure(domain, kernel), "release-kernel-figure", words)
    note(words)


def choose_guesses(known_records: int | None) -> Guesses:
    """Public guesses for the forecast: how many records, which is known of a sample, and how crowded a place is."""
    note(
        "The forecast never looks at the data, so it needs two guesses from what anyone may know. They change nothing "
        "about privacy. Do not count your records for it: what you choose here shapes the file."
    )
    many, crowded = st.columns(2, gap="medium")
    nearest = min(RECORDS, key=lambda step: abs(step - known_records)) if known_records else Guesses.records
    records = many.select_slider(
        "About how many records?", RECORDS, nearest, format_func=lambda records: f"{records:,}", key="release-records",
        persist_state="session",
    )
    density = crowded.select_slider(
        "How crowded is a typical place?", DENSITIES, None, format_func=DENSITY_WORDS.__getitem__,
        key="release-density", persist_state="session",
        help="The average closeness of two records: 10% means that a typical place is worth a tenth of all records. "
        "“Ordinary” takes people who spread over about a sixth of the bounds.",
    )
    return Guesses(records, density)
