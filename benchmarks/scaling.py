"""How the time to fill a RACE table grows with records, columns, R, W and threads, beside blocked NumPy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from core.runtime.environment import cores

from .measuring import Curve, Settings
from .race_reference import NumpyRace, colours, race
from .timing import in_turn

RECORDS, ROWS, WIDTH = 50_000, 500, 1000
TITLE = "Fill a table, against {}"


def run(settings: Settings) -> Iterator[Curve]:
    """One curve for every parameter; the others stay at what they usually are."""
    largest = settings.size(RECORDS, 2_000)
    data = colours(largest)
    usual = race(ROWS, WIDTH)
    records = [largest // 16, largest // 4, largest, largest * 4, largest * 16]
    wide = colours(records[-1])
    yield from _curves("records", records[: settings.size(5, 2)], lambda n: (usual, wide[:n]), settings)
    columns = [2, 8, 32, 128, 512][: settings.size(5, 2)]
    some = colours(largest // 4, columns[-1])
    yield from _curves("columns", columns, lambda d: (race(ROWS, WIDTH, d), some[:, :d]), settings)
    rows = [125, 250, 500, 1000, 2000, 4000][: settings.size(6, 2)]
    yield from _curves("R", rows, lambda r: (race(r, WIDTH), data), settings)
    widths = [100, 1_000, 10_000, 100_000][: settings.size(4, 2)]
    yield from _curves("W", widths, lambda w: (race(ROWS, w), data), settings)
    yield _threads(usual, wide[: largest * 4], settings)


def _curves(axis: str, sizes: Sequence[int], work: Callable, settings: Settings) -> Iterator[Curve]:
    """Ours and NumPy's, in turn at every size."""
    found: dict[str, list] = {}
    for size in sizes:
        sketch, data = work(size)
        numpy = NumpyRace.of(sketch)
        points = np.asfortranarray(data)
        ways = {
            "Frostglass": lambda sketch=sketch, points=points: sketch.add(sketch.zeros(), points),
            "NumPy, blocked": lambda numpy=numpy, points=points: numpy.blocked(points),
        }
        for name, seconds in in_turn(ways, settings.repeats(3)).items():
            found.setdefault(name, []).append(seconds)
    for name, values in found.items():
        yield Curve(TITLE.format(axis), axis, tuple(map(float, sizes)), tuple(values), name)


def _threads(sketch: object, data: np.ndarray, settings: Settings) -> Curve:
    """Ours alone on one core, two, and so on, all sizes in turn."""
    counts = range(1, cores() + 1)

    def on(count: int) -> Callable[[], None]:
        def work() -> None:
            with only(count):
                sketch.add(sketch.zeros(), data)

        return work

    seconds = in_turn({str(count): on(count) for count in counts}, settings.repeats(7))
    values = tuple(seconds[str(count)] for count in counts)
    return Curve(TITLE.format("threads"), "threads", tuple(map(float, counts)), values)


@contextmanager
def only(count: int) -> Iterator[None]:
    """So many of this thread's cores, and of the threads that it starts; all of them where a system cannot say."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
