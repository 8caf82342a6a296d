"""Tuned approximate minima perturbation: what it costs, what it chooses, and by which records."""

import numpy as np
import pytest

from core import Budget, Domain
from core.errors import RequestError
from core.models import amp as module
from core.models.amp import ApproximateMinima, TunedMinima, said
from core.privacy.budget import PrivacyUnit
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source
from tests.models.test_amp import PLANE, plane
from tests.models.test_descent import THREE, three

BUDGET = Budget(6, "1e-4")


def test_models_and_choice_cost_what_one_model_does_and_share_it():
    tuned, single = TunedMinima(PLANE, "kind"), ApproximateMinima(PLANE, "kind")
    assert tuned.cost(BUDGET) == single.cost(BUDGET)
    half = single.perturbed(Budget(3, "5e-5"))
    assert all(part.deviation == half.deviation for part in tuned._planned(BUDGET))
    assert [one.radius / tuned.radius for one in tuned.candidates] == [1, 0.5]


@pytest.mark.parametrize("case", [(PLANE, plane), (THREE, three)], ids=["two", "three"])
def test_the_model_that_gets_most_held_out_records_right_is_taken(case, monkeypatch):
    """By a choice that is told the scores; every record is on one side."""
    domain, made = case
    tuned, seen = TunedMinima(domain, "kind", radii=2), []

    def largest(right, plan, source):
        seen.append((right, plan))
        return int(np.argmax(right))

    monkeypatch.setattr(module, "choose", largest)
    units, codes = tuned.gather(open_source(made(400)), tuned.unit)
    budget = Budget(100, "1e-4")
    model = tuned._trained(units, codes, budget, tuned._planned(budget), SeededSource(3))
    ((right, plan),) = seen
    assert plan.epsilon == 100 and plan.one_way and plan.sensitivity == 1
    assert 25 < max(right) <= 75 and model.task.radius == tuned.candidates[int(np.argmax(right))].radius
    assert np.mean(said(model, units) == codes) > 0.8


def test_what_is_said_of_a_record_does_not_depend_on_those_beside_it():
    tuned = TunedMinima(THREE, "kind")
    units, codes = tuned.gather(open_source(three(60)), tuned.unit)
    model = tuned._trained(units, codes, BUDGET, tuned._planned(BUDGET), SeededSource(1))
    alone = [said(model, units[place : place + 1])[0] for place in range(60)]
    assert said(model, units).tolist() == alone


def test_persons_of_several_records_are_refused():
    domain = Domain(PLANE.columns, unit=PrivacyUnit("id", 3), missing="refuse")
    with pytest.raises(RequestError, match="one record only"):
        TunedMinima(domain, "kind")
