"""Rates and times left: from the last seconds, and never from what nobody knows."""

import pytest

from core.releases.engine.pace import SETTLED, WINDOW, Pace


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def read(pace, clock, seconds, rate, start=0):
    """Mark every half second."""
    for step in range(1, int(2 * seconds) + 1):
        clock.now += 0.5
        pace.mark(start + int(step * rate / 2))


def test_a_steady_reading_has_its_rate_and_a_time_left():
    clock = Clock()
    pace = Pace(1000, clock)
    assert pace.rows == 0 and pace.rate is None and pace.seconds_left is None
    read(pace, clock, 4, 100)
    assert (pace.rows, pace.rate, pace.seconds_left) == (400, pytest.approx(100), pytest.approx(6))


def test_nothing_is_said_before_it_has_settled_or_when_the_total_is_unknown():
    clock = Clock()
    pace = Pace(None, clock)
    clock.now += SETTLED / 2
    pace.mark(10)
    assert pace.rate is None
    clock.now += SETTLED
    pace.mark(40)
    assert pace.rate is not None and pace.seconds_left is None


def test_it_follows_a_reading_that_slows_down_and_never_counts_below_zero():
    clock = Clock()
    pace = Pace(2000, clock)
    read(pace, clock, 20, 100)
    assert pace.rate == pytest.approx(100, rel=0.01)
    read(pace, clock, 2 * WINDOW, 10, start=2000)
    assert pace.rate == pytest.approx(10, rel=0.01) and pace.seconds_left == 0
