"""Figures of classes: colour where the answer is sure, hatching where it is not, and names everywhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from core.analysis.classification import Classification, DecisionMap, confusion_of
from core.domain import Domain
from core.figures.class_figures import (
    CLASS_COLOURS,
    UNSURE,
    class_colour,
    confusion_figure,
    confusion_in_words,
    decision_figure,
    decision_in_words,
    probability_figure,
    probability_in_words,
)
from core.figures.figure_axes import NAME
from core.figures.palette import AMBER, RED, rgb
from core.figures.traces import on_paper

DOMAIN = Domain.of(age=(0, 100), income=(0, 10), city=["Bern", "Chur"])
CLASSES = ("calm", "<b>wild</b>", "neither")


@pytest.fixture
def drawn() -> DecisionMap:
    """Calm to the left, wild to the right, and doubt in the middle and at the top."""
    values = (np.arange(20) + 0.5) * 5
    codes = np.broadcast_to(np.where(values < 50, 0, 1), (20, 20)).astype(np.int64)
    confidence = np.where(np.abs(values - 50) < 15, 0.6, 0.99) * np.ones((20, 1))
    confidence[15:] = 0.5
    certain = confidence >= 0.95
    probabilities = np.eye(3)[codes] * 0.8 + 0.2 / 3
    return DecisionMap(
        "age", "income", values, values / 10, CLASSES, "posterior", codes, confidence, certain, probabilities, {}, ()
    )


def named(figure, name):
    return next((trace for trace in figure.data if trace.name == name), None)


def test_sure_places_have_the_colour_of_their_class_and_doubtful_ones_are_hatched(drawn):
    figure = decision_figure(drawn, DOMAIN, asked=(30.0, 5.0))
    hint, sure = figure.data[0], figure.data[1]
    assert np.array_equal(np.isfinite(sure.z), drawn.certain) and np.array_equal(np.isfinite(hint.z), ~drawn.certain)
    assert (np.array(sure.z)[drawn.certain] == drawn.codes[drawn.certain]).all()
    assert hint.opacity < 0.3 and sure.opacity == 1
    hatched = named(figure, UNSURE)
    assert hatched.showlegend and hatched.fillpattern.shape == "/"
    scale = dict(sure.colorscale)
    assert {scale[1 / 3 - 1 / 3], scale[1.0]} == {class_colour(0), class_colour(2)}
    target = named(figure, NAME)
    assert (target.x[-1], target.y[-1]) == (30.0, 5.0)
    assert any("don't know; perhaps calm (60% sure)" in text for text in target.text)


def test_names_stand_in_their_areas_and_in_the_legend_as_plain_text(drawn):
    figure = decision_figure(drawn, DOMAIN)
    names = next(trace for trace in figure.data if trace.type == "scatter" and trace.mode == "text")
    assert list(names.text) == ["calm", "&lt;b&gt;wild&lt;/b&gt;"]
    assert names.x[0] < 40 < 60 < names.x[1] and max(names.y) < 7.5
    legend = [trace.name for trace in figure.data if trace.type == "scatter" and trace.marker.symbol == "square"]
    assert legend == ["calm", "&lt;b&gt;wild&lt;/b&gt;"]
    assert "<b>wild" not in figure.to_json().replace("\\u003c", "<").replace("<br>", "")


def test_the_map_in_words(drawn):
    words = decision_in_words("Classes over age and income", drawn)
    assert (
        words == "Classes over age and income. Share of the map: calm 26%, <b>wild</b> 26%, neither 0%; don't know 48%."
    )


def test_everything_doubtful_and_everything_sure(drawn):
    doubt = replace(drawn, certain=np.zeros((20, 20), bool))
    assert len(next(t for t in decision_figure(doubt, DOMAIN).data if t.type == "scatter" and t.mode == "text").x) == 0
    sure = replace(drawn, certain=np.ones((20, 20), bool))
    assert named(decision_figure(sure, DOMAIN), UNSURE).visible is False


def test_categories_are_an_axis_of_names():
    drawn = DecisionMap(
        "city",
        "age",
        np.array(["Bern", "Chur"], dtype=object),
        np.arange(10) * 10.0 + 5,
        CLASSES,
        "likelihood",
        np.zeros((10, 2), np.int64),
        np.ones((10, 2)),
        np.ones((10, 2), bool),
        np.ones((10, 2, 3)) / 3,
        {},
        (),
    )
    figure = decision_figure(drawn, DOMAIN, asked=("Chur", 15.0))
    assert list(figure.layout.xaxis.ticktext) == ["Bern", "Chur"] and named(figure, NAME).x[-1] == 1.0


def test_probabilities_are_bars_with_their_numbers():
    figure = probability_figure(CLASSES, np.array([0.705, 0.291, 0.004]), certain=True)
    (bars,) = figure.data
    assert list(bars.text) == ["70%", "29%", "0.4%"] and bars.y[1] == "&lt;b&gt;wild&lt;/b&gt;"
    assert list(bars.marker.color) == [class_colour(code) for code in range(3)] and bars.marker.pattern.shape is None
    doubtful = probability_figure(CLASSES, np.array([0.4, 0.3, 0.3]), certain=False).data[0]
    assert doubtful.marker.pattern.shape == "/"
    words = probability_in_words(CLASSES, np.array([0.291, 0.705, 0.004]), certain=False)
    assert words.startswith("Probability of each class: <b>wild</b> 70%, calm 29%, neither 0.4%.")
    assert words.endswith("The noise may decide which class is first.")


def confused():
    said = np.array([0] * 50 + [1] * 40 + [0] * 10 + [2] * 30)
    truth = np.array([0] * 45 + [1] * 5 + [1] * 40 + [1] * 10 + [2] * 30)
    certain = np.r_[np.ones(90, bool), np.zeros(10, bool), np.ones(30, bool)]
    found = Classification(CLASSES, "posterior", said, np.eye(3)[said], certain * 1.0, certain, np.eye(3)[said])
    return confusion_of(found, truth)


def test_confusions_have_true_classes_in_rows_and_doubt_in_a_grey_column():
    figure = confusion_figure(confused())
    known, unknown = figure.data
    assert np.allclose(known.z, [[1, 0, 0], [5 / 55, 40 / 55, 0], [0, 0, 1]])
    assert np.allclose(unknown.z, [[0], [10 / 55], [0]]) and list(unknown.x) == [3]
    assert list(figure.layout.xaxis.ticktext)[-1] == "don't know" and len(figure.layout.shapes) == 3
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]
    assert known.text[1][0] == "9.1%"
    assert on_paper(figure).layout.template.layout.paper_bgcolor


def test_confusions_in_words():
    assert confusion_in_words(confused()) == (
        "Table of confusions. Right in 88% of all places, in 96% of those that it is certain of; don't know in 7.7%. "
        "Most often <b>wild</b> is taken for calm: 5 of 55 places."
    )


def _linear(colour: str) -> np.ndarray:
    shares = np.array(rgb(colour)) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


SIGHT = {
    "full": np.eye(3),
    # Machado, Oliveira, Fernandes (2009), severity 1.
    "without red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "without green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "without blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def _oklab(linear: np.ndarray) -> np.ndarray:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return lab @ np.cbrt(cones @ np.clip(linear, 0, 1))


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize(("count", "apart"), [(5, 0.1), (10, 0.065)])
def test_colours_stay_apart_for_every_eye(sight, count, apart):
    seen = [_oklab(SIGHT[sight] @ _linear(colour)) for colour in CLASS_COLOURS[:count]]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > apart


def test_no_class_has_the_colour_of_what_is_private_or_of_errors():
    for colour in CLASS_COLOURS:
        for taken in (AMBER.shape, RED.shape):
            assert np.linalg.norm(_oklab(_linear(colour)) - _oklab(_linear(taken))) > 0.08
        contrast = [_contrast(colour, page) for page in ("#F9FBFA", "#11171A")]
        assert min(contrast) > 2.5
    assert len(set(CLASS_COLOURS)) == 10 and class_colour(10) == class_colour(0)


def _contrast(one: str, other: str) -> float:
    low, high = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ _linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)
