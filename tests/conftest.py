"""Shared by all tests: how many examples Hypothesis takes, the same ones on every run, and what only deep runs do."""

import atexit
import gc
import os
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

import pytest
from hypothesis import settings
from platformdirs import user_cache_path
from threadpoolctl import threadpool_limits

from core.releases.forecast import one_trial, trial
from tests.depth import DEEP, changed, draws
from tests.same_noise import pytest_configure  # noqa: F401  pytest looks for it here

settings.register_profile("frostglass", deadline=None, derandomize=True, max_examples=draws(10, 50))
settings.load_profile("frostglass")

# A program that a test starts with a home of its own finds the compiled loops of everyone else.
os.environ.setdefault("XDG_CACHE_HOME", str(user_cache_path()))


@pytest.fixture(autouse=True, scope="session")
def nothing_waits_for_the_disk() -> Iterator[None]:
    """No test cuts the power, and waiting until what was written is on the disk takes longer than what wrote it."""
    from core.privacy.ledger import ledger_store

    assert ledger_store.SYNCHRONOUS == "EXTRA"
    with pytest.MonkeyPatch.context() as patched:
        if not DEEP:
            patched.setattr(ledger_store, "SYNCHRONOUS", "OFF")
            patched.setattr(os, "fsync", lambda file: None)
        yield


@pytest.fixture
def few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """A synthetic population of fewer places: what is true of any number of them is seen as well, and sooner."""
    from core.analysis import population

    monkeypatch.setattr(population, "PLACES", draws(512, population.PLACES))
    monkeypatch.setattr(population, "KEPT", draws(128, population.KEPT))


TRIED = {name: getattr(one_trial, name) for name in ("TRIAL_ROWS", "LEAST_GROUPS", "LARGEST_SIMULATED")}
TRIALS = trial._reference_trials
"""How many random rows a forecast tries, and what keeps them: the usual ones, for tests of how good forecasts are."""


@pytest.fixture(autouse=True, scope="session")
def short_trials() -> Iterator[None]:
    """Forecasts from fewer random rows; `tests/releases/forecast`, which says how good they are, has the usual."""
    with pytest.MonkeyPatch.context() as patched:
        if not DEEP:
            patched.setattr(one_trial, "TRIAL_ROWS", 800)
            patched.setattr(one_trial, "LEAST_GROUPS", 6)
            patched.setattr(one_trial, "LARGEST_SIMULATED", one_trial.LARGEST_SIMULATED // 4)
            patched.setattr(trial, "_reference_trials", lru_cache(maxsize=1024)(TRIALS.__wrapped__))
        yield


def pytest_sessionstart() -> None:
    """Tests run side by side, one a core: threads of the matrix library would wait for each other, busily."""
    if not DEEP:
        threadpool_limits(1, user_api="blas")


def pytest_sessionfinish() -> None:
    """Python itself removes what is left at the end, after pytest has looked through what tests left five times."""
    atexit.register(gc.unfreeze)


def pytest_collection() -> None:
    """Thousands of tests and the libraries that they import stay to the end: nothing of them is rubbish to look for."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From here on only what tests make is looked through, which is a small part of all there is."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked deep and, where nobody changed a thing, what is thorough and most of many like cases."""
    if DEEP:
        return
    kept, families = [], defaultdict(list)
    for item in items:
        near = changed(item.path)
        if not item.get_closest_marker("deep") and (near or not item.get_closest_marker("thorough")):
            kept.append(item)
            if item.get_closest_marker("few") and not near:
                families[item.nodeid.partition("[")[0]].append(item)
    left = set(items) - set(kept)
    for cases in families.values():
        most = min(cases[0].get_closest_marker("few").args[0], len(cases))
        left |= set(cases) - {cases[place * (len(cases) - 1) // max(most - 1, 1)] for place in range(most)}
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]
