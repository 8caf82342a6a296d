"""Declarations from the command line: a draft from a codebook, a release by it, and questions that are dates."""

from __future__ import annotations

import io
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, Categorical, Declaration, load, load_model
from core.cli.discovering import say_found
from core.domain import Dates, Domain, Numeric, PrivacyUnit
from core.privacy.accounting import Cost
from core.privacy.budget import EACH_RECORD
from core.privacy.composition import PureParts
from core.releases.discovery_stage import Discovery
from core.releases.found import Discovered, FoundColumn, Measured, paid_before, paid_text
from core.sources import open_source
from tests.cli.conftest import refused

BOOK = """variable,type,min,max,values,missing
age,int,0,110,,
pay,money,0,5000,,n/a
joined,date,2015-01-01,2024-12-31,,
sex,nominal,,,1=Female; 2=Male,
"""
JOINED = "joined: {kind: date, first: 2015-01-01, last: 2024-12-31}"
ROWS = 3_000
DENSITY = ("--kernel", "gaussian", "--bandwidth", "0.05", "--epsilon", "5", "--records", ROWS)


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(3)
    joined = pd.Timestamp("2018-06-01") + pd.to_timedelta(random.integers(-200, 200, ROWS), unit="D")
    pay = [f"{value:,}" for value in random.integers(500, 4_000, ROWS)]
    pay[::50] = ["n/a"] * len(pay[::50])
    frame = pd.DataFrame(
        {"age": random.integers(18, 90, ROWS), "pay": pay, "joined": joined, "sex": random.integers(1, 3, ROWS)}
    )
    frame.assign(note="some words").to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "book.csv").write_text(BOOK)
    return tmp_path / "people.csv"


@pytest.fixture
def declared(command, table):
    result = command("declare", table, "--codebook", "book.csv", "--out", "people.yaml")
    assert result.exit_code == 0, result.output
    assert "4 of 5 entries are whole" in result.stderr
    assert "Still to be finished: note" in result.stderr
    return "people.yaml"


def answers(result):
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout))


@pytest.mark.thorough
def test_a_table_is_released_by_its_declaration(command, table, declared):
    result = command("release", table, "--declaration", declared, *DENSITY, "--out", "all.npz")
    assert result.exit_code == 0, result.output
    release = load("all.npz")
    assert release.domain == Declaration.load(declared).domain
    assert release.records == pytest.approx(ROWS * 0.98, abs=8 * release.records_error)
    inspected = command("inspect", "all.npz").stdout
    assert "joined may hold 2015-01-01 to 2024-12-31, by the day" in inspected


@pytest.mark.deep
def test_dates_are_asked_about_and_come_back_as_dates(command, table, declared):
    made = command("release", table, "--declaration", declared, "--columns", "joined", *DENSITY, "--out", "j.npz")
    assert made.exit_code == 0, made.output
    pd.DataFrame({"joined": ["2018-06-01", "2016-01-01"]}).to_csv("asked.csv", index=False)
    asked = answers(command("query", "j.npz", "asked.csv"))
    assert asked["estimate"][0] > 20 * max(asked["estimate"][1], 1)
    assert asked["joined"].tolist() == ["2018-06-01", "2016-01-01"]
    peak = answers(command("modes", "j.npz"))["joined"][0]
    assert abs(pd.Timestamp(peak) - pd.Timestamp("2018-06-01")) < pd.Timedelta(days=120)
    assert len(peak) == 10
    line = answers(command("line", "j.npz", "joined"))["joined"]
    assert line.iloc[0].startswith("2015-01-01")
    assert line.iloc[-1].startswith("2024-12-31")
    drawn = pd.to_datetime(answers(command("sample", "j.npz", "--points", "200"))["joined"])
    assert abs(drawn.median() - pd.Timestamp("2018-06-01")) < pd.Timedelta(days=90)


