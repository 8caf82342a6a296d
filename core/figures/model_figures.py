"""Pictures of models: what coefficients and sums of products say, how good a model was, what a promise leaves of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..analysis.product_sums import Components, Correlations
from ..formatting.escapes import in_plotly
from ..formatting.numbers import percent, shortened, significant
from ..models.judging import NumberVerdict, Reliability
from ..models.linear_models import LinearModel
from ..models.model_file import Curve
from .palette import FAINT, TEAL, faded
from .traces import RULED, STILL, band, bars, dots, laid_out, line, spread

MOST_SHOWN = 20
ZERO = {"color": FAINT.shape, "width": 1}
ROW = 26  # Height of a row, in pixels.
# Against each other to with each other, with the same lightness at either end.
DIVERGING = [[0.0, "#8A5A1B"], [0.25, "#C9A36B"], [0.5, "#F3F4F2"], [0.75, "#5FB3AA"], [1.0, "#0A5A54"]]


def strongest(coefficients: pd.DataFrame, most: int = MOST_SHOWN) -> pd.DataFrame:
    """The rows that carry most of a prediction, strongest first."""
    order = np.argsort(-coefficients.carries.abs().to_numpy(), kind="stable")[:most]
    return coefficients.iloc[order]


def named(row: object) -> str:
    """A coefficient's column with its category."""
    category = getattr(row, "category", "")
    return f"{row.column} = {category}" if category else str(row.column)  # type: ignore[attr-defined]


def coefficient_figure(coefficients: pd.DataFrame, unit: str) -> go.Figure:
    """By how much each column moves the prediction over its range, with bands; those that noise hides are hollow.

    `coefficients`: of `Regression.coefficients`; without bands where its ends are NaN. `unit`: what is predicted, with
    its unit.
    """
    rows = strongest(coefficients).iloc[::-1]
    scale = np.where(rows.estimate == 0.0, 1.0, rows.carries / rows.estimate.replace(0.0, 1.0))
    ends = np.column_stack((rows.carries, rows.low * scale, rows.high * scale))
    most = 2.0 * np.abs(ends[np.isfinite(ends)]).max()  # how far a line is drawn that has no end
    carries, low, high = np.clip(ends, -most, most).T
    sure = (low > 0.0) | (high < 0.0) | np.isnan(low)
    names = [in_plotly(shortened(named(row))) for row in rows.itertuples()]
    reach = spread(np.maximum(high - carries, 0.0), np.maximum(carries - low, 0.0), TEAL.shape)
    look = {"color": np.where(sure, TEAL.shape, faded(TEAL.shape, 0.0)), "line": {"color": TEAL.shape, "width": 1.5}}
    figure = go.Figure(dots(carries, names, said="%{y}: %{x:,.4~r}", marker=look, error_x=reach))
    figure.add_vline(0.0, line=ZERO)
    figure.update_xaxes(title=f"Change of {in_plotly(shortened(unit))}", zeroline=False, nticks=7)
    figure.update_yaxes(showgrid=True, automargin=True)
    return _rows(figure, len(rows))


def _rows(figure: go.Figure, rows: int, **more: object) -> go.Figure:
    """A figure of so many rows, each with its name."""
    return laid_out(figure, 90 + ROW * rows, margin={"b": 44}, **more)


def coefficients_in_words(coefficients: pd.DataFrame, unit: str) -> str:
    sure = coefficients[~((coefficients.low <= 0.0) & (coefficients.high >= 0.0))]  # all where nothing says it
    if sure.empty:
        return f"Noise hides how columns move {unit}: each may as well be zero."
    said = [f"{named(row)} {significant(row.carries, 3)}" for row in strongest(sure, 5).itertuples()]
    return f"By how much columns move the prediction of {unit} over their range, strongest first: {', '.join(said)}."


def correlation_figure(found: Correlations) -> go.Figure:
    """A matrix of correlations; cells that noise hides are left empty."""
    names = [in_plotly(shortened(term.name)) for term in found.terms]
    hidden = np.abs(found.values) < 1.96 * found.errors
    values = np.where(hidden | np.isnan(found.values), np.nan, found.values)
    bar = {"thickness": 12, "outlinewidth": 0, "tickvals": [-1, 0, 1]}
    look = {"zmin": -1, "zmax": 1, "colorscale": DIVERGING, "colorbar": bar, "xgap": 1, "ygap": 1}
    said = "%{y} and %{x}: %{z:.2f}<extra></extra>"
    figure = go.Figure(go.Heatmap(x=names, y=names, z=values, hovertemplate=said, **look))
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(showgrid=False, tickangle=-45)
    size = max(300, min(760, 120 + 24 * len(names)))
    return laid_out(figure, size)


def correlations_in_words(found: Correlations) -> str:
    """The strongest correlations, as the text alternative of the figure."""
    values = np.nan_to_num(np.triu(found.values, 1))
    pairs = np.argsort(-np.abs(values), axis=None)[:5]
    said = []
    for row, column in zip(*np.unravel_index(pairs, values.shape), strict=True):
        if values[row, column]:
            said.append(f"{found.terms[row].name} and {found.terms[column].name} {values[row, column]:.2f}")
    return f"Correlations of all pairs of columns; the strongest are {', '.join(said)}."


