"""PrivBayes: networks and tables against plain counting, the price of everything, and an audit from end to end.

The score of PrivBayes against exact fractions, and its sensitivity by trying every neighbour of small tables.
"""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.errors import ReleaseFileError, RequestError
from core.geometry.kernels import Gaussian, Laplacian
from core.lab.published.grid_cells import tables_moved
from core.lab.published.privbayes import (
    NETWORK_SHARE,
    SCALE,
    BayesianNetwork,
    PrivBayes,
    dependence,
    dependence_sensitivity,
)
from core.lab.published.synthetic_records import POINTS, along_cells
from core.privacy.attacks import audit
from core.privacy.budget import Budget, Neighbours
from core.privacy.composition import Selections
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import load
from tests.depth import deep, draws
from tests.sketches.checking import poured

MIXED = Domain((Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1), Numeric("z", 0, 1)))
COUNTS = (4, 3, 2, 2)
KERNEL = Gaussian(1.5)
CHAIN = ((2, ()), (0, (2,)), (1, (0,)), (3, (1,)))
WIDER = ((3, ()), (1, (3,)), (0, (1, 3)), (2, (0, 1)))
INDEPENDENT = ((1, ()), (3, ()), (0, ()), (2, ()))
CUBE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))


def rows(n=500, seed=3) -> np.ndarray:
    """Cells of records whose axes depend on each other."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 4, n)
    c = np.minimum(x, random.integers(0, 3, n))
    y = (x + random.integers(0, 2, n) > 2).astype(int)
    return np.column_stack([x, c, y, (c + random.integers(0, 2, n)) % 2])


def frame(cells) -> dict:
    """The records of these cells, somewhere in them."""
    inside = np.random.default_rng(9).uniform(0.01, 0.99, (len(cells), 4))
    return {
        "x": (cells[:, 0] + inside[:, 0]) * 2.0,
        "c": ["uvw"[code] for code in cells[:, 1]],
        "y": cells[:, 2] + inside[:, 2] - 1.0,
        "z": (cells[:, 3] + inside[:, 3]) / 2.0,
    }


def network(nodes, domain=MIXED, counts=COUNTS) -> BayesianNetwork:
    return BayesianNetwork(domain, KERNEL, counts, nodes, seed=5)


def filled(sketch, cells) -> np.ndarray:
    return poured(sketch, MIXED.encode_queries(frame(cells), sketch.metric))


def slow_joint(nodes, cells) -> dict[tuple[int, ...], float]:
    """Probability of every combination of cells: each axis given its parents, by counting records one by one."""
    records, joint = [tuple(map(int, record)) for record in cells], {}
    for combination in product(*map(range, COUNTS)):
        probability = 1.0
        for child, parents in nodes:
            alike = [r for r in records if all(r[parent] == combination[parent] for parent in parents)]
            share = Counter(r[child] for r in alike)[combination[child]] / len(alike) if alike else 1 / COUNTS[child]
            probability *= share
        joint[combination] = probability
    return joint


@pytest.mark.few(1)
@pytest.mark.parametrize("nodes", [CHAIN, WIDER, INDEPENDENT], ids=["chain", "wider", "independent"])
def test_synthetic_records_have_the_distribution_of_the_network(nodes):
    """An even net of 2^14 numbers meets probabilities to a few thousandths; independent draws would to a hundredth."""
    sketch, cells = network(nodes), rows()
    points = sketch.synthetic(filled(sketch, cells))
    found = Counter(map(tuple, sketch.cells.index(points).tolist()))
    joint = slow_joint(nodes, cells)
    assert sum(joint.values()) == pytest.approx(1)
    assert max(abs(found[at] / POINTS - probability) for at, probability in joint.items()) < 3e-3
    assert set(found) <= {at for at, probability in joint.items() if probability > 0}


@pytest.mark.parametrize("nodes", [deep(CHAIN), WIDER], ids=["chain", "wider"])
def test_answers_are_sums_over_the_distribution_of_the_network(nodes):
    """Against the sum over all cells and a fine lattice of places in each."""
    sketch, cells = network(nodes), rows()
    queries = MIXED.encode_queries({"x": [1.0, 7.0], "c": ["u", "w"], "y": [-0.5, 0.5], "z": [0.2, 0.9]})
    lattice = (np.arange(6) + 0.5) / 6
    exact = np.zeros(2)
    for at, probability in slow_joint(nodes, cells).items():
        inside = np.array([(fx, 0.5, fy, fz) for fx, fy, fz in product(lattice, lattice, lattice)])
        places = sketch.cells.places((np.array(at) + inside) / (4, 3, 2, 2))
        exact += probability * sketch.point_kernel.evaluate(queries, places).mean(axis=1)
    answers = sketch.answer(filled(sketch, cells), 500, queries, 0.0, 0.95)
    assert answers.estimate == pytest.approx(500 * exact, rel=5e-3)
    assert answers.density == pytest.approx(exact, rel=5e-3)
    assert np.isinf(answers.standard_error).all() and (answers.low == -np.inf).all()


def test_draws_along_cells_follow_any_density():
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    uniforms = (np.arange(1000) + 0.5) / 1000
    first = along_cells(weights, np.zeros(1000, np.int64), uniforms)
    assert np.histogram(first, [0, 1, 2, 3])[0].tolist() == [250, 0, 750]
    assert np.histogram(first, [2, 2.5, 3])[0].tolist() == [375, 375]
    assert along_cells(weights, np.ones(1000, np.int64), uniforms) == pytest.approx(3 * uniforms)


def test_the_same_table_gives_the_same_points_and_another_seed_others():
    sketch = network(CHAIN)
    table = filled(sketch, rows())
    assert (sketch.synthetic(table) == network(CHAIN).synthetic(table)).all()
    other = BayesianNetwork(MIXED, KERNEL, COUNTS, CHAIN, seed=6)
    assert (other.synthetic(table) != sketch.synthetic(table)).any()
    assert (sketch.synthetic(table + 1) != network(CHAIN).synthetic(table)).any()


def test_noisy_tables_below_zero_are_no_probabilities():
    sketch = network(WIDER)
    points = sketch.synthetic(np.full(sketch.shape, -3))
    low, high = MIXED.bounds()
    assert ((points >= low) & (points <= high)).all()
    assert points.mean(axis=0)[[0, 4, 5]] == pytest.approx([4.0, 0.0, 0.5], abs=0.01)


def test_with_a_large_budget_the_network_is_the_one_of_the_dependence():
    """y copies x, and z is independent of both."""
    random = np.random.default_rng(1)
    x = random.uniform(0, 1, 3000)
    data = np.column_stack([x, x, random.uniform(0, 1, 3000)])
    made = release(PrivBayes(CUBE, KERNEL, cells=4, degree=1, seed=2), data, Budget(20), noise_source=SeededSource(1))
    tied = {frozenset((child, *parents)) for child, parents in made.sketch.network if parents}
    assert frozenset((0, 1)) in tied
    assert made.records == pytest.approx(3000, abs=30)


@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_shares_are_those_of_the_paper_and_nothing_is_paid_where_nothing_is_chosen(relation, degree):
    mechanism = PrivBayes(MIXED, KERNEL, cells=2, degree=degree, seed=1)
    planned = mechanism.plan(Budget(1, 0, relation))
    chosen = 3 if degree in (1, 2) else 0
    assert len(planned.choices) == chosen
    left = 1 if planned.count_noise is None else 1 - PrivBayes.count_share
    assert sum(planned.choices) == (NETWORK_SHARE * left if chosen else 0)
    tables = 4 - degree
    share = left * ((1 - NETWORK_SHARE) if chosen else 1)
    assert planned.noises[0].parameter == tables * (1 if relation is Neighbours.ADD_REMOVE else 2) / share
    assert planned.cost.pure_epsilon == 1
    assert isinstance(planned.cost.events[0], Selections) == (chosen > 0)
    worst = mechanism._network(mechanism._in_order()).sensitivity(relation)
    assert worst.l1 <= tables_moved(len(mechanism.counts) - mechanism.degree, mechanism.domain, relation).l1


@pytest.mark.few(3)
@pytest.mark.parametrize("budget", [Budget(1), Budget(1, "1e-6"), Budget(1, 0, Neighbours.REPLACE_ONE)], ids=str)
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_a_release_is_made_saved_and_read(budget, degree):
    made = release(PrivBayes(MIXED, KERNEL, cells=4, degree=degree), frame(rows()), budget)
    again = load(made.to_bytes())
    assert again.sketch == made.sketch
    queries = frame(rows(20, seed=8))
    assert (again.estimate(queries) == made.estimate(queries)).all()
    assert made.privacy.budget == budget


def test_the_degree_is_the_largest_whose_counts_stand_above_the_noise():
    few, many = (PrivBayes(CUBE, KERNEL).sized_for(Budget(1), records) for records in (300, 10**6))
    assert (few.degree, many.degree) == (0, 2)
    assert PrivBayes(CUBE, KERNEL).sized_for(Budget("0.05"), 10**5).degree == 1
    assert PrivBayes(CUBE, KERNEL, degree=1).sized_for(Budget(1), 10**6).degree == 1
    assert not PrivBayes(CUBE, KERNEL).sized


def test_fifty_four_columns_are_within_reach():
    wide = Domain((Vector("v", 54, 0, 1),))
    mechanism = PrivBayes(wide, KERNEL).sized_for(Budget(1), 581_012)
    assert mechanism.degree == 1
    data = np.random.default_rng(0).uniform(0, 1, (300, 54))
    made = release(PrivBayes(wide, KERNEL, cells=2, degree=1), data, Budget(1))
    assert len(made.sketch.network) == 54
    with pytest.raises(RequestError, match="too large"):
        PrivBayes(wide, KERNEL, degree=3)


def test_a_person_with_several_records_is_paid_for():
    domain = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), unit=PrivacyUnit("who", 2))
    one, two = (PrivBayes(place, KERNEL, cells=3, degree=1).plan(Budget(1)).noises[0] for place in (CUBE, domain))
    assert two.parameter == 2 * one.parameter


def outputs(mechanism, plan, data, source) -> np.ndarray:
    """A run as numbers of one length: which network was chosen, and its noisy tables beside zeros for all others."""
    table = mechanism.first.zeros()
    mechanism.first.add(table, np.asfortranarray(data))
    made = mechanism.run(lambda sketch: table, plan, source)
    out = np.zeros(6 + mechanism.first.shape[0])
    for child, parents in made.sketch.network:
        for parent in parents:
            out[[(0, 1), (0, 2), (1, 2)].index(tuple(sorted((child, parent))))] = 100.0
    out[3 + made.sketch.network[1][0]] = 100.0
    for clique, part in zip(made.sketch.marginals.cliques, made.sketch.marginals.marginals(made.table), strict=True):
        place = mechanism.first.cliques.index(clique) * 4
        out[6 + place : 10 + place] = part.reshape(-1)
    return out


@pytest.mark.deep
def test_the_audit_passes_and_catches_choices_and_tables_that_cost_too_little():
    """Two neighbours on a grid of 2 x 2 x 2, whose scores differ by nearly all of the sensitivity."""
    mechanism = PrivBayes(CUBE, KERNEL, cells=2, degree=1, seed=1)
    crowd = np.full((60, 3), 0.2)
    alone = np.vstack([crowd, [[0.8, 0.8, 0.2]]])
    source, promise = SeededSource(4), mechanism.plan(Budget(1))

    def attacked(plan, runs):
        return audit(lambda data: outputs(mechanism, plan, data, source), crowd, alone, 1, runs=runs)

    assert attacked(promise, draws(100, 600)).passed
    assert not attacked(mechanism.plan(Budget(draws(16, 5))), draws(120, 600)).passed


@pytest.mark.deep
def test_choices_alone_lose_no_more_than_their_price():
    """Frequencies of the chosen networks at two neighbours, with tables left out of sight."""
    mechanism = PrivBayes(CUBE, KERNEL, cells=2, degree=1, seed=1)
    plan, source = mechanism.plan(Budget(8)), SeededSource(2)
    pair = [np.full((40, 3), 0.2), np.vstack([np.full((40, 3), 0.2), [[0.8, 0.8, 0.2]]])]
    chosen = []
    for data in pair:
        exact = mechanism.first.zeros()
        mechanism.first.add(exact, np.asfortranarray(data))
        parts = dict(zip(mechanism.first.cliques, mechanism.first.marginals(exact), strict=True))
        chosen.append(Counter(mechanism._chosen(parts, plan, source) for _ in range(draws(300, 1500))))
    price = float(sum(plan.choices))
    shared = [at for at in chosen[0] if min(chosen[0][at], chosen[1][at]) > draws(30, 50)]
    assert shared
    losses = [abs(math.log(chosen[0][at] / chosen[1][at])) for at in shared]
    assert 0.1 < max(losses) < price + 0.5
    assert price == pytest.approx(8 * float(NETWORK_SHARE))


@pytest.mark.parametrize("relation", list(Neighbours))
def test_the_tables_of_a_network_reach_their_sensitivity(relation):
    sketch = network(WIDER)
    one, other = (filled(sketch, np.array([cells])).astype(int) for cells in ((0, 0, 0, 0), (3, 2, 1, 1)))
    moved = one if relation is Neighbours.ADD_REMOVE else one - other
    assert (
        np.abs(moved).sum()
        == sketch.sensitivity(relation).l1
        == tables_moved(len(sketch.counts) - sketch.degree, MIXED, relation).l1
    )


GOOD = network(CHAIN).parameters()


@pytest.mark.parametrize(
    "wrong",
    [
        {"network": [[0, []], [1, [0]], [2, [1]]]},
        {"network": [[0, []], [1, [0]], [2, [1]], [2, [1]]]},
        {"network": [[0, []], [1, []], [2, [1]], [3, [1]]]},
        {"network": [[0, []], [1, [0]], [2, [3]], [3, [1]]]},
        {"network": [[0, []], [1, [0]], [2, [1, 0]], [3, [0, 1]]]},
        {"network": [[0, []], [1, [0]], [2, [0, 0]], [3, [0, 1]]]},
        {"network": [[0, []], [1, [0]], [2, [1.0]], [3, [1]]]},
        {"network": [[0, []], [1, [0]], [2, [True]], [3, [1]]]},
        {"network": [[0, []], [1, [0]], [2, [-1]], [3, [1]]]},
        {"network": [0, 1, 2, 3]},
        {"network": "tree"},
        {"network": []},
        {"counts": [4, 3, 2]},
        {"counts": [4, 5, 2, 2]},
        {"counts": [1 << 24, 3, 1 << 24, 2]},
        {"counts": [0, 3, 2, 2]},
        {"seed": "5"},
        {"seed": 5},
        {"kernel": {}},
        {"more": 1},
    ],
    ids=str,
)
def test_a_strangers_parameters_are_refused_in_one_sentence(wrong):
    with pytest.raises(RequestError) as refusal:
        BayesianNetwork.from_parameters(MIXED, {**GOOD, **wrong})
    assert str(refusal.value).count("\n") == 0


def test_parameters_rebuild_the_sketch():
    assert BayesianNetwork.from_parameters(MIXED, GOOD) == network(CHAIN)


def test_a_file_whose_noise_is_too_small_for_its_network_is_refused():
    """The noise of one table of all axes, on the three of another network."""
    whole = release(PrivBayes(MIXED, KERNEL, cells=4, degree=3), frame(rows()), Budget(1))
    sketch = network(CHAIN)
    with pytest.raises(ReleaseFileError):
        load(replace(whole, sketch=sketch, counters=sketch.zeros(), counted=None).to_bytes())


@pytest.mark.parametrize(
    "arguments",
    [{"cells": 0}, {"cells": 5000}, {"cells": 2.0}, {"degree": -1}, {"degree": 4}, {"degree": True}, {"seed": -1}],
    ids=str,
)
def test_what_makes_no_sense_is_refused(arguments):
    with pytest.raises(RequestError):
        PrivBayes(MIXED, KERNEL, **arguments)


def test_the_exact_sums_are_those_of_the_kernel():
    mechanism = PrivBayes(CUBE, Laplacian(1.0), degree=1)
    points = np.random.default_rng(0).uniform(0, 1, (50, 3))
    assert mechanism.exact(points[:3], points) == pytest.approx(
        [np.exp(-np.abs(point - points).sum(axis=1)).sum() for point in points[:3]]
    )


tables = arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(0, 9))


def slow(table) -> int:
    """2 n R, from the two distributions, cell by cell."""
    table = [[int(count) for count in row] for row in table]
    n = sum(map(sum, table))
    if n == 0:
        return 0
    rows = [Fraction(sum(row), n) for row in table]
    columns = [Fraction(sum(column), n) for column in zip(*table, strict=True)]
    gaps = (abs(Fraction(table[i][j], n) - rows[i] * columns[j]) for i in range(len(rows)) for j in range(len(columns)))
    score = 2 * n * (sum(gaps) / 2)
    return (SCALE * score.numerator) // score.denominator


def more(table, i, j) -> np.ndarray:
    longer = table.copy()
    longer[i, j] += 1
    return longer


@given(tables)
def test_the_score_is_that_of_the_paper_times_twice_the_records(table):
    assert dependence(table) == slow(table)


def test_more_records_than_64_bit_products_hold():
    table = np.array([[3 << 40, 1 << 20], [5, 7 << 41]])
    assert dependence(table) == slow(table)


def test_independent_attributes_score_nothing_and_equal_ones_most():
    assert dependence(np.outer([1, 2, 3], [4, 5])) == 0
    assert dependence(np.diag([50, 50])) == SCALE * 100


def every_table(cells, records):
    if cells == 1:
        yield (records,)
        return
    for first in range(records + 1):
        for rest in every_table(cells - 1, records - first):
            yield (first, *rest)


@pytest.mark.parametrize(("shape", "most"), [((2, 2), 7), ((2, 3), 4), ((3, 3), 3)])
def test_every_neighbour_of_every_small_table(shape, most):
    """One record more moves the score by 4 n / (n + 1) at most, and some record does."""
    places = list(product(*map(range, shape)))
    for records in range(most + 1):
        added = replaced = 0
        for counts in every_table(len(places), records):
            table = np.array(counts).reshape(shape)
            before, after = dependence(table), [dependence(more(table, *place)) for place in places]
            added = max(added, *(abs(score - before) for score in after))
            replaced = max(replaced, max(after) - min(after))
        assert abs(added - SCALE * 4 * records / (records + 1)) < 1
        assert added <= dependence_sensitivity(Neighbours.ADD_REMOVE)
        assert replaced <= SCALE * (6 - Fraction(2, records + 1)) < dependence_sensitivity(Neighbours.REPLACE_ONE)


def test_large_tables_reach_both_bounds_almost():
    alone = np.array([[10**6, 0], [0, 0]])
    assert dependence(more(alone, 1, 1)) - dependence(alone) == dependence_sensitivity(Neighbours.ADD_REMOVE) - 1
    few, many = 10**3, 10**6
    crowd = np.array([[few, 0, 0], [many, 0, few], [0, 0, 0]])
    moved = abs(dependence(more(crowd, 2, 1)) - dependence(more(crowd, 0, 2)))
    assert 0.99 * dependence_sensitivity(Neighbours.REPLACE_ONE) < moved


@given(tables, st.data())
def test_no_neighbours_of_larger_tables_are_further_apart(table, data):
    place = st.tuples(*(st.integers(0, side - 1) for side in table.shape))
    one, other = (dependence(more(table, *data.draw(place))) for _ in range(2))
    assert abs(one - dependence(table)) <= dependence_sensitivity(Neighbours.ADD_REMOVE)
    assert abs(one - other) <= dependence_sensitivity(Neighbours.REPLACE_ONE)
