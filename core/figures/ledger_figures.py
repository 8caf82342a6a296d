"""Budgets, releases and how they add up, as the owner's ledger holds them: private, hence amber."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import plotly.graph_objects as go
import scipy

from ..formatting.escapes import in_plotly
from ..formatting.numbers import shortened, significant
from .palette import AMBER, FAINT, INK, faded
from .traces import STILL, bars, dots, laid_out, line

BAR_HEIGHT = 44
MINUTES, DAYS, MONTHS = "%H:%M\n%-d %b %Y", "%-d %b\n%Y", "%b\n%Y"
DAY = 24 * 60 * 60 * 1000  # Milliseconds, in which Plotly counts.
SHORTEST = timedelta(hours=1)  # Least span of a time line, so that releases of one minute do not look like years apart.


def budget_bars(names: Sequence[str], totals: Sequence[float], spent: Sequence[float]) -> go.Figure:
    """One bar a data set, as long as its total ε; the part that is spent is amber.

    `names`, `totals`, `spent`: Shape (n,), drawn from top to bottom.
    """
    places = list(range(len(names)))
    left = [max(0.0, total - used) for total, used in zip(totals, spent, strict=True)]
    said = {"orientation": "h", "width": 0.42, "customdata": [in_plotly(name) for name in names]}
    parts = ((spent, AMBER.shape, "spent"), (left, faded(FAINT.shape, 0.3), "left"))
    figure = go.Figure()
    for values, colour, word in parts:
        words = "%{customdata}: ε = %{x:,.4~r} " + word + "<extra></extra>"
        figure.add_trace(bars(list(values), places, word, colour, hoverinfo=None, hovertemplate=words, **said))
    figure.update_xaxes(STILL | {"title": "ε", "rangemode": "tozero", "nticks": 6})
    texts = [in_plotly(shortened(name)) for name in names]
    figure.update_yaxes(STILL | {"tickvals": places, "ticktext": texts, "autorange": "reversed"})
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"}
    return laid_out(figure, BAR_HEIGHT * len(names) + 84, legend, barmode="stack")


def time_line(
    since: datetime, when: Sequence[datetime], promised: Sequence[float], together: Sequence[float], total: float
) -> go.Figure:
    """Releases on a time line: what has been spent together after each of them, and the plain sum of their promises.

    `since`: When the total was promised. `when`: Shape (n,), increasing, n at least 1. `promised`: ε of each release by
    itself, shape (n,). `together`: ε of all releases up to and with each one, shape (n,). `total`: ε promised for ever,
    drawn as a line that is never crossed.
    """
    figure = go.Figure()
    span = max(when[-1] - since, SHORTEST)
    ends = since - span / 20, max(when[-1], since + span) + span / 10
    sums = list(np.cumsum(promised))
    if sums[-1] > 1.02 * together[-1]:
        promises, shape = [0, *sums, sums[-1]], {"color": FAINT.shape, "dash": "dot", "shape": "hv", "width": 1.5}
        figure.add_trace(line([since, *when, ends[1]], promises, "sum of the promises", line=shape))
    steps = {"color": AMBER.shape, "shape": "hv", "width": 2}
    figure.add_trace(line([since, *when, ends[1]], [0, *together, together[-1]], "spent together", line=steps))
    said = "%{x|%d %b %Y %H:%M}: ε = %{customdata:,.4~r} released, %{y:,.4~r} spent by then"
    figure.add_trace(dots(list(when), list(together), None, AMBER.shape, 11, said, customdata=list(promised)))
    whole = {"annotation_text": f"total, ε = {total:g}", "annotation_position": "top left"}
    figure.add_hline(y=total, line={"color": INK.shape, "width": 1.5}, **whole)
    stops = ([None, DAY - 1], MINUTES), ([DAY, "M1"], DAYS), (["M1", "M12"], MONTHS), (["M12", None], "%Y")
    forms = [{"dtickrange": between, "value": form} for between, form in stops]
    figure.update_xaxes(STILL | {"range": list(ends), "nticks": 4, "tickformatstops": forms})
    figure.update_yaxes(STILL | {"title": "ε", "range": [0, 1.15 * max(total, *sums)], "nticks": 5})
    legend = {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"}
    return laid_out(figure, 250, legend, showlegend=True)


def loss_distribution(epsilon: float, parts: int, spent: float) -> go.Figure:
    """Why many small losses are less than their sum: the distribution of what a release of many rows gives away.

    Each of ``parts`` rows gives away ε/parts for or against one person, like a coin that is a little biased; the sum
    of so many coins stays near the middle.

    `epsilon`: Promised with certainty, all rows together. `spent`: the ε that is hardly ever passed, at the ledger's δ.
    """
    step = epsilon / parts
    wins = np.arange(parts + 1)
    probability = scipy.stats.binom.pmf(wins, parts, 1 / (1 + math.exp(-step)))
    loss = step * (2 * wins - parts)
    kept = probability > 1e-9 * probability.max()
    filled = {"fill": "tozeroy", "fillcolor": faded(AMBER.shape, 0.25)}
    figure = go.Figure(line(loss[kept], probability[kept], None, AMBER.shape, 1.5, **filled))
    marks = (
        (spent, f"hardly ever<br>beyond {significant(spent, 3)}", 1.0, "left"),
        (epsilon, f"never<br>beyond {epsilon:g}", 0.55, "right"),
    )
    for x, words, height, side in marks:
        figure.add_vline(x=x, line={"color": INK.shape, "width": 1.2, "dash": "dot"})
        place = {"x": x, "y": height, "yref": "paper", "xanchor": side, "yanchor": "top", "align": side}
        figure.add_annotation(text=words, showarrow=False, **place)
    span = [-1.05 * epsilon, 1.05 * epsilon]
    figure.update_xaxes(STILL | {"title": "given away about one person", "range": span, "nticks": 5})
    figure.update_yaxes(visible=False, fixedrange=True)
    return laid_out(figure, 190)