@pytest.mark.deep
def test_a_date_may_be_held(command, table, declared):
    chosen = ("--declaration", declared, "--columns", "joined,age")
    made = command("release", table, *chosen, *DENSITY, "--out", "two.npz")
    assert made.exit_code == 0, made.output
    near, far = (
        answers(command("line", "two.npz", "age", "--at", f"joined={day}")) for day in ("2018-06-01", "2023-01-01")
    )
    assert near["estimate"].max() > 10 * far["estimate"].max()
    assert "not a date, such as" in refused(command("line", "two.npz", "age", "--at", "joined=soon"))


@pytest.mark.thorough
def test_what_is_typed_goes_before_the_file(command, table, declared):
    extra = ("--columns", "age", "--unit", "sex:2", "--scale", "none", "--missing", "refuse", "--bandwidth", "5")
    made = command("release", table, "--declaration", declared, *DENSITY, *extra, "--out", "age.npz")
    assert made.exit_code == 0, made.output
    domain = load("age.npz").domain
    assert (domain.names, domain.unit, domain.scale, domain.missing) == (
        ("age",),
        PrivacyUnit("sex", 2),
        "none",
        "refuse",
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--bounds", "age=0:1"], "--bounds cannot be given here, as --declaration says it of every column"),
        (["--columns", "ages"], "The declaration has no column 'ages'"),
        (["--label", "town"], "classes in the column 'town' are not in the declaration"),
    ],
)
def test_contradictions_are_refused(command, table, declared, options, sentence):
    assert sentence in refused(
        command("release", table, "--declaration", declared, *DENSITY, *options, "--out", "x.npz")
    )


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ("joined: {kind: number, low: 0, high: 1}", "'joined' holds dates or times where numbers are expected"),
        ("age: {kind: date, first: 2020-01-01, last: 2021-01-01}", "'age' holds numbers where dates are expected"),
        ("joined: {kind: date, first: 2021-01-01, last: 2020-01-01}", "must come before"),
        ("pay: {kind: number, low: 5, high: 1}", "must be below its largest"),
    ],
)
def test_a_wrong_declaration_costs_nothing(command, table, ledger, entry, sentence):
    Path("wrong.yaml").write_text(f"columns:\n  {entry}\n")
    assert sentence in refused(command("release", table, "--declaration", "wrong.yaml", *DENSITY, "--out", "x.npz"))
    assert "people" not in command("ledger", "list").stdout


@pytest.mark.thorough
def test_bounds_from_common_knowledge_are_said(command, table):
    Path("preset.yaml").write_text("columns: {age: {kind: number, preset: age}}\n")
    made = command("release", table, "--declaration", "preset.yaml", *DENSITY, "--bandwidth", "5", "--out", "x.npz")
    assert "age: 0 to 120 years by common knowledge" in made.stderr


def test_a_draft_is_refused_where_it_would_leak_or_overwrite(command, table, declared):
    assert "private file itself" in refused(command("declare", table, "--codebook", table))
    assert "--overwrite" in refused(command("declare", table, "--out", declared))
    assert "no codebook" in refused(command("declare", table, "--codebook", "absent.csv"))


@pytest.mark.thorough
def test_a_person_named_in_the_file_is_protected(command, table, declared):
    Path("unit.yaml").write_text(f"unit: {{column: note, at_most: 5}}\ncolumns: {{{JOINED}}}\n")
    made = command("release", table, "--declaration", "unit.yaml", *DENSITY, "--bandwidth", "90", "--out", "x.npz")
    assert made.exit_code == 0, made.output
    assert load("x.npz").domain.columns == (Dates("joined", "2015-01-01", "2024-12-31"),)
    assert load("x.npz").domain.unit == PrivacyUnit("note", 5)


@pytest.mark.thorough
def test_missing_values_are_a_category_by_one_option(command, tmp_path):
    (tmp_path / "gaps.csv").write_text("age,city\n" + "10,Bern\n,Chur\n30,\n" * 40)
    told = ("--columns", "age,city", "--bounds", "age=0:90", "--categories", "city=Bern,Chur")
    options = ("--mechanism", "tables", "--missing", "category", "--epsilon", "50", "--out", "gaps.npz")
    made = command("release", "gaps.csv", *told, *options)
    assert made.exit_code == 0, made.output
    release = load("gaps.npz")
    assert [column.missing_category for column in release.domain.columns] == ["missing", "missing"]
    assert release.count(city="missing").estimate[0] == pytest.approx(40, abs=10)
    assert release.records == pytest.approx(120, abs=20)


