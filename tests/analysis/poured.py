"""Releases of encoded points with seeded noise, and exact kernel sums the slow way."""

from __future__ import annotations

import numpy as np

from core.domain import Domain
from core.geometry.kernels import Kernel
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.release import Release
from core.releases.seal import seal
from core.sketches.race import Race

NUMBERS = {name: (0.0, 1.0) for name in "abcdefgh"}


def box_of(dimensions: int) -> Domain:
    """Columns a, b, ... of numbers between 0 and 1."""
    return Domain.of(**{name: NUMBERS[name] for name in list(NUMBERS)[:dimensions]})


def poured(
    domain: Domain,
    kernel: Kernel,
    points: np.ndarray,
    *,
    epsilon: float = 1,
    delta: float = 0,
    rows: int = 1000,
    width: int = 1000,
    groups: int = 8,
    seed: int = 1,
) -> Release:
    """A release of encoded points, (n, dimensions); hashes and noise follow from the seed."""
    sketch = Race(domain, kernel, rows=rows, width=width, groups=groups, seed=seed)
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(points))
    return seal(sketch, ExactTable(table, len(points)), Budget(epsilon, delta), noise_source=SeededSource(seed))


def clusters(centres: list, n: int, deviation: float = 0.05, seed: int = 0, shares=None) -> np.ndarray:
    """Normal clusters inside the unit box, float64 (n, dimensions)."""
    random = np.random.default_rng(seed)
    centres = np.array(centres, dtype=np.float64)
    chosen = centres[random.choice(len(centres), size=n, p=shares)]
    return np.clip(chosen + deviation * random.standard_normal(chosen.shape), 0.0, 1.0)


def exact_sums(release: Release, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Kernel sums of encoded points at encoded queries, a block of queries at a time."""
    kernel = release.sketch.kernel
    return np.concatenate(
        [kernel.evaluate(block, points).sum(axis=1) for block in np.array_split(queries, 1 + len(queries) // 500)]
    )
