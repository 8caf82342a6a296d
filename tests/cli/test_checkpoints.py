"""The same command goes on where its process was killed, whenever that was; its owner is told of what lies there."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from core.privacy.ledger.ledger import Ledger
from core.releases import seal as releases
from core.releases.engine import resuming
from core.releases.engine.building import TableBuilder
from core.releases.release import load
from core.sources import open_source
from tests.cli.conftest import SKETCH, people, refused

ROOT = Path(__file__).parents[2]
ARGUMENTS = ("release", "people.parquet", *SKETCH, "--epsilon", "1", "--dataset", "people", "--out", "people.npz")

SLOW = """
import time
import numpy as np
from core.releases import seal as releases
from core.releases.engine import building, resuming
from core.__main__ import main
from core.sketches.race import Race
building.BATCH_ROWS = building.FEWEST_ROWS = 100
resuming.SECONDS, resuming.LARGEST_SHARE = 0.0, np.inf
resuming.surroundings = lambda: ()  # the program may be edited while it is tested
add_noise = releases.add_noise
def slowly(table, *further):
    np.save("exact.npy", table)
    time.sleep(DELAY)
    return add_noise(table, *further)
releases.add_noise = slowly
pour = Race.add
def slowly_added(self, table, points):
    pour(self, table, points)
    time.sleep(0.02)
