"""Compiled loops find room wherever the program is installed, and nothing else of the process is touched."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

from core.machine import compiled_code
from core.machine.compiled_code import njit, room
from tests.depth import deep

ROOT = Path(__file__).parents[2]


@pytest.fixture
def elsewhere(monkeypatch, tmp_path) -> Path:
    """A cache folder of the user's, where the package itself cannot be written to."""
    room.cache_clear()
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(compiled_code.os, "access", lambda path, mode: Path(path).is_relative_to(tmp_path))
    yield tmp_path / "cache" / "frostglass"
    room.cache_clear()


def doubled(number):
    return 2 * number


def kept_in(function) -> Path:
    return Path(function._cache.cache_path)


def test_beside_the_code_nothing_is_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", "")
    assert room(tmp_path) is None
    assert kept_in(njit(cache=True)(doubled)) == Path(__file__).parent / "__pycache__"


def test_whoever_names_a_folder_is_heeded(elsewhere, monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "mine"))
    assert kept_in(njit(cache=True)(doubled)).is_relative_to(tmp_path / "mine")


def test_a_read_only_package_uses_the_folder_of_the_user(elsewhere, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", "")
    function = njit(cache=True)(doubled)
    assert function(21) == 42 and kept_in(function).is_relative_to(elsewhere) and any(elsewhere.rglob("*.nbi"))
    assert config.CACHE_DIR == ""


def test_without_either_a_folder_of_its_owner_lasts_as_long_as_the_process(elsewhere, monkeypatch, tmp_path):
    elsewhere.parent.write_text("no folder can be made here")
    kept = []
    monkeypatch.setattr(compiled_code.atexit, "register", lambda *call, **options: kept.append(call))
    monkeypatch.setattr(compiled_code.tempfile, "tempdir", str(tmp_path))
    folder = Path(room(Path("/library")))
    assert folder.is_dir() and stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert kept == [(compiled_code.shutil.rmtree, folder)]


READ_ONLY = "os.access = lambda path, mode: 'core' not in str(path)"


@pytest.mark.deep
@pytest.mark.parametrize("place", [deep("pass"), READ_ONLY])
def test_no_import_changes_the_environment_of_the_process(place, tmp_path):
    program = f"""
import os; before = dict(os.environ); {place}
import core
bare = dict(os.environ) == before
import sklearn  # it and threadpoolctl set a variable of Intel's
before = dict(os.environ)
from core import Domain, Race, kernels
sketch = Race(Domain.of(x=(0, 1)), kernels.Euclidean(1.0), rows=4, width=8)
print(bare and dict(os.environ) == before, os.environ.get("NUMBA_CACHE_DIR"))
"""
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True None"
    assert (tmp_path / "frostglass").is_dir() == (place == READ_ONLY)
