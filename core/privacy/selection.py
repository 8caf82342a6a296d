"""The exponential mechanism (McSherry, Talwar 2007) on whole-number scores, drawn exactly.

Of m candidates with private scores s_i, of which one person can move each by Δ at most, candidate i is chosen with
probability proportional to e^(ε s_i / (2Δ)).

Why it is (ε, 0)-private. One person multiplies every weight by a factor between e^(-ε/2) and e^(ε/2), and so their sum;
a probability is their ratio and moves by e^ε at most. ∎ (Weights e^(ε s_i / Δ) would do for scores that one person can
only move all the same way. Distances from what is expected, which is what candidates are scored by, move either way.)

Why it is (ε²/8)-zCDP, four times better than an ε-private mechanism need be (Cesar, Rogers 2021). For neighbours with
probabilities P and Q, h = log(P/Q) is ε (s_i - s'_i) / (2Δ) plus a constant, so it lies in an interval of length ε.
ψ(α) = log E_Q[e^(αh)] has ψ(0) = ψ(1) = 0, and ψ'' is the variance of h under a tilted Q, at most ε²/4. So
ψ(α) - α(α - 1)ε²/8 is concave and zero at 0 and 1, hence not above 0 for α > 1, and the Rényi divergence
ψ(α)/(α - 1) is at most α ε²/8. ∎ `events.Selections` claims this.

How it is drawn. With x_i = ε (max s - s_i) / (2Δ), weights e^(-x_i) are below 2^(-k_i) for the whole numbers k_i =
floor(c x_i), c < 1/log 2. A candidate is proposed with probability proportional to 2^(-k_i), in whole numbers, and kept
with probability 2^(k_i) e^(-x_i), otherwise all is begun again: rejection sampling, whose outcome has the wanted law
exactly. The second coin needs no new code: it is `Coin` when its first k_i digits, all zero, are known to agree. No
floating-point number is part of a decision. Two proposals or so are enough on average, whatever the scores: a thousand
hopeless candidates share a proposal weight that is as small as theirs.
"""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from .noise.bernoulli import WORD_BITS, Coin
from .noise.randomness import Source, Stream, SystemSource

Scores = npt.NDArray[np.int64]

LARGEST_SCORE = 1 << 62
"""Absolute value of a score, so that differences of two fit 64 bits."""
INVERSE_LOG_2 = Fraction(1_442_695, 1_000_000)
"""c, just below 1/log 2 = 1.44269504..."""
DEEPEST = 128
"""Candidates of a weight below 2^-128 are proposed as if it were that: even 2^62 of them are hardly ever proposed."""


def select(scores: np.ndarray, sensitivity: int, epsilon: Fraction, source: Source | None = None) -> int:
    """Choose a candidate by its private score, (epsilon, 0)-privately.

    Parameters
    ----------
    scores : np.ndarray
        Exact and private, int64 (m,), m >= 1.
    sensitivity : int
        Δ: how far one person can move any one score, at most; all of them at once, and in any direction.
    epsilon : Fraction
        The price, exact. `events.Selections` is what it does to privacy.
    source : Source | None
        Where the random bits come from; the operating system unless this is a test or a lesson.

    Returns
    -------
    int
        Place of the chosen candidate.
    """
    scores = check_scores(scores, sensitivity, epsilon)
    rate = Fraction(epsilon) / (2 * sensitivity)
    digits = rate * INVERSE_LOG_2
    gaps, members = np.unique(scores.max() - scores, return_inverse=True)
    depths = [min(DEEPEST, gap * digits.numerator // digits.denominator) for gap in gaps.tolist()]
    by_depth = np.argsort(members, kind="stable")  # a larger gap is never less deep
    levels, counts = (part.tolist() for part in np.unique(np.array(depths)[members], return_counts=True))
    firsts = [0, *accumulate(counts)]
    ends = list(accumulate(count << (DEEPEST - level) for level, count in zip(levels, counts, strict=True)))
    stream = (SystemSource() if source is None else source).stream()
    while True:
        ticket = below(ends[-1], stream)
        place = bisect_right(ends, ticket)
        back = (ends[place] - 1 - ticket) >> (DEEPEST - levels[place])
        candidate = int(by_depth[firsts[place] + back])
        if Coin(int(gaps[members[candidate]]) * rate).toss(stream, matched=levels[place]):
            return candidate


def check_scores(scores: np.ndarray, sensitivity: int, epsilon: Fraction) -> Scores:
    """The scores of a choice; TypeError or ValueError for what could not be drawn exactly."""
    scores = np.asarray(scores)
    if scores.dtype != np.int64 or scores.ndim != 1 or not len(scores):
        raise TypeError("Candidates are chosen by one whole-number score each, an array of int64.")
    if scores.min() <= -LARGEST_SCORE or scores.max() >= LARGEST_SCORE:
        raise ValueError("A score must lie strictly between -2^62 and 2^62.")
    if not isinstance(epsilon, (int, Fraction)) or epsilon <= 0:
        raise TypeError("The price of a choice is a whole number or a fraction above zero.")
    if isinstance(sensitivity, bool) or not isinstance(sensitivity, int) or sensitivity < 1:
        raise TypeError("The sensitivity of scores is a whole number of at least 1.")
    return scores


def below(bound: int, stream: Stream) -> int:
    """Return a whole number from 0 to below the bound, each equally likely: words that are too large are not used."""
    bits = (bound - 1).bit_length()
    words = -(-bits // WORD_BITS)
    while True:
        value = 0
        for word in stream.words(words).tolist() if words else ():
            value = (value << WORD_BITS) | word
        value >>= words * WORD_BITS - bits
        if value < bound:
            return value
