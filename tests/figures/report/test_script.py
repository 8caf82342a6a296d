"""The scripts and notebooks that repeat an exploration: run for real, and safe whatever the names are."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import RequestError
from core.figures.report.exploration import Density, Exploration, Points, Sampled, plain_value
from core.figures.report.notebook import notebook_for
from core.figures.report.script import literal, script_for
from tests.figures.report.explorations import HARMLESS, HOSTILE, exploration_of, release_of

ROOT = Path(__file__).parents[3]


def run(program: str, folder: Path) -> subprocess.CompletedProcess:
    (folder / "program.py").write_text(program, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error::SyntaxWarning", "program.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")


def shape_of(program: str) -> str:
    """The syntax tree of a program without the values of its constants."""
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            node.value = None
    return ast.dump(tree)


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    """A hostile release, its exploration, and the folder with the file."""
    release = release_of(HOSTILE)
    data = release.to_bytes()
    folder = tmp_path_factory.mktemp("explored")
    exploration = exploration_of(data, HOSTILE)
    (folder / exploration.file).write_bytes(data)
    return release, exploration, folder


@pytest.mark.deep
def test_the_script_gives_the_answers_of_the_exploration(explored):
    release, exploration, folder = explored
    done = run(script_for(exploration), folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for place, step in enumerate(exploration.steps, start=1):
        written = pd.read_csv(folder / f"{place}-{step.kind}.csv", lineterminator="\n")
        expected = step.table(release)
        assert len(expected) > 0
        assert written.shape == expected.shape
        for (_, got), (_, wanted) in zip(written.items(), expected.items(), strict=True):
            if pd.api.types.is_numeric_dtype(wanted.dtype):
                np.testing.assert_allclose(got, wanted, rtol=1e-9)
            else:
                assert [str(value) for value in got] == [str(value) for value in wanted]


@pytest.mark.deep
def test_the_notebook_runs_from_top_to_bottom(explored):
    release, exploration, folder = explored
    notebook = json.loads(notebook_for(exploration))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    # As Jupyter does it: the value of a last line that is an expression is shown.
    show = "\nprint(type({0}).__name__, len({0}) if hasattr({0}, 'index') else '')"
    lines = [cell + (show.format(cell.splitlines()[-1]) if place else "") for place, cell in enumerate(code)]
    done = run("\n".join(lines), folder)
    assert done.returncode == 0, done.stderr
    densities = [isinstance(step, Density) for step in exploration.steps]
    shown = [line.split()[0] for line in done.stdout.splitlines()]
    expected = [kind for density in densities for kind in ["DataFrame"] + ["Figure"] * density]
    assert shown == expected
    assert f"DataFrame {len(exploration.steps[0].table(release))}" in done.stdout


@pytest.mark.deep
def test_a_script_says_when_it_is_given_another_file(explored):
    _, exploration, folder = explored
    other = Exploration(exploration.file, "0" * 64, (exploration.steps[4],))
    done = run(script_for(other), folder)
    assert done.returncode == 0 and "not the file that was explored" in done.stderr


def test_names_cannot_change_what_a_script_does():
    """With the worst names and with harmless ones the same program comes out, but for its constants."""
    hostile = exploration_of(b"", HOSTILE, file=HOSTILE)
    harmless = exploration_of(b"", HARMLESS, ("a", "b"))
    assert shape_of(script_for(hostile)) == shape_of(script_for(harmless))
    for theirs, ours in zip(*(json.loads(notebook_for(one))["cells"] for one in (hostile, harmless)), strict=True):
        assert theirs["cell_type"] == ours["cell_type"]
        if ours["cell_type"] == "markdown":
            assert theirs == ours
        else:
            assert shape_of("".join(theirs["source"])) == shape_of("".join(ours["source"]))


def test_a_script_shows_no_invisible_signs():
    text = script_for(exploration_of(b"", HOSTILE, file=HOSTILE))
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(len(line) for line in text.split("\n")) < 500


def test_a_literal_is_the_value_again():
    values = [1, -2.5, 1e-300, True, None, "é\n\u202e\ud800'\"", [1.0, ["a"]], {"a": {"b": [None]}}]
    for value in values:
        assert ast.literal_eval(literal(value)) == value
    assert literal(np.float32(0.1)) == repr(float(np.float32(0.1)))
    assert literal(np.array([1, 2])) == "[1, 2]" and literal((1, "a")) == "[1, 'a']"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), b"bytes", 1j, {1, 2}, [np.nan]])
def test_what_cannot_be_written_down_is_refused(value):
    with pytest.raises(RequestError):
        plain_value(value)


def test_a_text_that_only_looks_like_a_text_is_taken_as_one():
    class Sneaky(str):
        def __repr__(self):
            return "__import__('os').abort()"

    assert literal(Sneaky("a")) == "'a'"


def test_limits_of_steps():
    with pytest.raises(RequestError, match="10,000 places"):
        script_for(Exploration("a", "", (Points({"x": [0.0] * 10_001}),)))
    with pytest.raises(RequestError, match="one column or over two"):
        Density(("a", "b", "c"), {})


def test_a_long_call_takes_a_line_an_argument():
    wordy = {f"a column with a rather long name, number {i}": 1.0 for i in range(4)}
    text = script_for(Exploration("a", "", (Density(("x",), wordy), Sampled(3))))
    assert "answer = marginal_line(\n    release,\n    column='x',\n" in text
    assert "answer = sample(release, n=3, seed=0, sharpen=True)\n" in text
