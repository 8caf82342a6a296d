"""The place at which pictures of many columns hold those that they do not show."""

import numpy as np
import pytest

from core.analysis.other_columns import MOST_AVERAGED, densest_place
from core.geometry.kernels import Euclidean
from tests.analysis.poured import box_of, clusters, poured


def test_of_many_columns_it_is_where_records_gather():
    release = poured(box_of(5), Euclidean(0.3, power=2), clusters([[0.7] * 5], 5_000), rows=100, width=200)
    assert list(densest_place(release).values()) == pytest.approx([0.7] * 5, abs=0.08)


def test_few_columns_are_averaged_over():
    few = clusters([[0.7] * MOST_AVERAGED], 5_000)
    assert densest_place(poured(box_of(MOST_AVERAGED), Euclidean(0.3, power=2), few, rows=200)) == {}


def test_a_bump_of_noise_is_no_place_to_look_at():
    """False alarm rate 5% by the level of modes; the seed of the noise is fixed."""
    release = poured(box_of(5), Euclidean(0.3, power=2), np.zeros((0, 5)), rows=200, width=200)
    assert densest_place(release) == {}
