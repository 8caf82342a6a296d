"""Surveys that any text answers, from the command line: sketches, what devices keep, and releases of found texts."""

import numpy as np
import pandas as pd
import pytest

from core.local.local_release import load_local
from tests.cli.conftest import refused

TOWNS = ["Ulm", "Köln", "Paris"]


@pytest.fixture
def answers(tmp_path):
    given = np.random.default_rng(1).choice(TOWNS, 3_000, p=[0.6, 0.3, 0.1])
    pd.DataFrame({"who": np.arange(3_000), "town": given}).to_csv("answers.csv", index=False)
    pd.DataFrame({"town": [*TOWNS, "Rome"]}).to_csv("towns.csv", index=False)
    pd.DataFrame({"town": ["Oslo"]}).to_csv("other.csv", index=False)


def made(command, sketch: str, *options: str) -> None:
    done = command(
        *("local", "texts", "--question", "Town?", "--epsilon", "3", "--sketch", sketch, *options, "--out", "S.json")
    )
    assert done.exit_code == 0 and "is known to ±" in " ".join(done.stderr.split()), done.output


@pytest.mark.thorough
def test_any_text_is_reported_and_asked_later(command, answers):
    made(command, "count-min", "--rows", "4", "--width", "64", "--people", "3000")
    assert (
        command("local", "privatise", "S.json", "answers.csv", "--column", "town", "--out", "R.parquet").exit_code == 0
    )
    done = command("local", "aggregate", "S.json", "R.parquet", "--candidates", "towns.csv", "--out", "R.npz")
    assert done.exit_code == 0 and "3,000 reports were counted" in done.stderr and "lied" in done.stderr
    shown = command("local", "estimate", "R.npz", "--out", "E.csv")
    found = pd.read_csv("E.csv").set_index("value")
    assert shown.exit_code == 0 and found.index.tolist() == [*TOWNS, "Rome"]
    wide = (found["high"] - found["low"]).to_numpy()
    assert (np.abs(found["estimate"] - [1_800, 900, 300, 0]) < 2 * wide + 100).all()
    other = command("local", "estimate", "R.npz", "--candidates", "other.csv")
    assert "Oslo" in other.stdout and "Ulm" not in other.stdout
    least = command("local", "estimate", "R.npz", "--rows", "min")
    assert "low" not in least.stdout and "share cells" in least.stderr
    refused(command("local", "estimate", "R.npz", "--rows", "mode"))
    refused(command("local", "estimate", "R.npz", "--rows", "min", "--post", "base-pos"))
    refused(command("local", "aggregate", "S.json", "R.parquet", "--out", "T.npz"))
    refused(
        command("local", "aggregate", "S.json", "R.parquet", "--candidates", "towns.csv", "--top", "3", "--out", "T")
    )
    refused(command("local", "privatise", "S.json", "towns.csv", "--keep", "K.parquet", "--out", "T.parquet"))


@pytest.mark.thorough
def test_devices_report_again_from_what_they_keep(command, answers, tmp_path):
    options = ("--width", "32", "--cohorts", "8", "--one-sent", "0.8", "--zero-sent", "0.2")
    made(command, "rappor", *options)
    first = ("local", "privatise", "S.json", "answers.csv", "--column", "town", "--keep", "K.parquet")
    assert command(*first, "--out", "day1.parquet").exit_code == 0
    done = command("local", "again", "S.json", "K.parquet", "--out", "day2.parquet")
    assert "all of a device together ε = 3" in " ".join(done.stderr.split()), done.output
    days = [pd.read_parquet(f"{name}.parquet")["report"].tolist() for name in ("K", "day1", "day2")]
    assert len(set(map(len, days))) == 1 and days[0] != days[1] != days[2] != days[0]
    done = command("local", "aggregate", "S.json", "day2.parquet", "--candidates", "towns.csv", "--out", "R.npz")
    assert done.exit_code == 0 and load_local("R.npz").people == 3_000
    for wrong in (
        ("aggregate", "S.json", "K.parquet", "--candidates", "towns.csv"),
        ("again", "S.json", "day1.parquet"),
    ):
        refused(command("local", *wrong, "--out", "T.parquet"))
        assert not (tmp_path / "T.parquet").exists()
    refused(command(*first[:-1], "same.parquet", "--out", "same.parquet"))
    for strange in (
        ("--rows", "3"),
        ("--one-sent", "0.1", "--zero-sent", "0.9"),
        ("--people", "0"),
        ("--oracle", "de"),
    ):
        refused(
            command("local", "texts", "--question", "Q", "--epsilon", "1", "--sketch", "rappor", *strange, "--out", "T")
        )


def test_found_texts_are_a_release(command):
    pd.DataFrame({"word": np.repeat(["fig", "pear"], [900, 600])}).to_csv("words.csv", index=False)
    options = ("--question", "Fruit?", "--alphabet", "aefgipr", "--length", "4", "--epsilon", "4")
    assert command("local", "survey", *options, "--out", "W.json").exit_code == 0
    assert command("local", "privatise", "W.json", "words.csv", "--out", "W.parquet").exit_code == 0
    done = command("local", "aggregate", "W.json", "W.parquet", "--top", "2", "--out", "W.npz")
    assert done.exit_code == 0 and "1,500 reports were searched" in " ".join(done.stderr.split()), done.output
    assert command("local", "estimate", "W.npz").stdout.splitlines()[1].startswith('"fig"')
    refused(command("local", "estimate", "W.npz", "--level", "0.9"))
    refused(command("local", "estimate", "W.npz", "--candidates", "words.csv"))
    refused(command("local", "aggregate", "W.json", "W.parquet", "--liars", "2", "--out", "T.npz"))
