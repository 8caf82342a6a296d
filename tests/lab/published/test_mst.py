"""MST: trees, scores and fitted models against plain counting, and an audit from end to end.

Fitting compiles a model, which takes seconds; so one test fits, and the others that need a model are given one.
"""

import warnings
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import core.lab.published.mst as spanning_tree
from core.domain import Categorical, Domain, Numeric, PrivacyUnit
from core.errors import ReleaseFileError, RequestError
from core.geometry.kernels import Gaussian
from core.lab.published.grid_cells import tables_moved
from core.lab.published.mst import MST, TREE_SHARE, SpanningTree, nearest_with_total
from core.lab.published.synthetic_records import POINTS
from core.privacy.attacks import audit
from core.privacy.budget import Budget, Neighbours
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import load
from core.sketches.adaptive import SCALE, pair_score
from tests.depth import draws
from tests.sketches.checking import poured

MIXED = Domain((Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1), Numeric("z", 0, 1)))
COUNTS = (4, 3, 2, 2)
KERNEL = Gaussian(1.5)
STAR = ((0, 2), (1, 2), (2, 3))
CUBE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))
BUDGETS = [Budget(1), Budget(1, "1e-6"), Budget(1, 0, Neighbours.REPLACE_ONE), Budget(1, "1e-6", "replace_one")]
counts = arrays(np.int64, (3, 2), elements=st.integers(0, 20))


def tree(edges=STAR) -> SpanningTree:
    return SpanningTree(MIXED, KERNEL, COUNTS, edges, seed=5)


def cells(n=600, seed=3) -> np.ndarray:
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, n)
    x = np.minimum(3, 2 * y + random.integers(0, 3, n))
    return np.column_stack([x, (y + random.integers(0, 2, n)), y, (y + (random.random(n) < 0.2)) % 2])


def frame(found) -> dict:
    inside = np.random.default_rng(9).uniform(0.01, 0.99, (len(found), 4))
    return {
        "x": (found[:, 0] + inside[:, 0]) * 2.0,
        "c": ["uvw"[code] for code in found[:, 1]],
        "y": found[:, 2] + inside[:, 2] - 1.0,
        "z": (found[:, 3] + inside[:, 3]) / 2.0,
    }


def filled(sketch, found) -> np.ndarray:
    return poured(sketch, MIXED.encode_queries(frame(found), sketch.metric))


def slow_tree(edges, found) -> dict[tuple[int, ...], float]:
    """The distribution of a tree: pairs on the edges, divided by every axis as often as it is in one too many."""
    n, joint = len(found), {}
    ones = [Counter(found[:, axis].tolist()) for axis in range(4)]
    twos = {edge: Counter(map(tuple, found[:, edge].tolist())) for edge in edges}
    degree = Counter(axis for edge in edges for axis in edge)
    for at in product(*map(range, COUNTS)):
        probability = 1.0
        for one, other in edges:
            probability *= twos[one, other][at[one], at[other]] / n
        for axis in range(4):
            if probability:
                probability /= (ones[axis][at[axis]] / n) ** (degree[axis] - 1)
        joint[at] = probability
    return joint


def as_measured(counts, cliques, noisy, total):
    """In the place of a fit, for marginals that agree with each other already."""
    return [np.maximum(table, 0.0) for table in noisy]


@pytest.mark.deep
def test_the_fitted_model_is_the_tree_distribution_and_nobody_elses_numbers_change():
    """Without noise, marginals of the model are the measured ones, to a few thousandths of the records."""
    found, sketch = cells(), tree()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = spanning_tree.fitted_marginals(
            COUNTS, sketch.marginals.cliques, sketch.marginals.marginals(filled(sketch, found)), 600.0
        )
    import jax

    assert jax.numpy.zeros(1).dtype == np.float32
    for table, measured in zip(fitted, sketch.marginals.marginals(filled(sketch, found)), strict=True):
        assert table == pytest.approx(measured, abs=2.0)
    points = sketch.synthetic(filled(sketch, found))
    drawn = Counter(map(tuple, sketch.cells.index(points).tolist()))
    for at, probability in slow_tree(STAR, found).items():
        assert drawn[at] / POINTS == pytest.approx(probability, abs=0.006)


@pytest.mark.parametrize("edges", [STAR, ((0, 1), (1, 2), (2, 3)), ((0, 3), (1, 3), (2, 3))], ids=str)
def test_synthetic_records_have_the_distribution_of_the_tree(edges, monkeypatch):
    monkeypatch.setattr(spanning_tree, "fitted_marginals", as_measured)
    sketch, found = tree(edges), cells()
    drawn = Counter(map(tuple, sketch.cells.index(sketch.synthetic(filled(sketch, found))).tolist()))
    joint = slow_tree(edges, found)
    assert sum(joint.values()) == pytest.approx(1)
    assert max(abs(drawn[at] / POINTS - probability) for at, probability in joint.items()) < 3e-3


