"""Compiled loops are kept once for all who run the same code on the same processor, and found by nobody else."""

import logging
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core import config
from numba.core.registry import cpu_target

from core.runtime import compiled_code
from core.runtime.compiled_code import folder, mark_of_all, njit, remove_unused
from tests.depth import deep

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def kept(monkeypatch, tmp_path) -> Path:
    """An empty folder of compiled loops, in a cache folder of the user's."""
    folder.cache_clear()
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name: tmp_path / "cache" / name)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    yield tmp_path / "cache" / "frostglass" / "loops"
    folder.cache_clear()


def doubled(number):
    return 2 * number


def hits(loop) -> int:
    return sum(loop.stats.cache_hits.values())


def test_what_was_compiled_once_is_found_again_and_numba_stays_as_it_is(kept):
    assert njit(cache=True)(doubled)(21) == 42
    again = njit(cache=True)(doubled)
    assert again(21) == 42 and hits(again) == 1
    assert len(list(kept.iterdir())) == 1 and stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert config.CACHE_DIR == ""


@pytest.mark.parametrize("damage", [lambda whole: b"", lambda whole: whole[: len(whole) // 2], lambda whole: b"\x80no"])
def test_a_damaged_file_of_a_compiled_loop_is_compiled_anew_and_replaced(kept, damage):
    assert njit(cache=True)(doubled)(21) == 42
    (file,) = kept.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    again = njit(cache=True)(doubled)
    assert again(21) == 42 and hits(again) == 0
    third = njit(cache=True)(doubled)
    assert third(21) == 42 and hits(third) == 1


def test_every_type_has_a_file_of_its_own_so_two_processes_cannot_mix_them_up(kept):
    loop = njit(cache=True)(doubled)
    assert (loop(21), loop(0.25)) == (42, 0.5) and len(list(kept.iterdir())) == 2
    again = njit(cache=True)(doubled)
    assert (again(0.25), again(21)) == (0.5, 42) and hits(again) == 2


def test_whoever_names_a_folder_is_heeded(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "mine"))
    assert njit(cache=True)(doubled)(1) == 2
    assert list((tmp_path / "mine").rglob("*.loop"))


@pytest.mark.parametrize("unfit", ["nowhere", "others may write"])
def test_without_a_fit_folder_one_of_its_owner_lasts_as_long_as_the_process(kept, unfit, monkeypatch, tmp_path):
    if unfit == "nowhere":
        kept.parents[1].write_text("no folder can be made here")
    else:
        kept.mkdir(parents=True)
        kept.chmod(0o777)
    ends = []
    monkeypatch.setattr(compiled_code.atexit, "register", lambda *call, **options: ends.append(call))
    monkeypatch.setattr(compiled_code.tempfile, "tempdir", str(tmp_path))
    place = folder()
    assert place != kept and stat.S_IMODE(place.stat().st_mode) == 0o700
    assert ends == [(compiled_code.shutil.rmtree, place)]


def test_a_full_disk_costs_the_kept_version_and_nothing_else(kept, monkeypatch):
    def full(self, target):
        raise OSError("no space is left")

    monkeypatch.setattr(Path, "replace", full)
    assert njit(cache=True)(doubled)(21) == 42 and list(kept.iterdir()) == []


def test_a_version_for_another_processor_is_not_used(kept, monkeypatch):
    njit(cache=True)(doubled)(1)
    code = cpu_target.target_context.codegen()
    triple, name, features = code.magic_tuple()
    monkeypatch.setattr(type(code), "magic_tuple", lambda self: (triple, name, features + ",+other"))
    other = njit(cache=True)(doubled)
    assert other(1) == 2 and hits(other) == 0 and len(list(kept.iterdir())) == 2


CALLED = """
from core.runtime.compiled_code import njit
FACTOR = {factor}

@njit(cache=True)
def called(number):
    return {multiplied}
"""
CALLING = """
from core.runtime.compiled_code import njit

def calling(called, FACTOR):
    @njit(cache=True)
    def outer(number):
        return called(number) + FACTOR
    return outer
"""


def made(place: Path, factor: str = "3", multiplied: str = "5 * number"):
    """A loop in one file that calls a loop of another, and takes a number from there."""
    place.mkdir(exist_ok=True)
    called, calling = {"__name__": "called"}, {"__name__": "calling"}
    for names, text in ((called, CALLED.format(factor=factor, multiplied=multiplied)), (calling, CALLING)):
        file = place / f"{names['__name__']}.py"
        file.write_text(text)
        exec(compile(text, file, "exec"), names)
    return calling["calling"](called["called"], called["FACTOR"])


def test_a_change_in_a_file_that_a_loop_only_calls_is_noticed(tmp_path):
    assert made(tmp_path / "one")(2) == 13
    changed = made(tmp_path / "one", multiplied="7 * number")
    assert changed(2) == 17 and hits(changed) == 0


def test_a_change_in_a_number_that_another_file_sets_is_noticed(tmp_path):
    assert made(tmp_path / "one")(2) == 13
    changed = made(tmp_path / "one", factor="4")
    assert changed(2) == 14 and hits(changed) == 0


def test_another_checkout_of_the_same_code_finds_it_compiled(tmp_path):
    assert made(tmp_path / "one")(2) == 13
    elsewhere = made(tmp_path / "two")
    assert elsewhere(2) == 13 and hits(elsewhere) == 1


@pytest.mark.thorough
def test_what_a_process_read_before_its_file_changed_is_not_kept_as_the_changed_file(tmp_path):
    old = made(tmp_path / "one")
    (tmp_path / "one" / "called.py").write_text(CALLED.format(factor="3", multiplied="7 * number"))
    assert old(2) == 13
    assert made(tmp_path / "one", multiplied="7 * number")(2) == 17


def test_only_compiling_is_told_of_and_once(caplog, monkeypatch):
    caplog.set_level(logging.INFO, logger=compiled_code.__name__)
    for _ in range(2):
        compiled_code._say_that_it_compiles.cache_clear()
        njit(cache=True)(doubled)(1)
    assert [record.getMessage()[:9] for record in caplog.records] == ["Compiling"]


def test_what_nobody_has_loaded_for_long_is_removed(kept):
    njit(cache=True)(doubled)(1)
    (old,) = kept.iterdir()
    (kept / "new.loop").touch()
    long_ago = time.time() - (compiled_code.UNUSED_DAYS + 1) * 86_400
    os.utime(old, (long_ago, long_ago))
    njit(cache=True)(doubled)(1)  # loading it is using it
    remove_unused()
    assert old.exists()
    os.utime(old, (long_ago, long_ago))
    remove_unused()
    assert [file.name for file in kept.iterdir()] == ["new.loop"]


@pytest.mark.thorough
def test_the_mark_that_all_is_compiled_is_of_these_sources_and_versions(monkeypatch):
    mark = mark_of_all()
    assert mark == mark_of_all() and not mark.exists()
    monkeypatch.setattr(compiled_code, "VERSIONS", ("another",))
    other = mark_of_all()
    monkeypatch.setattr(Path, "read_bytes", lambda file: b"another")
    assert len({mark, other, mark_of_all()}) == 3


NOWHERE = "os.access = lambda path, mode: False"


@pytest.mark.deep
@pytest.mark.parametrize("place", [deep("pass"), NOWHERE])
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
    assert list(tmp_path.rglob("*.loop")) == []
