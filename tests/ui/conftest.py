"""A source that takes as long to read as a test needs."""

from functools import lru_cache
from threading import Event

import numpy as np
import pandas as pd
import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.context import ContextProxy

from core.analysis import classification
from core.analysis.answerable import READS
from core.lab.comparison_work import Bench
from core.releases.forecast import one_trial, trial
from core.sources import Source, open_source
from core.ui import surroundings
from core.ui.frame.session import Parting
from tests.conftest import TRIALS
from tests.depth import DEEP

QUICK_TRIALS = lru_cache(maxsize=1024)(TRIALS.__wrapped__)


class Gated(Source):
    """The column x of 1000 records, of which the second half comes only when the gate is opened."""

    def __init__(self):
        self.half = open_source(pd.DataFrame({"x": np.linspace(0, 1, 500)}))
        self.columns, self.label = self.half.columns, "the gated source"
        self.gate, self.waiting, self.left = Event(), Event(), Event()

    def rows_total(self):
        return 1000

    def _batches(self, domain, rows):
        try:
            yield from self.half.batches(domain, rows)
            self.waiting.set()
            self.gate.wait(60)
            yield from self.half.batches(domain, rows)
        finally:
            self.left.set()


@pytest.fixture
def gated():
    """A `Gated` source, whose gate is opened at the end whatever happens."""
    source = Gated()
    yield source
    source.gate.set()


@pytest.fixture(autouse=True)
def rough_forecasts(monkeypatch):
    """Pages say what a forecast says; how good it is, `tests/releases/forecast` says."""
    if not DEEP:
        monkeypatch.setattr(one_trial, "TRIAL_ROWS", 200)
        monkeypatch.setattr(one_trial, "LARGEST_SIMULATED", one_trial.LARGEST_SIMULATED // 4)
        monkeypatch.setattr(trial, "_reference_trials", QUICK_TRIALS)


@pytest.fixture(autouse=True)
def data_folder(tmp_path, monkeypatch):
    """A folder of the test's own for what the app keeps for its owner, where nothing else is named."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FROSTGLASS_LEDGER", raising=False)


@pytest.fixture(autouse=True)
def request_headers(monkeypatch):
    """The headers of every request, as a page without a browser has none: a visit from this computer, to begin with."""
    headers = {"Host": "localhost:8501", "Origin": "http://localhost:8501"}
    monkeypatch.setattr(ContextProxy, "headers", property(lambda self: headers))
    return headers


@pytest.fixture(autouse=True, scope="session")
def no_foreign_components():
    """Every AppTest looks through all installed packages for components of others, of which the app uses none."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest_scanner, "scan_component_manifests", list)
        yield


@pytest.fixture(autouse=True, scope="session")
def no_warming_beside_tests():
    """The app compiles its loops, and forgets closed pages, in threads that would take time from tests that measure."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(surroundings, "_warm", lambda give_way: None)
        patched.setattr(Parting, "start", lambda self: None)
        yield


@pytest.fixture(autouse=True)
def no_comparison_beside_tests(monkeypatch):
    """A page that compares would try methods for a minute after its test, in a thread that other tests would feel."""
    monkeypatch.setattr(Bench, "_start", lambda self: None)


@pytest.fixture(autouse=True)
def answers_are_quick(few_places, monkeypatch):
    """How good synthetic records and maps of groups are, is tested in tests/analysis."""
    monkeypatch.setattr(classification, "READS", READS if DEEP else READS / 25)
