"""Pictures of a released table: a small one for each column, the pairs that go together, and two columns at a time.

What cannot be told from empty is hatched, as everywhere. Of a part that somebody points at, each small picture shows
the shares in the part as teal bars, and those of everyone as a grey line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..analysis.table_profile import Association, Profile, Together, in_order, is_time, words_for_cells, written
from ..formatting.escapes import in_plotly
from ..formatting.numbers import percent, shortened, significant
from ..sketches.tables.table_axes import Axis as Cells
from . import figure_axes
from .density_figures import COLOUR_BAR
from .figure_axes import Axis, amount_ticks, date_ticks, marked
from .palette import FAINT, INK, TEAL, faded
from .traces import CLEAR, PATTERN, bars, cells, hatch, laid_out, spread

HEIGHT, ROW, PAD = 190, 24, 34  # Pixels of a picture of numbers; of a category, and what all of them have around them.
MOST_ROWS = 12  # Categories that a small picture has room for; of more, the most frequent are shown.
MOST_PAIRS = 10
MAP_HEIGHT = 460
DIMMED = 0.3  # Opacity of bars beside those that are pointed at.
BESIDE = {"selected": figure_axes.UNFADED, "unselected": figure_axes.UNFADED}  # What is not pointed at stays as it is.


def rows_of(whole: Profile) -> np.ndarray:
    """The cells that a picture shows: all, or of many categories without an order the most frequent."""
    cells = np.arange(whole.axis.valued)
    if in_order(whole.axis) or len(cells) <= MOST_ROWS:
        return cells
    often = np.argsort(-np.nan_to_num(whole.share), kind="stable")
    return np.sort(often[:MOST_ROWS]) if in_order(whole.axis) else often[:MOST_ROWS]


def column_figure(shown: Profile, whole: Profile) -> go.Figure:
    """The shares of the cells of one column, with their intervals: bars to click, several with Shift.

    `shown`: of a part, or of everyone; ``customdata`` of a bar is the number of its cell.
    """
    rows = rows_of(whole)
    upright = not whole.axis.categories
    traces = []
    places, widths = _places(whole.axis, rows)
    if shown.missing:
        grey = {"color": faded(FAINT.shape, 0.28)}
        traces.append(_bars(whole, rows, places, widths, upright, grey, "of everyone"))
    if not shown.missing:
        told = shown.told[rows]
        strength = np.ones(len(rows))
        if shown.chosen:
            strength = np.where(np.isin(rows, shown.chosen), 1.0, DIMMED)
        colours = [faded(TEAL.shape, one) if seen else CLEAR for seen, one in zip(told, strength, strict=True)]
        shapes = ["" if seen else PATTERN["shape"] for seen in told]
        lines = [0.0 if seen else 1.0 for seen in told]
        marker = {
            "color": colours,
            "line": {"width": lines, "color": FAINT.shape},
            "pattern": {"shape": shapes, "size": 6, "solidity": 0.2, "fgcolor": FAINT.shape, "bgcolor": CLEAR},
        }
        traces.append(_bars(shown, rows, places, widths, upright, marker, "", intervals=True))
        if shown is not whole and not shown.chosen:
            traces.append(_outline(whole, rows, upright))
    return go.Figure({"data": traces, "layout": _layout(whole, shown, rows, upright)})  # at once, which is quicker


def _outline(whole: Profile, rows: np.ndarray, upright: bool) -> dict:
    """The shares of everyone, as a line in front of those of a part: along the tops of bars, or a mark in each row."""
    share = np.clip(np.nan_to_num(whole.share[rows]), 0.0, None)
    facts = {"hoverinfo": "skip", "showlegend": False} | BESIDE
    if not upright:
        symbol = {"symbol": "line-ns-open", "size": 13, "color": INK.shape, "line": {"width": 2, "color": INK.shape}}
        return facts | {"type": "scatter", "x": share, "y": np.arange(len(rows)), "mode": "markers", "marker": symbol}
    edges = np.repeat(_drawn_edges(whole.axis), 2)[1:-1]
    line = {"width": 1.5, "color": INK.shape}
    return facts | {"type": "scatter", "x": edges, "y": np.repeat(share, 2), "mode": "lines", "line": line}


def column_in_words(shown: Profile) -> str:
    """The text alternative of the small picture of a column."""
    if shown.missing:
        return f"{shown.name}: {shown.missing}"
    most = int(np.nanargmax(shown.share))
    hidden = int((~shown.told).sum())
    words = f"{shown.name}: most often {words_for_cells(shown.axis, [most])}, {percent(float(shown.share[most]))}."
    return f"{words} {hidden} of {shown.axis.valued} bars cannot be told from none." if hidden else words


def pairs_figure(strengths: pd.DataFrame) -> go.Figure:
    """The pairs of columns that tell most of each other, in the order given; ``customdata`` has both names."""
    top = strengths.head(MOST_PAIRS)
    names = [
        in_plotly(f"{shortened(one, 18)} · {shortened(other, 18)}")
        for one, other in zip(top["column"], top["other"], strict=True)
    ]
    low, high = (top[end].to_numpy() for end in ("low", "high"))
    value = top["estimate"].to_numpy()
    texts = [f"{one:.2f} ({least:.2f} to {most:.2f})" for one, least, most in zip(value, low, high, strict=True)]
    shown = {"text": texts, "textposition": "none", "customdata": top[["column", "other"]].to_numpy().tolist()}
    colours = [TEAL.shape if end > 0.0 else faded(TEAL.shape, DIMMED) for end in low]
    more = shown | BESIDE | {"orientation": "h", "error_x": _spread(high - value, value - low)}
    figure = go.Figure(bars(value, np.arange(len(top)), None, colours, "%{text}", **more))
    figure.update_xaxes(range=[0.0, min(1.05, float(high.max(initial=0.1)) * 1.08)], zeroline=False, nticks=6)
    figure.update_yaxes(tickmode="array", tickvals=np.arange(len(top)), ticktext=names, autorange="reversed")
    margin = {"l": 8, "r": 12, "t": 4, "b": 24, "pad": 4}
    figure.update_yaxes(automargin=True, showgrid=False)
    return figure.update_layout(height=ROW * 1.3 * max(2, len(top)) + PAD, margin=margin, clickmode="event+select")


def together_figure(found: Together) -> go.Figure:
    """Two columns: the share of everyone in each combination of cells, hatched where it may be none."""
    told = np.nan_to_num(found.low, nan=-1.0) > 0.0
    seen = np.where(told, found.share, np.nan)
    x, y = side_by_side(found.across), side_by_side(found.up)
    names = [[words_for_cells(axis, [cell]) for cell in range(axis.valued)] for axis in (found.across, found.up)]
    words = [
        [
            in_plotly(
                f"{names[0][i]}, {names[1][j]}: {share_words(found.share[j, i], found.low[j, i], found.high[j, i])}"
            )
            for i in range(found.across.valued)
        ]
        for j in range(found.up.valued)
    ]
    bar = {"orientation": "h", "thickness": 10, "len": 0.5, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom"}
    marks = {"tickformat": ".2p", "nticks": 4, "title": {"text": "share of everyone", "side": "top"}}
    said = {"text": words, "hovertemplate": "%{text}<extra></extra>", "hoverongaps": False}
    drawn = cells(x, y, seen, zmin=0, colorbar=bar | marks, **said)
    figure = go.Figure([drawn, hatch(~told, x, y, showlegend=False)])
    for axis, update in ((found.across, figure.update_xaxes), (found.up, figure.update_yaxes)):
        update(**cell_ticks(axis), showgrid=False, zeroline=False, automargin=True)
        update(title={"text": in_plotly(shortened(axis.name)), "standoff": 16})
    figure.update_xaxes(range=[-0.5, found.across.valued - 0.5])
    figure.update_yaxes(range=[-0.5, found.up.valued - 0.5])
    return laid_out(figure, MAP_HEIGHT, margin={"r": 12, "t": COLOUR_BAR, "pad": 0})


def place_figure(found: Together) -> go.Figure:
    """A map: longitude across and latitude up, a kilometre as long either way."""
    return to_scale(together_figure(found), found.across, found.up)


def to_scale(figure: go.Figure, across: Cells, up: Cells) -> go.Figure:
    """A figure of the cells of longitude and latitude as a map, a kilometre as long either way."""
    middle = math.radians((up.low + up.high) / 2.0)
    ratio = (up.high - up.low) / up.valued
    ratio /= math.cos(middle) * (across.high - across.low) / across.valued
    figure.update_yaxes(scaleanchor="x", scaleratio=ratio, constrain="domain")
    return figure.update_xaxes(constrain="domain")


def together_in_words(found: Together) -> str:
    """Where most records are over two columns, as the text alternative of their picture."""
    if np.isnan(found.share).all():
        return f"{found.across.name} and {found.up.name}: too few people are left to be told from none."
    up, across = np.unravel_index(int(np.nanargmax(found.share)), found.share.shape)
    where = f"{words_for_cells(found.across, [int(across)])}, {words_for_cells(found.up, [int(up)])}"
    return f"{found.across.name} and {found.up.name}: most are at {where}, {percent(float(found.share[up, across]))}."


def association_words(found: Association) -> str:
    """χ² beside what noise alone would show, and bits, in a sentence."""
    beside = "more than" if found.statistic > found.alone else "no more than"
    return (
        f"χ² with noise is {significant(found.statistic, 3)}, {beside} the {significant(found.alone, 3)} that noise "
        f"and chance alone stay below in 19 of 20 releases. By the best guess, one tells {significant(found.bits, 2)} "
        "bits of the other."
    )


def share_words(share: float, low: float, high: float) -> str:
    if math.isnan(share):
        return "unknown"
    if low <= 0.0:
        return f"at most {percent(max(high, 0.0))}"
    return f"{percent(share, 3)} ({percent(low, 3)} to {percent(high, 3)})"


def _bars(
    profile: Profile,
    rows: np.ndarray,
    places: np.ndarray,
    widths: np.ndarray,
    upright: bool,
    marker: dict,
    whose: str,
    intervals: bool = False,
) -> dict:
    share = np.clip(np.nan_to_num(profile.share[rows]), 0.0, None)
    low, high = (np.nan_to_num(ends[rows]) for ends in (profile.low, profile.high))
    words = [
        in_plotly(
            f"{words_for_cells(profile.axis, [cell])}: {share_words(*(one[cell] for one in _ends(profile)))} {whose}"
        )
        for cell in rows
    ]
    along, value = ("x", "y") if upright else ("y", "x")
    facts: dict = {along: places, value: share, "width": widths}
    if intervals:
        facts[f"error_{value}"] = _spread(high - share, np.clip(share - low, 0.0, share))
    return facts | {
        "type": "bar",
        "orientation": "v" if upright else "h",
        "marker": marker,
        "customdata": [[int(cell)] for cell in rows],
        "text": words,
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "showlegend": False,
        **BESIDE,
    }


def _ends(profile: Profile) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return profile.share, profile.low, profile.high


def _spread(above: np.ndarray, below: np.ndarray) -> dict:
    return spread(np.clip(above, 0.0, None), below, thickness=1.2)


def _places(axis: Cells, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where bars stand, and how wide they are."""
    if axis.categories:
        return np.arange(len(rows), dtype=np.float64), np.full(len(rows), 0.72)
    edges = _drawn_edges(axis)
    gap = 0.92 if axis.valued <= 32 else 1.0
    return (edges[1:] + edges[:-1]) / 2.0, np.diff(edges) * gap