@pytest.mark.thorough
def test_unknown_categories_leave_half_of_a_table_out_and_the_label_says_so_unless_they_count_as_other(command, table):
    shared = (
        "release",
        table,
        "--mechanism",
        "tables",
        "--categories",
        "sex=1,3",
        "--bounds",
        "age=0:100",
        "--epsilon",
        "5",
        "--records",
        ROWS,
    )
    told = command(*shared, "--missing", "drop", "--out", "half.npz")
    assert told.exit_code == 0 and "less than the 3,000 that were said to be there" in " ".join(told.stderr.split())
    told = command(*shared, "--missing", "drop", "--unknown", "category", "--dataset", "whole", "--out", "whole.npz")
    assert told.exit_code == 0 and "said to be there" not in told.stderr
    half, whole = load("half.npz"), load("whole.npz")
    assert half.records < 0.6 * ROWS and whole.records == pytest.approx(ROWS, abs=60)
    assert next(one for one in whole.domain.columns if one.name == "sex").categories == ("1", "3", "other")
    assert "not on its public list were left out" in command("inspect", "half.npz").output.replace("\n", " ")
    assert "counts as other" in " ".join(command("inspect", "whole.npz").output.split())


FIND = ("--discover", "--epsilon", "20", "--delta", "0.0001")


@pytest.mark.thorough
def test_what_the_codebook_does_not_say_is_found_under_a_promise_and_paid_for(command, table):
    result = command("declare", table, "--codebook", "book.csv", *FIND, "--out", "found.yaml")
    assert result.exit_code == 0, result.output
    text = Path("found.yaml").read_text()
    assert "a share of 0.1 of ε = 20" in text and "note" in text.split("# found")[-2].splitlines()[-1]
    assert "may spend --epsilon" in result.stderr
    others = r"(at most [\d,]+|about [\d,]+ ± [\d,.]+) records have another one"  # "about 0" said that nobody has
    assert re.search(others, " ".join(result.stderr.split()))
    assert {"age", "pay", "joined", "sex", "note"} <= set(Declaration.of(text).domain.names)
    again = command("declare", table, *FIND, "--share", "0.9")
    assert "nothing was spent" in refused(again, 3)
    assert "--epsilon" in refused(command("declare", table, "--discover"))
    assert "--discover is not" in refused(command("declare", table, "--epsilon", "1"))


@pytest.mark.thorough
def test_discover_is_a_command_of_its_own_and_what_declare_does_with_that_option(command, table):
    """Scripts call it by its own name, which there was not."""
    wrong = ("--epsilon", "20", "--delta", "0.0001", "--unit", "id:0")
    assert refused(command("discover", table, *wrong)) == refused(command("declare", table, "--discover", *wrong))
    made = command("discover", table, "--epsilon", "20", "--delta", "0.0001", "--dataset", "d", "--out", "own.yaml")
    assert made.exit_code == 0, made.output
    assert "# found" in Path("own.yaml").read_text() and "may spend --epsilon" in made.stderr
    release = (
        "--declaration",
        "own.yaml",
        "--mechanism",
        "tables",
        "--dataset",
        "d",
        "--epsilon",
        "15",
        "--delta",
        "1e-5",
    )
    assert command("release", table, *release, "--out", "own.npz").exit_code == 0


