"""A figure of what two released tables differ by: every combination of the cells of two columns."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ..tasks.differences import CellDifferences, Strength
from ..tasks.table_profile import words_for_cells
from ..words.escapes import in_plotly
from ..words.numbers import percent, significant
from ..words.phrases import shortened
from .density import COLOUR_BAR
from .difference import SCALE, UNTOLD
from .overview import MAP_HEIGHT, cell_ticks, side_by_side, to_scale
from .palette import FAINT, faded

GREY = faded(FAINT.shape, 0.3)


def cell_differences_figure(found: CellDifferences, title: str, shares: bool) -> go.Figure:
    """More and less in colours, and grey where noise alone may have made the difference.

    Parameters
    ----------
    found : CellDifferences
        The differences.
    title : str
        What they are.
    shares : bool
        Whether they are shares, which are written as such.
    """
    told = (found.low > 0.0) | (found.high < 0.0)
    x, y = side_by_side(found.across), side_by_side(found.up)
    words = _words(found, told, shares)
    most = float(np.abs(found.estimate[told]).max()) if told.any() else 1.0
    bar = {"orientation": "h", "thickness": 10, "len": 0.5, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
    shown = {
        "x": x.values,
        "y": y.values,
        "text": words,
        "hovertemplate": "%{text}<extra></extra>",
        "xgap": 1,
        "ygap": 1,
    }
    figure = go.Figure()
    figure.add_heatmap(
        z=np.where(told, np.nan, 0.0).astype(np.float32),
        colorscale=[[0.0, GREY], [1.0, GREY]],
        showscale=False,
        hoverongaps=False,
        **shown,
    )
    figure.add_heatmap(
        z=np.where(told, found.estimate, np.nan).astype(np.float32),
        zmin=-most,
        zmax=most,
        colorscale=SCALE,
        showscale=bool(told.any()),
        hoverongaps=False,
        colorbar=bar
        | {
            "tickformat": ".2~p" if shares else ",.3~g",
            "nticks": 4,
            "title": {"text": in_plotly(title), "side": "top"},
        },
        **shown,
    )
    for axis, update in ((found.across, figure.update_xaxes), (found.up, figure.update_yaxes)):
        update(**cell_ticks(axis), showgrid=False, zeroline=False, automargin=True, range=[-0.5, axis.valued - 0.5])
        update(title={"text": in_plotly(shortened(axis.name)), "standoff": 16})
    margin = {"l": 8, "r": 12, "t": COLOUR_BAR, "b": 8, "pad": 0}
    return figure.update_layout(height=MAP_HEIGHT, margin=margin, dragmode=False)


def place_differences_figure(found: CellDifferences, title: str, shares: bool) -> go.Figure:
    """The same of longitude and latitude, as a map."""
    return to_scale(cell_differences_figure(found, title, shares), found.across, found.up)


def strength_words(row: Strength) -> tuple[str, str, str]:
    """How strongly two columns go together in the first table and in the second, and the difference with its band."""
    before, after = (significant(value, 2) for value in (row.first, row.second))
    return before, after, difference_words(row.estimate, row.low, row.high, shares=False)


def difference_words(estimate: float, low: float, high: float, shares: bool) -> str:
    """A difference with its band: "+3.1% (2.0% to 4.2%)"."""
    parts = (signed(value, shares) for value in (estimate, low, high))
    return "{} ({} to {})".format(*parts)


def signed(value: float, shares: bool) -> str:
    """A difference with its sign, in three digits."""
    if not value or not np.isfinite(value):
        return "0" if not value else "unknown"
    size = percent(abs(value), 3) if shares else significant(abs(value), 3)
    return f"{'+' if value > 0 else '−'}{size}"


def _words(found: CellDifferences, told: np.ndarray, shares: bool) -> list[list[str]]:
    names = [[words_for_cells(axis, [cell]) for cell in range(axis.valued)] for axis in (found.across, found.up)]
    return [
        [
            in_plotly(
                f"{names[0][i]}, {names[1][j]}: "
                f"{difference_words(found.estimate[j, i], found.low[j, i], found.high[j, i], shares)}"
                f"{'' if told[j, i] else ', ' + UNTOLD}"
            )
            for i in range(found.across.valued)
        ]
        for j in range(found.up.valued)
    ]
