"""Methods compared: error against ε with bands over repetitions, what each costs besides, and how to read it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..formatting.numbers import listed, percent
from ..lab.comparison_methods import METHODS
from ..lab.comparison_plan import Advice, ErrorCurve
from .comparison_marks import MethodMark
from .palette import FAINT, faded

if TYPE_CHECKING:
    from ..lab.public_data import PublicData

HEIGHT = 400
LEGEND_LINE = 26  # Pixels of a line of the legend, of which a phone needs one for nearly every method.
EPSILON_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
CLEAR = "rgba(0, 0, 0, 0)"
# What the axis is called for each of a trial's errors, by its name.
MEASURES = {
    "relative_error": "average error, as a share of the answer",
    "upper_error": "error that 95% of answers stay below",
    "l2_error": "error of the whole function (L2)",
}


def error_at(curve: ErrorCurve, epsilon: float) -> float:
    """The error at an ε, in between along a straight line on logarithmic axes; NaN outside of what was measured."""
    known = [
        (math.log(at), math.log(centre))
        for at, centre in zip(curve.epsilons, curve.centres, strict=True)
        if 0 < centre < math.inf
    ]
    if not known:
        return math.nan
    return math.exp(float(np.interp(math.log(epsilon), *zip(*known, strict=True), left=math.nan, right=math.nan)))


def errors_figure(
    curves: Sequence[ErrorCurve], marks: Mapping[str, MethodMark], present: float, span: tuple[float, float]
) -> go.Figure:
    """Error against ε on logarithmic axes; the legend goes from the least error to the greatest.

    Parameters
    ----------
    curves : Sequence[ErrorCurve]
        All of one measure, at most one a method.
    present : float
        The ε that is marked, and by which the legend is ordered.
    span : tuple[float, float]
        The least and the greatest ε, where the axis ends however little is known yet.
    """
    figure = go.Figure()
    ordered = sorted(curves, key=lambda curve: _rank(curve, present))
    figure.add_traces([_band(curve, marks[curve.method]) for curve in ordered if curve.highs != curve.lows])
    figure.add_traces([_line(curve, marks[curve.method]) for curve in ordered])
    figure.add_vline(x=present, line={"color": FAINT.shape, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        type="log",
        range=_ends(span),
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        title="ε",
        tickvals=EPSILON_TICKS,
        ticktext=[f"{tick:g}" for tick in EPSILON_TICKS],
    )
    figure.update_yaxes(
        type="log",
        gridcolor=faded(FAINT.shape, 0.25),
        zeroline=False,
        dtick=_step(ordered),
        fixedrange=True,
        tickformat=".2~p",
        title=MEASURES[curves[0].measure] if curves else None,
        automargin=True,
    )
    legend = {"orientation": "h", "x": 0, "y": -0.2, "yanchor": "top", "traceorder": "normal"}
    return figure.update_layout(
        height=HEIGHT + LEGEND_LINE * math.ceil(len(ordered) / 2),
        margin={"l": 8, "r": 12, "t": 12, "b": 8},
        dragmode=False,
        legend=legend,
        showlegend=True,
        uirevision="constant",
    )


def errors_in_words(curves: Sequence[ErrorCurve], marks: Mapping[str, MethodMark], present: float) -> str:
    """The text alternative: every method's error at one ε, the least first."""
    found = [(error_at(curve, present), marks[curve.method].title) for curve in curves]
    known = sorted(one for one in found if math.isfinite(one[0]))
    if not known:
        return f"Error against ε. At ε = {present:g} nothing is known yet."
    said = "; ".join(f"{title} {percent(error)}" for error, title in known)
    what = MEASURES[curves[0].measure]
    return f"Error against ε: {what}. At ε = {present:g}, from the least to the greatest: {said}."


def _rank(curve: ErrorCurve, present: float) -> tuple[float, str]:
    error = error_at(curve, present)
    return (error if math.isfinite(error) else math.inf), curve.method


def _band(curve: ErrorCurve, mark: MethodMark) -> go.Scatter:
    return go.Scatter(
        x=[*curve.epsilons, *reversed(curve.epsilons)],
        y=[*curve.highs, *reversed(curve.lows)],
        fill="toself",
        fillcolor=faded(mark.colour, 0.15),
        line={"width": 0, "color": CLEAR},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        legendgroup=curve.method,
    )


def _line(curve: ErrorCurve, mark: MethodMark) -> go.Scatter:
    return go.Scatter(
        x=curve.epsilons,
        y=curve.centres,
        mode="lines+markers",
        name=mark.title,
        legendgroup=curve.method,
        line=mark.line(2),
        marker=mark.marker(),
        hovertemplate="ε = %{x:,.3~r}: %{y:.2~%}<extra>" + mark.title + "</extra>",
    )


def _step(curves: Sequence[ErrorCurve]) -> float | str:
    """How far labels of a logarithmic axis are apart, as Plotly names it: powers of ten, or within few of them more."""
    known = [value for curve in curves for value in (*curve.lows, *curve.highs) if 0 < value < math.inf]
    decades = math.log10(max(known) / min(known)) if known else 0.0
    return 1 if decades > 2 else "D2" if decades > 0.7 else "D1"


