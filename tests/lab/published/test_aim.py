"""AIM: its rounds spend no more than was paid for, its tables move as stated, and an audit from end to end.

Fitting compiles a model, which takes seconds; so one test fits, and the others are given a model of separate axes.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import core.lab.published.aim as aim
import core.lab.published.markov_model as measured_cliques
from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import RequestError
from core.geometry.kernels import Gaussian
from core.lab.published.aim import AIM, CHOICES_SHARE, FIRST, PAIR
from core.lab.published.markov_model import MeasuredCliques
from core.lab.published.synthetic_records import POINTS
from core.privacy.attacks import audit
from core.privacy.budget import Budget, Neighbours
from core.privacy.calibration import largest_rho
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import load
from core.sketches.adaptive import SCALE
from tests.depth import draws
from tests.sketches.checking import poured

MIXED = Domain((Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1), Numeric("z", 0, 1)))
COUNTS = (4, 3, 4, 4)
KERNEL = Gaussian(1.5)
CUBE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))
PROMISES = [Budget(1, "1e-6"), Budget("0.2", "1e-9", "replace_one")]
GOOD = MeasuredCliques(MIXED, KERNEL, COUNTS, ((0,), (1,), (0, 2), (0, 2)), (16, 16, 32, 7), 5)


def frame(n=500, seed=3) -> dict:
    random = np.random.default_rng(seed)
    x = random.uniform(0, 8, n)
    return {"x": x, "c": random.choice(list("uvw"), n), "y": x / 4 - 1, "z": random.uniform(0, 1, n)}


def separate(counts, cliques, noisy, total, deviations=None, wanted=None, iterations=0):
    """In the place of a fit: axes that have nothing to do with each other, from the first table of each."""
    ones = [np.full(size, 1.0 / size) for size in counts]
    for clique, table in zip(cliques, noisy, strict=True):
        if len(clique) == 1:
            kept = np.maximum(table, 1e-9)
            ones[clique[0]] = kept / kept.sum()
    return [
        total * np.prod(np.ix_(*(ones[axis] for axis in clique)), axis=0)
        if len(clique) == 1
        else total * np.multiply.outer(*(ones[axis] for axis in clique))
        for clique in wanted
        if len(clique) < 3
    ]


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.setattr(measured_cliques, "fitted_marginals", separate)
    monkeypatch.setattr(aim, "select", _recorded)
    _recorded.prices = []


def _recorded(scores, sensitivity, epsilon, source):
    _recorded.prices.append(epsilon)
    assert sensitivity == PAIR * SCALE * _recorded.moved
    return aim_select(scores, sensitivity, epsilon, source)


aim_select = aim.select


@pytest.mark.parametrize("budget", PROMISES, ids=str)
def test_all_rounds_together_cost_no_more_than_was_paid_for_and_nearly_all_of_it(budget, plain):
    """In exact fractions: of every table w² times its sensitivity over 2σ², of every choice ε²/8."""
    mechanism = AIM(MIXED, KERNEL, cells=4, seed=1)
    replaced = budget.neighbours is Neighbours.REPLACE_ONE
    _recorded.moved = 2 if replaced else 1
    planned = mechanism.plan(budget)
    rho = Fraction(largest_rho(float(budget.epsilon), float(budget.delta)))
    assert planned.cost.rho == rho and len(planned.cost.events) == 1
    for _ in range(3):
        _recorded.prices = []
        made = release(mechanism, frame(), budget)
        weights = made.sketch.weights
        tables = (2 if replaced else 1) * Fraction(sum(w**2 for w in weights)) / (2 * planned.noises[0].parameter)
        choices = sum(Fraction(price) ** 2 for price in _recorded.prices) / 8
        assert len(_recorded.prices) == len(weights) - 4
        assert tables <= rho * (1 - CHOICES_SHARE) and choices <= rho * CHOICES_SHARE
        assert tables > rho * (1 - CHOICES_SHARE) * Fraction(9, 10)
        # each choice was as dear as its table: a price times its weight
        assert _recorded.prices == [planned.choices[0] * weight for weight in weights[4:]]
        assert weights[:4] == (FIRST,) * 4 and set(made.sketch.cliques[:4]) == {(0,), (1,), (2,), (3,)}


def test_a_round_beyond_the_budget_is_never_made(plain):
    mechanism = AIM(CUBE, KERNEL, cells=2, seed=1)
    exact = {(0,): np.array([3, 4])}
    rounds = aim._Rounds(mechanism, mechanism.plan(PROMISES[0]), exact, SeededSource(1))
    with pytest.raises(RuntimeError, match="more than is left"):
        rounds.measure((0,), int(mechanism.capacity**0.5) + 1)
    assert not rounds.tables


def test_it_needs_a_delta():
    with pytest.raises(RequestError, match="with a delta alone"):
        AIM(CUBE, KERNEL, cells=2).plan(Budget(1))


@pytest.mark.parametrize("relation", list(Neighbours))
def test_chosen_tables_reach_their_sensitivity(relation):
    corners = [{"x": [x], "c": [c], "y": [y], "z": [z]} for x, c, y, z in ((0, "u", -1, 0), (8, "w", 1, 1))]
    one, other = (poured(GOOD, MIXED.encode_queries(corner, GOOD.metric)).astype(int) for corner in corners)
    moved = one if relation is Neighbours.ADD_REMOVE else one - other
    stated = GOOD.sensitivity(relation)
    assert np.abs(moved).sum() == stated.l1 and (moved**2).sum() == stated.l2_squared


def test_repeated_tables_count_by_their_precision():
    table = poured(GOOD, MIXED.encode_queries(frame(), GOOD.metric))
    cliques, means, deviations = GOOD._means(table)
    assert cliques == [(0,), (1,), (0, 2)]
    assert deviations == pytest.approx([1 / 16, 1 / 16, (32**2 + 7**2) ** -0.5])
    assert all(mean.sum() == pytest.approx(500) for mean in means) and GOOD.total(table) == pytest.approx(500)


@pytest.mark.deep
def test_the_dependent_pair_is_chosen_and_made_up_records_have_it():
    """x and y are copies of each other; fitted by `mbi`."""
    random = np.random.default_rng(1)
    x, z = random.uniform(0, 1, (2, 3000))
    mechanism = AIM(CUBE, KERNEL, cells=3, seed=1)
    made = release(mechanism, np.column_stack([x, x, z]), Budget(8, "1e-6"), noise_source=SeededSource(1))
    assert (0, 1) in made.sketch.cliques and made.records == pytest.approx(3000, abs=30)
    drawn = made.sketch.cells.index(made.sketch.synthetic(made.counters))
    assert len(drawn) == POINTS and (drawn[:, 0] == drawn[:, 1]).mean() > 0.95


@pytest.mark.parametrize("budget", PROMISES, ids=str)
def test_a_release_is_made_saved_and_read(budget, plain):
    _recorded.moved = 2 if budget.neighbours is Neighbours.REPLACE_ONE else 1
    made = release(AIM(MIXED, KERNEL, cells=4), frame(), budget)
    again = load(made.to_bytes())
    assert again.sketch == made.sketch and again.privacy.budget == budget


def test_a_person_with_several_records_is_paid_for():
    domain = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), unit=PrivacyUnit("who", 2))
    one, two = (AIM(place, KERNEL, cells=3).plan(PROMISES[0]).noises[0] for place in (CUBE, domain))
    assert float(two.parameter / one.parameter) == pytest.approx(4, rel=1e-4)


@pytest.mark.deep
def test_the_audit_passes_and_catches_rounds_that_cost_too_little(monkeypatch):
    monkeypatch.setattr(measured_cliques, "fitted_marginals", separate)
    mechanism = AIM(CUBE, KERNEL, cells=2, seed=1)
    crowd = np.full((60, 3), 0.2)
    alone = np.vstack([crowd, [[0.8, 0.8, 0.2]]])
    source = SeededSource(4)

    def attacked(plan):
        def output(data):
            table = mechanism.first.zeros()
            mechanism.first.add(table, np.asfortranarray(data))
            made = mechanism.run(lambda sketch: table, plan, source)
            told = np.zeros(3)
            for clique, weight, values in zip(
                made.sketch.cliques, made.sketch.weights, made.sketch.counted(made.table), strict=True
            ):
                told[len(clique) - 1] += weight**2 * values.reshape(-1)[-1]
            return np.array([*told, told.sum()])

        return audit(output, crowd, alone, 1, Fraction(1, 10**6), runs=draws(100, 600), level=1 - 1e-8)

    assert attacked(mechanism.plan(Budget(1, "1e-6"))).passed
    assert not attacked(mechanism.plan(Budget(30, "1e-6"))).passed


@pytest.mark.parametrize(
    "wrong",
    [
        {"cliques": [[0], [1], [0, 2], [2, 0]]},
        {"cliques": [[0], [1], [0, 2], [0, 4]]},
        {"cliques": [[0], [1], [0, 2], [0, 1, 2]]},
        {"cliques": []},
        {"weights": [16, 16, 32]},
        {"weights": [16, 16, 32, 0]},
        {"weights": [16, 16, 32, 1 << 40]},
        {"counts": [4, 3, 4]},
        {"counts": [1 << 12, 3, 1 << 12, 4]},
        {"seed": "0"},
        {"more": 1},
    ],
    ids=str,
)
def test_a_strangers_parameters_are_refused_in_one_sentence(wrong):
    with pytest.raises(RequestError) as refusal:
        MeasuredCliques.from_parameters(MIXED, {**GOOD.parameters(), **wrong})
    assert "\n" not in str(refusal.value)
    assert MeasuredCliques.from_parameters(MIXED, GOOD.parameters()) == GOOD
    assert replace(GOOD) == GOOD
