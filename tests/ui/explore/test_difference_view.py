"""Explore: two open files are compared in one picture."""

import numpy as np
import pytest

from core import Budget, Domain, release
from core.domain import Categorical, Numeric
from core.geometry import kernels
from core.sketches.histogram import Histogram
from core.sketches.registry import distance
from core.sketches.tables.tables import Tables
from core.ui.explore.difference_view import ALL, CAVEAT, COMPARE, MEANS, TOGETHER, TWO
from tests.depth import deep
from tests.ui.explore.visiting import choose, explore, labels, options, shown, view

LINE = Domain.of(x=(0, 100))
PEOPLE = Domain((Numeric("age", 0, 100), Categorical("city", ("Bern", "Chur"))))


def two(sketch, first, second):
    """Explore with both files open, the second shown."""
    app = explore(release(sketch, second, Budget(5)).to_bytes(), "before.npz")
    app.file_uploader[0].set_value(
        ("after.npz", release(sketch, first, Budget(5)).to_bytes(), "application/octet-stream")
    )
    return app.run()


def rows(at: float) -> dict:
    return {"age": np.full(200, at), "city": ["Bern"] * 150 + ["Chur"] * 50}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sketch, first, second",
    [
        (Histogram(LINE, kernels.Gaussian(8.0), finest=0.25), {"x": [30.0] * 300}, {"x": [60.0] * 200}),
        deep(distance(LINE, "l1"), {"x": [30.0] * 300}, {"x": [60.0] * 200}),
        deep(Tables.of(PEOPLE, bins=4), rows(20.0), rows(70.0)),  # the next test has them too
    ],
)
def test_two_open_files_are_compared(sketch, first, second):
    app = two(sketch, first, second)
    view(app, COMPARE)
    assert not app.exception and not app.error
    assert "Less the file" in labels(app.selectbox)
    assert CAVEAT in shown(app)


@pytest.mark.deep
def test_two_tables_are_compared_by_pairs_and_in_rows():
    app = two(Tables.of(PEOPLE, bins=4), rows(20.0), rows(70.0))
    view(app, COMPARE)
    choose(app, "Shown", TWO)
    assert not app.exception and "Grey: noise alone" in shown(app)
    choose(app, "Shown", ALL)
    assert not app.exception
    table = shown(app)
    assert "age: mean" in table and "<strong>−" in table and "city: Bern" in table
    choose(app, "Shown", MEANS)
    assert not app.exception and " of 2 groups. A group without a bar" in shown(app)
    choose(app, "Shown", TOGETHER)
    assert not app.exception and " of 1 pairs differ by more than noise" in shown(app)


@pytest.mark.thorough
def test_a_file_that_cannot_be_compared_was_offered_and_then_refused_in_red():
    app = explore(release(Tables.of(PEOPLE, bins=4), rows(20.0), Budget(5)).to_bytes(), "tables.npz")
    other = release(Histogram(LINE, kernels.Gaussian(8.0)), {"x": [1.0]}, Budget(1)).to_bytes()
    app.file_uploader[0].set_value(("x.npz", other, "application/octet-stream")).run()
    view(app, COMPARE)
    assert not app.exception and not app.error
    assert "Less the file" not in labels(app.selectbox) and "cannot be compared" in shown(app)
    another = release(Histogram(LINE, kernels.Gaussian(8.0)), {"x": [2.0, 3.0]}, Budget(1)).to_bytes()
    app.file_uploader[0].set_value(("y.npz", another, "application/octet-stream")).run()
    view(app, COMPARE)
    assert not app.exception and not app.error
    offered = next(box for box in app.selectbox if box.label == "Less the file")
    assert offered.options == ["x.npz"], "the table is not offered"


@pytest.mark.thorough
def test_one_file_has_nothing_to_be_compared_with():
    app = explore(release(Histogram(LINE, kernels.Gaussian(8.0)), {"x": [1.0]}, Budget(1)).to_bytes())
    assert COMPARE not in options(app, "View")
