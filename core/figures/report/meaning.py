"""What the answers of a release mean, and what its table is made of, in plain words: a line for every mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
)
from ...releases.release import Release
from ...sketches.classes import Classes
from ...sketches.linear import LinearSketch
from ...sketches.projected import Projected
from .words import counted, figures, listed, number, percent, shown

SHARES = "; distances are in shares of each column's bounds"


def one_class(sketch: LinearSketch) -> LinearSketch:
    """The sketch that answers are read off: that of one class, where there are classes."""
    return sketch.inner if isinstance(sketch, Classes) else sketch


def asked(sketch: LinearSketch) -> str:
    """What is summed, as a word that begins a sentence: "Closeness" or "Distance"."""
    return sketch.answers.capitalize()


def measured(sketch: LinearSketch) -> str:
    """How closeness or distance is measured; fits after "is measured by"."""
    sketch = one_class(sketch)
    if sketch.answers == "distance":
        return _distance(sketch) + (SHARES if sketch.domain.scale == "box" else "")
    if sketch.name in _MEASURED:
        return _MEASURED[sketch.name]
    return closeness(sketch.kernel, sketch.domain)


def closeness(kernel: Kernel, domain: Domain) -> str:
    """The kernel in words."""
    return _kernel(kernel) + (SHARES if domain.scale == "box" else "")


def table(sketch: LinearSketch) -> str:
    """The size of a table; fits after "it holds"."""
    if isinstance(sketch, Classes):
        return f"a table for each of {len(sketch.categories):,} classes, with {table(sketch.inner)} each"
    if isinstance(sketch, Projected):
        groups = f"{sketch.groups:,} projections to {sketch.projection.target:,} dimensions ({sketch.projection.name})"
        return f"{groups}, with {table(sketch.inner)} in all"
    words = _TABLES.get(sketch.name)
    return words(sketch) if words else f"{_sides(sketch.shape)} counters"


def clipped(sketch: LinearSketch) -> str:
    """What was done with records that are too far or too long, as a sentence; "" where every record counts as it is."""
    sketch = one_class(sketch)
    longest = getattr(sketch, "longest", None)
    if longest is not None:
        return f"Of a set with more than {longest:,} different items, a random choice of {longest:,} counts."
    radius = getattr(sketch, "radius", None)
    if radius is None or radius >= _farthest(sketch) * (1.0 - 1e-9):
        return ""
    return f"Records farther than {figures(radius, 4)} from the centre were moved to that distance from it."


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
        return f"Noise alone moves an answer by about {figures(deviation, 2)} {counted(release.domain)}."
    mean = deviation / float(np.mean(release.counts))
    return (
        f"Noise alone moves a sum of distances by about {figures(deviation, 2)}, which is {figures(mean, 2)} in the "
        "average distance."
    )


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
        return "a mixture of " + _enumerated([f"{percent(weight)} {_kernel(part)}" for weight, part in parts])
    if isinstance(kernel, Jaccard):
        return "the Jaccard similarity of two sets, which is the share of all their items that both have"
    power = f", to the power {kernel.power}" if kernel.power > 1 else ""
    if isinstance(kernel, Angular):
        return f"the angular kernel, which falls with the angle between two records seen from the origin{power}"
    return f"{_FALLS[type(kernel)]} over a bandwidth of {_bandwidth(kernel.bandwidth)}{power}"


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


def _distance(sketch: LinearSketch) -> str:
    if sketch.name == "moments":
        return "the square of the straight-line distance"
    if sketch.name == "projected-distance":
        return "straight-line distance"
    kind, _, value = getattr(sketch, "norm", "l1").partition(":")
    if kind in ("above", "below"):
        return f"how far records lie {kind} a place, in all columns added up"
    further = {"lp": " to the power {}", "capped": ", none of them counted beyond {}"}.get(kind, "")
    return f"the differences of all columns{further.format(number(float(value or 1)))}, added up"


_MEASURED = {
    "directions": "the cosine of the angle between two records, seen from the centre",
    "marginals": "the share of the counted tables in which two records are in the same cell",
}
_TABLES = {
    "race": lambda sketch: f"{sketch.shape[0]:,} rows of {sketch.shape[1]:,} counters",
    "minhash": lambda sketch: f"{sketch.shape[0]:,} rows of {sketch.shape[1]:,} counters",
    "features": lambda sketch: f"{sketch.shape[0]:,} pairs of counters, one a random wave",
    "directions": lambda sketch: f"{sketch.shape[0]:,} sums, one of every coordinate of directions",
    "distance": lambda sketch: f"{sketch.shape[0]:,} counters, a grid a column",
    "projected-distance": lambda sketch: f"{_sides(sketch.shape)} counters along random directions",
    "moments": lambda sketch: f"{sketch.shape[0]:,} sums: of ones, of every coordinate, and of squared lengths",
    "histogram": lambda sketch: f"a grid of {_sides(sketch.shape)} counters",
    "exponential-sum": lambda sketch: f"{sketch.shape[0]:,} pairs of counters, one a random wave",
    "fourier-series": lambda sketch: f"{_many(sketch.shape[0], 'sum')} of waves",
    "trigonometric": lambda sketch: f"{_many(sketch.shape[0], 'sum')} of polynomials",
    "pfda": lambda sketch: f"{_many(sketch.shape[0], 'sum')} of waves",
    "bernstein": lambda sketch: f"a lattice of {_sides(sketch.shape)} sums of closeness",
    "mean-embedding": lambda sketch: (
        f"{_many(sketch.shape[0], 'sum')}, which give as many made-up points their weights"
    ),
    "flat-histogram": lambda sketch: f"a grid of {_sides(sketch.grid.counts)} counters",
    "hierarchical-histogram": lambda sketch: (
        f"{_many(sketch.shape[0], 'counter')}, of the cells of a grid and of larger and larger boxes of them"
    ),
    "marginals": lambda sketch: f"{_many(len(sketch.cliques), 'table')} of {_many(sketch.shape[0], 'counter')} in all",
    "privbayes": lambda sketch: (
        f"a network of {_many(len(sketch.marginals.cliques), 'table')}, with {_many(sketch.shape[0], 'counter')} in all"
    ),
    "mst": lambda sketch: (
        f"{_many(len(sketch.counts), 'table')} of single coordinates and {len(sketch.edges):,} of pairs of them, with "
        f"{_many(sketch.shape[0], 'counter')} in all"
    ),
    "mwem": lambda sketch: f"{_many(len(sketch.chosen), 'measured answer')}",
    "interval-tree": lambda sketch: _trees(sketch.shape[0], f"{sketch.shape[1]:,} counters"),
    "counts-and-sums": lambda sketch: _trees(sketch.shape[0], f"{sketch.shape[2]:,} counters and as many sums"),
    "huang-roth": lambda sketch: f"{_many(sum(map(_asked, sketch.places)), 'measured sum')} of distances",
}


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _trees(coordinates: int, holding: str) -> str:
    return f"a tree for each of {_many(coordinates, 'coordinate')}, of {holding}"


def _asked(places: Sequence[int]) -> int:
    """How many of a coordinate's counters measure something; -1 is no place."""
    return sum(place >= 0 for place in places)


def _sides(shape: Sequence[int]) -> str:
    return " by ".join(f"{side:,}" for side in shape)


def _enumerated(parts: Sequence[str]) -> str:
    return "; and ".join(parts)


def _bandwidth(bandwidth: Bandwidth) -> str:
    return listed([number(each) for each in bandwidth]) if isinstance(bandwidth, tuple) else number(bandwidth)
