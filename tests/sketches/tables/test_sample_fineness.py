"""Cells for drawn records: fewer than for questions, by a forecast of what a model learns, more with less noise."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Categorical, Domain, Numeric, release
from core.analysis.synthetic_tables import synthetic_table
from core.privacy.noise.randomness import SeededSource
from core.sketches.tables.table_sizes import _population, bins_for_samples, learnt_error
from core.sketches.tables.tables import Tables

OFFERED = (4, 6, 8, 12, 16, 24, 32)


@pytest.mark.thorough
def test_the_less_noise_the_more_cells():
    found = [bins_for_samples(lambda bins, noise=noise: noise, 10_000, OFFERED) for noise in (0.0, 3.0, 30.0, 300.0)]
    assert found == sorted(found, reverse=True)
    assert found[0] == 32
    assert found[-1] <= 6


def test_the_made_up_population_has_the_correlation_it_says():
    for tied in (0.5, 0.9):
        _, weights, shares = _population(32, tied)
        middles = (np.arange(32) + 0.5) / 32 * 6 - 3
        spread = shares.sum(axis=1) @ middles**2
        assert weights.sum() == pytest.approx(1.0)
        assert middles @ shares @ middles / spread == pytest.approx(tied, abs=0.01)
        # Without noise what is left is that a cell has one mean: a third of its half width, of what the column tells.
        assert learnt_error(32, 0.0, 10_000, tied) == pytest.approx(tied**2 * (6 / 32) ** 2 / 12, rel=0.2)


@pytest.mark.deep
def test_samples_for_models_keep_how_columns_hang_together():
    """Default cells, as fine as questions want them, drew records whose price followed size by half as much."""
    random, n = np.random.default_rng(0), 5_000
    size = np.exp(random.normal(-0.4, 0.6, n)).clip(0.1, 6)
    rows = {"length": (6.5 * size ** (1 / 3) + random.normal(0, 0.05, n)).clip(0, 12), "size": size}
    rows |= {"depth": random.normal(60, 2, n).clip(40, 80), "cut": random.choice(list("abc"), n)}
    records = pd.DataFrame(rows | {"price": (3_000 * size**1.6 * np.exp(random.normal(0, 0.1, n))).clip(0, 20_000)})
    ends = {"length": (0, 12), "size": (0, 6), "depth": (40, 80), "price": (0, 20_000)}
    domain = Domain((*(Numeric(name, *end) for name, end in ends.items()), Categorical("cut", ("a", "b", "c"))))
    off = {}
    for purpose in ("questions", "samples"):
        sketch = Tables.of(domain, cut_for=purpose)
        made = release(sketch, records, Budget(1, "1e-6"), records=n, noise_source=SeededSource(3))
        assert made.sketch.cut_for == purpose
        drawn, _ = synthetic_table(made, 2_000, np.random.default_rng(1))
        difference = drawn[list(ends)].astype(float).corr() - records[list(ends)].corr()
        off[purpose] = float(difference.abs().to_numpy().max()), made.sketch.bins[0]
    assert off["samples"][0] < 0.6 * off["questions"][0]
    assert off["samples"][1] < off["questions"][1]
