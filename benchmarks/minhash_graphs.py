"""Slashdot, R = 2000, W = 100,000 (table 4 of the RACE paper): filling a MinHash table, asking it, and releasing it."""

from __future__ import annotations

from collections.abc import Iterator

from core.privacy.budget import Budget
from core.privacy.calibration import NoiseScale
from core.privacy.noise.noise import add_noise
from core.sketches.minhash import MinHash
from core.sketches.plan import plan

from .graphs import MEANS, NEIGHBOURS, TABLE_4, measured, one_permutation, slashdot
from .measuring import Comparison, Published, Settings
from .timing import in_turn

ROWS, WIDTH = 2000, 100_000


def run(settings: Settings) -> Iterator[Comparison]:
    """Both ways to hash; noise on every counter apart, as the paper does not say whether its times have it in them."""
    name, sets = slashdot(settings)
    rows, width = settings.size(ROWS, 200), settings.size(WIDTH, 1_000)
    classic = MinHash(NEIGHBOURS, rows=rows, width=width, seed=1)
    yield from measured(name, sets, classic, 25.0, 157e-6, 0.5, settings)
    yield one_permutation(name, sets, classic, settings)
    scale = plan(classic, Budget(1)).noise

    def released() -> None:
        table = classic.zeros()
        classic.add(table, sets)
        _noise(table, scale)

    found = in_turn({"Frostglass": released}, settings.repeats(3))
    yield Comparison(
        f"fill a table and add noise to its {rows * width:,} counters, ε = 1: {name}",
        found["Frostglass"],
        published=(Published(TABLE_4, 25.0, MEANS),),
    )


def _noise(table: object, scale: NoiseScale) -> None:
    """In the table's own place."""
    add_noise(table, scale, out=table)
