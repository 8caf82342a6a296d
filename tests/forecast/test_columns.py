"""Errors along single columns, against noise on tables, and what is said of columns that drown."""

from dataclasses import replace

import numpy as np
import pytest

from core.domain import Domain
from core.forecast.columns import column_errors, drowned_columns
from core.privacy.budget import Budget
from core.sketches.distances.distance import Distance
from core.sketches.distances.moments import Moments
from core.sketches.plan import plan

WIDE = Domain.of(age=(0, 120), kind=["a", "b", "c"], pay=(0, 200_000))


@pytest.mark.parametrize("scale", ["none", "box"])
def test_errors_along_columns_are_those_of_noisy_answers_there(scale):
    """Over 300 draws of the noise and 20 places; a share strays by 10% of itself less often than once in a million."""
    domain = replace(WIDE, scale=scale)
    sketch = Distance(domain).sized_for(Budget(1), 1000)
    noise, random = plan(sketch, Budget(1)).noise, np.random.default_rng(0)
    told = column_errors(sketch, noise, 1000)
    low, high = domain.bounds("l1")
    places = low + (high - low) * random.random((20, len(low)))
    tables = random.normal(0, noise.variance**0.5, (300, *sketch.shape))
    for name, block, rows in zip(told, sketch.blocks, sketch._parts, strict=True):
        answers = np.array([block.read(table[rows], places).estimates for table in tables])
        assert told[name] == pytest.approx(answers.std() / 1000 / block.longest, rel=0.25)


def test_columns_that_a_wide_one_drowns_are_named_and_others_are_not():
    def said(domain: Domain, records: float) -> str:
        sketch = Distance(domain).sized_for(Budget(1), records)
        return drowned_columns(column_errors(sketch, plan(sketch, Budget(1)).noise, records))

    assert "'kind'" in said(WIDE, 300) and "'pay'" in said(WIDE, 300)
    assert said(replace(WIDE, scale="box"), 300) == ""
    assert said(WIDE, 1e7) == ""
    assert said(Domain.of(age=(0, 120)), 300) == ""
    moments = Moments(Domain.of(x=(0, 1), y=(0, 9))).sized_for(Budget(1), 300)
    assert column_errors(moments, plan(moments, Budget(1)).noise, 300) == {}