def _drawn_edges(axis: Cells) -> np.ndarray:
    """Where cells begin and end in a picture: half-way between values where they have steps, and dates at midnight."""
    if axis.amounts is not None:
        return axis.amounts.placed(axis.edges())
    half = axis.steps.step / 2.0 if axis.steps is not None and not is_time(axis) else 0.0
    return axis.edges() - half


def _layout(whole: Profile, shown: Profile, rows: np.ndarray, upright: bool) -> dict:
    axis = whole.axis
    tops = [whole.high[rows]] + ([] if shown.missing else [shown.high[rows]])
    top = max(float(np.nanmax(one, initial=0.0)) for one in tops) * 1.04
    share = {"tickformat": ".2~p", "nticks": 4, "rangemode": "tozero", "zeroline": False, "automargin": True}
    share |= {"range": [0.0, max(top, 1e-6)], "fixedrange": True}
    along = (_number_axis(axis) if upright else _category_axis(axis, rows)) | {"fixedrange": True}
    return {
        "xaxis": along if upright else share,
        "yaxis": share if upright else along,
        "height": HEIGHT if upright else ROW * max(3, len(rows)) + PAD,
        "margin": {"l": 4, "r": 10, "t": 6, "b": 4, "pad": 2},
        "barmode": "overlay",
        "dragmode": "pan",  # and nothing moves: in the mode in which one drags over a stretch, no bar can be clicked
        "selectdirection": "h",
        "clickmode": "event+select",
        "hovermode": "closest",
        "newselection": {"line": {"width": 1, "color": FAINT.shape, "dash": "dot"}},
    }


