"""A forecast in the words and units that suit the question."""

from dataclasses import replace

import pytest

from core.domain import Domain, Numeric
from core.forecast.draft import DENSITY, DISTANCE, GROUP, Draft
from core.forecast.forecast import forecast
from core.forecast.words import distance_unit, forecast_sentence, summary
from core.forecast.words import typical_answer as typical
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.sketches.distances.distance import Distance
from core.sketches.grids.histogram import Histogram
from core.words.numbers import percent

KM = Domain((Numeric("east", 0, 20, "km"), Numeric("north", 0, 16, "km")))


def draft(question, norm=None, label=None):
    return Draft(KM, 7, question, norm, label, Budget(1), kernel=Gaussian(1.0))


@pytest.mark.parametrize(
    ("domain", "norm", "unit"),
    [
        (KM, "l1", "km"),
        (KM, "l2", "km"),
        (KM, "squared", "km²"),
        (replace(KM, scale="box"), "l1", "ranges"),
        (replace(KM, scale="box"), "squared", "squared ranges"),
        (Domain.of(x=(0, 1)), "l1", ""),
        (Domain((Numeric("a", 0, 1, "m"), Numeric("b", 0, 1, "s"))), "l1", ""),
    ],
)
def test_the_unit_of_a_distance_is_that_of_its_columns(domain, norm, unit):
    assert distance_unit(domain, norm) == unit


def test_distances_are_told_as_averages_in_their_unit():
    seen = forecast(Distance(KM), Budget(1), 10_000)
    answer = typical(draft(DISTANCE, "l1"), seen)
    assert answer.value == seen.density and answer.error == seen.standard_error / seen.records
    assert answer.text.endswith(" km") and " ± " in answer.text and answer.name == "average distance (km)"
    assert summary(draft(DISTANCE, "l1"), seen).startswith("The average distance from a typical place will be ")
    assert "looks empty" not in forecast_sentence(draft(DISTANCE, "l1"), seen)
    assert "of a group" in forecast_sentence(draft(GROUP, "l1", "kind"), seen)


def test_closeness_is_told_as_how_many_are_near():
    seen = forecast(Histogram(KM, Gaussian(1.0)), Budget(1), 10_000)
    answer = typical(draft(DENSITY), seen)
    assert answer.value == seen.estimate and answer.unit == "people"
    assert "looks empty" in forecast_sentence(draft(DENSITY), seen)
    assert "in one group" in summary(draft(GROUP, label="kind"), seen)


def test_numbers_are_short():
    assert [percent(share) for share in (0.0312, 1.2345, 21.53, 0.00033)] == ["3.1%", "120%", "22 times", "0.033%"]
