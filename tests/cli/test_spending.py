"""However a command ends: an exit code, one sentence, and the truth about what was spent."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

from core import Budget, Ledger, load
from core.cli.spending import Unfinished, billed
from core.errors import RequestError
from core.releases.engine import building
from core.releases.payment import LedgerAccount
from core.releases.release_store import shelf_of
from core.runtime import archive_writing
from tests.cli.conftest import SKETCH, refused

ROOT = Path(__file__).parents[2]


FITTING = "ε = 0.01 of the data set 'people' is spent all the same."  # what says whether records fit


def spent(ledger) -> Decimal:
    return sum(entry.cost.epsilon for entry in Ledger(ledger).status("people").releases)


def releasing(source, *more) -> list[str]:
    return ["release", str(source), *SKETCH, "--epsilon", "1", "--out", "people.npz", *more]


def left_over(folder: Path) -> set[str]:
    """Files that a command left behind, on the ledger's shelf too."""
    shelf = folder / "ledger.sqlite.releases"
    kept = {path.name for path in shelf.iterdir()} if shelf.exists() else set()
    return kept | {path.name for path in folder.iterdir()} - {"people.parquet", "ledger.sqlite", shelf.name}


def test_usage_errors_are_one_sentence_too(command, source):
    assert "--epsilon" in refused(command("release", "people.parquet", "--out", "x.npz"))
    assert "--kernel" in refused(command("forecast", "--epsilon", "1", "--kernel", "gauss"))
    assert "--rows" in refused(command("forecast", "--epsilon", "1", "--rows", "many"))
    assert "'--scheme': 'two' is not one of" in refused(command("forecast", "--epsilon", "1", "--scheme", "two"))
    assert "No such option: --row" in refused(command("forecast", "--row", "3"))
    assert "No such command 'relase'" in refused(command("relase"))
    assert "--help" in refused(command("ledger"))


@pytest.mark.thorough
def test_help_and_version(command):
    for arguments in ((), ("--help",), ("-h",), ("release", "--help"), ("ledger", "add", "--help")):
        result = command(*arguments)
        assert result.exit_code == 0
        assert "Usage" in result.stdout
    assert command("--version").stdout.startswith("Frostglass ")


@pytest.mark.parametrize("place", [".", "absent/people.npz", "people.parquet", "people.parquet/people.npz"])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_spent(command, source, tmp_path, ledger, place):
    sentence = refused(command("release", source, *SKETCH, "--epsilon", "1", "--out", place))
    assert "nothing was spent and no file was written" in sentence
    assert not ledger.exists()
    assert left_over(tmp_path) == set()


def test_a_place_without_room_is_refused_before_anything_is_spent(command, source, ledger, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 100})())
    assert "only 100 are free" in refused(command(*releasing(source)))
    assert not ledger.exists()


def test_a_disk_that_fills_up_after_spending(command, source, tmp_path, ledger, monkeypatch):
    def write(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive_writing, "write_archive", write)
    sentence = refused(command(*releasing(source)), code=1)
    assert "No space left on device" in sentence
    assert sentence.endswith("ε = 1 of the data set 'people' is spent all the same.")
    assert [entry.cost.epsilon for entry in Ledger(ledger).status("people").releases] == [
        Decimal("0.01"),
        Decimal("0.99"),
    ]
    assert left_over(tmp_path) == set()


