"""Forecasts of sketches of sets, on made-up sets, against what other sets then gave."""

import numpy as np
import pytest

from core.domain import Domain, Items
from core.domain.item_sets import Sets
from core.errors import RequestError
from core.geometry.kernels import Jaccard
from core.privacy.budget import Budget
from core.releases.forecast.forecast import forecast
from core.releases.forecast.reference_population import reference_sets
from core.releases.forecast.sketch_sizes import choose_size, sized_rows
from core.sketches.minhash import MinHash
from tests.depth import deep

SETS = Domain((Items("tags"),))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "records, density, size", [deep(5_000, 0.004, 8.0), deep(5_000, 0.02, 20.0), (1_500, 0.01, None)]
)
def test_forecasts_of_sets_come_near_what_sets_of_another_shape_give(records, density, size):
    """Sets of sizes and popularities that are no powers: the forecast knows their number, mean size and similarity.

    With 300 queries and 100 rows the measured error varies by some per cent; the bounds are for the shape, 2 to 1.
    """
    random = np.random.default_rng(3)
    sizes = 1 + random.geometric(1.0 / (size or 12.0), records)
    sets = Sets.of_sizes(sizes, (3 * records * random.beta(0.35, 6.0, int(sizes.sum()))).astype(np.uint64))
    exact = Jaccard().sums(sets[:300], sets)
    measured = []
    for seed in range(12):
        sketch = MinHash(SETS, 100, 2_000, seed=seed)
        table = sketch.zeros()
        sketch.add(table, sets)
        estimates = sketch.answer(table, records, sets[:300], 0.0, 0.95).estimate
        measured.append(np.abs(estimates - exact) / exact)
    seen = forecast(sketch, Budget(100), records, float(exact.mean()) / records, set_size=size)
    sampling = seen.sampling_error / seen.estimate * np.sqrt(2 / np.pi)
    assert 0.5 < sampling / np.mean(measured) < 2.0
    assert seen.density == pytest.approx(exact.mean() / records)


@pytest.mark.thorough
def test_a_public_sample_of_sets_makes_the_forecast_sharp():
    random = np.random.default_rng(4)
    sets = Sets.of_sizes(np.full(3000, 6), (500 * random.random(18_000) ** 2).astype(np.uint64))
    sketch = MinHash(SETS, 100, 500, seed=1)
    table = sketch.zeros()
    sketch.add(table, sets[1000:])
    exact = Jaccard().sums(sets[:300], sets[1000:])
    error = np.sqrt(np.mean((sketch.answer(table, 2000, sets[:300], 0.0, 0.95).estimate - exact) ** 2))
    seen = forecast(sketch, Budget(100), 2000, sample=sets[:1000])
    assert seen.sampling_error == pytest.approx(error, rel=0.35)
    with pytest.raises(RequestError, match="200 sets"):
        forecast(sketch, Budget(1), 2000, sample=sets[:100])


@pytest.mark.deep
def test_rows_of_sets_are_chosen_and_more_noise_wants_fewer():
    rows = [sized_rows(MinHash(SETS), Budget(epsilon), 5_000, 0.004).rows for epsilon in (1, 100)]
    assert rows[0] < rows[1]
    pure, slack = (choose_size(MinHash(SETS), Budget(1, delta), 5_000, 0.05) for delta in (0, "1e-6"))
    assert slack.rows > 1.4 * pure.rows
    with pytest.raises(RequestError, match="items a set has"):
        forecast(MinHash(SETS, 50), Budget(1), 100, set_size=0.0)


@pytest.mark.deep
def test_made_up_sets_have_the_stated_similarity_and_size():
    sets = reference_sets(8_000, 0.005, 10.0)
    sums = Jaccard().sums(sets[:300], sets)
    assert len(sets) == 8_000 and sums.mean() / 8_000 == pytest.approx(0.005, rel=0.1)
    assert sets.sizes.mean() == pytest.approx(10.0, rel=0.1) and sets.sizes.min() >= 1
    assert (sets.elements == reference_sets(8_000, 0.005, 10.0).elements).all()
    assert len(reference_sets(1e12, 1e-9, 1e4)) >= 300  # as many as fit into memory, of a similarity that can be had
