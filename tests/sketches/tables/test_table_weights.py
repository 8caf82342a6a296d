"""How far one record moves tables: every pair of neighbours of small domains is looked at."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core import Budget, Domain
from core.domain import Categorical, Numeric
from core.privacy.budget import Neighbours
from core.sketches.tables.table_axes import Axis
from core.sketches.tables.tables import Tables

YES_NO = Domain(tuple(Categorical(f"c{i}", ("n", "y")) for i in range(4)), missing="refuse")
MIXED = Domain((Numeric("x", 0, 1), Categorical("c", tuple("abc")), Numeric("z", 0, 1)), missing="refuse")
DROPS = Domain((Numeric("x", 0, 1), Categorical("c", tuple("abc")), Numeric("z", 0, 1)))
GAUSSIAN = Budget(1, "1e-9")
GAPS = Domain((Numeric("x", 0, 1, missing_category="none"), *MIXED.columns[1:]), missing="refuse")
ALL_GAPS = Domain(tuple(Numeric(name, 0, 1, missing_category="none") for name in "xyz"), missing="refuse")
TRIPLE = [("x", "c", "z")]


def contrast_tables(domain: Domain, bins=3, tables="pairs", halvings=0) -> Tables:
    """Always measured as contrasts, whatever is best."""
    made = Tables.of(domain, bins, tables, halvings)
    return made.measuring_contrasts()


def every_record(sketch: Tables) -> np.ndarray:
    """What a record of each combination of fine cells adds, and of no value, int64 (combinations, counters)."""
    places = [coordinates(axis) for axis in sketch.axes]
    added = []
    for combination in product(*places):
        table = sketch.zeros()
        sketch.add(table, np.asfortranarray([np.concatenate(combination)]))
        added.append(table)
    return np.array(added)


def coordinates(axis: Axis) -> list[list[float]]:
    """Encoded records of every fine cell, NaN for no value."""
    if axis.categories:
        return np.eye(axis.cells).tolist()
    cells = axis.valued << axis.halvings
    return [[(cell + 0.5) / cells] for cell in range(cells)] + ([[np.nan]] if axis.missing else [])


SKETCHES = {
    "yes and no": lambda: contrast_tables(YES_NO),
    "pairs": lambda: contrast_tables(MIXED),
    "halves": lambda: contrast_tables(MIXED, 2, "pairs", (1, 2)),
    "singles": lambda: contrast_tables(MIXED, 4, "singles"),
    "some": lambda: contrast_tables(DROPS, 3, [("x", "c"), ("z",)]),
    "three": lambda: contrast_tables(MIXED, 2, TRIPLE),
    "a gap": lambda: contrast_tables(GAPS, 2, "pairs", (1, 2)),
    "gaps": lambda: contrast_tables(ALL_GAPS, 2, "pairs", (2, 0, 1)),
    "gaps in cells": lambda: Tables.of(ALL_GAPS, 2, "pairs", (1, 0, 0)).counting("cells"),
    "cells": lambda: Tables.of(MIXED, 2, "pairs", (2, 0)).counting("cells"),
    "margins": lambda: Tables.of(DROPS, 3).counting("margins"),
    "weighted": lambda: replace(Tables.of(YES_NO, 2).counting(), weights=(1, 5, 2, 2, 9, 1)),
}


@pytest.mark.few(4)
@pytest.mark.parametrize("name", SKETCHES)
def test_no_neighbours_are_further_apart_and_some_are_as_far(name):
    sketch = SKETCHES[name]()
    added = every_record(sketch).astype(float)  # whole numbers; squares are compared to twelve digits
    once, other = (sketch.record_sensitivity(relation) for relation in Neighbours)
    assert np.abs(added).sum(axis=1).max() == pytest.approx(once.l1, rel=1e-12)
    assert (added**2).sum(axis=1).max() == pytest.approx(once.l2_squared, rel=1e-12)
    squares = (added**2).sum(axis=1)
    moved = squares[:, None] + squares - 2 * added @ added.T
    worst = max(float(moved.max()), 0.0 if sketch.domain.keeps_every_record else float(squares.max()))
    assert worst <= other.l2_squared * (1 + 1e-12)
    assert other.l2_squared <= 1.003 * worst  # what whole numbers are off
    sums = np.abs(added[:, None] - added).sum(axis=2)
    assert sums.max() <= other.l1
    if once.unit_shifts:
        assert np.abs(added).max() <= 1
    if other.unit_shifts:
        assert np.abs(added[:, None] - added).max() <= 1


def test_the_worst_neighbour_of_fifteen_yes_and_no_columns_does_not_differ_in_all():
    domain = Domain(tuple(Categorical(f"c{i}", ("n", "y")) for i in range(15)), missing="refuse")
    sketch = contrast_tables(domain)
    once, other = (sketch.record_sensitivity(relation).l2_squared for relation in Neighbours)
    blocks = zip(sketch.layout.blocks, sketch.weights, strict=True)
    all_differ = sum(2 * (w * sketch.layout.unit(block.columns)) ** 2 for block, w in blocks if len(block.columns) == 1)
    assert other / once == pytest.approx(2.05, abs=0.02)
    assert all_differ < 0.7 * other


def test_many_columns_have_a_bound_that_costs_little():
    """Beyond the sets that can all be looked at, the bound by the columns that move most is as good."""
    few, many = (
        contrast_tables(Domain(tuple(Categorical(f"c{i}", tuple("abcde")) for i in range(n)), missing="refuse"))
        for n in (18, 19)
    )
    ratios = [
        sketch.record_sensitivity(Neighbours.REPLACE_ONE).l2_squared
        / sketch.record_sensitivity(Neighbours.ADD_REMOVE).l2_squared
        for sketch in (few, many)
    ]
    assert ratios[1] == pytest.approx(ratios[0], rel=2e-3)