Race.add = slowly_added
main()
"""


@pytest.fixture
def folder(tmp_path, ledger, monkeypatch):
    monkeypatch.setattr(resuming, "surroundings", lambda: ())
    people().to_parquet(tmp_path / "people.parquet", row_group_size=130)
    return tmp_path


def start(folder, ledger, delay=0.0):
    return subprocess.Popen(
        [sys.executable, "-c", SLOW.replace("DELAY", str(delay)), *ARGUMENTS],
        cwd=folder,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "FROSTGLASS_LEDGER": str(ledger)},
        stderr=subprocess.PIPE,
    )


def wait_for(found, process):
    for _ in range(3000):
        if found() or process.poll() is not None:
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")


def checkpoints(ledger):
    return list(Path(f"{ledger}.checkpoints").glob("*.checkpoint"))


def written(ledger):
    return {path: path.stat().st_mtime_ns for path in checkpoints(ledger)}


@pytest.mark.deep
def test_killed_at_random_moments_every_record_is_counted_once(folder, ledger, command, monkeypatch):
    moments = random.Random(time.time_ns())
    remarks = []
    for _ in range(2):
        before = written(ledger)
        process = start(folder, ledger)
        wait_for(lambda before=before: written(ledger) != before, process)
        time.sleep(moments.uniform(0, 0.15))
        process.kill()
        remarks.append(process.communicate()[1])
        assert process.returncode == -signal.SIGKILL
        (entry,) = Ledger(ledger).status("people").releases  # whether records fit; all later runs go on with that
        assert entry.cost.epsilon == Decimal("0.01")
    summed, add_noise = [], releases.add_noise

    def noted(table, *given):
        summed.append(table.copy())
        return add_noise(table, *given)

    monkeypatch.setattr(releases, "add_noise", noted)
    last = command(*ARGUMENTS)
    assert last.exit_code == 0, last.output
    assert all("Continuing after" in said for said in (remarks[1], last.stderr)), remarks
    assert not Path(f"{ledger}.checkpoints").exists()
    building = TableBuilder(load(folder / "people.npz").sketch, open_source(folder / "people.parquet"))
    for _ in building:
        pass
    np.testing.assert_array_equal(summed[0], building.exact.table)
    assert len(Ledger(ledger).status("people").releases) == 2  # whether records fit, and the table


@pytest.mark.deep
def test_killed_between_paying_and_saving_it_never_pays_again_unasked(folder, ledger, command):
    process = start(folder, ledger, delay=60)
    wait_for((folder / "exact.npy").exists, process)
    process.kill()
    process.communicate()
    assert len(Ledger(ledger).status("people").releases) == 2  # whether records fit, and the table
    assert not (folder / "people.npz").exists()
    assert len(checkpoints(ledger)) == 1
    spent = Ledger(ledger).status("people").spent
    for again in (command(*ARGUMENTS), command(*ARGUMENTS, "--seed", "5")):
        refused(again, 3)  # the total of a data set that registered itself is what its one release spends
    assert Ledger(ledger).status("people").spent == spent


@pytest.fixture
def after_every_batch(monkeypatch):
    monkeypatch.setattr("core.releases.engine.building.BATCH_ROWS", 100)
    monkeypatch.setattr("core.releases.engine.building.FEWEST_ROWS", 100)
    monkeypatch.setattr(resuming, "SECONDS", 0.0)
    monkeypatch.setattr(resuming, "LARGEST_SHARE", np.inf)


@pytest.fixture
def stopped(folder, ledger, command, after_every_batch, monkeypatch):
    """A release that Ctrl-C stopped after 700 rows; what it said."""
    from core.sketches.race import Race

    add, poured = Race.add, []

    def stopping(self, table, points):
        if sum(poured) == 700:
            raise KeyboardInterrupt
        poured.append(len(points))
        add(self, table, points)

    Ledger(ledger).register("people", 5)
    with monkeypatch.context() as patch:
        patch.setattr(Race, "add", stopping)
        result = command(*ARGUMENTS)
    assert result.exit_code == 130
    return result.stderr


@pytest.mark.thorough
def test_what_lies_on_the_disk_is_said_listed_and_removed(stopped, ledger, command):
    assert f"kept in '{ledger}.checkpoints', for you alone" in stopped
    assert "the same command goes on there" in stopped
    assert stopped.splitlines()[-1].endswith("ε = 0.01 of the data set 'people' is spent all the same.")  # on what fits
    listed = command("checkpoints", "list").stdout
    assert "people" in listed and "700" in listed and "race" in listed
    (facts,) = json.loads(command("checkpoints", "list", "--json").stdout)
    assert facts["rows"] == 700
    refused(command("checkpoints", "remove", "none"))
    assert "Removed 1 checkpoint." in command("checkpoints", "remove", facts["name"]).stderr
    assert "no checkpoints" in command("checkpoints", "list").stderr
    assert "Continuing" not in command(*ARGUMENTS).stderr


@pytest.mark.thorough
def test_the_same_command_goes_on_and_leaves_nothing(stopped, folder, ledger, command):
    done = command(*ARGUMENTS)
    assert done.exit_code == 0
    assert "Continuing after 700 rows (stopped less than a minute ago)." in done.stderr
    assert not Path(f"{ledger}.checkpoints").exists()
    assert (folder / "people.npz").exists()


@pytest.mark.thorough
def test_a_payment_that_came_to_nothing_is_told_of_and_made_again_only_when_asked(stopped, folder, ledger, command):
    ((kept),) = checkpoints(ledger)
    content = kept.read_bytes()
    assert command(*ARGUMENTS).exit_code == 0  # as if it had been killed after this, and before the file was there
    (folder / "people.npz").unlink()
    kept.parent.mkdir(mode=0o700)
    kept.write_bytes(content)
    kept.chmod(0o600)
    assert "had its budget spent already" in refused(command(*ARGUMENTS))
    assert len(Ledger(ledger).status("people").releases) == 2  # whether records fit, and the table
    assert command(*ARGUMENTS, "--fresh").exit_code == 0
    assert len(Ledger(ledger).status("people").releases) == 3


@pytest.mark.thorough
def test_nothing_is_kept_when_nothing_shall_be(folder, ledger, command, after_every_batch):
    done = command(*ARGUMENTS, "--no-checkpoint")
    assert done.exit_code == 0
    assert "kept" not in done.stderr
    assert "kept in" in command(*ARGUMENTS[:-1], "other.npz", "--dataset", "other").stderr
