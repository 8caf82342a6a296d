"""Shared by all tests: how many examples Hypothesis takes, the same ones on every run, and what only deep runs do."""

import pytest
from hypothesis import settings

from tests.depth import DEEP, draws

settings.register_profile("frostglass", deadline=None, derandomize=True, max_examples=draws(12, 50))
settings.load_profile("frostglass")


@pytest.fixture
def few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """A synthetic population of fewer places: what is true of any number of them is seen as well, and sooner."""
    from core.tasks import population

    monkeypatch.setattr(population, "PLACES", draws(512, population.PLACES))
    monkeypatch.setattr(population, "KEPT", draws(128, population.KEPT))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked deep, unless the run is."""
    later = [] if DEEP else [item for item in items if item.get_closest_marker("deep")]
    if later:
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if item not in set(later)]
