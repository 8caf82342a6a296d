"""Numbers by objective perturbation: the bound of its theorem, its solver, and what it learns under a pure promise."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import minimize

from core import Budget, Domain, Numeric, train
from core.domain import Categorical, PrivacyUnit
from core.models import number_objective
from core.models.amp import READ_UNIT
from core.models.certified_logistic import GRID_BITS, UNIT_BITS, rounded_minimiser
from core.models.noise_bands import CELLS, cells_sensitivity, in_cells
from core.models.number_objective import (
    CELLS_SHARE,
    SHARPNESS,
    SHELLS,
    MeanAlone,
    PureFit,
    in_shells,
    perturbed_fit,
    scores_of,
    sharpness,
)
from core.models.training import offers
from core.privacy.accounting import epsilon_spent
from core.privacy.budget import Neighbours
from core.privacy.noise.randomness import SeededSource
from core.privacy.replay.solved_laws import PerturbedFit
from core.sources import open_source

TRUTH = np.array([0.3, -0.2])


def line(n, seed=1, spread=0.05):
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, (n, 2))
    y = 0.1 + x @ TRUTH + spread * random.normal(size=n)
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": np.clip(y, -1, 1)})


PLANE = Domain.of(a=(-1, 1), b=(-1, 1), y=(-1, 1))
vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(
    lambda values: np.array(values) / max(1.0, np.linalg.norm(values))
)
rows = st.tuples(vectors, st.floats(-SHARPNESS, SHARPNESS)).map(lambda one: np.append(*one))


@given(st.lists(rows, max_size=4), rows, st.lists(st.floats(-60, 60), min_size=3, max_size=3), st.floats(0.05, 8))
def test_no_record_more_moves_the_log_density_by_more_than_half_the_rate(others, more, place, rate):
    law = PerturbedFit(Fraction(rate), 1 / Fraction(rate), 1, 1)
    before, after = np.array(others).reshape(-1, 4), np.array([*others, more])
    moved = law._log(after, np.array(place)) - law._log(before, np.array(place))
    assert abs(moved) <= rate / 2 * (1 + 1e-9)


def test_half_the_rate_is_reached_and_a_smaller_curvature_passes_it():
    far, near = np.array([-400.0, 0, 0]), np.array([-0.2, 0, 0])
    none, more = np.empty((0, 4)), np.array([[1.0, 0, 0, 0]])
    law = PerturbedFit(Fraction(1), Fraction(1), 1, 1)
    assert abs(law._log(more, far) - law._log(none, far)) == pytest.approx(0.5, rel=1e-9)
    small = PerturbedFit(Fraction(1), Fraction(1, 4), 1, 1)
    assert max(abs(small._log(more, place) - small._log(none, place)) for place in (far, near, 0 * near)) > 0.6


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_rate_is_twice_the_share_of_each_record_that_may_change(relation):
    moves = 1 if relation is Neighbours.ADD_REMOVE else 2
    for records in (1, 3):
        domain = Domain(PLANE.columns, unit=PrivacyUnit("who", records))
        trainer, budget = PureFit(domain, "y"), Budget(3, 0, relation)
        moved, noise = trainer.shells(budget)
        shells = Fraction(moved.l1) / noise.parameter / 3
        assert sum(trainer.rates(budget)) == Fraction(6, moves * records) * (1 - CELLS_SHARE - shells)  # one ε


@pytest.mark.parametrize("relation", list(Neighbours))
def test_no_record_moves_the_counts_of_shells_further_than_declared(relation):
    numbers = np.array([0.0, 0.01, -0.3, 2.1]) * (1 << UNIT_BITS)
    each = [in_shells(numbers[place : place + 1].astype(np.int64)) for place in range(4)]
    assert (sum(each) == in_shells(numbers.astype(np.int64))).all() and not each[3].any()  # beyond all of them
    declared = PureFit(PLANE, "y").shells(Budget(1, 0, relation))[0]
    moved = each[0] if relation is Neighbours.ADD_REMOVE else each[0] - each[2]
    assert (declared.l1, declared.l2_squared) == (np.abs(moved).sum(), (moved**2).sum())  # reached


def test_the_loss_is_sharper_the_closer_numbers_lie_together():
    many = [sharpness(1_000.0 * np.eye(len(SHELLS))[place], 4.0, 1_000) for place in range(len(SHELLS))]
    assert many == sorted(many, reverse=True) and many[0] == 64 and many[-1] == 8
    assert sharpness(np.array([930.0, 0, 0, 0, 0, 0, 70, 0]), 4.0, 1_000) < 16  # far ones count, where they stand out
    assert sharpness(np.zeros(len(SHELLS)), 4.0, 1_000) == 8 and sharpness(np.full(len(SHELLS), -1e6), 1e6, 1) == 8


def test_narrow_numbers_are_learnt_under_a_pure_promise():
    """With one loss for all, noise of lines at ε = .1 was four times the variance of numbers that lie so close."""
    random, domain = np.random.default_rng(8), Domain.of(**{f"x{place}": (-1, 1) for place in range(4)}, y=(-1, 1))
    frame = pd.DataFrame(random.uniform(-1, 1, (8_000, 4)), columns=domain.names[:4])
    frame = frame.assign(y=-0.9 + 0.03 * frame["x0"] + 0.01 * random.normal(size=len(frame)))
    trainer = PureFit(domain, "y").for_records(Budget("0.1"), len(frame))
    model = trainer.fit(open_source(frame), Budget("0.1"), noise_source=SeededSource(1))
    assert np.mean((model.numbers(frame) - frame["y"]) ** 2) < 0.6 * frame["y"].var()


def test_columns_that_fill_little_of_their_bounds_are_learnt_under_a_pure_promise():
    """Noise was as long as bounds are: a tenth of what columns say was found where they lie in a twentieth of them."""
    random, names = np.random.default_rng(8), [f"x{place}" for place in range(6)]
    domain = Domain.of(**dict.fromkeys(names, (0, 1)), y=(-1, 1))
    frame = pd.DataFrame(0.3 + 0.02 * random.normal(size=(6_000, 6)), columns=names)
    frame = frame.assign(y=10.0 * (frame.sum(axis=1) - 1.8) * 0.5 + 0.1 * random.normal(size=len(frame)))
    trainer = PureFit(domain, "y").for_records(Budget(1), len(frame))
    model = trainer.fit(open_source(frame), Budget(1), noise_source=SeededSource(1))
    assert np.mean((model.numbers(frame) - frame["y"]) ** 2) < 0.3 * frame["y"].var()


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_two_sums_of_a_mean_move_as_far_as_is_said_by_all_records_of_a_person(relation):
    """In units: a number of records and a sum of y; a replaced record takes y from one end to the other."""
    for records in (1, 3):
        reached = records * READ_UNIT * (np.array([1, 1]) if relation is Neighbours.ADD_REMOVE else np.array([0, 2]))
        moved = MeanAlone(Domain(PLANE.columns, unit=PrivacyUnit("who", records)), "y").moved(Budget(1, 0, relation))
        assert (moved.l1, moved.l2_squared) == (np.abs(reached).sum(), (reached**2).sum())


@pytest.mark.thorough
def test_noise_and_curvature_of_what_is_released_are_those_of_the_rate():
    """Of a record that says nothing, the released place is -b/k: as long as a Gamma variable, as 1/k is the rate."""
    nothing, noises = np.zeros((1, 3), np.int64), SeededSource(4)
    found = [perturbed_fit(nothing, nothing[:, 0], Fraction(1, 2), noises) for _ in range(100)]
    lengths = np.linalg.norm(found, axis=1) / 2.0**GRID_BITS
    assert stats.kstest(lengths, stats.gamma(3).cdf).pvalue > 1e-8


def test_the_minimiser_with_offsets_is_that_of_scipy():
    random = np.random.default_rng(3)
    points = random.normal(size=(400, 3))
    points /= np.maximum(1.0, np.linalg.norm(points, axis=1))[:, None]
    units = np.trunc(points * (1 << UNIT_BITS) * (1 - 1e-9)).astype(np.int64)
    offsets = np.trunc(SHARPNESS * random.uniform(-1, 1, 400) * (1 << UNIT_BITS)).astype(np.int64)
    linear = [Fraction(1, 3), Fraction(-2), Fraction(5, 7)]
    found = np.array(rounded_minimiser(units, Fraction(2), lambda level: (linear, linear), offsets)) / (1 << GRID_BITS)

    def value(place):
        margins = (units @ place - offsets) / (1 << UNIT_BITS)
        return np.logaddexp(0, -margins).sum() + place @ place + place @ np.array(linear, float)

    wanted = minimize(value, np.zeros(3), method="BFGS", options={"gtol": 1e-9}).x
    assert found == pytest.approx(wanted, abs=1e-4)


@pytest.mark.thorough
def test_much_of_what_a_pure_promise_lets_be_learnt_is_learnt():
    """Sums of products need noise for every pair of columns; this needs it for every column."""
    held = line(500, 2)
    off = {}
    for method in ("objective", "products"):
        models = [train(line(3000), "y", PLANE, Budget("0.1"), method) for _ in range(3)]
        told = [model.predict(held)["predicted"].to_numpy() for model in models]
        off[method] = float(np.mean([np.mean((one - held["y"]) ** 2) for one in told])) / held["y"].var()
    assert off["objective"] < 0.2
    model = train(line(3000), "y", PLANE, Budget(50), "objective")
    assert model.predict(pd.DataFrame({"a": [0.0, 1.0, 0.0], "b": [0.0, 0.0, 1.0]}))["predicted"].to_numpy() == (
        pytest.approx([0.1, 0.4, -0.1], abs=0.02)
    )


def test_what_numbers_that_are_often_0_are_otherwise_is_learnt_under_a_pure_promise():
    """Of numbers of which two fifths are 0 sizes of residuals forget the others: .888 unexplained, .862 by squares."""
    random = np.random.default_rng(11)
    x = random.normal(size=(4_000, 4))
    amounts = np.maximum(0.0, 5.0 + x @ [1.5, 0.9, -0.6, 0.3] + random.normal(size=4_000))
    y = np.where(random.random(4_000) < 0.4, 0.0, amounts)
    frame = pd.DataFrame(x, columns=list("abcd")).assign(y=y)
    domain = Domain.of(**dict.fromkeys("abcd", (-4, 4)), y=(0, 15))
    trainer = PureFit(domain, "y").for_records(Budget(1), 4_000)
    models = [trainer.fit(open_source(frame), Budget(1), noise_source=SeededSource(seed)) for seed in range(3)]
    off = np.mean([np.mean((model.numbers(frame) - y) ** 2) for model in models]) / y.var()
    design = np.column_stack((np.ones(4_000), x))
    least = np.mean((design @ np.linalg.lstsq(design, y, rcond=None)[0] - y) ** 2) / y.var()
    assert off < least + 0.01


def test_a_method_that_needs_no_delta_is_offered_beside_those_that_do_and_keeps_the_same_promise():
    """Of 294 records a δ made numbers worse: what explained most without one was not offered with one."""
    domain, budget = Domain.of(**{f"x{place}": (0, 1) for place in range(6)}, y=(0, 1)), Budget("0.3", "1e-6")
    found = {one.method: one.trainer for one in offers(domain, "y", budget, composable=True, records=300)}
    assert {"objective", "mean", "descent", "boosted"} <= set(found)
    cost = found["objective"].cost(budget)
    assert (cost.epsilon, cost.delta) == (budget.epsilon, budget.delta)
    assert epsilon_spent(cost.events, 0.0) <= float(budget.epsilon)  # of δ nothing is used
    assert found["objective"]._planned(budget) == found["objective"]._planned(Budget("0.3"))


def test_an_outlier_pulls_no_harder_than_a_residual_of_a_length():
    far = line(400).assign(y=lambda frame: np.where(np.arange(len(frame)) < 20, 1.0, frame["y"]))
    told = train(far, "y", PLANE, Budget(100), "objective").predict(pd.DataFrame({"a": [0.0], "b": [0.0]}))
    assert told["predicted"].iloc[0] == pytest.approx(0.1, abs=0.03)  # the mean of these is .145


@pytest.mark.thorough
def test_the_mean_alone_is_the_mean_and_what_noise_hides_is_left_to_it():
    domain = Domain((Numeric("y", 0, 100), Categorical("z", ("a", "b"))))
    frame = pd.DataFrame({"y": np.linspace(20, 60, 2000), "z": np.tile(["a", "b"], 1000)})
    model = MeanAlone(domain, "y").fit(open_source(frame), Budget(5))
    assert model.predict(frame)["predicted"].to_numpy() == pytest.approx(np.full(2000, 40.0), abs=0.5)
    wide = Domain.of(**{f"x{place}": (0, 1) for place in range(30)})
    assert [one.method for one in offers(wide, "x9", Budget("0.02"), records=2000)][:2] == ["mean", "objective"]


MIXED = Domain((*PLANE.columns, Categorical("town", ("Basel", "Bern")), Numeric("sex", 0, 1, step=1)))


@pytest.mark.parametrize("curves", [0, 3])
@pytest.mark.parametrize("relation", list(Neighbours))
def test_no_record_moves_the_counts_of_cells_further_than_declared(relation, curves):
    trainer = PureFit(MIXED, "y", curves=curves).for_records(Budget(1), 1_000)
    ends = {"a": [-1.0, 1.0, 0.3], "b": [1.0, -1.0, 0.0], "y": [0.0] * 3}
    frame = pd.DataFrame({**ends, "town": ["Basel", "Bern", "Bern"], "sex": [0, 1, 1]})
    units = trainer.gather(open_source(frame), READ_UNIT)[0]
    each = [in_cells(trainer, units[place : place + 1], READ_UNIT) for place in range(3)]
    together = in_cells(trainer, units, READ_UNIT)
    assert (sum(each) == together).all() and len(together) == 3 * CELLS + 2
    # However much a record is shortened, it is counted where it lies, and once a column.
    assert [int(np.flatnonzero(one)[0]) for one in each] == [0, CELLS - 1, 5]
    declared = cells_sensitivity(trainer, relation)
    moved = each[0] if relation is Neighbours.ADD_REMOVE else each[0] - each[1]
    assert (declared.l1, declared.l2_squared) == (np.abs(moved).sum(), (moved**2).sum())  # reached


def test_noise_is_taken_out_of_what_was_released_alone(monkeypatch):
    """Where counts and minimiser are the same, so is the model, whoever the records are."""
    trainer, plan = PureFit(PLANE, "y", curves=2), PureFit(PLANE, "y", curves=2)._planned(Budget(1))
    drawn = np.random.default_rng(3)
    counts, found = drawn.normal(500, 20, 2 * CELLS), drawn.normal(0, 1e6, trainer.width + 1)
    monkeypatch.setattr(number_objective, "add_noise", lambda exact, *told: counts[: len(exact)])
    monkeypatch.setattr(number_objective, "perturbed_fit", lambda vectors, *told: found[: vectors.shape[1]])
    read = [trainer.gather(open_source(line(many, many)), READ_UNIT) for many in (40, 90)]
    made = [trainer._trained(*held, Budget(1), plan, SeededSource(1)) for held in read]
    assert (made[0].rows == made[1].rows).all() and made[0].details == made[1].details


def test_a_regression_under_a_pure_promise_is_no_worse_than_the_mean():
    """Narrow numbers that nothing tells, at ε = .1: slopes of noise made errors 1.2 to 1.4 times those of the mean."""
    random, columns = np.random.default_rng(8), [f"x{place}" for place in range(8)]
    domain = Domain((*(Numeric(name, -1, 1) for name in (*columns, "y")), Categorical("z", ("a", "b", "c"))))
    frame = pd.DataFrame(random.normal(-0.3, 0.4, (3_000, 8)).clip(-1, 1), columns=columns)
    frame = frame.assign(y=random.normal(-0.8, 0.08, 3_000), z=random.choice(["a", "b", "c"], 3_000))
    trainer = PureFit(domain, "y").for_records(Budget("0.1"), 3_000)
    models = [trainer.fit(open_source(frame), Budget("0.1"), noise_source=SeededSource(seed)) for seed in range(3)]
    off = [np.mean((model.numbers(frame) - frame["y"]) ** 2) / frame["y"].var() for model in models]
    assert np.mean(off) < 1.15


def test_what_a_fit_says_of_a_record_is_a_whole_number_of_it_alone_and_no_longer_than_1():
    random = np.random.default_rng(2)
    units, weights = random.integers(-READ_UNIT, READ_UNIT + 1, (50, 5)), random.normal(0, 3, 5)
    together = scores_of(units, weights)
    assert (together == [scores_of(units[place : place + 1], weights)[0] for place in range(50)]).all()
    plain = np.clip((units / READ_UNIT) @ weights, -1.0, 1.0)
    assert np.abs(together / 2.0**UNIT_BITS - plain).max() < 1e-4
    assert np.abs(scores_of(units, 1e9 * weights)).max() == 1 << UNIT_BITS  # reached, and sums of the largest fit
    assert np.abs(scores_of(np.full((1, 4_096), READ_UNIT), np.full(4_096, 1e9))) == 1 << UNIT_BITS


@pytest.mark.thorough
@pytest.mark.parametrize(("bent", "least"), [(False, 0.79), (True, 0.76)])
def test_curves_lose_at_most_half_a_point_where_lines_are_the_truth(bent, least):
    """Nine knots a column lost three points of a straight truth at 10,000 records, and one and more of a bent one."""
    domain = Domain.of(**{f"x{place}": (-1, 1) for place in range(8)}, y=(-1, 1))
    random = np.random.default_rng(6)
    x = random.uniform(-1, 1, (16_000, 8))
    true = np.cos(3.0 * x + np.arange(8)).sum(axis=1) if bent else x @ random.normal(size=8)
    y = 0.2 * (true - true.mean()) / true.std() + 0.1 * random.normal(size=len(x))  # lines explain four fifths
    trainer = PureFit(domain, "y", curves=3).for_records(Budget(1), 8_000)
    points = np.column_stack((x, np.clip(y, -1, 1)))
    records = trainer.encoded(points[:8_000], READ_UNIT)
    model = trainer._trained(*records, Budget(1), trainer._planned(Budget(1)), SeededSource(2))
    assert trainer.score(model, points[8_000:]) > least


def test_what_counts_cannot_tell_is_left_as_it_was():
    """Where noise hides where records lie, slopes are not drawn to a mean that nobody knows."""
    trainer = PureFit(PLANE, "y").for_records(Budget("0.01"), 300)
    counts = np.random.default_rng(1).normal(40, 4_000, 2 * CELLS)
    found = np.array([1.0, 2.0, 3.0])
    told = number_objective.Spread.of(trainer, counts, 4_000.0**2).quieted(found, 2.0, 1.0, 1.0)
    assert (told == found).all()


def test_no_shell_far_off_that_noise_alone_fills_makes_the_loss_blunt():
    """Numbers within a fiftieth of their bounds: one draw in nine had five to forty times the error of the others."""
    counts, scale = np.array([6364.0, 8906, 16641, 4005, 42, 1, 0, 1]), 320.0
    random, variance = np.random.default_rng(0), 2.0 * scale**2
    exact = number_objective.sharpness(counts, 0.0, 35_960)
    noisy = [counts + random.laplace(0, scale, 8) for _ in range(500)]
    blunt = [number_objective.sharpness(one, variance, 35_960) < 0.8 * exact for one in noisy]
    assert np.mean(blunt) < 0.015  # .06 with two deviations
