"""Counted local reports: a bar an answer, with the band that its count very likely lies in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ..formatting.escapes import in_plotly
from ..formatting.numbers import shortened
from .hatching import CLEAR, HATCHED, PATTERN
from .palette import AMBER, INK, TEAL

MOST_BARS = 40  # Answers drawn; of more, those with the largest estimates.
BAR_HEIGHT, AROUND = 30, 90
KNOWN = "best guess, and where it very likely is"
REALLY = "what they really said"


def drawn_answers(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn: all in their order, or the largest first where there are too many."""
    if len(table) <= MOST_BARS:
        return table
    return table.sort_values("estimate", ascending=False, kind="stable").head(MOST_BARS)


def local_bars(table: pd.DataFrame, people: int, truth: Sequence[int] | None = None) -> go.Figure:
    """Bars of shares in percent, hatched where the noise may be all there is.

    Parameters
    ----------
    table : pd.DataFrame
        As `core.local.local_release.LocalRelease.table` gives it.
    truth : Sequence[int] | None
        How many really gave each answer, of a made-up class that is revealed.
    """
    shown = drawn_answers(table)[::-1]
    names = [in_plotly(shortened(str(value), 34)) for value in shown["value"]]
    places = np.arange(len(shown))
    estimate, low, high = (100 * shown[name].to_numpy() / people for name in ("estimate", "low", "high"))
    hidden = low <= 0
    figure = go.Figure()
    hollow = {"color": CLEAR, "pattern": PATTERN, "line": {"width": 0}}
    for rows, name, marker in ((~hidden, KNOWN, {"color": TEAL.shape}), (hidden, HATCHED, hollow)):
        if rows.any():
            figure.add_trace(
                go.Bar(
                    x=np.where(rows, estimate, np.nan),
                    y=places,
                    orientation="h",
                    name=name,
                    marker=marker,
                    customdata=np.column_stack([low, high]),
                    hovertemplate="%{x:.1f}%, very likely %{customdata[0]:.1f} to %{customdata[1]:.1f}%<extra></extra>",
                    error_x={
                        "type": "data",
                        "symmetric": False,
                        "array": np.where(rows, high - estimate, np.nan),
                        "arrayminus": np.where(rows, estimate - low, np.nan),
                        "color": INK.shape,
                        "thickness": 1.5,
                        "width": 5,
                    },
                )
            )
    if truth is not None:
        really = 100 * np.asarray(truth)[shown.index] / people
        figure.add_trace(
            go.Scatter(
                x=really,
                y=places,
                mode="markers",
                name=REALLY,
                marker={"color": AMBER.shape, "symbol": "diamond", "size": 12, "line": {"width": 1.5, "color": CLEAR}},
                hovertemplate="really %{x:.1f}%<extra></extra>",
            )
        )
    figure.update_layout(
        height=AROUND + BAR_HEIGHT * max(len(shown), 3),
        barmode="overlay",
        bargap=0.35,
        margin={"l": 8, "r": 16, "t": 36, "b": 44},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0.0},
        showlegend=True,
    )
    figure.update_yaxes(tickvals=places, ticktext=names, automargin=True, showgrid=False, fixedrange=True)
    figure.update_xaxes(title="share of all reports", ticksuffix="%", zeroline=True, fixedrange=True)
    return figure


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
