"""Compiling every hot loop before the first person waits for it: `python -m core.warming`.

Numba compiles a loop when it is first called and keeps the result on disk, beside the code or, where that cannot be
written to, in the user's cache folder. On a fresh machine all of it takes half a minute of one processor, which belongs
to setting up (`make app` does it) and not to the first release. Afterwards a loop is read from disk in milliseconds;
the app does that beside its first visit, and compiles what is missing, in the order in which pages may need it.

Every step makes a release of a few made-up records and asks it something, as compiled code depends on the types that
it meets on the way. Nothing of that leaves this module.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import perf_counter

import numpy as np

from .domain import Domain
from .domain.columns import Categorical, Items, Vector
from .geometry.kernels import Angular, Euclidean, Gaussian, Jaccard, Laplacian, Product
from .geometry.projections.dense import GaussianProjection
from .geometry.projections.fast import FastProjection
from .privacy.budget import Budget
from .privacy.noise import noise
from .releases.file import LARGE
from .releases.job import release
from .releases.release import Release, load
from .sketches.classes import Classes
from .sketches.distances.directions import Directions
from .sketches.distances.distance import Distance
from .sketches.distances.moments import Moments
from .sketches.distances.projected_distance import ProjectedDistance
from .sketches.distances.row_products import row_products
from .sketches.grids.histogram import Histogram
from .sketches.hashed.features import Features
from .sketches.hashed.minhash import MinHash
from .sketches.hashed.race import Race
from .sketches.linear import LinearSketch
from .sketches.projected import Projected
from .sketches.published.distances.asked_distances import AskedDistances
from .sketches.published.distances.counts_and_sums import CountsAndSums
from .sketches.published.distances.interval_tree import IntervalTree
from .sketches.published.grids.marginals import Marginals
from .sketches.published.grids.multiplicative_weights import MultiplicativeWeights
from .sketches.published.interpolation.bernstein import Bernstein
from .sketches.published.interpolation.mean_embedding import MeanEmbedding
from .sketches.published.series.fourier_series import FourierSeries
from .sketches.published.series.trigonometric import Trigonometric
from .tasks.classes.classification import classify

GROUPS = Categorical("group", ("a", "b"))
PLANE = Domain.of(x=(0, 1), y=(0, 1))
GROUPED = Domain((*PLANE.columns, GROUPS))
LENGTH = 80
"""Of vectors: long enough to be added as they lie in memory."""
LONG = Domain((Vector("v", LENGTH, 0, 1), GROUPS))
BUDGET = Budget(1)
FEW = {"rows": 4, "groups": 2, "seed": 0}


def _released(sketch: LinearSketch, records: dict, large: int = LARGE) -> Release:
    """A release of the records, written and opened again, as whoever explores it has it."""
    made = release(sketch.sized_for(BUDGET, 8.0), records, BUDGET)
    return load(made.to_bytes(large=large))


def _ask(sketch: LinearSketch, records: dict) -> None:
    """As an ordinary release and, where there is such a thing, as a large one."""
    queries = {name: records[name] for name in sketch.query_domain.names}
    for large in (LARGE, 0) if sketch.reads_mapped else (LARGE,):
        _released(sketch, records, large).answer(queries)


def _plane() -> dict:
    return {"x": [0.1, 0.5, 0.9, 0.2], "y": [0.3, 0.3, 0.7, 0.1], "group": ["a", "b", "a", "b"]}


def _vectors(kind: type) -> dict:
    return {"v": np.linspace(0, 1, 4 * LENGTH).reshape(4, LENGTH).astype(kind), "group": ["a", "b", "a", "b"]}


def _closeness() -> None:
    _ask(Race(PLANE, Euclidean(1.0), **FEW), _plane())
    _ask(Histogram(PLANE, Laplacian(1.0), (4, 4)), _plane())


def _classes() -> None:
    classes = Classes(GROUPED, "group", Race(PLANE, Euclidean(1.0), **FEW))
    classify(_released(classes, _plane()), {"x": [0.1], "y": [0.2]})


def _features() -> None:
    for transform in ("dense", "fast"):
        _ask(Features(PLANE, Gaussian(1.0), transform=transform, **FEW), _plane())


def _distances() -> None:
    _ask(Distance(PLANE), _plane())


def _means() -> None:
    _ask(Moments(PLANE), _plane())
    _ask(Directions(PLANE, pole=(1.0, 0.0)), _plane())
    for kind in (np.float32, np.float64):
        for inner in (Moments, Directions):
            _released(Classes(LONG, "group", inner(LONG.without("group"))), _vectors(kind))
        row_products(np.zeros((1, LENGTH), kind), np.zeros(LENGTH), np.zeros((1, LENGTH)))


def _projections() -> None:
    domain, records = LONG.without("group"), _vectors(np.float32)
    _ask(Projected.of(domain, Euclidean(1.0), Race, 8, radius=9.0, **FEW), records)
    _ask(Directions(domain, projection=FastProjection(LENGTH, 4, 0)), records)
    _ask(Directions(domain, projection=GaussianProjection(LENGTH, 4, 0)), records)
    _ask(ProjectedDistance(domain, seed=0), records)


def _sets() -> None:
    baskets = Domain((Items("basket"),))
    for scheme in ("classic", "one-permutation"):
        sketch = MinHash(baskets, width=8, scheme=scheme, **FEW)
        _ask(sketch, {"basket": [["salt", "oil"], ["salt"], ["oil", "rice", "tea"]]})
    some, numbers = baskets.encode_queries([["salt"], ["oil"]]), baskets.encode_queries([[1.5, 2.0]])
    Jaccard().evaluate(numbers, some[np.array([1])])
    sketch.exact(numbers, some)


def _rivals() -> None:
    for sketch in (IntervalTree(PLANE), CountsAndSums(PLANE), Marginals(PLANE, "l2", (2, 2), ((0, 1),))):
        _ask(sketch, _plane())
    _ask(FourierSeries(PLANE, Gaussian(1.0), 2), _plane())
    _ask(Trigonometric(PLANE, Gaussian(1.0), 2, "none"), _plane())
    _ask(Bernstein(PLANE, Product((Gaussian(1.0), Angular())), 2), _plane())
    _ask(MeanEmbedding(GROUPED, Gaussian(1.0), 8, seed=0), _plane())
    _ask(MultiplicativeWeights(PLANE, Gaussian(1.0), (2, 2), 4, 0, (0, 1)), _plane())
    _ask(AskedDistances(PLANE, ((0, 64), (0, 64))), _plane())


STEPS: dict[str, Callable[[], None]] = {
    "closeness": _closeness,
    "noise": noise.warm,
    "classes": _classes,
    "distances": _distances,
    "random features": _features,
    "means": _means,
    "projections": _projections,
    "sets": _sets,
    "published rivals": _rivals,
}
"""In the order in which they are likely to be needed."""


def warm(steps: dict[str, Callable[[], None]] = STEPS) -> dict[str, float]:
    """Compile all loops, or load what an earlier run compiled; the seconds that each step took."""
    seconds = {}
    for name, step in steps.items():
        start = perf_counter()
        step()
        seconds[name] = perf_counter() - start
    return seconds


def warm_in_background() -> threading.Thread:
    """Start `warm` beside whatever else goes on; call it once a process."""
    thread = threading.Thread(target=warm, name="warm compiled loops", daemon=True)
    thread.start()
    return thread


def main() -> None:
    """Say what is compiled, and how long it took."""
    print("Compiling, once for this version and machine; this takes half a minute or more.", file=sys.stderr)
    for name, seconds in warm().items():
        print(f"{seconds:6.1f} s  {name}", file=sys.stderr)


if __name__ == "__main__":
    main()
