"""What one trial of one method gave: plain numbers, which figures and pages may use without reaching any data."""

from __future__ import annotations

from dataclasses import dataclass

MEASURES = ("relative_error", "upper_error", "l2_error")
"""The errors that a trial has, by the names of its attributes."""


@dataclass(frozen=True)
class Trial:
    """One release of one method, asked the held-out queries, beside the exact sums.

    Attributes
    ----------
    method : str
        Key of `core.experiments.comparison.methods.METHODS`.
    size : int | None
        Its setting; None where public facts chose.
    epsilon, delta : float
        The promise.
    repetition : int
        Counts draws of hashes and noise.
    tuning : bool
        Whether it only served to choose a size. Those that are reported are other draws, as the best of several noisy
        figures looks better than it is.
    relative_error : float
        Mean over the queries of |answer - exact| / exact.
    upper_error : float
        The 95th percentile of the same.
    l2_error : float | None
        In one dimension, the L2 norm of released less exact function over that of the exact one; else None.
    seconds_build : float
        From the records to the noisy table, public random numbers and noise included; not the choice of the size, which
        needs no records.
    seconds_noise : float
        The part of it from the exact to the noisy table; 0 where a mechanism looks more than once.
    seconds_query : float
        For one question, when all are asked at once and nothing has been asked before.
    file_bytes : int
        Length of the release file.
    """

    method: str
    size: int | None
    epsilon: float
    delta: float
    repetition: int
    tuning: bool
    relative_error: float
    upper_error: float
    l2_error: float | None
    seconds_build: float
    seconds_noise: float
    seconds_query: float
    file_bytes: int
