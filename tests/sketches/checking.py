"""What every mechanism keeps, whatever it is: `check_mechanism` says which promise a sketch breaks.

A test of a new mechanism calls it on a few of its sketches, and adds what is the mechanism's own: the formula of its
table, its accuracy, its errors.
"""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from core.domain.item_sets import Sets
from core.errors import RequestError
from core.privacy.budget import Budget, Neighbours, Sensitivity
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.file import LARGE
from core.releases.release import Release, load
from core.releases.seal import seal
from core.runtime.counter_tables import array
from core.sketches.linear import LinearSketch
from core.sketches.living import ByPeriod
from core.sketches.parts import Encodings
from core.sketches.registry import sketch_from_parameters

INSIDE, CORNERS = 4, 6
"""Records drawn from the domain, and such that have every number at one of its ends."""


def check_mechanism(sketch: LinearSketch, answers: bool = True) -> None:
    """Check the sum of tables, the sensitivities, the answers, the way through JSON and a file, and merging."""
    records = adversarial(sketch)
    check_additivity(sketch, records)
    check_sensitivity(sketch, records)
    if answers:
        check_answers(sketch, records)
    check_parameters(sketch)
    check_files(sketch, records)


def poured(sketch: LinearSketch, records: np.ndarray | Sets) -> np.ndarray:
    """The exact table of encoded records."""
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(records) if isinstance(records, (np.ndarray, list)) else records)
    return table


def adversarial(sketch: LinearSketch) -> np.ndarray | Sets | Encodings:
    """Encoded records that are likely to be far apart: at both ends of all columns, at mixed ends, and inside."""
    if sketch.domain.holds_sets:
        return Sets.of([[], [1], [2], [1, 2], range(3, 40), range(100, 400), [7] * 9])
    random = np.random.default_rng(0)
    low, high = sketch.domain.bounds(sketch.metric)
    corners = np.where(random.random((CORNERS, len(low))) < 0.5, low, high)
    inside = random.uniform(low, high, (INSIDE, len(low)))
    natural = sketch.domain.decode_points(np.vstack((low, high, corners, inside)), sketch.metric)
    if sketch.parts or sketch.asked_for == "periods":
        return sketch.encode(pa.RecordBatch.from_pandas(natural))
    return np.asfortranarray(np.clip(sketch.domain.encode_queries(natural, sketch.metric), low, high))


def some(records: np.ndarray | Sets | Encodings, places: list[int] | np.ndarray) -> np.ndarray | Sets | Encodings:
    """The records at these places, in the layout that sketches take."""
    chosen = records[np.asarray(places, dtype=np.int64)]
    return chosen if isinstance(chosen, (Sets, Encodings, ByPeriod)) else np.asfortranarray(chosen)


def check_additivity(sketch: LinearSketch, records: np.ndarray | Sets) -> None:
    """A table is the sum of its records' tables, in any order and any parts; so is the count."""
    size = len(records)
    alone = [poured(sketch, some(records, [place])) for place in range(size)]
    for table in (sketch.zeros(), *alone):
        assert table.shape == sketch.shape and table.dtype == sketch.counter_type
    whole = np.sum(alone, axis=0, dtype=np.int64)
    assert np.array_equal(poured(sketch, records), whole)
    parts = sketch.zeros()
    for part in np.array_split(np.random.default_rng(1).permutation(size), 3):
        sketch.add(parts, some(records, part))
    assert np.array_equal(parts, whole)
    counts = [sketch.count(some(records, [place])) for place in range(size)]
    assert np.shape(counts[0]) == sketch.count_shape and np.array_equal(sketch.count(records), np.sum(counts, axis=0))


