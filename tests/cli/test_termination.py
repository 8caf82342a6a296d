"""SIGTERM in the middle of a command: nothing private is left, and what was spent is said."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.cli.spending import Unfinished, billed
from core.privacy.budget import Budget
from core.releases.payment import LedgerAccount
from tests.held_open import LISTED, held_open

ROOT = Path(__file__).parents[2]

TERMINATED = """
import sys
from core.__main__ import main
from core.sources import duck
duck.MEMORY_LIMITS = ("60MB",)
main()
"""


@pytest.mark.deep
@LISTED
def test_a_release_that_the_system_ends_while_it_sorts_leaves_nothing_and_spends_nothing(tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    ids = pa.array(np.random.default_rng(0).permutation(4_000_000))
    pq.write_table(pa.table({"id": ids, "x": ids}), tmp_path / "people.parquet")
    asked = ["--bounds", "x=0:1e7", "--bandwidth", "1e5", "--rows", "60", "--width", "64", "--epsilon", "1"]
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            TERMINATED,
            "release",
            "people.parquet",
            *asked,
            "--unit",
            "id:1",
            "--out",
            "people.npz",
        ],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "FROSTGLASS_LEDGER": str(tmp_path / "ledger.sqlite"), "TMPDIR": str(temporary)},
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(6000):
        if held_open(process, temporary) > 10_000_000:
            break
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, remarks = process.communicate(timeout=120)
    assert process.returncode == 143, remarks
    assert remarks.splitlines()[-1] == (
        "Ended by the system before it was done; nothing was spent and no file was written."
    )
    assert not list(temporary.glob("frostglass-*")) and not (tmp_path / "people.npz").exists()


@pytest.mark.parametrize(
    ("spent", "patience", "words"),
    [(False, 0, "nothing was spent"), (None, 1, "the ledger knows whether ε = 1"), (True, 1, "is spent all the same")],
)
def test_the_end_waits_when_it_could_only_lose_budget(capsys, spent, patience, words):
    before = signal.getsignal(signal.SIGTERM)
    survived = 0
    with pytest.raises(Unfinished) as ending, billed() as bill:
        bill.payer = LedgerAccount(None, "people", Budget(1), "record", spent=spent)
        for _ in range(3):
            signal.raise_signal(signal.SIGTERM)
            survived += 1
    assert survived == patience and ending.value.code == 143
    assert words in str(ending.value)
    assert capsys.readouterr().err.count("finished first") == patience
    assert signal.getsignal(signal.SIGTERM) is before