def component_figure(found: Components, axis: int) -> go.Figure:
    """What each column has to do with an axis, strongest first."""
    weights = found.axes[axis]
    order = np.argsort(-np.abs(weights), kind="stable")[:MOST_SHOWN][::-1]
    names = [in_plotly(shortened(found.terms[place].name)) for place in order]
    figure = go.Figure(bars(weights[order], names, said="%{y}: %{x:.2f}", orientation="h"))
    figure.update_xaxes(title="Weight", range=[-1, 1], zeroline=True)
    return _rows(figure, len(order), bargap=0.4)


def component_in_words(found: Components, axis: int) -> str:
    weights = found.axes[axis]
    order = np.argsort(-np.abs(weights), kind="stable")[:5]
    return f"Weights of axis {axis + 1}: " + ", ".join(f"{found.terms[i].name} {weights[i]:.2f}" for i in order) + "."


HEIGHT = 320
LEGEND = {"y": -0.3, "orientation": "h"}
DOTTED = {"color": FAINT.shape, "width": 1, "dash": "dot"}


def reliability_figure(found: Reliability, fitted: Reliability | None = None) -> go.Figure:
    """How often answers are right against how likely the model calls them; on the dotted line both are the same.

    `fitted`: of its probabilities after they were made to fit public records; not drawn when None.
    """
    figure = go.Figure(line([0, 1], [0, 1], None, FAINT.shape, 1, "dot"))
    if fitted is not None:
        figure.add_trace(_dots(fitted, "made to fit", FAINT.shape, "circle-open"))
    figure.add_trace(_dots(found, "as released", TEAL.shape, "circle"))
    least = min(0.5, float(found.said.min()), float(found.right.low.min()))
    for axis, title in ((figure.update_xaxes, "says"), (figure.update_yaxes, "is right")):
        axis(range=[least - 0.03, 1.03], tickformat=".0%", title=title, zeroline=False, fixedrange=True)
    return laid_out(figure, HEIGHT, LEGEND)


def _dots(found: Reliability, name: str, colour: str, symbol: str) -> go.Scatter:
    right = found.right
    said = "says %{x:.0%}, is right in %{y:.0%} of %{customdata:,}"
    reach = spread(right.high - right.estimate, right.estimate - right.low, colour)
    more = {"marker": {"symbol": symbol}, "error_y": reach, "customdata": found.counts}
    return dots(found.said, right.estimate, name, colour, 10, said, **more)


def reliability_in_words(found: Reliability) -> str:
    """Reliability bin by bin, as the text alternative of its figure."""
    bins = zip(found.said, found.right.estimate, found.counts, strict=True)
    said = [f"{percent(float(x))} and is right in {percent(float(y))} of {n:,}" for x, y, n in bins]
    return f"Where the model says: {'; '.join(said)}."


def numbers_figure(found: NumberVerdict, named: str) -> go.Figure:
    """The mean truth against the mean prediction, bin by bin, with the middle four fifths of the truth.

    `named`: what is predicted, with its unit.
    """
    ends = [float(min(found.low.min(), found.predicted.min())), float(max(found.high.max(), found.predicted.max()))]
    said = "predicted %{x:,.4~r}, true %{y:,.4~r}"
    reach = spread(found.high - found.true, found.true - found.low, TEAL.shape)
    points = dots(found.predicted, found.true, None, TEAL.shape, 10, said, error_y=reach)
    figure = go.Figure([line(ends, ends, None, FAINT.shape, 1, "dot"), points])
    figure.update_xaxes(title=f"predicted {in_plotly(shortened(named))}", zeroline=False, fixedrange=True, nticks=7)
    figure.update_yaxes(title="true", zeroline=False, fixedrange=True)
    return laid_out(figure, HEIGHT, LEGEND)


def numbers_in_words(found: NumberVerdict, named: str) -> str:
    """Predictions at both ends, as the text alternative of their figure."""
    first, last = (
        f"{significant(float(found.predicted[place]), 3)} predicted, {significant(float(found.true[place]), 3)} true"
        for place in (0, -1)
    )
    return f"{named}: the tenth with the lowest predictions has on average {first}; the tenth with the highest {last}."


MOST_CURVES, ABREAST, CURVE_HEIGHT = 12, 3, 170


