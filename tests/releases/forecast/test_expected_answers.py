"""A forecast in the words and units that suit the question.

Errors along single columns, against noise on tables, and what is said of columns that drown.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.domain import Domain, Numeric
from core.formatting.numbers import percent
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.releases.forecast.draft import DENSITY, DISTANCE, GROUP, Draft
from core.releases.forecast.expected_answers import (
    column_errors,
    distance_unit,
    drowned_columns,
    forecast_sentence,
    summary,
)
from core.releases.forecast.expected_answers import typical_answer as typical
from core.releases.forecast.forecast import forecast
from core.sketches.distance import Distance
from core.sketches.histogram import Histogram
from core.sketches.moments import Moments
from core.sketches.plan import plan

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


@pytest.mark.thorough
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


WIDE = Domain.of(age=(0, 120), kind=["a", "b", "c"], pay=(0, 200_000))


@pytest.mark.thorough
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


@pytest.mark.thorough
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
