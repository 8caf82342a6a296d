"""Tables with optimal noise: what is counted, the weights, and the way from a release to its counts."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

from core import Budget, Domain, load, release
from core.domain import Categorical, Numeric, Vector
from core.errors import RequestError
from core.privacy.budget import Neighbours
from core.sketches.tables.reading import Noise
from core.sketches.tables.table_layout import Layout, closure, largest
from core.sketches.tables.table_weights import for_squares, parts_of
from core.sketches.tables.tables import Tables

DOMAIN = Domain((Numeric("x", 0, 8), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 1)))
GAUSSIAN = Budget(1, "1e-9")


def people(n: int, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    x = random.uniform(0, 8, n)
    return pd.DataFrame({"x": x, "c": random.choice(list("uvw"), n), "y": np.sin(x) * random.uniform(0, 1, n)})


@pytest.mark.few(6)
@pytest.mark.parametrize("budget", (GAUSSIAN, Budget(1), Budget(1, "1e-9", "replace_one")))
@pytest.mark.parametrize("halvings", (0, 2))
@pytest.mark.parametrize("tables", ("singles", "pairs", [("x", "c", "y")]))
def test_without_noise_every_count_is_exact(budget, halvings, tables):
    sketch = Tables.of(DOMAIN, 4, tables, halvings).sized_for(budget, 1.0)
    data = people(500)
    table = sketch.zeros()
    sketch.add(table, DOMAIN.encode_queries(data))
    reading = sketch.reading(table, 0.0, None, np.inf)
    cut = [
        np.minimum((data.x / 8 * 4).astype(int), 3),
        pd.Categorical(data.c).codes,
        np.minimum(((data.y + 1) / 2 * 4).astype(int), 3),
    ]
    for which in closure(sketch.tables):
        exact = np.zeros([sketch.axes[i].cells for i in which])
        np.add.at(exact, tuple(np.asarray(cut[i]) for i in which) if which else (), 1 if which else len(data))
        assert np.allclose(reading.counts(which), exact)
    fine, _ = np.histogram(data.x, bins=4 << halvings, range=(0, 8))
    assert np.allclose(reading.fine_counts(0), fine)


def test_weights_are_of_the_least_sum_of_variances():
    """The closed form against a numerical optimum, for unequal numbers of cells."""
    layout = Layout(Tables.of(DOMAIN, (3, 7)).axes, ((0, 1), (0, 2), (1, 2)), "contrasts")
    parts = list(parts_of(layout).values())
    v, p = (np.array([getattr(part, name) for part in parts]) for name in ("variance", "square"))

    def error(logs):
        squares = np.exp(logs)
        return np.log((v / squares).sum() * (p * squares).sum())

    best = minimize(error, np.zeros(len(parts)), tol=1e-12)
    closed = 4 * np.log([for_squares(part) for part in parts]) / 2
    assert error(closed) == pytest.approx(best.fun, abs=1e-9)
    sketch = Tables.of(DOMAIN, (3, 7)).measuring_contrasts()
    reached = sketch.mean_variance(1.0) * sketch.record_sensitivity(Neighbours.ADD_REMOVE).l2_squared
    assert np.exp(best.fun) <= reached * 1.0001 < np.exp(best.fun) * 1.001


@pytest.mark.parametrize("measured", ("contrasts", "cells", "margins"))
def test_variances_are_those_of_the_estimates(measured):
    """Every estimate is linear in the counters, so its variance follows from what each counter counts in it."""
    plain = Tables.of(DOMAIN, (3, 2), "pairs", (1, 0))
    sketch = plain.measuring_contrasts() if measured == "contrasts" else plain.counting(measured)
    noise = Noise(sketch.layout, sketch.weights, 1.0)
    rows = [sketch.reading(unit, 1.0, None, np.inf) for unit in np.eye(sketch.layout.size)]
    for which in closure(sketch.tables):
        linear = np.array([reading.counts(which).reshape(-1) for reading in rows])
        means, spreads = [], []
        for side, i in enumerate(which):
            shape = [sketch.axes[i].cells if k == side else 1 for k in range(len(which))]
            means.append(np.full(shape, 1.0 / sketch.axes[i].cells))
            spreads.append(noise.axis_spread(i).reshape(shape))
        assert np.allclose((linear**2).sum(axis=0), noise.products(which, means, spreads).reshape(-1))
    fine = np.array([reading.fine_counts(0) for reading in rows])
    weights = np.random.default_rng(0).normal(size=6)
    assert np.isclose(((fine @ weights) ** 2).sum(), noise.fine_variance(0, weights))


def test_a_release_goes_through_a_file_and_merges(tmp_path):
    sketch = Tables.of(DOMAIN, 4, halvings=1)
    one, other = (release(sketch, people(300, seed), GAUSSIAN) for seed in (1, 2))
    one.save(tmp_path / "one.npz")
    assert load(tmp_path / "one.npz") == one
    both = one.merged(other)
    assert both.sketch.total(both.counters) == pytest.approx(one.records + other.records, abs=1e-6)


def test_a_number_of_records_need_not_be_known_or_bought():
    made = release(Tables.of(DOMAIN, 4), people(300), Budget(1))
    assert made.privacy.epsilon == 1 and made.counted is None


@pytest.mark.thorough
@pytest.mark.parametrize("budget", (GAUSSIAN, Budget(1)))
def test_bins_follow_from_public_sizes(budget):
    """More people, more bins and halvings; too few for any pair, no pairs. What is said is taken."""
    columns = tuple(Numeric(f"x{i}", 0, 1) for i in range(6))
    few, some, many = (Tables(Domain(columns)).sized_for(budget, n) for n in (30.0, 10_000.0, 1e6))
    assert few.bins[0] == 4 and few.tables == tuple((i,) for i in range(6))
    assert 4 < some.bins[0] < many.bins[0] and len(some.tables) == 15
    assert 0 < some.halvings[0] <= many.halvings[0]
    said = Tables.of(Domain(columns), 7).sized_for(budget, 30.0)
    assert (said.bins, said.halvings, len(said.tables)) == ((7,) * 6, (0,) * 6, 15)
    named = Tables.of(Domain(columns), tables=[("x0", "x1")]).sized_for(budget, 30.0)
    assert named.tables == ((0, 1),) and named.is_cut


def test_vectors_have_an_axis_a_coordinate():
    sketch = Tables.of(Domain((Vector("v", 3, 0, 1), Categorical("c", ("a", "b")))), 2)
    assert [axis.name for axis in sketch.axes] == ["v[0]", "v[1]", "v[2]", "c"] and len(sketch.tables) == 6


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Tables.of(DOMAIN, (3,)), "2 numbers of bins"),
        (lambda: Tables.of(DOMAIN, 1), "The number of bins"),
        (lambda: Tables.of(DOMAIN, 4, [("x", "z")]), "There is no column 'z'; there are x, c, y."),
        (lambda: Tables.of(DOMAIN, 4, "triples"), "'singles', 'pairs'"),
        (
            lambda: Tables.of(Domain.of(a=(0, 1), b=(0, 1), c=(0, 1)), 500, [("a", "b", "c")]),
            "cut numbers into fewer bins",
        ),
        (lambda: Tables.of(DOMAIN, 4096, halvings=5), "65,536 cells at most"),
        (lambda: Tables(DOMAIN, tables=((0, 1), (0,))), "a part of another"),
        (lambda: Tables(DOMAIN, tables=((1, 0),)), "increasing order"),
        (lambda: Tables(DOMAIN, measured="cells"), "what is measured, and their bins"),
        (lambda: Tables(DOMAIN, measured="cells", weights=(1, 2)), "what is measured, and their bins"),
        (lambda: Tables(DOMAIN, (2, 2), (0, 0), ((0, 1),), "cells", (1, 2)), "need 1 weights"),
    ],
)
def test_what_does_not_fit_is_refused(make, sentence):
    with pytest.raises(RequestError, match=sentence):
        make()


def test_tables_that_are_part_of_others_are_not_counted_again():
    assert largest([(0,), (0, 1), (2,), (0, 1), (1,)]) == ((2,), (0, 1))
