"""Public data with the exact answers to some questions about it: the only data that errors are ever measured on.

It comes from the bundled samples or from a file that its user says is public. Private data is never compared: an error
against the truth, and a setting that was chosen by it, would tell about the records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import of_coordinates
from ..privacy.neighbours import EACH_RECORD
from ..releases.forecast.recommendation import Closeness, Distances
from ..sketches.registry import distance
from ..sources import open_source
from ..sources.samples import Sample

MOST_RECORDS = 50_000
QUERIES = 300
GRID_POINTS = 200  # Places of the even grid on which functions of one column are compared (CCS 2021, section 5.2).
# Queries whose exact sum is below this share of the average are left out: a relative error means little there.
OUTSKIRTS = 0.03
FEWEST_RECORDS = 50
BLOCK = 1 << 22  # Pairs of query and record whose closeness is in memory at once.


@dataclass(frozen=True, eq=False)
class PublicData:
    """Encoded public records, questions that were held out of them, and the exact answers."""

    title: str
    domain: Domain
    question: Closeness | Distances
    records: np.ndarray  # float64 (n, dimensions), in Fortran order.
    # float64 (m, dimensions) and the exact sums over the records, (m,).
    queries: np.ndarray
    truth: np.ndarray
    # Of one numeric column, evenly spread points (k, 1) and the exact sums there; else None.
    grid: np.ndarray | None
    grid_truth: np.ndarray | None
    left_out: int  # Held-out queries that were dropped as almost nobody is near them.

    @property
    def metric(self) -> str:
        """The metric in which the records are encoded."""
        return metric_of(self.question)


def metric_of(question: Closeness | Distances) -> str:
    if isinstance(question, Closeness):
        return question.kernel.metric
    return "l2" if question.norm in ("l2", "squared") else "l1"


def of_points(
    title: str,
    domain: Domain,
    question: Closeness | Distances,
    points: np.ndarray,
    *,
    records: int | None = MOST_RECORDS,
    queries: int = QUERIES,
    seed: int = 0,
    span: tuple[float, float] | None = None,
) -> PublicData:
    """Public data from encoded points: shuffled, some held out as queries, and the exact sums over the others.

    `points`: float64 (n, dimensions), encoded in the metric of the question. `records`: most that are kept; None keeps
    all. `queries`: most that are held out; a tenth of the points at most. `span`: Ends of the grid, in encoded units;
    the bounds when None.
    """
    if len(points) < FEWEST_RECORDS:
        raise RequestError(f"A comparison needs at least {FEWEST_RECORDS} public records, and there are {len(points)}.")
    domain = replace(domain, unit=EACH_RECORD)
    order = np.random.default_rng(seed).permutation(len(points))
    held_out = min(queries, len(points) // 10)
    last = None if records is None else held_out + records
    asked, kept = (np.asfortranarray(points[part]) for part in (order[:held_out], order[held_out:last]))
    truth = exact_sums(domain, question, asked, kept)
    inhabited = truth >= OUTSKIRTS * truth.mean()
    grid = _grid(domain, metric_of(question), span)
    return PublicData(
        title,
        domain,
        question,
        kept,
        np.asfortranarray(asked[inhabited]),
        truth[inhabited],
        grid,
        None if grid is None else exact_sums(domain, question, grid, kept),
        int((~inhabited).sum()),
    )


def from_sample(sample: Sample, question: Closeness | Distances | None = None, **how: Any) -> PublicData:
    """Public data from a bundled sample; without a question, its own kernel. See `of_points` for ``how``."""
    return from_file(sample.path, sample.domain, question or Closeness(sample.kernel), title=sample.title, **how)


def from_file(
    data: object, domain: Domain, question: Closeness | Distances, *, title: str = "Public data", **how: Any
) -> PublicData:
    """Public data from whatever `core.sources.open_source` opens; see `of_points` for ``how``.

    Every record counts by itself, also where the domain says that a person has several. RequestError when it cannot be
    read, holds sets, or has too few records.
    """
    domain.check_coordinates()
    domain = replace(domain, unit=EACH_RECORD)
    metric = metric_of(question)
    parts = [domain.encode(batch, metric) for batch in open_source(data).batches(domain)]
    points = np.concatenate(parts) if parts else np.empty((0, domain.dimensions))
    return of_points(title, domain, question, points, **how)


def exact_sums(domain: Domain, question: Closeness | Distances, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
    """The exact sums, float64 (m,), at encoded queries over encoded records, in blocks of records."""
    if isinstance(question, Closeness):
        kernel = of_coordinates(question.kernel, domain.widths)

        def sums_of(block: np.ndarray) -> np.ndarray:
            return kernel.evaluate(queries, block).sum(axis=1)
    else:
        sketch = distance(domain, question.norm, radius=question.radius, seed=0)

        def sums_of(block: np.ndarray) -> np.ndarray:
            return sketch.exact(queries, block)

    step = max(1, BLOCK // max(1, len(queries)))
    starts = range(0, len(records), step)
    return sum((sums_of(records[first : first + step]) for first in starts), np.zeros(len(queries)))


def _grid(domain: Domain, metric: str, span: tuple[float, float] | None) -> np.ndarray | None:
    if domain.dimensions != 1 or not domain.numeric_only:
        return None
    low, high = (float(end[0]) for end in domain.bounds(metric)) if span is None else span
    return np.linspace(low, high, GRID_POINTS)[:, None]
