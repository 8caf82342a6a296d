"""What Explore says about released distances: how far everyone is, and which kind of distance that is."""

from __future__ import annotations

import math

from ...domain import Categorical
from ...sketches.linear import LinearSketch
from ...words.numbers import best_guess, number, rounded, rounded_range
from ...words.phrases import listed
from ..density import UNSURE
from ..distances import distance_unit
from ..report.meaning import clipped

ONE_SIDED = ("above", "below")


def kind_of(sketch: LinearSketch) -> tuple[str, float]:
    """The kind of a sketch's distances, and the number that belongs to it: "l1", "l2", "squared", "lp" and P, …"""
    kind, _, number = sketch.distance_norm.partition(":")
    return kind, float(number or 1)


def one_sided(sketch: LinearSketch) -> bool:
    """Whether only who lies on one side of a place counts, so that there is no place in the middle of everyone."""
    return kind_of(sketch)[0] in ONE_SIDED


def distance_sentence(sketch: LinearSketch, mean: float, low: float, high: float, error: float) -> str:
    """An average distance in Markdown, with its interval; what noise takes below zero is only bounded from above.

    Parameters
    ----------
    sketch : LinearSketch
        Which says what kind of distance it is, and in which unit.
    mean, low, high, error : float
        The average, its interval and its standard error.
    """
    kind, power = kind_of(sketch)
    unit = distance_unit(sketch)
    if not math.isfinite(error):
        return f"Everyone is about **{_with(best_guess(mean, error), unit)}** away on average. {UNSURE}"
    least, most = rounded_range(low, high, error)
    if low <= 0:
        return f"The noise hides how far everyone is: on average very likely **less than {_with(most, unit)}**."
    far = f"**{_with(rounded(mean, error), unit)}**"
    between = f"very likely between **{least}** and **{most}**."
    if kind == "squared":
        return f"The squared distance of everyone is {far} on average; {between}"
    if kind in ONE_SIDED:
        return f"Everyone is {far} {kind} this place on average; {between}"
    counted = f", counting differences to the power {number(power)}" if kind == "lp" else ""
    return f"Everyone is {far} away on average{counted}; {between}"


def root_sentence(sketch: LinearSketch, mean: float, error: float) -> str:
    """A squared distance as a distance; "" for other kinds."""
    if kind_of(sketch)[0] != "squared" or mean <= 0:
        return ""
    root = mean**0.5
    text = _with(rounded(root, error / (2.0 * root)), distance_unit(sketch).removesuffix("²").removeprefix("squared "))
    return f"The root of it is {text}, as a distance in which those far away count more."


def kind_sentence(sketch: LinearSketch) -> str:
    """Which kind of distance it is, for someone who never heard of several."""
    kind, power = kind_of(sketch)
    names = sketch.domain.names
    sentences = [_KINDS[kind].format(number(power))]
    if kind == "l1":
        one = len(names) == 1 and sketch.domain.dimensions == 1
        alone = f"Distance is the difference in {listed(names)}."
        sentences = [alone if one else sentences[0]]
    if sketch.domain.scale == "box":
        sentences.append("A column's whole range, from its least to its greatest possible value, counts as 1.")
    if any(isinstance(column, Categorical) for column in sketch.domain.columns) and kind in ("l1", "l2", "capped"):
        apart = _with(number(sketch.domain.category_distance), distance_unit(sketch))
        sentences.append(f"Someone of another category is {apart} away by that alone.")
    sentences.append(clipped(sketch))
    return " ".join(sentence for sentence in sentences if sentence)


_KINDS = {
    "l1": "Distance goes column by column and is added up, as on a walk along the streets of a grid.",
    "l2": "Distance is measured in a straight line, as the crow flies.",
    "squared": "Distances go in a straight line and are squared before they are averaged, so whoever is twice as far "
    "away counts four times.",
    "lp": "Differences go column by column, to the power {}, and are added up.",
    "capped": "Distance goes column by column and is added up; no difference counts as more than {}.",
    "above": "Only those who lie above the place count, column by column, by how far; everyone else counts as 0.",
    "below": "Only those who lie below the place count, column by column, by how far; everyone else counts as 0.",
}


def _with(number: str, unit: str) -> str:
    return f"{number} {unit}".rstrip()
