"""Methods compared: errors against ε with bands, what each costs, released functions over the exact one, and in words.

Each of many methods is shown the same in every figure: a colour, a symbol and a kind of line together. Amber, teal and
red have meanings of their own, so blue, violet, magenta and slate are left. Four shades that stand out from both themes
cannot tell twenty methods apart, least of all to the colour-blind: neighbours in the list differ in colour and symbol,
and every fourth one in the kind of line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..formatting.escapes import in_plotly
from ..formatting.numbers import listed, percent
from ..lab.comparison_plan import METHODS, Advice, ErrorCurve
from .figure_axes import Axis, apply
from .palette import FAINT, INK
from .traces import BELOW, RULED, STILL, band, bars, cells, laid_out, line, logarithmic

if TYPE_CHECKING:
    from ..lab.comparison_trials import PublicData

# Blue, magenta, violet, slate: at least 3:1 on either background (WCAG 2.2, 1.4.11), and of different lightness.
COLOURS = ("#2A5FD0", "#B8408C", "#A07BE0", FAINT.shape)
# As many as share no divisor with the colours, so that a pair of both comes back only after 28 methods.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class MethodMark:
    """How a method is shown."""

    title: str  # For people, safe for Plotly.
    colour: str
    # As Plotly names them.
    symbol: str
    dash: str

    def line(self, width: float) -> dict:
        return {"color": self.colour, "dash": self.dash, "width": width}

    def marker(self, **more: object) -> dict:
        return {"color": self.colour, "symbol": self.symbol, "size": 7} | more


def method_marks(titles: Mapping[str, str]) -> dict[str, MethodMark]:
    """The mark of every method by its key.

    The titles are those of all methods that could ever be seen together, chosen or not and always in the same order: so
    a method keeps its mark when others come and go.
    """
    return {key: _mark(place, title) for place, (key, title) in enumerate(titles.items())}


def _mark(place: int, title: str) -> MethodMark:
    dash = DASHES[place // len(COLOURS) % len(DASHES)]
    return MethodMark(in_plotly(title), COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)], dash)


_SYMBOLS = {
    "circle": '<circle cx="14" cy="6" r="3.6"/>',
    "square": '<rect x="10.6" y="2.6" width="6.8" height="6.8"/>',
    "diamond": '<path d="M14 1.4L18.6 6L14 10.6L9.4 6Z"/>',
    "triangle-up": '<path d="M14 1.8L18.4 9.4H9.6Z"/>',
    "triangle-down": '<path d="M14 10.2L18.4 2.6H9.6Z"/>',
    "x": '<path d="M10 3.6L11.6 2L14 4.4L16.4 2L18 3.6L15.6 6L18 8.4L16.4 10L14 7.6L11.6 10L10 8.4L12.4 6Z"/>',
    "star": '<path d="M14 1L15.2 4.6H19L16 6.8L17.1 10.4L14 8.2L10.9 10.4L12 6.8L9 4.6H12.8Z"/>',
}
_DASHES = {"solid": "none", "dash": "6 3", "dot": "1.6 2.4", "dashdot": "6 2.4 1.6 2.4", "longdash": "9 3"}


def swatch(mark: MethodMark) -> str:
    """Trusted markup of the mark; it says nothing that the name beside it does not, so it is silent."""
    return (
        f'<svg class="fg-swatch" viewBox="0 0 28 12" aria-hidden="true" fill="{mark.colour}">'
        f'<line x1="0" y1="6" x2="28" y2="6" stroke="{mark.colour}" stroke-width="2" '
        f'stroke-dasharray="{_DASHES[mark.dash]}"/>{_SYMBOLS[mark.symbol]}</svg>'
    )


HEIGHT = 400
LEGEND_LINE = 26  # Pixels of a line of the legend, of which a phone needs one for nearly every method.
EPSILON_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
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

    `curves`: All of one measure, at most one a method. `present`: the ε that is marked, and by which the legend is
    ordered. `span`: the least and the greatest ε, where the axis ends however little is known yet.
    """
    ordered = sorted(curves, key=lambda curve: _rank(curve, present))
    lines = [_line(curve, marks[curve.method]) for curve in ordered]
    figure = go.Figure([*(_band(curve, marks[curve.method]) for curve in ordered if curve.highs != curve.lows), *lines])
    figure.add_vline(x=present, line={"color": FAINT.shape, "width": 1, "dash": "dot"})
    figure.update_xaxes(logarithmic(EPSILON_TICKS, title="ε", range=_ends(span)))
    title = MEASURES[curves[0].measure] if curves else None
    form = {"dtick": _step(ordered), "tickformat": ".2~p"}
    figure.update_yaxes(RULED | {"type": "log", "title": title, "automargin": True} | form)
    legend, height = BELOW | {"traceorder": "normal"}, HEIGHT + LEGEND_LINE * math.ceil(len(ordered) / 2)
    margin = {"r": 12, "t": 12}
    return laid_out(figure, height, legend, margin=margin, showlegend=True, uirevision="constant")


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
    low, high = (np.asarray(ends) for ends in (curve.lows, curve.highs))
    return band(np.asarray(curve.epsilons), low, high, None, mark.colour, 0.15).update(legendgroup=curve.method)


