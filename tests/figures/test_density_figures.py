"""Figures of a density show what stands out from the noise in teal, and hatch the rest."""

import math

import numpy as np
import pytest

from core.analysis.density import Curve, Heatmap
from core.domain import Categorical, Domain, Numeric
from core.figures.density_figures import (
    MAX_TARGETS,
    Marks,
    density_bars,
    density_figure,
    density_line,
    density_map,
    picture_in_words,
)
from core.figures.figure_axes import COASTS, NAME
from core.figures.palette import TEAL
from core.figures.traces import HATCHED, hatch, hidden_by_noise, on_paper

AGE = Numeric("age", 0, 100, "years")
INCOME = Numeric("income", 0, 200)
CITY = Categorical("city", ("Bern", "Basel", "Chur"))


def facts(estimate: np.ndarray, error: float = 20.0) -> dict:
    """The fields of a picture whose answers all have one standard error."""
    return {
        "estimate": estimate,
        "low": estimate - 2 * error,
        "high": estimate + 2 * error,
        "density": estimate / 1e4,
        "standard_error": np.full(estimate.shape, error),
        "at": {},
        "averaged": (),
        "averaging_places": 1,
    }


def hill(values: np.ndarray, centre: float, width: float) -> np.ndarray:
    return np.exp(-(((values - centre) / width) ** 2))


@pytest.fixture
def curve() -> Curve:
    values = np.linspace(0, 100, 400)
    return Curve(column="age", values=values, **facts(6000 * hill(values, 30, 12)))


@pytest.fixture
def heatmap() -> Heatmap:
    x, y = (np.arange(200) + 0.5) / 2, (np.arange(200) + 0.5)
    estimate = 6000 * hill(y, 60, 30)[:, None] * hill(x, 30, 15)[None, :]
    return Heatmap(x="age", y="income", x_values=x, y_values=y, **facts(estimate))


def named(figure, name: str):
    found = [trace for trace in figure.data if trace.name == name and trace.visible is not False]
    return found[0] if found else None


def inside(x: float, y: float, trace) -> bool:
    """Whether a point lies in a polygon of many rings (even-odd rule)."""
    xs, ys = np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)
    x1, x2, y1, y2 = xs[:-1], xs[1:], ys[:-1], ys[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        crosses = ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    return bool(crosses[~np.isnan(x1 + x2 + y1 + y2)].sum() % 2)


def test_the_map_is_coloured_where_people_stand_out_and_hatched_elsewhere(heatmap):
    figure = density_map(heatmap, (AGE, INCOME), "people")
    z = np.array(figure.data[0].z)
    assert z.dtype == np.float32 and z.shape == (200, 200)
    hatched = named(figure, HATCHED)
    for column, row in [(60, 60), (10, 180), (150, 100), (40, 90)]:
        clear = heatmap.low[row, column] > 0
        assert np.isfinite(z[row, column]) == clear
        assert inside(heatmap.x_values[column], heatmap.y_values[row], hatched) != clear
    assert hatched.showlegend and hatched.fillpattern.shape == "/" and hatched.hoverinfo == "skip"


def test_the_map_has_no_colours_of_its_own_so_that_the_theme_decides(heatmap):
    assert density_map(heatmap, (AGE, INCOME), "people").data[0].colorscale is None


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (7, 30)])
def test_hatching_covers_exactly_the_hidden_cells(shape):
    mask = np.random.default_rng(3).random(shape) < 0.4
    mask[0, 0] = True
    from core.figures.figure_axes import Axis

    x, y = (Axis.of(Numeric("x", 0, n), np.arange(n) + 0.5) for n in (shape[1], shape[0]))
    trace = hatch(mask, x, y)
    covered = [[inside(a + 0.1, b - 0.1, trace) for a in x.values] for b in y.values]
    assert np.array_equal(covered, mask)


def test_nothing_hidden_leaves_no_hatching_in_the_legend(heatmap):
    everywhere = Heatmap(
        x="age", y="income", x_values=heatmap.x_values, y_values=heatmap.y_values, **facts(heatmap.estimate + 1000)
    )
    assert named(density_map(everywhere, (AGE, INCOME), "people"), HATCHED) is None


def test_everything_hidden_is_hatched_without_contours(heatmap):
    nothing = Heatmap(
        x="age", y="income", x_values=heatmap.x_values, y_values=heatmap.y_values, **facts(0 * heatmap.estimate)
    )
    figure = density_map(nothing, (AGE, INCOME), "people")
    assert np.isnan(figure.data[0].z).all() and "contour" not in {trace.type for trace in figure.data}
    words = picture_in_words("Density of age", nothing, "here", "people")
    assert words == "Density of age. The noise hides all of it."


def test_specks_follow_their_surroundings_and_what_stands_out_stays():
    estimate = np.full((96, 96), 500.0)
    estimate[60:, :40] = 0.0
    estimate[10, 10] = estimate[50, 51] = 0.0
    estimate[80, 20] = 45.0  # its interval is just above zero
    estimate[90, 10] = 200.0  # this one's far above, but alone
    estimate[84:87, 9:12] = 200.0
    values = np.arange(96) + 0.5
    hidden = hidden_by_noise(Heatmap(x="a", y="b", x_values=values, y_values=values, **facts(estimate)))
    expected = np.zeros((96, 96), dtype=bool)
    expected[60:, :40] = True
    expected[84:87, 9:12] = [[True, False, True], [False, False, False], [True, False, True]]
    corner = np.s_[58:64, 36:44]
    hidden[corner] = expected[corner]
    assert np.array_equal(hidden, expected)


