"""Categories told from their middle: the same models, shorter records, each a function of itself alone."""

import numpy as np
import pytest

from core import Domain, Numeric
from core.domain import Categorical
from core.models.amp import READ_UNIT, in_unit_ball
from core.models.centred import centred, centred_blocks, centred_radius, centred_width, directions, of_all_coordinates
from core.models.certified_logistic import UNIT_BITS
from core.models.training_task import Task

MIXED = Domain(
    (
        Numeric("a", -1, 1),
        Categorical("town", ("Basel", "Bern", "Chur", "Zug")),
        Numeric("b", 0, 10),
        Categorical("said", ("yes", "no")),
        Numeric("y", -1, 1),
    )
)


def records(task, many=200, seed=1):
    random = np.random.default_rng(seed)
    points = np.zeros((many, task.domain.dimensions))
    ends, start = random.choice([0.0, 0.3, 1.0], (many, len(task.domain.columns))), 0
    for place, column in enumerate(task.domain.columns):
        if isinstance(column, Categorical):
            points[np.arange(many), start + random.integers(0, column.width, many)] = 1.0
        else:
            low, high = column.low, column.high
            points[:, start] = low + ends[:, place] * (high - low)
        start += column.width
    return task.encoded(points, READ_UNIT)[0]


def test_directions_are_at_right_angles_and_add_up_to_nothing():
    for many in (1, 2, 7):
        found = directions(many)
        assert found.T @ found == pytest.approx(np.eye(many - 1)) and found.sum(axis=0) == pytest.approx(0.0)


@pytest.mark.parametrize("bends", [{}, {"curves": 2}, {"curves": 1, "waves": 3}, {"products": 1}])
@pytest.mark.parametrize("radius", [None, 0.4, 1.5])
def test_no_record_is_longer_than_is_said_and_each_is_a_function_of_itself_alone(bends, radius):
    task = Task(MIXED, "y", radius, **bends)
    units = records(task)
    found, longest = centred(task, units, READ_UNIT)
    assert found.shape == (len(units), centred_width(task) + 1) and centred_blocks(task)[-1].own.stop == found.shape[1]
    assert (found**2).sum(axis=1).max() <= longest
    alone = [centred(task, units[place : place + 1], READ_UNIT)[0][0] for place in range(len(units))]
    assert (np.array(alone) == found).all()
    ball, _ = in_unit_ball(found, longest)
    assert max(sum(int(part) ** 2 for part in row) for row in ball) <= 1 << 2 * UNIT_BITS


def test_coefficients_say_of_records_what_centred_ones_do_where_none_is_cut():
    task = Task(MIXED, "y")
    units, weights = records(task), np.random.default_rng(2).normal(size=centred_width(task) + 1)
    found = centred(task, units, READ_UNIT)[0] / READ_UNIT
    assert centred_radius(task) == pytest.approx(np.sqrt(4 - 1 / 4 - 1 / 2))
    assert found @ weights == pytest.approx(units / READ_UNIT @ of_all_coordinates(task, weights), abs=1e-5)