def _number_axis(axis: Cells) -> dict:
    edges = _drawn_edges(axis)
    facts: dict = {"range": [edges[0], edges[-1]], "showgrid": False, "zeroline": False, "automargin": True}
    if is_time(axis) or axis.amounts is not None:
        ticks = amount_ticks if axis.amounts is not None else date_ticks
        places, texts = zip(*ticks(axis.column), strict=True)  # type: ignore[arg-type, operator]
        every = max(1, math.ceil(len(places) / 4))
        return facts | {"tickmode": "array", "tickvals": places[::every], "ticktext": texts[::every]}
    large = max(abs(axis.low), abs(axis.high)) >= 10_000
    return facts | {"tickformat": "~s" if large else "", "exponentformat": "none", "nticks": 6}


def _category_axis(axis: Cells, rows: Sequence[int] | np.ndarray) -> dict:
    labels = [in_plotly(shortened(axis.categories[cell], 20)) for cell in rows]
    facts: dict = {"tickmode": "array", "tickvals": np.arange(len(rows)), "ticktext": labels}
    return facts | {"range": [len(rows) - 0.5, -0.5], "showgrid": False, "automargin": True}


def side_by_side(axis: Cells) -> Axis:
    """The cells of a column side by side, each as wide as any other."""
    return Axis(axis.name, np.arange(axis.valued, dtype=np.float64), -0.5, axis.valued - 0.5)


def cell_ticks(axis: Cells) -> dict:
    """Marks of cells that stand side by side: their categories, or where some of them begin."""
    if axis.categories:
        every = marked(axis.categories[: axis.valued])
        labels = [in_plotly(shortened(category, 16)) for category in axis.categories[: axis.valued : every]]
        return {"tickmode": "array", "tickvals": np.arange(axis.valued)[::every], "ticktext": labels}
    every = max(1, math.ceil(axis.valued / 6))
    some = np.arange(0, axis.valued + (0 if axis.steps is not None else 1), every)
    if axis.of_single_values:
        return {"tickmode": "array", "tickvals": some, "ticktext": [written(axis, axis.edges()[i]) for i in some]}
    return {"tickmode": "array", "tickvals": some - 0.5, "ticktext": [written(axis, axis.edges()[i]) for i in some]}
