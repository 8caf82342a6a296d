"""Report noisy max with exponential noise, drawn exactly by permute-and-flip (McKenna, Sheldon 2020).

Of m candidates with private whole-number scores s_i, the one is chosen whose s_i + E_i is the largest, where the E_i
are independent and exponential with rate r.

Why it is (ε, 0)-private. Fix the noise of all candidates but i, which wins when E_i exceeds t = max over j ≠ i of
(s_j + E_j), less s_i: with probability e^(-r max(t, 0)). Between neighbours t grows by g at most, so this probability
falls by a factor of e^(-rg) at most, whatever was fixed, and so does its mean. No score moves by more than Δ, so the
maximum moves by Δ at most and

    g = 2Δ, r = ε / (2Δ)    in general,
    g = Δ,  r = ε / Δ       where one person moves all scores the same way, such as records that are added and can only
                            make counts larger: if all grow, s_i does not fall, and if all fall, the maximum does not
                            grow. ∎

How it is drawn. Let s* be the largest score. Candidate i rises above s* with probability e^(-r(s* - s_i)), each by
itself, and the best does for certain; whoever does is above it by an amount that is exponential with rate r again, as
that has no memory. So the winner is any one of those who do, each equally likely: toss exact coins (`Coin`), and take
one of the heads (Ding, Kifer, Saghaian, Steinke, Wang, Xiao 2021). No noise is ever a number, so none is rounded.

For the same ε it never does worse than the exponential mechanism (McKenna, Sheldon 2020, Theorem 2), and up to twice
as well. Its loss may be 2ε wide, though, so of zCDP it claims ε²/2 where `selection` has ε²/8: many choices under a
delta are better made there."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from .noise.bernoulli import Coin
from .noise.randomness import Source, SystemSource
from .replay.laws import NoisyLargest
from .replay.tape import drawn
from .selection import below, check_scores


def noisy_max(
    scores: np.ndarray, sensitivity: int, epsilon: Fraction, source: Source | None = None, *, one_way: bool = False
) -> int:
    """Choose the candidate of the largest score as far as noise lets it, (epsilon, 0)-privately.

    Parameters
    ----------
    scores : np.ndarray
        Exact and private, int64 (m,), m >= 1; a coin is tossed for each.
    sensitivity : int
        Δ: how far one person can move any one score, at most.
    epsilon : Fraction
        The price, exact: one event of `PureParts`.
    source : Source | None
        Where the random bits come from; the operating system unless this is a test or a lesson.
    one_way : bool
        Whether one person moves all scores the same way, or not at all.

    Returns
    -------
    int
        Place of the chosen candidate.
    """
    scores = check_scores(scores, sensitivity, epsilon)
    rate = Fraction(epsilon) / (sensitivity if one_way else 2 * sensitivity)

    def draw() -> int:
        stream = (SystemSource() if source is None else source).stream()
        best = int(scores.max())
        heads = [place for place, score in enumerate(scores.tolist()) if Coin((best - score) * rate).toss(stream)]
        return heads[below(len(heads), stream)]

    return drawn(NoisyLargest(rate, len(scores)), scores, draw, source is None or source.private)
