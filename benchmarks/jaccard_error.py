"""Figure 6 of the RACE paper: the error of Jaccard sums over Slashdot against epsilon, R = 2000, W = 100,000.

The truth is exact: every question's similarity to every node, added up. Errors are mean |answer - exact| / exact over
the questions, one for every draw of hashes and noise, all of them counted. Noise is seeded, as this is public data and
nothing here is a release. Beside the paper's pure promise and R stand smaller R, and delta = 1e-6 for the same epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.geometry.kernels import Jaccard
from core.privacy.budget import Budget
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.sketches.minhash import MinHash
from core.sketches.plan import plan

from .graphs import LEVEL, NEIGHBOURS, asked_of, slashdot
from .measuring import ERROR, Comparison, Curve, Settings
from .minhash_graphs import ROWS, WIDTH
from .timing import seconds

EPSILONS = ("0.1", "0.3", "1", "3", "10")
LINES = ((20, "0"), (200, "0"), (ROWS, "0"), (ROWS, "1e-6"))
"""R and delta: the paper's R and two smaller ones under a pure promise, whose noise grows with R."""


def run(settings: Settings) -> Iterator[Comparison | Curve]:
    """The exact sums with their time, then a curve for each R and promise, and the error without noise."""
    name, sets = slashdot(settings)
    queries = asked_of(sets)
    kernel, exact = Jaccard(), np.empty(0)

    def truth() -> None:
        nonlocal exact
        exact = kernel.sums(queries, sets)

    yield Comparison(
        f"exact Jaccard sums of {len(queries):,} nodes over {name}",
        (seconds(truth),),
        pieces=len(queries),
        piece="question",
        facts={"is the median exact sum": float(np.median(exact))},
    )
    width = settings.size(WIDTH, 1_000)
    at = tuple(map(float, EPSILONS))
    title = f"Jaccard sums over {name}"
    draws = range(settings.repeats(3))
    for rows, delta in LINES:
        found: dict[str, list[float]] = {epsilon: [] for epsilon in ("", *EPSILONS)}
        for seed in draws:
            sketch = MinHash(NEIGHBOURS, rows, width=width, seed=seed)
            table, noisy = sketch.zeros(), sketch.zeros()
            sketch.add(table, sets)
            found[""].append(_error(sketch, table, len(sets), queries, exact))
            for epsilon in EPSILONS:
                add_noise(table, plan(sketch, Budget(epsilon, delta)).noise, SeededSource(seed), out=noisy)
                found[epsilon].append(_error(sketch, noisy, len(sets), queries, exact))
        silent = tuple(found.pop(""))
        promise = "(ε, 1e-6)" if delta != "0" else "pure ε"
        yield Curve(title, "ε", at, tuple(map(tuple, found.values())), f"{promise}, R = {rows:,}", ERROR)
    yield Curve(title, "ε", at, (silent,) * len(at), f"without noise, R = {rows:,}", ERROR)


def _error(sketch: MinHash, table: np.ndarray, records: int, queries: object, exact: np.ndarray) -> float:
    """Mean relative error over the questions."""
    answers = sketch.answer(table, records, queries, 0.0, LEVEL)
    return float(np.mean(np.abs(answers.estimate / exact - 1.0)))
