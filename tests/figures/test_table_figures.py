"""Pictures of a released table: bars that know their cells, hatched where there may be none."""

import dataclasses

import numpy as np
import pytest

from core.analysis import table_profile
from core.domain import Cyclic
from core.figures import table_figures as figures
from core.sketches.tables.table_axes import Axis as Cells
from tests.tables_for_tests import table_release


@pytest.fixture(scope="module")
def answers():
    return table_release(places=True).asked()


@pytest.mark.parametrize("name", ["since", "town", "age", "pay"])
def test_bars_know_their_cells_and_are_hatched_where_there_may_be_none(answers, name):
    whole = table_profile.profile(answers, name, {})
    (bars,) = figures.column_figure(whole, whole).data
    assert [one[0] for one in bars.customdata] == list(range(whole.axis.cells))
    assert [shape == "" for shape in bars.marker.pattern.shape] == whole.told.tolist()
    value = bars.x if name == "town" else bars.y
    assert np.allclose(value, np.clip(whole.share, 0, None))
    assert whole.name in figures.column_in_words(whole)


def test_a_part_has_the_line_of_everyone_in_front_and_dims_what_is_beside_it(answers):
    whole, shown = (table_profile.profile(answers, "age", part) for part in ({}, {"town": (1,)}))
    bars, line = figures.column_figure(shown, whole).data
    assert line.mode == "lines" and np.allclose(line.y[::2], np.clip(whole.share, 0, None))
    assert np.allclose(bars.y, np.clip(shown.share, 0, None))
    pointed = table_profile.profile(answers, "town", {"town": (1,)})
    colours = figures.column_figure(pointed, pointed).data[0].marker.color
    assert colours[1] != colours[0] == colours[2]
    lost = table_profile.profile(table_release(tables="singles").asked(), "age", {"town": (1,)})
    (grey,) = figures.column_figure(lost, whole).data
    assert "Not measured together" in figures.column_in_words(lost) and grey.marker.color != bars.marker.color


def test_two_columns_and_a_map(answers):
    found = table_profile.together(answers, "lon", "lat", {})
    drawn, hidden = figures.place_figure(found).data
    assert np.isnan(np.array(drawn.z, float)).sum() == (~(found.low > 0)).sum() and hidden.fillpattern.shape == "/"
    assert "most are at" in figures.together_in_words(found)
    pairs = figures.pairs_figure(answers.strengths())
    assert len(pairs.data[0].x) == figures.MOST_PAIRS and len(pairs.data[0].customdata[0]) == 2


def test_where_in_a_nearly_empty_table_says_that_too_few_are_left(answers):
    """A map of nobody ended the page with "All-NaN slice encountered"."""
    found = table_profile.together(answers, "lon", "lat", {})
    nobody = dataclasses.replace(found, share=np.full_like(found.share, np.nan), low=np.full_like(found.low, np.nan))
    assert "too few people are left" in figures.together_in_words(nobody)
    assert figures.place_figure(nobody).data


def test_hours_of_the_day_are_in_the_order_of_the_clock():
    hours = tuple(str(hour) for hour in range(24))
    axis = Cells("hour", Cyclic("hour", part="hour"), 0, 0.0, 24.0, 24, 0, hours)
    shares = np.linspace(1.0, 0.1, 24)[np.random.default_rng(0).permutation(24)]
    whole = table_profile.Profile(axis, shares, shares, shares)
    assert figures.rows_of(whole).tolist() == list(range(24))
