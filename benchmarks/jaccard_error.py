"""Figure 6 of the RACE paper: the error of Jaccard sums over Slashdot against epsilon, R = 2000, W = 100,000.

The truth is exact: every question's similarity to every node, added up. Errors are mean |answer - exact| / exact over
the questions, one for every draw of hashes and noise, all of them counted. Noise is seeded, as this is public data and
nothing here is a release. Beside the paper's pure promise stands one with delta = 1e-6, for the same epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from core.kernels import Jaccard
from core.privacy.budget import Budget
from core.privacy.noise import add_noise
from core.privacy.randomness import SeededSource
from core.releases import plan
from core.sketches.minhash import MinHash

from .graphs import LEVEL, NEIGHBOURS, asked_of, slashdot
from .measuring import ERROR, Comparison, Curve, Settings
from .minhash_graphs import ROWS, WIDTH
from .timing import seconds

EPSILONS = ("0.1", "0.3", "1", "3", "10")
DELTAS = ("0", "1e-6")
TITLE = "Jaccard sums, mean relative error"


def run(settings: Settings) -> Iterator[Comparison | Curve]:
    """The exact sums with their time, then a curve for each kind of promise and the error without noise."""
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
    draws = settings.repeats(3)
    found = {delta: {epsilon: [] for epsilon in EPSILONS} for delta in DELTAS}
    silent = []
    for seed in range(draws):
        sketch = MinHash(NEIGHBOURS, settings.size(ROWS, 200), width=settings.size(WIDTH, 1_000), seed=seed)
        table, noisy = sketch.zeros(), sketch.zeros()
        sketch.add(table, sets)
        silent.append(_error(sketch, table, len(sets), queries, exact))
        for delta in DELTAS:
            for epsilon in EPSILONS:
                add_noise(table, plan(sketch, Budget(epsilon, delta)).noise, SeededSource(seed), out=noisy)
                found[delta][epsilon].append(_error(sketch, noisy, len(sets), queries, exact))
    at = tuple(map(float, EPSILONS))
    for delta, line in (("0", "pure ε"), ("1e-6", "(ε, 1e-6)")):
        yield Curve(f"{TITLE}, {name}", "ε", at, tuple(map(tuple, found[delta].values())), line, ERROR)
    yield Curve(f"{TITLE}, {name}", "ε", at, (tuple(silent),) * len(at), "without noise", ERROR)


def _error(sketch: MinHash, table: np.ndarray, records: int, queries: object, exact: np.ndarray) -> float:
    """Mean relative error over the questions."""
    answers = sketch.answer(table, records, queries, 0.0, LEVEL)
    return float(np.mean(np.abs(answers.estimate / exact - 1.0)))