@pytest.mark.thorough
def test_a_release_and_a_model_of_columns_that_commands_found_promise_what_that_cost_too(command, table):
    """The page's did; those of commands showed ranges that had cost a tenth, and promised the table alone."""
    found = command("discover", table, "--epsilon", "20", "--delta", "0.0001", "--dataset", "d", "--out", "own.yaml")
    assert found.exit_code == 0, found.output
    paid = paid_before(Declaration.load("own.yaml").paid)[0][0]
    rest = re.search(r"may spend (--epsilon) (\S+) (--delta) ([\d.]+\d)", " ".join(found.stderr.split())).groups()
    own = ("--declaration", "own.yaml", "--dataset", "d", *rest)
    made = command("release", table, *own, "--mechanism", "tables", "--out", "own.npz")
    assert made.exit_code == 0, made.output
    assert (load("own.npz").privacy.epsilon, load("own.npz").privacy.delta) == (20, Decimal("0.0001"))
    command("ledger", "add", "e", "--epsilon", "100", "--delta", "0.001")  # another, of which it was no first part
    alone = ("--declaration", "own.yaml", "--dataset", "e", "--epsilon", "20", "--delta", "0.0001")
    made = command("train", table, *alone, "--target", "age", "--out", "age.json")
    assert made.exit_code == 0, made.output
    assert load_model("age.json").budget.epsilon == 20 + paid.epsilon


@pytest.fixture
def paid(tmp_path):
    """A declaration that was found out for half of ε, and its price."""
    cost = Cost((PureParts(Fraction(1, 2)),), Decimal("0.5"))
    columns = (Categorical("month", ("1", "2", "3")), Numeric("age", 0, 110))
    declared = Declaration(Domain(columns, scale="box"), paid=paid_text([(cost, Budget(5))]))
    (tmp_path / "paid.yaml").write_text(declared.text())
    ages = "".join(f"{i % 3 + 1},{i % 90},n{i}\n" for i in range(300))
    (tmp_path / "months.csv").write_text("month,age,note\n" + ages)
    return cost


def test_a_declaration_that_was_paid_for_carries_its_price_as_a_codebook_too(command, paid):
    """What `declare` and `discover` wrote of it promised what was found beside it alone, or nothing at all."""
    drafted = command("declare", "months.csv", "--codebook", "paid.yaml", "--out", "draft.yaml")
    assert drafted.exit_code == 0, drafted.output
    assert paid_before(Declaration.load("draft.yaml").paid) == ((paid,), Budget(5))
    asked = Discovery.of_source(open_source("months.csv"), Budget(9), said=Declaration.load("paid.yaml"))
    found = Discovered(
        (FoundColumn("age", Numeric("age", 0, 110)),),
        Measured(9, 1),
        asked.cost,
        "0.1",
        Budget(9),
        asked.left,
        EACH_RECORD,
        before=asked.said.paid,
    )
    assert paid_before(found.declaration.paid)[0] == (paid, asked.cost)
    damaged = Path("paid.yaml").read_text().replace("events", "event")
    Path("damaged.yaml").write_text(damaged)
    assert "find it out again" in refused(command("declare", "months.csv", "--codebook", "damaged.yaml"))


def test_what_would_not_promise_what_its_columns_cost_is_not_made_of_them(command, paid):
    """Rounds, surveys, and a release that finds out the rest promised their own price, beside ranges that had one."""
    told = refused(
        command("release", "months.csv", "--declaration", "paid.yaml", "--discover", "--epsilon", "5", "--out", "x.npz")
    )
    assert "as a codebook" in told
    race = (
        "--declaration",
        "paid.yaml",
        "--mechanism",
        "race",
        "--epsilon",
        "1",
        "--records",
        "300",
        "--columns",
        "age",
        "--kernel",
        "gaussian",
        "--bandwidth",
        "9",
    )
    told = refused(command("combine", "plan", "--owners", "a,b", *race, "--out", "plan.json"))
    assert "the promise of a round does not cover" in told
    told = refused(command("local", "records", "--question", "Where?", *race, "--out", "survey.json"))
    assert "the promise of a survey does not cover" in told


def test_a_living_release_of_columns_that_were_paid_for_promises_that_too(command, paid):
    """It promised the price of its periods alone, and so did every file that it grew to."""
    living = (
        "--declaration",
        "paid.yaml",
        "--mechanism",
        "race",
        "--kernel",
        "euclidean",
        "--bandwidth",
        "9",
        "--rows",
        "4",
        "--width",
        "8",
        "--epsilon",
        "1",
        "--dataset",
        "d",
        "--records",
        "300",
    )
    begun = command("living", "begin", "months.csv", *living, "--period", "month", "--until", "1", "--out", "m.npz")
    assert begun.exit_code == 0, begun.output
    assert load("m.npz").privacy.epsilon == Decimal("1.5")
    grown = command("living", "go-on", "m.npz", "months.csv", "--dataset", "d", "--until", "2")
    assert grown.exit_code == 0, grown.output
    assert load("m.npz").privacy.epsilon == Decimal("1.5")


