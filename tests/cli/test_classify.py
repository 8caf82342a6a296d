"""`classify` gives what the library gives, and counts right and wrong only where it is told the truth."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from core import load
from core.analysis.classification import classify
from core.formatting.numbers import percent
from tests.analysis.labelled import exact_classes, labelled, sealed
from tests.analysis.wide_bandwidth import wide_people, wide_release
from tests.cli.conftest import refused

TEST = labelled(300, seed=9)


@pytest.fixture
def grouped(tmp_path):
    sealed(*exact_classes(labelled())).save(tmp_path / "kinds.npz", teaching=True)
    TEST.assign(name="x,y").to_csv(tmp_path / "places.csv", index=False)
    return tmp_path / "kinds.npz"


@pytest.mark.thorough
def test_answers_stand_beside_the_places(command, grouped):
    result = command("classify", grouped, "places.csv")
    assert result.exit_code == 0, result.output
    answers = pd.read_csv(io.StringIO(result.stdout))
    found = classify(load(grouped), TEST)
    assert answers["label"].tolist() == found.labels.tolist()
    assert answers["certain"].tolist() == found.certain.tolist()
    np.testing.assert_allclose(answers["confidence"], found.confidence)
    np.testing.assert_allclose(answers[["probability_calm", "probability_wild"]], found.probabilities)
    assert answers["kind"].tolist() == TEST["kind"].tolist() and set(answers["name"]) == {"x,y"}
    assert f"Certain of {percent(float(found.certain.mean()), 3)} of 300 places" in result.stderr


def test_a_rule_and_a_level_of_ones_own(command, grouped, tmp_path):
    result = command(
        "classify", grouped, "places.csv", "--rule", "posterior", "--level", "0.5", "--out", "said.parquet"
    )
    assert result.exit_code == 0 and result.stdout == ""
    said = pd.read_parquet(tmp_path / "said.parquet")
    found = classify(load(grouped), TEST, "posterior", 0.5)
    assert said["label"].tolist() == found.labels.tolist() and said["certain"].tolist() == found.certain.tolist()


@pytest.mark.thorough
def test_where_posterior_says_the_largest_class_alone_it_is_told(command, tmp_path):
    wide_release().save(tmp_path / "wide.npz", teaching=True)
    wide_people(300, seed=7).to_csv(tmp_path / "wide.csv", index=False)
    said = command("classify", "wide.npz", "wide.csv", "--rule", "posterior").stderr
    assert "'many'" in said and "--rule likelihood" in said
    assert "largest class" not in command("classify", "wide.npz", "wide.csv").stderr


@pytest.mark.thorough
def test_with_the_truth_it_counts(command, grouped, tmp_path):
    result = command("classify", grouped, "places.csv", "--truth", "kind", "--out", "said.csv")
    assert result.exit_code == 0, result.output
    found = classify(load(grouped), TEST)
    assert f"{100 * (found.labels == TEST['kind']).mean():.1f}%" in result.stdout
    assert "don't know" in result.stdout and "true class" in result.stdout
    both = ((TEST["kind"] == "calm") & (found.labels == "calm") & found.certain).sum()
    assert str(both) in result.stdout
    assert len(pd.read_csv(tmp_path / "said.csv")) == 300
    alone = command("classify", grouped, "places.csv", "--truth", "kind")
    assert alone.stdout == result.stdout


@pytest.mark.thorough
def test_what_cannot_be_classified(command, grouped, released, tmp_path):
    (tmp_path / "odd.csv").write_text("x,y,sex,kind\n0.1,0.2,f,strange\n")
    (tmp_path / "short.csv").write_text("x,sex\n0.1,f\n")
    assert "row 1" in refused(command("classify", grouped, "odd.csv", "--truth", "kind"))
    assert "'species'" in refused(command("classify", grouped, "places.csv", "--truth", "species"))
    assert "'y'" in refused(command("classify", grouped, "short.csv"))
    assert "rule" in refused(command("classify", grouped, "places.csv", "--rule", "mean"))
    assert "level" in refused(command("classify", grouped, "places.csv", "--level", "2"))
    assert "column of classes" in refused(command("classify", released, "places.csv"))
    assert ".csv" in refused(command("classify", grouped, "places.csv", "--out", "said.txt"))