@given(arrays(np.float64, 6, elements=st.floats(-50, 50)), st.floats(1, 100))
def test_projections_on_a_total_are_the_nearest(values, total):
    nearest = nearest_with_total(values, total)
    assert (nearest >= 0).all() and nearest.sum() == pytest.approx(total)
    # The condition of Karush, Kuhn and Tucker: lowered by the same wherever it is not zero, by no less elsewhere.
    lowered = values - nearest
    assert lowered[nearest > 0] == pytest.approx(lowered[nearest > 0][0], abs=1e-9)
    assert (values[nearest == 0] <= lowered[nearest > 0][0] + 1e-9).all()


@given(counts, arrays(np.int64, (3, 2), elements=st.integers(-(10**4), 10**4)), st.integers(0, 5), st.integers(0, 5))
def test_no_neighbour_moves_a_score_by_more_than_is_stated_and_some_by_all_of_it(table, expected, one, other):
    first, second = table.copy(), table.copy()
    first.flat[one] += 1
    second.flat[other] += 1
    assert abs(pair_score(first, expected) - pair_score(table, expected)) <= MST(CUBE, KERNEL).score_sensitivity(
        Neighbours.ADD_REMOVE
    )
    worst = MST(CUBE, KERNEL).score_sensitivity(Neighbours.REPLACE_ONE)
    assert abs(pair_score(first, expected) - pair_score(second, expected)) <= worst
    assert pair_score(first, SCALE * table) == SCALE
    if one != other:
        middle = SCALE * table
        middle.flat[one] -= SCALE
        middle.flat[other] += SCALE
        assert pair_score(first, middle) - pair_score(second, middle) == worst


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_thirds_are_shared_as_in_the_paper_and_all_tables_have_equal_noise(budget):
    mechanism = MST(MIXED, KERNEL, cells=4, seed=1)
    planned = mechanism.plan(budget)
    left = 1 if planned.count_noise is None else 1 - MST.count_share
    assert len(planned.choices) == 3 and planned.noises[0] == planned.noises[1]
    assert planned.cost.epsilon == budget.epsilon
    if budget.pure:
        assert sum(planned.choices) == TREE_SHARE * left and planned.cost.pure_epsilon == 1
        moved = 7 if budget.neighbours is Neighbours.ADD_REMOVE else 14
        assert planned.noises[0].parameter == Fraction(moved) / (left * (1 - TREE_SHARE))
    else:
        rho = sum(price**2 for price in planned.choices) / 8
        assert float(rho / planned.cost.rho) == pytest.approx(float(TREE_SHARE * left), rel=1e-3)


def test_the_dependent_pairs_are_joined():
    """x, y and w are copies of each other; z is independent."""
    domain = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), w=(0, 1))
    random = np.random.default_rng(1)
    x, z = random.uniform(0, 1, (2, 3000))
    data = np.column_stack([x, x, z, x])
    made = release(MST(domain, KERNEL, cells=4), data, Budget(20), noise_source=SeededSource(1))
    tied = {edge for edge in made.sketch.edges if 2 not in edge}
    assert len(tied) == 2
    assert made.records == pytest.approx(3000, abs=30)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_a_release_is_made_saved_and_read(budget, monkeypatch):
    monkeypatch.setattr(spanning_tree, "fitted_marginals", as_measured)
    made = release(MST(MIXED, KERNEL, cells=4), frame(cells()), budget)
    again = load(made.to_bytes())
    assert again.sketch == made.sketch and made.privacy.budget == budget
    queries = frame(cells(20, seed=8))
    assert (again.estimate(queries) == made.estimate(queries)).all()
    assert np.isinf(again.answer(queries).standard_error).all()


@pytest.mark.parametrize("columns", [1, 2])
def test_one_or_two_columns_leave_nothing_to_choose(columns):
    domain = Domain(tuple(Numeric(f"x{place}", 0, 1) for place in range(columns)))
    mechanism = MST(domain, KERNEL, cells=4)
    assert not mechanism.plan(Budget(1)).choices
    made = release(mechanism, np.random.default_rng(0).uniform(0, 1, (200, columns)), Budget(1))
    assert len(made.sketch.edges) == columns - 1
    assert load(made.to_bytes()).sketch == made.sketch


def test_cells_are_as_many_as_stand_above_the_noise():
    sizes = [MST(CUBE, KERNEL).sized_for(Budget(1), records).cells for records in (100, 10**4, 10**7)]
    assert sizes == [4, 32, 128]
    with pytest.raises(RequestError, match="no number of cells"):
        _ = MST(CUBE, KERNEL).first


