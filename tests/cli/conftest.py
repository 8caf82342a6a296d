"""A ledger of its own for every test, a small private file, and a release of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer import testing
from typer.main import get_command
from typer.testing import CliRunner, Result

from core.cli.commands import app

BOUNDS = ("--bounds", "x=0:10", "--bounds", "y=0:10")
SMALL = ("--bandwidth", "2", "--rows", "60", "--width", "64")
SKETCH = (*BOUNDS, *SMALL)

Command = Callable[..., Result]


@pytest.fixture(autouse=True, scope="session")
def commands_are_made_once():
    """Typer makes all commands with all their options anew for every call, as if each were a process of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(testing, "_get_command", cache(get_command))
        yield


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def command(tmp_path: Path, ledger: Path, monkeypatch) -> Command:
    """Run a command in an empty folder; what it says on standard error is one line a remark."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(ledger))
    for name in ("FROSTGLASS_DEBUG", "FROSTGLASS_WITNESS"):
        monkeypatch.delenv(name, raising=False)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def people(count: int = 2000, seed: int = 1) -> pd.DataFrame:
    """Two groups of people, one of them twice as large."""
    random = np.random.default_rng(seed)
    centre = np.where(random.random(count) < 2 / 3, 3.0, 8.0)
    points = np.clip(centre[:, None] + 0.6 * random.standard_normal((count, 2)), 0, 10)
    return pd.DataFrame({"x": points[:, 0], "y": points[:, 1], "id": np.arange(count) // 2})


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    people().to_parquet(path)
    return path


@pytest.fixture(scope="session")
def released(tmp_path_factory) -> Path:
    """A release with little noise, made by the command line once for all tests that only ask."""
    folder = tmp_path_factory.mktemp("released")
    people().to_parquet(folder / "people.parquet")
    arguments = ["release", folder / "people.parquet", *SKETCH, "--epsilon", "50", "--seed", "7"]
    places = ["--ledger", folder / "ledger.sqlite", "--out", folder / "people.npz"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments + places])
    assert result.exit_code == 0, result.output
    return folder / "people.npz"


def refused(result: Result, code: int = 2) -> str:
    """The one sentence that a command ended with; nothing is on standard output, and no traceback anywhere."""
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    sentence = result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    assert sentence.endswith(".")
    assert len(sentence) < 500
    return sentence
