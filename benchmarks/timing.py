"""Timing several ways to do the same work: in turn, so that whatever else the machine does slows all of them alike."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from time import perf_counter

Way = Callable[[], object]


def seconds(work: Way) -> float:
    """Wall-clock seconds of one call."""
    start = perf_counter()
    work()
    return perf_counter() - start


def in_turn(ways: Mapping[str, Way], repetitions: int) -> dict[str, tuple[float, ...]]:
    """Seconds of every way in every round, after one call of each that is not counted: it compiles and warms caches."""
    for work in ways.values():
        work()
    gc.collect()
    rounds = [{name: seconds(work) for name, work in ways.items()} for _ in range(repetitions)]
    return {name: tuple(one[name] for one in rounds) for name in ways}
