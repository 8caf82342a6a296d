"""Making estimates more plausible, once they are made: it costs no privacy (Cormode, Maddock, Maple 2021, section 6).

Counts of all values are not negative and add up to the number of reports, and unbiased estimates need not. What each
way gains in total error it pays for with bias, so the intervals of the raw estimates stay those of the counts, cut to
what is possible, and are not moved along: `still_valid` says in a sentence what may be read where.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..geometry.simplex import nearest_with_total
from ..runtime.array_types import Floats
from ..runtime.checks import check_choice

INTERVALS_STAY = "Intervals are those of the unprocessed estimates, cut at zero and at the number of reports."


def base(estimate: Floats, people: float) -> Floats:
    """Nothing is changed."""
    return estimate.copy()


def base_pos(estimate: Floats, people: float) -> Floats:
    """Negative estimates become zero."""
    return np.maximum(estimate, 0.0)


def norm_sub(estimate: Floats, people: float) -> Floats:
    """Negative ones become zero and the others move by one amount until all add up to the number of reports.

    Repeated until nothing is negative: they are the nearest counts that are possible, as `prob_simplex` has them.
    """
    kept = np.ones(len(estimate), np.bool_)
    while True:
        shift = (people - estimate[kept].sum()) / kept.sum()
        moved = np.where(kept, estimate + shift, 0.0)
        if not (moved < 0).any():
            return moved
        kept &= moved >= 0


def prob_simplex(estimate: Floats, people: float) -> Floats:
    """The nearest counts that are not negative and add up to the number of reports, by sorting."""
    return np.asarray(nearest_with_total(estimate, people))


def base_cut(estimate: Floats, people: float) -> Floats:
    """The largest are kept until their sum passes the number of reports, that one too; all others become zero."""
    order = np.argsort(-estimate, kind="stable")
    running = np.cumsum(np.maximum(estimate[order], 0.0))
    cut = np.zeros_like(estimate)
    kept = order[: int(np.searchsorted(running, people, side="right")) + 1]
    cut[kept] = np.maximum(estimate[kept], 0.0)
    return cut


WAYS: dict[str, Callable[[Floats, float], Floats]] = {
    "base": base,
    "base-pos": base_pos,
    "norm-sub": norm_sub,
    "prob-simplex": prob_simplex,
    "base-cut": base_cut,
}
_ADDED_UP = "Estimates add up; small counts come out too high and large ones too low by about the same amount. "
SAID = {
    "base": "Estimates are right on average, and intervals hold as often as they say.",
    "base-pos": "Values that nobody has come out too high on average. ",
    "norm-sub": _ADDED_UP,
    "prob-simplex": _ADDED_UP,
    "base-cut": "Large counts are as they were; small ones are cut to zero, so read none of them. ",
}


def processed(estimate: Floats, people: float, way: str) -> Floats:
    """Estimates of all values by one of the ways, float64 (d,)."""
    check_choice(way, "Post-processing", tuple(WAYS))
    return WAYS[way](estimate, float(people))


def still_valid(low: Floats, high: Floats, people: float, way: str) -> tuple[Floats, Floats, str]:
    """Intervals beside processed estimates, and what may be said of them."""
    check_choice(way, "Post-processing", tuple(WAYS))
    if way == "base":
        return low, high, SAID[way]
    return np.clip(low, 0.0, people), np.clip(high, 0.0, people), SAID[way] + INTERVALS_STAY
