"""Commands that ask a release give what the library gives, as tables that other programs read."""

from __future__ import annotations

import io
import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core import load
from core.analysis.anomalies import score
from core.analysis.beyond_records import for_population
from core.analysis.density import marginal_grid, marginal_line
from core.analysis.modes import find_modes
from core.analysis.sampling import sample
from core.analysis.sql import ask_sql
from core.figures.answer_sentences import MODES_OF_RECORDS
from tests.cli.conftest import people, refused
from tests.releases_for_tests import counted_release


def table(result) -> pd.DataFrame:
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout))


@pytest.fixture
def queries(tmp_path):
    frame = people(40, seed=2)[["y", "x"]].assign(name=["a,b", 'say "c"'] * 20)
    frame.to_csv(tmp_path / "queries.csv", index=False)
    return frame


@pytest.mark.thorough
def test_answers_stand_beside_the_queries(command, released, queries):
    answers = table(command("query", released, "queries.csv"))
    assert list(answers) == ["x", "y", "name", "estimate", "low", "high", "density"]
    pd.testing.assert_frame_equal(answers[["y", "x", "name"]], queries, check_exact=True, check_dtype=False)
    expected = load(released).answer(queries)
    for name in ("estimate", "low", "high", "density"):
        np.testing.assert_array_equal(answers[name], getattr(expected, name))


@pytest.mark.few(1)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_answers_in_a_file_of_any_format(command, released, queries, tmp_path, suffix):
    result = command("query", released, "queries.csv", "--out", f"answers{suffix}", "--level", "0.5")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    path = tmp_path / f"answers{suffix}"
    mark = "\t" if suffix == ".tsv" else ","
    answers = pd.read_parquet(path) if suffix == ".parquet" else pd.read_csv(path, sep=mark)
    np.testing.assert_array_equal(answers["high"], load(released).answer(queries, level=0.5).high)
    assert answers["name"].tolist() == queries["name"].tolist()


def test_queries_in_any_format_that_a_source_may_have(command, released, queries, tmp_path):
    queries.to_parquet(tmp_path / "queries.parquet")
    np.save(tmp_path / "queries.npy", queries[["x", "y"]].to_numpy())
    expected = table(command("query", released, "queries.csv"))["estimate"]
    for name in ("queries.parquet", "queries.npy"):
        np.testing.assert_array_equal(table(command("query", released, name))["estimate"], expected)


def test_queries_outside_the_bounds_are_answered_as_they_are(command, released, tmp_path):
    (tmp_path / "far.csv").write_text("x,y\n-50,70\n")
    answers = table(command("query", released, "far.csv"))
    assert answers.loc[0, ["x", "y"]].tolist() == [-50, 70]


def test_answers_that_share_a_name_with_a_query_column_are_told_apart(command, released, tmp_path):
    (tmp_path / "again.csv").write_text("x,y,low\n3,3,keep\n")
    answers = table(command("query", released, "again.csv"))
    assert list(answers) == ["x", "y", "low", "estimate", "answer_low", "high", "density"]
    assert answers["low"].tolist() == ["keep"]


def test_median_of_means_is_one_more_column(command, released, queries):
    answers = table(command("query", released, "queries.csv", "--median-of-means", "0.5"))
    release = load(released)
    points = release.domain.encode_queries(queries, release.sketch.metric)
    expected = release.sketch.median_of_means(release.counters, release.records, points, 0.5)
    np.testing.assert_array_equal(answers["median_of_means"], expected)
    assert "rows" in refused(command("query", released, "queries.csv", "--median-of-means", "1e-9"))


def test_line_and_grid_are_the_numbers_behind_the_pictures(command, released):
    release = load(released)
    line = table(command("line", released, "y", "--at", "x=3", "--points", "7"))
    assert list(line) == ["y", "estimate", "low", "high", "density"]
    curve = marginal_line(release, "y", {"x": 3.0}, 7)
    np.testing.assert_array_equal(line[["y", "estimate"]], np.column_stack([curve.values, curve.estimate]))
    grid = table(command("grid", released, "x", "y", "--size", "3"))
    heatmap = marginal_grid(release, "x", "y", None, 3)
    assert len(grid) == 9
    for row in grid.itertuples():
        across, up = list(heatmap.x_values).index(row.x), list(heatmap.y_values).index(row.y)
        assert row.estimate == heatmap.estimate[up, across]


