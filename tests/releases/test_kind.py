"""A warning about a column that drowns the others, before anything is paid, and none where there is nothing to say."""

import warnings

import numpy as np
import pytest

from core import Budget, Distance, Domain, Histogram, Ledger, Moments, Part, Products, Tables, release
from core.errors import RequestError
from core.geometry.kernels import Gaussian
from core.releases.kind import wide_column
from core.sketches.parts import Parts

BOUNDS = {"age": (0, 100), "pay": (0, 1e6)}
OWN, EVEN = Domain.of(**BOUNDS), Domain.of(**BOUNDS, scale="box")


def test_it_is_said_before_anything_is_paid(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    with (
        pytest.warns(UserWarning, match="'pay' is 1e\\+04 times that of 'age'.*scale='box'"),
        pytest.raises(RequestError),
    ):
        release(Distance(OWN), "nowhere.csv", Budget(1), ledger=ledger, dataset="people")
    assert ledger.names() == []


@pytest.mark.parametrize(
    "sketch",
    [
        Distance(EVEN),
        Histogram(OWN, Gaussian((5.0, 5e4))),
        Products(OWN),
        Tables(OWN),
        Distance(Domain.of(pay=(0, 1e6))),
        Parts.of([Part(Products(OWN)), Part(Distance(EVEN))]),
    ],
    ids=lambda sketch: sketch.name,
)
def test_nothing_is_said_where_no_column_drowns_another(sketch):
    assert wide_column(sketch) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release(sketch, {name: np.linspace(0, 100, 50) for name in sketch.domain.names}, Budget(1), records=50)


def test_a_part_is_enough():
    assert wide_column(Moments(OWN)).widest == "pay"
    assert wide_column(Parts.of([Part(Products(OWN)), Part(Moments(OWN))])).narrowest == "age"
