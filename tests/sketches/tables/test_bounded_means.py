"""Means of parts: as narrow as what is counted of all allows, and held by their bands."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Categorical, Domain, Numeric, release
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.tables.bounded_means import NoiseOfParts, Part
from core.sketches.tables.counts import places_of, weighted
from core.sketches.tables.ratios import _asked, _quotient_reaches
from core.sketches.tables.tables import Tables
from tests.depth import draws

DOMAIN = Domain(
    (Numeric("age", 18, 95, step=1), Numeric("bmi", 12, 60), Categorical("town", tuple("abc")), Numeric("other", 0, 1))
)


def health(n: int) -> pd.DataFrame:
    random = np.random.default_rng(1)
    age = np.clip(random.gamma(9, 5, n), 18, 95).round()
    bmi = np.clip(random.normal(22 + 0.06 * age, 4, n), 12, 60)
    return pd.DataFrame(
        {"age": age, "bmi": bmi, "town": random.choice(list("abc"), n, p=[0.6, 0.35, 0.05]), "other": random.random(n)}
    )


BUDGETS = {"pure": Budget(1), "delta": Budget(1, "1e-6")}


@pytest.fixture(scope="module")
def made():
    """Releases of the same people, each with noise of its own."""
    return {name: list(releases(budget, draws(6, 200))) for name, budget in BUDGETS.items()}


def releases(budget: Budget, runs: int):
    people = health(3000)
    sketch = release(Tables.of(DOMAIN), people, budget, records=3000, noise_source=SeededSource(0)).sketch
    table = sketch.zeros()
    sketch.add(table, DOMAIN.encode_queries(people))
    exact = ExactTable(table, np.array(len(people)))
    for seed in range(runs):
        yield seal(sketch, exact.copy(), budget, noise_source=SeededSource(seed))


@pytest.mark.thorough
@pytest.mark.parametrize("budget", BUDGETS)
def test_the_average_of_a_part_is_narrow_and_holds(budget, made):
    """AVG(bmi) WHERE age >= 40 had a band as wide as all that noise in empty cells allowed, and a whole cell more."""
    people = health(3000)
    parts = [({"age": (40, None)}, people.age >= 40), ({"town": "c"}, people.town == "c")]
    held, narrower = [], []
    for answers in (one.asked() for one in made[budget]):
        for where, inside in parts:
            found = answers.mean("bmi", where=where).iloc[0]
            exact = people.bmi[inside].mean()
            if np.isnan(found.estimate):
                continue
            held.append(found.low <= exact <= found.high)
            asked = _asked(answers.reading, "bmi", (), where)
            count = asked.count()
            mean = asked.total(asked.middles) / count
            reaches = _quotient_reaches(asked, mean, count, answers.reading.noise.reach(0.95))
            before = np.clip(mean + reaches[1] + 1.2, 12, 60) - np.clip(mean - reaches[0] - 1.2, 12, 60)
            narrower.append((found.high - found.low) / float(before))
            assert 12 <= found.low <= found.estimate <= found.high <= 60
    assert np.mean(held) > 0.95 - 6 * np.sqrt(0.05 * 0.95 / len(held))
    assert np.mean(narrower[::2]) < 0.55


def test_the_noise_of_a_part_beside_all_is_that_of_sums_of_counters(made):
    """Of the part alone, of all alone, and of a part that everybody is in, whose cells are those of all."""
    reading = made["pure"][0].asked().reading
    weights, every = np.random.default_rng(2).normal(size=(2, reading.layout.axes[1].cells))
    (town,) = places_of(reading.layout.axes, ["town"])
    cells = np.array([1.0, 0.0, 1.0])
    some, whole = (NoiseOfParts(reading, 1, {town: one}).at({}) for one in (cells, np.ones(3)))
    _, error = weighted(reading, (), {town: cells, 1: weights})
    assert some.variance(weights, 0 * every) == pytest.approx(float(error) ** 2)
    assert some.variance(0 * weights, every) == pytest.approx(float(whole.variance(0 * weights, every)))
    assert whole.variance(weights, every) == pytest.approx(float(whole.variance(0 * every, weights + every)))
    assert NoiseOfParts(reading, 1, {town: None}).at({town: 2}).variance(weights, every) == pytest.approx(
        float(NoiseOfParts(reading, 1, {town: np.eye(3)[2]}).at({}).variance(weights, every))
    )


def test_a_part_that_is_all_of_some_cells_is_bounded_by_them_without_noise():
    """Without noise every stretch of cells gives an end that no mean passes, and the whole gives the mean itself."""
    part = Part(
        np.arange(4.0), np.ones(4), np.array([0.0, 5, 5, 0]), np.array([9.0, 5, 5, 9]), np.full(4, 7.0), 0.3, 0.0
    )

    class Silent:
        @staticmethod
        def variance(kept, above):
            return np.zeros(len(kept))

    assert part.largest_mean(Silent(), 1.96) == pytest.approx(1.5)
    found, cost = part._ends(np.array([0, 0, 1]), np.array([4, 3, 4]), Silent(), 1.96)
    assert (found >= 1.5 - 1e-9).all()
    assert found[1] > 2.0
    assert cost[0] == 0.0
