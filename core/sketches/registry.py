"""The mechanisms that a release file may name."""

from __future__ import annotations

from ..domain import Domain
from ..errors import RequestError
from ..rivals.distances.asked_distances import AskedDistances
from ..rivals.distances.counts_and_sums import CountsAndSums
from ..rivals.distances.interval_tree import IntervalTree
from ..rivals.grids.flat_histogram import FlatHistogram
from ..rivals.grids.hierarchy import HierarchicalHistogram
from ..rivals.grids.marginals import Marginals
from ..rivals.grids.multiplicative_weights import MultiplicativeWeights
from ..rivals.interpolation.bernstein import Bernstein
from ..rivals.interpolation.mean_embedding import MeanEmbedding
from ..rivals.networks.bayesian_network import BayesianNetwork
from ..rivals.networks.spanning_tree import SpanningTree
from ..rivals.series.exponential_sum import ExponentialSum
from ..rivals.series.fourier_series import FourierSeries
from ..rivals.series.functional_noise import FunctionalNoise
from ..rivals.series.trigonometric import Trigonometric
from .classes import Classes
from .directions import Directions
from .distance import Distance
from .features import Features
from .histogram import Histogram
from .linear import LinearSketch
from .minhash import MinHash
from .moments import Moments
from .projected import Projected
from .projected_distance import ProjectedDistance
from .race import Race

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
