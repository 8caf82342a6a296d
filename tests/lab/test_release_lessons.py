"""Lesson: people on a plane, cut into cells. The cells drawn are the cells counted, and their average is the sum.

Lesson: bounds read off the data give the richest person away, and public ones do not.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RequestError
from core.lab.release_lessons import (
    DRAWS,
    GAMES,
    MOST_PEOPLE,
    OTHERS,
    PUBLIC_BOUNDS,
    ROWS,
    SIDE,
    Plane,
    attack,
    in_text,
    places,
)
from core.ui.frame.marks import best_guess

PEOPLE = places("1 1, 2 2.5, 2.25 2, 7 8, 9.5 0.25")


def area(corners):
    x, y = corners.T
    return abs(float(x @ np.roll(y, 1) - y @ np.roll(x, 1))) / 2 if len(corners) > 2 else 0.0


@pytest.mark.thorough
def test_every_draw_keeps_its_cells_apart_and_the_stripes_cover_the_plane():
    for draw in range(1, DRAWS + 1):
        plane = Plane(PEOPLE, draw)
        assert not plane.sketch.columns.rehashed.any()
        for row in range(ROWS):
            whole = sum(area(plane.stripe(row, cell)) for cell in range(plane.cells[row]))
            assert whole == pytest.approx(SIDE**2)


@given(st.integers(1, DRAWS), st.tuples(st.floats(0, SIDE), st.floats(0, SIDE)))
def test_whoever_falls_into_a_cell_stands_in_its_stripe(draw, place):
    plane = Plane(PEOPLE, draw)
    for row, cell in enumerate(plane.fallen(place)):
        corners = plane.stripe(row, int(cell))
        after = np.roll(corners, -1, axis=0)
        # Inside a convex polygon, every edge has the place on the same side.
        edge, away = after - corners, np.array(place) - corners
        turns = edge[:, 0] * away[:, 1] - edge[:, 1] * away[:, 0]
        assert len(corners) > 2 and (turns >= -1e-6).all()


def test_each_row_counts_everyone_once():
    table = Plane(PEOPLE, crowd=10).table
    assert (table.sum(axis=1) == 10 * len(PEOPLE)).all()
    assert (Plane(np.empty((0, 2))).table == 0).all()


def test_the_average_of_the_framed_counts_is_what_a_release_answers():
    plane, place = Plane(PEOPLE, crowd=100), (2.0, 2.0)
    made = plane.released("1", 1)
    met = made.counters[np.arange(ROWS), plane.fallen(place)]
    assert met.mean() == pytest.approx(made.estimate([place])[0])
    assert not made.private
    assert (plane.released("1", 1).counters == made.counters).all(), "a class sees what its teacher saw"


@pytest.mark.thorough
def test_over_all_draws_the_average_is_the_kernel_sum():
    place = (2.0, 2.0)
    planes = [Plane(PEOPLE, draw) for draw in range(1, DRAWS + 1)]
    means = np.array([plane.table[np.arange(ROWS), plane.fallen(place)].mean() for plane in planes])
    assert abs(means.mean() - planes[0].exact(place)) < 6 * means.std(ddof=1) / math.sqrt(DRAWS)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=MOST_PEOPLE))
def test_places_survive_their_text(quarters):
    points = np.array(quarters, dtype=np.float64).reshape(-1, 2) / 4
    assert (places(in_text(points)) == points).all()


@pytest.mark.parametrize("text", ["1", "1 2 3", "a b", "nan 1", "inf 0", "-1 2", "1 10.5", "1 1," * 61, "1 2; 3 4"])
def test_what_is_no_list_of_places_gets_a_sentence(text):
    with pytest.raises(RequestError):
        places(text)


@pytest.mark.parametrize("epsilon", ["0.05", "1", "10"])
def test_bounds_from_the_data_tell_the_richest_pay_and_win_every_game(epsilon):
    found = attack(4_870_000, epsilon, from_data=True)
    assert found.bounds == ((min(OTHERS), 4_870_000), (min(OTHERS), max(OTHERS)))
    assert found.given_away and found.right == GAMES


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "1", "2"])
def test_with_public_bounds_the_best_guesser_keeps_to_the_promise(epsilon):
    """Wins beyond five standard deviations above the limit would happen once in 3 million."""
    found = attack(4_870_000, epsilon, from_data=False)
    limit = best_guess(float(epsilon))
    assert found.bounds == (PUBLIC_BOUNDS, PUBLIC_BOUNDS) and not found.given_away
    assert found.right < GAMES * limit + 5 * math.sqrt(GAMES * limit * (1 - limit))


def test_the_guesser_is_no_straw_man():
    """At ε = 5 the promise allows 99.3%, and a guesser who did no better than a coin would prove nothing."""
    assert attack(4_870_000, "5", from_data=False).right > 0.8 * GAMES


def test_beyond_public_bounds_nothing_moves():
    first, second = (attack(pay, "1", from_data=False) for pay in (300_000, 9_000_000))
    assert first.bounds == second.bounds and first.right == second.right
    assert (first.with_richest.counters == second.with_richest.counters).all()
