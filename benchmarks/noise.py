"""Exact noise against OpenDP's exact samplers, side by side."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import version
from time import perf_counter

import opendp.prelude as opendp

from core.privacy.noise import discrete_gaussian, discrete_laplace, warm

DRAWS = 1_000_000
# OpenDP takes the same time for every draw, so a part of them is enough.
OPENDP_DRAWS = 100_000
REPEATS = 5
SCALE = 1000


def run() -> list[dict]:
    """Time one million draws of each distribution; median of several, both libraries in turn.

    Returns
    -------
    list of dict
        One row a distribution: work, seconds, rival, rival_seconds (for as many draws) and ratio.
    """
    opendp.enable_features("contrib")
    domain = opendp.vector_domain(opendp.atom_domain(T=int))
    zeros = [0] * OPENDP_DRAWS
    laplace = opendp.m.make_laplace(domain, opendp.l1_distance(T=int), scale=float(SCALE))
    gaussian = opendp.m.make_gaussian(domain, opendp.l2_distance(T=float), scale=float(SCALE))
    warm()
    return [
        _row("discrete Laplace", lambda: discrete_laplace(DRAWS, Fraction(SCALE)), lambda: laplace(zeros)),
        _row("discrete Gaussian", lambda: discrete_gaussian(DRAWS, Fraction(SCALE) ** 2), lambda: gaussian(zeros)),
    ]


def _row(name: str, ours: Callable, rival: Callable) -> dict:
    pairs = [(_seconds(ours), _seconds(rival) * DRAWS / OPENDP_DRAWS) for _ in range(REPEATS)]
    seconds, rival_seconds = (statistics.median(side) for side in zip(*pairs, strict=True))
    return {
        "work": f"exact noise, {DRAWS:,} draws of {name} of scale {SCALE}",
        "seconds": seconds,
        "rival": f"OpenDP {version('opendp')}",
        "rival_seconds": rival_seconds,
        "ratio": rival_seconds / seconds,
    }


def _seconds(work: Callable) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start
