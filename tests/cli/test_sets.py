"""Sets from the command line: edges, lists in texts, what is refused, and what every task makes of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import load
from tests.cli.conftest import refused

SIZE = ("--rows", "60", "--width", "500", "--seed", "7")
EDGES = ("--items", "to", "--gathered", "--unit", "from:1")
BASKETS = ("--items", "basket", "--separator", ";")


@pytest.fixture
def edges(tmp_path):
    """Two communities of 100 nodes: whoever is in one lists its first ten nodes, and one of their own."""
    start = np.repeat(np.arange(200), 11)
    to = np.where(np.arange(len(start)) % 11 == 10, 1000 + start, start // 100 * 500 + np.arange(len(start)) % 11)
    path = tmp_path / "edges.parquet"
    pd.DataFrame({"from": start, "to": to}).sample(frac=1, random_state=1).to_parquet(path)
    return path


@pytest.fixture
def baskets(tmp_path):
    path = tmp_path / "baskets.csv"
    pd.DataFrame({"basket": ["milk; bread", "bread;milk;tea", None, "coal"] * 50}).to_csv(path, index=False)
    return path


@pytest.mark.few(1)
@pytest.mark.parametrize("kernel", [(), ("--kernel", "jaccard"), ("--mechanism", "race", "--kernel", "jaccard")])
def test_edges_are_released_as_the_lists_of_nodes(command, edges, tmp_path, kernel):
    result = command("release", edges, *EDGES, *kernel, *SIZE, "--epsilon", "100", "--out", "g.npz")
    assert result.exit_code == 0, result.output
    release = load(tmp_path / "g.npz")
    assert release.sketch.name == "minhash" and release.sketch.scheme == "classic"
    # 99 nodes share ten of twelve items with a node, which is itself as well.
    assert release.estimate([[*range(10), 1000]])[0] == pytest.approx(1 + 99 * 10 / 12, abs=30)
    assert release.records == pytest.approx(200, abs=40)


@pytest.mark.thorough
def test_texts_are_cut_and_asked_about(command, baskets, tmp_path):
    options = (*BASKETS, "--scheme", "one-permutation", "--longest", "3", *SIZE)
    result = command("release", baskets, *options, "--epsilon", "100", "--out", "b.npz")
    assert result.exit_code == 0, result.output
    assert "basket" in command("inspect", "b.npz").stdout
    answers = command("query", "b.npz", baskets, "--out", "answers.csv")
    assert answers.exit_code == 2  # an empty basket is like nothing, so it cannot be asked about
    pd.DataFrame({"basket": ["milk;bread", "coal"], "note": [1, 2]}).to_csv(tmp_path / "q.csv", index=False)
    answers = command("query", "b.npz", "q.csv", "--out", "answers.csv")
    assert answers.exit_code == 0, answers.output
    table = pd.read_csv(tmp_path / "answers.csv")
    assert list(table.columns) == ["basket", "note", "estimate", "low", "high", "density"]
    assert table.estimate.tolist() == pytest.approx([50 + 50 * 2 / 3, 50], abs=30)
    assert command("anomalies", "b.npz", "q.csv").exit_code == 0
    for task, *columns in (["sample"], ["modes"], ["centre"], ["line", "basket"]):
        assert "holds sets" in refused(command(task, "b.npz", *columns))


@pytest.mark.thorough
def test_sets_are_forecast_and_recommended(command):
    guesses = (*BASKETS[:2], "--epsilon", "10", "--records", "1000", "--density", "0.01", "--set-size", "5")
    result = command("forecast", *guesses)
    assert result.exit_code == 0 and "1% close" in result.stdout, result.output
    result = command("recommend", *guesses)
    assert result.exit_code == 0 and "sets have no coordinates" in result.stdout, result.output


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "options, why",
    [
        (("--items", "basket"), "--separator|separates"),
        (("--separator", ";"), "--items"),
        ((*BASKETS, "--bounds", "0:1"), "alone"),
        ((*BASKETS, "--label", "basket"), "alone"),
        ((*BASKETS, "--gathered"), "separates|one item a row"),
        (("--items", "basket", "--gathered"), "privacy unit"),
        ((*BASKETS, "--kernel", "gaussian", "--bandwidth", "1"), "holds sets"),
        ((*BASKETS, "--kernel", "jaccard", "--bandwidth", "1"), "--bandwidth"),
        ((*BASKETS, "--norm", "l1"), "holds sets"),
        (("--bounds", "basket=0:1", "--kernel", "jaccard"), "records that are sets"),
        (("--bounds", "basket=0:1", "--bandwidth", "1", "--longest", "3"), "minhash"),
    ],
    ids=str,
)
def test_what_contradicts_sets_is_refused_in_one_sentence(command, baskets, options, why):
    sentence = refused(command("release", baskets, *options, "--epsilon", "1", "--out", "b.npz"))
    assert any(part in sentence for part in why.split("|")), sentence
