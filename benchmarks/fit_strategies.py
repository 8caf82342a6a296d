"""Fit the strategies that are kept with the library, from many starts each: `python -m benchmarks.fit_strategies`."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

from core.geometry import distance_strategy as kept_strategies
from core.geometry.distance_profiles import OneSided, Power, Profile
from core.geometry.distance_strategy import SIZES, best_top, hung_below, unit_variance

KEPT: tuple[Profile, ...] = (Power(1.0), OneSided(above=True))
LARGEST_TOP = 64
STARTS = {8: 120, 16: 90, 32: 36, 64: 12}


def main() -> None:
    """Write the best strategy of every kept profile and size; some ten minutes."""
    entries = []
    for profile in KEPT:
        for pure in (True, False):
            for cells in SIZES:
                start = perf_counter()
                if cells <= LARGEST_TOP:
                    top = strategy = best_top(profile, cells, pure, range(STARTS[cells] if pure else 1))
                else:
                    strategy = hung_below(top, profile, cells, pure)
                entries.append({"norm": profile.notation, "pure": pure, **strategy.to_dict()})
                variance, seconds = unit_variance(strategy, profile, pure), perf_counter() - start
                print(f"{profile.notation} {pure=} {cells=}: variance {variance:.4f}, {seconds:.1f} s", flush=True)
    text = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in entries)
    (Path(kept_strategies.__file__).parent / kept_strategies.FILE).write_text(f"[\n{text}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
