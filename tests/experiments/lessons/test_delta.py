"""Lesson: noise of the mean of R rows, with a risk δ and without."""

import numpy as np
import pytest

from core.experiments.lessons.delta import ROWS, noise_of_rows


def test_without_delta_noise_grows_like_the_root_and_with_delta_not_at_all():
    found = noise_of_rows("1", "0.000001")
    assert found.pure == pytest.approx(np.sqrt(2 * np.array(ROWS)), rel=0.01)
    assert found.with_delta == pytest.approx(np.full(len(ROWS), 4.225), rel=0.01)
    assert found.gain(1000) == pytest.approx(10.6, rel=0.01)


def test_with_very_few_rows_delta_gains_nothing():
    found = noise_of_rows("1", "0.000001")
    assert found.gain(4) < 1 < found.gain(10) and found.pays_from == 10


def test_a_smaller_delta_costs_a_little():
    assert 1 < noise_of_rows("1", "0.000000001").with_delta[-1] / noise_of_rows("1", "0.000001").with_delta[-1] < 1.5
