"""Figures of average distances: near is the strongest shade, nothing is hidden, the nearest place has a cross.

Distance releases that could come out: around the exact averages, as far as the noise moves them.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.analysis.density import Curve, Heatmap
from core.domain import Domain, Numeric
from core.figures.density_figures import MAX_TARGETS, Marks
from core.figures.distance_figures import (
    CENTRES,
    NEAREST,
    distance_figure,
    distance_title,
    distance_unit,
    distances_in_words,
)
from core.figures.figure_axes import NAME
from core.figures.forecast_figures import PLACES, SIMULATED, possible_distances, possible_distances_in_words
from core.figures.traces import HATCHED, on_paper
from core.privacy.budget import Budget
from core.sketches.distance import Distance
from core.sketches.moments import Moments
from core.sketches.plan import plan
from core.sketches.registry import distance

DOMAIN = Domain.of(east=(0, 20), north=(0, 16), city=["Bern", "<b>Chur"])
FACTS = {"at": {}, "averaged": (), "averaging_places": 1}


def answers(mean: np.ndarray) -> dict:
    error = np.full(mean.shape, 0.05)
    return {"estimate": mean, "low": mean - 0.1, "high": mean + 0.1, "density": mean, "standard_error": error}


@pytest.fixture
def heatmap() -> Heatmap:
    """A bowl whose floor is at (5, 12)."""
    x, y = np.linspace(0.5, 19.5, 20), np.linspace(0.5, 15.5, 16)
    bowl = 3.0 + np.hypot(x[None, :] - 5.0, y[:, None] - 12.0)
    return Heatmap(x="east", y="north", x_values=x, y_values=y, **answers(bowl), **FACTS)


@pytest.fixture
def curve() -> Curve:
    values = np.linspace(0, 20, 41)
    return Curve(column="east", values=values, **answers(3.0 + np.abs(values - 5.0)), **FACTS)


def named(figure, name):
    return next((trace for trace in figure.data if trace.name == name), None)


def test_near_is_the_strongest_shade_and_nothing_is_hatched(heatmap):
    figure = distance_figure(heatmap, DOMAIN, "km")
    assert figure.data[0].type == "heatmap" and figure.data[0].reversescale
    assert np.array_equal(np.array(figure.data[0].z), heatmap.estimate.astype(np.float32))
    assert named(figure, HATCHED) is None and named(on_paper(figure), HATCHED) is None
    assert any(note.text == "average distance (km)" for note in figure.layout.annotations)


def test_targets_are_closer_than_cells_and_say_the_distance_there(heatmap):
    targets = named(distance_figure(heatmap, DOMAIN, "km", asked=(5.0, 12.0)), NAME)
    places = np.array([targets.x, targets.y]).T
    assert len(places) == MAX_TARGETS**2 + 1 and tuple(places[-1]) == (5.0, 12.0)
    assert list(targets.selectedpoints) == [MAX_TARGETS**2]
    assert places[:, 0].min() > 0 and places[:, 0].max() < 20 and places[:, 1].max() < 16
    for place, words in list(zip(places, targets.text, strict=True))[:-1:97]:
        said = float(words.split("everyone is ")[1].split(" km")[0])
        assert abs(said - 3.0 - np.hypot(*(place - [5.0, 12.0]))) < 0.15


def test_one_cross_is_the_nearest_place_and_several_are_centres(heatmap, curve):
    one = distance_figure(heatmap, DOMAIN, "km", Marks(np.array([5.0]), np.array([12.0])))
    assert named(one, NEAREST).marker.symbol == "cross" and named(one, CENTRES) is None
    two = distance_figure(curve, DOMAIN, "km", Marks(np.array([3.0, 9.0]), np.array([5.0, 7.0])))
    assert len(named(two, CENTRES).x) == 2
    assert named(distance_figure(curve, DOMAIN, "km", Marks(np.empty(0), np.empty(0))), CENTRES) is None


def test_a_curve_has_its_band_and_need_not_start_at_zero(curve):
    figure = distance_figure(curve, DOMAIN, "km", asked=(5.0,))
    band = named(figure, "very likely within")
    assert np.array_equal(np.array(band.y), np.concatenate([curve.high, curve.low[::-1]]))
    assert figure.layout.yaxis.rangemode is None and figure.layout.yaxis.title.text == "average distance (km)"
    targets = named(figure, NAME)
    assert (targets.x[-1], targets.y[-1]) == (5.0, 3.0)


def test_categories_are_bars_and_their_names_are_text():
    curve = Curve(
        column="city", values=np.array(["Bern", "<b>Chur"], dtype=object), **answers(np.array([1.0, 2.0])), **FACTS
    )
    figure = distance_figure(curve, DOMAIN, "")
    assert figure.data[0].type == "bar" and figure.layout.yaxis.title.text == "average distance"
    assert all("<b>Chur" not in text for text in figure.layout.xaxis.ticktext)


@pytest.mark.parametrize(
    ("norm", "scale", "units", "expected"),
    [
        ("l1", "none", ("km", "km"), "km"),
        ("l2", "none", ("km", "km"), "km"),
        ("squared", "none", ("km", "km"), "km²"),
        ("l1", "none", ("km", "m"), ""),
        ("l2", "box", ("km", "m"), "ranges"),
        ("squared", "box", ("", ""), "squared ranges"),
        ("lp:3", "none", ("km", "km"), ""),
        ("capped:2", "none", ("km", "km"), "km"),
        ("above", "none", ("", ""), ""),
    ],
)
def test_a_distance_has_a_unit_where_its_columns_share_one(norm, scale, units, expected):
    domain = Domain((Numeric("a", 0, 1, units[0]), Numeric("b", 0, 2, units[1])), scale=scale)
    assert distance_unit(distance(domain, norm)) == expected
    assert distance_title(expected) == (f"average distance ({expected})" if expected else "average distance")


def test_words_have_the_digits_of_the_error():
    said = distances_in_words(np.array([3.14159, 20.0]), np.array([0.02, 3.0]), "km")
    assert said == ["everyone is 3.14 km away on average", "everyone is 20 km away on average"]
    assert distances_in_words(np.array([0.5]), np.array([0.1]), "")[0] == "everyone is 0.5 away on average"


LINE = Domain.of(x=(0, 10))
ALONG = np.asfortranarray(np.linspace(0, 10, PLACES)[:, None])
RECORDS = 1_000.0


def simulated(sketch, epsilon=1.0):
    budget = Budget(epsilon)
    sketch = sketch.sized_for(budget, RECORDS)
    variance = plan(sketch, budget).noise.variance
    return sketch, variance, possible_distances(0, 10, sketch, ALONG, RECORDS, variance)


def test_the_crowd_has_its_exact_average_distances():
    _, _, possible = simulated(Distance(LINE))
    # Three fifths of the crowd stand around 3, the others around 6.8: the median lies at the first heap's far end.
    assert 3.0 < possible.places[possible.crowd.argmin()] < 5.0
    slope = np.diff(possible.crowd) / np.diff(possible.places)
    assert slope[0] < -0.9 and slope[-1] > 0.9 and (np.diff(slope) >= -1e-9).all()


def test_releases_spread_as_the_noise_of_the_sketch_does():
    for made in (Distance(LINE), Moments(LINE)):
        sketch, variance, possible = simulated(made, 0.1)
        errors = possible.releases - possible.crowd
        expected = math.sqrt(float(np.mean(sketch.noise_variance(variance, ALONG)))) / RECORDS
        assert possible.releases.shape == (SIMULATED, PLACES)
        # Errors along the line hang together, so 50 draws are some hundred independent ones: 4 sigma are a third.
        assert abs(math.sqrt(np.mean(errors**2)) / expected - 1) < 0.35


def test_the_nearest_place_is_lost_when_noise_exceeds_the_differences():
    clear, drowned = (simulated(Distance(LINE), epsilon)[2] for epsilon in (5.0, 0.001))
    assert clear.kept == SIMULATED and drowned.kept < 40
    assert possible_distances_in_words(clear).startswith("In 50 of 50 simulated releases the place nearest to everyone")