def test_anywhere_on_the_map_a_target_is_near_and_says_what_is_there(heatmap):
    figure = density_map(heatmap, (AGE, INCOME), "people", asked=(31.5, 60))
    target = named(figure, NAME)
    assert len(target.x) == len(target.text) == 50 * 50 + 1 <= MAX_TARGETS**2 + 1
    assert figure.layout.hoverdistance == -1 and figure.layout.hovermode == "closest"
    assert (target.x[-1], target.y[-1]) == (31.5, 60) and list(target.selectedpoints) == [len(target.x) - 1]
    assert target.unselected.marker.opacity == 0 and target.selected.marker.opacity == 1
    busiest = int(np.argmin((target.x[:-1] - 30) ** 2 + (target.y[:-1] - 60) ** 2))
    row, column = (np.argmin(np.abs(v - at)) for v, at in ((heatmap.y_values, 60), (heatmap.x_values, 30)))
    assert "age" in target.text[busiest] and "income" in target.text[busiest]
    assert "about 5,9" in target.text[busiest] and heatmap.estimate[row, column] > 5900
    assert "hidden by the noise" in target.text[-2]
    scattered = [trace for trace in figure.data if trace.name != NAME]
    assert all(trace.hoverinfo == "skip" for trace in scattered)


def test_the_same_question_gives_the_same_figure_so_that_its_zoom_stays(heatmap):
    one, other = (density_map(heatmap, (AGE, INCOME), "people", asked=(1, 2)).to_json() for _ in range(2))
    assert one == other


def test_the_curve_has_a_band_that_is_its_interval_and_a_gap_where_noise_hides_it(curve):
    figure = density_line(curve, AGE, "people")
    band, line = named(figure, "very likely within"), named(figure, "best guess")
    assert np.allclose(band.y[:400], curve.high) and np.allclose(band.y[400:], curve.low[::-1])
    assert line.line.color == TEAL.shape and figure.layout.xaxis.title.text == "age (years)"
    assert np.isnan(line.y[-1]) and np.isfinite(line.y[120])
    assert inside(80, 0.0, named(figure, HATCHED)) and not inside(30, 6000, named(figure, HATCHED))
    assert figure.layout.yaxis.title.text == "people close by" and figure.layout.yaxis.tickformat == ","


def test_the_asked_place_sits_on_the_curve(curve):
    target = named(density_line(curve, AGE, "people", asked=30.0), NAME)
    assert target.x[-1] == 30.0 and abs(target.y[-1] - 6000) < 5


def test_bars_have_intervals_and_hidden_ones_are_hatched():
    bars = Curve(column="city", values=np.array(CITY.categories, dtype=object), **facts(np.array([900.0, 10.0, 400.0])))
    figure = density_bars(bars, CITY, "records", asked="Chur")
    solid, hollow = figure.data[0], named(figure, HATCHED)
    assert list(np.isfinite(solid.y)) == [True, False, True] and list(np.isfinite(hollow.y)) == [False, True, False]
    assert solid.error_y.array[0] == 40 and hollow.marker.pattern.shape == "/"
    assert named(figure, NAME).x[-1] == 2.0 and figure.layout.yaxis.title.text == "records close by"


def test_categories_make_a_map_too():
    mixed = Heatmap(
        x="city",
        y="age",
        x_values=np.array(CITY.categories, dtype=object),
        y_values=np.arange(10) * 10.0 + 5,
        **facts(np.full((10, 3), 500.0)),
    )
    figure = density_map(mixed, (CITY, AGE), "people", asked=("Basel", 25.0))
    assert figure.data[0].z.shape == (10, 3) and "contour" not in {trace.type for trace in figure.data}
    assert (named(figure, NAME).x[-1], named(figure, NAME).y[-1]) == (1.0, 25.0)


def test_modes_are_numbered_badges(heatmap):
    figure = density_map(heatmap, (AGE, INCOME), "people", Marks(np.array([30.0, 70.0]), np.array([60.0, 150.0])))
    badges = named(figure, "Modes")
    assert list(badges.text) == ["1", "2"] and list(badges.x) == [30, 70] and badges.showlegend is not False


def test_the_words_name_the_highest_place_its_interval_and_how_much_is_hidden(curve):
    words = picture_in_words("Density of age", curve, "age 30", "people")
    assert "highest at age 30, with about 6,000 people close by, very likely between 5,950 and 6,040" in words
    hidden = 100 * hidden_by_noise(curve).mean()
    assert f"The noise hides {hidden:.0f}% of it." in words


def test_on_paper_no_point_is_ringed_and_the_map_keeps_its_room(heatmap):
    drawn = on_paper(density_map(heatmap, (AGE, INCOME), "people", asked=(30, 60)))
    assert list(named(drawn, NAME).selectedpoints) == []
    assert drawn.layout.margin.t >= 84


def test_places_that_were_found_have_coasts_and_a_kilometre_as_long_either_way():
    ends = {"lat": (41.3125, 51.125), "lng": (-5.1875, 8.25)}
    places = {name: np.linspace(*one, 20) for name, one in ends.items()}
    sides = {"x_values": places["lng"], "y_values": places["lat"]}
    picture = Heatmap(x="lng", y="lat", **sides, **facts(np.full((20, 20), 90.0)))
    figure = density_figure(picture, Domain(tuple(Numeric(name, *one) for name, one in ends.items())), "people")
    assert len(named(figure, COASTS).x) > 50
    middle = math.radians(sum(ends["lat"]) / 2)
    assert figure.layout.yaxis.scaleratio == pytest.approx(1 / math.cos(middle))