def test_a_place_that_cannot_be_written_after_spending_loses_nothing(command, source, tmp_path, ledger, monkeypatch):
    """What was paid for is kept beside the ledger, and it is said where."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    sentence = refused(command(*releasing(source)), code=1)
    (entry,) = shelf_of(Ledger(ledger)).entries()
    assert "No space left on device" in sentence and entry.name in sentence
    assert shelf_of(Ledger(ledger)).load(entry.name).privacy.epsilon == 1
    assert left_over(tmp_path) == {entry.name}


def test_a_disk_without_room_is_refused_before_more_is_spent_than_says_whether_records_fit(
    command, source, tmp_path, ledger, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    sentence = refused(command(*releasing(source)))
    assert "No space left on device" in sentence and sentence.endswith(FITTING)
    assert spent(ledger) == Decimal("0.01") and left_over(tmp_path) == set()


@pytest.mark.thorough
def test_a_fault_of_the_program_shows_no_value_of_the_data(command, source, tmp_path, ledger, monkeypatch):
    def fail(self):
        raise TypeError("the value 4711secret is odd")

    monkeypatch.setattr(building.TableBuilder, "__iter__", fail)
    sentence = refused(command(*releasing(source)), code=1)
    assert "4711secret" not in sentence
    assert "TypeError" in sentence
    assert sentence.endswith(FITTING) and spent(ledger) == Decimal("0.01")
    assert left_over(tmp_path) == set()
    monkeypatch.setenv("FROSTGLASS_DEBUG", "1")
    shown = command(*releasing(source))
    assert shown.exit_code == 1
    assert "4711secret" in shown.stderr
    assert "Traceback" in shown.stderr


def test_too_little_memory(command, source, monkeypatch):
    def fail(self):
        raise MemoryError

    monkeypatch.setattr(building.TableBuilder, "__iter__", fail)
    assert "memory" in refused(command(*releasing(source)), code=1)


def test_a_keyboard_interrupt_while_reading(command, source, tmp_path, ledger, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(building.TableBuilder, "__iter__", stop)
    assert refused(command(*releasing(source)), code=130).endswith(FITTING)
    assert left_over(tmp_path) == set() and spent(ledger) == Decimal("0.01")


def test_a_keyboard_interrupt_elsewhere(command, released, monkeypatch):
    def stop(path, **_):
        raise KeyboardInterrupt

    monkeypatch.setattr("core.releases.release.load", stop)
    assert refused(command("inspect", released), code=130) == "Stopped before it was done."


@pytest.mark.parametrize(
    ("spent", "patience", "words"),
    [(False, 0, "nothing was spent"), (None, 1, "the ledger knows whether ε = 1"), (True, 1, "is spent all the same")],
)
def test_an_interrupt_waits_when_it_could_only_lose_budget(capsys, spent, patience, words):
    before = signal.getsignal(signal.SIGINT)
    survived = 0
    with pytest.raises(Unfinished) as ending, billed() as bill:
        bill.payer = LedgerAccount(None, "people", Budget(1), "record", spent=spent)
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
            survived += 1
    assert survived == patience
    assert words in str(ending.value)
    assert capsys.readouterr().err.count("finished first") == patience
    assert signal.getsignal(signal.SIGINT) is before


WAITS_WHILE_READING = """
import sys, time
from decimal import Decimal
from pathlib import Path
from core.__main__ import main
from core.releases.engine.building import TableBuilder
def wait(self):
    Path("reached").touch()
    time.sleep(60)
    yield 0
TableBuilder.__iter__ = wait
main()
"""

WAITS_AFTER_SPENDING = """
import sys, time
from decimal import Decimal
from pathlib import Path
import core.releases.seal
from core.__main__ import main
add_noise = core.releases.seal.add_noise
def wait(*given):
    if not Path("reached").exists():
        Path("reached").touch()
        while not Path("go").exists():
            time.sleep(0.01)
    return add_noise(*given)
core.releases.seal.add_noise = wait
main()
"""


def started(program: str, arguments: list[str], folder: Path, ledger: Path) -> subprocess.Popen:
    """A program that has come to the place where it waits."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "FROSTGLASS_LEDGER": str(ledger)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    for _ in range(6000):
        if (folder / "reached").exists() or process.poll() is not None:
            return process
        time.sleep(0.01)
    process.kill()
    raise AssertionError("the program never came to where it waits")


@pytest.mark.deep
def test_control_c_while_a_real_program_reads(source, tmp_path, ledger):
    process = started(WAITS_WHILE_READING, releasing(source), tmp_path, ledger)
    process.send_signal(signal.SIGINT)
    output, remarks = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert remarks.splitlines()[-1].startswith("Stopped before it was done") and remarks.splitlines()[-1].endswith(
        FITTING
    )
    assert "Traceback" not in remarks
    assert left_over(tmp_path) == {"reached"} and spent(ledger) == Decimal("0.01")


@pytest.mark.deep
def test_control_c_while_a_real_program_draws_noise(source, tmp_path, ledger):
    process = started(WAITS_AFTER_SPENDING, releasing(source), tmp_path, ledger)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    (tmp_path / "go").touch()
    _, remarks = process.communicate(timeout=60)
    assert process.returncode == 0, remarks
    assert "finished first" in remarks
    assert load(tmp_path / "people.npz").private
    assert len(Ledger(ledger).status("people").releases) == 2 and spent(ledger) == 1


@pytest.mark.deep
def test_control_c_twice_says_that_budget_is_lost(source, tmp_path, ledger):
    process = started(WAITS_AFTER_SPENDING, releasing(source), tmp_path, ledger)
    process.send_signal(signal.SIGINT)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, remarks = process.communicate(timeout=60)
    assert process.returncode == 1
    assert remarks.splitlines()[-1].endswith("ε = 1 of the data set 'people' is spent all the same.")
    assert left_over(tmp_path) == {"reached"}
    assert len(Ledger(ledger).status("people").releases) == 2 and spent(ledger) == 1


def test_bad_requests_are_told_from_faults():
    from core.cli.spending import code_of
    from core.errors import BudgetError, ReleaseFileError

    codes = {RequestError: 2, ReleaseFileError: 2, BudgetError: 3, ValueError: 1, KeyError: 1, KeyboardInterrupt: 130}
    assert {kind: code_of(kind("x")) for kind in codes} == codes
