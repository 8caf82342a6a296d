"""Maps of equal units are as high as they are wide on a phone, where the browser says that it is one."""

import numpy as np
import plotly.graph_objects as go
import pytest

from core.domain import Numeric
from core.figures.axes import Axis, apply
from core.ui.frame.charts import for_screen


def city():
    x, y = (Axis.of(Numeric(name, 0, high, "km"), np.array([0.0, high])) for name, high in (("e", 20), ("n", 16)))
    figure = go.Figure().update_layout(height=520, margin={"t": 80})
    apply(figure, x, y)
    return figure


@pytest.mark.parametrize("said", [{"Sec-CH-UA-Mobile": "?1"}, {"User-Agent": "Mozilla/5.0 (Linux; Android 15) Mobile"}])
def test_a_map_leaves_no_gap_on_a_phone(request_headers, said):
    assert for_screen(city()).layout.height == 520
    request_headers |= said
    assert 380 < for_screen(city()).layout.height < 460
    assert for_screen(go.Figure().update_layout(height=520)).layout.height == 520
