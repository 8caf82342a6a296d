"""Intersected cells against the slow hash of a point, and against modes found by search."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from core.analysis.answerable import Box
from core.analysis.densest_cells import (
    NOISE_CHANCE,
    _half_spaces,
    _heaviest_counters,
    can_be_intersected,
    intersect_partitions,
)
from core.analysis.modes import find_modes
from core.domain import Domain
from core.errors import RequestError
from core.geometry.kernels import Angular, Euclidean, Laplacian, Product
from core.releases.release import load
from core.sources.public_tables import RELEASES
from tests.analysis.poured import box_of, clusters, poured
from tests.depth import deep
from tests.sketches.slow_race import slow_column


@pytest.mark.parametrize(
    "kernel",
    [Euclidean(0.3), Euclidean(0.5, power=2), Laplacian(0.7), Angular(3), Product((Euclidean(0.8), Angular(2)))],
)
def test_half_spaces_hold_exactly_the_points_of_the_heaviest_cells(kernel):
    domain = Domain.of(a=(-1, 1), b=(-1, 1))
    points = clusters([[0.7, 0.2]], 3000)
    release = poured(domain, kernel, points, rows=64, epsilon=5)
    box = Box.of(release.sketch)
    rows, columns, counts = _heaviest_counters(release, box)
    cells = _half_spaces(release.sketch.columns, box, rows, columns, counts)
    assert len(rows) > 20 and (np.diff(counts) <= 0).all()
    low, high = box.bounds
    for point in np.random.default_rng(0).uniform(-1, 1, (40, 2)):
        slow = [
            slow_column(release.sketch.columns, row, point) == column for row, column in zip(rows, columns, strict=True)
        ]
        assert np.array_equal(cells.holding((point - low) / (high - low)), slow)


@pytest.mark.thorough
@pytest.mark.few(2)
@pytest.mark.parametrize(
    "kernel, centres, shares",
    [
        (Euclidean(0.05), [[0.3], [0.8]], [0.6, 0.4]),
        (Euclidean(0.1), [[0.2, 0.2], [0.7, 0.3], [0.5, 0.8]], [0.2, 0.6, 0.2]),
        (Euclidean(0.2), [[0.2, 0.2, 0.2], [0.7, 0.3, 0.4], [0.5, 0.8, 0.8]], [0.2, 0.6, 0.2]),
        deep(Euclidean(0.3), [[0.2] * 8, [0.8] * 8], [0.65, 0.35]),
        (Laplacian(0.2), [[0.2, 0.2], [0.7, 0.3]], [0.3, 0.7]),
    ],
)
def test_the_densest_mode_lies_where_the_cells_meet(kernel, centres, shares):
    points = clusters(centres, 20_000, shares=shares)
    release = poured(box_of(len(centres[0])), kernel, points)
    meeting, mode = intersect_partitions(release), find_modes(release)[0]
    here, there = (np.array(list(place.position.values())) for place in (meeting, mode))
    assert np.abs(here - centres[int(np.argmax(shares))]).max() < 0.06
    assert np.abs(here - there).max() < 0.06
    assert meeting.estimate > 0.95 * mode.estimate
    assert meeting.satisfied <= meeting.rows <= 1000 and 0.3 < meeting.weight <= 1
    answers = release.answer(pd.DataFrame([meeting.position]))
    assert meeting.estimate == pytest.approx(answers.estimate[0])


def test_a_category_is_part_of_the_place():
    domain = Domain.of(age=(0, 100), city=["Bern", "Basel"], category_distance=20.0)
    frame = pd.DataFrame({"age": [30.0] * 6000 + [70.0] * 4000, "city": ["Basel"] * 6000 + ["Bern"] * 4000})
    release = poured(domain, Euclidean(10.0), domain.encode_queries(frame, "l2"))
    meeting = intersect_partitions(release)
    assert meeting.position["city"] == "Basel" and meeting.position["age"] == pytest.approx(30, abs=4)


def test_categories_alone_need_no_linear_program():
    domain = Domain.of(city=["Bern", "Basel", "Chur"])
    frame = pd.DataFrame({"city": ["Chur"] * 6000 + ["Bern"] * 2000})
    release = poured(domain, Laplacian(0.5), domain.encode_queries(frame, "l1"))
    assert intersect_partitions(release).position == {"city": "Chur"}


def test_rehashed_cells_are_refused():
    release = poured(box_of(8), Laplacian(0.2), clusters([[0.5] * 8], 2000), rows=64, width=50)
    with pytest.raises(RequestError, match="kept cells of their own"):
        intersect_partitions(release)


@pytest.mark.thorough
def test_noise_alone_is_refused_as_often_as_stated():
    runs, stood_out = 100, 0
    for seed in range(runs):
        release = poured(box_of(2), Euclidean(0.05), np.zeros((0, 2)), rows=16, epsilon=0.01, seed=seed)
        try:
            _heaviest_counters(release, Box.of(release.sketch))
            stood_out += 1
        except RequestError as refusal:
            assert "no cell stands out" in str(refusal)
    assert stood_out <= binom.isf(1e-7, runs, NOISE_CHANCE)


def test_too_many_numbers_are_refused():
    domain = Domain.of(**{f"x{i}": (0, 1) for i in range(65)})
    release = poured(domain, Euclidean(5.0), np.zeros((10, 65)), rows=16)
    with pytest.raises(RequestError, match="at most 64 numbers"):
        intersect_partitions(release)


@pytest.mark.parametrize("name", ["city", "visits", "towns"])
def test_cells_are_offered_exactly_where_they_answer(name):
    """Modes offered "Ask the cells too" of grids and tables as well, where it was refused."""
    made = load(RELEASES / f"{name}.npz")
    try:
        intersect_partitions(made)
        answers = True
    except RequestError:
        answers = False
    assert can_be_intersected(made) == answers
