"""Budgets as bars, releases on a time line, and why many small losses are less than their sum."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from core.figures.ledger_figures import budget_bars, loss_distribution, time_line
from core.figures.palette import AMBER

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
WHEN = [SINCE + timedelta(days=days) for days in (10, 30)]


def test_every_bar_is_as_long_as_its_total():
    spent, left = budget_bars(["a", "<i>b</i>"], [3.0, 1.0], [1.0, 1.2]).data
    assert list(spent.x) == [1.0, 1.2] and list(left.x) == [2.0, 0.0] and spent.marker.color == AMBER.shape


def test_names_are_shortened_and_never_markup():
    figure = budget_bars(["<i>" + "x" * 60], [1.0], [0.0])
    (label,) = figure.layout.yaxis.ticktext
    assert label.startswith("&lt;i&gt;") and label.endswith("…") and len(label) < 40


def test_the_time_line_starts_at_nothing_and_steps_up_with_every_release():
    figure = time_line(SINCE, WHEN, [1.0, 0.5], [0.9, 1.1], 3.0)
    sums, together, releases = figure.data
    assert list(sums.y) == [0, 1.0, 1.5, 1.5] and list(together.y) == [0, 0.9, 1.1, 1.1]
    assert together.x[0] == SINCE and list(releases.x) == WHEN and list(releases.customdata) == [1.0, 0.5]
    assert figure.layout.shapes[0].y0 == 3.0 and figure.layout.yaxis.range[1] > 3.0
    start, end = figure.layout.xaxis.range
    assert start < SINCE and end > WHEN[-1]
    assert figure.layout.xaxis.tickformatstops[1].value == "%-d %b\n%Y"  # days first, as in the list below


def test_a_sum_that_is_what_is_spent_is_drawn_once():
    assert len(time_line(SINCE, WHEN, [1.0, 0.5], [1.0, 1.5], 3.0).data) == 2


def test_releases_of_one_minute_do_not_look_like_years():
    start, end = time_line(SINCE, [SINCE], [1.0], [1.0], 1.0).layout.xaxis.range
    assert end - start >= timedelta(hours=1)


@pytest.mark.parametrize(("epsilon", "parts"), [(1.0, 1000), (2.0, 10), (5.0, 1)])
def test_losses_are_a_distribution_that_never_passes_the_promise(epsilon, parts):
    figure = loss_distribution(epsilon, parts, 0.116)
    (losses,) = figure.data
    assert np.abs(losses.x).max() <= epsilon + 1e-12
    assert sum(losses.y) == pytest.approx(1, abs=1e-5)
    # The mean of parts two-sided losses of step ε/parts is ε tanh(ε / 2 parts).
    assert np.dot(losses.x, losses.y) == pytest.approx(epsilon * np.tanh(epsilon / parts / 2), rel=1e-3)
    assert {shape.x0 for shape in figure.layout.shapes} == {0.116, epsilon}
