"""Synthetic records from tables: how near they are to the release, and the types of their columns."""

import datetime
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from core.analysis.sampling import NOT_MEANT_FOR_BOTH, NOT_MEANT_FOR_TABLES, nearness_words, not_meant_for, sample
from core.analysis.synthetic_tables import DrawnPoints, _given, _move, _split, closeness
from core.analysis.within_cells import dealt_together
from core.cli.commands import app
from core.domain import Categorical, Cyclic, Dates, Domain, Numeric, Vector
from core.errors import RequestError
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.histogram import Histogram
from core.sketches.moments import Moments
from core.sketches.part import Part
from core.sketches.tables.table_answers import TableAnswers
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.fixture(scope="module")
def boxes():
    """Sizes of boxes, of which the length, the width and the height are nearly the same."""
    random = np.random.default_rng(11)
    size = random.gamma(6.0, 1.0, 6_000)
    sides = {name: np.clip(size * random.normal(1.0, 0.03, 6_000), 0.0, 30.0) for name in ("long", "wide", "high")}
    return pd.DataFrame(sides)


def test_columns_of_a_correlation_near_1_keep_it_within_cells(boxes):
    """Values spread over their cells by themselves had .82 here; cells and columns keep what they had."""
    domain = Domain.of(long=(0, 30), wide=(0, 30), high=(0, 30))
    made = release(Tables.of(domain, 8), boxes, Budget(10, "1e-9"), noise_source=SeededSource(1))
    drawn = sample(made, 4_000, seed=2).points.astype(float)
    assert drawn.corr().to_numpy().min() > 0.92 and boxes.corr().to_numpy().min() > 0.98
    axis = made.sketch.axes[0]
    for name in domain.names:
        found, exact = (np.histogram(one[name], axis.edges())[0] / len(one) for one in (drawn, boxes))
        assert np.abs(found - exact).sum() < 0.05


def test_values_change_hands_within_their_cells_alone():
    random = np.random.default_rng(3)
    cells = random.integers(0, 4, (3, 500))
    cells[2, :50] = 4  # those who have none
    values = [where + random.random(500) for where in cells]
    values[2][:50] = np.nan
    for before, after, where in zip(values, dealt_together(values, cells, random), cells, strict=True):
        assert all(
            np.array_equal(np.sort(before[where == one]), np.sort(after[where == one]), True) for one in range(5)
        )
    assert np.isnan(dealt_together(values, cells, random)[2][:50]).all()


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


PEOPLE = 20_000
X, Y = Numeric("x", 0, 10), Numeric("y", 0, 10)
TOWN, SINCE = Categorical("town", ("Lyon", "Nice")), Dates("since", "2020-01-01", "2023-12-31")
COUNTED = Domain((X, TOWN, SINCE))
PLACES = Domain((X, Y))


def crowd() -> pd.DataFrame:
    """Everyone within a tenth of x = 2.05 or 7.55, which cells as wide as 2.5 don't show, and y follows x."""
    random = np.random.default_rng(1)
    town = random.choice(["Lyon", "Nice"], PEOPLE, p=[0.3, 0.7])
    x = np.where(town == "Lyon", 2.05, 7.55) + 0.1 * random.uniform(-1, 1, PEOPLE)
    days = random.integers(0, 1_400, PEOPLE).astype("timedelta64[D]")
    since = np.datetime64("2020-01-01") + days
    return pd.DataFrame({"x": x, "y": 10 - x, "town": town, "since": since})


def parts(*densities: Part) -> list[Part]:
    return [Part(Tables.of(COUNTED, 4), "counts"), *densities]


@pytest.fixture(scope="module")
def made():
    fine = Part(Histogram(PLACES, Gaussian(0.3)), "places")
    return release(
        parts(fine, Part(Moments(PLACES), "how far")),
        crowd(),
        Budget(4, "1e-6"),
        records=PEOPLE,
        noise_source=SeededSource(3),
    )


@pytest.fixture(scope="module")
def drawn_of_sub_cell_sampler(made):
    return sample(made, 4_000, seed=2)


@pytest.mark.thorough
def test_counts_are_those_of_the_tables(made, drawn_of_sub_cell_sampler):
    """As near as records of the tables alone are, counted anew from the values."""
    tables = made.part("counts")
    assert drawn_of_sub_cell_sampler.nearness.single < 0.005 and drawn_of_sub_cell_sampler.nearness.several < 0.015
    guess = tables.guessed().table("x", "town")["estimate"].to_numpy()
    found = counts_of(drawn_of_sub_cell_sampler.points[list(COUNTED.names)], tables, "x", "town")
    assert np.abs(found / found.sum() - guess / guess.sum()).sum() / 2 < 0.02