def test_without_the_package_it_is_refused_before_anything_is_spent(tmp_path, monkeypatch):
    made = release(MST(MIXED, KERNEL, cells=2), frame(cells()), Budget(1))
    monkeypatch.setattr("core.runtime.environment.find_spec", lambda name: None)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", 1)
    with pytest.raises(RequestError, match="its extra"):
        release(MST(MIXED, KERNEL, cells=2), frame(cells()), Budget(1), ledger=ledger, dataset="people")
    assert not ledger.status("people").releases
    again = load(made.to_bytes())  # anyone may look at it
    with pytest.raises(RequestError, match="its extra"):
        again.estimate(frame(cells(3)))


def test_a_person_with_several_records_is_paid_for():
    domain = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), unit=PrivacyUnit("who", 2))
    one, two = (MST(place, KERNEL, cells=3) for place in (CUBE, domain))
    assert two.plan(Budget(1)).noises[0].parameter == 2 * one.plan(Budget(1)).noises[0].parameter
    assert two.score_sensitivity(Neighbours.ADD_REMOVE) == 2 * one.score_sensitivity(Neighbours.ADD_REMOVE)


def outputs(mechanism, plan, data, source) -> np.ndarray:
    """A run as numbers of one length: the noisy tables, and a large number for each edge that was chosen."""
    table = mechanism.first.zeros()
    mechanism.first.add(table, np.asfortranarray(data))
    made = mechanism.run(lambda sketch: table, plan, source)
    edges = [100.0 * (edge in made.sketch.edges) for edge in combinations(range(3), 2)]
    return np.array([*edges, *made.table])


@pytest.mark.deep
def test_the_audit_passes_and_catches_choices_and_tables_that_cost_too_little():
    mechanism = MST(CUBE, KERNEL, cells=2, seed=1)
    crowd = np.full((60, 3), 0.2)
    alone = np.vstack([crowd, [[0.8, 0.8, 0.2]]])
    source = SeededSource(4)

    def attacked(plan, runs):
        return audit(lambda data: outputs(mechanism, plan, data, source), crowd, alone, 1, runs=runs)

    assert attacked(mechanism.plan(Budget(1)), draws(100, 600)).passed
    assert not attacked(mechanism.plan(Budget(draws(16, 5))), draws(120, 600)).passed


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_tables_of_a_tree_reach_their_sensitivity(relation):
    sketch = tree()
    one, other = (filled(sketch, np.array([at])).astype(int) for at in ((0, 0, 0, 0), (3, 2, 1, 1)))
    moved = one if relation is Neighbours.ADD_REMOVE else one - other
    assert np.abs(moved).sum() == sketch.sensitivity(relation).l1 == tables_moved(7, MIXED, relation).l1


GOOD = tree().parameters()


@pytest.mark.parametrize(
    "wrong",
    [
        {"edges": [[0, 2], [1, 2]]},
        {"edges": [[0, 2], [1, 2], [0, 1]]},
        {"edges": [[0, 2], [0, 2], [2, 3]]},
        {"edges": [[2, 0], [1, 2], [2, 3]]},
        {"edges": [[1, 2], [0, 2], [2, 3]]},
        {"edges": [[0, 2], [1, 2], [2, 4]]},
        {"edges": [[0, 2], [1, 2], [2, 3.0]]},
        {"edges": [[0, 2], [1, 2], [2]]},
        {"edges": 3},
        {"counts": [4, 3, 2]},
        {"counts": [1 << 24, 3, 1 << 24, 2]},
        {"counts": [1 << 20, 3, 2, 2]},
        {"seed": "0"},
        {"kernel": None},
        {"more": 1},
    ],
    ids=str,
)
def test_a_strangers_parameters_are_refused_in_one_sentence(wrong):
    with pytest.raises(RequestError) as refusal:
        SpanningTree.from_parameters(MIXED, {**GOOD, **wrong})
    assert str(refusal.value).count("\n") == 0


def test_parameters_rebuild_the_sketch():
    assert SpanningTree.from_parameters(MIXED, GOOD) == tree()


def test_a_file_whose_noise_is_too_small_is_refused():
    made = release(MST(MIXED, KERNEL, cells=4), frame(cells()), Budget(2))
    with pytest.raises(ReleaseFileError):
        load(replace(made, privacy=replace(made.privacy, epsilon=Budget(1).epsilon)).to_bytes())


@pytest.mark.parametrize(
    "arguments", [{"cells": 0}, {"cells": 2.0}, {"cells": 1024}, {"cells": 4096}, {"seed": -1}], ids=str
)
def test_what_makes_no_sense_is_refused(arguments):
    with pytest.raises(RequestError):
        MST(MIXED, KERNEL, **arguments)
