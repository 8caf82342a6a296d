"""A reading that was killed goes on where it stood: every record once, bit for bit, nothing paid twice unnoticed."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import core
from core.domain import Domain, Items, PrivacyUnit
from core.errors import RequestError
from core.geometry.kernels import Euclidean, Gaussian
from core.privacy.budget import Budget
from core.privacy.ledger.ledger import Ledger
from core.releases.engine import resuming
from core.releases.engine.building import TableBuilder
from core.releases.engine.checkpoint import Checkpoints, DamagedCheckpoint
from core.releases.engine.resuming import Keeping, ResumableBuilding
from core.releases.job import release
from core.sketches.features import Features
from core.sketches.minhash import MinHash
from core.sketches.race import Race
from core.sources import open_source

DOMAIN = Domain.of(x=(0, 10), y=(0, 10))
ROWS = 5000


def race(seed=7, **facts):
    return Race(DOMAIN, Euclidean(2.0), **{"rows": 6, "width": 32, "groups": 2, **facts}, seed=seed)


@pytest.fixture(autouse=True)
def after_every_batch(monkeypatch):
    monkeypatch.setattr("core.releases.engine.building.BATCH_ROWS", 500)
    monkeypatch.setattr(resuming, "SECONDS", 0.0)
    monkeypatch.setattr(resuming, "LARGEST_SHARE", np.inf)


@pytest.fixture
def path(tmp_path):
    random = np.random.default_rng(1)
    path = tmp_path / "people.parquet"
    pd.DataFrame(random.uniform(0, 10, (ROWS, 2)), columns=["x", "y"]).to_parquet(path, row_group_size=700)
    return path


@pytest.fixture
def checkpoints(tmp_path):
    return Checkpoints(tmp_path / "ledger.sqlite.checkpoints")


class Run:
    """One command: a building with what it said."""

    def __init__(self, checkpoints, path, sketch=None, paid=0, stop_at=None, **asked):
        self.said = []
        keeping = Keeping(checkpoints, {"dataset": "people"}, lambda _: paid, **asked)
        self.building = ResumableBuilding(sketch or race(), open_source(path), keeping, self.said.append)
        self.rows = []
        for rows in self.building:
            self.rows.append(rows)
            if rows == stop_at:
                break

    @property
    def exact(self):
        return self.building.exact


def undisturbed(path, sketch=None):
    building = TableBuilder(sketch or race(), open_source(path))
    for _ in building:
        pass
    return building.exact


def same(one, other):
    return np.array_equal(one.table, other.table) and np.array_equal(one.records, other.records)


@pytest.mark.few(1)
@pytest.mark.parametrize("stop_at", [500, 2500, ROWS])
def test_a_stopped_reading_goes_on_where_it_stood(checkpoints, path, stop_at):
    stopped = Run(checkpoints, path, stop_at=stop_at)
    assert "kept in" in stopped.said[0] and len(stopped.said) == 1
    assert stopped.building.kept
    again = Run(checkpoints, path)
    assert again.said == [f"Continuing after {stop_at:,} rows (stopped less than a minute ago)."]
    assert again.rows == list(range(stop_at + 500, ROWS + 1, 500))
    assert same(again.exact, undisturbed(path))
    again.building.forget()
    assert not checkpoints.folder.exists()


def test_a_seed_that_nobody_typed_is_that_of_the_stopped_run(checkpoints, path):
    Run(checkpoints, path, race(seed=7), stop_at=1000)
    again = Run(checkpoints, path, race(seed=8))
    assert again.building.sketch == race(seed=7)
    assert same(again.exact, undisturbed(path, race(seed=7)))


def test_a_seed_that_was_typed_is_kept(checkpoints, path):
    Run(checkpoints, path, race(seed=7), stop_at=1000)
    again = Run(checkpoints, path, race(seed=8), any_seed=False)
    assert "had another seed" in again.said[0]
    assert same(again.exact, undisturbed(path, race(seed=8)))


def test_changed_data_is_read_from_the_beginning(checkpoints, path):
    Run(checkpoints, path, stop_at=1000)
    frame = pd.read_parquet(path)
    times = path.stat()
    frame["x"] = frame["x"].to_numpy()[::-1]
    frame.to_parquet(path, row_group_size=700)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    again = Run(checkpoints, path)
    assert again.said[0] == "Starting from the beginning, as the data has changed since the run that was stopped."
    assert again.rows[0] == 500
    assert same(again.exact, undisturbed(path))


def test_data_that_changes_while_it_is_read_on_is_refused(checkpoints, path):
    Run(checkpoints, path, stop_at=1000)
    keeping = Keeping(checkpoints, {"dataset": "people"}, lambda _: 0)
    building = ResumableBuilding(race(), open_source(path), keeping)
    with pytest.raises(RequestError, match="changed while it was read"):
        for rows in building:
            if rows == 2000:
                os.utime(path)
    assert not building.kept


def test_data_that_is_replaced_while_it_is_read_is_refused(path):
    building = TableBuilder(race(), open_source(path))
    with pytest.raises(RequestError, match=r"'people\.parquet' has changed while it was read"):
        for rows in building:
            if rows == 2000:  # the rows that come then may have come before
                other = path.with_name("other.parquet")
                pd.read_parquet(path)[::-1].to_parquet(other, row_group_size=700)
                other.replace(path)
    with pytest.raises(RuntimeError, match="not finished"):
        _ = building.exact


def test_another_program_starts_from_the_beginning(checkpoints, path, monkeypatch):
    Run(checkpoints, path, stop_at=1000)
    monkeypatch.setattr(resuming, "surroundings", lambda: (("numpy", "another"),))
    assert "the program or a library has changed" in Run(checkpoints, path).said[0]


@pytest.mark.parametrize("file", ["sketches/race.py", "domain/written.py", "releases/engine/device_loops.cu"])
def test_a_program_that_hashes_or_reads_records_otherwise_is_another(file, monkeypatch):
    usual, read = resuming._digest(), Path.read_bytes
    changed = Path(core.__file__).resolve().parent / file
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == changed))
    assert resuming._digest() != usual


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "sketch",
    [
        race(width=33),
        race(rows=8),
        replace(race(), domain=Domain.of(x=(0, 10), y=(0, 11))),
        Features(DOMAIN, Gaussian(1.0), rows=8, groups=2),
    ],
)
def test_another_release_is_no_business_of_a_checkpoint(checkpoints, path, sketch):
    Run(checkpoints, path, stop_at=1000)
    other = Run(checkpoints, path, sketch)
    assert not [words for words in other.said if "Continuing" in words or "Starting" in words]
    assert same(other.exact, undisturbed(path, sketch))
    assert "Continuing after 1,000 rows" in Run(checkpoints, path).said[0]


def test_nothing_is_paid_twice_unnoticed(checkpoints, path):
    Run(checkpoints, path, stop_at=1000, paid=3)
    with pytest.raises(RequestError, match="had its budget spent already"):
        Run(checkpoints, path, paid=4)
    fresh = Run(checkpoints, path, paid=4, fresh=True)
    assert fresh.rows[0] == 500
    assert same(fresh.exact, undisturbed(path))


def test_what_is_refused_leaves_no_checkpoint(checkpoints, path):
    frame = pd.read_parquet(path)
    frame.loc[4000, "x"] = np.nan
    frame.to_parquet(path, row_group_size=700)
    sketch = Race(replace(DOMAIN, missing="refuse"), Euclidean(2.0), rows=6, width=32, groups=2, seed=7)
    with pytest.raises(RequestError, match="row 4,001 is missing"):
        Run(checkpoints, path, sketch)
    assert not checkpoints.folder.exists()
    Run(checkpoints, path, sketch, stop_at=2000)
    with pytest.raises(RequestError, match="row 4,001 is missing"):  # the same place, from the middle too
        Run(checkpoints, path, sketch)


def test_what_cannot_be_continued_is_never_written(checkpoints, path):
    by_person = Race(Domain.of(y=(0, 10), unit=PrivacyUnit("id", 1)), Euclidean(2.0), rows=6, width=32, groups=2)
    frame = pd.read_parquet(path)
    frame.assign(id=range(len(frame))).to_parquet(path.with_name("persons.parquet"))
    Run(checkpoints, path.with_name("persons.parquet"), by_person)
    keeping = Keeping(checkpoints, {}, lambda _: 0)
    for _ in ResumableBuilding(race(), open_source(pd.read_parquet(path)), keeping):
        pass
    assert not checkpoints.folder.exists()


def test_short_readings_are_never_written(checkpoints, path, monkeypatch):
    monkeypatch.setattr(resuming, "SECONDS", 60.0)
    for _ in ResumableBuilding(race(), open_source(path), Keeping(checkpoints, {}, lambda _: 0)):
        pass
    assert not checkpoints.folder.exists()


def test_a_checkpoint_is_its_owners_alone(checkpoints, path):
    Run(checkpoints, path, stop_at=1000)
    ((name, found),) = checkpoints.all()
    assert found.rows == 1000 and sum(found.records) == 1000
    assert stat.S_IMODE(checkpoints.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((checkpoints.folder / name).stat().st_mode) == 0o600
    assert [file.name for file in checkpoints.folder.iterdir()] == [name]


def damages(content):
    yield "empty", b""
    yield "cut", content[: len(content) // 2]
    yield "longer", content + b"\0"
    yield "header", content[:40] + b"\xff" + content[41:]
    yield "length", content[:24] + b"\xff" * 8 + content[32:]
    for place in (len(content) - 40, len(content) - 1, len(content) // 2 + 500):
        yield f"bit {place}", content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.thorough
def test_a_damaged_checkpoint_is_never_used(checkpoints, path):
    Run(checkpoints, path, stop_at=1000)
    ((name, _),) = checkpoints.all()
    file = checkpoints.folder / name
    content = file.read_bytes()
    for what, damage in damages(content):
        checkpoints.folder.mkdir(mode=0o700, exist_ok=True)
        file.write_bytes(damage)
        file.chmod(0o600)
        again = Run(checkpoints, path, stop_at=500)
        assert again.rows == [500], what
        assert "damaged" in again.said[0], what


@pytest.mark.thorough
def test_what_others_could_have_touched_is_never_used(checkpoints, path, tmp_path):
    Run(checkpoints, path, stop_at=1000)
    ((name, _),) = checkpoints.all()
    file = checkpoints.folder / name
    file.chmod(0o640)
    assert "others could have changed it" in Run(checkpoints, path, stop_at=1000).said[0]
    file.replace(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert "damaged" in Run(checkpoints, path, stop_at=1000).said[0]
    file.unlink()
    os.mkfifo(file, 0o600)
    assert "damaged" in Run(checkpoints, path, stop_at=1000).said[0]


def test_a_folder_that_others_may_enter_is_neither_used_nor_changed(checkpoints, path):
    checkpoints.folder.mkdir()
    checkpoints.folder.chmod(0o755)
    run = Run(checkpoints, path)
    assert "cannot be kept (others may enter" in run.said[0] and len(run.said) == 1
    assert same(run.exact, undisturbed(path))
    assert stat.S_IMODE(checkpoints.folder.stat().st_mode) == 0o755 and not list(checkpoints.folder.iterdir())


def test_a_header_that_lies_is_refused(checkpoints, path):
    """Even with a right digest: a hostile file may say anything."""
    Run(checkpoints, path, stop_at=1000)
    ((name, found),) = checkpoints.all()
    begun = checkpoints.begun(found, race())
    checkpoints.write(found, replace(begun, rows=10))
    with pytest.raises(DamagedCheckpoint):
        checkpoints.begun(checkpoints.find(name), race())
    for lie in ({"rows": -1}, {"paid": "many"}, {"written": "yesterday"}, {"further": 1}):
        facts = json.loads(json.dumps(vars(found) | lie))
        text = json.dumps(facts).encode()
        (checkpoints.folder / name).write_bytes(b"frostglass-checkpoint 1\n" + len(text).to_bytes(8, "little") + text)
        with pytest.raises(DamagedCheckpoint):
            checkpoints.find(name)


def test_a_disk_that_is_full_stops_no_release(checkpoints, path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Checkpoints, "write", full)
    run = Run(checkpoints, path)
    assert run.said == ["What was read so far cannot be kept (No space left on device); the reading goes on."]
    assert same(run.exact, undisturbed(path))


def test_what_a_killed_writer_left_is_removed(checkpoints, path):
    Run(checkpoints, path, stop_at=1000)
    ((name, _),) = checkpoints.all()
    (checkpoints.folder / f".{name}.0123.unfinished").write_bytes(b"half a checkpoint")
    run = Run(checkpoints, path)
    assert len(list(checkpoints.folder.iterdir())) == 1
    run.building.forget()
    assert not checkpoints.folder.exists()


def test_a_call_from_python_goes_on_where_it_was_stopped(tmp_path, path):
    folder, ledger = tmp_path / "kept", str(tmp_path / "ledger.sqlite")
    asked = {"ledger": ledger, "dataset": "people", "checkpoints": folder}

    def stop(rows):
        if rows == 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(race(), str(path), Budget(1), progress=stop, **asked)
    assert [found.rows for _, found in Checkpoints(folder).all()] == [2000]
    seen = []
    release(race(), str(path), Budget(1), progress=seen.append, **asked)
    assert seen[0] == 2500
    assert not folder.exists()
    assert len(Ledger(ledger).status("people").releases) == 1


def test_gathered_sets_go_on_too(checkpoints, tmp_path, monkeypatch):
    monkeypatch.setattr("core.releases.engine.building.BATCH_ROWS", 7)
    monkeypatch.setattr("core.releases.engine.building.FEWEST_ROWS", 7)
    random = np.random.default_rng(2)
    edges = pd.DataFrame({"a": np.sort(random.integers(0, 60, 900)), "b": random.integers(0, 50, 900)})
    edges.to_parquet(tmp_path / "edges.parquet", row_group_size=100)
    domain = Domain((Items("b", gathered=True),), unit=PrivacyUnit("a", 1))
    sketch = MinHash(domain, rows=8, width=16, seed=5)
    keeping = Keeping(checkpoints, {"dataset": "people"}, lambda _: 0)
    steps = iter(ResumableBuilding(sketch, open_source(tmp_path / "edges.parquet"), keeping))
    for _ in range(3):
        next(steps)
    steps.close()
    again = Run(checkpoints, tmp_path / "edges.parquet", sketch)
    assert "Continuing after 21 sets" in again.said[0]
    assert same(again.exact, undisturbed(tmp_path / "edges.parquet", sketch))
