"""Sizes and times as a person would say them."""

import pytest

from core.words.quantities import size, taken, time_left, wait


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


def test_a_wait_is_said_in_its_unit():
    assert [wait(seconds) for seconds in (0.3, 20, 600)] == ["a second", "about 20 seconds", "about 10 minutes"]


def test_what_was_taken_has_two_digits():
    assert [taken(seconds) for seconds in (3.14, 0.0213, 4.4e-5, 2e-9)] == ["3.1 s", "21 ms", "44 µs", "2 ns"]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (12, "12 bytes"),
        (999, "1 KB"),
        (1200, "1.2 KB"),
        (999_999, "1 MB"),
        (54_800_000, "55 MB"),
        (2_000_000_000, "2 GB"),
        (3e12, "3 TB"),
        (6.1e15, "6,100 TB"),
    ],
)
def test_sizes_have_two_digits_and_never_a_thousand_of_a_unit(count, said):
    assert size(count) == said
