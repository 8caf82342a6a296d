"""Answers in a file: what is read is what was written, of every kind that is kept, and is never worked out again."""

import numpy as np
import pandas as pd
import pytest

from core.analysis.centres import Centre
from core.analysis.density import Curve, Heatmap, Pairs
from core.analysis.kept_answers import KINDS, Kept, keep
from core.analysis.modes import Mode
from core.analysis.sampling import Sample, as_declared
from core.domain import Domain, Numeric

ANSWERS = dict.fromkeys(("estimate", "low", "high", "density", "standard_error"), np.array([0.5, -1.25, np.inf]))
SHOWN = {"at": {"y": 2.5}, "averaged": ("z",), "averaging_places": 7}
CURVE = Curve(column="x", values=np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), **ANSWERS, **SHOWN)
HEATMAP = Heatmap(
    x="x", y="y", x_values=np.array(["a", "b"], object), y_values=np.array([1.0, 2.0]), **ANSWERS, **SHOWN
)
MADE = {
    "curve": CURVE,
    "pairs": Pairs(("x", "y"), {"x": CURVE}, {("x", "y"): HEATMAP}),
    "modes": (Mode({"x": 1.5, "kind": "a"}, 9.0, 8.0, 10.0, 0.25, 2.0, 1.0, True),),
    "centre": Centre({"x": 1.5}, {"x": 1.0}, {"x": 2.0}, 1.0, 3.0, float("nan"), float("nan")),
    "population": np.array([0.25, 0.5]),
    "none": None,
}


def unasked():
    raise AssertionError("it was worked out though it is kept")


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if type(one).__name__ in KINDS:
        return type(one) is type(other) and all(same(part, vars(other)[name]) for name, part in vars(one).items())
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers" / "some.npz"


@pytest.mark.parametrize("name", MADE)
def test_what_is_read_is_what_was_written(name, path):
    keep(path, MADE)
    assert same(MADE[name], Kept(path).answer(name, unasked))


def test_records_come_back_with_their_types(path):
    domain = Domain((Numeric("age", 0, 100, step=1), *Domain.of(city=["Bern", "Basel"]).columns))
    points = as_declared(pd.DataFrame({"age": [1.0, 2.0], "city": ["Bern", "Basel"]}), domain)
    keep(path, {"sample": Sample(points, "population", misfit=0.5)})
    read = Kept(path).answer("sample", unasked)
    pd.testing.assert_frame_equal(read.points, points)
    assert (read.method, read.misfit, read.nearness) == ("population", 0.5, None)


def test_what_is_not_kept_is_worked_out_and_known_to_have_been(path):
    keep(path, {"one": 1})
    kept = Kept(path)
    assert kept.holds("one") and not kept.holds("two") and kept.answer("two", lambda: 2) == 2 and kept.holds("two")
    assert Kept(path.with_name("other.npz")).answer("one", lambda: 3) == 3


def test_what_cannot_be_kept_is_refused(path):
    with pytest.raises(TypeError, match="cannot be kept"):
        keep(path, {"one": object()})


def test_numbers_keep_four_digits_whatever_their_size(path):
    random = np.random.default_rng(3)
    numbers = random.standard_normal((3, 50)) * 10.0 ** random.integers(-30, 30, (3, 50))
    keep(path, {"numbers": np.append(numbers, [[np.nan] * 50], axis=0)})
    read = Kept(path).answer("numbers", unasked)
    assert read[:3] == pytest.approx(numbers, rel=1e-4) and np.isnan(read[3]).all() and read.dtype == np.float64