def _ends(span: tuple[float, float]) -> list[float]:
    """The range of the ε axis in powers of ten, with a little room for symbols."""
    return [math.log10(span[0]) - 0.05, math.log10(span[1]) + 0.05]


ROW = 44  # Pixels of a method: its name, and below it its bar.
ROOM_FOR_WORDS = 1.45  # How much wider the figure is than its longest bar.


@dataclass(frozen=True)
class Costs:
    """One quantity that every method has one of."""

    title: str
    values: Mapping[str, float]  # Above zero, by the key of the method.
    words: Mapping[str, str]  # The same for people.


def costs_figure(costs: Costs, marks: Mapping[str, MethodMark]) -> go.Figure:
    """A bar for every method on a logarithmic scale, its name above and its value behind it: it fits a narrow column.

    No bar on a logarithmic scale begins at nothing; these begin at a third of the least value.
    """
    keys = list(costs.values)
    start = min(costs.values.values()) / 3.0
    lengths = [math.log10(costs.values[key] / start) for key in keys]
    places = np.arange(len(keys), dtype=np.float64)
    figure = go.Figure(
        go.Bar(
            x=lengths,
            y=places,
            orientation="h",
            width=0.34,
            marker={"color": [marks[key].colour for key in keys]},
            text=[costs.words[key] for key in keys],
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
        )
    )
    for place, key in zip(places, keys, strict=True):
        figure.add_annotation(
            x=0, y=place - 0.42, text=marks[key].title, xanchor="left", showarrow=False, font={"size": 12}, xshift=-3
        )
    figure.update_xaxes(visible=False, range=[0, ROOM_FOR_WORDS * max(lengths)], fixedrange=True)
    figure.update_yaxes(visible=False, range=[len(keys) - 0.6, -0.8], fixedrange=True)
    return figure.update_layout(
        height=ROW * len(keys) + 16, margin={"l": 6, "r": 4, "t": 4, "b": 4}, dragmode=False, showlegend=False
    )


def costs_in_words(costs: Costs, marks: Mapping[str, MethodMark]) -> str:
    """The text alternative: every value, the least first."""
    ordered = sorted(costs.values, key=costs.values.__getitem__)
    return f"{costs.title}: " + "; ".join(f"{marks[key].title} {costs.words[key]}" for key in ordered) + "."


# What a trial's error means, in words, by its name.
MEANINGS = {
    "relative_error": "The average error is how far an answer is from the exact one, as a share of it, on average over "
    "the questions.",
    "upper_error": "Of 100 answers, 95 are off by less than this share of the exact one.",
    "l2_error": "The error of the whole function is the root of its squared distance from the exact one, summed over "
    "the range of the column, as a share of the same of the exact one.",
}


def measured_sentence(data: PublicData, measure: str) -> str:
    """What an error means and what it was measured on, in a few sentences."""
    if measure == "l2_error":
        asked = f"asked at {len(data.grid):,} even places"
    else:
        asked = f"asked at {len(data.queries):,} others that were held out"
        if data.left_out:
            asked += f" ({data.left_out:,} more were left out, as hardly anyone is near them)"
    return (
        f"{MEANINGS[measure]} Measured on {len(data.records):,} records, {asked}. What noise adds is a smaller share "
        "of more records, and a larger one of fewer."
    )


def releases_sentence(curves: Sequence[ErrorCurve], setting: str) -> str:
    """How many releases a point is the average of: most curves have as many, and those that differ are named."""
    counts = [releases for curve in curves for releases in curve.releases]
    usual = max(set(counts), key=lambda count: (counts.count(count), count))
    average = "one release" if usual == 1 else f"the average of {usual} releases"
    said = f"Each point is {average} {setting}"
    if max(counts) > 1:
        said += ", and a band holds the middle 80% of them"
    fewer = [
        f"{METHODS[curve.method].title} {_between(curve.releases)}"
        for curve in curves
        if set(curve.releases) != {usual}
    ]
    return f"{said}. Others, mostly because they take long: {listed(fewer, len(fewer))}." if fewer else f"{said}."


def _between(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def advice_sentence(advice: Advice, curves: Sequence[ErrorCurve], epsilon: float, measured: bool) -> str:
    """What is recommended from public facts, and why; beside it what was measured, where that is known.

    Parameters
    ----------
    measured : bool
        Whether the curves are of measured errors, or of forecasts.
    """
    said = f"Recommended of Frostglass's own mechanisms, by forecasts from public facts alone: {advice.reason}"
    errors = {curve.method: error_at(curve, epsilon) for curve in curves}
    errors = {method: error for method, error in errors.items() if math.isfinite(error)}
    if not measured or advice.method not in errors:
        return said
    least = min(errors, key=errors.__getitem__)
    found = f"Measured at ε = {epsilon:g}, {METHODS[advice.method].title} has {percent(errors[advice.method])}"
    if least == advice.method:
        return f"{said} {found}, the least of all that are drawn."
    return f"{said} {found}; the least has {METHODS[least].title}, with {percent(errors[least])}."
