"""Compiling every hot loop before the first person waits for it.

Numba compiles a loop when it is first called and keeps the result on disk; on a fresh machine that takes some seconds,
which belong to the start of the program and not to the first release.
"""

from __future__ import annotations

import threading

import numpy as np

from ..domain import Domain
from ..kernels import Euclidean, Gaussian
from ..privacy import noise
from ..sketches.features import Features
from ..sketches.linear import LinearSketch
from ..sketches.race import Race


def warm() -> None:
    """Call each compiled loop once on next to nothing."""
    domain = Domain.of(x=(0, 1))
    _use(Race(domain, Euclidean(1.0), rows=4, groups=2, seed=0))
    for transform in ("dense", "fast"):
        _use(Features(domain, Gaussian(1.0), rows=4, groups=2, seed=0, transform=transform))
    noise.warm()


def _use(sketch: LinearSketch) -> None:
    """Build the sketch and ask it."""
    table = sketch.zeros()
    points = np.asfortranarray(np.full((2, 1), 0.5))
    sketch.add(table, points)
    sketch.answer(table, 2.0, points, 1.0, 0.95)


def warm_in_background() -> threading.Thread:
    """Start `warm` beside whatever else goes on; call it once a process."""
    thread = threading.Thread(target=warm, name="warm compiled loops", daemon=True)
    thread.start()
    return thread
