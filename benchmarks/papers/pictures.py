"""What an experiment reports, and its pictures: curves with bands over repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.comparison_figures import MethodMark, method_marks
from core.figures.palette import FAINT, INK, RED, faded
from core.lab.comparison_plan import BAND, ErrorCurve

from ..tables import Sheet

HEIGHT = 460


@dataclass(frozen=True)
class Picture:
    """A figure with a sentence that says what it shows."""

    caption: str
    figure: go.Figure


@dataclass(frozen=True)
class Claim:
    """What a paper says, whether that came out here too, and the figures; None where it cannot be told."""

    says: str
    holds: bool | None
    found: str


@dataclass(frozen=True)
class Section:
    """The report of one experiment.

    Attributes
    ----------
    title, source : for people: what it is, and which figure or table of which paper.
    about : paragraphs: what was done, with what data, and how it differs from the paper.
    """

    title: str
    source: str
    about: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    pictures: tuple[Picture, ...] = ()
    sheets: tuple[Sheet, ...] = ()


@dataclass(frozen=True)
class Line:
    """One curve: a mark, a name, and values with a band; `warning` ones are drawn in red and dashed."""

    key: str
    name: str
    x: Sequence[float]
    centres: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    notes: Sequence[str] = ()
    dashed: bool = False
    warning: bool = False

    @classmethod
    def of(cls, curve: ErrorCurve, title: str, warning: bool = False) -> Line:
        """A curve of the comparison; those with the size that public facts choose are dashed beside tuned ones."""
        notes = [
            "" if size is None else f"<br>size {size:,}, tuned for ε = {paid:g} in all"
            for size, paid in zip(curve.sizes, curve.paid, strict=True)
        ]
        name = f"{title}, tuned" if curve.tuned else title
        return cls(
            curve.method, name, curve.epsilons, curve.centres, curve.lows, curve.highs, notes, not curve.tuned, warning
        )


def of_repetitions(key: str, name: str, found: Mapping[float, Sequence[float]], **how: bool) -> Line:
    """A line of means with the same band as the comparison's, from all repetitions at every place."""
    places = sorted(found)
    bands = [np.percentile(found[place], BAND) for place in places]
    centres = [float(np.mean(found[place])) for place in places]
    return Line(
        key, name, places, centres, *([float(value) for value in side] for side in zip(*bands, strict=True)), **how
    )


def lines_figure(
    panels: Mapping[str, Sequence[Line]],
    titles: Mapping[str, str],
    x: str,
    y: str,
    *,
    log_y: bool = True,
    percent: bool = True,
) -> go.Figure:
    """A panel for every name, side by side; the x axis is logarithmic.

    Parameters
    ----------
    panels : the lines of each.
    titles : of all methods by key, in an order that does not change: a method looks the same in every figure.
    """
    figure = make_subplots(1, max(1, len(panels)), subplot_titles=list(panels), shared_yaxes=True)
    marks = method_marks(titles)
    for column, lines in enumerate(panels.values(), start=1):
        for line in lines:
            mark = marks.get(line.key, MethodMark(line.name, INK.shape, "circle", "solid"))
            for trace in _traces(line, mark):
                shown = trace.mode != "lines" and not any(drawn.name == trace.name for drawn in figure.data)
                figure.add_trace(trace.update(showlegend=shown), row=1, col=column)
    places = sorted({place for lines in panels.values() for line in lines for place in line.x})
    figure.update_xaxes(type="log", title=x, tickvals=places, ticktext=[f"{place:g}" for place in places])
    figure.update_yaxes(type="log" if log_y else "linear", tickformat=".2~%" if percent else None)
    if log_y:
        figure.update_yaxes(dtick="D2")  # 1, 2 and 5
    figure.update_yaxes(title=y, col=1)
    count = len({trace.name for trace in figure.data if trace.name})
    legend = {"orientation": "h", "y": -0.2, "yanchor": "top"}
    return figure.update_layout(height=HEIGHT + 12 * count, legend=legend)


def functions_figure(drawn: Mapping[str, tuple[np.ndarray, str]], truth: np.ndarray, grid: np.ndarray) -> go.Figure:
    """Released functions of one column over the exact one.

    Parameters
    ----------
    drawn : by name, one release on the grid, and its colour.
    truth, grid : the exact function and where.
    """
    figure = go.Figure()
    for name, (values, colour) in drawn.items():
        figure.add_scatter(x=grid, y=values, name=name, mode="lines", line={"width": 1.5, "color": colour})
    figure.add_scatter(x=grid, y=truth, name="exact", mode="lines", line={"width": 3, "color": FAINT.shape})
    figure.data = (figure.data[-1], *figure.data[:-1])
    return figure.update_layout(height=HEIGHT, legend={"orientation": "h", "y": -0.2, "yanchor": "top"})


def _traces(line: Line, mark: MethodMark) -> list[go.Scatter]:
    colour = RED.shape if line.warning else mark.colour
    band = go.Scatter(
        x=[*line.x, *reversed(line.x)],
        y=[*line.highs, *reversed(line.lows)],
        fill="toself",
        fillcolor=faded(colour, 0.12),
        line={"width": 0, "color": "rgba(0, 0, 0, 0)"},
        mode="lines",
        hoverinfo="skip",
        legendgroup=line.name,
        showlegend=False,
    )
    notes = list(line.notes) or [""] * len(line.x)
    curve = go.Scatter(
        x=list(line.x),
        y=list(line.centres),
        mode="lines+markers",
        name=line.name,
        legendgroup=line.name,
        line={"color": colour, "dash": "dash" if line.dashed else "solid", "width": 2},
        marker={"color": colour, "symbol": mark.symbol, "size": 7},
        customdata=notes,
        hovertemplate="%{x:.3g}: %{y:.3~g}%{customdata}<extra>" + line.name + "</extra>",
    )
    return [band, curve]
