"""Maps of equal units are as high as they are wide on a phone, where the browser says that it is one."""

import numpy as np
import plotly.graph_objects as go
import pytest

from core.domain import Numeric
from core.figures.density_figures import SCALE
from core.figures.figure_axes import Axis, apply
from core.ui.frame import marks
from core.ui.frame.marks import fit_stage, for_screen, shape_of


def city(high=16.0):
    x, y = (Axis.of(Numeric(name, 0, end, "km"), np.array([0.0, end])) for name, end in (("e", 20.0), ("n", high)))
    figure = go.Figure().update_layout(height=520, margin={"t": 80})
    apply(figure, x, y)
    return figure


@pytest.mark.parametrize("said", [{"Sec-CH-UA-Mobile": "?1"}, {"User-Agent": "Mozilla/5.0 (Linux; Android 15) Mobile"}])
def test_a_map_leaves_no_gap_on_a_phone(request_headers, said):
    assert for_screen(city()).layout.height == 520
    request_headers |= said
    assert 380 < for_screen(city()).layout.height < 460
    assert for_screen(go.Figure().update_layout(height=520)).layout.height == 520


def test_a_map_far_wider_than_high_keeps_its_colours_above_it_and_no_gap_below(request_headers, monkeypatch):
    def on_screen(high):
        figure = city(high).add_trace(go.Heatmap(z=[[1, 2]], colorbar={"orientation": "h"}))
        return for_screen(figure.add_annotation(text="towns close by", name=SCALE)).data[0].colorbar.orientation

    assert on_screen(8.0) == "h" and on_screen(16.0) == "v"
    assert shape_of(city(8.0)) == pytest.approx(0.4) and shape_of(go.Figure()) is None
    said = []
    monkeypatch.setattr(marks.st, "html", said.append)
    for high in (8.0, 16.0):
        fit_stage(city(high))
    assert ["--shape: 0.4" in one for one in said] == [True, False]
