"""Items come in their order, errors in their place, and nothing goes on once nobody wants any more."""

from __future__ import annotations

import threading

import pytest

from core.releases.engine.building import DEPTH, read_ahead


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
