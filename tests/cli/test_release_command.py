"""Releases from the command line: what is spent, what is written, and what is said about both."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Ledger, load
from core.domain import Categorical, Numeric, PrivacyUnit, Vector
from core.domain.declarations import Declaration
from core.privacy.ledger.ledger_records import named_after
from tests.cli.conftest import BOUNDS, SKETCH, SMALL, people, refused
from tests.depth import deep


def test_a_release_is_written_and_paid_for(command, source, ledger):
    result = command("release", source, *SKETCH, "--epsilon", "1", "--out", "people.npz")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "'people', after the source" in result.stderr
    assert "registered it with a total of ε = 1, exactly what this release spends" in result.stderr
    assert "Spent ε = 1 of the data set 'people', of which nothing is left." in result.stderr
    release = load("people.npz")
    assert release.private
    assert release.domain.columns == (Numeric("x", 0, 10), Numeric("y", 0, 10))
    assert (release.sketch.rows, release.sketch.width) == (60, 64)
    assert abs(release.records - 2000) < 8 * release.records_error
    status = Ledger(ledger).status("people")
    assert (status.epsilon, status.left, len(status.releases)) == (1, 0, 2)  # whether records fit, and the table
    assert status.releases[1].note["parameters"] == release.sketch.parameters()


def test_an_option_that_the_kernel_has_not_was_refused_after_the_plan_was_printed(command, source):
    options = ("--bounds", "0:1", "--epsilon", "1", "--kernel", "gaussian", "--bandwidth", "0.1", "--width", "3")
    result = command("release", source, *options, "--out", "people.npz")
    assert result.exit_code == 2 and result.stderr.startswith("--width cannot be given here"), "nothing is said before"


def test_a_plan_that_did_not_change_was_said_three_times(command, source):
    options = ("--mechanism", "tables", "--records", "2000", "--epsilon", "1", "--out", "people.npz")
    result = command("release", source, *BOUNDS, *options)
    assert result.exit_code == 0 and result.stderr.count("Every column is counted by itself") == 1


@pytest.mark.thorough
def test_every_option_arrives(command, ledger):
    frame = people(300)
    frame["city"] = np.where(frame["x"] < 5, "Bern", "Basel")
    frame["spectrum"] = list(np.ones((300, 3)))
    frame.to_parquet("all.parquet")
    result = command(
        "release",
        "all.parquet",
        "--columns",
        "city,y,x,spectrum",
        "--bounds",
        "x=0:10",
        "--bounds",
        "-1:11",
        "--categories",
        "city=Basel,Bern",
        "--vector",
        "spectrum=3",
        "--unit",
        "id:2",
        "--outside",
        "drop",
        "--missing",
        "refuse",
        "--scale",
        "box",
        "--category-distance",
        "0.5",
        "--mechanism",
        "race",
        "--kernel",
        "laplacian",
        "--bandwidth",
        "x=0.5,y=0.4,city=0.3,spectrum=0.2",
        "--power",
        "2",
        "--rows",
        "80",
        "--width",
        "50",
        "--groups",
        "5",
        "--seed",
        "0x2a",
        "--epsilon",
        "0.30",
        "--delta",
        "1e-6",
        "--neighbours",
        "replace_one",
        "--dataset",
        "everyone",
        "--out",
        "all.npz",
    )
    assert result.exit_code == 0, result.output
    release = load("all.npz")
    domain, sketch, privacy = release.domain, release.sketch, release.privacy
    assert domain.columns == (
        Categorical("city", ("Basel", "Bern")),
        Numeric("y", -1, 11),
        Numeric("x", 0, 10),
        Vector("spectrum", 3, -1, 11),
    )
    assert (domain.outside, domain.missing, domain.scale) == ("drop", "refuse", "box")
    assert domain.unit == PrivacyUnit("id", 2)
    assert domain.category_distance == 0.5
    assert sketch.kernel.to_dict() == {"name": "laplacian", "bandwidth": [0.3, 0.4, 0.5, 0.2], "power": 2}
    assert (sketch.rows, sketch.width, sketch.groups, sketch.seed) == (80, 50, 5, 42)
    assert (str(privacy.epsilon), f"{privacy.delta:f}", privacy.neighbours) == ("0.3", "0.000001", "replace_one")
    assert Ledger(ledger).dataset("everyone").unit == "id:2"


@pytest.mark.parametrize("kernel", ["euclidean", deep("manhattan"), "angular", deep("laplacian")])
def test_every_kernel(command, source, kernel):
    bandwidth = () if kernel == "angular" else ("--bandwidth", "3")
    size = ("--rows", "40", "--width", "32")
    result = command(
        "release", source, *BOUNDS, "--kernel", kernel, *bandwidth, *size, "--epsilon", "1", "--out", "people.npz"
    )
    assert result.exit_code == 0, result.output
    assert load("people.npz").sketch.kernel.name == kernel


@pytest.mark.thorough
def test_rows_that_are_not_stated_are_chosen_from_public_guesses(command, source):
    options = (*BOUNDS, "--bandwidth", "2", "--width", "32", "--epsilon", "1")
    result = command("release", source, *options, "--records", "2000", "--density", "0.3", "--out", "people.npz")
    assert result.exit_code == 0, result.output
    rows = load("people.npz").sketch.rows
    assert f"The forecast chose {rows} rows for 2,000 records." in result.stderr


@pytest.mark.thorough
def test_a_second_release_must_fit_into_what_is_left(command, source, ledger):
    assert command("ledger", "add", "people", "--epsilon", "0.3").exit_code == 0
    options = ("release", source, *SKETCH, "--epsilon", "0.1", "--out")
    for number in range(3):
        assert command(*options, f"{number}.npz").exit_code == 0
    sentence = refused(command(*options, "3.npz"), code=3)
    assert "nothing was spent" in sentence
    assert len(Ledger(ledger).status("people").releases) == 4  # the first one counted whether records fit


def test_a_refusal_of_the_ledger_leaves_no_file(command, source, tmp_path):
    options = ("release", source, *SKETCH, "--epsilon", "1", "--out")
    assert command(*options, "1.npz").exit_code == 0
    refused(command(*options, "2.npz"), code=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "1.npz",
        "ledger.sqlite",
        "ledger.sqlite.releases",
        "people.parquet",
    ]


def test_a_release_protects_whom_the_total_protects(command, source):
    assert command("ledger", "add", "people", "--epsilon", "3", "--unit", "id:2").exit_code == 0
    options = ("release", source, *SKETCH, "--epsilon", "1", "--out", "people.npz")
    said = refused(command(*options))
    assert "promises to different people do not add up" in said and "each person named by id, with at most 2" in said
    assert command(*options, "--unit", "id:2").exit_code == 0


def test_the_ledger_may_be_named_by_option_or_environment(command, source, tmp_path, ledger):
    other = tmp_path / "other.sqlite"
    options = ("release", source, *SKETCH, "--epsilon", "1", "--dataset", "d", "--out", "people.npz")
    assert command(*options, "--ledger", other).exit_code == 0
    assert Ledger(other).names() == ["d"]
    assert not ledger.exists()


@pytest.mark.parametrize(
    ("name", "dataset"),
    [
        ("a.b.csv", "a.b"),
        ("visits.parquet", "visits"),
        ("x.csv.gz", "x"),
        ("s3://bucket/dir/t.parquet?k=1", "t"),
        ("/data/people.duckdb::main.visits", "people.main.visits"),
        ("array.npy", "array"),
        ("hotel bookings (1).csv", "hotel bookings"),  # as a browser saves what was saved before
        ("visits(12).csv.gz", "visits"),
        ("Census (2021).csv", "Census (2021)"),
        ("(1).csv", "(1)"),
    ],
)
def test_a_data_set_is_named_after_its_source(name, dataset):
    assert named_after(name) == dataset


@pytest.mark.thorough
def test_a_file_that_the_app_has_registered_has_one_budget_for_app_and_command_line(command, source, ledger):
    Ledger(ledger).register("people.parquet", 5)
    result = command("release", source, *SKETCH, "--epsilon", "1", "--out", "people.npz")
    assert result.exit_code == 0 and list(Ledger(ledger).names()) == ["people.parquet"]


def test_a_total_that_is_registered_by_the_way_is_warned_of(command, source, ledger):
    Ledger(ledger).register("others", 5)
    result = command("release", source, *SKETCH, "--epsilon", "1", "--out", "people.npz")
    assert "Warning: the ledger did not know the data set" in result.stderr and "nothing is left" in result.stderr
    assert "If its people are in 'others' too, they have two budgets now." in result.stderr


@pytest.mark.thorough
def test_a_pattern_needs_a_name_for_the_data_set(command, source, tmp_path):
    people().to_parquet(tmp_path / "people2.parquet")
    options = ("release", "people*.parquet", *SKETCH, "--epsilon", "1", "--out", "people.npz")
    assert "--dataset" in refused(command(*options))
    assert command(*options, "--dataset", "both").exit_code == 0
    assert abs(load("people.npz").records - 4000) < 1000


def test_an_array_without_names_is_taken_in_order(command, tmp_path):
    np.save(tmp_path / "points.npy", people()[["x", "y"]].to_numpy())
    result = command("release", "points.npy", *SKETCH, "--epsilon", "50", "--out", "points.npz")
    assert result.exit_code == 0, result.output
    release = load("points.npz")
    dense, empty = release.estimate([[3.0, 3.0], [3.0, 9.0]])
    assert dense > 2 * empty


def test_an_earlier_release_is_not_overwritten_by_mistake(command, source, ledger):
    options = ("release", source, *SKETCH, "--epsilon", "1", "--out", "people.npz", "--dataset")
    assert command(*options, "first").exit_code == 0
    before = load("people.npz").to_bytes()
    assert "--overwrite" in refused(command(*options, "second"))
    assert load("people.npz").to_bytes() == before
    assert Ledger(ledger).names() == ["first"]
    assert command(*options, "second", "--overwrite").exit_code == 0
    assert load("people.npz").to_bytes() != before


@pytest.mark.thorough
def test_a_renamed_copy_is_asked_about_before_it_is_paid_for(command, source):
    """It had a budget of its own, and was told so once that was spent."""
    first = command("release", source, *SKETCH, "--epsilon", "1", "--out", "a.npz")
    assert first.exit_code == 0 and "Of the same columns" not in first.stderr
    Path("renamed.parquet").write_bytes(Path(source).read_bytes())
    told = " ".join(command("release", "renamed.parquet", *SKETCH, "--epsilon", "1", "--out", "b.npz").stderr.split())
    assert f"if its people are those of '{Path(source).stem}', name that, as --dataset. " in told
    assert told.index("Of the same columns") < told.index("Spent")


@pytest.mark.thorough
def test_like_makes_a_release_that_merges(command, source):
    assert command("release", source, *SKETCH, "--epsilon", "2", "--out", "a.npz", "--dataset", "a").exit_code == 0
    options = ("release", source, "--like", "a.npz", "--epsilon", "2", "--dataset", "b")
    result = command(*options, "--out", "b.npz")
    assert result.exit_code == 0, result.output
    first, second = load("a.npz"), load("b.npz")
    assert second.sketch == first.sketch
    assert (second.counters != first.counters).any()
    assert command("merge", "a.npz", "b.npz", "--out", "c.npz").exit_code == 0
    assert (load("c.npz").counters == first.counters + second.counters).all()


@pytest.mark.thorough
def test_like_takes_the_relation_too(command, source):
    options = (*SKETCH, "--neighbours", "replace_one", "--epsilon", "2", "--dataset", "a")
    assert command("release", source, *options, "--out", "a.npz").exit_code == 0
    again = ("--like", "a.npz", "--epsilon", "1", "--dataset", "b")
    assert command("release", source, *again, "--out", "b.npz").exit_code == 0
    assert load("b.npz").privacy.neighbours == "replace_one"


@pytest.mark.parametrize(
    "option", [("--bounds", "x=0:10"), ("--rows", "60"), ("--kernel", "laplacian"), ("--unit", "id:2")]
)
def test_like_leaves_nothing_else_to_say(command, source, released, option):
    sentence = refused(command("release", source, "--like", released, *option, "--epsilon", "1", "--out", "b.npz"))
    assert sentence.startswith(option[0])


@pytest.mark.deep
def test_bounds_and_categories_from_a_public_sample(command, tmp_path):
    public = pd.DataFrame({"x": [0.0, 10.0, 4.0], "y": [1.0, 9.0, 2.0], "city": ["b", "a", "b"]})
    public.to_csv("public.csv", index=False)
    private = people(500).assign(city="a")
    private.to_csv("private.csv", index=False)
    result = command(
        "release",
        "private.csv",
        "--columns",
        "x,y,city",
        "--bounds",
        "y=0:10",
        "--bounds-from-sample",
        "public.csv",
        *SMALL,
        "--epsilon",
        "1",
        "--out",
        "people.npz",
    )
    assert result.exit_code == 0, result.output
    columns = load("people.npz").domain.columns
    assert columns == (Numeric("x", 0, 10), Numeric("y", 0, 10), Categorical("city", ("a", "b")))


def test_bounds_are_not_read_off_the_private_file_itself(command, source):
    again = str(source.parent / "." / ".." / source.parent.name / source.name)
    options = ("--columns", "x,y", "--bounds-from-sample", again, *SMALL, "--epsilon", "1", "--out", "people.npz")
    sentence = refused(command("release", source, *options))
    assert "names the private file itself" in sentence and "nothing was spent" in sentence


def test_nothing_private_is_printed_when_nobody_watches(command, source):
    """Standard error may end up in a log. Noise this large has the released number rounded to ten thousands."""
    result = command("release", source, *SKETCH, "--epsilon", "0.0001", "--out", "people.npz")
    assert result.exit_code == 0, result.output
    assert not re.search(r"\b2,?000\b", result.stderr)


def test_inspect_agrees_with_the_file(command, source):
    assert command("release", source, *SKETCH, "--epsilon", "0.25", "--out", "people.npz").exit_code == 0
    facts = json.loads(command("inspect", "people.npz", "--json").stdout)
    assert facts["privacy"]["epsilon"] == "0.25"
    assert facts["private"] is True
    assert facts["parameters"] == load("people.npz").sketch.parameters()


@pytest.mark.thorough
def test_categories_that_nobody_has_are_refused_for_a_hundredth_of_the_promise(command, ledger):
    pd.DataFrame({"cut": ["Fair", "Good "] * 2_000}).to_csv("stones.csv", index=False)
    options = ("--epsilon", 1, "--mechanism", "tables", "--out", "stones.npz", "--dataset", "stones")
    assert command("ledger", "add", "stones", "--epsilon", 3).exit_code == 0
    sentence = refused(command("release", "stones.csv", "--categories", "cut=schlecht,gut", *options))
    assert "records fit what is declared" in sentence and "ε = 0.01 of" in sentence
    assert Ledger(ledger).status("stones").spent == pytest.approx(0.01)
    made = command("release", "stones.csv", "--categories", "cut=fair,good", *options)  # whatever their case and blanks
    assert made.exit_code == 0 and load("stones.npz").records == pytest.approx(4_000, abs=100)


@pytest.mark.thorough
def test_rows_with_a_gap_are_not_dropped_in_silence(command, ledger):
    """Of 8,156 rows 4,650 were left, and nothing said beforehand which columns took the others."""
    people = pd.DataFrame(
        {"town": ["Lyon", "Nice"] * 3_000, "age": [40.0, 30.0] * 3_000, "pay": [1.0, None, 3.0] * 2_000}
    )
    people.to_csv("gaps.csv", index=False)
    declared = ("--categories", "town=Lyon,Nice", "--bounds", "age=0:100", "--bounds", "pay=0:10")
    assert command("ledger", "add", "gaps", "--epsilon", 9).exit_code == 0
    options = ("release", "gaps.csv", *declared, "--mechanism", "tables", "--epsilon", 4, "--dataset", "gaps", "--out")
    dropped = command(*options, "dropped.npz", "--missing", "drop").stderr
    before = "Records that miss a value of 'age', 'pay' or 'town' will be left out (--missing category counts them)."
    assert dropped.index(before) < dropped.index("First, for ε = 0.04")
    (lost,) = re.findall(r"fit what is declared, as (\S+) have no value within the bounds of 'pay'\.\n", dropped)
    assert float(lost.replace(",", "")) == pytest.approx(2_000, abs=600)  # noise of 35
    kept = command(*options, "kept.npz").stderr  # tables keep them as a group where nobody says otherwise
    assert "left out" not in kept and "as " not in re.search("First.*", kept)[0]
    made = load("kept.npz")
    assert made.records == pytest.approx(6_000, abs=100)
    assert made.asked().count({"pay": None}).estimate[0] == pytest.approx(2_000, abs=100)


@pytest.mark.thorough
@pytest.mark.parametrize(("rule", "records"), [("", 120), ("missing: drop\n", 40)])
def test_a_declaration_that_says_nothing_of_gaps_keeps_them_and_one_that_drops_them_does_not(command, rule, records):
    Path("gaps.csv").write_text("age,city\n" + "10,Bern\n,Chur\n30,\n" * 40)
    columns = "columns:\n  age: {kind: number, low: 0, high: 90}\n  city: {kind: category, values: [Bern, Chur]}\n"
    Path("gaps.yaml").write_text(rule + columns)
    told = ("--declaration", "gaps.yaml", "--mechanism", "tables", "--records", 100, "--epsilon", 50)
    made = command("release", "gaps.csv", *told, "--out", "gaps.npz")
    assert made.exit_code == 0 and load("gaps.npz").records == pytest.approx(records, abs=10), made.output
    declared = Declaration.of(rule + columns)
    assert Declaration.of(declared.text()) == declared
