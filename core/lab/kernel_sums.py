"""Kernel sums of records that are no secret: exact, or of as many random ones as a stated error needs.

Records are drawn without replacement, more and more of them, until the error is small enough at every question or all
are drawn, and the sum is exact; so it never takes longer than that by more than the shuffling. With m of n drawn,
kernel values between 0 and 1, their mean y and deviation s, Bardenet and Maillard 2015 ("Concentration inequalities for
sampling without replacement", Theorem 4.3, the empirical Bernstein-Serfling inequality) have with probability 1 - 5 δ

    mean of all - y <= s √(2 r L / m) + k L / m,   L = ln(1/δ),  k = 7/3 + 3/√2,

r = 1 - (m-1)/n up to m = n/2 and (1 - m/n) (1 + 1/m) beyond, and the same the other way round. Over both ways, all
questions and all looks it holds with probability 1 - `CHANCE`, if δ is a tenth of that over their numbers.

*Fewer dimensions* (Backurs, Lin, Mahabadi, Silwal, Tarnawski 2024, section 10) would have to be about ln(1/a)/a² for
an error of a times the number of records: 1,200 for a = 1/20, and nothing that is compared here has as many.
"""

from __future__ import annotations

import math

import numpy as np

from ..geometry.kernels import Kernel
from ..runtime.array_types import Floats

CHANCE = 1e-9  # That any sum of one call is further off than was stated.
FIRST = 1 << 13  # Records that are looked at first, and half as many as next.
BLOCK = 1 << 20  # Pairs of question and record whose closeness is in memory at once.
FACTOR = 7.0 / 3.0 + 3.0 / math.sqrt(2.0)


def kernel_sums(kernel: Kernel, queries: Floats, records: Floats, error: float = 0.0, seed: int = 0) -> Floats:
    """The sum of a kernel over records at every query, float64 (m,).

    `queries`, `records`: float64 (m, d) and (n, d). `error`: How far a sum may be off, as a share of n; 0 is exact.
    `seed`: Which records are drawn.
    """
    total, sums, squares, drawn = len(records), np.zeros(len(queries)), np.zeros(len(queries)), 0
    order = np.random.default_rng(seed).permutation(total) if error else None
    looks = max(1, math.ceil(math.log2(max(total, 1) / FIRST))) + 1
    log = math.log(10.0 * max(len(queries), 1) * looks / CHANCE)
    step = max(1, BLOCK // max(1, len(queries)))
    for end in [*(FIRST << look for look in range(looks) if error and FIRST << look < total), total]:
        for first in range(drawn, end, step):
            place = slice(first, min(first + step, end))
            values = kernel.evaluate(queries, records[place] if order is None else records[order[place]])
            sums += values.sum(axis=1)
            squares += (values**2).sum(axis=1) if error else 0.0
        drawn = end
        if error and drawn < total and _bound(sums, squares, drawn, total, log) <= error:
            break
    return sums * (total / max(drawn, 1))


def _bound(sums: Floats, squares: Floats, drawn: int, total: int, log: float) -> float:
    """How far the mean of what was drawn is from that of all, at the worst question."""
    mean = sums / drawn
    variance = np.maximum(squares / drawn - mean**2, 0.0).max()
    left = 1.0 - (drawn - 1) / total if 2 * drawn <= total else (1.0 - drawn / total) * (1.0 + 1.0 / drawn)
    return float(math.sqrt(2.0 * variance * left * log / drawn) + FACTOR * log / drawn)
