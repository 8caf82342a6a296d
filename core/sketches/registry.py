"""The mechanisms that a release file may name."""

from __future__ import annotations

from ..domain import Domain
from ..errors import RequestError
from .classes import Classes
from .distances.directions import Directions
from .distances.distance import Distance
from .distances.moments import Moments
from .distances.projected_distance import ProjectedDistance
from .grids.histogram import Histogram
from .hashed.features import Features
from .hashed.minhash import MinHash
from .hashed.race import Race
from .linear import LinearSketch
from .projected import Projected
from .published.distances.asked_distances import AskedDistances
from .published.distances.counts_and_sums import CountsAndSums
from .published.distances.interval_tree import IntervalTree
from .published.grids.flat_histogram import FlatHistogram
from .published.grids.hierarchy import HierarchicalHistogram
from .published.grids.marginals import Marginals
from .published.grids.multiplicative_weights import MultiplicativeWeights
from .published.interpolation.bernstein import Bernstein
from .published.interpolation.mean_embedding import MeanEmbedding
from .published.networks.bayesian_network import BayesianNetwork
from .published.networks.spanning_tree import SpanningTree
from .published.series.exponential_sum import ExponentialSum
from .published.series.fourier_series import FourierSeries
from .published.series.functional_noise import FunctionalNoise
from .published.series.trigonometric import Trigonometric

MECHANISMS: dict[str, type[LinearSketch]] = {
    sketch.name: sketch
    for sketch in (
        Race,
        MinHash,
        Features,
        Projected,
        Histogram,
        Moments,
        Distance,
        Directions,
        ProjectedDistance,
        Classes,
        ExponentialSum,
        IntervalTree,
        CountsAndSums,
        Bernstein,
        MeanEmbedding,
        Marginals,
        FlatHistogram,
        HierarchicalHistogram,
        MultiplicativeWeights,
        FourierSeries,
        Trigonometric,
        FunctionalNoise,
        BayesianNetwork,
        SpanningTree,
        AskedDistances,
    )
}
MAX_NESTING = 4
"""Sketches inside each other: classes of projected points of a sketch are two inside the first."""


def sketch_from_parameters(mechanism: object, domain: Domain, parameters: object) -> LinearSketch:
    """The sketch of a named mechanism, from what its `parameters` wrote down.

    Raises
    ------
    RequestError
        When no mechanism has that name or the parameters are not its own; they may come from a stranger's file.
    """
    _check_nesting(parameters)
    if not isinstance(mechanism, str) or mechanism not in MECHANISMS:
        raise RequestError(
            f"The mechanism is not one that this version knows ({', '.join(MECHANISMS)}); a newer one may."
        )
    return MECHANISMS[mechanism].from_parameters(domain, parameters)


def _check_nesting(parameters: object) -> None:
    """Refuse sketches inside sketches without end, before the first of them is made."""
    for _ in range(MAX_NESTING):
        inner = parameters.get("inner") if isinstance(parameters, dict) else None
        if not isinstance(inner, dict):
            return
        parameters = inner.get("parameters")
    raise RequestError(f"Sketches may lie inside each other at most {MAX_NESTING} deep.")
