"""Rates and times as a person would say them."""

import pytest

from core.ui.release.news import rounded, time_left


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (7, "7"),
        (843, "840"),
        (61_900, "62,000"),
        (999_999, "1 million"),
        (1_290_000, "1.3 million"),
        (123_000_000, "120 million"),
    ],
)
def test_numbers_are_said_in_two_digits(number, said):
    assert rounded(number) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "a few seconds left"),
        (9, "about 10 seconds left"),
        (62, "about 60 seconds left"),
        (100, "about 2 minutes left"),
        (1800, "about 30 minutes left"),
        (5500, "about 2 hours left"),
        (9500, "about 3 hours left"),
        (86_400, "about 24 hours left"),
    ],
)
def test_time_left_is_no_more_precise_than_anyone_can_know(seconds, said):
    assert time_left(seconds) == said