def test_modes_are_listed_with_their_prominence(command, released):
    listed = table(command("modes", released, "--count", "2"))
    found = find_modes(load(released), 2)
    assert listed["x"].tolist() == [mode.position["x"] for mode in found]
    assert listed["significant"].tolist() == [mode.significant for mode in found]
    assert abs(listed["x"][0] - 3) < 1
    cells = table(command("modes", released, "--method", "cells"))
    assert abs(cells["x"][0] - 3) < 1.5


def test_modes_of_a_sample_have_longer_bands_and_are_called_modes_of_the_records_only(command, released):
    alone = table(command("modes", released, "--count", "2"))
    result = command("modes", released, "--count", "2", "--population")
    beyond = table(result)
    assert beyond["x"].tolist() == alone["x"].tolist()
    assert (beyond["high"] - beyond["low"] > alone["high"] - alone["low"]).all()
    assert MODES_OF_RECORDS in " ".join(result.stderr.split())


@pytest.mark.thorough
def test_anomalies_are_scored(command, released, tmp_path, few_places):
    (tmp_path / "places.csv").write_text("x,y\n3,3\n9.9,0.1\n")
    result = command("anomalies", released, "places.csv")
    expected = score(load(released), {"x": [3, 9.9], "y": [3, 0.1]})
    scores = table(result)
    np.testing.assert_array_equal(scores["score"], expected.score)
    assert scores["score"][0] > 0.3 > 0.1 > scores["score"][1]
    assert f"{expected.threshold:.3g}" in result.stderr


@pytest.mark.thorough
def test_densities_beside_anomalies_have_longer_bands_for_the_population(command, released, tmp_path, few_places):
    (tmp_path / "places.csv").write_text("x,y\n3,3\n9.9,0.1\n")
    alone, beyond = (table(command("anomalies", released, "places.csv", *more)) for more in ((), ("--population",)))
    assert (beyond["density"] == alone["density"]).all() and (beyond["score"] == alone["score"]).all()
    assert (beyond["high"] - beyond["low"] > alone["high"] - alone["low"]).all()


@pytest.mark.parametrize("smoothed", [True, False])
def test_made_up_records(command, released, smoothed, few_places):
    result = command("sample", released, "--points", "50", "--seed", "3", *(["--smoothed"] if smoothed else []))
    drawn = sample(load(released), 50, 3, sharpen=not smoothed).points
    pd.testing.assert_frame_equal(table(result), drawn, check_exact=True)
    assert len(result.stderr.splitlines()) == 2  # how they were drawn, and what they are not meant for


def test_inspect_says_what_was_promised(command, released):
    words = command("inspect", released).stdout
    assert "ε = 50" in words
    assert "The column x may hold" in words


def test_the_table_of_a_large_release_is_read_by_inspect_only_when_asked_to(command, tmp_path):
    large = tmp_path / "large.npz"
    counted_release().save(large, large=0)
    fingerprint = sha256(large.read_bytes()).hexdigest()
    quick, whole = command("inspect", large), command("inspect", large, "--verify")
    assert quick.exit_code == whole.exit_code == 0
    assert "checksum" not in quick.stderr and "its checksum is right" in whole.stderr
    assert "fingerprint" not in quick.stdout and fingerprint in whole.stdout
    assert json.loads(command("inspect", large, "--json").stdout)["fingerprint"] is None
    data = bytearray(large.read_bytes())
    data[data.index(b"(16, 2000)") + 20_000] ^= 1  # a counter
    large.write_bytes(data)
    assert command("inspect", large).exit_code == 0
    assert "altered" in refused(command("inspect", large, "--verify"))


@pytest.mark.thorough
def test_merged_releases_say_so(command, released):
    for name in ("second", "third"):
        again = ("release", released.parent / "people.parquet", "--like", released, "--dataset", name)
        assert command(*again, "--epsilon", "50", "--out", f"{name}.npz").exit_code == 0
    assert command("merge", released, "second.npz", "third.npz", "--out", "three.npz").exit_code == 0
    merged, parts = load("three.npz"), (load(released), load("second.npz"), load("third.npz"))
    assert (merged.counters == sum(part.counters for part in parts)).all()
    assert merged.privacy.releases == 3
    assert "three.npz" in refused(command("merge", released, "second.npz", "--out", "three.npz"))
    assert "same release" in refused(command("merge", released, released, "--out", "twice.npz"))
    assert "two release files or more" in refused(command("merge", released, "--out", "one.npz"))


