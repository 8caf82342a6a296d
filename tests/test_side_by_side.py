"""Tests in forks of one process are told of as one process tells of them, and none is lost in silence."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.depth import ROOT

THESE = """
import os, pytest
@pytest.fixture(scope="module")
def shared():
    print("made once")
    return os.getpid()
@pytest.mark.parametrize("case", range(3))
def test_in_one_process(shared, case):
    assert shared == os.getpid() != int(os.environ["FIRST"])
def test_that_fails():
    print("what it said")
    assert {sound}
def test_that_is_skipped():
    pytest.skip("said why")
"""
RUN = "import os, pytest, sys; os.environ['FIRST'] = str(os.getpid()); sys.exit(pytest.main(sys.argv[1:]))"


def _run(folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    for number, text in enumerate(files):
        (folder / f"test_{number}.py").write_text(text)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-c", RUN, "-p", "tests.side_by_side", "--processes=2"]
    command += ["-q", "--import-mode=importlib", "--assert=plain", f"--rootdir={folder}", folder]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


@pytest.mark.thorough
def test_results_of_forks_are_those_of_one_process(tmp_path: Path) -> None:
    files = [THESE.format(sound=sound) for sound in ("True", "False", "True")]
    told = _run(tmp_path, *files)
    assert told.returncode == 1, told.stdout + told.stderr
    assert "1 failed, 11 passed, 3 skipped" in told.stdout
    assert "AssertionError" in told.stdout and told.stdout.count("\nwhat it said") == 1, told.stdout


@pytest.mark.thorough
def test_a_fork_that_ends_by_itself_is_a_failure_that_says_where(tmp_path: Path) -> None:
    told = _run(tmp_path, "import os\ndef test_end():\n    os._exit(3)\n", "def test_other():\n    pass\n")
    assert told.returncode == 2 and "a process ended by itself in test_0.py::test_end" in told.stdout + told.stderr


@pytest.mark.thorough
def test_tests_that_nobody_ran_are_a_failure(tmp_path: Path) -> None:
    lost = "import os\ndef test_end():\n    os._exit(0)\n"  # with the other in its hands
    told = _run(tmp_path, lost, "def test_other():\n    pass\n")
    assert told.returncode == 2 and "2 tests were not run" in told.stdout + told.stderr
