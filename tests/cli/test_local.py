"""Local reports from the command line: survey, devices, collector."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from core.local.local_release import load_local
from core.local.oracles.oracle import oracle
from core.local.survey import read_survey
from core.local.trust import Shuffled
from tests.cli.conftest import refused

FRUIT = ["apple", "pear", "fig", "it is “complicated”, say"]


@pytest.fixture
def survey(command, tmp_path):
    pd.DataFrame({"fruit": FRUIT}).to_csv("fruit.csv", index=False)
    options = ("--question", "Which?", "--values", "fruit.csv", "--epsilon", "2")
    made = command("local", "survey", *options, "--out", "S.json")
    assert made.exit_code == 0, made.output
    assert "Take " in made.stderr and "± " in made.stderr
    return tmp_path / "S.json"


def answers(count: int = 3_000) -> pd.DataFrame:
    picked = np.random.default_rng(1).choice(FRUIT, count, p=[0.6, 0.3, 0.1, 0.0])
    return pd.DataFrame({"who": np.arange(count), "fruit": picked})


def reported(command, name: str, table: pd.DataFrame):
    table.to_csv(f"{name}.csv", index=False)
    done = command(
        "local", "privatise", "S.json", f"{name}.csv", "--column", "fruit", "--overwrite", "--out", f"{name}.parquet"
    )
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.thorough
def test_from_answers_to_estimates(command, survey):
    table = answers()
    reported(command, "one", table[:1000])
    assert "2,000 reports" in reported(command, "two", table[1000:]).stderr
    sent = pq.read_table("one.parquet")
    assert sent.column_names == ["report"] and b"who" not in (sent.schema.serialize().to_pybytes())
    done = command("local", "aggregate", "S.json", "one.parquet", "two.parquet", "--out", "R.npz")
    assert done.exit_code == 0 and "3,000 reports were counted, and 0" in done.stderr and "lied" in done.stderr
    assert command("local", "estimate", "R.npz", "--out", "E.csv").exit_code == 0
    found = pd.read_csv("E.csv")
    assert list(found) == ["value", "estimate", "low", "high", "share"] and found["value"].tolist() == FRUIT
    truth = table["fruit"].value_counts().reindex(FRUIT, fill_value=0).to_numpy()
    wide = (found["high"] - found["low"]).to_numpy()
    assert (np.abs(found["estimate"] - truth) < 2 * wide).all()  # eight standard deviations
    shown = command("local", "estimate", "R.npz", "--post", "norm-sub")
    processed = pd.read_csv(pd.io.common.StringIO(shown.stdout))
    assert abs(processed["estimate"].sum() - 3_000) < 1e-6 and "unprocessed" in shown.stderr


@pytest.mark.thorough
def test_records_become_a_release_that_is_asked_like_any_other(command, tmp_path):
    from core import load

    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.normal(40, 8, 3_000), "sex": rng.choice(["f", "m"], 3_000)})
    for name, part in (("one", table[:1000]), ("two", table[1000:])):
        part.to_csv(f"{name}.csv", index=False)
    columns = ("--bounds", "age=0:100", "--categories", "sex=f,m", "--bandwidth", "12")
    made = command(
        *("local", "records", "--question", "Who?", "--epsilon", "2", "--records", "3000", "--rows", "60"),
        *(*columns, "--out", "S.json"),
    )
    assert made.exit_code == 0 and "Each device reports one cell of 60 rows" in made.stderr, made.output
    for name in ("one", "two"):
        done = command("local", "privatise", "S.json", f"{name}.csv", "--out", f"{name}.parquet")
        assert done.exit_code == 0, done.output
    done = command("local", "aggregate", "S.json", "one.parquet", "two.parquet", "--out", "R.npz")
    assert done.exit_code == 0 and "3,000 reports were counted, and 0" in done.stderr and "lied" in done.stderr
    assert load("R.npz").records == 3_000
    pd.DataFrame({"age": [40.0], "sex": ["f"]}).to_csv("q.csv", index=False)
    asked = command("query", "R.npz", "q.csv")
    assert asked.exit_code == 0 and "estimate" in asked.stdout, asked.output
    # What cannot be reported is refused, and nothing written.
    pd.DataFrame({"age": [1.0, None], "sex": ["f", "m"]}).to_csv("hole.csv", index=False)
    refused(command("local", "privatise", "S.json", "hole.csv", "--out", "hole.parquet"))
    assert not (tmp_path / "hole.parquet").exists()
    options = ("--question", "Who?", "--epsilon", "2", *columns, "--out", "T.json")
    assert "--records" in refused(command("local", "records", *options))
    assert "--outside" in refused(command("local", "records", *options, "--records", "9", "--outside", "drop"))
    assert "race alone" in refused(command("local", "records", *options, "--records", "9", "--kernel", "gaussian"))
    assert not (tmp_path / "T.json").exists()


@pytest.mark.thorough
def test_a_second_survey_does_not_count_the_first_ones_reports(command, survey):
    reported(command, "one", answers(100))
    command("local", "survey", "--question", "Other?", "--values", "fruit.csv", "--epsilon", "2", "--out", "T.json")
    said = refused(command("local", "aggregate", "T.json", "one.parquet", "--out", "R.npz"))
    assert "another survey" in said


def test_reports_that_no_device_sends_are_counted_apart(command, survey):
    from core.local.local_release import report_schema
    from core.local.oracles.unary_subset_direct import DirectEncoding
    from core.local.survey import Survey

    made = Survey("Q", tuple(FRUIT), DirectEncoding(4, "1"))
    survey.write_text(made.text)
    schema = report_schema(made)
    import pyarrow as pa

    pq.write_table(pa.Table.from_arrays([pa.array([0, 1, 200, 3, 4], pa.uint8())], schema=schema), "bad.parquet")
    done = command("local", "aggregate", "S.json", "bad.parquet", "--out", "R.npz")
    assert "3 reports were counted, and 2" in done.stderr
    assert load_local("R.npz").refused == 2


def test_refusals_are_one_sentence_and_repeat_no_value(command, survey):
    pd.DataFrame({"fruit": ["apple", "SECRET"]}).to_csv("odd.csv", index=False)
    said = refused(command("local", "privatise", "S.json", "odd.csv", "--out", "odd.parquet"))
    assert "SECRET" not in said
    from pathlib import Path

    assert not Path("odd.parquet").exists()
    pd.DataFrame({"a": ["apple"], "b": ["pear"]}).to_csv("two.csv", index=False)
    refused(command("local", "privatise", "S.json", "two.csv", "--out", "odd.parquet"))
    refused(command("local", "privatise", "S.json", "odd.csv", "--out", "odd.csv"))
    refused(command("local", "aggregate", "S.json", "odd.csv", "--out", "R.npz"))
    refused(command("local", "aggregate", "S.json", "absent.parquet", "--out", "R.npz"))
    refused(command("local", "estimate", "S.json"))
    refused(command("local", "forecast", "--domain", "1", "--people", "10", "--epsilon", "1"))
    refused(command("local", "forecast", "--domain", "9", "--people", "10", "--epsilon", "0"))
    facts = json.loads(survey.read_text())
    for change in ({"surplus": "1"}, {"answers": ["a"]}, {"answers": "abcd"}, {"format": "x"}, {"more": 1}):
        survey.write_text(json.dumps(facts | change))
        refused(command("local", "aggregate", "S.json", "odd.csv", "--out", "R.npz"))


@pytest.mark.thorough
def test_forecasts_name_every_oracle_and_one_to_take(command):
    done = command("local", "forecast", "--domain", "100", "--people", "100000", "--epsilon", "1")
    assert done.exit_code == 0
    for name in ("de:", "sue:", "oue:", "blh:", "olh:", "flh:", "hm:", "hr:", "ss:", "pgr:"):
        assert name in done.stdout
    assert "found 97 times in 100" in " ".join(done.stdout.split())
    mixed = command("local", "forecast", "--domain", "100", "--people", "9000", "--epsilon", "1", "--delta", "1e-6")
    central = Shuffled.of(oracle("pgr", 100, 1), 9000).sentence(1e-6)
    assert "in random order among 9,000" in central and central in " ".join(mixed.stdout.split())
    refused(command("local", "forecast", "--domain", "9", "--people", "10", "--epsilon", "1", "--delta", "0"))
    short = command("local", "forecast", "--domain", "100", "--people", "9", "--epsilon", "1", "--bits", "7")
    assert "takes 7 bits" in " ".join(short.stdout.split())


@pytest.mark.thorough
def test_a_named_oracle_is_taken(command, survey):
    for name in ("olh", "oue"):
        arguments = ["--question", "Which?", "--values", "fruit.csv", "--epsilon", "1", "--oracle", name]
        assert command("local", "survey", *arguments, "--out", "S.json", "--overwrite").exit_code == 0
        assert read_survey(survey).oracle.name == name
        reported(command, "one", answers(100))
        assert command("local", "aggregate", "S.json", "one.parquet", "--out", "R.npz", "--overwrite").exit_code == 0


@pytest.mark.deep
@pytest.mark.parametrize("search", ["auto", "treehist", "sfp"])
def test_frequent_texts_are_found(command, search):
    words = np.random.default_rng(1).choice(["fig", "pear", "apple", "quince"], 8_000, p=[0.5, 0.3, 0.15, 0.05])
    pd.DataFrame({"word": words}).to_csv("words.csv", index=False)
    letters = "abcdefghijklmnopqrstuvwxyz"
    options = ("--question", "Which?", "--alphabet", letters, "--epsilon", "4", "--oracle", search)
    assert command("local", "survey", *options, "--length", "4", "--out", "S.json").exit_code == 0
    assert command("local", "privatise", "S.json", "words.csv", "--out", "w.parquet").exit_code == 0
    done = command("local", "find", "S.json", "w.parquet", "--top", "2", "--out", "found.csv")
    assert done.exit_code == 0, done.output
    found = pd.read_csv("found.csv")
    assert list(found) == ["value", "estimate", "low", "high"] and found["value"].tolist() == ["fig", "pear"]
    refused(command("local", "survey", *options[:-1], "magic", "--out", "T.json"))
    refused(command("local", "survey", "--question", "Q", "--epsilon", "1", "--out", "T.json"))


def test_find_lists_no_made_up_words_where_nobody_says_how_many(command):
    """Of twenty rows thirteen were noise for German words at ε = 1, though files of the same reports left them out."""
    words = np.random.default_rng(1).choice(["aa", "bc", "ca"], 4_000, p=[0.5, 0.3, 0.2])
    pd.DataFrame({"word": words}).to_csv("words.csv", index=False)
    options = ("--question", "Which?", "--alphabet", "abcdefgh", "--length", "2", "--epsilon", "4")
    assert command("local", "survey", *options, "--out", "S.json").exit_code == 0
    assert command("local", "privatise", "S.json", "words.csv", "--out", "w.parquet").exit_code == 0
    done = command("local", "find", "S.json", "w.parquet", "--out", "found.csv")
    assert done.exit_code == 0 and "cannot be told from noise" in done.output
    assert pd.read_csv("found.csv")["value"].tolist() == ["aa", "bc", "ca"]
    assert command("local", "find", "S.json", "w.parquet", "--top", "9", "--out", "nine.csv").exit_code == 0
    assert len(pd.read_csv("nine.csv")) == 9


def test_polls_are_exported_and_closed_from_the_command_line(command, survey, tmp_path):
    from core.local.poll_store import Polls

    kept = Polls(tmp_path / "polls.sqlite")
    asked = read_survey(survey)
    poll = kept.make(asked)
    kept.take(poll.id, "token-1234", [int(word) for word in asked.oracle.privatise([1]).reshape(-1)])
    where = ("--polls", "polls.sqlite")
    done = command("poll", *where, "--export", poll.id, "--out", "sent.parquet")
    assert done.exit_code == 0 and "1 reports were written" in done.stderr
    assert command("local", "aggregate", "S.json", "sent.parquet", "--out", "R.npz").exit_code == 0
    assert command("poll", *where, "--close", poll.id).exit_code == 0 and kept.poll(poll.id).closed
    refused(command("poll", *where, "--close", "absent-poll"))
    pretended = kept.make_up(asked, [3] * len(asked.answers))
    assert command("poll", *where, "--reveal", pretended.id).exit_code == 0 and kept.truth(pretended.id)
    refused(command("poll", *where, "--reveal", poll.id))
    refused(command("poll", *where, "--export", poll.id, "--out", "sent.csv"))
    refused(command("poll", "--polls", "empty.sqlite"))
    refused(command("poll", *where, "--host", "192.0.2.1"))
