"""A frequent and a rare class under a kernel much wider than they lie apart, for tests."""

from __future__ import annotations

import numpy as np
import pandas as pd

from core.domain import Categorical, Domain, Numeric
from core.geometry.kernels import Gaussian
from core.releases.engine.building import ExactTable
from core.releases.release import Release
from core.sketches.classes import Classes
from core.sketches.histogram import Histogram
from tests.analysis.labelled import sealed

PLACES = Domain((Numeric("x", -5.0, 8.0), Numeric("y", -5.0, 5.0)))
DOMAIN = Domain((*PLACES.columns, Categorical("kind", ("many", "few"))))


def wide_people(n: int, seed: int = 0) -> pd.DataFrame:
    """One in ten is of the rare class, three standard deviations away."""
    random = np.random.default_rng(seed)
    few = random.random(n) < 0.1
    x = random.standard_normal(n) + 3.0 * few
    return pd.DataFrame({"x": x, "y": random.standard_normal(n), "kind": np.where(few, "few", "many")})


def wide_release() -> Release:
    """At epsilon = 1, with noise from a seed."""
    sketch = Classes(DOMAIN, "kind", Histogram(PLACES, Gaussian(6.0), cells=(24, 24)))
    points = DOMAIN.encode_queries(wide_people(8000), sketch.metric)
    table = sketch.zeros()
    sketch.add(table, points)
    return sealed(sketch, ExactTable(table, sketch.count(points)))
