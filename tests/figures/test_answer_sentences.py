"""The sentences of Explore say what an answer supports and no more."""

from datetime import date

import numpy as np
import pytest

from core import Budget, Domain, Numeric
from core.analysis.modes import Mode
from core.figures.answer_sentences import (
    answer_sentence,
    averaged_sentence,
    density_sentence,
    noun,
    one_line,
    place_words,
    standing_out,
)
from core.figures.density_figures import close_by
from core.figures.label import privacy_label
from core.formatting.numbers import day
from core.geometry import kernels
from core.privacy.budget import Neighbours
from tests.releases_for_tests import small_release


def test_one_line_says_what_when_at_which_price_and_who_is_protected():
    release = small_release(Budget(1, "1e-6", Neighbours.REPLACE_ONE))
    line = one_line(privacy_label(release))
    assert line.startswith("age and city of ") and f"released {day(release.created)}" in line
    assert "ε = 1, δ = 0.000001" in line and "each record protected" in line and str(date.today().year) in line


def test_records_are_counted_when_a_person_has_several():
    assert noun(small_release()) == "people"
    several = Domain((Numeric("age", 0, 100),), unit=Domain.of(a=(0, 1)).unit.__class__("who", 3))
    assert noun(small_release(domain=several)) == "records"


def test_an_answer_has_its_interval_and_the_digits_of_its_error():
    words = answer_sentence(6483.2, 6258.6, 6707.4, 95.0, "people")
    assert words == "About **6,480** people close by; very likely between **6,250** and **6,710**."
    assert "records close by" in answer_sentence(6483.2, 6258.6, 6707.4, 95.0, "records")


def test_an_answer_that_the_noise_hides_is_only_bounded_from_above():
    words = answer_sentence(-12.0, -240.0, 216.0, 95.0, "people")
    assert "hides" in words and "**fewer than 220**" in words and "12" not in words
    assert density_sentence(-0.001, -240.0, -12.0, 95.0) == ""


def test_a_density_is_a_share_in_the_digits_of_its_error():
    assert density_sentence(0.1308, 6258.6, 6483.2, 95.0).startswith("That is 13.1% of")


def test_averaging_is_said_only_where_it_happens():
    assert averaged_sentence(()) == ""
    alone = averaged_sentence(("age",))
    assert alone == "Averaged over all values of age, likely or not. Hold it at a value to see slices."
    assert "age and city" in averaged_sentence(("age", "city")) and "Hold them" in averaged_sentence(("age", "city"))


def test_a_place_is_said_with_units_and_categories():
    domain = Domain((Numeric("age", 0, 100, "years"), *Domain.of(city=["Bern", "Basel"]).columns))
    release = small_release(domain=domain, kernel=kernels.Euclidean(10.0))
    assert place_words({"age": 34.567, "city": "Basel"}, release) == {"age": "34.6 years", "city": "Basel"}


@pytest.mark.parametrize(
    ("ratio", "significant", "words"),
    [(12.3, True, "12 times the noise"), (1.2, False, "could be noise"), (5000, True, "over 100 times the noise")],
)
def test_a_mode_is_compared_with_the_noise(ratio, significant, words):
    mode = Mode({"age": 3.0}, 10.0, 5.0, 15.0, 0.1, ratio, 1.0, significant)
    assert standing_out(mode) == words and np.isclose(mode.prominence_ratio, ratio)


def test_an_average_over_columns_is_not_called_by_the_words_of_a_count_at_a_place():
    """ "63 people close by" became 186 and 223 as columns were added: the first were averages over their values."""
    at_a_place = answer_sentence(223.0, 215.0, 231.0, 4.0, "people")
    over_some = answer_sentence(63.0, 60.0, 66.0, 1.5, "people", ("height", "weight"))
    assert "people close by; very likely" in at_a_place and "average" not in at_a_place
    assert "people close by, on average over all values of height and weight; very likely" in over_some
    assert close_by("people", ("height",)) == "people close by, on average"
