"""What a forecast promises: one typical error, named and defined, and which cost limits the table."""

import numpy as np
import pytest

from core import Budget, Domain, kernels
from core.formatting.numbers import percent
from core.releases.forecast.draft import Draft
from core.releases.forecast.expected_answers import error_definition, size_limit, typical_answer
from core.releases.forecast.forecast import forecast
from core.releases.forecast.recommendation import Closeness, Distances, recommend
from core.sketches.histogram import Histogram
from core.sketches.plan import plan

LINE = Domain.of(x=(0, 100))


def test_the_typical_error_of_closeness_is_the_share_of_all_records_that_is_promised():
    seen = forecast(Histogram(LINE, kernels.Gaussian(5)), Budget(1), 10_000)
    words = error_definition(seen)
    assert seen.promised_error == seen.standard_error / 10_000
    assert words.startswith(f"Typical error: {percent(seen.promised_error)} of all records,")
    assert words.endswith(f"That is {percent(seen.standard_error / seen.estimate)} of a typical answer.")


def test_the_shares_that_are_said_are_those_of_the_figures_that_are_shown():
    """Averages of shares over crowded and empty places once stood beside the band at the mean."""
    sketch = Histogram(LINE, kernels.Gaussian(5))
    seen = forecast(sketch, Budget(1), 10_000)
    answer = typical_answer(Draft(LINE, 1), seen)
    said = float(error_definition(seen).split()[-5].removesuffix("%")) / 100
    assert answer.error / answer.value == pytest.approx(said, rel=0.05)


def test_the_typical_error_of_a_distance_is_said_in_its_unit_as_nobody_knows_how_far_records_lie():
    """As a share of the distance it was wrong by up to 7.5 times, of records that crowd at one end of their bounds."""
    seen = recommend(LINE, 10_000, Budget(1), Distances("l1"))[0].forecast
    said = error_definition(seen).removeprefix("Typical error: ").split()[0]
    assert float(said) == pytest.approx(seen.standard_error / 10_000, rel=0.06)
    assert "%" not in seen.error_words


@pytest.mark.thorough
def test_no_range_of_relative_errors_is_said_which_is_as_wide_as_a_factor_of_twenty():
    for question in (Closeness(kernels.Gaussian(5)), Distances("l1")):
        seen = recommend(LINE, 10_000, Budget(1), question)[0].forecast
        assert " to " not in error_definition(seen)
        assert " to " not in seen.answer_words
        share = 1.0 if question.answers == "closeness" else 10_000
        assert float(seen.answer_words.split()[1]) == pytest.approx(seen.standard_error / share, rel=0.06)


def test_only_costs_are_said_to_limit_the_table():
    assert "32 MB" in size_limit("file") and "minute" in size_limit("time")
    assert size_limit("noise") == size_limit("gain") == size_limit("") == ""


@pytest.mark.parametrize("median", [0.02, 0.08])
def test_squared_distances_of_records_at_one_end_are_not_forecast_at_half_their_error(median):
    """Against the exact variance of the noise at log-normal records, which are not those of the forecast."""
    way = recommend(LINE, 10_000, Budget(1), Distances("squared"))[0]
    pay = 100 * np.clip(median * np.exp(np.random.default_rng(4).normal(0, 0.7, (500, 1))), 0, 1)
    queries = LINE.encode_queries(pay, way.answering.metric)
    variance = plan(way.answering, Budget(1)).noise.variance
    true = np.sqrt(np.mean(way.answering.noise_variance(variance, queries)))
    assert 0.55 * true < way.forecast.standard_error < 1.25 * true
