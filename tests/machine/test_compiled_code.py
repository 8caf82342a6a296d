"""Compiled loops find room wherever the program is installed."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.machine import compiled_code
from core.machine.compiled_code import VARIABLE, find_room


@pytest.fixture
def elsewhere(monkeypatch, tmp_path) -> Path:
    """A cache folder of the user's, where the package itself cannot be written to."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(compiled_code.os, "access", lambda path, mode: Path(path).is_relative_to(tmp_path))
    return tmp_path / "cache" / "frostglass"


def test_beside_the_code_nothing_is_changed(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    find_room(tmp_path)
    assert VARIABLE not in os.environ


def test_whoever_names_a_folder_is_heeded(elsewhere, monkeypatch):
    monkeypatch.setenv(VARIABLE, "mine")
    find_room()
    assert os.environ[VARIABLE] == "mine"


def test_a_read_only_package_uses_the_folder_of_the_user(elsewhere):
    find_room()
    assert os.environ[VARIABLE] == str(elsewhere) and elsewhere.is_dir()


def test_without_either_a_folder_of_its_owner_lasts_as_long_as_the_process(elsewhere, monkeypatch, tmp_path):
    elsewhere.parent.write_text("no folder can be made here")
    kept = []
    monkeypatch.setattr(compiled_code.atexit, "register", lambda *call, **options: kept.append(call))
    monkeypatch.setattr(compiled_code.tempfile, "tempdir", str(tmp_path))
    find_room()
    folder = Path(os.environ[VARIABLE])
    assert folder.is_dir() and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert kept == [(compiled_code.shutil.rmtree, folder)]


def test_the_package_looks_for_room_before_numba_is_loaded():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, core, core.machine.compiled_code; print('numba' in sys.modules)"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False"]
