"""Figures of local reports: counted answers with their bands, errors of oracles, and what trusting nobody costs."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..formatting.escapes import in_plotly
from ..formatting.numbers import number, shortened
from ..lab.crowd_lessons import Polled
from .palette import AMBER, FAINT, INK, TEAL, faded
from .traces import ABOVE, BOTH, CLEAR, HATCHED, PATTERN, bars, dots, laid_out, line, spread

MOST_BARS = 40  # Answers drawn; of more, those with the largest estimates.
BAR_HEIGHT, AROUND = 30, 90
AIR = 1.05  # Of the largest that is drawn, where the axis of shares ends: nowhere beyond everybody.
REALLY = "what they really said"


def drawn_answers(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn: all in their order, or the largest first where there are too many."""
    if len(table) <= MOST_BARS:
        return table
    return table.sort_values("estimate", ascending=False, kind="stable").head(MOST_BARS)


def local_bars(table: pd.DataFrame, people: int, truth: Sequence[int] | None = None) -> go.Figure:
    """Bars of shares in percent, hatched where the noise may be all there is.

    `table`: As `core.local.local_release.LocalRelease.table` gives it. `truth`: how many really gave each answer, of a
    made-up class that is revealed. The axis ends at 100% at the latest, as far as a band may reach beyond.
    """
    shown = drawn_answers(table)[::-1]
    names = [in_plotly(shortened(str(value), 34)) for value in shown["value"]]
    places = np.arange(len(shown))
    estimate, low, high = (100 * shown[name].to_numpy() / people for name in ("estimate", "low", "high"))
    hidden = low <= 0
    said = "%{x:.1f}%, very likely %{customdata[0]:.1f} to %{customdata[1]:.1f}%<extra></extra>"
    more = {"orientation": "h", "customdata": np.column_stack([low, high]), "hovertemplate": said, "hoverinfo": None}
    figure = go.Figure()
    hollow = {"color": CLEAR, "pattern": PATTERN, "line": {"width": 0}}
    for rows, name, marker in ((~hidden, BOTH, {"color": TEAL.shape}), (hidden, HATCHED, hollow)):
        if rows.any():
            above, below = (np.where(rows, ends, np.nan) for ends in (high - estimate, estimate - low))
            seen, reach = np.where(rows, estimate, np.nan), spread(above, below, width=5)
            figure.add_trace(bars(seen, places, name, marker=marker, error_x=reach, **more))
    if truth is not None:
        really = 100 * np.asarray(truth)[shown.index] / people
        look = {"symbol": "diamond", "line": {"width": 1.5, "color": CLEAR}}
        template = {"hovertemplate": "really %{x:.1f}%<extra></extra>", "hoverinfo": None}
        figure.add_trace(dots(really, places, REALLY, AMBER.shape, 12, marker=look, **template))
    figure.update_yaxes(tickvals=places, ticktext=names, automargin=True, showgrid=False, fixedrange=True)
    highest = max([*high, *(really if truth is not None else ())])
    ends = min(0.0, float(low.min())), min(100.0, AIR * float(highest))
    figure.update_xaxes(title="share of all reports", ticksuffix="%", zeroline=True, fixedrange=True, range=ends)
    legend = {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0.0}
    layout = {"barmode": "overlay", "bargap": 0.35, "margin": {"r": 16, "t": 36, "b": 44}}
    return laid_out(figure, AROUND + BAR_HEIGHT * max(len(shown), 3), legend, showlegend=True, **layout)


def revealed_in_words(table: pd.DataFrame, people: int, truth: Sequence[int]) -> str:
    """How close the estimates came to what a made-up class really said."""
    told = np.asarray(truth)
    within = int(((table["low"] <= told) & (told <= table["high"])).sum())
    off = 100 * np.abs(table["estimate"] - told).max() / people
    return (
        f"What they really said lies in {within:,} of {len(told):,} bands, and the best guess is off by {off:.0f} "
        f"{'point' if round(off) == 1 else 'points'} at most."
    )


def local_in_words(table: pd.DataFrame, people: int, truth: Sequence[int] | None = None) -> str:
    closeness = "" if truth is None else f" {revealed_in_words(table, people, truth)}"
    return _bars_in_words(table, people) + closeness


