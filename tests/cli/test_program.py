"""The program as a person starts it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.__main__ import _say_when_loops_are_compiled
from core.runtime import compiled_code
from core.runtime import environment as surroundings
from tests.cli.conftest import SKETCH, people
from tests.depth import deep

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "pandas", "scipy", "pyarrow", "numba", "duckdb", "sqlalchemy", "plotly", "streamlit")


def run(*arguments: str, folder: Path = ROOT, **options) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "FROSTGLASS_LEDGER": str(folder / "ledger.sqlite")}
    command = [sys.executable, "-m", "core", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=120, **options)


@pytest.mark.thorough
def test_from_private_records_to_answers(tmp_path):
    people().to_parquet(tmp_path / "people.parquet")
    (tmp_path / "queries.csv").write_text("x,y\n3,3\n")
    made = run("release", "people.parquet", *SKETCH, "--epsilon", "1", "--out", "people.npz", folder=tmp_path)
    assert (made.returncode, made.stdout) == (0, b"")
    asked = run("query", "people.npz", "queries.csv", folder=tmp_path)
    assert asked.returncode == 0
    assert asked.stderr == b""
    head, answer = asked.stdout.decode().splitlines()
    assert head == "x,y,estimate,low,high,density"
    assert answer.startswith("3,3,")


@pytest.mark.deep
def test_a_total_that_is_spent_is_an_exit_code_of_its_own(tmp_path):
    people().to_parquet(tmp_path / "people.parquet")
    made = run("release", "people.parquet", *SKETCH, "--epsilon", "1", "--out", "people.npz", folder=tmp_path)
    assert made.returncode == 0
    spent = run("release", "people.parquet", *SKETCH, "--epsilon", "1", "--out", "more.npz", folder=tmp_path)
    assert (spent.returncode, spent.stdout) == (3, b"")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["release", "--help"], 0),
        (["query", "nowhere.npz", "places.csv"], 2),
        deep(["ledger", "--help"], 0),
        deep(["release", "nowhere.csv", "--out", "x.npz"], 2),
    ],
)
def test_help_and_plain_refusals_load_nothing_heavy(arguments, code):
    """What makes a program start at once, without measuring time: these took three seconds of a processor."""
    seen = f"import sys; [print(m) for m in {HEAVY!r} if m in sys.modules]"
    program = f"import atexit; atexit.register(lambda: exec({seen!r})); from core.__main__ import main; main()"
    shown = subprocess.run([sys.executable, "-c", program, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert shown.returncode == code, shown.stderr
    assert not set(HEAVY) & set(shown.stdout.splitlines())


def test_commands_keep_linear_algebra_to_one_thread():
    """Two threads that waited for each other took two thirds of two processors while a model was trained."""
    told = "import os, atexit; atexit.register(lambda: print(os.environ.get('OPENBLAS_NUM_THREADS')))"
    program = f"{told}; from core.__main__ import main; main()"
    for wanted, seen in ((None, "1"), ("2", "2")):
        environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environment |= {"OPENBLAS_NUM_THREADS": wanted} if wanted else {}
        command = [sys.executable, "-c", program, "query", "nowhere.npz", "places.csv"]
        shown = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert shown.stdout.splitlines() == [seen]


@pytest.mark.deep
def test_a_terminal_without_greek_letters_still_gets_a_sentence(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "core", "ledger", "add", "d", "--epsilon", "1", "--ledger", str(tmp_path / "l")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert r"\u03b5 = 1" in done.stderr


@pytest.mark.deep
def test_a_reader_that_goes_away_is_no_fault(tmp_path, released):
    (tmp_path / "queries.csv").write_text("x,y\n" + "3,3\n" * 20_000)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "core", "query", str(released), "queries.csv"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    remarks = process.stderr.read().decode()
    process.stderr.close()
    process.wait(timeout=60)
    assert "Traceback" not in remarks
    assert "fault" not in remarks


def test_a_wait_for_the_compiler_is_explained_on_standard_error(capsys):
    compiling = logging.getLogger(compiled_code.__name__)
    _say_when_loops_are_compiled()
    try:
        compiled_code._say_that_it_compiles.__wrapped__()
    finally:
        compiling.handlers.clear()
        compiling.setLevel(logging.NOTSET)
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.startswith("Compiling") and shown.err.count("\n") == 1


def test_work_beside_a_server_is_that_of_this_library_and_reads_nothing_of_its_terminal(monkeypatch):
    begun = []
    monkeypatch.setattr(surroundings.subprocess, "Popen", lambda command, **options: begun.append((command, options)))
    surroundings.beside("ui.serving.warming", "--beside")
    ((python, safe, _, program, option), options) = begun[0]
    assert (python, safe, option) == (sys.executable, "-P", "--beside") and options == {"stdin": subprocess.DEVNULL}
    assert str(ROOT) in program and "'core.ui.serving.warming'" in program


@pytest.mark.deep
def test_the_first_use_of_all_says_that_it_compiles_and_the_second_does_not(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    people().to_parquet(tmp_path / "people.parquet")
    release = ("release", "people.parquet", *SKETCH, "--epsilon", "1", "--overwrite", "--out", "people.npz")
    first, second = (run(*release, "--dataset", name, folder=tmp_path) for name in ("one", "two"))
    assert (first.returncode, first.stdout, second.returncode) == (0, b"", 0)
    said, again = ([line.split()[0] for line in one.stderr.splitlines()] for one in (first, second))
    assert said.count(b"Compiling") == 1 and said.index(b"Compiling") < said.index(b"Wrote")
    assert b"Compiling" not in again