def curves_figure(curves: Sequence[Curve], unit: str) -> go.Figure:
    """What each column adds, curve by curve on one scale, with bands where they are known.

    `curves`: of `ModelFile.curves`, the one that moves most first. `unit`: what they move.
    """
    shown = curves[:MOST_CURVES]
    rows = -(-len(shown) // ABREAST)
    titles = [in_plotly(shortened(curve.column)) for curve in shown]
    gap = 0.3 / rows
    figure = make_subplots(
        rows, min(ABREAST, len(shown)), subplot_titles=titles, shared_yaxes="all", vertical_spacing=gap
    )
    for place, curve in enumerate(shown):
        x = _across(curve)
        where = {"row": place // ABREAST + 1, "col": place % ABREAST + 1}
        if curve.reach is not None:
            figure.add_trace(band(x, curve.values - curve.reach, curve.values + curve.reach, None), **where)
        figure.add_trace(line(x, curve.values, said="%{x}: %{y:,.3~r}"), **where)
        figure.add_hline(0.0, line=ZERO, **where)
    figure.update_xaxes(STILL | {"nticks": 4})
    figure.update_yaxes(RULED | {"nticks": 5})
    figure.update_yaxes(title=in_plotly(shortened(unit)), col=1)
    return laid_out(figure, 60 + CURVE_HEIGHT * rows, margin={"t": 28}, showlegend=False)


def _across(curve: Curve) -> np.ndarray:
    """Where its knots are: numbers, or dates as they are written, of which Plotly makes an axis of time."""
    try:
        [float(text) for text in curve.texts]
    except ValueError:
        return np.array(curve.texts)
    return curve.places


def curves_in_words(curves: Sequence[Curve], unit: str) -> str:
    """Where each of the strongest curves is lowest and highest, as the text alternative of their picture."""
    said = [
        f"{curve.column} from {significant(float(curve.values.min()), 3)} at {curve.texts[int(curve.values.argmin())]} "
        f"to {significant(float(curve.values.max()), 3)} at {curve.texts[int(curve.values.argmax())]}"
        for curve in curves[:5]
    ]
    return f"What columns add to {unit}, those that move it most first: {'; '.join(said)}."


def reaches(model: LinearModel, row: int) -> pd.DataFrame:
    """By how much each line and category moves the score over its range, in the form of `NumberModel.coefficients`.

    Curves are not in it: see `curves_figure`.
    """
    bent = {place for places, _ in model.task.curves_of.values() for place in places}
    kept = [place for place in range(len(model.task.terms)) if place not in bent]
    terms = [model.task.terms[place] for place in kept]
    estimate = model.slopes[row, kept]
    reach = np.full(len(kept), np.nan) if model.bands is None else model.bands[row, kept]
    return pd.DataFrame(
        {
            "column": [term.column if term.category else term.name for term in terms],
            "category": [term.category for term in terms],
            "estimate": estimate,
            "low": estimate - reach,
            "high": estimate + reach,
            "carries": estimate * np.array([1.0 if term.category else 2.0 * term.half for term in terms]),
        }
    )


ROOM = 0.04  # Empty space above and below the curve, as a share of all records.
BESIDE = 0.15  # Powers of ten that marks of ε need between them, so that their numbers do not run into each other.


@dataclass(frozen=True)
class Measure:
    """What is forecast, in words."""

    done: str  # What a share is of, behind "12%".
    least: str  # What is always possible without looking at anyone.


RIGHT = Measure("right", "always the most common answer")
EXPLAINED = Measure("explained", "always the mean")


def training_figure(
    epsilons: Sequence[float],
    right: Sequence[float],
    epsilon: float,
    common: float,
    best: float,
    measure: Measure = RIGHT,
) -> go.Figure:
    """Shares right, or explained, against ε on a logarithmic axis, between the least answer and hardly any noise.

    `epsilons`, `right`: Increasing ε, and the share right at each, shape (n,). `common`, `best`: Shares right of always
    the most common answer, and of a model with hardly any noise.
    """
    sizes = [11 if one == epsilon else 6 for one in epsilons]
    said = f"ε = %{{x:,.3~r}}: %{{y:.1%}} {measure.done}"
    look = {"mode": "lines+markers", "marker": {"color": TEAL.shape, "size": sizes}}
    figure = go.Figure(line(list(epsilons), list(right), None, TEAL.shape, 2, said=said, **look))
    levels = ((common, measure.least, "bottom right"), (best, "hardly any noise", "top left"))
    for level, words, place in levels:
        figure.add_hline(level, line=DOTTED, annotation={"text": words}, annotation_position=place)
    apart = [one for one in epsilons if one == epsilon or abs(math.log10(one / epsilon)) > BESIDE]
    marks = {"tickvals": apart, "tickformat": ",.3~r", "tickangle": 0, "title": "ε"}
    figure.update_xaxes(STILL | {"type": "log"} | marks)
    ends = [min(common, *right) - ROOM, max(best, *right) + ROOM]
    figure.update_yaxes(RULED | {"range": ends, "tickformat": ".0%", "title": measure.done})
    return laid_out(figure, 220, showlegend=False)


def training_in_words(
    epsilons: Sequence[float], right: Sequence[float], common: float, best: float, measure: Measure = RIGHT
) -> str:
    """The text alternative: both ends of the curve, and what it lies between."""
    ends = f"{percent(right[0])} at ε = {epsilons[0]:g} and {percent(right[-1])} at ε = {epsilons[-1]:g}"
    return (
        f"Of made-up records, shares {measure.done}: {ends}; {measure.least} gets {percent(common)}, hardly any noise "
        f"{percent(best)}."
    )
