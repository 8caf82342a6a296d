"""What a process leaves behind when it is killed, and who removes it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.runtime import transient
from core.runtime.transient import private_folder, sweep_folders, sweep_unfinished, unfinished, unlinked
from tests.held_open import LISTED, held_open

ROOT = Path(__file__).parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="no such signals there")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files, of this process and of those that it starts."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def started(program: str, folder: Path) -> subprocess.Popen:
    """A program that has said that it is where it waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def killed(process: subprocess.Popen) -> None:
    process.kill()
    process.wait()
    process.stdout.close()


HOLDS = """
import time
from pathlib import Path
from core.runtime.transient import private_folder, unfinished
from tests.held_open import LISTED, held_open
with private_folder() as folder, unfinished(Path("release.npz")) as file:
    (folder / "rows").write_bytes(b"private")
    file.write(b"half")
    print("ready", flush=True)
    time.sleep(600)
"""

SORTS = """
import pyarrow as pa, numpy as np
from core.domain import Domain, PrivacyUnit
from core.sources import duck, open_source
duck.MEMORY_LIMITS = ("90MB",)
import pyarrow.parquet as pq
ids = pa.array(np.random.default_rng(0).permutation(4_000_000))
pq.write_table(pa.table({"id": ids, "x": ids, "y": ids}), "people.parquet")
domain = Domain.of(x=(0, 1e7), y=(0, 1e7), unit=PrivacyUnit("id"))
batches = open_source("people.parquet").batches(domain, 1000)
next(batches)
print("ready", flush=True)
for batch in batches:
    import time; time.sleep(600)
"""


def test_a_folder_is_its_owners_alone_and_gone_afterwards(temporary):
    with private_folder() as folder:
        assert folder.parent == temporary and folder.name.startswith(f"frostglass-{os.getpid()}-")
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "rows").write_bytes(b"private")
        sweep_folders()
        assert (folder / "rows").exists(), "a living process holds it"
    assert not list(temporary.iterdir())
    with pytest.raises(FileNotFoundError), private_folder():
        raise FileNotFoundError
    assert not list(temporary.iterdir())


@posix
def test_nobody_can_take_what_is_being_removed(temporary, monkeypatch):
    """The process that has just made a folder, and locks it only then, must not find it free and lose it."""
    abandoned = Path(tempfile.mkdtemp(prefix="frostglass-7-"))
    (abandoned / transient.LOCK).touch()
    taken = []

    def watched(folder, remove=shutil.rmtree, **kwargs):
        with (folder / transient.LOCK).open("rb") as file:
            taken.append(transient._hold(file, folder / transient.LOCK))
        remove(folder, **kwargs)

    monkeypatch.setattr(transient.shutil, "rmtree", watched)
    sweep_folders()
    assert taken == [False] and not abandoned.exists()


@posix
def test_many_at_once_never_remove_each_others_folders(temporary):
    """Sweeping before every folder, as all do; a look before the removal lost one in a few hundred."""

    def work(_):
        with private_folder() as folder:
            (folder / "rows").write_bytes(b"private")
            return (folder / "rows").exists()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(400)))
    assert not list(temporary.iterdir())


@posix
def test_the_next_process_removes_what_a_killed_one_left_and_nothing_else(temporary, tmp_path):
    living, dead = started(HOLDS, tmp_path), started(HOLDS, tmp_path)
    (temporary / "frostglass-older").mkdir()
    (temporary / "frostglass-7-other").mkdir()
    (temporary / "frostglass-7-other" / "rows").write_bytes(b"without a lock, so perhaps in use")
    killed(dead)
    held = [path for path in temporary.iterdir() if str(living.pid) in path.name]
    assert len(list(tmp_path.glob(".*.unfinished"))) == 2 and len(list(temporary.iterdir())) == 4
    with private_folder() as folder, unfinished(tmp_path / "other.npz") as file:
        file.write(b"whole")
        assert set(temporary.iterdir()) - {folder} == {
            *held,
            temporary / "frostglass-older",
            temporary / "frostglass-7-other",
        }
        assert len(list(tmp_path.glob(".*.unfinished"))) == 2
    killed(living)
    assert (tmp_path / "other.npz").read_bytes() == b"whole" and not (tmp_path / "release.npz").exists()
    sweep_unfinished(tmp_path)
    assert not list(tmp_path.glob(".*.unfinished"))