@pytest.mark.thorough
def test_a_release_finds_out_what_its_declaration_does_not_say(command, table):
    made = command("release", table, *FIND, "--out", "found.npz")
    assert made.exit_code == 0, made.output
    release = load("found.npz")
    assert release.privacy.epsilon == 20 and set(release.finding.columns) <= {"age", "pay", "joined", "sex", "note"}
    assert "were found under the promise" in command("inspect", "found.npz").stdout
    assert "--discover finds" in refused(
        command("release", table, *FIND, "--private-bounds", "age=0:200", "--mechanism", "tables", "--out", "x.npz")
    )


EXPORT = "id;Geboren;Gebühr;ok\n" + "".join(
    f"{i:05d};{i % 28 + 1:02d}/{i % 12 + 1:02d}/19{i % 60 + 30};1.{i % 900 + 100},50;{('ja', 'nein', '')[i % 3]}\n"
    for i in range(600)
)


@pytest.mark.thorough
def test_an_ordinary_export_in_latin_1_is_drafted_with_its_formats_and_released(command, tmp_path):
    (tmp_path / "bib.csv").write_bytes(EXPORT.encode("latin-1"))
    drafted = command("declare", "bib.csv")
    assert "Geboren: {kind: date, format: day_first}" in drafted.stdout
    assert "{kind: number, format: decimal_comma}" in drafted.stdout and "ok: {kind: yes_no}" in drafted.stdout
    assert "fields separated by semicolons" in drafted.stderr
    bounds = ("--bounds", "Gebühr=1000:2000", "--bounds", "Geboren=1930-01-01:1990-12-31")
    formats = ("--format", "Gebühr=decimal_comma", "--format", "Geboren=day_first", "--format", "ok=yes_no")
    promise = ("--mechanism", "tables", "--epsilon", "20", "--records", 400, "--missing", "drop")
    made = command("release", "bib.csv", *bounds, *formats, *promise, "--out", "b.npz")
    assert made.exit_code == 0, made.output
    release = load("b.npz")
    assert [type(column).__name__ for column in release.domain.columns] == ["Numeric", "Dates", "Categorical"]
    assert release.records == pytest.approx(400, abs=40)
    unknown = command("release", "bib.csv", "--bounds", "x=0:1", "--format", "x=?", *promise, "--out", "c.npz")
    assert "decimal_point" in refused(unknown)


def test_a_file_says_how_it_is_read_where_its_owner_does(command, tmp_path):
    (tmp_path / "x.txt").write_bytes("Titel\nимя:num\nя:1\n".encode("cp1251"))
    drafted = command("declare", "x.txt", "--encoding", "cp1251", "--sep", "colon", "--header", "2")
    assert "имя" in drafted.stdout and "num: {kind: number}" in drafted.stdout
    (tmp_path / "y.csv").write_text("1,2\n3,4\n")
    assert "values where names" in refused(command("declare", "y.csv"))
    assert "one: {kind: number}" in command("declare", "y.csv", "--header", "0", "--names", "one,two").stdout


def test_what_was_found_says_no_more_than_noise_lets_it(capsys):
    """It said "about 14,000 records" of 9,000, "about 1,100 ± 1,700", "1 values", and one sentence eighty times."""
    budget, unit = Budget(1), EACH_RECORD
    few = Measured(3.0, 50.0)
    lost = tuple(FoundColumn(f"Q{place}", None, why="Too few have a value.") for place in range(80))
    sex = FoundColumn(
        "sex", Categorical("sex", ("f", "other")), values={"f": Measured(900.0, 50.0)}, other=Measured(1_100.0, 850.0)
    )
    views = tuple(
        FoundColumn(
            f"V{place}", Categorical(f"V{place}", ("yes", "no", "other"), unknown_category="other"), missing=few
        )
        for place in range(3)
    )
    found = Discovered((sex, *views, *lost), Measured(14_000.0, 3_500.0), None, "0.1", budget, budget, unit)
    say_found(found)
    said = " ".join(capsys.readouterr().err.split())
    assert "the table has about 14,000 ± 7,000 records" in said
    assert "'sex': 1 value; at most 2,800 records have another one." in said
    assert "'V0' and 2 more of this name: 2 values, found in all of them together." in said
    assert "Q5' and 74 more are left out. Too few have a value." in said and said.count("Too few") == 1


