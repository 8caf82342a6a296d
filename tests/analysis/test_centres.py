"""Centres against medians and means of the records, and k medians against every choice there is."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import Budget, Domain, Numeric, release
from core.analysis.answerable import check_closeness
from core.analysis.centres import described, find_centres, nearest_place
from core.analysis.medians import masses_on_a_line, medians_in_space, medians_on_a_line
from core.errors import RequestError
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.kind import with_chosen_size
from core.releases.seal import seal
from core.sketches.classes import Classes
from core.sketches.registry import distance
from tests.analysis.poured import box_of, clusters, poured
from tests.depth import draws

POINTS = clusters([[0.25, 0.3], [0.7, 0.8]], 3000, deviation=0.06, shares=[0.7, 0.3])


def released(sketch, points, epsilon=1.0, seed=1):
    """A release of encoded points under a seeded noise."""
    budget = Budget(epsilon)
    sketch = with_chosen_size(sketch, budget, len(points))
    table = sketch.zeros()
    points = np.asfortranarray(points)
    sketch.add(table, points)
    return seal(sketch, ExactTable(table, sketch.count(points)), budget, noise_source=SeededSource(seed))


@cache
def measured(norm):
    """A release of the distances to everyone, made once for all who only ask it."""
    sketch = distance(box_of(2), norm, seed=3)
    if norm == "l2":  # every step of the search reads all directions
        sketch = sketch.with_directions(draws(5, 16), 4, Budget(5), len(POINTS))
    return released(sketch, POINTS, epsilon=5)


@cache
def centre_of(norm):
    return find_centres(measured(norm))[0]


def place_of(centre):
    return np.array(list(centre.position.values()))


@pytest.mark.deep
def test_the_median_of_every_column():
    release, centre = measured("l1"), centre_of("l1")
    low, high = (np.array(list(ends.values())) for ends in (centre.low, centre.high))
    median = np.median(POINTS, axis=0)
    assert np.abs(place_of(centre) - median).max() < 0.02
    assert (low <= median).all() and (median <= high).all() and (high - low < 0.1).all()
    exact = np.abs(POINTS - place_of(centre)).sum(axis=1).mean()
    assert centre.mean_low <= exact <= centre.mean_high
    assert "median of every column" in described(release)


def test_the_mean():
    release = released(distance(box_of(2), "squared"), POINTS)
    (centre,) = find_centres(release)
    assert np.abs(place_of(centre) - POINTS.mean(axis=0)).max() < 0.01
    assert "mean" in described(release)


@pytest.mark.thorough
def test_a_mean_of_whole_numbers_lies_between_them():
    ages = np.random.default_rng(1).integers(20, 24, (4000, 1)).astype(float)
    domain = Domain((Numeric("age", 0, 100, step=1),), scale="box")
    (mean,) = find_centres(release(distance(domain, "squared"), ages, Budget(10)))
    assert mean.position["age"] == pytest.approx(ages.mean(), abs=0.1)
    assert mean.low["age"] < ages.mean() < mean.high["age"] < mean.low["age"] + 0.4
    (median,) = find_centres(release(distance(domain, "l1"), ages, Budget(10)))
    assert median.position["age"] % 1 == 0


@pytest.mark.deep
def test_the_geometric_median():
    release, centre = measured("l2"), centre_of("l2")
    place = np.median(POINTS, axis=0)
    for _ in range(200):  # Weiszfeld's algorithm on the records themselves
        weights = 1.0 / np.maximum(np.linalg.norm(POINTS - place, axis=1), 1e-9)
        place = weights @ POINTS / weights.sum()
    assert np.linalg.norm(place_of(centre) - place) < 0.05
    least = np.linalg.norm(POINTS - place, axis=1).mean()
    assert np.linalg.norm(POINTS - place_of(centre), axis=1).mean() < 1.02 * least
    assert "geometric median" in described(release)


def test_a_category_is_the_most_frequent_one():
    domain = Domain.of(a=(0, 1), kind=["x", "y", "z"])
    points = np.zeros((1000, 4))
    points[:, 0] = POINTS[:1000, 0]
    points[np.arange(1000), 1 + np.repeat([1, 2, 0], [600, 300, 100])] = domain.amplitude("l1")
    (centre,) = find_centres(released(distance(domain, "l1"), points))
    assert centre.position["kind"] == "y" and set(centre.low) == {"a"}


@pytest.mark.deep
def test_intervals_for_the_median_hold_it():
    points, covered = POINTS[:, :1], 0
    sketch = with_chosen_size(distance(box_of(1), "l1"), Budget(1.0), len(points))
    for seed in range(10, 10 + draws(8, 20)):
        (centre,) = find_centres(released(sketch, points, seed=seed))
        covered += centre.low["a"] <= np.median(points) <= centre.high["a"]
    # Intervals that hold it 95% of the time do so 13 times of 20, or 2 of 8, or fewer, less than once in two million.
    assert covered >= draws(3, 14)


@pytest.mark.deep
def test_several_medians_of_one_column():
    points = POINTS[:, :1]
    release = released(distance(box_of(1), "l1"), points)
    centres = find_centres(release, 2)
    places = np.array([centre.position["a"] for centre in centres])
    assert places == pytest.approx([0.25, 0.7], abs=0.03)
    assert [centre.share for centre in centres] == pytest.approx([0.7, 0.3], abs=0.03)
    assert centres[0].low["a"] < places[0] < centres[0].high["a"]
    assert centres[0].mean == pytest.approx(0.06 * np.sqrt(2 / np.pi), abs=0.01)


def test_medians_of_a_synthetic_population(few_places):
    release = poured(box_of(2), kernels.Euclidean(0.1), POINTS, epsilon=5, rows=300)
    centres = find_centres(release, 2)
    assert np.array([place_of(centre) for centre in centres]) == pytest.approx(
        np.array([[0.25, 0.3], [0.7, 0.8]]), abs=0.08
    )
    assert centres[0].low == {} and np.isnan(centres[0].mean_low)
    assert centres[0].share + centres[1].share == pytest.approx(1.0)
    assert "synthetic population" in described(release, 2)
    assert "Intervals" not in described(release, 2), "it has none"


@given(st.lists(st.integers(0, 5), min_size=6, max_size=9), st.integers(1, 3))
def test_k_medians_are_the_best_of_all_choices(masses, count):
    places, masses = np.arange(len(masses), dtype=float), np.array(masses, dtype=float)
    found, sizes = medians_on_a_line(places, masses, count)

    def cost(chosen):
        return float(masses @ np.abs(places[:, None] - np.array(chosen)).min(axis=1))

    assert cost(found) == pytest.approx(min(cost(chosen) for chosen in combinations(places, count)))
    assert sizes.sum() == pytest.approx(masses.sum()) and (np.diff(found) >= 0).all()


def test_masses_are_those_that_the_sums_came_from():
    places = np.linspace(0.0, 1.0, 11)
    masses = np.array([3.0, 0, 5, 0, 0, 7, 1, 0, 0, 0, 4])
    sums = np.abs(places[:, None] - places) @ masses
    assert masses_on_a_line(sums, 0.1, 20.0) == pytest.approx(masses)


def test_medians_in_space_are_those_of_separate_groups():
    random = np.random.default_rng(1)
    centres, groups = medians_in_space(POINTS, 2, random)
    assert np.abs(centres - [[0.25, 0.3], [0.7, 0.8]]).max() < 0.02 and np.bincount(groups)[0] > 1900
    alone, _ = medians_in_space(POINTS, 1, random)
    assert alone[0] == pytest.approx(np.median(POINTS, axis=0))


@pytest.mark.thorough
def test_what_has_no_centre_says_so():
    plane = measured("l1")
    with pytest.raises(RequestError, match="one column of numbers"):
        find_centres(plane, 2)
    with pytest.raises(RequestError, match="one side only"):
        find_centres(released(distance(box_of(1), "above"), POINTS[:, :1]))
    for wrong in ({"count": 0}, {"count": 99}, {"level": 1.0}):
        with pytest.raises(RequestError):
            find_centres(plane, **wrong)
    with pytest.raises(RequestError, match="gives no modes"):
        check_closeness(plane, "modes")


def test_a_release_of_classes_says_which_to_ask():
    domain = Domain.of(a=(0, 1), kind=["x", "y"])
    points = np.zeros((500, 3))
    points[:, 0] = POINTS[:500, 0]
    points[np.arange(500), 1 + (POINTS[:500, 0] > 0.5)] = domain.amplitude("l1")
    release = released(Classes(domain, "kind", distance(domain.without("kind"), "l1")), points)
    with pytest.raises(RequestError, match=r"several classes.*x, y"):
        find_centres(release)
    centre = find_centres(release.of_class("y"))[0]
    assert centre.position["a"] == pytest.approx(0.7, abs=0.05)


@pytest.mark.deep
@pytest.mark.parametrize("norm", ["l1", "l2", "squared"])
def test_the_nearest_place_alone_is_the_centre_that_is_found(norm):
    made = measured(norm)
    assert nearest_place(made) == centre_of(norm).position


def test_the_nearest_place_of_several_classes_is_refused():
    domain = Domain.of(x=(0, 1), kind=["a", "b"])
    sketch = Classes(domain, "kind", distance(domain.without("kind"), "l1"))
    with pytest.raises(RequestError, match="several classes"):
        nearest_place(released(sketch, domain.encode_queries({"x": [0.5, 0.2], "kind": ["a", "b"]}, sketch.metric)))


@pytest.mark.parametrize("norm", ["l1", "squared"])
def test_intervals_of_centres_are_said_to_hold_for_the_records_only(norm):
    made = release(distance(Domain.of(x=(0, 1)), norm), {"x": [0.5]}, Budget(1))
    assert "hold for these records only" in described(made)
