"""Counting inside boxes and outlines: exact without noise and steps, within intervals with both, refused where not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import Budget, Histogram, Race, kernels, release
from core.analysis.region import Region, count_inside, countable
from core.domain import Domain, Numeric
from core.errors import RequestError
from core.privacy.noise.randomness import SeededSource
from core.releases.release import load
from core.sources.samples import RELEASES, sample
from tests.depth import draws

KERNEL = kernels.Gaussian(0.05)


def made(columns, table, sketch=Histogram):
    domain = Domain(columns, scale="box")
    records = {name: table[name].to_numpy() for name in table}
    return release(sketch(domain, KERNEL), records, Budget(20), noise_source=SeededSource(1))


@pytest.mark.deep
@pytest.mark.parametrize("name", ["towns", "health"])
def test_intervals_hold_what_lies_inside_boxes_of_real_records(name):
    one = sample(name)
    released, table = load(RELEASES / f"{name}.npz"), pd.read_parquet(one.path)
    columns = {column.name: column for column in one.domain.columns}
    random, held = np.random.default_rng(3), []
    for _ in range(draws(40, 400)):
        middle = table.iloc[random.integers(len(table))]
        ends, inside = {}, np.ones(len(table), dtype=bool)
        for column in one.show:
            reach = (columns[column].high - columns[column].low) * random.uniform(0.02, 0.25)
            ends[column] = (middle[column] - reach, middle[column] + reach)
            inside &= table[column].between(*ends[column]).to_numpy()
        answers = count_inside(released, Region.between(**ends))
        held.append(answers.low[0] <= inside.sum() <= answers.high[0])
    # The files and the boxes are fixed, so that nothing here is drawn anew.
    assert np.mean(held) >= 0.85


def test_values_with_steps_are_counted_without_an_edge():
    table = pd.DataFrame({"age": np.repeat(np.arange(10), 100)})
    released = made((Numeric("age", 0, 9, step=1),), table)
    answers = count_inside(released, Region.between(age=(2.5, 6.5)))
    assert abs(answers.estimate[0] - 400) < 5 and answers.standard_error[0] < 1
    assert abs(count_inside(released, Region.between(age=(6.5, 2.5))).estimate[0] - answers.estimate[0]) < 1e-9


def test_an_outline_holds_what_a_ray_says():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.random((20_000, 2)), columns=["x", "y"])
    released = made((Numeric("x", 0, 1), Numeric("y", 0, 1)), table)
    triangle = Region(("x", "y"), ((0.1, 0.1), (0.9, 0.1), (0.5, 0.9)))
    answers = count_inside(released, triangle)
    x, y = table["x"], table["y"]
    inside = (y > 0.1) & (y < 0.1 + 2 * (x - 0.1)) & (y < 0.1 + 2 * (0.9 - x))
    assert answers.low[0] <= inside.sum() <= answers.high[0]
    assert abs(answers.estimate[0] / inside.sum() - 1) < 0.02
    turned = Region(("y", "x"), tuple((b, a) for a, b in triangle.corners))
    assert np.isclose(count_inside(released, turned).estimate[0], answers.estimate[0])
    whole = count_inside(released, Region.between(x=(-1, 2), y=(-1, 2)))
    assert abs(whole.estimate[0] - 20_000) < 20 * whole.standard_error[0] + 20


def test_other_columns_may_say_anything():
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.random((5_000, 3)), columns=["x", "y", "z"])
    released = made(tuple(Numeric(name, 0, 1) for name in "xyz"), table)
    answers = count_inside(released, Region.between(z=(0.2, 0.7)))
    assert answers.low[0] <= table["z"].between(0.2, 0.7).sum() <= answers.high[0]


def test_what_cannot_be_counted_is_refused():
    table = pd.DataFrame({"x": np.linspace(0, 1, 50), "y": np.linspace(0, 1, 50)})
    columns = (Numeric("x", 0, 1), Numeric("y", 0, 1))
    lines = release(
        Race(Domain(columns, scale="box"), kernels.Euclidean(0.5), 5, 10),
        {name: table[name].to_numpy() for name in table},
        Budget(1),
    )
    assert not countable(lines, ("x",))
    with pytest.raises(RequestError, match="of a histogram"):
        count_inside(lines, Region.between(x=(0, 1)))
    with pytest.raises(RequestError, match="one or two columns of numbers"):
        count_inside(made(columns, table), Region.between(w=(0, 1)))
    for corners in (((0.0, 0.0), (1.0, 1.0)), ((0.0,),) * 3, ((0.0, np.nan),) * 3):
        with pytest.raises(RequestError):
            Region(("x", "y"), corners)