def _bars_in_words(table: pd.DataFrame, people: int) -> str:
    shown = drawn_answers(table)
    seen = shown[shown["low"] > 0].sort_values("estimate", ascending=False, kind="stable")
    if not len(seen):
        return f"Bars of {len(shown):,} answers. The noise hides all of them."
    first = seen.iloc[0]
    share, low, high = (100 * first[name] / people for name in ("estimate", "low", "high"))
    return (
        f"Bars of {len(shown):,} answers. The most frequent is {first['value']}, with about {share:.1f}% of all "
        f"reports, very likely between {low:.1f} and {high:.1f}%. The noise hides {len(shown) - len(seen):,} of them."
    )


HEIGHT = 400
LINES = ("solid", "dash", "dot")
MARKS = [high * 10.0**power for power in range(-5, 5) for high in (1, 3)]  # Where an axis of errors has marks.


def errors_figure(domains: Sequence[int], errors: Mapping[str, Sequence[float]]) -> go.Figure:
    """How far off a share may be by each oracle, in points, over numbers of answers."""
    figure = go.Figure()
    for place, (name, values) in enumerate(errors.items()):
        look = (TEAL.shape, INK.shape)[place % 2], 2, LINES[place // 2 % len(LINES)]
        said = f"{name}: ± %{{y:.2f}} points<extra></extra>"
        points = [100 * value for value in values]
        figure.add_trace(line(list(domains), points, name, *look, hovertemplate=said, hoverinfo=None))
    figure.update_xaxes(type="log", title="number of answers", showgrid=False, fixedrange=True, dtick=1, tickformat=",")
    figure.update_yaxes(_points("a share is known to ± points"))
    return laid_out(figure, HEIGHT, ABOVE)


def _points(title: str) -> dict:
    """A logarithmic axis of points, whose marks are written out: 0.00003, and not "30µ"."""
    marks = {"tickvals": MARKS, "ticktext": [number(mark) for mark in MARKS]}
    return marks | {"type": "log", "title": title, "gridcolor": faded(FAINT.shape, 0.2), "fixedrange": True}


def polls_figure(found: Polled) -> go.Figure:
    """Fifty polls side by side: estimates with their intervals, and the truth."""
    places = list(range(1, len(found.estimate) + 1))
    above, below = 100 * (found.high - found.estimate), 100 * (found.estimate - found.low)
    truth = line([0.5, len(places) + 0.5], [100 * found.truth] * 2, "who would say yes", AMBER.shape, 3)
    more = {"error_y": spread(above, below, faded(TEAL.shape, 0.6)), "hoverinfo": None}
    said = {"hovertemplate": "about %{y:.0f}%<extra></extra>"}
    figure = go.Figure([truth, dots(places, 100 * found.estimate, "what a poll says", TEAL.shape, 7, **more, **said)])
    figure.update_xaxes(title="fifty polls that could have been", showgrid=False, showticklabels=False, fixedrange=True)
    figure.update_yaxes(title="say yes", ticksuffix="%", gridcolor=faded(FAINT.shape, 0.2), fixedrange=True)
    return laid_out(figure, HEIGHT, ABOVE)


def trust_figure(people: Sequence[float], owner: Sequence[float], phones: Sequence[float], asked: float) -> go.Figure:
    """Errors of a share with a trusted owner and without one, over numbers of people, and the error that is asked."""
    figure = go.Figure()
    for name, errors, colour in (("an owner is trusted", owner, INK.shape), ("nobody is trusted", phones, TEAL.shape)):
        said = f"{name}: %{{x:,.0f}} people, ± %{{y:,.3~r}} points<extra></extra>"
        points = [100 * error for error in errors]
        figure.add_trace(line(list(people), points, name, colour, 3, "solid", hovertemplate=said, hoverinfo=None))
    figure.add_hline(y=100 * asked, line={"color": FAINT.shape, "dash": "dot"})
    figure.update_xaxes(type="log", title="people", showgrid=False, dtick=1, tickformat="~s", fixedrange=True)
    figure.update_yaxes(_points("± points"))
    return laid_out(figure, HEIGHT, ABOVE)
