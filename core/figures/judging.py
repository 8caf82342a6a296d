"""Pictures of how good a model was on a public test file: what its probabilities are worth, how far it is off."""

from __future__ import annotations

import plotly.graph_objects as go

from ..models.judging import NumberVerdict, Reliability
from ..words.escapes import in_plotly
from ..words.numbers import percent, significant
from ..words.phrases import shortened
from .palette import FAINT, TEAL

HEIGHT = 320
LINE = {"color": FAINT.shape, "width": 1, "dash": "dot"}


def reliability_figure(found: Reliability, fitted: Reliability | None = None) -> go.Figure:
    """How often answers are right against how likely the model calls them; on the dotted line both are the same.

    Parameters
    ----------
    found : Reliability
        Of the model.
    fitted : Reliability | None
        Of its probabilities after they were made to fit public records; not drawn when None.
    """
    figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=LINE, hoverinfo="skip", showlegend=False))
    if fitted is not None:
        figure.add_trace(_dots(fitted, "made to fit", FAINT.shape, "circle-open"))
    figure.add_trace(_dots(found, "as released", TEAL.shape, "circle"))
    least = min(0.5, float(found.said.min()), float(found.right.low.min()))
    for axis, title in ((figure.update_xaxes, "says"), (figure.update_yaxes, "is right")):
        axis(range=[least - 0.03, 1.03], tickformat=".0%", title=title, zeroline=False, fixedrange=True)
    return _laid_out(figure)


def _dots(found: Reliability, name: str, colour: str, symbol: str) -> go.Scatter:
    right = found.right
    bars = {"array": right.high - right.estimate, "arrayminus": right.estimate - right.low}
    return go.Scatter(
        x=found.said,
        y=right.estimate,
        mode="markers",
        name=name,
        marker={"color": colour, "size": 10, "symbol": symbol},
        error_y={**bars, "color": colour, "thickness": 1.5, "width": 0},
        customdata=found.counts,
        hovertemplate="says %{x:.0%}, is right in %{y:.0%} of %{customdata:,}<extra></extra>",
    )


def reliability_in_words(found: Reliability) -> str:
    """The text alternative: bin by bin."""
    bins = zip(found.said, found.right.estimate, found.counts, strict=True)
    said = [f"{percent(float(x))} and is right in {percent(float(y))} of {n:,}" for x, y, n in bins]
    return f"Where the model says: {'; '.join(said)}."


def numbers_figure(found: NumberVerdict, named: str) -> go.Figure:
    """The mean truth against the mean prediction, bin by bin, with the middle four fifths of the truth.

    Parameters
    ----------
    found : NumberVerdict
        Of the model.
    named : str
        What is predicted, with its unit.
    """
    ends = [float(min(found.low.min(), found.predicted.min())), float(max(found.high.max(), found.predicted.max()))]
    figure = go.Figure(go.Scatter(x=ends, y=ends, mode="lines", line=LINE, hoverinfo="skip", showlegend=False))
    figure.add_trace(
        go.Scatter(
            x=found.predicted,
            y=found.true,
            mode="markers",
            marker={"color": TEAL.shape, "size": 10},
            error_y={
                "array": found.high - found.true,
                "arrayminus": found.true - found.low,
                "color": TEAL.shape,
                "thickness": 1.5,
                "width": 0,
            },
            hovertemplate="predicted %{x:,.4~r}, true %{y:,.4~r}<extra></extra>",
            showlegend=False,
        )
    )
    figure.update_xaxes(title=f"predicted {in_plotly(shortened(named))}", zeroline=False, fixedrange=True, nticks=7)
    figure.update_yaxes(title="true", zeroline=False, fixedrange=True)
    return _laid_out(figure)


def numbers_in_words(found: NumberVerdict, named: str) -> str:
    """The text alternative: both ends."""
    first, last = (
        f"{significant(float(found.predicted[place]), 3)} predicted, {significant(float(found.true[place]), 3)} true"
        for place in (0, -1)
    )
    return f"{named}: the tenth with the lowest predictions has on average {first}; the tenth with the highest {last}."


def _laid_out(figure: go.Figure) -> go.Figure:
    margin = {"l": 8, "r": 8, "t": 8, "b": 8}
    return figure.update_layout(height=HEIGHT, margin=margin, dragmode=False, legend={"y": -0.3, "orientation": "h"})