@posix
def test_a_link_and_a_file_of_another_name_are_left_alone(temporary, tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "lock").touch()
    (temporary / "frostglass-1-link").symlink_to(tmp_path / "precious")
    (tmp_path / ".mine.unfinished").touch()
    sweep_folders()
    sweep_unfinished(tmp_path)
    assert (tmp_path / "precious" / "lock").exists() and (tmp_path / ".mine.unfinished").exists()


@pytest.mark.deep
@LISTED
def test_a_sort_that_was_killed_leaves_its_folder_until_the_next_command(temporary, tmp_path):
    process = started(SORTS, tmp_path)
    assert held_open(process, temporary) > 10_000_000
    killed(process)
    assert len(list(temporary.iterdir())) == 1
    command = [sys.executable, "-m", "core", "sample", "--list"]
    subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    assert not list(temporary.iterdir())


@posix
def test_a_file_is_whole_or_not_there(tmp_path):
    (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), unfinished(tmp_path / "a") as file:
        file.write(b"after")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["a"] and (tmp_path / "a").read_bytes() == b"before"
    with pytest.raises(FileNotFoundError), unfinished(tmp_path / "no" / "a"):
        pass


POSIX_ONLY = pytest.mark.skipif(os.name != "posix", reason="an open file cannot be replaced there")
SPILLING = """
import sys, tempfile
tempfile.tempdir = sys.argv[1]
from core.sources.duck import Scan
with Scan("", "rows").spilling("100MB") as session:
    rows = session.sql(
        "SELECT 'somebody' || hash(i) || repeat('x', 40) AS t, i FROM range(3000000) s(i) ORDER BY hash(i * 7)"
    )
    reader = rows.to_arrow_reader(1000)
    next(iter(reader))
    print("sorted", flush=True)
    sys.stdin.read()
"""


def wait_for(what):
    """Until something is so, however busy the computer is."""
    for _ in range(6_000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("It never came to be.")


@POSIX_ONLY
def test_an_open_file_loses_its_name_and_not_what_it_holds(tmp_path):
    path, other = tmp_path / "a.tmp", tmp_path / "a.block"
    with unlinked(tmp_path, ".tmp"), path.open("w+b", buffering=0) as file:
        for row in (b"one", b"two"):
            file.write(row)
            other.write_bytes(row)
            wait_for(lambda: os.fstat(file.fileno()).st_nlink == 0)
            assert path.read_bytes() == b"" and other.read_bytes() == row
        file.seek(0)
        assert file.read() == b"onetwo"
        path.unlink()  # as who wrote it removes it
        path.write_bytes(b"another of the same name")
        wait_for(lambda: path.stat().st_size == 0)
    path.write_bytes(b"kept")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.block", "a.tmp"] and path.read_bytes() == b"kept"


@LISTED
@pytest.mark.deep
def test_a_killed_reading_leaves_no_row_behind(tmp_path):
    command = [sys.executable, "-c", SPILLING, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reading:
        assert reading.stdout.readline() == b"sorted\n"
        (folder,) = tmp_path.iterdir()
        assert held_open(reading, folder) > 1 << 20
        wait_for(lambda: not sum(one.stat().st_size for one in folder.iterdir() if one.suffix == ".tmp"))
        reading.send_signal(signal.SIGKILL)
        reading.wait()
    assert not sum(one.stat().st_size for one in folder.iterdir() if one.suffix == ".tmp")