def _line(curve: ErrorCurve, mark: MethodMark) -> go.Scatter:
    look = {"mode": "lines+markers", "line": mark.line(2), "marker": mark.marker(), "legendgroup": curve.method}
    return line(curve.epsilons, curve.centres, mark.title, said="ε = %{x:,.3~r}: %{y:.2~%}", **look)


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
    colours, texts = [marks[key].colour for key in keys], [costs.words[key] for key in keys]
    look = {"orientation": "h", "width": 0.34, "text": texts, "textposition": "outside", "cliponaxis": False}
    figure = go.Figure(bars(lengths, places, colour=colours, **look))
    small = {"xanchor": "left", "showarrow": False, "font": {"size": 12}, "xshift": -3}
    for place, key in zip(places, keys, strict=True):
        figure.add_annotation(x=0, y=place - 0.42, text=marks[key].title, **small)
    figure.update_xaxes(visible=False, range=[0, ROOM_FOR_WORDS * max(lengths)], fixedrange=True)
    figure.update_yaxes(visible=False, range=[len(keys) - 0.6, -0.8], fixedrange=True)
    return laid_out(figure, ROW * len(keys) + 16, margin={"l": 6, "r": 4, "t": 4, "b": 4}, showlegend=False)


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
        f"{METHODS[curve.method].card.title} {_between(curve.releases)}"
        for curve in curves
        if set(curve.releases) != {usual}
    ]
    return f"{said}. Others, mostly because they take long: {listed(fewer, len(fewer))}." if fewer else f"{said}."


