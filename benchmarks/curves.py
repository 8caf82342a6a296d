"""Scaling curves as one page that needs nothing else, and as pictures for documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.palette import AMBER, FAINT, TEAL
from core.figures.paper import on_paper, standalone

from .measuring import ERROR, Curve, NotMeasured
from .results import Results

COLOURS = (TEAL.shape, AMBER.shape, FAINT.shape, "#3856A6")
ACROSS = 3
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
TITLES = {"scaling": "Seconds against size", "jaccard_error": "Error of Jaccard sums against ε"}


def figure(curves: Sequence[Curve]) -> go.Figure:
    """A panel for every title, a line for every name in it; both axes logarithmic, bars from least to most."""
    titles = list(dict.fromkeys(curve.title for curve in curves))
    names = list(dict.fromkeys(curve.name for curve in curves))
    across = min(ACROSS, len(titles))
    drawn = make_subplots(-(-len(titles) // across), across, subplot_titles=titles, vertical_spacing=0.16)
    for curve in curves:
        line, column = divmod(titles.index(curve.title), across)
        high = [max(values) - middle for values, middle in zip(curve.values, curve.medians, strict=True)]
        low = [middle - min(values) for values, middle in zip(curve.values, curve.medians, strict=True)]
        first = not any(trace.name == curve.name for trace in drawn.data)
        drawn.add_scatter(
            x=curve.at, y=curve.medians, name=curve.name, legendgroup=curve.name, showlegend=first,
            mode="lines+markers", line={"color": COLOURS[names.index(curve.name) % len(COLOURS)]},
            error_y={"array": high, "arrayminus": low, "thickness": 1}, row=line + 1, col=column + 1,
        )  # fmt: skip
        drawn.update_xaxes(title=curve.axis, type="log", dtick=_tick(curve), row=line + 1, col=column + 1)
        title = "relative error" if curve.unit == ERROR else curve.unit
        drawn.update_yaxes(title=title, type="log", dtick=1, exponentformat="power", row=line + 1, col=column + 1)
    legend = {"orientation": "h", "y": -0.12}
    return drawn.update_layout(height=120 + 320 * -(-len(titles) // across), legend=legend)


def _tick(curve: Curve) -> float | str:
    """Few numbers below an axis: powers of ten, or of two where an axis is short."""
    return 1 if max(curve.at) / min(curve.at) >= 100 else "D1" if max(curve.at) > 10 else 0.30102999566398


def write(file: Path, results: Sequence[Results]) -> None:
    """The page of all curves, Plotly inside; nothing when no curve was measured."""
    curves = [curve for one in results for curve in one.curves]
    if curves:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(standalone(figure(curves), "Frostglass, measured"))


def write_pictures(folder: Path, results: Sequence[Results]) -> None:
    """A PNG for every benchmark that has curves, drawn by Chromium as a reader's browser would draw them.

    Raises
    ------
    NotMeasured
        When there is no Chromium; the environment variable CHROMIUM names one.
    """
    if not Path(CHROMIUM).exists():
        raise NotMeasured(f"{CHROMIUM} is not there to draw pictures; set CHROMIUM to its path.")
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for one in (one for one in results if one.curves):
            drawn = on_paper(figure(one.curves)).update_layout(width=1080)
            page = browser.new_page(viewport={"width": 1080, "height": int(drawn.layout.height)})
            page.set_content(drawn.to_html(include_plotlyjs=True, config={"staticPlot": True}))
            page.wait_for_selector(".plotly .main-svg")
            page.locator(".plotly-graph-div").screenshot(path=folder / f"{one.benchmark}.png")
        browser.close()
