"""What the answers of a release mean, and what its table is made of, in plain words: a line for every mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np

from ...domain import Domain
from ...geometry.kernels import (
    Angular,
    Bandwidth,
    Euclidean,
    Exponential,
    Gaussian,
    Jaccard,
    Kernel,
    Laplacian,
    Manhattan,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
)
from ...releases.release import Release
from ...sketches.classes import Classes
from ...sketches.grouped import GroupedSketch
from ...sketches.linear import LinearSketch
from ...sketches.registry import card_of
from ...words.numbers import number, percent, significant
from ...words.phrases import listed, shown
from .words import counted

SHARES = "; distances are in shares of each column's bounds"


def one_class(sketch: LinearSketch) -> LinearSketch:
    """The sketch that answers are read off: that of one class, where there are classes."""
    return sketch.one_answer[0]


def asked(sketch: LinearSketch) -> str:
    """What is summed, as a word that begins a sentence: "Closeness" or "Distance"."""
    return sketch.answers.capitalize()


def measured(sketch: LinearSketch) -> str:
    """How closeness or distance is measured; fits after "is measured by"."""
    sketch = one_class(sketch)
    measure = card_of(sketch).measure
    if sketch.answers == "distance":
        said = measure(sketch) if measure else "the differences of all columns, added up"
        return said + (SHARES if sketch.domain.scale == "box" else "")
    return measure(sketch) if measure else closeness(cast(GroupedSketch, sketch).kernel, sketch.domain)


def closeness(kernel: Kernel, domain: Domain) -> str:
    """The kernel in words."""
    return _kernel(kernel) + (SHARES if domain.scale == "box" else "")


def table(sketch: LinearSketch) -> str:
    """The size of a table; fits after "it holds"."""
    return card_of(sketch).holds(sketch)


def clipped(sketch: LinearSketch) -> str:
    """What was done with records that are too far or too long, as a sentence; "" where every record counts as it is."""
    sketch = one_class(sketch)
    longest = getattr(sketch, "longest", None)
    if longest is not None:
        return f"Of a set with more than {longest:,} different items, a random choice of {longest:,} counts."
    radius = getattr(sketch, "radius", None)
    if radius is None or radius >= _farthest(sketch) * (1.0 - 1e-9):
        return ""
    return f"Records farther than {significant(radius, 4)} from the centre were moved to that distance from it."


def _farthest(sketch: LinearSketch) -> float:
    """Distance of the farthest corner of the bounds from the centre."""
    low, high = sketch.domain.bounds(sketch.metric)
    centre = getattr(sketch, "origin", (low + high) / 2.0)
    if isinstance(getattr(sketch, "kernel", None), Angular):
        centre = np.zeros_like(low)
    return float(np.sqrt((np.maximum(np.abs(low - centre), np.abs(high - centre)) ** 2).sum()))


def noise_in_answer(release: Release, deviation: float) -> str:
    """How far noise alone moves an answer, as a sentence.

    Parameters
    ----------
    release : Release
        Any release.
    deviation : float
        Standard deviation of an answer by noise alone.
    """
    if not math.isfinite(deviation):
        return "No formula says how far noise alone moves an answer: the answers follow from choices made under noise."
    if release.sketch.answers == "closeness":
        return f"Noise alone moves an answer by about {significant(deviation, 2)} {counted(release.domain)}."
    mean = deviation / float(np.mean(release.counts))
    total, each = significant(deviation, 2), significant(mean, 2)
    return f"Noise alone moves a sum of distances by about {total}, which is {each} in the average distance."


def classes(sketch: LinearSketch) -> str:
    """The public list of classes, as a sentence; "" where there are none."""
    if not isinstance(sketch, Classes):
        return ""
    return (
        f"It answers for each class of the column {shown(sketch.label)} by itself: "
        f"{listed([shown(category) for category in sketch.categories], 8)}."
    )


def _kernel(kernel: Kernel) -> str:
    if isinstance(kernel, Product):
        return "the product of " + _enumerated([_kernel(part) for part in kernel.parts])
    if isinstance(kernel, Mixture):
        parts = zip(kernel.weights, kernel.parts, strict=True)
        return "a mixture of " + _enumerated([f"{percent(weight, 3)} {_kernel(part)}" for weight, part in parts])
    if isinstance(kernel, Jaccard):
        return "the Jaccard similarity of two sets, which is the share of all their items that both have"
    power = f", to the power {kernel.power}" if isinstance(kernel, (Angular, Stationary)) and kernel.power > 1 else ""
    if isinstance(kernel, Angular):
        return f"the angular kernel, which falls with the angle between two records seen from the origin{power}"
    return f"{_FALLS[type(kernel)]} over a bandwidth of {_bandwidth(cast(Stationary, kernel).bandwidth)}{power}"


_STRAIGHT, _SUM = "straight-line distance", "the sum of the columns' distances"
_FALLS: dict[type[Kernel], str] = {
    Euclidean: f"the Euclidean kernel, which falls with {_STRAIGHT}",
    Manhattan: f"the Manhattan kernel, which falls with {_SUM}",
    Laplacian: f"the Laplacian kernel, which falls exponentially with {_SUM}",
    Gaussian: f"the Gaussian kernel, which falls like a bell curve with {_STRAIGHT}",
    Exponential: f"the exponential kernel, which falls exponentially with {_STRAIGHT}",
    Smooth: f"the smooth kernel 1/(1 + z), which falls slowly with {_STRAIGHT} z",
    SmoothSquared: f"the smooth kernel 1/(1 + z²), which falls slowly with the square of {_STRAIGHT} z",
    SmoothL1: f"the smooth kernel 1/(1 + z), which falls slowly with z, {_SUM},",
}


def _enumerated(parts: Sequence[str]) -> str:
    return "; and ".join(parts)


def _bandwidth(bandwidth: Bandwidth) -> str:
    return listed([number(each) for each in bandwidth]) if isinstance(bandwidth, tuple) else number(bandwidth)
