"""Gradient steps over a permutation: how far a replaced record moves their end, and the same by a slow reference."""

import numpy as np
import pytest
from scipy.special import expit

from core import Budget
from core.errors import RequestError
from core.models import permutation_sgd
from core.models.permutation_sgd import BETA, ROUNDING, SCHEDULES, PermutationSGD, Walk
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.models.test_amp import PLANE, plane

REPLACED = Budget(5, "1e-4", "replace_one")


def walks(records: np.ndarray, apart: float, schedule: str, passes: int, batch: int) -> np.ndarray:
    method = PermutationSGD(PLANE, "kind", schedule=schedule, passes=passes, batch=batch)
    return Walk.of(method, len(records), apart).end(records)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("apart", [0.02, 0.5, 3.0])
def test_no_replaced_record_moves_the_end_further_than_allowed(schedule, apart):
    """Wherever it is in the order: among records of one kind, of both, and of none, one that says their opposite."""
    random, longest = np.random.default_rng(1), 0.0
    mixed = random.normal(size=(40, 3))
    mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
    same = np.tile([0.6, 0.8, 0.0], (40, 1))
    for records in (mixed, same, np.zeros((40, 3))):
        for place in (0, 7, 39):
            for passes, batch in ((1, 1), (3, 4), (5, 9)):
                other = records.copy()
                records[place], other[place] = [0.6, 0.8, 0.0], [-0.6, -0.8, 0.0]
                ends = [walks(one, apart, schedule, passes, batch) for one in (records, other)]
                longest = max(longest, float(np.linalg.norm(ends[0] - ends[1])))
    assert 0.3 * apart < longest <= apart - ROUNDING


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_steps_are_those_of_the_textbook(schedule):
    records = np.random.default_rng(2).normal(size=(23, 3)) / 4
    method = PermutationSGD(PLANE, "kind", schedule=schedule, passes=3, batch=5)
    walk, place, step = Walk.of(method, 23, 0.5), np.zeros(3), 0
    for _ in range(3):
        for batch in np.array_split(records, 4):
            step += 1
            ridge = walk.ridge
            rate = min(1 / (BETA + ridge), 1 / (ridge * step)) if schedule != "convex" else walk.rate
            place = place - rate * (ridge * place - (expit(-batch @ place)[:, None] * batch).mean(axis=0))
    assert walk.end(records) == pytest.approx(place, rel=1e-6) and np.abs(place).max() > 0.01


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_fit_predicts_with_noise_of_the_deviation_that_was_asked_for(schedule):
    task = PermutationSGD(PLANE, "kind", schedule=schedule, deviation=0.1)
    model = task.fit(open_source(plane(3_000)), REPLACED, noise_source=SeededSource(1))
    assert model.codes({"x": [-4.0, 4.0], "y": [8.0, 0.0]}).tolist() == [0, 1]
    deviation = float(task._planned(REPLACED).noise.variance) ** 0.5 / 2**20
    assert 0.099 < deviation < 0.101 and task.cost(REPLACED).delta == REPLACED.delta


def test_what_the_proof_is_not_about_is_refused():
    task = PermutationSGD(PLANE, "kind")
    with pytest.raises(RequestError, match="replaced records alone"):
        task.cost(Budget(5, "1e-4"))
    with pytest.raises(RequestError, match="delta above 0"):
        task.cost(Budget(5, 0, "replace_one"))
    with pytest.raises(RequestError, match="too small"):
        PermutationSGD(PLANE, "kind", deviation=0.001).cost(Budget("0.0001", "1e-9", "replace_one"))


def test_batches_whose_rounding_is_not_known_are_refused_before_paying(monkeypatch):
    paid: list[object] = []
    monkeypatch.setattr(permutation_sgd, "LARGEST_BATCH", 2)
    with pytest.raises(RequestError, match="With 10 passes at most 2,000 records"):
        PermutationSGD(PLANE, "kind").fit(open_source(plane(2_001)), REPLACED, spend=paid.append)
    assert not paid
