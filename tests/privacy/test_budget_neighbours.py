"""Sensitivities that no integer table can have are refused, and several records a person scale them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from core.privacy.budget import Neighbours, Sensitivity


def test_relations_are_their_names():
    assert str(Neighbours.ADD_REMOVE) == "add_remove"
    assert Neighbours("replace_one") is Neighbours.REPLACE_ONE


def test_several_records_a_person_all_in_the_same_cells():
    one = Sensitivity(l1=10, l2_squared=10, parts=10, unit_shifts=True)
    assert one.scaled(1) is one
    assert one.scaled(3) == Sensitivity(l1=30, l2_squared=90, parts=10, unit_shifts=False)

    vectors = Sensitivity(l1=30, l2_squared=100, block=12, blocks_l2=14)
    assert vectors.scaled(3) == Sensitivity(l1=90, l2_squared=900, block=12, blocks_l2=42)


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=st.integers(-50, 50)))
def test_every_difference_of_tables_can_be_stated_in_blocks(difference):
    """The sum of the blocks' lengths, rounded up, lies between the two norms whatever the difference is."""
    difference[0, 0] = 1
    squares = (difference**2).sum(axis=1).tolist()
    digits = 10**20
    blocks_l2 = -(-sum(math.isqrt(square * digits**2 - 1) + 1 if square else 0 for square in squares) // digits)
    l1 = int(np.abs(difference).sum())
    assert Sensitivity(l1, sum(squares), block=difference.shape[1], blocks_l2=blocks_l2).blocks_l2 <= l1


@pytest.mark.parametrize(
    "fields",
    [
        {"l1": 0, "l2_squared": 0},
        {"l1": True, "l2_squared": True},
        {"l1": 2.0, "l2_squared": 2},
        {"l1": 3, "l2_squared": 2},
        {"l1": 3, "l2_squared": 10},
        {"l1": 3, "l2_squared": 5, "parts": 2},
        {"l1": 3, "l2_squared": 5, "unit_shifts": True},
        {"l1": 7, "l2_squared": 25, "block": 4},
        {"l1": 7, "l2_squared": 25, "blocks_l2": 5},
        {"l1": 7, "l2_squared": 25, "block": 0, "blocks_l2": 5},
        {"l1": 7, "l2_squared": 25, "block": True, "blocks_l2": 5},
        {"l1": 7, "l2_squared": 25, "block": 4, "blocks_l2": 5.0},
        {"l1": 7, "l2_squared": 25, "block": 4, "blocks_l2": 4},
        {"l1": 7, "l2_squared": 25, "block": 4, "blocks_l2": 8},
    ],
)
def test_what_no_integer_table_can_have(fields):
    with pytest.raises(ValueError, match=r"\.$"):
        Sensitivity(**fields)
