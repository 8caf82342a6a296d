"""Pictures of a density against answers one place at a time, and against exact kernel sums."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from core.analysis.answerable import Box
from core.analysis.density import grid, line, marginal_grid, marginal_line, marginal_volume, pairs
from core.analysis.other_columns import averaging
from core.domain import Categorical, Domain, Numeric, Vector
from core.errors import RequestError
from core.figures.exploration import table_of
from core.geometry import kernels
from core.geometry.kernels import Euclidean, Laplacian
from core.sketches.answers import Answers
from tests.analysis.poured import box_of, clusters, exact_sums, poured
from tests.depth import deep, draws
from tests.releases_for_tests import small_release

ARRAYS = ("estimate", "low", "high", "density", "standard_error")
PEOPLE = Domain.of(age=(0, 100), city=["Bern", "Basel", "Chur"], income=(0, 10), scale="box")


@pytest.fixture(scope="module")
def people():
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "age": random.normal(40, 10, 3000).clip(0, 100),
            "city": random.choice(["Bern", "Basel", "Chur"], 3000, p=[0.6, 0.3, 0.1]),
            "income": random.normal(5, 2, 3000).clip(0, 10),
        }
    )
    points = PEOPLE.encode_queries(frame, "l1")
    return poured(PEOPLE, Laplacian(0.4), points, rows=200, epsilon=5), points


def assert_same(picture, answers, order=None):
    for name in ARRAYS:
        expected = getattr(answers, name)
        assert np.allclose(getattr(picture, name).ravel(), expected, rtol=1e-9, atol=1e-9), name


def test_a_line_is_the_answers_along_it(people):
    release, _ = people
    curve = line(release, "age", {"city": "Basel", "income": 4.5}, points=37, level=0.8)
    assert curve.values[0] == 0 and curve.values[-1] == 100 and len(curve.values) == 37
    assert_same(curve, release.answer({"age": curve.values, "city": ["Basel"] * 37, "income": [4.5] * 37}, 0.8))
    assert curve.averaged == () and curve.at == {"city": "Basel", "income": 4.5}
    assert np.array_equal(curve.drowned, curve.low <= 0)


def test_a_line_along_categories_has_one_bar_a_category(people):
    release, _ = people
    curve = line(release, "city", {"age": 40, "income": 5})
    assert list(curve.values) == ["Bern", "Basel", "Chur"]
    assert_same(curve, release.answer({"age": [40.0] * 3, "city": list(curve.values), "income": [5.0] * 3}))


@pytest.mark.parametrize("x, y", [("age", "income"), ("income", "age"), ("age", "city"), ("city", "income")])
def test_a_grid_is_the_answers_at_its_cells(people, x, y):
    release, _ = people
    held = {"age": 40.0, "city": "Bern", "income": 5.0}
    picture = grid(release, x, y, {name: held[name] for name in held if name not in (x, y)}, size=9)
    cells = [{**held, x: a, y: b} for b in picture.y_values for a in picture.x_values]
    assert picture.estimate.shape == (len(picture.y_values), len(picture.x_values))
    assert_same(picture, release.answer(pd.DataFrame(cells)))


def test_the_cells_of_a_grid_tile_the_bounds(people):
    picture = grid(people[0], "age", "income", {"city": "Bern"}, size=4)
    assert np.allclose(picture.x_values, [12.5, 37.5, 62.5, 87.5])
    assert np.allclose(picture.y_values, [1.25, 3.75, 6.25, 8.75])


@settings(max_examples=draws(6, 15))
@given(
    st.floats(-1e3, 1e3), st.floats(0.1, 1e3), st.sampled_from(["none", "box"]), st.integers(2, 12), st.integers(0, 99)
)
def test_any_domain_gives_the_same_picture_as_single_answers(low, width, scale, size, seed):
    domain = Domain.of(x=(low, low + width), y=(0, 3), scale=scale)
    low_corner, high_corner = domain.bounds()
    points = low_corner + (high_corner - low_corner) * np.random.default_rng(seed).random((300, 2))
    release = poured(domain, Euclidean(0.2 * float((high_corner - low_corner).max())), points, rows=32, seed=seed)
    picture = grid(release, "y", "x", size=size)
    queries = np.array([(x, y) for x in picture.y_values for y in picture.x_values])
    assert_same(picture, release.answer(queries))


def test_a_marginal_averages_the_groups_before_it_takes_their_spread(people):
    release, _ = people
    picture = marginal_grid(release, "income", "age", size=5, level=0.9)
    places = averaging(release, ("city",), 25).places
    box = Box.of(release.sketch)
    groups = []
    for age in picture.y_values:
        for income in picture.x_values:
            points = np.array(places)
            points[:, box.places["age"]] = box.encode("age", [age])
            points[:, box.places["income"]] = box.encode("income", [income])
            estimates, weights = release.sketch.group_estimates(
                release.counters, release.records, np.asfortranarray(points)
            )
            groups.append(estimates.mean(axis=1))
    assert picture.averaged == ("city",) and picture.averaging_places == len(places) == 3
    assert_same(picture, Answers.of_groups(np.array(groups).T, weights, release.records, 0.9))


def test_a_marginal_over_few_categories_is_their_plain_mean(people):
    release, _ = people
    marginal = marginal_line(release, "age", {"income": 5}, points=11)
    slices = [line(release, "age", {"income": 5, "city": city}, points=11) for city in ("Bern", "Basel", "Chur")]
    assert np.allclose(marginal.estimate, np.mean([curve.estimate for curve in slices], axis=0))
    # The mean of three answers varies less than they do, so the interval is not the mean of intervals.
    assert (marginal.standard_error < np.mean([curve.standard_error for curve in slices], axis=0)).mean() > 0.8


def test_categories_are_enumerated_equally_often_beside_numbers(people):
    release, _ = people
    box = Box.of(release.sketch)
    averaged = averaging(release, ("city", "income"), 100)
    counts = np.count_nonzero(averaged.places[:, box.places["city"]], axis=0)
    assert counts.min() == counts.max() > 0
    incomes = averaged.places[:, box.places["income"]][:, 0]
    by_city = [np.sort(incomes[averaged.places[:, box.places["city"]][:, c] > 0]) for c in range(3)]
    assert all(np.array_equal(a, b) for a, b in pairwise(by_city))


def test_more_categories_than_places_are_sampled_evenly():
    columns = tuple(Categorical(name, tuple(f"{name}{i}" for i in range(20))) for name in "pqr")
    domain = Domain((Numeric("x", 0, 1), *columns))
    points = Box(domain, "l1").uniform(np.random.default_rng(0).random((500, 4)))
    release = poured(domain, Laplacian(0.5), points, rows=16)
    averaged = averaging(release, ("p", "q", "r"), 400)
    assert len(averaged.places) == 1024
    for name in "pqr":
        counts = np.count_nonzero(averaged.places[:, Box.of(release.sketch).places[name]], axis=0)
        assert counts.sum() == 1024 and counts.min() >= 40  # 51.2 each on average


@pytest.mark.deep
@pytest.mark.parametrize("dimensions", [deep(3), 6])
def test_marginals_come_close_to_exact_integrals(dimensions):
    points = clusters([[0.3] * dimensions, [0.7] * dimensions], 2000)
    release = poured(box_of(dimensions), Euclidean(0.4), points, rows=draws(2000, 4000), epsilon=100)
    picture = marginal_grid(release, "a", "b", size=6)
    others = np.random.default_rng(1).random((draws(1000, 4000), dimensions - 2))
    cells = [(x, y) for y in picture.y_values for x in picture.x_values]
    exact = np.array(
        [
            exact_sums(release, points, np.column_stack([np.tile(cell, (len(others), 1)), others])).mean()
            for cell in cells[::7]
        ]
    )
    assert np.allclose(picture.estimate.ravel()[::7], exact, rtol=0.03)


@pytest.mark.deep
def test_intervals_of_marginals_cover_the_exact_average_as_often_as_they_say():
    points = clusters([[0.3, 0.4, 0.5]], 400)
    covered, runs = 0, draws(50, 300)
    for seed in range(runs):
        release = poured(box_of(3), Euclidean(0.5), points, rows=40, groups=10, seed=seed)
        curve = marginal_line(release, "a", points=2, reads=2e6)
        if not seed:
            places = averaging(release, ("b", "c"), 2, 2e6).places.copy()
            places[:, 0] = 0.0
            exact = exact_sums(release, points, places).mean()
        covered += curve.low[0] <= exact <= curve.high[0]
    assert binom.ppf(5e-7, runs, 0.93) <= covered <= binom.isf(5e-7, runs, 0.97)


def test_columns_of_vectors_are_held_or_averaged():
    domain = Domain((Numeric("x", 0, 1), Vector("v", 2, 0, 1)))
    points = clusters([[0.5, 0.2, 0.8]], 800)
    release = poured(domain, Euclidean(0.5), points, rows=64)
    held = line(release, "x", {"v": [0.2, 0.8]}, points=5)
    assert_same(held, release.answer_points(np.asfortranarray([(x, 0.2, 0.8) for x in held.values])))
    assert marginal_line(release, "x", points=5).averaged == ("v",)
    with pytest.raises(RequestError, match="holds vectors"):
        line(release, "v", {"x": 0.5})


def test_what_is_empty_drowns_and_what_is_full_does_not():
    release = poured(box_of(2), Laplacian(0.05), clusters([[0.3, 0.3]], 5000))
    picture = grid(release, "a", "b", size=20)
    assert not picture.drowned[6, 6] and picture.drowned[10:, 10:].mean() > 0.8


@pytest.mark.thorough
def test_pairs_are_small_marginals_of_every_two_columns(people):
    release, _ = people
    matrix = pairs(release, size=6)
    assert matrix.columns == ("age", "city", "income") and set(matrix.curves) == set(matrix.columns)
    assert set(matrix.heatmaps) == {("age", "city"), ("age", "income"), ("city", "income")}
    assert matrix.heatmaps["age", "city"].estimate.shape == (3, 6)
    assert np.allclose(
        matrix.heatmaps["age", "income"].estimate, marginal_grid(release, "age", "income", size=6).estimate
    )
    assert pairs(release, ["income"]).heatmaps == {}


@pytest.mark.parametrize(
    "ask, sentence",
    [
        (lambda r: line(r, "height", {}), "no column 'height'"),
        (lambda r: line(r, "age", {"city": "Bern"}), "give one for 'income'"),
        (lambda r: line(r, "age", {"age": 3, "city": "Bern", "income": 1}), "cannot be held"),
        (lambda r: line(r, "age", {"city": "Paris", "income": 1}), "not on the public list"),
        (lambda r: line(r, "age", {"city": "Bern", "income": float("nan")}), "is missing"),
        (lambda r: line(r, "age", {"city": "Bern", "income": 1}, points=1), "whole number from 2"),
        (lambda r: line(r, "age", {"city": "Bern", "income": 1}, level=1.0), "strictly between 0 and 1"),
        (lambda r: grid(r, "age", "age", {"city": "Bern", "income": 1}), "two different columns"),
        (lambda r: grid(r, "age", "income", {"city": "Bern"}, size=2000), "whole number from 2 to 1,000"),
        (lambda r: marginal_line(r, "age", {"nothing": 3}), "no column 'nothing'"),
        (lambda r: pairs(r, []), "from 1 to 8"),
        (lambda r: pairs(r, ["age", "age"]), "different columns"),
    ],
)
def test_impossible_pictures_get_a_sentence(people, ask, sentence):
    with pytest.raises(RequestError, match=sentence):
        ask(people[0])


@pytest.fixture(scope="module")
def release():
    domain = Domain.of(x=(0, 1), y=(0, 4), group=["a", "b"], z=(0, 9))
    return small_release(domain=domain, kernel=kernels.Euclidean(1.0))


def test_every_slice_is_the_map_through_it(release):
    volume = marginal_volume(release, "z", "x", "y", {"group": "b"}, size=6)
    assert volume.estimate.shape == (6, 6, 6) and volume.averaged == ()
    for at in (0, 5):
        held = {"group": "b", "y": volume.z_values[at]}
        slice_ = grid(release, "z", "x", held, 6)
        assert np.allclose(volume.estimate[at], slice_.estimate) and np.allclose(volume.low[at], slice_.low)


def test_a_category_is_an_axis_and_what_is_not_drawn_is_averaged_over(release):
    volume = marginal_volume(release, "x", "group", "y", size=4)
    assert volume.estimate.shape == (4, 2, 4) and volume.averaged == ("z",)


def test_a_table_has_a_row_a_place(release):
    volume = marginal_volume(release, "x", "group", "y", size=4)
    table = table_of(volume)
    row = table[(table["group"] == "b") & (table["x"] == volume.x_values[3]) & (table["y"] == volume.z_values[1])]
    assert len(table) == 32 and row["estimate"].item() == volume.estimate[1, 1, 3]


def test_it_needs_three_different_columns(release):
    with pytest.raises(RequestError, match="three different columns"):
        marginal_volume(release, "x", "y", "x")
