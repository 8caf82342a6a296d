"""The scripts and notebooks that repeat an exploration: run for real, and safe whatever the names are.

Programs that make a release once more: run for real, and the file is of the same sketch and promise.
"""

import ast
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import Budget, RequestError, load, release
from core.domain import Categorical, Coordinate, Domain, Numeric, PrivacyUnit, Reading
from core.figures.exploration import Density, Exploration, Points, Sampled, plain_value
from core.figures.programs import command_for, literal, notebook_for, program_for, script_for
from core.geometry.kernels import Gaussian
from core.sketches.histogram import Histogram
from core.sketches.part import Part
from core.sketches.tables.tables import Tables
from tests.figures.explorations import HARMLESS, HOSTILE, exploration_of, release_of

ROOT = Path(__file__).parents[2]


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


def test_every_name_that_a_program_imports_is_where_the_program_says(explored):
    names = {}
    cells = json.loads(notebook_for(explored[1]))["cells"]
    for program in (script_for(explored[1]), "".join("".join(cell["source"]) + "\n" for cell in cells[1:2])):
        exec("\n".join(line for line in program.splitlines() if line.startswith("from core")), names)
    assert {"load", "table_of", "figure_of"} <= set(names)


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


ODD = "pay' \" + 1"
DOMAIN = Domain((Numeric(ODD, 0, 100, reading=Reading(), missing_category="none"), Categorical("town", ("a", "b"))))


def people(n: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(2)
    return pd.DataFrame({ODD: random.uniform(0, 100, n), "town": random.choice(["a", "b"], n)})


def of_tables():
    return release(Tables.of(DOMAIN, 6), people(), Budget(1, "1e-9"), records=400)


def of_parts():
    density = Histogram(Domain((Numeric("x", 0, 1),)), Gaussian(0.1))
    members = [Part(sketch, name) for sketch, name in ((density, "one"), (Tables.of(density.domain, 4), "two"))]
    return release(members, pd.DataFrame({"x": np.linspace(0, 1, 300)}), Budget(2), records=300)


def executed(program: str, arguments: list[str], monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["program.py", *arguments])
    exec(compile(program, "program.py", "exec"), {})  # as a file is run, without the seconds of a new process


def test_a_program_makes_a_file_of_the_same_kind_that_merges(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made = of_tables()
    people().to_parquet(tmp_path / "people.parquet")
    program = program_for(made)
    assert "Declaration.of(" in program and str(tmp_path) not in program
    executed(program, [str(tmp_path / "people.parquet"), "mine", str(tmp_path / "again.npz")], monkeypatch)
    again = load(tmp_path / "again.npz")
    assert again.sketch == made.sketch and again.privacy.epsilon == made.privacy.epsilon
    assert again.privacy.neighbours == made.privacy.neighbours and not np.array_equal(again.counters, made.counters)
    assert again.merged(made).records == pytest.approx(800, abs=60)


def test_names_of_a_file_are_nothing_but_data():
    assert shape_of(program_for(release_of(HOSTILE))) == shape_of(program_for(release_of(HARMLESS)))
    words = shlex.split(command_for(of_tables(), "it's; rm *.npz"))
    assert words[words.index("--like") + 1] == "it's; rm *.npz" and words[words.index("--delta") + 1] == "0.000000001"


@pytest.mark.thorough
def test_what_no_declaration_says_is_written_as_the_file_has_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    alone = Domain((Coordinate("lat", "latitude", 45, 46, 4, 5),), unit=PrivacyUnit("who", 2))
    frame = pd.DataFrame({"lat": np.linspace(45, 46, 300), "who": np.arange(300)})
    made = release(Tables.of(alone, 4), frame, Budget(2, 0, "replace_one"), records=300)
    program = program_for(made)
    assert "Domain.from_dict(" in program
    frame.to_parquet(tmp_path / "places.parquet")
    executed(program, [str(tmp_path / "places.parquet"), "places", str(tmp_path / "out.npz")], monkeypatch)
    assert load(tmp_path / "out.npz").sketch == made.sketch
    assert load(tmp_path / "out.npz").privacy.neighbours == made.privacy.neighbours


@pytest.mark.thorough
def test_several_questions_are_asked_once_more(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made = of_parts()
    (tmp_path / "x.csv").write_text("x\n" + "0.5\n" * 50)
    executed(program_for(made), [str(tmp_path / "x.csv"), "x", str(tmp_path / "out.npz")], monkeypatch)
    assert load(tmp_path / "out.npz").sketch == made.sketch
