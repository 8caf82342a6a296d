"""Lesson: noise of the mean of R rows, with slack and without."""

import numpy as np
import pytest

from core.experiments.lessons.slack import ROWS, slack


def test_without_slack_noise_grows_like_the_root_and_with_slack_not_at_all():
    found = slack("1", "0.000001")
    assert found.pure == pytest.approx(np.sqrt(2 * np.array(ROWS)), rel=0.01)
    assert found.slack == pytest.approx(np.full(len(ROWS), 4.225), rel=0.01)
    assert found.gain(1000) == pytest.approx(10.6, rel=0.01)


def test_with_very_few_rows_slack_gains_nothing():
    found = slack("1", "0.000001")
    assert found.gain(4) < 1 < found.gain(10) and found.pays_from == 10


def test_less_slack_costs_a_little():
    assert 1 < slack("1", "0.000000001").slack[-1] / slack("1", "0.000001").slack[-1] < 1.5
