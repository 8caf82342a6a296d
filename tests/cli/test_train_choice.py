"""`train --method choose`: one promise, and a file of the kind that was chosen."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from core import Budget, Domain, load
from core.models.entrants import Counts, Logistic, NearestMeans
from core.models.linear_models import load_model, most_bytes
from core.models.prospects import Prospect
from core.models.training import trainer_of
from core.models.training_task import Task
from core.privacy.ledger.ledger import Ledger
from core.runtime.transient import LOCK
from core.sources import open_source
from tests.depth import deep

from .conftest import people

ROOT = Path(__file__).parents[2]
PROMISE = (
    "--categories",
    "side=in,out",
    "--target",
    "side",
    "--epsilon",
    "2",
    "--records",
    "800",
    "--method",
    "choose",
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("entrants", "ending"),
    [((Counts,), "json"), deep((Logistic,), "json"), deep((NearestMeans,), "npz"), ((NearestMeans, Logistic), "")],
)
def test_what_was_chosen_is_written_with_the_ending_of_its_kind(
    command, tmp_path, ledger, monkeypatch, entrants, ending
):
    def worth(known, budget, records, spread):
        made = tuple(kind(known[0].domain, known[0].label) for kind in entrants)
        return Prospect(made, 0.9, tuple((one, 0.9) for one in made))

    monkeypatch.setattr("core.models.classifier_choice.prospect", worth)
    frame = people(800)
    frame["side"] = np.where(frame.x > 5, "out", "in")
    frame.drop(columns="id").to_csv(tmp_path / "sides.csv", index=False)
    said = command("train", "sides.csv", "--bounds", "x=0:10", "--bounds", "y=0:10", *PROMISE, "--out", "sides")
    assert said.exit_code == 0, said.output
    (made,) = [path for path in tmp_path.glob("sides.*") if path.suffix in (".npz", ".json")]
    assert not ending or made.suffix == f".{ending}"
    assert f"{made.name} QUERIES" in said.output
    assert ("chosen by records held out" in said.output) == (entrants != (Counts,))
    assert ("Nothing is worth its price" in said.output) == (entrants == (Counts,))
    assert Ledger(ledger).status("sides").spent == 2 and len(Ledger(ledger).status("sides").releases) == 1
    asks = ("classify", "out") if made.suffix == ".npz" else ("predict", "out")
    answer = command(asks[0], made.name, "sides.csv")
    assert answer.exit_code == 0 and (asks[1] in answer.output or entrants == (Counts,))
    assert ("the same answer" in said.output) == (entrants == (Counts,))
    assert load(made).privacy.epsilon == 2 if made.suffix == ".npz" else load_model(made).budget.epsilon == 2


def test_nothing_is_spent_where_a_file_of_either_kind_is_in_the_way(command, tmp_path, source, ledger):
    (tmp_path / "sides.json").write_text("{}")
    said = command("train", source, "--bounds", "x=0:10", *PROMISE, "--out", "sides")
    assert said.exit_code == 2 and "sides.json" in said.output and not ledger.exists()


@pytest.mark.parametrize("method", ["objective", "choose"])
def test_a_model_that_the_disk_has_no_room_for_is_not_paid_for(command, tmp_path, ledger, monkeypatch, method):
    """It is written after it was paid for, and nobody can have it again for nothing."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    frame = people(800)
    frame["side"] = np.where(frame.x > 5, "out", "in")
    frame.drop(columns="id").to_csv(tmp_path / "sides.csv", index=False)
    promise = (*PROMISE[:-1], method, "--out", "sides.json")
    said = command("train", "sides.csv", "--bounds", "x=0:10", "--bounds", "y=0:10", *promise)
    sentence = said.stderr.strip().splitlines()[-1]
    assert said.exit_code == 2 and "No space left on device" in sentence and "nothing was spent" in sentence
    assert Ledger(ledger).names() == [] and sorted(path.name for path in tmp_path.iterdir()) == [
        "ledger.sqlite",
        "sides.csv",
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("target", ["side", "x"])
@pytest.mark.parametrize("wide", [0, 40])
def test_no_model_takes_more_than_the_room_that_was_taken_for_it(target, wide):
    frame = people(400).assign(side="in", **{f"w{place}": 0.0 for place in range(wide)}).drop(columns="id")
    columns = {name: (0.0, 10.0) for name in frame if name != "side"}
    domain = Domain.of(**columns, side=["in", "out", 'a "name" of ü'])
    room = most_bytes(Task(domain, target))
    for method in ("objective", "descent", "newton") if target == "side" else ("products", "descent"):
        model = trainer_of(method, domain, target).fit(open_source(frame), Budget(1, 1e-6))
        assert len(model.to_bytes()) < room


@pytest.mark.deep
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_killed_in_the_middle_it_leaves_no_record_behind_and_never_passes_its_total(tmp_path, ledger):
    """It may be lost with what it has cost, as for all that is made at once; nothing else may happen."""
    frame, scratch = people(800), tmp_path / "scratch"
    frame["side"] = np.where(frame.x > 5, "out", "in")
    frame.drop(columns="id").to_csv(tmp_path / "sides.csv", index=False)
    scratch.mkdir()
    Ledger(ledger).register("sides", 5)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "FROSTGLASS_LEDGER": str(ledger), "TMPDIR": str(scratch)}
    arguments = ("train", "sides.csv", "--bounds", "x=0:10", "--bounds", "y=0:10", *PROMISE, "--out", "sides")
    command = [sys.executable, "-m", "core", *arguments]

    def paid():
        return len(Ledger(ledger).status("sides").releases)

    for wanted in (0, 1, 2):  # once before it has paid, and twice in the middle of making and comparing
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
        while process.poll() is None and (paid() < wanted if wanted else not list(tmp_path.glob(".*.unfinished"))):
            time.sleep(0.05)
        process.kill()
        assert process.wait() == -signal.SIGKILL and paid() == wanted
        # A folder for what DuckDB may write, which the next start takes away, holds its lock alone.
        assert {file.name for file in scratch.rglob("*") if file.is_file()} <= {LOCK}
        assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in scratch.iterdir())
        assert not list(tmp_path.glob("*sides.[nj]*"))
        # Room for what would be public: zeros, or a file that was paid for and not yet named.
        assert all(set(left.read_bytes()) <= {0} for left in tmp_path.glob(".*.unfinished"))
    last = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert last.returncode == 3 and "nothing was spent" in last.stderr and paid() == 2  # 1 is left, and 2 are asked for
    assert not list(tmp_path.glob(".*.unfinished")) and not list(scratch.iterdir())
