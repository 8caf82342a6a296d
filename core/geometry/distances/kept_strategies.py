"""Strategies that were fitted once and are kept, so that nobody waits for them and everybody has the same.

`python -m benchmarks.fit_strategies` fits them again, from many more starts than one would wait for.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from .profiles import OneSided, Profile
from .strategy import Strategy

FILE = "strategies.json"


def kept_strategy(profile: Profile, cells: int, pure: bool) -> Strategy | None:
    """The kept strategy of a profile on a grid, or None. What lies below a query lies above it in a mirror."""
    if profile == OneSided(above=False):
        mirrored = kept_strategy(OneSided(above=True), cells, pure)
        return mirrored and Strategy(tuple(row[::-1] for row in mirrored.top), mirrored.hats)
    return _kept().get((profile.notation, cells, pure))


@cache
def _kept() -> dict[tuple[str, int, bool], Strategy]:
    source = files(__package__) / FILE
    if not source.is_file():
        return {}
    entries = json.loads(source.read_text(encoding="utf-8"))
    return {
        (entry["norm"], strategy.cells, entry["pure"]): strategy
        for entry in entries
        for strategy in [Strategy.from_dict({"top": entry["top"], "hats": entry["hats"]})]
    }
