"""What a release with noise for whole vectors states, in its record and its file, and which records contradict it."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from core.domain import Domain
from core.errors import RequestError
from core.figures.label import privacy_label
from core.privacy.budget import Budget, Neighbours, PrivacyUnit, Sensitivity
from core.privacy.calibration import NoiseScale, calibrate_shares
from core.privacy.record import PrivacyRecord
from core.releases.engine.building import ExactTable
from core.releases.release import load
from core.releases.seal import seal
from core.sketches.moments import Moments
from core.sketches.plan import plan
from tests.releases_for_tests import manifest_in

TABLE = Sensitivity(160, 1600, block=16, blocks_l2=40)
COUNT = Sensitivity(1, 1, unit_shifts=True)


def record(table=TABLE, epsilon=1):
    """The record of one release of a table and a count of records."""
    noise, count_noise = calibrate_shares([(table, Fraction(9)), (COUNT, Fraction(1))], Fraction(epsilon))
    rho = Fraction(81, 200) + Fraction(1, 200)
    return PrivacyRecord(
        Decimal(epsilon),
        Decimal(0),
        Neighbours.ADD_REMOVE,
        PrivacyUnit(),
        (noise,),
        (count_noise,),
        rho * epsilon**2,
        Decimal(epsilon),
        Decimal(0),
    )


def test_a_record_with_noise_for_vectors_keeps_its_promise_and_round_trips():
    made = record()
    assert made.noise == (NoiseScale("rounded_l2", Fraction(400, 9), 16),)
    assert made.is_kept((TABLE,), (COUNT,))
    assert PrivacyRecord.from_dict(json.loads(json.dumps(made.to_dict()))) == made
    assert made.counter_variance == pytest.approx(17 * (400 / 9) ** 2 + 1 / 12)
    assert "Every vector of counters" in made.theorem and "number of records has discrete Laplace" in made.theorem
    assert "number of records" not in replace(made, count_noise=()).theorem


@pytest.mark.parametrize(
    "noise",
    [
        NoiseScale("rounded_l2", Fraction(399, 9), 16),
        NoiseScale("rounded_l2", Fraction(400, 9), 15),
        NoiseScale("rounded_l2", Fraction(10**9), 8),
        NoiseScale("discrete_laplace", Fraction(400, 9)),
        NoiseScale("discrete_gaussian", Fraction(10**9)),
    ],
)
def test_records_whose_noise_does_not_keep_the_promise(noise):
    assert not replace(record(), noise=(noise,)).is_kept((TABLE,), (COUNT,))


def test_records_with_noise_for_vectors_where_no_vectors_are_known():
    made = record()
    assert not made.is_kept((Sensitivity(160, 1600),), (COUNT,))
    assert not made.is_kept((replace(TABLE, blocks_l2=41),), (COUNT,))
    assert not replace(made, count_noise=(NoiseScale("rounded_l2", Fraction(10**6), 1),)).is_kept((TABLE,), (COUNT,))
    # More noise than the least is a promise kept, of either kind.
    assert replace(made, noise=(NoiseScale("discrete_laplace", Fraction(1600, 9)),)).is_kept((TABLE,), (COUNT,))


def test_merged_records():
    first, second = record(), record(epsilon=2)
    merged = first.merged(second)
    assert merged.noise == first.noise + second.noise
    assert merged.is_kept((TABLE,), (COUNT,))
    assert merged.theorem == first.theorem
    mixed = replace(merged, noise=(first.noise[0], NoiseScale("discrete_laplace", Fraction(1600, 9))))
    assert mixed.is_kept((TABLE,), (COUNT,))
    assert "Every vector" in mixed.theorem and "Every counter" in mixed.theorem
    assert PrivacyRecord.from_dict(mixed.to_dict()) == mixed


@pytest.mark.parametrize(
    "noise",
    [
        {"distribution": "rounded_l2", "parameter": "400/9"},
        {"distribution": "rounded_l2", "parameter": "400/9", "block": None},
        {"distribution": "rounded_l2", "parameter": "400/9", "block": "16"},
        {"distribution": "rounded_l2", "parameter": "400/9", "block": 16.0},
        {"distribution": "rounded_l2", "parameter": "400/9", "block": True},
        {"distribution": "rounded_l2", "parameter": "400/9", "block": -16},
        {"distribution": "rounded_l2", "parameter": "400/9", "block": 10**30},
        {"distribution": "rounded_l2", "parameter": "1" + "0" * 150, "block": 16},
        {"distribution": "rounded_l2", "parameter": "0", "block": 16},
        {"distribution": "discrete_laplace", "parameter": "400/9", "block": 16},
        ["rounded_l2", "400/9", 16],
    ],
)
def test_hostile_records(noise):
    with pytest.raises(RequestError, match="exact, finite numbers"):
        PrivacyRecord.from_dict({**record().to_dict(), "noise": [noise]})


@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_release_of_moments_from_budget_to_file_and_back(neighbours):
    """Sums of vectors of length one, whose noise under a pure promise is drawn for whole vectors."""
    domain = Domain.of(**{f"x{i}": (-1, 1) for i in range(20)}, scale="box")
    budget = Budget(1, 0, neighbours)
    sketch = Moments(domain, radius=1.0, centre=(0.0,) * 20).sized_for(budget, 1000)
    planned = plan(sketch, budget)
    assert planned.noise.distribution == "rounded_l2" and planned.noise.block == sketch.shape[-1]
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(np.full((30, 20), 0.1)))
    release = seal(sketch, ExactTable(table, 30), budget)
    data = release.to_bytes()
    loaded = load(data)
    assert loaded.privacy == release.privacy and np.array_equal(loaded.counters, release.counters)
    assert manifest_in(data)["privacy"]["noise"][0]["block"] == sketch.shape[-1]
    words = privacy_label(release)
    assert any(f"Every vector of {sketch.shape[-1]} counters" in sentence for sentence in words.noise)
    assert words.theorem == release.privacy.theorem


def test_a_record_states_the_rho_of_its_counts_too_and_the_sum_of_what_merged_releases_promise():
    """By a ρ of the table alone, or by the larger promise of two, who is in both of them was told too little."""
    made = record()
    of_table = Fraction(81, 200)
    assert made.is_kept((TABLE,), (COUNT,)) and not replace(made, rho=of_table).is_kept((TABLE,), (COUNT,))
    both = made.merged(replace(made, epsilon=Decimal(2), overlap_epsilon=Decimal(2)))
    assert (both.epsilon, both.overlap_epsilon) == (2, 3)
