"""Records add the same numbers as rows and as columns, whatever lies in a batch."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Vector
from core.errors import RequestError
from core.sketches.ball import PRODUCT_STRETCH, UNITS, _shorten, add_rows, add_vectors, row_products
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.linear import LONG, Rows
from core.sketches.moments import Moments
from tests.depth import draws

D = LONG + 9
COLUMN = Vector("v", D, -1.0, 1.0)
LABEL = Categorical("label", ("a", "b", "c"))


@pytest.mark.deep
@given(
    st.sampled_from([1, 31, 32, 33, 100]),
    st.integers(1, 150),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 2**32),
)
@settings(max_examples=draws(8, 40))
def test_rows_and_columns_add_the_same(d, n, slabs, radius, kind, seed):
    random = np.random.default_rng(seed)
    points = random.normal(size=(n, d)).astype(kind)
    points[random.random(n) < 0.1] = 0.0
    centre, slab = random.normal(size=d) * random.integers(0, 2), random.integers(0, slabs, n)
    sums = np.zeros((slabs, d), np.int64)
    squares, order = add_rows(Rows(points, slab), centre, radius, sums)
    for k in range(slabs):
        expected = np.zeros(d, np.int64)
        of_slab = add_vectors(np.asfortranarray(points[slab == k], dtype=np.float64), centre, radius, expected)
        assert (sums[k] == expected).all() and (squares[slab == k] == of_slab).all()
    assert (np.diff(slab[order]) >= 0).all() and sorted(order) == list(range(n))


def test_a_vector_that_is_too_long_moves_the_sum_by_one_that_is_not():
    """Rounding alone hardly ever makes one too long, so that a factor does that is a little too large."""
    random = np.random.default_rng(5)
    x, centre, before = random.normal(size=100), random.normal(size=100), random.integers(-9, 9, 100)
    factor = (1.0 + 1e-7) * UNITS / np.linalg.norm(x - centre)
    long = np.trunc((x - centre) * factor).astype(np.int64)
    assert (long**2).sum() > UNITS**2
    moved = before + long
    square = _shorten(x, centre, factor, moved)
    left = moved - before
    assert (left**2).sum() == square <= UNITS**2
    steps = abs(long - left)
    assert (steps == steps[0]).all() and (abs(left) + steps == abs(long)).all()
    assert ((left + np.sign(long)) ** 2).sum() > UNITS**2  # one step less would not have been enough


def batch(vectors, labels) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array(labels, pa.string()), vectors], ["label", "v"])


def listed(values: np.ndarray) -> pa.Array:
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), D)


def ordinary(kind=np.float32) -> np.ndarray:
    return np.random.default_rng(7).uniform(-1, 1, (40, D)).astype(kind)


LABELS = ["abc"[i % 3] for i in range(40)]


def changed(place: int, value: float) -> pa.Array:
    values = ordinary()
    values[place, 5] = value
    return listed(values)


BATCHES = {
    "single": (batch(listed(ordinary()), LABELS), True),
    "double": (batch(listed(ordinary(np.float64)), LABELS), True),
    "lists": (batch(pa.array(ordinary().tolist(), pa.list_(pa.float32())), LABELS), True),
    "slice": (batch(listed(ordinary()), LABELS).slice(3, 20), True),
    "nobody": (batch(listed(ordinary()), LABELS).slice(3, 0), True),
    "outside": (batch(changed(4, 1.5), LABELS), True),
    "endless": (batch(changed(4, -np.inf), LABELS), True),
    "half": (batch(listed(ordinary(np.float16)), LABELS), False),
    "whole": (batch(listed(ordinary().astype(np.int64)), LABELS), False),
    "missing entry": (batch(changed(39, np.nan), LABELS), False),
    "missing list": (batch(pa.array([None, *ordinary()[1:].tolist()], pa.list_(pa.float32(), D)), LABELS), False),
    "missing label": (batch(listed(ordinary()), [None, *LABELS[1:]]), False),
    "unknown label": (batch(listed(ordinary()), ["z", *LABELS[1:]]), False),
}


@pytest.mark.few(13)
@pytest.mark.parametrize("outside", ["clamp", "drop"])
@pytest.mark.parametrize("name", BATCHES)
@pytest.mark.parametrize("kind", [Moments, Directions])
def test_a_batch_adds_what_its_encoded_points_do(name, outside, kind):
    """Whether its records are taken as they lie in memory or not, which is what is expected beside each batch."""
    records, as_they_are = BATCHES[name]
    domain = Domain((LABEL, COLUMN), outside=outside)
    inner = kind(domain.without("label")) if kind is Directions else kind(domain.without("label")).for_mean()
    for sketch in (Classes(domain, "label", inner), inner):
        points, encoded = sketch.encode(records), sketch.domain.encode(records, sketch.metric)
        expected_rows = as_they_are or (sketch is inner and "label" in name)
        if outside == "drop" and name in ("outside", "endless"):
            expected_rows = False
        assert isinstance(points, Rows) == expected_rows
        tables = sketch.zeros(), sketch.zeros()
        sketch.add(tables[0], points)
        sketch.add(tables[1], encoded)
        assert (tables[0] == tables[1]).all()
        assert (sketch.count(points) == sketch.count(encoded)).all() and len(points) == len(encoded)


def test_what_cannot_be_encoded_is_refused_as_ever():
    domain = Domain((LABEL, COLUMN), missing="refuse")
    sketch = Classes(domain, "label", Directions(domain.without("label")))
    short = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(2 * D - 2)), D - 1)
    for records in (batch(changed(3, np.nan), LABELS), batch(short, ["a", "b"]), batch(listed(ordinary()), ["z"] * 40)):
        with pytest.raises(RequestError):
            sketch.encode(records)


def test_few_coordinates_and_scaled_ones_stay_columns():
    for domain in (Domain((Vector("v", LONG - 1, -1, 1),)), Domain((COLUMN,), scale="box")):
        values = np.zeros((2, domain.dimensions))
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), domain.dimensions)
        records = pa.RecordBatch.from_arrays([vectors], ["v"])
        assert isinstance(Moments(domain).encode(records), np.ndarray)


@pytest.mark.parametrize("outside", ["clamp", "drop"])
@pytest.mark.parametrize("name", [name for name in BATCHES if "label" not in name])
def test_vectors_are_encoded_alike_beside_another_column_and_alone(name, outside):
    """Alone they are copied at once where none is left out; beside another column they take the general way."""
    both = Domain((COLUMN, LABEL), outside=outside)
    alone, beside = (domain.encode(BATCHES[name][0]) for domain in (both.without("label"), both))
    assert alone.tobytes() == np.asfortranarray(beside[:, :D]).tobytes() and alone.flags.f_contiguous


def test_a_zero_has_no_sign_wherever_it_stands():
    for outside in ("clamp", "drop"):
        for others in (ordinary(), ordinary() + 1.0):
            others[3] = -0.0
            encoded = Domain((COLUMN,), outside=outside).encode(batch(listed(others), LABELS))
            zeros = encoded[(encoded == 0.0).all(axis=1)]
            assert len(zeros) == 1 and not np.signbit(zeros).any()


@given(
    st.integers(0, 9),
    st.sampled_from([1, 7, PRODUCT_STRETCH, PRODUCT_STRETCH + 3]),
    st.integers(1, 5),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from(["C", "F"]),
    st.integers(0, 2**32),
)
@settings(max_examples=draws(16, 40))
def test_products_and_squares_are_exact_but_for_rounding_in_double_precision(n, d, k, kind, order, seed):
    random = np.random.default_rng(seed)
    rows = np.asarray(random.normal(size=(n, d)).astype(kind), order=order)
    origin, vectors = random.normal(size=d), random.normal(size=(k, d))
    products, squares = row_products(rows, origin, vectors)
    offsets = rows.astype(np.float64) - origin
    bound = 4 * d * 2.0**-53
    assert (abs(products - offsets @ vectors.T) <= bound * (abs(offsets) @ abs(vectors).T)).all()
    assert (abs(squares - (offsets**2).sum(axis=1)) <= bound * (offsets**2).sum(axis=1)).all()
    assert rows.flags.writeable


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_seen_in_its_own_row_alone(value):
    rows = np.ones((6, 10), np.float32)
    rows[4, 9] = value
    products, squares = row_products(rows, np.zeros(10), np.eye(3, 10))
    assert np.isfinite(squares).tolist() == [True, True, True, True, False, True]
    assert np.isfinite(products[[0, 1, 2, 3, 5]]).all()
