"""Directions against plain arithmetic, their sensitivity on opposite records, and their answers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, Vector
from core.errors import RequestError
from core.geometry.projection import OrthogonalProjection
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import calibrate
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.release import load
from core.releases.seal import seal
from core.sketches import linear
from core.sketches.ball import UNITS
from core.sketches.directions import Directions, dimensions_for
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.registry import sketch_from_parameters
from tests.depth import crossed, draws
from tests.sketches.checking import poured

D = 6
DOMAIN = Domain((Vector("e", D, -1, 1),))
PLANE = Domain.of(x=(-1, 1), y=(-1, 1))
LEVEL = 1 - 1e-8
PROJECTION = OrthogonalProjection(D, 3, seed=4)
coordinates = st.one_of(st.sampled_from([-1.0, -0.0, 0.0, 1.0, 1e-300, 1e-90]), st.floats(-1, 1))
records = st.lists(st.lists(coordinates, min_size=D, max_size=D), max_size=10)
sketches = st.sampled_from(
    [
        Directions(DOMAIN),
        Directions(DOMAIN, centre=(0.5,) * D),
        Directions(DOMAIN, pole=(1.0, 2.0, 0.0, 0.0, 0.0, -1.0)),
        Directions(DOMAIN, projection=PROJECTION),
        Directions(DOMAIN, (0.1,) * D, PROJECTION, (0.0, 0.0, 5.0)),
    ]
)


def points(rows, width=D) -> np.ndarray:
    return np.asfortranarray(np.array(rows, dtype=float).reshape(-1, width))


def filled(sketch, rows) -> np.ndarray:
    return poured(sketch, points(rows, sketch.domain.dimensions))


def slow_record(sketch, record) -> list[int]:
    """What one record adds, one number at a time."""
    offset = np.array([record]) - sketch.origin
    if sketch.projection is not None:
        offset = sketch.projection.project(offset)
    offset = offset[0].tolist()
    if sketch.pole is not None:
        along = 0.0
        for x, p in zip(offset, sketch.pole, strict=True):
            along += x * p
        offset = [x - along * p for x, p in zip(offset, sketch.pole, strict=True)]
    squares = 0.0
    for x in offset:
        squares += x * x
    distance = math.sqrt(squares)
    if distance <= 1e-100:
        return [0] * len(offset)
    units = [min(max(int(x * (UNITS / distance)), -UNITS), UNITS) for x in offset]
    while sum(unit**2 for unit in units) > UNITS**2:
        units = [unit - (unit > 0) + (unit < 0) for unit in units]
    return units


@given(sketches, records)
def test_tables_equal_the_slow_reference(sketch, rows):
    expected = np.sum([slow_record(sketch, row) for row in rows], axis=0) if rows else sketch.zeros()
    assert (filled(sketch, rows) == expected).all()


@given(sketches, st.integers(0, 2**32))
def test_answers_without_noise_are_sums_of_cosines(sketch, seed):
    random = np.random.default_rng(seed)
    rows, queries = random.uniform(-1, 1, (20, D)), random.uniform(-2, 2, (5, D))
    answers = sketch.answer(filled(sketch, rows), 20, queries, 0.0, 0.95)
    assert answers.estimate == pytest.approx(sketch.exact(queries, rows), abs=1e-5)
    seen, asked = sketch.seen(rows), sketch.seen(queries)
    cosines = asked @ seen.T / np.outer(np.linalg.norm(asked, axis=1), np.linalg.norm(seen, axis=1))
    assert answers.estimate == pytest.approx(cosines.sum(axis=1), abs=1e-5)


def test_a_query_without_direction_is_similar_to_nothing():
    sketch = Directions(DOMAIN)
    answers = sketch.answer(filled(sketch, np.ones((3, D))), 3, points([[0.0] * D]), 0.0, 0.95)
    assert answers.estimate == [0.0]


@given(sketches, records, st.lists(coordinates, min_size=D, max_size=D), st.lists(coordinates, min_size=D, max_size=D))
def test_records_move_no_more_than_declared(sketch, rows, one, other):
    before = filled(sketch, rows)
    for neighbours, moved in (
        (Neighbours.ADD_REMOVE, filled(sketch, [*rows, one]) - before),
        (Neighbours.REPLACE_ONE, filled(sketch, [*rows, one]) - filled(sketch, [*rows, other])),
    ):
        declared = sketch.sensitivity(neighbours)
        assert sum(abs(int(v)) for v in moved) <= declared.l1
        assert sum(int(v) ** 2 for v in moved) <= declared.l2_squared <= declared.blocks_l2**2


def test_some_records_reach_the_bounds():
    sketch = Directions(Domain((Vector("e", 4, -1, 1),)))
    for neighbours, axis, diagonal in (
        (Neighbours.ADD_REMOVE, [[1.0, 0, 0, 0]], [[0.5] * 4]),
        (Neighbours.REPLACE_ONE, [[1.0, 0, 0, 0], [-1.0, 0, 0, 0]], [[0.5] * 4, [-0.5] * 4]),
    ):
        declared = sketch.sensitivity(neighbours)
        moved = [filled(sketch, pair[:1]) - filled(sketch, pair[1:]) for pair in (axis, diagonal)]
        assert sum(int(v) ** 2 for v in moved[0]) == declared.l2_squared
        assert np.abs(moved[1]).sum() == declared.l1


@settings(max_examples=draws(8, 20))
@given(sketches, st.lists(st.integers(0, 300), max_size=4), st.integers(0, 2**32))
def test_any_split_and_any_order_give_the_same_table(sketch, cuts, seed):
    random = np.random.default_rng(seed)
    rows = random.uniform(-1, 1, (300, D))
    parts = sketch.zeros()
    for part in np.split(random.permutation(rows), sorted(cuts)):
        sketch.add(parts, points(part))
    assert (parts == filled(sketch, rows)).all()
    assert (np.sum([filled(sketch, [row]) for row in rows], axis=0) == parts).all()


def test_records_that_differ_along_the_pole_alone_add_the_same():
    sketch = Directions(DOMAIN, pole=(1.0, 0, 0, 0, 0, 0))
    one, other = [0.9, 0.1, 0.2, 0, 0, 0], [-0.3, 0.1, 0.2, 0, 0, 0]
    assert (filled(sketch, [one]) == filled(sketch, [other])).all()
    assert filled(sketch, [one])[0] == 0


def test_around_takes_the_common_direction_off():
    random = np.random.default_rng(1)
    rows = random.normal([0.5, 0.5, 0, 0, 0, 0], 0.1, (500, D))
    sketch = Directions(DOMAIN)
    centred = sketch.around(filled(sketch, rows))
    assert np.linalg.norm(centred.pole) == pytest.approx(1.0)
    assert np.linalg.norm(centred.sum(filled(centred, rows))) < 0.2 * np.linalg.norm(sketch.sum(filled(sketch, rows)))
    assert sketch.around(sketch.zeros()) == sketch


@pytest.mark.thorough
@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_noise_variance_and_lengths(delta):
    """4,000 noisy tables; false alarms below one in a million (see the test of moments)."""
    sketch = Directions(DOMAIN)
    scale = calibrate(sketch.sensitivity(Neighbours.ADD_REMOVE), Fraction(1), Fraction(delta))
    exact = filled(sketch, [[1.0, 1.0, 0, 0, 0, 0]] * 200)
    tables = add_noise(np.broadcast_to(exact, (4000, D)), scale, SeededSource(5))
    queries = points([[0.3] * D, [2.0, 0, 0, 0, 1, 0]])
    answers = np.array([sketch.answer(table, 1, queries, 1.0, 0.95).estimate for table in tables])
    assert answers.var(axis=0) == pytest.approx(sketch.noise_variance(scale.variance, queries), rel=0.2)
    squares = [sketch.length(table, scale.variance) ** 2 for table in tables]
    assert np.mean(squares) == pytest.approx(200**2, rel=0.02)
    assert sketch.length(exact, 0.0) == pytest.approx(200.0)


def test_fewer_dimensions_for_fewer_records_and_smaller_budgets():
    assert dimensions_for(512, 200, Budget(1), 0.88) == 59
    assert dimensions_for(512, 2, Budget("0.1")) == 1
    assert dimensions_for(512, 1e6, Budget(1)) == 512
    assert dimensions_for(512, 200, Budget(1, 0, Neighbours.REPLACE_ONE), 0.88) == 29
    small, large = (dimensions_for(512, 200, Budget(epsilon, "1e-6"), 0.88) for epsilon in ("0.2", "1"))
    assert small < 100 and large == 512


@pytest.mark.thorough
def test_intervals_cover_the_truth_as_often_as_they_say():
    """400 releases, a query each: 95% of 400 has a standard deviation of 1.1%; the bounds are five of them away.
    Of 120 it is 2%."""
    random = np.random.default_rng(8)
    rows = random.uniform(-1, 1, (200, D))
    sketch = Directions(DOMAIN, projection=PROJECTION)
    exact = ExactTable(filled(sketch, rows), 200)
    covered = []
    for seed in range(draws(120, 400)):
        release = seal(sketch, exact.copy(), Budget(1, "1e-6"), noise_source=SeededSource(seed))
        query = points(random.uniform(-1, 1, D))
        answers = release.answer_points(query)
        covered.append(answers.low <= sketch.exact(query, rows) <= answers.high)
    assert draws(85, 89) / 100 < np.mean(covered) < 0.998


@pytest.mark.deep
@pytest.mark.parametrize(("delta", "neighbours"), crossed([0, "1e-5"], list(Neighbours)))
def test_directions_keep_their_promise(neighbours, delta):
    report = audit_sketch(Directions(PLANE), Budget(1, delta, neighbours), runs=draws(8000, 20_000), level=LEVEL)
    assert report.passed
    assert delta or report.epsilon_lower > 0.2


@pytest.mark.thorough
def test_too_little_noise_is_caught(monkeypatch):
    monkeypatch.setattr(linear, "calibrate", lambda sensitivity, e, d: calibrate(sensitivity, 3 * e, d))
    assert not audit_sketch(Directions(PLANE), Budget(1), runs=draws(8000, 20_000), level=LEVEL).passed


def test_a_release_file_gives_back_the_same_release():
    sketch = Directions(DOMAIN, (0.1,) * D, PROJECTION, (3.0, 0.1, 5.0))
    made = seal(sketch, ExactTable(filled(sketch, np.eye(D)), D), Budget(1, "1e-6"))
    read = load(made.to_bytes())
    assert read.sketch == sketch and (read.counters == made.counters).all() and read.counted == made.counted
    query = [[0.3] * D]
    assert read.estimate(query) == made.estimate(query)


GOOD = {"centre": [0.0] * D, "projection": PROJECTION.to_dict(), "pole": [0.0, 0.6, 0.8]}


def test_good_parameters_are_read():
    assert sketch_from_parameters("directions", DOMAIN, GOOD).parameters() == GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"centre": [0.0]},
        {"centre": [2.0] * D},
        {"centre": 0.0},
        {"projection": "orthogonal"},
        {"projection": PROJECTION.to_dict() | {"target": D + 1}},
        {"pole": [0.0, 0.0, 0.0]},
        {"pole": [1.0, 0.0]},
        {"pole": [1.0, 0.0, math.inf]},
        {"pole": [1.0, 0.0, "x"]},
        {"pole": "abc"},
        {"more": 1},
    ],
)
def test_bad_parameters_are_refused(change):
    with pytest.raises(RequestError):
        sketch_from_parameters("directions", DOMAIN, GOOD | change)