@pytest.mark.thorough
def test_values_within_cells_are_those_of_the_density(made, drawn_of_sub_cell_sampler):
    """Of tables alone, x would be spread over its cells: a fifth within 0.5 of where everyone is."""
    points = drawn_of_sub_cell_sampler.points
    near = (np.minimum(abs(points.x - 2.05), abs(points.x - 7.55)) < 0.5).mean()
    alone = sample(made.part("counts"), 4_000, seed=2).points
    assert near > 0.9 > 0.5 > (np.minimum(abs(alone.x - 2.05), abs(alone.x - 7.55)) < 0.5).mean()
    assert (abs(points.x + points.y - 10) < 1.5).mean() > 0.9  # y is in no table
    assert ((points.town == "Lyon") == (points.x < 5)).mean() > 0.97
    assert closeness("places", made.part("places"), points).off < 0.35
    spread = alone.assign(y=np.random.default_rng(0).uniform(0, 10, len(alone)))
    assert closeness("places", made.part("places"), spread).off > 0.6


def test_columns_have_their_own_types_and_read_back(drawn_of_sub_cell_sampler):
    points = drawn_of_sub_cell_sampler.points
    assert list(points.columns) == ["x", "town", "since", "y"]
    assert points["since"].dtype.kind == "M" and points["since"].dt.date.max() <= datetime.date(2023, 12, 31)
    again = pd.read_parquet(io.BytesIO(points.to_parquet(index=False)))
    pd.testing.assert_frame_equal(again.astype({"town": str}), points.astype({"town": str}), check_dtype=False)


def test_it_is_said_how_far_they_are_from_every_part(drawn_of_sub_cell_sampler):
    (near,) = drawn_of_sub_cell_sampler.nearness.closeness
    assert near.part == "places" and 0 < near.error < near.off < 0.35
    assert "the part 'places'" in nearness_words(drawn_of_sub_cell_sampler.nearness)


@pytest.mark.thorough
def test_a_file_is_drawn_from_as_a_whole_unless_a_part_is_named(made, tmp_path):
    made.save(tmp_path / "r.npz", teaching=True)
    asked = ["sample", str(tmp_path / "r.npz"), "-n", "50"]
    together, alone = (CliRunner().invoke(app, [*asked, *more]) for more in ([], ["--part", "places"]))
    assert pd.read_csv(io.StringIO(together.stdout), parse_dates=["since"]).dtypes["since"].kind == "M"
    assert NOT_MEANT_FOR_BOTH in together.stderr
    assert list(pd.read_csv(io.StringIO(alone.stdout)).columns) == ["x", "y"]


@pytest.mark.thorough
def test_parts_without_tables_are_drawn_one_by_one():
    fine = [Part(Histogram(PLACES, Gaussian(0.3)), "places"), Part(Moments(PLACES), "how far")]
    made = release(fine, crowd(), Budget(4), records=PEOPLE)
    with pytest.raises(RequestError, match="where one of them is tables; name one of 'places', 'how far'"):
        sample(made, 10)


def test_a_record_gets_a_point_of_its_own_cells_or_none():
    """Worked out by hand: cells of x are 2.5 wide, and nobody was drawn in the third."""
    tables = Tables.of(COUNTED, 4)
    points = pd.DataFrame({"x": [1.0, 3.0, 4.0, 9.0], "y": [0.0, 1.0, 2.0, 3.0]})
    finer = DrawnPoints.of("places", points, PLACES, tables)
    assert finer.shared == ("x",) and finer.columns == (0,) and finer.cells.tolist() == [[0, 1, 1, 3]]
    cells = np.array([[0, 1, 2, 3] * 50, [0] * 200, [0] * 200])
    rows = finer.placed(cells, np.random.default_rng(0))
    assert (
        (rows[0::4] == 0).all() and set(rows[1::4]) == {1, 2} and (rows[2::4] == -1).all() and (rows[3::4] == 3).all()
    )
    records = pd.DataFrame({"x": np.full(200, 6.0), "town": ["Lyon"] * 200})
    written = finer.written_into(records, rows, np.random.default_rng(0))
    assert written.x[:4].tolist()[2:] == [6.0, 9.0] and written.y.notna().all()


@pytest.mark.thorough
def test_columns_that_no_table_has_together_hang_together_as_in_the_density():
    """Two columns by themselves in tables, and a density of both: x and y are one number in truth."""
    both = Domain((X, Y))
    counted = Part(Tables.of(both, 4, "singles"), "counts")
    fine = Part(Histogram(both, Gaussian(0.5)), "places")
    made = release([counted, fine], crowd(), Budget(4), records=PEOPLE, noise_source=SeededSource(1))
    points = sample(made, 3_000, seed=1).points
    assert np.corrcoef(points.x, points.y)[0, 1] < -0.9
    alone = sample(made.part("counts"), 3_000, seed=1).points
    assert abs(np.corrcoef(alone.x, alone.y)[0, 1]) < 0.2
