"""Asking a RACE table of R = W = 1000: batches of 10,000 questions with their intervals, and a heatmap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .limits import reads
from .measuring import Comparison, Rival, Settings, Target
from .race_reference import QUERY_PUBLISHED, RECORDS, ROWS, NumpyRace, colours, race
from .timing import in_turn

LEVEL = 0.95


def run(settings: Settings) -> Iterator[Comparison]:
    """Ours gives intervals as well; NumPy, as in the paper, gives means alone."""
    asked = settings.size(10_000, 1_000)
    records = settings.size(RECORDS, 5_000)
    data, sketch = colours(records), race()
    numpy = NumpyRace.of(sketch)
    table, theirs = sketch.zeros(), numpy.blocked(data)
    sketch.add(table, data)
    queries = np.asfortranarray(data[:asked])
    if not np.allclose(numpy.query(theirs, queries), sketch.answer(table, records, queries, 0.0, LEVEL).estimate):
        raise RuntimeError("Both ways must say the same, or their times mean nothing.")

    ways = {
        "Frostglass": lambda: sketch.answer(table, records, queries, 0.0, LEVEL),
        "NumPy, blocked": lambda: numpy.query(theirs, queries),
        "reads alone, at known places": lambda: reads(table, asked),
    }
    seconds = in_turn(ways, settings.repeats(7))
    ours = seconds["Frostglass"]
    rival, limit = (Rival(name, seconds[name]) for name in list(ways)[1:])
    micros = float(np.median(ours)) / asked * 1e6
    yield Comparison(
        f"{asked:,} questions with intervals, R = {ROWS:,}",
        ours,
        rivals=(rival,),
        limits=(limit,),
        published=QUERY_PUBLISHED,
        targets=(Target("µs a question", micros, 20.0),),
        pieces=asked,
        piece="question",
        facts={"µs a question": micros},
    )

    side = settings.size(200, 50)
    grid = np.asfortranarray(np.random.default_rng(1).uniform(0, 255, (side * side, 3)))
    seconds = in_turn({"Frostglass": lambda: sketch.answer(table, records, grid, 0.0, LEVEL)}, settings.repeats(7))
    yield Comparison(f"a heatmap of {side} × {side} with intervals, R = {ROWS:,}", seconds["Frostglass"])