@pytest.mark.thorough
def test_vectors_go_to_parquet_only(command, tmp_path):
    pd.DataFrame({"v": list(np.ones((50, 2)))}).to_parquet("vectors.parquet")
    options = ("--bounds", "v=0:1", "--vector", "v=2", "--bandwidth", "1", "--rows", "20", "--width", "16")
    assert command("release", "vectors.parquet", *options, "--epsilon", "9", "--out", "v.npz").exit_code == 0
    assert ".parquet" in refused(command("query", "v.npz", "vectors.parquet"))
    assert command("query", "v.npz", "vectors.parquet", "--out", "answers.parquet").exit_code == 0
    assert pq.read_table("answers.parquet").column("v").to_pylist() == [[1.0, 1.0]] * 50


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x\n3\n", "no column 'y'"),
        ("x,y\n3,\n", "row 1 is missing"),
        ("x,y\n3,4\n3,nope\n", "row 2"),
        ("x,y\n", "no rows"),
        ("", "nothing in"),
    ],
)
def test_queries_that_cannot_be_read(command, released, tmp_path, text, sentence):
    (tmp_path / "queries.csv").write_text(text)
    assert sentence in refused(command("query", released, "queries.csv", "--out", "answers.csv"))
    assert not (tmp_path / "answers.csv").exists()


def test_what_cannot_be_asked(command, released, queries, tmp_path):
    assert "between 0 and 1" in refused(command("query", released, "queries.csv", "--level", "1.5"))
    assert "'z'" in refused(command("line", released, "z"))
    assert "'z'" in refused(command("line", released, "x", "--at", "z=3"))
    assert "number" in refused(command("line", released, "x", "--at", "y=high"))
    assert "different columns" in refused(command("grid", released, "x", "x"))
    assert "number of points" in refused(command("sample", released, "--points", "0"))
    assert ".csv" in refused(command("sample", released, "--out", "drawn.xlsx"))
    assert "folder" in refused(command("modes", released, "--out", tmp_path / "absent" / "modes.csv"))
    assert "no rows" in refused(command("query", released, _empty_parquet(tmp_path)))


def _empty_parquet(folder):
    path = folder / "empty.parquet"
    people(1).iloc[:0].to_parquet(path)
    return path


