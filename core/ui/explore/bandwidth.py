"""How closely a released grid is looked at: its readers choose the bandwidth, which costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from ...formatting.numbers import number
from ...geometry.kernels import Bandwidth, Stationary
from ...releases.forecast.scales import closely
from ..frame.session import Opened
from ..released import public_answers

DETAIL = "detail"  # The bandwidth in the page's address, where it is not the one to begin with: a share of the owner's.
FREE = (
    "The bandwidth: within about this distance people count as close. The counts are in the file with their noise, so "
    "smoothing them more or less costs no privacy, and intervals follow it."
)


def choose_bandwidth(opened: Opened) -> Opened:
    """The file as it is read with the bandwidth that the visitor chose, or that suits what was released."""
    sketch = opened.release.sketch
    kernel = getattr(sketch, "kernel", None)
    if sketch.answers != "closeness" or not isinstance(kernel, Stationary):
        return opened
    if len(sketch.bandwidths) < 2:  # its table was filled for one
        return opened
    with st.popover("Detail"):
        return _chosen(opened, kernel)


def _chosen(opened: Opened, kernel: Stationary) -> Opened:
    """The file with the bandwidth that a slider says."""
    sketch = opened.release.sketch
    factors = sketch.bandwidths
    suited = public_answers.suited(opened.identity, opened.release)
    start = "the one that suits the noisy counts" if sketch.open_bandwidth else "the owner's"
    first, key = _nearest(factors, suited), f"explore-bandwidth-{opened.identity}"
    if key not in st.session_state and (linked := _linked()) is not None:
        first = _nearest(factors, linked)
    chosen = st.select_slider(
        "How closely to look",
        factors,
        first,
        key=key,
        format_func=lambda factor: _in_words(opened, bandwidth_at(kernel, factor), factor),
        persist_state="session",
        width=420,
        help=f"{FREE} It starts at {start}.",
    )
    if chosen != _nearest(factors, suited):
        st.query_params[DETAIL] = f"{chosen:g}"
    else:
        st.query_params.pop(DETAIL, None)
    if chosen == 1.0:
        return opened
    bandwidth = bandwidth_at(kernel, chosen)
    return replace(opened, release=opened.release.smoothed(bandwidth), bandwidth=bandwidth)


def _nearest(factors: Sequence[float], wanted: float) -> float:
    return min(factors, key=lambda factor: abs(factor - wanted))


def _linked() -> float | None:
    """The bandwidth that the page's address names, as a share of the owner's."""
    try:
        return float(st.query_params.get(DETAIL, ""))
    except ValueError:
        return None


def bandwidth_at(kernel: Stationary, factor: float) -> Bandwidth:
    """So many times the bandwidth of a kernel, in four digits."""
    own = kernel.bandwidth
    if isinstance(own, tuple):
        return tuple(float(f"{one * factor:.4g}") for one in own)
    return float(f"{own * factor:.4g}")


def _in_words(opened: Opened, bandwidth: Bandwidth, factor: float) -> str:
    """A bandwidth as people read it."""
    if isinstance(bandwidth, tuple):
        return f"{number(factor)} times the owner's" if factor != 1.0 else "the owner's"
    return closely(opened.release.domain, bandwidth)
