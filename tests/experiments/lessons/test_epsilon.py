"""Lesson: fifty releases that could come out."""

import math

import numpy as np
import pytest

from core.experiments.lessons.epsilon import LATEST, RELEASES, crowd, outcomes


def test_the_crowd_is_the_same_every_time_and_a_larger_one_holds_the_smaller():
    assert (crowd(30) == crowd(1000)[:30]).all()
    assert 0 <= crowd(1000).min() and crowd(1000).max() <= LATEST


def test_a_small_epsilon_hides_the_peak_and_a_large_one_shows_it():
    hidden, shown = outcomes("0.05", 30), outcomes("10", 30)
    assert hidden.kept < RELEASES / 2 and shown.kept == RELEASES


def test_the_noise_does_not_depend_on_how_many_people_there_are():
    few, many = outcomes("0.5", 30), outcomes("0.5", 10_000)
    assert many.error == pytest.approx(few.error, rel=0.02)
    assert few.error == pytest.approx(2 * outcomes("1", 30).error, rel=0.1)


def test_the_releases_scatter_around_the_truth():
    """The mean of fifty is within six standard errors of it at each of 97 hours: a false alarm below 1e-6."""
    possible = outcomes("1", 300)
    error = possible.releases.std(axis=0, ddof=1) / math.sqrt(RELEASES)
    assert (np.abs(possible.releases.mean(axis=0) - possible.exact) < 7 * error + 0.5).all()
    assert (outcomes("1", 300).releases == possible.releases).all()
