"""A picture of a trained model: how far each column can move its score."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..models.linear_model import LinearModel
from ..tasks.product_sums import terms_of
from ..words.escapes import in_plotly
from ..words.numbers import significant
from ..words.phrases import shortened
from .palette import FAINT, TEAL
from .regression import MOST_SHOWN, ROW


def reaches(model: LinearModel, row: int) -> tuple[list[str], np.ndarray]:
    """Names of coordinates, and by how much each moves the score over its range, strongest first."""
    terms = terms_of(model.features)
    whole = np.array([1.0 if term.category else 2.0 * term.half for term in terms])
    moves = model.slopes[row] * whole
    order = np.argsort(-np.abs(moves), kind="stable")[:MOST_SHOWN]
    return [terms[place].name for place in order], moves[order]


def model_figure(model: LinearModel, row: int) -> go.Figure:
    """Bars of `reaches`."""
    names, moves = reaches(model, row)
    figure = go.Figure(
        go.Bar(
            x=moves[::-1],
            y=[in_plotly(shortened(name)) for name in names[::-1]],
            orientation="h",
            marker={"color": TEAL.shape},
            hovertemplate="%{y}: %{x:,.3~r}<extra></extra>",
        )
    )
    figure.add_vline(0.0, line={"color": FAINT.shape, "width": 1})
    figure.update_xaxes(title="Change of the score", zeroline=False, nticks=7)
    margin = {"l": 8, "r": 8, "t": 8, "b": 44}
    return figure.update_layout(height=90 + ROW * len(names), margin=margin, dragmode=False, bargap=0.4)


def model_in_words(model: LinearModel, row: int) -> str:
    """The text alternative."""
    names, moves = reaches(model, row)
    said = [f"{name} {significant(move, 3)}" for name, move in zip(names[:5], moves[:5], strict=True)]
    return f"By how much columns move the score over their range, strongest first: {', '.join(said)}."
