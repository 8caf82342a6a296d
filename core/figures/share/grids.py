"""A released grid as a shared page reads it: the counters themselves, and what smooths them for any bandwidth.

The page decodes the counters from the very file that it carries, fits the kernel's factors to the splines of each axis
and adds up, as `core.sketches.grids.smoothing` does: answers and errors are the same but for rounding.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from ...domain import Cyclic, Vector
from ...errors import RequestError
from ...forecast.scales import closely
from ...geometry.kernels import Bandwidth, Gaussian, Kernel, Product, Stationary, stationary
from ...releases.release import Release
from ...sketches.grids.axes import Axis, is_product_of_columns
from ...sketches.grids.histogram import Histogram
from ...tasks.box import Box
from ...words.numbers import number
from .columns import column_facts

MOST_COUNTERS = 1 << 20
"""Beyond, a picture takes a browser longer than a person waits."""
MOST_AXES = 3
MOST_TERMS = 48
"""Products whose sum a kernel is: noise is known from all pairs of them."""


def grid_facts(release: Release) -> dict[str, Any] | None:
    """What a page needs beside the counters to answer as the release does; None where it cannot.

    Parameters
    ----------
    release : Release
        Of one population.
    """
    sketch = release.sketch
    if not isinstance(sketch, Histogram) or not _is_small(sketch):
        return None
    readings = [reading for reading in map(lambda one: _reading(release, one), _bandwidths(sketch)) if reading]
    if not readings:
        return None
    box = Box.of(sketch)
    lengths = np.array([reading.pop("length") for reading in readings])
    suited = 0
    if len(readings) > 1:
        wanted = cast(Histogram, release.smoothed().sketch).kernel
        suited = int(np.abs(np.log(lengths / _length(stationary(wanted).bandwidth))).argmin())
    return {
        "kind": "grid",
        "columns": [column_facts(box, name) for name in release.domain.names],
        "axes": [_axis(sketch, axis) for axis in sketch.axes],
        "scales": list(sketch.scales),
        "halvings": sketch.halvings,
        "variance": release.privacy.counter_variance,
        "readings": readings,
        "suited": suited,
        "free": len(readings) > 1,
    }


def _is_small(sketch: Histogram) -> bool:
    columns = sketch.domain.columns
    plain = not any(isinstance(column, (Cyclic, Vector)) for column in columns)
    return plain and len(columns) <= MOST_AXES and math.prod(sketch.shape) <= MOST_COUNTERS


def _axis(sketch: Histogram, axis: Axis) -> dict[str, Any]:
    """An axis, with the coarser one where there is one; ``apart`` is how far categories are apart in a coordinate."""
    apart = float(sketch.middle[axis.coordinate]) if axis.categories else 0.0
    coarser = axis.coarser(sketch.halvings)
    coarse = _grid(coarser) if sketch.halvings and not coarser.apart else None
    return _grid(axis) | {"apart": apart, "coarse": coarse}


def _grid(axis: Axis) -> dict[str, Any]:
    # The cells of a coordinate whose values have counters of their own say nothing.
    cells = 0 if axis.apart else axis.cells
    return {"low": axis.low, "pitch": axis.pitch, "cells": cells, "values": axis.values, "categories": axis.categories}


def _bandwidths(sketch: Histogram) -> list[Bandwidth | None]:
    """What the grid may be read with; None for its own kernel where it has no bandwidth to choose."""
    if not isinstance(sketch.kernel, Stationary) or len(sketch.bandwidths) < 2:
        return [None]
    own = sketch.kernel.bandwidth
    return [
        tuple(float(f"{one * factor:.4g}") for one in own) if isinstance(own, tuple) else float(f"{own * factor:.4g}")
        for factor in sketch.bandwidths
    ]


def _reading(release: Release, bandwidth: Bandwidth | None) -> dict[str, Any] | None:
    """One bandwidth in words and as factors of the axes; None where the grid cannot be read so, axis by axis."""
    try:
        read = release if bandwidth is None else release.smoothed(bandwidth)
    except RequestError:
        return None
    sketch = cast(Histogram, read.sketch)
    smoothing = sketch.smoothing
    kernels = smoothing.kernels
    if kernels is None or len(kernels) > MOST_TERMS or not all(is_product_of_columns(one) for _, one in kernels):
        return None
    coordinates = [(axis.coordinate, axis.categories) for axis in sketch.axes]
    return {
        "bandwidth": bandwidth,
        "words": "" if bandwidth is None else _in_words(read, bandwidth),
        "terms": [[weight, [_factors(kernel, *place) for place in coordinates]] for weight, kernel in kernels],
        "discretisation": smoothing.discretisation if len(kernels) > 1 else 0.0,
        "length": 1.0 if bandwidth is None else _length(bandwidth),
    }


def _in_words(release: Release, bandwidth: Bandwidth) -> str:
    if isinstance(bandwidth, tuple):
        return ", ".join(number(one) for one in bandwidth)
    return closely(release.domain, bandwidth)


def _factors(kernel: Kernel, coordinate: int, categories: int) -> list[list[Any]]:
    """What a product is along one axis: "g" for exp(-(d/s)²/2) and "l" for exp(-d/s), each with its s.

    Two categories differ in two coordinates by the same amount: the distance counts √2 and 2 times.
    """
    if isinstance(kernel, Product):
        return [factor for part in kernel.parts for factor in _factors(part, coordinate, categories)]
    one = stationary(kernel)
    bandwidth = one.bandwidth[coordinate] if isinstance(one.bandwidth, tuple) else one.bandwidth
    if isinstance(one, Gaussian):
        return [["g", bandwidth / math.sqrt(one.power * (2.0 if categories else 1.0))]]
    return [["l", bandwidth / (one.power * (2.0 if categories else 1.0))]]


def _length(bandwidth: Bandwidth) -> float:
    return float(np.exp(np.mean(np.log(bandwidth))))
