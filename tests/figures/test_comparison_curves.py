"""Methods side by side: the marks that tell them apart, curves of error, bars of cost, and released functions."""

import colorsys
import math
from itertools import combinations

import numpy as np
import pytest

from core.figures import palette
from core.figures.comparison_figures import (
    COLOURS,
    Costs,
    costs_figure,
    costs_in_words,
    curves_figure,
    distance,
    error_at,
    errors_figure,
    errors_in_words,
    functions_in_words,
    map_ends,
    map_figure,
    method_marks,
)
from core.figures.figure_axes import Axis
from core.formatting.numbers import percent, size, taken
from core.lab.comparison_plan import ErrorCurve

MARKS = method_marks({"a": "First", "b": "Second <b>", "c": "Third"})
GOOD = ErrorCurve(
    "a",
    "relative_error",
    False,
    (0.1, 1.0, 10.0),
    (0.4, 0.1, 0.02),
    (0.3, 0.1, 0.01),
    (0.5, 0.1, 0.03),
    (None,) * 3,
    (1,) * 3,
    (5,) * 3,
)
BAD = ErrorCurve(
    "b", "relative_error", False, (0.1, 10.0), (4.0, 0.5), (4.0, 0.5), (4.0, 0.5), (None,) * 2, (1,) * 2, (1,) * 2
)
ABSENT = ErrorCurve("c", "relative_error", False, (0.1,), (math.inf,), (math.inf,), (math.inf,), (None,), (1,), (1,))


def luminance(colour):
    channels = [value / 255 for value in palette.rgb(colour)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in channels]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def hue(colour):
    return 360 * colorsys.rgb_to_hsv(*palette.rgb(colour))[0]


@pytest.mark.parametrize("colour", COLOURS)
def test_method_colours_stand_out_on_both_themes_and_mean_nothing(colour):
    assert contrast(colour, palette.PAPER.light) >= 3 and contrast(colour, palette.PAPER.dark) >= 3
    saturation = colorsys.rgb_to_hsv(*palette.rgb(colour))[1]
    for meaning in (palette.AMBER, palette.TEAL, palette.RED):
        apart = abs(hue(colour) - hue(meaning.shape)) % 360
        assert min(apart, 360 - apart) > 30 or saturation < 0.25


def test_twenty_methods_have_a_line_of_their_own_and_more_a_symbol():
    marks = method_marks({str(i): str(i) for i in range(28)})
    assert len({(mark.colour, mark.symbol) for mark in marks.values()}) == 28
    assert len({(mark.colour, mark.dash) for mark in list(marks.values())[:20]}) == 20
    for first, second in combinations(list(marks.values())[:4], 2):
        assert first.colour != second.colour and first.symbol != second.symbol


def test_curves_are_drawn_with_bands_where_repetitions_differ_and_the_legend_goes_from_good_to_bad():
    figure = errors_figure([BAD, GOOD], MARKS, 1.0, (0.1, 10.0))
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["First", "Second &lt;b&gt;"]
    (band,) = (trace for trace in figure.data if trace.fill == "toself")
    assert list(band.x) == [0.1, 1.0, 10.0, 10.0, 1.0, 0.1] and list(band.y) == [0.5, 0.1, 0.03, 0.01, 0.1, 0.3]
    assert band.legendgroup == "a" and figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    low, high = figure.layout.xaxis.range
    assert low < -1 and high > 1


def test_errors_in_between_lie_on_the_line_and_are_unknown_beyond():
    assert error_at(BAD, 1.0) == pytest.approx(math.sqrt(4 * 0.5))
    assert math.isnan(error_at(GOOD, 0.05)) and math.isnan(error_at(GOOD, 20.0)) and math.isnan(error_at(ABSENT, 0.1))


def test_the_words_give_every_error_the_least_first():
    words = errors_in_words([BAD, ABSENT, GOOD], MARKS, 1.0)
    assert words.endswith("At ε = 1, from the least to the greatest: First 10%; Second &lt;b&gt; 140%.")
    assert "nothing is known" in errors_in_words([ABSENT], MARKS, 1.0)


def test_figures_without_anything_are_no_fault():
    assert len(errors_figure([], MARKS, 1.0, (0.1, 10.0)).data) == 0
    assert "nothing is known" in errors_in_words([], MARKS, 1.0)


def test_shares_beyond_bearing_are_times():
    assert (percent(0.0312), percent(1.4), percent(25.2)) == ("3.1%", "140%", "25 times")


def test_bars_are_as_long_as_the_logarithm_and_have_their_words():
    costs = Costs("Time", {"a": 0.001, "b": 0.1}, {"a": "1 ms", "b": "100 ms"})
    bar = costs_figure(costs, MARKS).data[0]
    assert bar.x[1] - bar.x[0] == pytest.approx(2.0) and bar.x[0] > 0 and list(bar.text) == ["1 ms", "100 ms"]
    assert list(bar.marker.color) == [MARKS["a"].colour, MARKS["b"].colour]
    assert costs_in_words(costs, MARKS) == "Time: First 1 ms; Second &lt;b&gt; 100 ms."


def test_times_and_sizes_have_the_unit_that_suits_them():
    assert [taken(s) for s in (12.34, 0.0517, 4.2e-6, 3e-8)] == ["12 s", "52 ms", "4.2 µs", "30 ns"]
    assert [size(b) for b in (120, 4_230, 5.6e6, 1e9)] == ["120 bytes", "4.2 KB", "5.6 MB", "1 GB"]


X = Axis("pay", np.linspace(0, 10, 50), 0.0, 10.0, "EUR")
EXACT = np.linspace(0, 100, 50)


def test_functions_lie_over_the_exact_one_on_a_scale_that_noise_does_not_move():
    quiet = curves_figure(X, EXACT, {"a": EXACT + 1}, MARKS, "people")
    loud = curves_figure(X, EXACT, {"a": EXACT + 1e6}, MARKS, "people")
    assert [trace.name for trace in quiet.data] == ["exact", "First"]
    assert quiet.layout.yaxis.range == loud.layout.yaxis.range and quiet.layout.yaxis.range[1] > 100


def test_maps_share_their_colours_and_the_words_say_how_far_off_each_is():
    exact = EXACT.reshape(5, 10)
    x, y = Axis("x", np.arange(10.0), 0, 9), Axis("y", np.arange(5.0), 0, 4)
    ends = map_ends(exact, "closeness")
    one, other = (map_figure(x, y, exact + noise, ends, "people").data[0] for noise in (0, 500))
    assert (one.zmin, one.zmax) == (other.zmin, other.zmax) == (0, 100)
    assert map_ends(exact + 20, "distance") == (20, 120)
    assert distance(exact, 1.5 * exact) == pytest.approx(0.5)
    assert functions_in_words(exact, {"a": 1.5 * exact}, MARKS, 1.0).endswith("on average: First 50%.")
    assert "Nothing is released" in functions_in_words(exact, {}, MARKS, 1.0)


def test_an_axis_of_few_decades_has_labels_between_powers_of_ten():
    def step(*errors):
        curve = ErrorCurve(
            "a", "relative_error", False, (0.1, 1.0), errors, errors, errors, (None, None), (1, 1), (1, 1)
        )
        return errors_figure([curve], MARKS, 1.0, (0.1, 1.0)).layout.yaxis.dtick

    assert [step(0.4, 0.2), step(0.5, 0.03), step(0.5, 0.001)] == ["D1", "D2", 1]
