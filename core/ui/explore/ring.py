"""Targets without an element each: a map has thousands of them, and a browser draws every element several times over.

Plotly finds the target that is nearest to a pointer by its numbers. An element is needed only by what is seen of them,
the ring around the asked one, which is a trace of its own; a few lines in the browser move it to where was clicked.
"""

from __future__ import annotations

import json

import plotly.graph_objects as go
import streamlit as st

from ...figures.figure_axes import NAME

RADIUS = 9
"""Of the ring, in pixels."""
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
"""What is said of a target keeps clear of its ring, by the radius that Plotly knows of points that it has drawn."""


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
