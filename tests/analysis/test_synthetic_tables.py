"""Synthetic records from tables: how near they are to the release, and the types of their columns."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core.analysis.sampling import NOT_MEANT_FOR_TABLES, nearness_words, not_meant_for, sample
from core.analysis.synthetic_tables import _given, _move, _split
from core.domain import Categorical, Cyclic, Domain, Numeric, Vector
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.tables.answers import TableAnswers
from core.sketches.tables.tables import Tables
from tests.tables_for_tests import COLUMNS, inhabitants, table_release


@pytest.fixture(scope="module")
def released():
    return table_release()


@pytest.fixture(scope="module")
def drawn(released):
    return sample(released, 5_000, seed=1)


def encoded(released, records: pd.DataFrame) -> np.ndarray:
    """As people are read: a missing value is the category of those."""
    return released.domain.encode(pa.RecordBatch.from_pandas(records, preserve_index=False), released.sketch.metric)


def counts_of(records: pd.DataFrame, released, *names: str) -> np.ndarray:
    """Of every combination of cells, counted by the tables' own code without noise."""
    exact = released.sketch
    table = exact.zeros()
    exact.add(table, encoded(released, records))
    return TableAnswers(exact.reading(table, 0.0, float(len(records)), 0.0, False)).table(*names)["estimate"].to_numpy()


def test_their_counts_are_those_of_the_best_guess(released, drawn):
    """Counted anew from the values, by the code that counts people: total variation of every pair below 2%."""
    assert drawn.nearness.single < 0.003
    assert drawn.nearness.several < 0.012
    guess = released.guessed()
    names = [column.name for column in COLUMNS]
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            wanted = guess.table(one, other)["estimate"].to_numpy()
            found = counts_of(drawn.points, released, one, other)
            assert np.abs(found / found.sum() - wanted / wanted.sum()).sum() / 2 < 0.02


def test_they_are_near_the_people_too(released, drawn):
    """Means and medians within what the release itself is off by, and 3% of the range."""
    people = inhabitants()
    for name, reach in (("age", 3.6), ("pay", 3_000)):
        assert drawn.points[name].mean() == pytest.approx(people[name].mean(), abs=reach)
        assert drawn.points[name].median() == pytest.approx(people[name].median(), abs=reach)


def test_columns_have_their_own_types(drawn):
    points = drawn.points
    assert list(points.columns) == [column.name for column in COLUMNS]
    assert points["since"].dtype.kind == "M" and (points["since"] == points["since"].dt.floor("D")).all()
    assert points["age"].dtype == np.int64 and points["age"].between(0, 119).all()
    assert points["pay"].dtype == np.float64
    assert set(points["town"].unique()) <= {"Lyon", "Nice", "Paris"}
    assert points["school"].isna().mean() == pytest.approx(0.1, abs=0.05)  # its first category means that it is missing


def test_they_read_back_as_the_same_records(released, drawn):
    again = pd.read_parquet(io.BytesIO(drawn.points.to_parquet(index=False)))
    np.testing.assert_array_equal(encoded(released, again), encoded(released, drawn.points))


def test_the_same_seed_draws_the_same_records(released, drawn):
    assert sample(released, 300, seed=4).points.equals(sample(released, 300, seed=4).points)
    assert len(sample(released, 1).points) == 1


def test_single_columns_are_drawn_by_themselves():
    made = table_release(tables="singles")
    assert sample(made, 2_000).nearness.several == 0.0


def test_every_kind_of_column():
    kinds = Vector("v", 2, 0, 1), Cyclic("day", ("Mo", "Tu", "We")), Numeric("x", -1, 1), Categorical("k", ("a", "b"))
    domain = Domain(kinds)
    random = np.random.default_rng(0)
    rows = {
        "v": list(random.random((400, 2))),
        "day": random.choice(["Mo", "Tu"], 400),
        "x": random.normal(0, 0.3, 400),
        "k": random.choice(["a", "b"], 400),
    }
    made = release(Tables.of(domain, bins=4), pd.DataFrame(rows), Budget(10), noise_source=SeededSource(0))
    points = sample(made, 500).points
    assert np.stack(points["v"]).shape == (500, 2)
    assert (points["day"] != "We").mean() > 0.97


def test_it_is_said_how_near_they_are_and_what_they_are_not_for(released, drawn):
    assert "best guess" in nearness_words(drawn.nearness)
    assert not_meant_for(released, drawn) == NOT_MEANT_FOR_TABLES


def test_shares_become_whole_numbers():
    random = np.random.default_rng(0)
    shares = np.array([0.5, 0.25, 0.125, 0.125, 0.0])
    for n in (1, 7, 1_000):
        counts = _split(n, shares, random)
        assert counts.sum() == n and (np.abs(counts - n * shares) < 1.0).all() and counts[-1] == 0
    assert _split(0, shares, random).sum() == 0


def test_children_follow_their_parents():
    random = np.random.default_rng(0)
    parents = np.repeat([0, 1, 2], 100)
    joint = np.array([[0.3, 0.0], [0.0, 0.3], [0.0, 0.0]])
    found = _given(parents, joint, np.array([0.5, 0.5]), random)
    assert (found[:100] == 0).all() and (found[100:200] == 1).all()
    assert found[200:].mean() == pytest.approx(0.5)


def test_moving_records_comes_nearer_and_keeps_their_number():
    random = np.random.default_rng(0)
    cells = np.zeros((2, 1_000), dtype=np.int64)
    target = np.array([[0.25, 0.25], [0.5, 0.0]])
    for _ in range(30):
        _move(cells, (0, 1), target, 0.7, random)
    have = np.bincount(2 * cells[0] + cells[1], minlength=4) / 1_000
    np.testing.assert_allclose(have, target.reshape(-1), atol=0.01)
