"""Labelled people in a square, and releases of them with classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from core.domain import Categorical, Domain, Numeric
from core.geometry.kernels import Kernel, Laplacian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.release import Release
from core.releases.seal import seal
from core.sketches.classes import Classes
from core.sketches.race import Race

LABEL = Categorical("kind", ("calm", "wild"))
REST = Domain((Numeric("x", 0, 1), Numeric("y", 0, 1), Categorical("sex", ("f", "m"))))
DOMAIN = Domain((REST.columns[0], LABEL, *REST.columns[1:]))


def labelled(count: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Calm people to the left and wild ones, half as many, to the right; the corners at the top are empty."""
    random = np.random.default_rng(seed)
    wild = random.random(count) < 1 / 3
    x = np.clip(np.where(wild, 0.65, 0.35) + 0.12 * random.standard_normal(count), 0, 1)
    y = np.clip(0.35 + 0.1 * random.standard_normal(count), 0, 1)
    sex = random.choice(["f", "m"], count)
    return pd.DataFrame({"x": x, "y": y, "sex": sex, "kind": np.where(wild, "wild", "calm")})


def exact_classes(
    frame: pd.DataFrame, kernel: Kernel | None = None, rows: int = 200, width: int = 200, seed: int = 1
) -> tuple[Classes, ExactTable]:
    """A sketch with classes, and its table and counts before noise."""
    sketch = Classes(DOMAIN, "kind", Race(REST, kernel or Laplacian(0.15), rows=rows, width=width, groups=4, seed=seed))
    points = DOMAIN.encode_queries(frame, sketch.metric)
    table = sketch.zeros()
    sketch.add(table, points)
    return sketch, ExactTable(table, sketch.count(points))


def noiseless(release: Release, exact: ExactTable) -> Release:
    """The same release as if no noise had been drawn."""
    return replace(release, counters=exact.table, counted=None if release.counted is None else exact.records)


def sealed(sketch: Classes, exact: ExactTable, budget: Budget | None = None, seed: int = 1) -> Release:
    """A release whose noise follows from the seed."""
    return seal(sketch, exact.copy(), budget or Budget(1), noise_source=SeededSource(seed))
