"""Figures of lessons: a plane cut into cells, errors against rows, averages of answers, and possible releases.

With few columns, the curve with enough of them stays in sight for comparison.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from ..formatting.numbers import significant
from ..lab.crowd_lessons import AMPLE, LATEST, MEASURED, Outcomes, RowErrors
from ..lab.noise_lessons import MOST, ROWS, Asked, Files, NoiseOfRows
from . import figure_axes
from .palette import AMBER, FAINT, INK, TEAL, faded
from .traces import ABOVE, CLEAR, STILL, band, bars, dots, laid_out, line, logarithmic

if TYPE_CHECKING:
    from ..lab.release_lessons import Attack, Plane

LINES = STILL | {"showgrid": True, "gridcolor": faded(FAINT.shape, 0.2)}  # Of both axes, where both are logarithmic.
TARGETS = 41  # Places along a side that can be clicked: every quarter of a unit.


def plane_figure(plane: Plane, row: int | None, asked: tuple[float, float] | None, met: int) -> go.Figure:
    """People as dots, the cuts of one row as lines, and the cells that were met by a question shaded.

    `row`: the row whose cuts are drawn; None draws none. `asked`: a place, marked by a cross. `met`: of how many rows,
    from the first, the cell that the place falls in is shaded; where several overlap it is darker.
    """
    figure = go.Figure()
    plane_itself = np.array([(0, 0), (plane.side, 0), (plane.side, plane.side), (0, plane.side)], dtype=np.float64)
    _add_area(figure, plane_itself, fill="none", line={"color": FAINT.shape, "width": 1.3})
    if asked is not None:
        for shaded, cell in enumerate(plane.fallen(asked)[:met]):
            _add_area(figure, plane.stripe(shaded, int(cell)), fillcolor=faded(INK.shape, 0.16), line={"width": 0})
    if row is not None:
        for cell in range(int(plane.cells[row])):
            _add_area(figure, plane.stripe(row, cell), fill="none", line={"color": FAINT.shape, "width": 1.3})
    places = np.linspace(0.0, plane.side, TARGETS)
    x, y = (axis.ravel() for axis in np.meshgrid(places, places))
    figure.add_trace(figure_axes.targets(x, y, [f"{a:g}, {b:g}" for a, b in zip(x, y, strict=True)]))
    still = {"unselected": figure_axes.UNFADED}
    figure.add_trace(dots(plane.people[:, 0], plane.people[:, 1], None, AMBER.shape, 11, **still))
    if asked is not None:
        cross = {"symbol": "x-thin", "line": {"width": 3.5, "color": INK.shape}}
        figure.add_trace(go.Scatter(dots([asked[0]], [asked[1]], size=15, marker=cross, **still)))
    sides = STILL | {"nticks": 6, "range": [-0.05, plane.side + 0.05], "constrain": "domain"}
    figure.update_xaxes(sides).update_yaxes(sides, scaleanchor="x")
    figure_axes.clickable(figure)
    return laid_out(figure, 390, showlegend=False)


def plane_in_words(plane: Plane, row: int | None, asked: tuple[float, float] | None) -> str:
    people = f"A plane with people at {len(plane.people)} places"
    cut = "" if row is None else f", cut by row {row + 1} into {int(plane.cells[row])} stripes"
    cross = "" if asked is None else f". The place that is asked, {asked[0]:g}, {asked[1]:g}, is marked by a cross"
    return f"{people}{cut}{cross}."


def _add_area(figure: go.Figure, corners: np.ndarray, **style) -> None:
    if len(corners) < 3:
        return
    closed = np.vstack([corners, corners[:1]])
    facts = {"mode": "lines", "fill": "toself", "hoverinfo": "skip", "showlegend": False}
    figure.add_trace(go.Scatter(**(facts | {"x": closed[:, 0], "y": closed[:, 1]} | style)))


def curve_figure(curve: RowErrors) -> go.Figure:
    """The two parts and their sum on logarithmic axes, with the errors of sketches that were really made as dots."""
    figure = go.Figure()
    for y, name, *look in (
        (curve.sampling, "luck of the cuts", FAINT.shape, 2, "dash"),
        (curve.noise, "noise", INK.shape, 2, "dot"),
        (curve.bound, "the paper's bound", faded(FAINT.shape, 0.7), 1, None),
        (curve.ample, f"both, with {AMPLE} columns", TEAL.shape, 1.3, None),
        (curve.both, "both together", TEAL.shape, 3, None),
    ):
        if y is curve.ample and curve.width >= AMPLE:
            continue
        figure.add_trace(line(curve.rows, y, name, *look, "%{x:,.0f} rows: off by %{y:,.2~r}"))
    said = {"hovertemplate": "%{x:,} rows, measured: off by %{y:,.2~r}<extra></extra>", "hoverinfo": None}
    figure.add_trace(dots(MEASURED, curve.measured, "real sketches", TEAL.shape, 9, **said))
    ring = {"line": {"color": INK.shape, "width": 3}}
    least = {"hovertemplate": "best: %{x:,} rows<extra></extra>", "hoverinfo": None}
    at = [curve.best], [curve.error_with(curve.best)]
    figure.add_trace(dots(*at, "the lowest point", CLEAR, 19, marker=ring, **least))
    figure.update_xaxes(logarithmic((2, 10, 100, 1000), title="rows R", **LINES))
    figure.update_yaxes(LINES | {"type": "log", "title": "people off, typically", "dtick": "D2", "tickformat": ","})
    return laid_out(figure, 420, ABOVE)


def curve_in_words(curve: RowErrors) -> str:
    best, ample = significant(curve.error_with(curve.best), 2), significant(curve.least_if_ample, 2)
    ends = f"{significant(curve.both[0], 2)} people with {curve.rows[0]:,.0f} rows to"
    return (
        f"The typical error falls from {ends} {best} with {curve.best:,} rows, and is "
        f"{significant(curve.both[-1], 2)} with {curve.rows[-1]:,.0f}. Real sketches lie on the curve."
        + (f" With {AMPLE} columns it would fall to {ample}." if curve.width < AMPLE else "")
    )


DRAWN = 400  # Points of a line: on a logarithmic axis more would lie on top of each other.


def averages_figure(asked: Asked) -> go.Figure:
    """Averages against the number of questions, with the band in which they are expected."""
    times = len(asked.answers)
    k = np.unique(np.geomspace(1, times, DRAWN).round().astype(int))
    reach = 2.0 * asked.error * np.sqrt(times / k)
    usual = band(k, asked.secret - reach, asked.secret + reach, "usual range of the average", FAINT.shape, 0.16)
    figure = go.Figure(usual.update(line={"width": 0}))
    for y, name, colour, width in (
        (np.full(len(k), asked.secret), "the secret", AMBER.shape, 3),
        (np.full(len(k), asked.released), "a release, asked as often", TEAL.shape, 3),
        (asked.averages[k - 1], "average of fresh answers", INK.shape, 2),
    ):
        look = {"mode": "lines" if times > 1 else "markers", "marker": {"color": colour, "size": 10}}
        said = "after %{x:,} questions: %{y:,.1f}"
        figure.add_trace(line(k, y, name, colour, width, said=said, **look))
    span = [-0.05, np.log10(MOST) + 0.05]
    figure.update_xaxes(logarithmic((1, 10, 100, 1000), title="questions asked", range=span))
    figure.update_yaxes(STILL | {"title": "answer", "nticks": 6, "tickformat": ","})
    return laid_out(figure, 380, ABOVE)


def delta_figure(found: NoiseOfRows, rows: int) -> go.Figure:
    """Two lines on logarithmic axes, and where the chosen number of rows stands on each."""
    place, figure = ROWS.index(rows), go.Figure()
    # Beside the rising line there is room above it to the left and below it to the right.
    above = found.pure[place] > found.with_delta[place]
    for y, name, colour, dash, side in (
        (found.pure, "ε alone", INK.shape, "dot", "top left" if above else "bottom right"),
        (found.with_delta, "ε with a risk δ", TEAL.shape, "solid", "bottom center" if above else "top center"),
    ):
        figure.add_trace(line(ROWS, y, name, colour, 3, dash, "%{x:,} rows: ± %{y:,.3~r} people"))
        mark = {"mode": "markers+text", "text": [f"± {significant(y[place], 3)}"], "textposition": side}
        figure.add_trace(dots([rows], [y[place]], None, colour, 13, cliponaxis=False, **mark))
    figure.update_xaxes(LINES | logarithmic((10, 100, 1000, 10_000), title="rows R", range=[0.5, 4.15], **LINES))
    figure.update_yaxes(
        LINES | {"type": "log", "title": "noise of an answer (people)", "dtick": "D2", "tickformat": ","}
    )
    return laid_out(figure, 380, ABOVE)


def delta_figure_in_words(found: NoiseOfRows, rows: int) -> str:
    place = ROWS.index(rows)
    return (
        f"With {rows:,} rows the noise of an answer is {significant(found.pure[place], 3)} people for ε alone and "
        f"{significant(found.with_delta[place], 3)} with δ. The first grows with the rows, the second does not."
    )


REACH = 12  # Bars to either side of 0; farther files are few, and stand at the ends.


def files_figure(files: Files) -> go.Figure:
    """A histogram in two parts: files that could come from either count, and those that give the count away."""
    # Half a count at least, so that whole numbers stand apart; more where the noise reaches far.
    step = max(0.5, files.scale / 2.0)
    middles = step * np.arange(-REACH, REACH + 1)
    edges = step * (np.arange(-REACH, REACH + 2) - 0.5)
    ends = np.clip(files.outputs, middles[0], middles[-1])
    figure = go.Figure()
    for mask, name, colour in (
        (~files.betrayed, "could come from 0 or from 1", FAINT.shape),
        (files.betrayed, "could come from one of them only", AMBER.shape),
    ):
        counts, _ = np.histogram(ends[mask], edges)
        more = {"width": 0.84 * step, "showlegend": True}
        figure.add_trace(bars(middles, counts, name, colour, "around %{x:,.6~r}: %{y} files", **more))
    figure.update_xaxes(STILL | {"title": "released number", "nticks": 12})
    figure.update_yaxes(STILL | {"title": "files", "nticks": 4})
    legend = {"orientation": "v", "x": 0, "y": 1.02, "yanchor": "bottom"}
    return laid_out(figure, 270, legend, barmode="stack")


def files_in_words(files: Files) -> str:
    return (
        f"Of {len(files.outputs)} released numbers, {int(files.betrayed.sum())} could come from one of the two counts "
        "only, and the others from either."
    )


def outcomes_figure(outcomes: Outcomes) -> go.Figure:
    """Every possible release in teal, the crowd itself as one line in amber, and a dot on every release's peak."""
    count, hours = len(outcomes.releases), outcomes.hours
    every = np.hstack([outcomes.releases, np.full((count, 1), np.nan)]).ravel()
    figure = go.Figure(line(np.tile(np.append(hours, np.nan), count), every, None, faded(TEAL.shape, 0.28), 1))
    # Of a line as faint as those, the legend would show nothing.
    named = line([None], [None], "fifty possible releases", faded(TEAL.shape, 0.75), 1.5)
    figure.add_trace(named.update(hoverinfo=None))
    peaks = {"hovertemplate": "peak at %{x:,.4~r} o'clock<extra></extra>", "hoverinfo": None}
    at = outcomes.peaks, outcomes.releases.max(axis=1)
    figure.add_trace(dots(*at, "where each has its peak", TEAL.shape, 7, **peaks))
    said = "%{x:,.4~r} o'clock: %{y:,.0f}"
    figure.add_trace(line(hours, outcomes.exact, "the crowd itself", AMBER.shape, 3, said=said))
    times = {"range": [0, LATEST], "tickvals": list(range(0, 25, 3))}
    figure.update_xaxes(STILL | times | {"title": "hour of the day"})
    zero = {"zeroline": True, "zerolinecolor": faded(FAINT.shape, 0.5)}
    figure.update_yaxes(STILL | zero | {"title": "people nearby", "nticks": 5, "tickformat": ","})
    return laid_out(figure, 380, ABOVE)


