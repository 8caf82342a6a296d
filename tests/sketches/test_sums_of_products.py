"""Sums of products against plain whole numbers, their sensitivity on all corners, and their answers."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Numeric, Ordered, PrivacyUnit, Vector
from core.domain.column import NEAREST_BOUNDS
from core.errors import RequestError
from core.privacy.budget import Budget, Neighbours
from core.sketches import sums_of_products
from core.sketches.mechanism_audit import audit_sketch
from core.sketches.sums_of_products import MAX_COORDINATES, UNIT, Layout, Products
from tests.depth import deep, draws
from tests.sketches.checking import poured

MIXED = Domain(
    (Numeric("x", 10, 30), Categorical("c", ("u", "v", "w")), Numeric("y", -1, 0), Categorical("k", ("a", "b")))
)
numbers = st.floats(-1.2, 1.2)


def slow_table(sketch: Products, points: np.ndarray) -> list[int]:
    """The table in whole numbers of any size, one product at a time."""
    middle, half = (part.tolist() for part in sketch.scaling)
    total = [0] * sketch.layout.size
    for point in points.tolist():
        units = [UNIT]
        for value, centre, reach in zip(point, middle, half, strict=True):
            units.append(max(-UNIT, min(UNIT, round((value - centre) * (UNIT / reach)))))
        for place, (i, j) in enumerate(zip(*(side.tolist() for side in sketch.layout.pairs), strict=True)):
            total[place] += units[i] * units[j]
    return total


def random_points(domain: Domain, size: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    columns = {}
    for column in domain.columns:
        if isinstance(column, Categorical):
            columns[column.name] = random.choice(column.categories, size)
        else:
            columns[column.name] = random.uniform(column.low, column.high, size)
    return domain.encode_queries(columns)


def test_the_layout_leaves_out_what_is_known():
    layout = Layout.of(MIXED)
    assert layout.groups == (0, 1, 2, 2, 2, 3, 4, 4)
    assert layout.squared == (True, True, False, False, False, True, False, False)
    assert (layout.numbers, layout.labels) == (2, 2)
    pairs = set(zip(*(side.tolist() for side in layout.pairs), strict=True))
    assert len(pairs) == layout.size == 8 * 9 // 2 - 6 - 3
    assert (2, 3) not in pairs and (2, 2) not in pairs and (6, 6) not in pairs and (5, 5) in pairs and (0, 0) in pairs


@given(st.integers(0, 40), st.integers(0, 10**6))
def test_tables_equal_the_slow_reference(size, seed):
    sketch, points = Products(MIXED), random_points(MIXED, size, seed)
    assert poured(sketch, points).tolist() == slow_table(sketch, points)


def test_sums_are_exact_over_many_blocks(monkeypatch):
    """Also where sums are taken over from floating point to whole numbers, which is brought forward here."""
    monkeypatch.setattr(sums_of_products, "EXACT_ROWS", 1 << 13)
    domain = Domain((Vector("v", 3, -1, 1),))
    points = np.asfortranarray(np.random.default_rng(0).choice([-1.0, 1.0, 0.99999], (30_011, 3)))
    units = np.column_stack((np.full(len(points), UNIT), np.clip(np.rint(points * UNIT), -UNIT, UNIT))).astype(np.int64)
    first, second = Layout.of(domain).pairs
    assert np.array_equal(poured(Products(domain), points), (units.T @ units)[first, second])


def test_products_in_floating_point_have_room():
    """Products of two units, over as many rows as are summed before they are taken over and one block more."""
    assert UNIT**2 * (sums_of_products.EXACT_ROWS + sums_of_products.MOST_ROWS) < 2**53


def test_the_matrix_is_that_of_the_records():
    sketch, points = Products(MIXED), random_points(MIXED, 50, 3)
    vectors = sketch.vectors(points)
    assert sketch.matrix(poured(sketch, points)) == pytest.approx(vectors.T @ vectors, abs=50 * 3 / UNIT)


LAYOUTS = (
    Domain.of(x=(0, 1)),
    Domain.of(x=(0, 1), y=(0, 1)),
    Domain((Vector("v", 3, -2, 2),)),
    Domain((Vector("v", 4, -2, 2),)),
    Domain.of(c=["a", "b"]),
    Domain.of(c=["a", "b"], k=["a", "b", "c"]),
    Domain.of(x=(0, 1), c=["a", "b"]),
    Domain.of(x=(0, 1), c=["a", "b"], k=["a", "b"]),
    Domain.of(x=(0, 1), y=(0, 1), c=["a", "b"]),
    Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), c=["a", "b"], k=["a", "b"]),
    Domain.of(x=(0, 1), c=["a", "b"], k=["a", "b"], m=["a", "b"]),
)


def corners(domain: Domain, steps: int) -> np.ndarray:
    """Encoded records whose numbers are at ends and at some places between, with every choice of categories."""
    choices = []
    for column in domain.columns:
        if isinstance(column, Categorical):
            choices.append([tuple(np.eye(column.width)[place]) for place in range(column.width)])
        else:
            low, high = column.low, column.high
            choices += [[(value,) for value in np.linspace(low, high, steps)]] * column.width
    points = np.array([sum(one, ()) for one in itertools.product(*choices)])
    amplitude = domain.bounds()[1]
    categories = ~np.array(Layout.of(domain).squared[1:])
    return np.asfortranarray(np.where(categories, points * amplitude, points))


@pytest.mark.few(4)
@pytest.mark.parametrize("domain", LAYOUTS, ids=lambda domain: "-".join(domain.names))
def test_no_two_records_are_further_apart_than_declared(domain):
    """All pairs of records with numbers at ends, in the middle and between: adding reaches its bounds."""
    sketch = Products(domain)
    points = corners(domain, 5 if domain.dimensions <= 4 else 3 if domain.dimensions < 7 else 2)
    tables = np.array([poured(sketch, points[place : place + 1]) for place in range(len(points))]) / UNIT**2
    alone = sketch.sensitivity(Neighbours.ADD_REMOVE)
    assert np.abs(tables).sum(axis=1).max() * UNIT**2 == alone.l1
    assert (tables**2).sum(axis=1).max() * UNIT**4 == alone.l2_squared
    apart = tables[:, None, :] - tables[None, :, :]
    replaced = sketch.sensitivity(Neighbours.REPLACE_ONE)
    l1, l2 = np.abs(apart).sum(axis=2).max() * UNIT**2, (apart**2).sum(axis=2).max() * UNIT**4
    assert l1 <= replaced.l1 and l2 <= replaced.l2_squared <= replaced.blocks_l2**2
    q = sketch.layout.numbers * UNIT**2
    assert replaced.l1 <= max(l1 + q, alone.l1) and replaced.l2_squared <= max(l2 + q * UNIT**2, alone.l2_squared)


@given(st.lists(numbers, min_size=4, max_size=4), st.lists(numbers, min_size=4, max_size=4))
def test_replacing_by_any_record_moves_no_more(one, other):
    domain = Domain((Vector("v", 4, -1, 1),))
    sketch = Products(domain)
    tables = [poured(sketch, np.clip(np.array([values]), -1, 1)).tolist() for values in (one, other)]
    moved = [a - b for a, b in zip(*tables, strict=True)]
    declared = sketch.sensitivity(Neighbours.REPLACE_ONE)
    assert sum(map(abs, moved)) <= declared.l1 and sum(entry**2 for entry in moved) <= declared.l2_squared


def test_several_records_a_person_multiply_the_sensitivity():
    one, three = (Products(Domain.of(x=(0, 1), unit=PrivacyUnit("who", people))) for people in (1, 3))
    for relation in Neighbours:
        assert three.sensitivity(relation) == one.sensitivity(relation).scaled(3)


def test_noise_variances_are_those_of_the_entries_an_answer_reads():
    sketch = Products(MIXED)
    points = random_points(MIXED, 4, 5)
    unit = np.eye(sketch.layout.size)
    slopes = np.array([sketch.answer(row * UNIT**2, 1.0, points, 0.0, 0.95).estimate for row in unit])
    assert sketch.noise_variance(7.0, points) == pytest.approx(7.0 * (slopes**2).sum(axis=0) / UNIT**4)
    assert sketch.total_variance(7.0) == pytest.approx(7.0 / UNIT**4)
    assert sketch.noise_variance(1.0) > 0.0


def test_ordered_categories_are_numbers_and_too_many_coordinates_are_refused():
    domain = Domain((Ordered("o", ("never", "often", "always")), Numeric("x", 0, 1)))
    assert Layout.of(domain).numbers == 2
    with pytest.raises(RequestError, match="at most"):
        Products(Domain((Vector("v", MAX_COORDINATES, 0, 1),)))


@pytest.mark.parametrize(("neighbours", "delta"), [(Neighbours.ADD_REMOVE, 0), (Neighbours.REPLACE_ONE, "1e-4")])
def test_an_audit_finds_no_more_than_is_promised(neighbours, delta):
    sketch = Products(Domain.of(x=(0, 1), c=["a", "b"]))
    assert audit_sketch(sketch, Budget(4, delta, neighbours), runs=draws(500, 20_000), level=1 - 1e-8).passed


@deep
def test_ten_million_rows_take_the_memory_of_a_batch():
    import pyarrow as pa

    from core import release
    from core.sources import open_source

    domain = Domain.of(x=(0, 1), y=(0, 1))
    batch = pa.table({"x": np.linspace(0, 1, 1_000_000), "y": np.linspace(1, 0, 1_000_000)})
    made = release(Products(domain), open_source(pa.concat_tables([batch] * 10)), Budget(1))
    assert made.records == pytest.approx(10_000_000, rel=1e-3)


@pytest.mark.parametrize("low, high", [(0.0, 5e-324), (-5e-324, 5e-324), (1e-300, 2e-300), (0.0, NEAREST_BOUNDS)])
def test_a_record_between_bounds_whose_half_is_no_number_moves_the_table_by_any_amount(low, high):
    """Half of the least number there is is 0, and what is divided by it became the least whole number of all."""
    if high < NEAREST_BOUNDS:
        with pytest.raises(RequestError, match="apart or more"):
            Numeric("x", low, high)
        return
    sketch = Products(Domain((Numeric("x", low, high), Numeric("y", low, high))))
    for x, y in itertools.product((low, high / 3.0, high, 1e308), repeat=2):
        table = sketch.zeros()
        sketch.add(table, sketch.domain.encode_queries([[min(x, high), min(y, high)]], sketch.metric))
        moved = [int(one) for one in table.tolist()]
        most = sketch.sensitivity(Neighbours.ADD_REMOVE)
        assert sum(map(abs, moved)) <= most.l1 and sum(one**2 for one in moved) <= most.l2_squared
