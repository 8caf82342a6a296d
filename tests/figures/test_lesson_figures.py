"""The figures of the lessons: what they draw is what was computed, and their words say it."""

import numpy as np
import pytest

from core.figures.figure_axes import NAME
from core.figures.lesson_figures import (
    averages_figure,
    bounds_figure,
    bounds_in_words,
    curve_figure,
    curve_in_words,
    delta_figure,
    delta_figure_in_words,
    files_figure,
    files_in_words,
    outcomes_figure,
    plane_figure,
    plane_in_words,
)
from core.figures.palette import AMBER, TEAL
from core.lab.crowd_lessons import MEASURED, RELEASES, curve, outcomes
from core.lab.noise_lessons import FILES, ask, noise_of_rows, textbook_files
from core.lab.release_lessons import Plane, attack, places


def test_a_plane_shows_everyone_the_cuts_of_a_row_and_what_a_question_meets():
    plane = Plane(places("1 1, 2 2, 9 9"))
    figure = plane_figure(plane, 1, (2.0, 2.0), 2)
    kinds = [trace.fill for trace in figure.data if trace.fill == "toself"]
    assert len(kinds) == 2, "a cell of each of the two rows is shaded"
    outlines = [trace for trace in figure.data if trace.fill == "none"]
    assert len(outlines) == 1 + sum(len(plane.stripe(1, cell)) > 2 for cell in range(plane.cells[1]))
    people = next(trace for trace in figure.data if trace.marker.color == AMBER.shape)
    assert np.column_stack([people.x, people.y]) == pytest.approx(plane.people)
    assert any(trace.name == NAME for trace in figure.data), "it can be clicked"
    words = plane_in_words(plane, 1, (2.0, 2.0))
    assert "3 places" in words and "row 2" in words and "2, 2" in words


@pytest.mark.thorough
def test_every_outcome_has_a_line_and_a_peak():
    possible = outcomes("1", 100)
    lines, _, peaks, crowd = outcomes_figure(possible).data
    assert np.isnan(np.array(lines.y, dtype=float)).sum() == RELEASES == len(peaks.x)
    assert np.array(crowd.y) == pytest.approx(possible.exact) and crowd.line.color == AMBER.shape


def test_bounds_that_give_someone_away_are_amber_and_public_ones_teal():
    for from_data, colour in ((True, AMBER.shape), (False, TEAL.shape)):
        found = attack(4_870_000, "1", from_data)
        figure = bounds_figure(found)
        assert {trace.line.color for trace in figure.data} == {colour}
        assert [tuple(trace.x) for trace in figure.data] == list(found.bounds)
        assert ("4,870,000" in bounds_in_words(found)) == from_data


@pytest.mark.parametrize("times", [1, 2, 5000])
def test_averages_end_at_the_last_one(times):
    asked = ask(37, "0.5", times)
    band, secret, release, average = averages_figure(asked).data
    assert average.x[-1] == times and average.y[-1] == pytest.approx(asked.averages[-1])
    assert set(secret.y) == {37} and set(release.y) == {asked.released}
    assert max(band.y) - 37 == pytest.approx(2 * ask(37, "0.5", 1).error)


@pytest.mark.thorough
def test_the_ring_is_at_the_lowest_point_and_dots_are_measured():
    found = curve("1", 300, 1.0, 64)
    traces = {trace.name: trace for trace in curve_figure(found).data}
    assert traces["the lowest point"].x == (found.best,)
    assert min(traces["both together"].y) == pytest.approx(traces["the lowest point"].y[0])
    assert tuple(traces["real sketches"].x) == MEASURED
    assert f"{found.best:,} rows" in curve_in_words(found)


def test_both_marks_stand_on_their_lines():
    found = noise_of_rows("1", "0.000001")
    figure = delta_figure(found, 1000)
    marks = [trace.y[0] for trace in figure.data if trace.mode == "markers+text"]
    assert marks == pytest.approx([44.7, 4.22], rel=0.01)
    assert "44.7" in delta_figure_in_words(found, 1000) and "4.22" in delta_figure_in_words(found, 1000)


def test_every_file_is_in_one_of_the_two_parts():
    files = textbook_files(1, "1")
    both, one = files_figure(files).data
    assert sum(both.y) + sum(one.y) == FILES and sum(one.y) == files.betrayed.sum()
    assert f"{files.betrayed.sum()} could come" in files_in_words(files)


@pytest.mark.thorough
def test_few_columns_stand_beside_enough_of_them():
    few, enough = curve("1", 300, 1.0, 2), curve("1", 300, 1.0, 64)
    traces = {trace.name: trace for trace in curve_figure(few).data}
    assert min(traces["both, with 64 columns"].y) == pytest.approx(enough.error_with(enough.best))
    assert "both, with 64 columns" not in {trace.name for trace in curve_figure(enough).data}
    assert "With 64 columns" in curve_in_words(few) and "With 64" not in curve_in_words(enough)
