"""Fifty dots stand for fifty equally likely outcomes.

What is drawn before a release: the curve of errors, and releases that could come out.
"""

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.column_entries import columns_of
from core.figures.figure_axes import date_ticks
from core.figures.forecast_figures import (
    DOTS,
    PLACES,
    SIMULATED,
    dots,
    dots_in_words,
    error_figure,
    error_in_words,
    normal_outcomes,
    possible_releases,
    possible_releases_figure,
    possible_releases_in_words,
    stacked,
)
from core.figures.palette import TEAL
from core.geometry.kernels import Euclidean


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


EPSILONS = [0.01, 0.1, 1.0, 10.0]
PURE, SLACK = [10.0, 1.0, 0.1, 0.01], [1.0, 0.1, 0.01, 0.001]
KERNEL = Euclidean(0.1, 4)
ALONG = np.linspace(0, 1, PLACES)[:, None]


@pytest.mark.parametrize("has_slack", [False, True])
def test_the_chosen_promise_is_drawn_in_full_and_the_present_point_lies_on_it(has_slack):
    figure = error_figure(EPSILONS, PURE, SLACK, 0.5, has_slack, "all records")
    other, chosen, present = figure.data
    assert chosen.line.color == TEAL.shape and chosen.line.dash == "solid" and other.line.dash == "dot"
    assert list(chosen.y) == (SLACK if has_slack else PURE)
    assert present.x == (0.5,) and present.y[0] == pytest.approx((0.02 if has_slack else 0.2), rel=1e-6)


def test_the_words_give_both_ends():
    assert error_in_words(EPSILONS, SLACK, "all records") == (
        "The typical error falls from 100% of all records at ε = 0.01 to 0.1% at ε = 10."
    )


def test_possible_releases_spread_as_the_forecast_says():
    possible = possible_releases(0, 50, KERNEL, ALONG, 1000.0, 80.0)
    errors = possible.releases - possible.crowd
    assert possible.releases.shape == (SIMULATED, PLACES)
    assert (possible.places[0], possible.places[-1]) == (0, 50)
    # 50 draws at 81 places, correlated over about a tenth of the range: some ten independent places, so 500 draws.
    assert errors.std() == pytest.approx(80, rel=0.15)
    assert abs(errors.mean()) < 80 / np.sqrt(50)


def test_near_places_err_together_and_far_ones_do_not():
    errors = possible_releases(0, 1, KERNEL, ALONG, 1000.0, 80.0)
    errors = errors.releases - errors.crowd
    near = np.mean([np.corrcoef(errors[:, i], errors[:, i + 1])[0, 1] for i in range(PLACES - 1)])
    far = np.mean([np.corrcoef(errors[:, i], errors[:, i + 40])[0, 1] for i in range(PLACES - 40)])
    expected = KERNEL.evaluate(ALONG[:1], ALONG[1:2])[0, 0]
    assert near == pytest.approx(expected, abs=0.1) and abs(far) < 0.3


def test_a_typical_place_of_the_imagined_crowd_has_the_forecast_answer():
    possible = possible_releases(0, 1, KERNEL, ALONG, 1234.0, 0.0)
    assert (possible.releases == possible.crowd).all() and possible.kept == SIMULATED
    assert possible.crowd.min() < 1234 < possible.crowd.max()


def test_the_peak_is_lost_when_noise_exceeds_the_signal():
    clear, drowned = (possible_releases(0, 1, KERNEL, ALONG, 1000.0, error).kept for error in (10.0, 5000.0))
    assert clear == SIMULATED and drowned < 30


def test_the_same_settings_draw_the_same_picture():
    first, second = (possible_releases(0, 1, KERNEL, ALONG, 1000.0, 80.0) for _ in range(2))
    np.testing.assert_array_equal(first.releases, second.releases)


def test_the_figure_draws_every_release_and_the_words_count_them():
    possible = possible_releases(0, 1, KERNEL, ALONG, 1000.0, 10.0)
    lines, crowd = possible_releases_figure(possible, "x").data
    assert np.isnan(np.array(lines.y, dtype=float)).sum() == SIMULATED and crowd.line.width > lines.line.width
    assert possible_releases_in_words(possible).startswith("In 50 of 50 simulated releases")


def test_dates_in_what_could_come_out_are_dates_and_no_numbers_of_days():
    (since,) = columns_of("since", {"kind": "date", "first": "2019-01-01", "last": "2023-12-31"})
    possible = possible_releases(since.low, since.high, KERNEL, ALONG, 1000.0, 10.0)
    figure = possible_releases_figure(possible, "since", ticks=date_ticks(since))
    axis, crowd = figure.layout.xaxis, figure.data[1]
    assert "2020" in axis.ticktext and all(since.low <= at <= since.high for at in axis.tickvals)
    assert "%{x" not in crowd.hovertemplate
