"""Sensitivities that no integer table can have are refused, and several records a person scale them."""

import pytest

from core.privacy.neighbours import Neighbours, Sensitivity


def test_relations_are_their_names():
    assert str(Neighbours.ADD_REMOVE) == "add_remove"
    assert Neighbours("replace_one") is Neighbours.REPLACE_ONE


def test_several_records_a_person_all_in_the_same_cells():
    one = Sensitivity(l1=10, l2_squared=10, parts=10, unit_shifts=True)
    assert one.scaled(1) is one
    assert one.scaled(3) == Sensitivity(l1=30, l2_squared=90, parts=10, unit_shifts=False)


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
    ],
)
def test_what_no_integer_table_can_have(fields):
    with pytest.raises(ValueError, match=r"\.$"):
        Sensitivity(**fields)
