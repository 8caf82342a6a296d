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

Several choices as one. Where one place is wanted in each of several lists of candidates, such as a median of each of
d columns, and one person may move all lists, d choices of ε/d each could be made. Let instead a candidate be a whole
tuple, of the score min over the lists of their scores. No minimum moves by more than what it is taken of, so Δ is
that of one list, and this is one choice of ε among the product of the lists: the exponential mechanism for a norm
that no direction is wasted on (K-norm mechanism: Hardt, Talwar 2010, with the largest coordinate as norm). Where
scores fall evenly away from the best ones, the largest of d distances is a sum of d exponential numbers, d/ε on
average, and the others are anywhere below it: (d + 1)/(2ε) on average, where d separate choices would be d/ε off
each. Under zCDP d choices of ε/√d are better.

How it is drawn. With x_i = ε (max s - s_i) / (2Δ), weights e^(-x_i) are below 2^(-k_i) for the whole numbers k_i =
floor(c x_i), c < 1/log 2. A candidate is proposed with probability proportional to 2^(-k_i), in whole numbers, and
kept with probability 2^(k_i) e^(-x_i), otherwise all is begun again: rejection sampling, whose outcome has the wanted
law exactly. The second coin needs no new code: it is `Coin` when its first k_i digits, all zero, are known to agree.
No floating-point number is part of a decision. Two proposals or so are enough on average, whatever the scores: a
thousand hopeless candidates share a proposal weight that is as small as theirs. Of tuples k is the largest of the
lists' (each counted from the best score that all lists can have), so those of k at most are a box, and how many have
exactly k is the difference of two products: the tuple of a number below that is found list by list, in whole numbers
of any size.

Report noisy max with exponential noise, drawn exactly by permute-and-flip (McKenna, Sheldon 2020).

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
delta are better made there.

The sparse vector technique: which of many private numbers exceed a threshold, paid for by the few that do.

Dwork and Roth (2014, Algorithm 1, Theorem 3.23), in the form for several findings that Lyu, Su and Li (2017, Algorithm
7) prove. Whole numbers throughout, with discrete Laplace noise:

    ρ with scale Δ/ε₁, once;    for every question a fresh ν with scale 2cΔ/ε₂;    "above" when f + ν >= τ + ρ,

and after c findings no further question is answered. Only the words "above" and "below" come out.

*Proof* that it is (ε₁ + ε₂, 0)-private, however questions and their thresholds τ are chosen from earlier words, and
from what else was released and paid for in between with noise of its own. One person moves every f by at most Δ. Fix
all that was said and compare, for neighbours D and D', the probability given ρ = z under D with that given ρ = z + Δ
under D'; the probabilities of z and z + Δ differ by e^ε₁ at most. At z + Δ

    below: f + ν < τ + z implies f' + ν < τ + z + Δ, as f' <= f + Δ: at least as likely for D', at no cost;
    above: f + ν >= τ + z implies f' + ν' >= τ + z + Δ for ν' = ν + 2Δ, as f' >= f - Δ: ν' is at most e^(2Δ ε₂/(2cΔ))
           times less likely, and this happens c times at most.

Together e^(ε₁ + ε₂). ∎ *Monotone questions* (one person moves all f the same way): where f' >= f, "above" needs ν + Δ
only; where f' <= f, compare with ρ = z itself, where "below" is implied and "above" needs ν + Δ. So scale cΔ/ε₂ does.

