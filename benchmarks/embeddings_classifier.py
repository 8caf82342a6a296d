"""A private nearest-mean classifier of embeddings (ICLR 2024 paper, section 11.3) against reading them once.

50,000 made-up embeddings of 6144 numbers in ten classes, as many and as long as those of the paper's CIFAR-10 network,
of length 1, which is public. What is timed is everything from vectors in memory to the released sums of every class.
The paper says that this takes three orders of magnitude less time than the training it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from core.analysis.classification import classify
from core.domain import Categorical, Domain, Vector
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.classes import Classes
from core.sketches.moments import Moments
from core.sources import open_source

from .measuring import Comparison, Rival, Settings, Target
from .timing import in_turn

CLASSES = tuple("0123456789")
BUDGET = Budget(1, "1e-6")


def embeddings(records: int, dimensions: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1 about ten directions, float32 (n, d), and their classes."""
    random = np.random.default_rng([7, seed])
    directions = np.random.default_rng(7).standard_normal((len(CLASSES), dimensions), np.float32)
    labels = random.integers(0, len(CLASSES), records)
    vectors = random.standard_normal((records, dimensions), np.float32)
    vectors *= np.float32(3.0)
    vectors += directions[labels]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, labels


def run(settings: Settings) -> Iterator[Comparison]:
    """Building from memory, then classifying 10,000 more."""
    dimensions = settings.size(6144, 256)
    vectors, labels = embeddings(settings.size(50_000, 2_000), dimensions, 1)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimensions)
    source = open_source(pa.table({"vector": lists, "label": [CLASSES[label] for label in labels]}))
    domain = Domain((Vector("vector", dimensions, -1.0, 1.0), Categorical("label", CLASSES)))
    sketch = Classes(domain, "label", Moments(domain.without("label"), 1.0).for_mean())
    made = release(sketch, source, BUDGET, noise_source=SeededSource(1))

    ways = {
        "Frostglass": lambda: release(sketch, source, BUDGET, noise_source=SeededSource(1)),
        "reading the array once (its sum)": lambda: vectors.sum(),
    }
    seconds = in_turn(ways, settings.repeats(5))
    limits = tuple(Rival(*pair) for pair in list(seconds.items())[1:])
    work = f"release the means of {len(vectors):,} × {dimensions:,} in ten classes, ({BUDGET.epsilon}, 1e-6)"
    built = Comparison(work, seconds["Frostglass"], limits=limits)
    slower = Target("times as long as reading the array", 1.0 / built.ratio(limits[0]), 3.0)
    yield replace(built, targets=(slower,))

    asked, truth = embeddings(settings.size(10_000, 500), dimensions, 2)
    seconds = in_turn({"Frostglass": lambda: classify(made, asked, "mean")}, settings.repeats(7))["Frostglass"]
    right = float(np.mean(classify(made, asked, "mean").codes == truth))
    yield Comparison(
        f"classify {len(asked):,} × {dimensions:,}, and say how sure each is",
        seconds,
        targets=(Target("ms", 1e3 * float(np.median(seconds)), 100.0),),
        pieces=len(asked),
        piece="question",
        facts={"% classified as they were made": 100.0 * right},
    )
