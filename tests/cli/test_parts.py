"""Several questions in one release, from the command line."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from core import Budget, Categorical, Domain, Ledger, Numeric, RequestError, load
from core.cli.release_parts import Asked, declared_parts
from core.cli.shared_options import GuessOptions
from core.cli.sketch_options import SketchOptions
from tests.cli.conftest import BOUNDS, refused

PARTS = (
    *("--part", "race:x,y;rows=20;width=30"),
    *("--part", "how far=distance:y"),
    *("--part", "by kind=histogram:x;label=kind;weight=2"),
    *("--part", "distance:x,y;norm=squared"),
)
OPTIONS = (*BOUNDS, "--categories", "kind=a,b", "--bandwidth", "2", *PARTS, "--records", "2000")
NAMES = ["density of x and y", "how far", "by kind", "distance of x and y"]
DOMAIN = Domain((Numeric("x", 0, 10), Numeric("y", 0, 10), Categorical("kind", ("a", "b"))))


@pytest.fixture
def people_of_kinds(tmp_path):
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"x": random.uniform(0, 10, 2000), "y": random.uniform(0, 10, 2000)})
    frame.assign(kind=random.choice(["a", "b"], 2000)).to_csv(tmp_path / "kinds.csv", index=False)
    frame.head(5).to_csv(tmp_path / "queries.csv", index=False)


@pytest.fixture
def several(command, people_of_kinds):
    made = command(
        "release", "kinds.csv", *OPTIONS, "--epsilon", "4", "--delta", "1e-6", "--out", "r.npz", "--dataset", "d"
    )
    assert made.exit_code == 0, made.output
    assert "4 parts" in made.stderr and "how far: " in made.stderr
    return "r.npz"


@pytest.mark.deep
def test_one_entry_and_a_file_whose_parts_are_asked_by_name(command, several, ledger):
    release = load(several)
    assert list(release.parts) == NAMES
    fitting, entry = Ledger(str(ledger)).status("d").releases  # whether records fit, and all parts
    assert fitting.cost.epsilon + entry.cost.epsilon == 4 and str(entry.cost.delta) == "0.000001"
    assert (release.privacy.epsilon, release.privacy.delta) == (4, entry.cost.delta)
    for name in NAMES:
        asked = command("query", several, "queries.csv", "--part", name)
        assert asked.exit_code == 0, asked.output
        answers = pd.read_csv(io.StringIO(asked.stdout))
        expected = release.parts[name].answer(pd.read_csv("queries.csv"))
        np.testing.assert_array_equal(answers["estimate"], expected.estimate)
    assert command("query", several, "queries.csv", "--part", "by kind", "--class", "a").exit_code == 0
    assert command("classify", several, "queries.csv", "--part", "by kind").exit_code == 0
    assert command("centre", several, "--part", "how far").exit_code == 0
    assert command("modes", several, "--part", NAMES[0]).exit_code == 0
    assert "ask one of its parts: 'density of x and y', 'how far'" in refused(command("query", several, "queries.csv"))
    assert "no part 'nobody'" in refused(command("query", several, "queries.csv", "--part", "nobody"))
    assert "classes" in refused(command("classify", several, "queries.csv", "--part", "how far"))


@pytest.mark.deep
def test_it_is_described_made_again_and_merged(command, several):
    words = command("inspect", several).stdout
    facts = json.loads(command("inspect", several, "--json").stdout)
    assert all(f"“{name}”" in words for name in NAMES) and [part["name"] for part in facts["parts"]] == NAMES
    again = ("release", "kinds.csv", "--like", several, "--epsilon", "4", "--delta", "1e-6", "--out", "s.npz")
    assert command(*again).exit_code == 0
    assert "2 releases" in command("merge", several, "s.npz", "--out", "both.npz").stderr
    assert load("both.npz").parts["how far"].privacy.releases == 2
    seen = json.loads(command("forecast", "--like", several, "--epsilon", "1", "--json").stdout)
    assert list(seen["pure"]) == NAMES and 0 < seen["with_delta"]["how far"]["share"] < 1


@pytest.mark.deep
def test_an_attack_on_all_parts_at_once(command):
    small = ("--part", "race:x;rows=4;width=6", "--part", "distance:y;norm=squared")
    audited = command("audit", *BOUNDS, "--bandwidth", "2", *small, "--epsilon", "1", "--runs", "500", "--json")
    assert audited.exit_code == 0 and json.loads(audited.stdout)["verdict"] == "pass"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("wizardry", "There is no part 'wizardry'"),
        ("density:nobody", "a column 'nobody'"),
        ("density:", "must be written as"),
        ("=density", "must be written as"),
        ("race:x;rows", "must be written as"),
        ("race:x;rows=2;rows=3", "must be written as"),
        ("race:x;colour=3", "no option 'colour'"),
        ("race:x;rows=many", "whole number"),
        ("race:x;norm=l1", "--norm"),
        ("race:x;weight=0", "weight"),
        ("density:x", "--records"),
        ("mwem:x", "apart"),
        ("race:x;label=y", "categories"),
        ("race:x;scale=log", "scale"),
    ],
)
def test_parts_that_are_refused(part, words):
    with pytest.raises(RequestError, match=words):
        declared_parts(SketchOptions(part=[part], bandwidth="2"), DOMAIN, Budget(1), GuessOptions())


@pytest.mark.deep
def test_a_part_of_many_columns_needs_no_bandwidth(capsys):
    """It follows from how far records lie apart: as is said, or else a sixth of the bounds."""
    shape = SketchOptions(part=["density:x,y,kind"])
    usual, said = (
        declared_parts(shape, DOMAIN, Budget(1), GuessOptions(records=2000, spread=spread)).parts[0].sketch.kernel
        for spread in (None, 0.1)
    )
    np.testing.assert_allclose(usual.bandwidth, np.multiply(said.bandwidth, (1 / 6) / 0.1), rtol=0.01)
    assert capsys.readouterr().err.count("a sixth of the bounds is supposed") == 1


def test_options_beside_the_parts_hold_for_those_that_have_them():
    shape = SketchOptions(part=["race:x;rows=8", "moments", "race:y;rows=9;bandwidth=3"], bandwidth="2", seed="5")
    race, moments, other = (part.sketch for part in declared_parts(shape, DOMAIN, Budget(1), None).parts)
    assert (race.kernel.bandwidth, other.kernel.bandwidth, race.seed) == (2, 3, 5)
    assert moments.domain == DOMAIN
    with pytest.raises(RequestError, match="no --part has it"):
        declared_parts(SketchOptions(part=["race:x"], norm="l1", bandwidth="2"), DOMAIN, Budget(1), None)
    with pytest.raises(RequestError, match="each --part says its own"):
        declared_parts(SketchOptions(part=["race:x"], label="kind"), DOMAIN, Budget(1), None)


def test_how_a_part_is_written():
    asked = Asked.of('ages, all=race:"a, b",c ; bandwidth = 0.1;label=sex')
    assert asked == Asked("ages, all", "race", ("a, b", "c"), {"bandwidth": "0.1", "label": "sex"})
    assert Asked.of("tables:pairs-of=a,b") == Asked("", "tables", ("a", "b"), {})
    assert Asked.of("tables:singles;rows=3") == Asked("", "tables", (), {"rows": "3", "tables": "singles"})


@pytest.mark.deep
def test_tables_beside_another_question(command, people_of_kinds):
    asked = (*BOUNDS, "--categories", "kind=a,b", "--part", "tables:pairs", "--part", "distance:x")
    made = command("release", "kinds.csv", *asked, "--epsilon", "4", "--delta", "1e-6", "--out", "t.npz")
    assert made.exit_code == 0, made.output
    tables, far = load("t.npz").parts.values()
    assert list(load("t.npz").parts) == ["tables of x, y and kind", "distance of x"]
    assert tables.records == pytest.approx(2000, abs=8 * tables.records_error + 1) and far.privacy.epsilon == 4


def test_a_share_of_a_part_is_fixed_where_it_is_typed():
    shape = SketchOptions(part=["distance:x;share=0.3", "distance:y"])
    made = declared_parts(shape, DOMAIN, Budget(1), GuessOptions(records=2_000.0))
    assert [part.share for part in made.members] == [0.3, None]
    with pytest.raises(RequestError, match="must lie between 0 and 1"):
        declared_parts(SketchOptions(part=["distance:x;share=30", "distance:y"]), DOMAIN, Budget(1), None)