What the wrong variants do that Lyu, Su and Li collected, and this does not: no ν at all (Stoddard et al. 2014); ν that
does not grow with c (Lee, Clifton 2014; Chen et al. 2015), or findings without end; the noisy f + ν given away beside
the word "above" (Roth's lecture notes of 2011), which tells of ρ what the proof hides: here a value that is wanted has
to be measured afresh and paid for.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from ...errors import RequestError
from ..calibration import NoiseScale
from ..noise.discrete_samplers import laplace_sampler
from ..noise.noise import check_drawable
from ..noise.randomness import WORD_BITS, Coin, Source, Stream, SystemSource
from ..replay.laws import Comparisons, NoisyLargest, WeighedChoice
from ..replay.tape import drawn, rolling

Scores = npt.NDArray[np.int64]

LARGEST_SCORE = 1 << 62  # Absolute value of a score, so that differences of two fit 64 bits.
LARGEST_GAP = (1 << 63) - 1  # Of two scores; no gap is as large.
INVERSE_LOG_2 = Fraction(1_442_695, 1_000_000)  # c, just below 1/log 2 = 1.44269504...
DEEPEST = 128  # Candidates of a weight below 2^-128 over their number are proposed as if it were that, so hardly ever.


def select(scores: np.ndarray, sensitivity: int, epsilon: Fraction, source: Source | None = None) -> int:
    """Choose a candidate by its private score, (epsilon, 0)-privately.

    `scores`: Exact and private, int64 (m,), m >= 1. `sensitivity`: Δ: how far one person can move any one score, at
    most; all of them at once, and in any direction. `epsilon`: The price, exact. `events.Selections` is what it does to
    privacy.

    Returns the place of the chosen candidate.
    """
    return select_jointly([scores], sensitivity, epsilon, source)[0]


def select_jointly(
    scores: Sequence[np.ndarray], sensitivity: int, epsilon: Fraction, source: Source | None = None
) -> tuple[int, ...]:
    """Choose a candidate of each list, all for one price: a tuple by the least of its scores.

    `scores`: Exact and private, int64 (m_j,), m_j >= 1 each. `sensitivity`: Δ: how far one person can move any one
    score of any list, at most; all of them at once. `epsilon`: The price of all of them together, exact: one choice of
    `events.Selections`.

    Returns the place of the chosen candidate in each list.
    """
    checked = [check_scores(one, sensitivity, epsilon) for one in scores]
    rate = Fraction(epsilon) / (2 * sensitivity)
    law = WeighedChoice(rate, tuple(len(one) for one in checked))
    return drawn(law, checked, lambda: _chosen(checked, rate, source), source is None or source.private)


def _chosen(checked: Sequence[Scores], rate: Fraction, source: Source | None) -> tuple[int, ...]:
    """By rejection, as the module says."""
    best = min(int(one.max()) for one in checked)
    gaps = [best - np.minimum(one, best) for one in checked]
    shells = _Shells.of(gaps, rate * INVERSE_LOG_2)
    stream = (SystemSource() if source is None else source).stream()
    while True:
        depth, places = shells.proposed(stream)
        gap = max(int(one[place]) for one, place in zip(gaps, places, strict=True))
        if Coin(gap * rate).toss(stream, matched=depth):
            return places


@dataclass(frozen=True)
class _Shells:
    """Tuples of candidates by how deep their weight lies below the best, which is k for one of about 2^-k."""

    orders: list[np.ndarray]  # Of each list, its places, those of the least gaps first.
    boxes: list[list[int]]  # For every depth, how many places of each list are as deep at most.
    ends: list[int]  # Weights of all tuples up to every depth, in units of that of the deepest.

    @classmethod
    def of(cls, gaps: list[np.ndarray], digits: Fraction) -> _Shells:
        """The shells of floor(gap * digits), the deepest of all that lie deeper."""
        deepest = DEEPEST + sum(len(one).bit_length() for one in gaps)
        # Of depth k at most are the gaps below the least whole number whose depth is k + 1.
        firsts = [-(-(depth + 1) * digits.denominator // digits.numerator) for depth in range(deepest)]
        limits = np.array([min(first, LARGEST_GAP) for first in firsts], np.int64)
        orders = [np.argsort(one, kind="stable") for one in gaps]
        counts = [
            [*np.searchsorted(one[order], limits).tolist(), len(one)] for one, order in zip(gaps, orders, strict=True)
        ]
        boxes = [list(box) for box in zip(*counts, strict=True)]
        sizes = [math.prod(box) for box in boxes]
        new = [size - before for size, before in zip(sizes, [0, *sizes], strict=False)]
        ends = list(accumulate(count << (deepest - depth) for depth, count in enumerate(new)))
        return cls(orders, boxes, ends)

    def proposed(self, stream: Stream) -> tuple[int, tuple[int, ...]]:
        """A depth and a tuple of it, with probability proportional to 2^-depth for each tuple."""
        ticket = below(self.ends[-1], stream)
        depth = bisect_right(self.ends, ticket)
        number = (self.ends[depth] - 1 - ticket) >> (len(self.ends) - 1 - depth)
        box = self.boxes[depth]
        inner = self.boxes[depth - 1] if depth else [0] * len(box)
        places, reached = [], False
        for place, order in enumerate(self.orders):
            after = math.prod(box[place + 1 :])  # ways to go on once a place of this depth was taken
            before = after if reached else after - math.prod(inner[place + 1 :])
            shallow = box[place] if reached else inner[place]
            if number < shallow * before:
                rank, number = divmod(number, before)
            else:
                rank, number = divmod(number - shallow * before, after)
                rank, reached = rank + shallow, True
            places.append(int(order[rank]))
        return depth, tuple(places)


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


def noisy_max(
    scores: np.ndarray, sensitivity: int, epsilon: Fraction, source: Source | None = None, *, one_way: bool = False
) -> int:
    """Choose the candidate of the largest score as far as noise lets it, (epsilon, 0)-privately.

    `scores`: Exact and private, int64 (m,), m >= 1; a coin is tossed for each. `sensitivity`: Δ: how far one person can
    move any one score, at most. `epsilon`: The price, exact: one event of `PureParts`. `one_way`: Whether one person
    moves all scores the same way, or not at all.

    Returns the place of the chosen candidate.
    """
    scores = check_scores(scores, sensitivity, epsilon)
    rate = Fraction(epsilon) / (sensitivity if one_way else 2 * sensitivity)

    def draw() -> int:
        stream = (SystemSource() if source is None else source).stream()
        best = int(scores.max())
        heads = [place for place, score in enumerate(scores.tolist()) if Coin((best - score) * rate).toss(stream)]
        return heads[below(len(heads), stream)]

    return drawn(NoisyLargest(rate, len(scores)), scores, draw, source is None or source.private)


DRAWN_AT_ONCE = 64


def question_share(findings: int, monotone: bool = False) -> Fraction:
    """Return the share of epsilon for ν that makes f + ν - ρ least noisy: 1 to (2c)^(2/3), or c^(2/3) where monotone.

    (Lyu, Su, Li 2017, section 4.2.) Any share is private, so a rounded root will do.
    """
    part = round(((1 if monotone else 2) * findings) ** (2 / 3) * 1000)
    return Fraction(part, part + 1000)


class SparseVector:
    """Comparisons with thresholds, until as many as were paid for came out above.

    `sensitivity`: Δ: how far one person can move any f, a whole number. `epsilon`: The price of everything;
    `events.PureParts` is what it does to privacy. `findings`: c: how often "above" may be said. `monotone`: Whether one
    person moves all f the same way.
    """

    def __init__(
        self, sensitivity: int, epsilon: Fraction, findings: int, monotone: bool = False, source: Source | None = None
    ):
        for value in (sensitivity, findings):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise TypeError("The sensitivity and the number of findings are whole numbers of at least 1.")
        if not isinstance(epsilon, (int, Fraction)) or epsilon <= 0:
            raise TypeError("The price of comparisons is a whole number or a fraction above zero.")
        self.threshold_noise, self.noise = scales(sensitivity, Fraction(epsilon), findings, monotone)
        check_drawable(self.threshold_noise, self.noise)
        self._left = findings
        self._ready: list[int] = []
        tape, law = rolling(), Comparisons(self.threshold_noise.parameter, self.noise.parameter)
        if tape is None or not (source is None or source.private):
            self._tape = self._session = None
            self._begin(source)
        else:
            self._tape, self._session = tape, tape.opened(law, lambda: self._begin(source))

    @property
    def left(self) -> int:
        """How often "above" may still be said."""
        return self._left

    def above(self, value: int, threshold: int) -> bool:
        """Return whether a private whole number exceeds a threshold, with noise.

        RequestError when there is no finding left; nothing is compared.
        """
        if self._left == 0:
            raise RequestError("All findings of the sparse vector that were paid for have been made.")
        if self._tape is None or self._session is None:
            found = self._compared(value, threshold)
        else:
            found = self._tape.step(
                self._session, (int(value), int(threshold)), lambda: self._compared(value, threshold)
            )
        self._left -= found
        return found

    def _begin(self, source: Source | None) -> None:
        """Draw the noise of the threshold."""
        self._stream = (SystemSource() if source is None else source).stream()
        (self._raised,) = self._drawn(self.threshold_noise, 1)

    def _compared(self, value: int, threshold: int) -> bool:
        if not self._ready:
            self._ready = self._drawn(self.noise, DRAWN_AT_ONCE)
        return int(value) + self._ready.pop() >= int(threshold) + self._raised

    def _drawn(self, scale: NoiseScale, count: int) -> list[int]:
        """Fresh noise of any size: nothing is cut to 64 bits."""
        draws = laplace_sampler(scale.parameter).draw(count, self._stream)
        return [draws.exact.get(place, value) for place, value in enumerate(draws.values.tolist())]


def scales(sensitivity: int, epsilon: Fraction, findings: int, monotone: bool = False) -> tuple[NoiseScale, NoiseScale]:
    """Return the noise of the threshold and of every question, for forecasts and for `SparseVector` itself."""
    for_questions = epsilon * question_share(findings, monotone)
    factor = findings if monotone else 2 * findings
    return (
        NoiseScale("discrete_laplace", sensitivity / (epsilon - for_questions)),
        NoiseScale("discrete_laplace", factor * sensitivity / for_questions),
    )