@pytest.mark.thorough
def test_released_tables_are_asked_in_sql(command, tmp_path):
    frame = pd.DataFrame({"age": np.arange(600) % 80, "city": np.where(np.arange(600) % 3, "Bern", "Basel")})
    frame.to_csv(tmp_path / "people.csv", index=False)
    made = command(
        "release", "people.csv", "--bounds", "age=0:80", "--categories", "city=Bern,Basel", "--mechanism", "tables",
        "--records", "500", "--epsilon", "2", "--out", "people.npz",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    question = "SELECT city, age, COUNT(*) AS n FROM records GROUP BY city, age ORDER BY city, age"
    found = table(command("ask", "people.npz", question))
    exact = ask_sql(load(tmp_path / "people.npz"), question)
    assert list(found) == ["city", "age", "n", "n_low", "n_high"] and found.age[0].startswith("[0.0, ")
    np.testing.assert_allclose(found.n, exact.n)
    assert "single records" in refused(command("ask", "people.npz", "SELECT city FROM records GROUP BY city"))
    assert command("ask", "people.npz", question, "--out", "answer.parquet").exit_code == 0
    assert len(pd.read_parquet(tmp_path / "answer.parquet")) == len(exact)


@pytest.mark.thorough
def test_a_release_of_products_predicts_any_column(command, tmp_path):
    frame = pd.DataFrame({"age": np.arange(600) % 80, "city": np.where(np.arange(600) % 3, "Bern", "Basel")})
    frame["pay"] = 20 + 0.5 * frame.age
    frame.to_csv(tmp_path / "people.csv", index=False)
    made = command(
        "release", "people.csv", "--bounds", "age=0:80", "--bounds", "pay=0:80", "--categories", "city=Bern,Basel",
        "--mechanism", "products", "--records", "500", "--epsilon", "50", "--out", "people.npz",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    found = table(command("regress", "people.npz", "--target", "pay", "--on", "age"))
    assert list(found) == ["name", "column", "category", "estimate", "low", "high", "carries"]
    assert found.estimate[0] == pytest.approx(0.5, abs=0.1)
    (tmp_path / "asked.csv").write_text("age\n10\n70\n")
    said = table(command("regress", "people.npz", "--target", "pay", "--on", "age", "--predict", "asked.csv"))
    assert list(said) == ["age", "estimate", "low", "high"] and said.estimate[1] > said.estimate[0]
    assert "no column 'size'" in refused(command("regress", "people.npz", "--target", "size"))
    assert "rule for the ridge" in refused(command("regress", "people.npz", "--target", "pay", "--ridge", "x"))
    about = ("regress", "people.npz", "--target", "pay", "--on", "age", "--about", "population", "--ridge")
    # Nearly no band with a ridge held the slopes of people that records were drawn from, so it is taken off.
    assert (
        "without the ridge" in command(*about, "30").output and "without the ridge" not in command(*about, "0").output
    )
    assert table(command(*about, "30")).equals(table(command(*about, "0")))


@pytest.mark.deep
def test_two_releases_are_compared(command, tmp_path):
    for name, at in (("a", 3.0), ("b", 7.0)):
        pd.DataFrame({"x": [at] * 300}).to_csv(f"{name}.csv", index=False)
        made = command(
            "release", f"{name}.csv", "--bounds", "x=0:10", "--mechanism", "histogram", "--bandwidth", "1",
            "--records", "300", "--epsilon", "5", "--out", f"{name}.npz",
        )  # fmt: skip
        assert made.exit_code == 0, made.output
    Path("places.csv").write_text("x\n3\n7\n")
    found = pd.read_csv(io.StringIO(command("compare", "a.npz", "b.npz", "--queries", "places.csv").stdout))
    assert found["low"][0] > 0 > found["high"][1]
    line = pd.read_csv(io.StringIO(command("compare", "a.npz", "b.npz", "x", "--sums", "--together").stdout))
    assert list(line) == ["x", "estimate", "low", "high"] and len(line) == 200
    assert "Say one or two columns" in refused(command("compare", "a.npz", "b.npz"))
    assert "same release" in refused(command("compare", "a.npz", "a.npz", "x"))


@pytest.mark.thorough
def test_synthetic_records_of_tables_have_their_own_types(command, tmp_path):
    people = pd.DataFrame({"day": ["2024-05-01", "2024-05-03"] * 200, "age": [30, 41] * 200, "kind": ["=1", "b"] * 200})
    people.to_csv("people.csv", index=False)
    Path("people.yaml").write_text(
        "columns:\n"
        "  day: {kind: date, first: 2024-05-01, last: 2024-05-10}\n"
        "  age: {kind: number, low: 0, high: 100, step: 1}\n"
        "  kind: {kind: category, values: ['=1', b]}\n"
    )
    made = command(
        "release", "people.csv", "--declaration", "people.yaml", "--mechanism", "tables", "--records", "400",
        "--epsilon", "20", "--out", "people.npz",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    drawn = command("sample", "people.npz", "-n", "100", "--out", "drawn.csv")
    assert drawn.exit_code == 0, drawn.output
    assert "best guess" in drawn.output and "not meant for conclusions" in drawn.output
    text = pd.read_csv("drawn.csv")
    assert text["day"].str.fullmatch(r"2024-05-\d\d").all() and text["age"].dtype == np.int64
    assert set(text["kind"]) == {"'=1", "b"}
    assert command("sample", "people.npz", "-n", "100", "--out", "drawn.parquet").exit_code == 0
    exact = pq.read_table("drawn.parquet")
    assert str(exact.schema.field("day").type) == "date32[day]"
    assert set(exact.column("kind").to_pylist()) == {"=1", "b"}


def test_bands_for_the_population_are_those_of_the_library(command, released, queries):
    answers = table(command("query", released, "queries.csv", "--population"))
    expected = for_population(load(released)).answer(queries)
    for name in ("estimate", "low", "high"):
        np.testing.assert_array_equal(answers[name], getattr(expected, name))
    assert "needs --population" in refused(command("query", released, "queries.csv", "--alike", "0.5"))
