"""How to read the curves: which error it is, on what it was measured, and what would have been recommended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..experiments.comparison.curves import Curve
from ..experiments.comparison.methods import METHODS
from ..experiments.comparison.plan import Advice
from ..words.numbers import percent
from ..words.phrases import listed
from .comparison_curves import error_at

if TYPE_CHECKING:
    from ..experiments.comparison.public_data import PublicData

MEANINGS = {
    "relative_error": "The average error is how far an answer is from the exact one, as a share of it, on average over "
    "the questions.",
    "upper_error": "Of 100 answers, 95 are off by less than this share of the exact one.",
    "l2_error": "The error of the whole function is the root of its squared distance from the exact one, summed over "
    "the range of the column, as a share of the same of the exact one.",
}
"""By the names of a trial's errors."""


def measured_sentence(data: PublicData, measure: str) -> str:
    """What an error means and what it was measured on, in a few sentences."""
    if measure == "l2_error":
        asked = f"asked at {len(data.grid):,} even places"
    else:
        asked = f"asked at {len(data.queries):,} others that were held out"
        if data.left_out:
            asked += f" ({data.left_out:,} more were left out, as hardly anyone is near them)"
    return (
        f"{MEANINGS[measure]} Measured on {len(data.records):,} records, {asked}. What noise adds is a smaller share "
        "of more records, and a larger one of fewer."
    )


def releases_sentence(curves: Sequence[Curve], setting: str) -> str:
    """How many releases a point is the average of: most curves have as many, and those that differ are named.

    Parameters
    ----------
    setting : str
        At which setting they were made, in words.
    """
    counts = [releases for curve in curves for releases in curve.releases]
    usual = max(set(counts), key=lambda count: (counts.count(count), count))
    average = "one release" if usual == 1 else f"the average of {usual} releases"
    said = f"Each point is {average} {setting}"
    if max(counts) > 1:
        said += ", and a band holds the middle 80% of them"
    fewer = [
        f"{METHODS[curve.method].title} {_between(curve.releases)}"
        for curve in curves
        if set(curve.releases) != {usual}
    ]
    return f"{said}. Others, mostly because they take long: {listed(fewer, len(fewer))}." if fewer else f"{said}."


def _between(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def advice_sentence(advice: Advice, curves: Sequence[Curve], epsilon: float, measured: bool) -> str:
    """What is recommended from public facts, and why; beside it what was measured, where that is known.

    Parameters
    ----------
    curves : Sequence[Curve]
        That are drawn, at most one a method.
    epsilon : float
        At which the advice was given.
    measured : bool
        Whether the curves are of measured errors, or of forecasts.
    """
    said = f"Recommended of Frostglass's own mechanisms, by forecasts from public facts alone: {advice.reason}"
    errors = {curve.method: error_at(curve, epsilon) for curve in curves}
    errors = {method: error for method, error in errors.items() if math.isfinite(error)}
    if not measured or advice.method not in errors:
        return said
    least = min(errors, key=errors.__getitem__)
    found = f"Measured at ε = {epsilon:g}, {METHODS[advice.method].title} has {percent(errors[advice.method])}"
    if least == advice.method:
        return f"{said} {found}, the least of all that are drawn."
    return f"{said} {found}; the least has {METHODS[least].title}, with {percent(errors[least])}."