def _between(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def advice_sentence(advice: Advice, curves: Sequence[ErrorCurve], epsilon: float, measured: bool) -> str:
    """What is recommended from public facts, and why; beside it what was measured, where that is known.

    `measured`: whether the curves are of measured errors, or of forecasts.
    """
    said = f"Recommended of Frostglass's own mechanisms, by forecasts from public facts alone: {advice.reason}"
    errors = {curve.method: error_at(curve, epsilon) for curve in curves}
    errors = {method: error for method, error in errors.items() if math.isfinite(error)}
    if not measured or advice.method not in errors:
        return said
    least = min(errors, key=errors.__getitem__)
    found = f"Measured at ε = {epsilon:g}, {METHODS[advice.method].card.title} has {percent(errors[advice.method])}"
    if least == advice.method:
        return f"{said} {found}, the least of all that are drawn."
    return f"{said} {found}; the least has {METHODS[least].card.title}, with {percent(errors[least])}."


EXACT = "exact"
CURVE_HEIGHT = 400
MAP_HEIGHT = 168
# Places along a curve from one of its symbols to the next: enough to tell curves apart, too few to hide them.
STEPS_BETWEEN_SYMBOLS = 12


def shown_range(exact: np.ndarray) -> tuple[float, float]:
    """What of the answers a picture shows: a third more than the exact ones reach, and as much below zero.

    Noise at small ε reaches far beyond; were the scale to follow it, it would jump at every draw and nothing else would
    be seen.
    """
    low, high = min(0.0, float(exact.min())), float(exact.max())
    room = max(high - low, np.finfo(float).tiny) / 3.0
    return low - room, high + room


def curves_figure(
    x: Axis, exact: np.ndarray, released: Mapping[str, np.ndarray], marks: Mapping[str, MethodMark], answer: str
) -> go.Figure:
    """Released functions of one column on top of each other, over the exact one.

    `exact`: answers there without any noise, float64 (n,). `released`: answers of one release of each method, float64
    (n,), by its key.
    """
    figure = go.Figure(line(x.values, exact, EXACT, INK.shape, 6, opacity=0.45))
    every = max(2, len(x.values) // STEPS_BETWEEN_SYMBOLS)
    for key, values in released.items():
        mark = marks[key]
        look = {"mode": "lines+markers", "line": mark.line(1.8), "marker": mark.marker(maxdisplayed=every)}
        figure.add_trace(line(x.values, values, mark.title, **look))
    apply(figure, x)
    figure.update_xaxes(fixedrange=True)
    zero = {"zeroline": True, "zerolinecolor": FAINT.shape, "range": list(shown_range(exact))}
    figure.update_yaxes(STILL | zero | {"title": answer, "tickformat": ",", "nticks": 6, "automargin": True})
    height = CURVE_HEIGHT + LEGEND_LINE * math.ceil(len(released) / 2)
    return laid_out(figure, height, BELOW, margin={"r": 12, "t": 12}, uirevision="constant")


def map_figure(x: Axis, y: Axis, values: np.ndarray, ends: tuple[float, float], answer: str) -> go.Figure:
    """One of several small maps; the same ends give them the same colours, so that they can be compared.

    `values`: Answers, float64 (y places, x places); those beyond an end of the scale have its colour.
    """
    said = "%{x:,.4~r}, %{y:,.4~r}: %{z:,.0f} " + in_plotly(answer) + "<extra></extra>"
    figure = go.Figure(cells(x, y, values, zmin=ends[0], zmax=ends[1], showscale=False, hovertemplate=said))
    apply(figure, x, y)
    for update in (figure.update_xaxes, figure.update_yaxes):
        update(title=None, showticklabels=False, ticks="", fixedrange=True)
    return laid_out(figure, MAP_HEIGHT, margin={"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0})


def map_ends(exact: np.ndarray, answers: str) -> tuple[float, float]:
    """The ends of the scale of colours: from nothing, or of distances from the least, to the greatest exact answer."""
    return (0.0 if answers == "closeness" else float(exact.min())), float(exact.max())


def functions_in_words(
    exact: np.ndarray, released: Mapping[str, np.ndarray], marks: Mapping[str, MethodMark], epsilon: float
) -> str:
    """The text alternative: how far each released function is from the exact one, on average over the picture."""
    if not released:
        return f"The exact function. Nothing is released at ε = {epsilon:g} yet."
    said = "; ".join(f"{marks[key].title} {percent(distance(exact, values))}" for key, values in released.items())
    return f"Functions released at ε = {epsilon:g} over the exact one. How far they are from it on average: {said}."


def distance(exact: np.ndarray, released: np.ndarray) -> float:
    """The average distance of a released function from the exact one, as a share of its average height."""
    return float(np.mean(np.abs(released - exact)) / max(float(np.mean(np.abs(exact))), np.finfo(float).tiny))
