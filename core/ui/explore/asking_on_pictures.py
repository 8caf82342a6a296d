"""Asking on a picture: an area drawn as a box or with a lasso, or typed, and points that are clicked.

A map has thousands of targets for a click, and a browser draws every element several times over. But Plotly finds the
target that is nearest to a pointer by its numbers. An element is needed only by what is seen of them, the ring around
the asked one, which is a trace of its own; a few lines in the browser move it to where was clicked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from ...analysis.region import Region, count_inside, countable
from ...domain import Column, Numeric
from ...figures.answer_sentences import inside_sentence, noun
from ...figures.figure_axes import NAME, View
from ...formatting.escapes import in_markdown
from ..frame.marks import choose_one, note
from ..frame.session import Opened
from ..released.asked_points import SHORTEST, grain, say, tidy

POINT, BOX, LASSO = "A point", "A box", "A lasso"
MODES = {POINT: "points", BOX: "box", LASSO: "lasso"}  # What may be asked, and Plotly's name for how it is chosen.
MIDDLE = (0.4, 0.6)  # The box that is asked first, in shares of every column.
WHO_COUNTS = (
    "Everyone inside is counted, whatever their other columns say. The interval holds the noise, and those near the "
    "edge, who are counted in part."
)


def choose_asking(opened: Opened, view: View) -> str:
    """What the visitor asks for: a point, or an area where the file can count what is in it."""
    if not countable(opened.release, view.columns):
        return POINT
    kinds = [POINT, BOX, LASSO] if len(view.columns) == 2 else [POINT, BOX]
    return choose_one("Ask", kinds, f"asking-{len(kinds)}", POINT)


def _natural(column: Column, places: Sequence[float]) -> list[float]:
    """Places on a picture as numbers in the column's own unit, as an area is asked for."""
    if not isinstance(column, Numeric):
        return list(places)
    numbers: list[float] = column.between(np.array(places, dtype=np.float64)).tolist()
    return numbers


class AskedArea:
    """The asked box, held by fields for its ends, or the lasso that was drawn last."""

    def __init__(self, opened: Opened, view: View, kind: str):
        self.release, self.kind = opened.release, kind
        self.key = f"{opened.fingerprint[:12]}-{'-'.join(view.columns)}"
        domain = opened.release.domain
        self.columns: tuple[Column, ...] = tuple(domain.columns[domain.names.index(name)] for name in view.columns)

    def drawn(self, chart: str) -> None:
        """Take what was drawn on a figure; nothing drawn changes nothing."""
        chosen = st.session_state[chart].selection
        if self.kind == BOX and chosen.box:
            for column, axis in zip(self.columns, ("x", "y"), strict=False):
                low, high = _natural(column, sorted(float(end) for end in chosen.box[0][axis]))
                for end, value in (("from", low), ("to", high)):
                    st.session_state[self._field(column, end)] = tidy(value, column)
        elif self.kind == LASSO and chosen.lasso:
            lasso: Mapping[str, list[float]] = chosen.lasso[0]
            drawn = [_natural(column, lasso[axis]) for column, axis in zip(self.columns, ("x", "y"), strict=True)]
            st.session_state[self._lasso] = tuple(zip(*drawn, strict=True))

    @property
    def _lasso(self) -> str:
        return f"lasso-{self.key}"

    def _field(self, column: Column, end: str) -> str:
        return f"{end}-{self.key}-{column.name}"

    def ask(self) -> None:
        """The fields of a box, and how many are inside."""
        if self.kind == LASSO:
            corners = st.session_state.get(self._lasso, ())
            if len(corners) < 3:
                note("Draw around a part of the picture. Without a mouse, ask a box, whose ends can be typed.")
                return
            region = Region(tuple(column.name for column in self.columns), corners)
        else:
            region = Region.between(**{column.name: self._ends(column) for column in self.columns})
        answers = count_inside(self.release, region)
        parts = (answers.estimate, answers.low, answers.high, answers.standard_error)
        say(inside_sentence(*(float(part[0]) for part in parts), noun(self.release)))
        note(WHO_COUNTS)

    def _ends(self, column: Column) -> tuple[float, float]:
        """Where the box begins and ends along a column."""
        ends = []
        for place, (end, share) in zip(st.columns(2), zip(("from", "to"), MIDDLE, strict=True), strict=True):
            key = self._field(column, end)
            first, last = column.bounds(1.0)
            (middle,) = _natural(column, [first + share * (last - first)])
            st.session_state.setdefault(key, tidy(middle, column))
            with place:
                label = in_markdown(f"{column.name} {end}")
                ends.append(
                    st.number_input(label, column.low, column.high, step=grain(column), format=SHORTEST, key=key)
                )
        return ends[0], ends[1]


RADIUS = 9  # Of the ring, in pixels.
# What is said of a target keeps clear of its ring, by the radius that Plotly knows of points that it has drawn.
FOLLOW = """
window.fgRing ||= (() => {
  const move = (plot, { points: [asked] = [] } = {}) => {
    const place = plot.data.findLastIndex(({ name }) => name === NAME);
    if (!asked || asked.curveNumber === place || asked.data.name !== NAME) return;
    const [ring] = plot.calcdata.find(([{ trace }]) => trace.index === place);
    const { xaxis, yaxis } = plot._fullLayout;
    [ring.x, ring.y] = [xaxis.d2c(asked.x), yaxis.d2c(asked.y)];
    [plot.data[place].x, plot.data[place].y] = [[asked.x], [asked.y]];
    const [x, y] = [xaxis.c2p(ring.x), yaxis.c2p(ring.y)];
    ring.node3.node().querySelector(".point").setAttribute("transform", `translate(${x},${y})`);
  };
  const attend = ({ target }) => {
    const plot = target.closest?.(".st-key-fg-stage .js-plotly-plot");
    if (!plot?.calcdata || plot.fgRing) return;
    plot.fgRing = true;
    for (const points of plot.calcdata)
      if (points[0].trace.name === NAME) for (const point of points) point.mrc = RADIUS;
    plot.on("plotly_selected", event => move(plot, event));
  };
  for (const kind of ["pointerover", "pointerdown"]) addEventListener(kind, attend, true);
  return true;
})();
""".replace("NAME", json.dumps(NAME)).replace("RADIUS", str(RADIUS))


def few_elements(figure: go.Figure) -> go.Figure:
    """Give a figure whose last trace is the ring one element for all of its targets, and let the ring stay in sight."""
    targets = [trace for trace in figure.data if trace.name == NAME]
    if len(targets) < 2:
        return figure
    *others, ring = targets
    for trace in others:
        trace.marker.maxdisplayed = 1
    # What is below the ring has something to say. Plotly asks no hoverinfo of a trace with a template.
    ring.update(hoverinfo="skip", hovertemplate=None)
    if ring.selectedpoints is not None:
        ring.unselected.marker.opacity = 1
    return figure


def follow_clicks() -> None:
    """Let the ring of a map follow clicks in the visitor's browser."""
    st.html(f"<script>{FOLLOW}</script>", unsafe_allow_javascript=True)
