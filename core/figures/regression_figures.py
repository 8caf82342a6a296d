"""Pictures of what sums of products say: coefficients with their bands, correlations, and principal components."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..tasks.product_sums import Components, Correlations
from ..words.escapes import in_plotly
from ..words.numbers import significant
from ..words.phrases import shortened
from .palette import FAINT, TEAL, faded

MOST_SHOWN = 20
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

    Parameters
    ----------
    coefficients : pd.DataFrame
        Of `Regression.coefficients`; without bands where its ends are NaN.
    unit : str
        What is predicted, with its unit.
    """
    rows = strongest(coefficients).iloc[::-1]
    scale = np.where(rows.estimate == 0.0, 0.0, rows.carries / rows.estimate.replace(0.0, 1.0))
    low, high = rows.low * scale, rows.high * scale
    sure = (low > 0.0) | (high < 0.0) | low.isna()
    figure = go.Figure(
        go.Scatter(
            x=rows.carries,
            y=[in_plotly(shortened(named(row))) for row in rows.itertuples()],
            mode="markers",
            marker={
                "size": 11,
                "color": np.where(sure, TEAL.shape, faded(TEAL.shape, 0.0)),
                "line": {"color": TEAL.shape, "width": 1.5},
            },
            error_x={
                "array": np.maximum(high - rows.carries, 0.0),
                "arrayminus": np.maximum(rows.carries - low, 0.0),
                "color": TEAL.shape,
                "thickness": 1.5,
                "width": 0,
            },
            hovertemplate="%{y}: %{x:,.4~r}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(0.0, line={"color": FAINT.shape, "width": 1})
    figure.update_xaxes(title=f"Change of {in_plotly(shortened(unit))}", zeroline=False, nticks=7)
    figure.update_yaxes(showgrid=True, automargin=True)
    margin = {"l": 8, "r": 8, "t": 8, "b": 44}
    return figure.update_layout(height=90 + ROW * len(rows), margin=margin, dragmode=False)


def coefficients_in_words(coefficients: pd.DataFrame, unit: str) -> str:
    said = [f"{named(row)} {significant(row.carries, 3)}" for row in strongest(coefficients, 5).itertuples()]
    return f"By how much columns move the prediction of {unit} over their range, strongest first: {', '.join(said)}."


def correlation_figure(found: Correlations) -> go.Figure:
    """A matrix of correlations; cells that noise hides are left empty."""
    names = [in_plotly(shortened(term.name)) for term in found.terms]
    hidden = np.abs(found.values) < 1.96 * found.errors
    values = np.where(hidden | np.isnan(found.values), np.nan, found.values)
    picture = go.Heatmap(
        x=names,
        y=names,
        z=values,
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        colorbar={"thickness": 12, "outlinewidth": 0, "tickvals": [-1, 0, 1]},
        hovertemplate="%{y} and %{x}: %{z:.2f}<extra></extra>",
        xgap=1,
        ygap=1,
    )
    figure = go.Figure(picture)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    figure.update_xaxes(showgrid=False, tickangle=-45)
    size = max(300, min(760, 120 + 24 * len(names)))
    return figure.update_layout(height=size, margin={"l": 8, "r": 8, "t": 8, "b": 8}, dragmode=False)


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
    figure = go.Figure(
        go.Bar(
            x=weights[order],
            y=[in_plotly(shortened(found.terms[place].name)) for place in order],
            orientation="h",
            marker={"color": TEAL.shape},
            hovertemplate="%{y}: %{x:.2f}<extra></extra>",
        )
    )
    figure.update_xaxes(title="Weight", range=[-1, 1], zeroline=True)
    margin = {"l": 8, "r": 8, "t": 8, "b": 44}
    return figure.update_layout(height=90 + ROW * len(order), margin=margin, dragmode=False, bargap=0.4)


def component_in_words(found: Components, axis: int) -> str:
    weights = found.axes[axis]
    order = np.argsort(-np.abs(weights), kind="stable")[:5]
    return f"Weights of axis {axis + 1}: " + ", ".join(f"{found.terms[i].name} {weights[i]:.2f}" for i in order) + "."
