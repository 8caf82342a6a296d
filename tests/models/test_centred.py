"""Categories told from their middle: the same models, shorter records, each a function of itself alone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core import Budget, Domain, Numeric
from core.domain import Categorical
from core.models import record_vectors
from core.models.amp import READ_UNIT, in_unit_ball
from core.models.centred import (
    Frame,
    centred,
    centred_blocks,
    centred_radius,
    centred_width,
    directions,
    of_all_coordinates,
    shortened_whole,
)
from core.models.certified_logistic import GRID_BITS, UNIT_BITS
from core.models.noise_bands import Spread, in_cells
from core.models.objective_perturbation import PureLogistic
from core.models.training_task import Task
from core.privacy.noise.randomness import SeededSource
from core.privacy.replay.solved_laws import PerturbedSoftmax

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


@pytest.mark.few(4)
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


@pytest.mark.parametrize("many", [0, 2])
def test_vectors_made_a_few_at_a_time_are_those_of_all_at_once(many, monkeypatch):
    task = Task(MIXED, "y")
    units = records(task)

    def made():
        found, longest = centred(task, units, READ_UNIT, many)
        return found, in_unit_ball(found, longest)[0]

    whole = made()
    monkeypatch.setattr(record_vectors, "BLOCK", 7)
    assert len(units) % 7 and all((one == other).all() for one, other in zip(whole, made(), strict=True))


def test_coefficients_say_of_records_what_centred_ones_do_where_none_is_cut():
    task = Task(MIXED, "y")
    units, weights = records(task), np.random.default_rng(2).normal(size=centred_width(task) + 1)
    found = centred(task, units, READ_UNIT)[0] / READ_UNIT
    assert centred_radius(task) == pytest.approx(np.sqrt(4 - 1 / 4 - 1 / 2))
    assert found @ weights == pytest.approx(units / READ_UNIT @ of_all_coordinates(task, weights), abs=1e-5)


@pytest.mark.parametrize("bends", [{}, {"curves": 2}, {"curves": 1, "waves": 3}, {"products": 1}])
def test_told_from_where_records_lie_each_is_its_own_and_no_longer_than_is_said(bends):
    task = Task(MIXED, "y", **bends)
    units, random = records(task), np.random.default_rng(3)
    counts = random.normal(100, 60, len(in_cells(task, units, READ_UNIT)))
    spread = Spread.of(task, counts, 60.0**2)
    for frame in (spread.frame(task), replace(spread.frame(task), radius=0.01)):
        found, longest = shortened_whole(task, units, READ_UNIT, frame)
        assert (found**2).sum(axis=1).max() <= longest <= (1 + frame.radius**2) * READ_UNIT**2
        assert (found == np.array([shortened_whole(task, one[None], READ_UNIT, frame)[0][0] for one in units])).all()


def test_a_rare_answer_that_noise_hides_is_not_stretched_until_it_cuts_all_else():
    """One draw of seven, where noise hid how many women there were, made a regression worse than the mean."""
    task = Task(MIXED, "y")
    counts = np.array([*[125.0] * 8, *[250.0] * 4, *[125.0] * 8, 1010.0, -40.0])
    seen = np.array([*[125.0] * 8, *[250.0] * 4, *[125.0] * 8, 890.0, 110.0])
    hidden, told = (Spread.of(task, one, 70.0**2, 1_000).frame(task) for one in (counts, seen))
    assert hidden.stretch[-1] < 1.7 * told.stretch[-1] and hidden.radius > 0.85 * told.radius


def test_coefficients_from_where_records_lie_say_what_they_do_from_nowhere():
    task = Task(MIXED, "y")
    units, random = records(task), np.random.default_rng(2)
    size = centred_width(task)
    frame, weights = Frame(random.normal(size=size), random.uniform(0.5, 2, size), 9.0), random.normal(size=size + 1)
    plain = centred(task, units, READ_UNIT)[0] / READ_UNIT
    assert frame.told(plain) @ weights == pytest.approx(plain @ frame.from_nowhere(weights))


def wide(columns=40, classes=3, **how):
    facts = {f"x{place}": (-1, 1) for place in range(columns)}
    return PureLogistic(Domain.of(**facts, kind=[str(place) for place in range(classes)]), "kind", **how)


def far_apart(trainer, many, seed=4):
    """Records of few hidden directions, with corners of the bounds first."""
    random, columns = np.random.default_rng(seed), len(trainer.features.columns)
    codes = random.integers(0, 3, many)
    middles = random.normal(0, 0.35, (3, columns))
    x = np.clip(middles[codes] + random.normal(0, 0.25, (many, columns)), -1, 1)
    x[:2] = [[1.0] * columns, [-1.0] * columns]
    return np.column_stack((x, np.eye(3)[codes]))


@pytest.mark.thorough
def test_along_directions_each_record_is_its_own_and_no_longer_than_declared():
    trainer = wide().for_records(Budget("0.5"), 600)
    assert trainer.directions == 14
    units, _ = trainer.encoded(far_apart(trainer, 300), READ_UNIT)
    whole, longest = centred(trainer, units, READ_UNIT, trainer.directions)
    assert whole.shape == (300, 15) and (whole.astype(object) ** 2).sum(axis=1).max() <= longest
    alone = [centred(trainer, one[None], READ_UNIT, trainer.directions)[0][0] for one in units]
    assert np.array_equal(np.array(alone), whole)
    vectors, _ = in_unit_ball(whole, longest)
    assert (vectors.astype(object) ** 2).sum(axis=1).max() <= 1 << 2 * UNIT_BITS


def test_what_is_learnt_along_directions_says_the_same_of_all_coordinates():
    trainer = wide().for_records(Budget("0.5"), 600)
    units, _ = trainer.encoded(0.2 * far_apart(trainer, 50)[2:], READ_UNIT)
    along, _ = centred(trainer, units, READ_UNIT, trainer.directions)
    rows = np.random.default_rng(0).normal(size=(3, 15))
    assert np.allclose(along @ rows.T / READ_UNIT, units @ of_all_coordinates(trainer, rows).T / READ_UNIT, atol=1e-4)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_record_along_directions_costs_more_than_epsilon(place):
    """The density of what is released, of all records and of those without one, the longest among them."""
    budget = Budget("0.5")
    trainer = wide().for_records(budget, 600)
    units, codes = trainer.encoded(far_apart(trainer, 60), READ_UNIT)
    vectors, _ = in_unit_ball(*centred(trainer, units, READ_UNIT, trainer.directions))
    noise = trainer.perturbation(budget)
    law = PerturbedSoftmax(noise.rate, noise.curvature, 1 << UNIT_BITS, 1 << GRID_BITS, 3)
    told = np.column_stack((vectors, codes))
    outcome = np.random.default_rng(1).integers(-(1 << GRID_BITS), 1 << GRID_BITS, 3 * 15).tolist()
    lost = law.loss(told, np.delete(told, place, axis=0), outcome).most
    assert 0.5 * float(budget.epsilon) < lost <= float(budget.epsilon) * (1 + 1e-9)
    assert trainer.cost(budget).events[0].epsilon == Fraction(1, 2)


def test_many_columns_of_few_records_are_learnt_along_directions():
    budget, found = Budget("0.5"), []
    trainer = wide(120).for_records(budget, 600)
    points = far_apart(trainer, 1_000)
    for one in (trainer, wide(120).shortened()):
        model = one._trained(*one.encoded(points[:600], one.unit), budget, one._planned(budget), SeededSource(2))
        found.append(one.score(model, points[600:]))
    assert model.details.get("directions") is None and found[0] > found[1] + 0.1


def test_directions_follow_from_public_facts_and_are_left_where_all_coordinates_do():
    budget = Budget("0.5")
    assert wide(classes=2).for_records(budget, 600).directions == 0
    assert wide().for_records(budget, 60_000).directions == 0
    assert wide(radius=1.0).for_records(budget, 600).directions == 0
    assert wide(curves=1).for_records(budget, 600).directions == 0
    again = wide().for_records(budget, 600).for_records(budget, 600)
    assert again == wide().for_records(budget, 600) and again.directions > 0
