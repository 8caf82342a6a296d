"""A third column besides the two of a map: as a film that the browser plays, or as shells that a visitor turns.

A shell is drawn where the lower end of the interval reaches its height, so everywhere inside at least so many are very
likely close by. What the noise hides lies in no shell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..analysis.density import Heatmap, Volume
from ..domain import Domain
from ..formatting.numbers import listed, percent, significant
from .density_figures import Marks, close_by, density_map, highest
from .figure_axes import Axis
from .palette import FAINT, LIGHT_SHADES, colour_scale
from .traces import hatch, hidden_by_noise

ABOVE = 148  # Pixels above a map for its words and its slider.
ABOVE_ALONE = 104  # Pixels above a map for its slider alone.
PLAYED = 900  # Milliseconds that a frame of a film is seen.


def film_figure(
    pictures: Sequence[Heatmap],
    words: Sequence[str],
    names: Sequence[str],
    start: int,
    domain: Domain,
    noun: str,
    prefix: str,
    top: float | None = None,
    marks: Marks | None = None,
) -> go.Figure:
    """A map that a slider takes from frame to frame, in the browser alone.

    `pictures`: One a frame, of the same cells. `words`, `names`: what stands above each frame, and its mark on the
    slider. `prefix`: what stands before the mark of the frame that is shown. `top`: where the colours end; None for the
    highest value that is seen on any of them. `marks`: Modes, which lie on every frame.
    """
    columns = {column.name: column for column in domain.columns}
    pair = (columns[pictures[0].x], columns[pictures[0].y])
    figure = density_map(pictures[start], pair, noun, marks)
    x, y = Axis.of(pair[0], pictures[0].x_values), Axis.of(pair[1], pictures[0].y_values)
    seen = [np.where(hidden_by_noise(picture), np.nan, picture.estimate).astype(np.float32) for picture in pictures]
    hatching = next(place for place, trace in enumerate(figure.data) if isinstance(trace, go.Scatter))
    figure.data[0].update(zmin=0, zmax=max(map(highest, seen)) if top is None else top, zsmooth=False)
    lines = [place for place, trace in enumerate(figure.data) if isinstance(trace, go.Contour)]
    figure.data = [trace for place, trace in enumerate(figure.data) if place not in lines and trace.hoverinfo == "skip"]
    hatching -= len([place for place in lines if place < hatching])
    figure.data[hatching].update(visible=True, showlegend=True)
    figure.frames = [
        go.Frame(
            name=name,
            data=[go.Heatmap(z=shown), _hatching(picture, x, y)],
            traces=[0, hatching],
            layout={"title": {"text": said}},
        )
        for picture, shown, said, name in zip(pictures, seen, words, names, strict=True)
    ]
    steps = [{"label": name, "method": "animate", "args": [[name], _each(0)]} for name in names]
    shown = {"prefix": prefix, "font": {"size": 18}}
    slider = {"active": start, "steps": steps, "currentvalue": shown, "x": 0, "len": 1, "y": 1, "yanchor": "bottom"}
    title = {"text": words[start], "x": 0, "xref": "container", "y": 0.97, "yanchor": "top", "font": {"size": 13.5}}
    figure.data[0].showscale = False
    figure.layout.annotations = ()
    figure.update_layout(sliders=[slider | {"pad": {"b": 22, "t": 0}}], title=title)
    return figure.update_layout(margin={"t": ABOVE, "b": 8}, showlegend=False, dragmode=False)


def beginning_at(figure: go.Figure, start: int) -> go.Figure:
    """A film that begins with another of its frames."""
    film, frame = go.Figure(figure), figure.frames[start]
    for place, drawn in zip(frame.traces, frame.data, strict=True):
        film.data[place].update(drawn)
    film.layout.sliders[0].active = start
    return film.update_layout(title={"text": frame.layout.title.text})


def with_buttons(figure: go.Figure) -> go.Figure:
    """Put buttons beside the slider that play a film and stop it; it never plays by itself."""
    play = {"label": "▶", "method": "animate", "args": [None, _each(PLAYED) | {"fromcurrent": True}]}
    stop = {"label": "❚❚", "method": "animate", "args": [[None], _each(0)]}
    place = {"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "pad": {"b": 22}, "direction": "left"}
    figure.update_layout(updatemenus=[{"type": "buttons", "buttons": [play, stop], "showactive": False} | place])
    return figure.update_layout(sliders=[{"x": 0.16, "len": 0.84}], margin={"t": ABOVE_ALONE})


def _each(milliseconds: int) -> dict:
    """How Plotly goes to a frame: at once, and stays that long."""
    stay = {"frame": {"duration": milliseconds, "redraw": True}, "transition": {"duration": 0}}
    return {"mode": "immediate"} | stay


def _hatching(picture: Heatmap, x: Axis, y: Axis) -> go.Scatter:
    """The cells of a frame that the noise hides, hatched."""
    hatched = hatch(hidden_by_noise(picture), x, y)
    return go.Scatter(x=hatched.x, y=hatched.y)


HEIGHT = 560
SHELLS = (0.15, 0.4, 0.7)  # Heights of the shells, in parts of the highest lower end.
OPACITY = 0.35
SHADES = LIGHT_SHADES[2:8]  # The shades of the scale that stand out from either theme.


def axes_of_volume(volume: Volume, domain: Domain) -> tuple[Axis, Axis, Axis]:
    columns = {column.name: column for column in domain.columns}
    x, y, z = (
        Axis.of(columns[name], values)
        for name, values in zip((volume.x, volume.y, volume.z), volume.places, strict=True)
    )
    return x, y, z


def heights(volume: Volume) -> np.ndarray:
    """What is surely there: the lower ends of the intervals, and 0 where the noise hides what there is."""
    sure = volume.low if volume.errors_known else volume.estimate
    return np.where(hidden_by_noise(volume), 0.0, np.maximum(sure, 0.0))


def shells_figure(volume: Volume, domain: Domain, noun: str) -> go.Figure:
    """The shells of a density over three columns, the densest inside."""
    axes = axes_of_volume(volume, domain)
    sure = heights(volume)
    levels = shell_levels(sure)
    across = np.meshgrid(*(axis.values for axis in reversed(axes)), indexing="ij")
    bar = {
        "title": {"text": f"at least so many<br>{close_by(noun)}", "side": "top"},
        "thickness": 10,
        "len": 0.5,
        "outlinewidth": 0,
        "tickmode": "array",
        "tickvals": levels,
        "ticktext": [significant(level, 2) for level in levels],
    }
    figure = go.Figure(
        go.Isosurface(
            x=across[2].ravel(),
            y=across[1].ravel(),
            z=across[0].ravel(),
            value=sure.ravel().astype(np.float32),
            isomin=levels[0],
            isomax=levels[-1],
            cmin=0.0,
            cmax=levels[-1],
            surface={"count": len(levels)},
            caps={side: {"show": False} for side in "xyz"},
            opacity=OPACITY,
            colorscale=colour_scale(SHADES),
            colorbar=bar,
            hoverinfo="skip",
        )
    )
    frame = {"backgroundcolor": "rgba(0, 0, 0, 0)", "showspikes": False, "gridcolor": FAINT.shape}
    sides = {f"{side}axis": axis.layout() | {"showgrid": True} | frame for side, axis in zip("xyz", axes, strict=True)}
    figure.update_layout(scene=sides | {"aspectmode": "cube", "dragmode": "orbit"})
    margin = {"l": 8, "r": 8, "t": 8, "b": 8, "pad": 0}
    return figure.update_layout(height=HEIGHT, margin=margin, uirevision="constant")


def shell_levels(sure: np.ndarray) -> list[float]:
    """The heights of the shells, in two digits."""
    top = highest(sure) or 1.0
    return [float(f"{share * top:.2g}") for share in SHELLS]


def shells_in_words(what: str, volume: Volume, domain: Domain, noun: str) -> str:
    """The text alternative: where most are, and how much of the box each shell fills."""
    sure = heights(volume)
    if not sure.any():
        return f"{what}. The noise hides all of it."
    at = np.unravel_index(sure.argmax(), sure.shape)[::-1]
    axes = axes_of_volume(volume, domain)
    place = ", ".join(f"{axis.name} {axis.words(axis.values[index])}" for axis, index in zip(axes, at, strict=True))
    shares = [f"{significant(level, 2)} in {percent(float((sure >= level).mean()))}" for level in shell_levels(sure)]
    return f"{what}. It is surely highest at {place}. Of the box, at least so many {close_by(noun)}: {listed(shares)}."
