"""What a forecast promises: one typical error, named and defined, and which cost limits the table."""

import pytest

from core import Budget, Domain, kernels
from core.forecast.draft import Draft
from core.forecast.forecast import forecast
from core.forecast.recommendation import Distances, recommend
from core.forecast.words import error_definition, size_limit, typical_answer
from core.sketches.grids.histogram import Histogram
from core.words.numbers import percent

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


def test_the_typical_error_of_a_distance_is_a_share_of_it():
    seen = recommend(LINE, 10_000, Budget(1), Distances("l1"))[0].forecast
    assert seen.promised_error == seen.relative_error
    assert error_definition(seen).startswith(f"Typical error: {percent(seen.relative_error)} of the distance")


def test_only_costs_are_said_to_limit_the_table():
    assert "32 MB" in size_limit("file") and "minute" in size_limit("time")
    assert size_limit("noise") == size_limit("gain") == size_limit("") == ""