def check_sensitivity(sketch: LinearSketch, records: np.ndarray | Sets) -> None:
    """No neighbours among the records are further apart than declared, and a person's records add up."""
    people = sketch.domain.unit.records
    places = range(len(records))
    tables = [poured(sketch, some(records, [place] * people)).astype(np.int64) for place in places]
    counts = [np.atleast_1d(sketch.count(some(records, [place] * people))) for place in places]
    for relation in Neighbours:
        # A replaced record may be one that is left out, so adding and removing is among the moves then.
        added = relation is Neighbours.ADD_REMOVE
        for all_of, declared in ((tables, sketch.sensitivity(relation)), (counts, sketch.count_sensitivity(relation))):
            others = [0 * all_of[0]] if added else all_of + [0 * all_of[0]] * (not sketch.domain.keeps_every_record)
            for one, other in product(all_of, others):
                check_moved(one - other, declared)
        assert sketch.sensitivity(relation) == sketch.record_sensitivity(relation).scaled(people)
    assert max(int(np.abs(table).max()) for table in tables) <= people * sketch.largest_entry


def check_moved(moved: np.ndarray, declared: Sensitivity) -> None:
    """A difference of neighbouring tables stays within every norm that is declared."""
    entries = moved.reshape(-1)
    assert np.abs(entries).sum() <= declared.l1
    assert sum(entry * entry for entry in entries[entries != 0].tolist()) <= declared.l2_squared
    assert not declared.unit_shifts or np.abs(entries).max() <= 1
    if declared.parts > 1 and moved.shape[0] == declared.parts:
        assert np.abs(moved).reshape(declared.parts, -1).sum(axis=1).max() <= declared.l1 // declared.parts
    if declared.block is not None:
        assert np.linalg.norm(entries.reshape(-1, declared.block), axis=1).sum() <= declared.blocks_l2


def check_answers(sketch: LinearSketch, records: np.ndarray | Sets) -> None:
    """Without noise the answers are the exact sums, as nearly as a small table of each mechanism can say them."""
    if sketch.query_domain != sketch.domain:
        return
    exact = sketch.exact(records, records)
    answers = sketch.answer(poured(sketch, records), sketch.count(records), records, 0.0, 0.95)
    reach = 0.25 * len(records) if sketch.answers == "closeness" else 0.05 * float(exact.mean())
    assert np.abs(answers.estimate - exact).max() < reach
    assert (answers.low <= answers.estimate).all() and (answers.estimate <= answers.high).all()


def check_parameters(sketch: LinearSketch) -> None:
    """The parameters say all that is public, in JSON; what is not theirs is refused."""
    written = json.loads(json.dumps(sketch.parameters()))
    again = sketch_from_parameters(sketch.name, sketch.domain, written)
    assert again == sketch and again.parameters() == sketch.parameters()
    for wrong in (written | {"more": 1}, [], None):
        with pytest.raises(RequestError):
            sketch_from_parameters(sketch.name, sketch.domain, wrong)


def budget_of(sketch: LinearSketch, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Budget:
    """A promise that the mechanism can keep."""
    try:
        sketch.check_budget(budget := Budget(1, 0, neighbours))
    except RequestError:
        return Budget(1, "1e-6", neighbours)
    return budget


def released(sketch: LinearSketch, table: np.ndarray, count: np.ndarray, seed: int) -> Release:
    return seal(sketch, ExactTable(table.copy(), count), budget_of(sketch), noise_source=SeededSource(seed))


def check_files(sketch: LinearSketch, records: np.ndarray | Sets) -> None:
    """A file gives back sketch, table and promise; merged tables are sums, and others are not merged."""
    table, count = poured(sketch, records), sketch.count(records)
    one, other = (released(sketch, table, count, seed) for seed in (1, 2))
    assert not np.array_equal(one.counters - table, other.counters - table), "two releases have noise of their own"
    for large in (LARGE, 0) if sketch.reads_mapped else (LARGE,):
        again = load(one.to_bytes(teaching=True, large=large))
        assert again.sketch == sketch and again.privacy == one.privacy
        assert np.array_equal(array(again.counters), one.counters)
    both = one.merged(other)
    assert np.array_equal(both.counters, one.counters.astype(np.int64) + other.counters)
    for part, alone in zip(both.parts.values() or [both], one.parts.values() or [one], strict=True):
        assert part.privacy.counter_variance == pytest.approx(2 * alone.privacy.counter_variance)
    strangers = [one]
    if sketch.reseeded(97) != sketch:
        strangers.append(released(sketch.reseeded(97), poured(sketch.reseeded(97), records), count, 3))
    for stranger in strangers:
        with pytest.raises(RequestError):
            one.merged(stranger)
