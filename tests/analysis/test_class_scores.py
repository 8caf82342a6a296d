"""Means read off released moments."""

import numpy as np
import pytest

from core.analysis.centres import means
from core.domain import Categorical, Domain, Numeric
from core.errors import RequestError
from core.geometry.kernels import Euclidean
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.classes import Classes
from core.sketches.moments import Moments
from core.sketches.race import Race
from tests.depth import draws

NUMBERS = Domain.of(age=(0, 100), pay=(0, 1000), scale="box")
LABELLED = Domain((*NUMBERS.columns, Categorical("kind", ("a", "b"))), scale="box")
RANDOM = np.random.default_rng(2)
ROWS = np.column_stack([RANDOM.uniform(20, 60, 3000), RANDOM.uniform(100, 400, 3000)])


def released(sketch, points, budget, seed=1, counts=None):
    table = sketch.zeros()
    sketch.add(table, points)
    counts = sketch.count(points) if counts is None else counts
    return seal(sketch, ExactTable(table, counts), budget, noise_source=SeededSource(seed))


def test_a_mean_is_that_of_the_records_in_their_own_units():
    points = NUMBERS.encode_queries(ROWS)
    found = means(released(Moments(NUMBERS).for_mean(), points, Budget(100)))
    assert found.classes == ()
    assert found.natural.loc[0].to_numpy(dtype=float) == pytest.approx(ROWS.mean(axis=0), rel=1e-3)


def test_every_class_has_its_own():
    points = np.zeros((3000, 4))
    points[:, :2] = NUMBERS.encode_queries(ROWS)
    kind = (ROWS[:, 0] > 40).astype(int)
    points[np.arange(3000), 2 + kind] = LABELLED.amplitude("l2")
    sketch = Classes(LABELLED, "kind", Moments(LABELLED.without("kind")).for_mean())
    found = means(released(sketch, np.asfortranarray(points), Budget(100)))
    assert found.classes == ("a", "b")
    for code in range(2):
        own = ROWS[kind == code].mean(axis=0)
        assert found.natural.loc[code].to_numpy(dtype=float) == pytest.approx(own, rel=2e-3)


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_standard_errors_are_those_of_the_means(delta):
    """400 releases: a standard deviation within 25%, five of its own at the kurtosis of Laplace noise; of 160, 45%."""
    points = NUMBERS.encode_queries(ROWS)
    sketch = Moments(NUMBERS).for_mean()
    drawn = [means(released(sketch, points, Budget(1, delta), seed)) for seed in range(draws(160, 400))]
    spread = np.std([each.points[0] for each in drawn], axis=0)
    assert spread == pytest.approx(np.mean([each.standard_error[0] for each in drawn], axis=0), rel=draws(45, 25) / 100)


def test_other_mechanisms_tell_no_mean():
    domain = Domain((Numeric("x", 0, 1),))
    sketch = Race(domain, Euclidean(1.0), rows=8)
    with pytest.raises(RequestError, match="race"):
        means(released(sketch, np.asfortranarray([[0.5]]), Budget(1)))
