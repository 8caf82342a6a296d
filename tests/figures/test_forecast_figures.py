"""Fifty dots stand for fifty equally likely outcomes."""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.figures.forecast_figures import DOTS, dots, dots_in_words, normal_outcomes, stacked
from core.figures.palette import TEAL


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e4), st.floats(-3, 3))
def test_counting_dots_gives_the_chance(estimate, error, place):
    outcomes = normal_outcomes(estimate, error)
    threshold = estimate + place * error
    assert len(outcomes) == DOTS and (np.diff(outcomes) > 0).all()
    assert abs((outcomes <= threshold).mean() - NormalDist().cdf(place)) <= 0.5 / DOTS + 1e-9


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80))
def test_no_dot_is_lost_hidden_or_far_from_its_outcome(outcomes):
    x, height = stacked(outcomes)
    assert len(set(zip(x.tolist(), height.tolist(), strict=True))) == len(outcomes)
    reach = (max(outcomes) - min(outcomes)) / 13
    assert np.abs(x - np.sort(outcomes)).max() <= reach + 1e-6
    for column in np.unique(x):
        assert sorted(height[x == column]) == list(range((x == column).sum()))


def test_a_certain_number_is_one_stack():
    x, height = stacked(normal_outcomes(7.0, 0.0))
    assert set(x) == {7.0} and list(height) == list(range(DOTS))


@pytest.mark.parametrize("outcomes", [[], [1.0, np.nan], [np.inf]])
def test_what_is_no_outcome_is_refused(outcomes):
    with pytest.raises(ValueError, match="finite"):
        stacked(outcomes)


def test_the_figure_shows_every_dot_in_teal_and_the_words_count_them():
    outcomes = normal_outcomes(6500, 95)
    figure = dots(outcomes, "people here")
    assert len(figure.data[0].x) == DOTS and figure.data[0].marker.color == TEAL.shape
    assert figure.layout.xaxis.title.text == "people here"
    assert figure.layout.yaxis.range[1] > max(figure.data[0].y)
    words = dots_in_words(outcomes, "people here")
    assert words.startswith("50 equally likely outcomes of people here: 40 of them") and "6,500" in words