@pytest.mark.thorough
def test_a_release_that_finds_out_columns_takes_the_labels_of_its_own_file(command, tmp_path):
    """It found parties to be numbers from 0 to 260, as 97 and 98 stood for no answer, beside labels that said so."""
    written, random = pytest.importorskip("pyreadstat"), np.random.default_rng(5)
    poll = pd.DataFrame({"vote": random.choice([1.0, 2, 97, 98], ROWS), "age": random.integers(18, 90, ROWS) + 0.0})
    labels = {"vote": {1: "A", 2: "B", 97: "refused", 98: "unsure"}}
    written.write_sav(poll, str(tmp_path / "poll.sav"), variable_value_labels=labels)
    promise = (
        "--epsilon",
        "5",
        "--delta",
        "1e-6",
        "--ledger",
        tmp_path / "ledger.sqlite",
        "--out",
        tmp_path / "poll.npz",
    )
    result = command("release", tmp_path / "poll.sav", "--discover", "--labels", "--mechanism", "tables", *promise)
    assert result.exit_code == 0, result.output
    assert "labels of the file say what 'vote' may hold" in " ".join(result.stderr.split())
    found = load(tmp_path / "poll.npz").sketch.domain
    assert found.columns[found.names.index("vote")].categories == ("A", "B", "refused", "unsure")


@pytest.mark.thorough
def test_labels_that_may_be_made_of_the_answers_are_taken_where_their_owner_says_that_they_are_public(
    command, tmp_path
):
    """A factor's labels are all values there are: one that a single person has was found at no price."""
    random = np.random.default_rng(5)
    towns = random.choice(["Bern", "Uri", "Zug"], ROWS).astype(object)
    towns[7] = "Xanthippe's"
    pd.DataFrame({"town": pd.Categorical(towns), "age": random.integers(18, 90, ROWS) + 0.0}).to_stata(
        tmp_path / "people.dta", write_index=False
    )
    promise = ("--epsilon", "5", "--delta", "1e-6", "--ledger", tmp_path / "ledger.sqlite")
    for name, more in (("found", ()), ("taken", ("--labels",))):
        out = tmp_path / f"{name}.yaml"
        result = command("discover", tmp_path / "people.dta", *promise, "--dataset", name, *more, "--out", out)
        assert result.exit_code == 0, result.output
        told = "not taken" in " ".join(result.stderr.split())
        assert ("Xanthippe" in out.read_text(), told) == ((False, True), (True, False))[bool(more)]


def test_a_codebook_that_says_a_column_is_text_takes_nothing_from_its_first_records(command, tmp_path):
    """Where most of them said yes or no it was declared as yes or no "from the codebook", and nothing was paid."""
    (tmp_path / "poll.csv").write_text("smoker\n" + "yes\nno\n" * 300)
    (tmp_path / "book.csv").write_text("name,type\nsmoker,text\n")
    promise = ("--codebook", tmp_path / "book.csv", "--epsilon", "5", "--ledger", tmp_path / "ledger.sqlite")
    made = command("discover", tmp_path / "poll.csv", *promise)
    assert made.exit_code == 0 and "# found" in made.stdout, made.output


def test_an_error_that_is_wanted_of_columns_that_nobody_has_said_is_refused_in_words(command, table):
    """It asked for bounds of 'COLUMN'."""
    wanted = ("--error", "2%", "--records", "4000", "--delta", "1e-6", "--out", "out.npz")
    said = refused(command("release", table, "--discover", "--mechanism", "tables", *wanted))
    assert "--error cannot be given here" in said and "`discover` first" in said and "COLUMN" not in said
