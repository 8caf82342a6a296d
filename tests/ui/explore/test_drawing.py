"""What everyone shares is what is drawn for one visitor: a map, with the ring apart, and a matrix."""

import json

import numpy as np
import plotly.io
import pytest

from core.figures.density_figures import Marks
from core.figures.figure_axes import NAME, View, for_areas
from core.figures.paper import standalone
from core.figures.report.release_pictures import picture_figure
from core.figures.small_pictures import CELL, NARROW, pairs_matrix
from core.releases.release import load
from core.sources.samples import bundled_releases
from core.tasks.density import grid, pairs
from core.ui.explore import drawing as drawing_module
from core.ui.explore.drawing import drawing, matrix_drawing
from core.ui.explore.ring import few_elements
from core.ui.frame.session import Opened

ASKED = (3.0, 2.5)


@pytest.fixture(scope="module")
def city():
    data = next(path for _, path in bundled_releases() if path.stem == "city").read_bytes()
    return Opened("city.npz", data, load(data))


@pytest.fixture(scope="module")
def map_of_it(city):
    return grid(city.release, "east", "north", size=20)


def said(figure):
    return json.loads(plotly.io.to_json(figure, validate=False))


def test_it_is_the_same_but_for_the_ring(city, map_of_it):
    view, marks = View(("east", "north")), Marks(np.array([4.0]), np.array([5.0]))
    alone, shared = (
        said(figure)
        for figure in (
            picture_figure(city.release, map_of_it, marks, ASKED),
            drawing(city, view, map_of_it, marks, ASKED),
        )
    )
    assert shared["layout"] == alone["layout"] and shared["data"][:-2] == alone["data"][:-1]
    targets, ring = shared["data"][-2:]
    assert targets["name"] == ring["name"] == NAME
    assert not targets["selectedpoints"] and ring["selectedpoints"] == [0]
    assert said(drawing(city, view, map_of_it, marks, ASKED)) == shared
    moved = said(drawing(city, view, map_of_it, marks, (4.0, 2.5)))
    assert moved["data"][:-1] == shared["data"][:-1] and moved["data"][-1] != ring


def test_it_is_made_once_for_everyone_and_each_may_change_their_own(city, map_of_it, monkeypatch):
    made = []
    monkeypatch.setattr(drawing_module, "picture_figure", lambda *given: made.append(given) or picture_figure(*given))
    view = View(("east", "north"), (("once", 1.0),))
    first = for_areas(drawing(city, view, map_of_it, None, ASKED), "box").update_layout(height=333)
    again = drawing(city, view, map_of_it, None, (4.0, 2.5))
    assert len(made) == 1 and first.layout.height == 333 != again.layout.height
    drawing(city, view, map_of_it, None, ASKED, lines=(np.zeros((2, 2)),))
    assert len(made) == 2  # an outline of one's own is nobody else's


def test_the_ring_leaves_it_to_what_is_below_it_to_say_something(city, map_of_it):
    """Plotly shows the label of a trace with a template, empty or not, whatever its hoverinfo is."""
    *_, below, ring = few_elements(drawing(city, View(("east", "north")), map_of_it, None, ASKED)).data
    assert ring.hoverinfo == "skip" and ring.hovertemplate is None and below.hovertemplate


def test_a_matrix_is_made_once_for_everyone_and_each_size_of_it_once(city, monkeypatch):
    made = []
    monkeypatch.setattr(drawing_module, "pairs_matrix", lambda *given: made.append(given) or pairs_matrix(*given))
    small, columns = pairs(city.release, size=8), {column.name: column for column in city.release.domain.columns}
    first = matrix_drawing(city, small, CELL)
    assert said(first) == said(pairs_matrix(small, columns))
    first.update_layout(height=5)
    assert said(matrix_drawing(city, small, CELL)) == said(pairs_matrix(small, columns)) and len(made) == 1
    assert said(matrix_drawing(city, small, NARROW)) == said(pairs_matrix(small, columns, cell=NARROW))
    assert len(made) == 2


def test_it_can_be_taken_along(city, map_of_it):
    page = standalone(drawing(city, View(("east", "north")), map_of_it, None, ASKED), "A city")
    assert b"A city" in page and b"bdata" in page