NAMES = ("with the richest person", "without")  # The two files, the first one on top.


def bounds_figure(attack: Attack) -> go.Figure:
    """A bar from the lower to the upper bound of either file.

    Bounds that were read off the data are drawn in amber: they are private, though the file shows them.
    """
    colour = AMBER.shape if attack.given_away else TEAL.shape
    figure = go.Figure()
    for name, (low, high) in zip(NAMES, attack.bounds, strict=True):
        words = {"text": [f"{low:,.0f}  ", f"  {high:,.0f}"], "textposition": ["middle left", "middle right"]}
        look = {"mode": "lines+markers+text", "marker": {"color": colour, "size": 11}, "cliponaxis": False}
        figure.add_trace(line([low, high], [name, name], None, colour, 5, **look, **words))
    most = max(high for _, high in attack.bounds)
    ticks = {"tickvals": [0, most / 2, most], "tickformat": ",.0f"}
    figure.update_xaxes(STILL | ticks | {"title": "pay a year", "range": [-0.36 * most, 1.5 * most]})
    names = {"tickvals": list(NAMES), "ticktext": [name.split()[0] for name in NAMES]}
    figure.update_yaxes(autorange="reversed", fixedrange=True, showgrid=False, **names)
    return laid_out(figure, 190)


def bounds_in_words(attack: Attack) -> str:
    return (
        "; ".join(
            f"the file {name} says pay lies between {low:,.0f} and {high:,.0f}"
            for name, (low, high) in zip(NAMES, attack.bounds, strict=True)
        ).capitalize()
        + "."
    )
