"""Kernel sums of 241,000 colours: exact ones by scikit-learn and KDEpy beside those of a released sketch.

The exact sums need the records for every question; a release needs its table alone, which does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import numpy as np
from KDEpy import NaiveKDE, TreeKDE
from sklearn.neighbors import KernelDensity

from core.domain import Domain
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.histogram import Histogram

from .measuring import Comparison, Rival, Settings
from .race_reference import RECORDS, colours
from .timing import in_turn

BANDWIDTH, EPSILON = 20.0, 1
HEIGHT = (2.0 * np.pi) ** 1.5 * BANDWIDTH**3
"""From a normalised density back to the mean of the kernel, whose largest value is 1."""
NAMES = tuple("BGR")


def run(settings: Settings) -> Iterator[Comparison]:
    """A Gaussian kernel; the release is a histogram of the size that the forecast chooses."""
    records, asked = settings.size(RECORDS, 10_000), settings.size(200, 100)
    data = colours(records)
    queries = np.asfortranarray(np.random.default_rng(1).permutation(data)[:asked])
    domain = Domain.of(**{name: (0, 255) for name in NAMES})
    made = release(
        Histogram(domain, Gaussian(BANDWIDTH)), data, Budget(EPSILON), records=records, noise_source=SeededSource(1)
    )
    neighbours = KernelDensity(kernel="gaussian", bandwidth=BANDWIDTH).fit(data)
    naive = NaiveKDE(kernel="gaussian", bw=BANDWIDTH).fit(np.ascontiguousarray(data))
    tree = TreeKDE(kernel="gaussian", bw=BANDWIDTH).fit(np.ascontiguousarray(data))
    points = np.ascontiguousarray(queries)
    exact = records * HEIGHT * np.exp(neighbours.score_samples(queries))
    if not np.allclose(exact, records * HEIGHT * naive.evaluate(points)):
        raise RuntimeError("scikit-learn and KDEpy must agree, or their times mean nothing.")

    library, other = f"scikit-learn {version('scikit-learn')} KernelDensity", f"KDEpy {version('KDEpy')}"
    ways = {
        "Frostglass": lambda: made.estimate(queries),
        library: lambda: neighbours.score_samples(queries),
        f"{other} NaiveKDE": lambda: naive.evaluate(points),
        f"{other} TreeKDE": lambda: tree.evaluate(points),
    }
    seconds = in_turn(ways, settings.repeats(3))
    error = float(np.mean(np.abs(made.estimate(queries) / exact - 1.0)))
    yield Comparison(
        f"{asked} Gaussian kernel sums of {records:,} × 3, bandwidth {BANDWIDTH:g}, ε = {EPSILON}",
        seconds.pop("Frostglass"),
        rivals=tuple(Rival(*pair) for pair in seconds.items()),
        pieces=asked,
        piece="question",
        facts={"% mean relative error of the private answers": 100.0 * error},
    )
