"""Items come in their order, errors in their place, and nothing goes on once nobody wants any more."""

from __future__ import annotations

import threading

import pytest

from core.releases.engine.building import DEPTH, SETTLED, WINDOW, Pace, read_ahead


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]


def counting(last, made, closed):
    try:
        for number in range(last):
            made.append((number, threading.current_thread()))
            yield number
    finally:
        closed.append(threading.current_thread())


def test_items_come_in_order_from_another_thread():
    made, closed = [], []
    assert list(read_ahead(counting(100, made, closed))) == list(range(100))
    assert made[0] == (0, threading.current_thread())  # Ctrl-C reaches what comes first, such as a sort
    assert threading.current_thread() not in {thread for _, thread in made[1:]}
    assert len(closed) == 1
    assert not readers()


def test_only_so_many_are_made_before_they_are_asked_for():
    made, closed = [], []
    items = read_ahead(counting(100, made, closed))
    for number in range(20):
        assert next(items) == number
        assert len(made) <= number + 1 + DEPTH
    items.close()


def test_who_stops_early_leaves_no_thread_and_an_ended_generator():
    made, closed = [], []
    items = read_ahead(counting(100, made, closed))
    assert [next(items), next(items)] == [0, 1]
    items.close()
    assert len(closed) == 1
    assert len(made) <= 2 + DEPTH + 1
    assert not readers()


def test_an_error_comes_in_its_place():
    def failing():
        yield 1
        yield 2
        raise ValueError("three")

    items = read_ahead(failing())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(ValueError, match="three"):
        next(items)
    assert not readers()


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
