"""Scaling curves as one page that needs nothing else, and as pictures for documents."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.figures.palette import AMBER, FAINT, INK, TEAL
from core.figures.traces import on_paper, standalone

from .measuring import ERROR, Curve, NotMeasured
from .results import Results
from .words import amount

COLOURS = (TEAL.shape, AMBER.shape, FAINT.shape, "#3856A6", INK.light)
ACROSS = 3
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def figure(curves: Sequence[Curve]) -> go.Figure:
    """A panel for every title, a line for every name in it; both axes logarithmic."""
    titles = list(dict.fromkeys(curve.title for curve in curves))
    names = list(dict.fromkeys(curve.name for curve in curves))
    across = min(ACROSS, len(titles))
    drawn = make_subplots(-(-len(titles) // across), across, subplot_titles=titles, vertical_spacing=0.16)
    for number, title in enumerate(titles):
        place = {"row": number // across + 1, "col": number % across + 1}
        panel = [curve for curve in curves if curve.title == title]
        for curve in panel:
            first = not any(trace.name == curve.name for trace in drawn.data)
            colour = COLOURS[names.index(curve.name) % len(COLOURS)]
            drawn.add_trace(_line(curve, colour).update(showlegend=first), **place)
        sizes = sorted({at for curve in panel for at in curve.at})
        values = [value for curve in panel for repeated in curve.values for value in repeated]
        ticks = _ticks(min(values), max(values))
        texts = [amount(tick, panel[0].unit).replace(".00", "").replace(".0", "") for tick in ticks]
        drawn.update_xaxes(title=panel[0].axis, tickvals=sizes, ticktext=[f"{size:,g}" for size in sizes], **place)
        reach = [math.log10(ticks[0]), math.log10(ticks[-1])]
        drawn.update_yaxes(tickvals=ticks, ticktext=texts, range=reach, **place)
    drawn.update_xaxes(type="log", tickangle=0).update_yaxes(type="log")
    drawn.update_yaxes(title="relative error" if curves[0].unit == ERROR else None, col=1)
    legend = {"orientation": "h", "y": -0.16 * across / len(titles)}
    return drawn.update_layout(height=80 + 320 * -(-len(titles) // across), legend=legend)


def _line(curve: Curve, colour: str) -> go.Scatter:
    """Medians, with bars from the least repetition to the most."""
    pairs = list(zip(curve.values, curve.medians, strict=True))
    bars = {
        "array": [max(values) - middle for values, middle in pairs],
        "arrayminus": [middle - min(values) for values, middle in pairs],
        "thickness": 1,
    }
    return go.Scatter(
        x=curve.at,
        y=curve.medians,
        name=curve.name,
        legendgroup=curve.name,
        mode="lines+markers",
        line={"color": colour},
        error_y=bars,
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers from the last below a range to the first above: powers of ten, or 1, 2 and 5 times those."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1.0,) if high > 100.0 * low else (1.0, 2.0, 5.0)
    found = [step * 10.0**exponent for exponent in exponents for step in steps]
    below = max((tick for tick in found if tick <= low), default=found[0])
    above = min((tick for tick in found if tick >= high), default=found[-1])
    return [tick for tick in found if below <= tick <= max(above, 2.0 * below)]


def write(file: Path, results: Sequence[Results]) -> bool:
    """The page of all curves, Plotly inside; nothing, and False, when no curve was measured."""
    curves = [curve for one in results for curve in one.curves]
    if curves:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(standalone(figure(curves), "Frostglass, measured"))
    return bool(curves)


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
            drawn = on_paper(figure(one.curves)).update_layout(width=1080, margin={"t": 48})
            page = browser.new_page(viewport={"width": 1080, "height": int(drawn.layout.height)})
            page.set_content(drawn.to_html(include_plotlyjs=True, config={"staticPlot": True}))
            page.wait_for_selector(".plotly .main-svg")
            page.locator(".plotly-graph-div").screenshot(path=folder / f"{one.benchmark}.png")
        browser.close()
