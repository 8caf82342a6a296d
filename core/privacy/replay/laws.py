"""The exact laws of everything that draws: what a draw tells two hidden values apart by.

Each law is a frozen value of public parameters. Two of one kind are equal when the draws are, so a tape notices any
parameter that depends on the data. Formulas are written from the definitions of the distributions, and not from the
code that samples them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.special import logsumexp

from .losses import Loss, gaussian_loss, loss_of_odds

# Candidates of a choice whose probabilities are kept for a δ; of more the largest loss alone counts.
MOST_OUTCOMES = 1 << 12
NODES = 64
THRESHOLDS = 1 << 12  # Values of the hidden threshold of the sparse vector that are summed over where its noise is wide
REACH = 60.0


@dataclass(frozen=True)
class CounterNoise:
    """Noise on every counter of a table, or on blocks of it."""

    # "discrete_laplace", P(z) ∝ exp(-|z|/b); "discrete_gaussian", P(z) ∝ exp(-z²/2σ²); "rounded_l2", a rounded vector
    # of density ∝ exp(-|z|/b) for each block of counters.
    distribution: str
    parameter: Fraction  # b or σ².
    shape: tuple[int, ...]  # Of the table.
    block: int | None = None  # Counters of a vector.
    # The type of the noisy counters: what is beyond its ends is set to them, which post-processes.
    counter: str = "int64"

    @property
    def described(self) -> str:
        """In words."""
        return f"{self.distribution.replace('_', ' ')} noise on {math.prod(self.shape):,} counters"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: np.ndarray, sampled: float = 1.0) -> Loss:
        """Σ|d|/b or Σ|d|₂/b, exact suprema of the loss; of Gaussian noise its shifts."""
        moved = np.ravel(hidden).astype(object) - np.ravel(other).astype(object)  # no difference wraps round
        if self.distribution == "discrete_gaussian":
            return gaussian_loss(moved, float(self.parameter), sampled)
        if self.distribution == "discrete_laplace":
            return Loss(float(sum(map(abs, moved.tolist())) / self.parameter))
        norms = np.linalg.norm(moved.astype(float).reshape(-1, self.block or 1), axis=1)
        return Loss(float(norms.sum() / float(self.parameter)))


class Lossless:
    """What shows nothing, or hides nothing."""

    def loss(self, hidden: object, other: object, outcome: object, sampled: float = 1.0) -> Loss:
        """None, as nothing is hidden."""
        return Loss()


@dataclass(frozen=True)
class KeptNoise(Lossless):
    """Noise of a smaller scale on a table that was shown with Laplace noise, which is kept and shown by nobody yet."""

    # b of what was shown and of what is kept.
    shown: Fraction
    kept: Fraction
    shape: tuple[int, ...]

    described = "noise that may be shown later"


@dataclass(frozen=True)
class FinerNoise(CounterNoise):
    """A table with less Laplace noise than was shown of it before, where that follows from this by public noise.

    Both together lose what this loses by itself, so it adds what it loses more than the one before.
    """

    before: Fraction = Fraction(1)  # b of what was shown before.
    last: bool = False  # Whether it is all that was kept, so that nothing is drawn any more.

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: object, sampled: float = 1.0) -> Loss:
        """Σ|d| (1/b - 1/b before), exact suprema."""
        moved = np.ravel(hidden).astype(object) - np.ravel(other).astype(object)
        return Loss(float(sum(map(abs, moved.tolist())) * (1 / self.parameter - 1 / self.before)))


@dataclass(frozen=True)
class NoisePart:
    """One owner's part of noise on every counter of a table that nobody sees but in a sum with the others' parts.

    What hides the table is the sum of the parts of the honest owners, so a loss is that of the noise that these add up
    to. Whether they do is no matter of one draw: a replay is told how many owners are honest, and counts.
    """

    # As of `CounterNoise`, of the noise that all parts together are.
    distribution: str
    parameter: Fraction
    share: Fraction  # Of the noise in each part.
    shape: tuple[int, ...]

    @property
    def described(self) -> str:
        """In words."""
        return f"a part of {self.distribution.replace('_', ' ')} noise on {math.prod(self.shape):,} counters"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: np.ndarray, sampled: float = 1.0) -> Loss:
        """That of the noise, as further parts post-process."""
        return CounterNoise(self.distribution, self.parameter, self.shape).loss(hidden, other, outcome, sampled)


@dataclass(frozen=True)
class PureNoise(Lossless):
    """Noise that hides nothing yet: whoever adds it to a private number lets out the number."""

    distribution: str
    parameter: Fraction
    shape: tuple[int, ...]

    @property
    def described(self) -> str:
        """In words."""
        return f"{self.distribution.replace('_', ' ')} noise by itself"


@dataclass(frozen=True)
class ShownValues:
    """Counts of values with discrete Gaussian noise, of which those above a threshold are shown.

    What is hidden is, for each column, its values in their order and how many records have each. Values that both data
    sets have differ by shifts of Gaussian noise. One that only one of them has is shown with a probability that nothing
    hides: noise is independent, so the others are as they would be without it.
    """

    sigma2: Fraction  # Of the noise.
    threshold: int  # What is shown is larger.
    columns: int  # How many there are.

    described = "values that are shown above a noisy threshold"

    def loss(self, hidden: Sequence, other: Sequence, outcome: object, sampled: float = 1.0) -> Loss:  # type: ignore[type-arg]
        """The shifts of what both have, and the larger of the chances that something is shown which only one has."""
        moved: list[int] = []
        alone: tuple[list[int], list[int]] = ([], [])
        for one, two in zip(hidden, other, strict=True):
            first, second = (dict(zip(names, counts.tolist(), strict=True)) for names, counts in (one, two))
            moved += [count - second[name] for name, count in first.items() if name in second]
            alone[0].extend(count for name, count in first.items() if name not in second)
            alone[1].extend(count for name, count in second.items() if name not in first)
        lost = max(-math.expm1(sum(math.log1p(-self._shown(count)) for count in counts)) for counts in alone)
        return replace(gaussian_loss(np.array(moved, object), float(self.sigma2), sampled), lost=lost)

    def _shown(self, count: int) -> float:
        """The chance that a value of so many records is shown, by its definition."""
        sigma2, reach = float(self.sigma2), math.ceil(REACH * math.sqrt(float(self.sigma2)))
        logs = -(np.arange(-reach, reach + 1, dtype=float) ** 2) / (2.0 * sigma2)
        over = logs[max(self.threshold - count + 1 + reach, 0) :]
        return float(np.exp(logsumexp(over) - logsumexp(logs))) if len(over) else 0.0


@dataclass(frozen=True)
class PublicCoins(Lossless):
    """Even coins that a device tells beside its report: its row, cohort, group, coefficients or hash function.

    Nobody's value is in them, so every outcome is as likely for one value as for another. Were they drawn by a value
    after all, what is told would differ between two neighbours though all draws are the same.
    """

    outcomes: int  # How many there are for each coin.
    shape: tuple[int, ...]  # Of all coins.

    @property
    def described(self) -> str:
        """In words."""
        return f"a draw of one of {self.outcomes:,} that is told"


@dataclass(frozen=True)
class WeighedReports:
    """Local reports: outcomes that speak for the truth have weight A each, all others B, whatever the truth is.

    As many speak for one value as for another, so weights add up to the same total for all. Where the outcomes that
    speak for two values are not the same, one speaks for the first and against the second, and another the other way
    round: the largest ratio of two probabilities is A/B, and each report has it somewhere.
    """

    # A and B.
    heavy: int
    light: int
    # How many outcomes speak for a value, of how many.
    supporting: int
    outcomes: int
    people: int  # Who report.

    described = "local reports by weighted choices"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: object, sampled: float = 1.0) -> Loss:
        """ln(A/B) for each person whose value is another, exactly."""
        if self.supporting == self.outcomes:
            return Loss()
        return loss_of_odds(Fraction(self.heavy, self.light) ** int((hidden != other).sum()))


@dataclass(frozen=True)
class SentBits:
    """Local reports of bits: each is sent as one with probability p where it is one of the truth, and q where not.

    Every bit has a coin of its own. Of bits that only the first of two truths has, a report is p/q times likelier where
    it has them and (1 - p)/(1 - q) times where not; of bits that only the second has, the other way round.
    """

    # p and q.
    one: Fraction
    zero: Fraction
    people: int  # Who report.

    described = "local reports of bits"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: object, sampled: float = 1.0) -> Loss:
        """The largest ratio of the probabilities of any report, over all people: exactly.

        Hidden are values that have one bit each, (n,), or bits as words, (n, words).
        """
        p, q = self.one, self.zero
        if hidden.ndim == 1:
            changed = int((hidden != other).sum())
            pairs = [(1, 1)] * changed
        else:
            gone, come = (np.bitwise_count((hidden ^ other) & one).sum(axis=1) for one in (hidden, other))
            pairs = [(int(one), int(two)) for one, two in zip(gone, come, strict=True) if one or two]
        if not pairs or p == q:
            return Loss()
        if not 0 < min(p, q) <= max(p, q) < 1:
            return Loss(math.inf)
        first, second = max(p / q, (1 - p) / (1 - q)), max(q / p, (1 - q) / (1 - p))
        ratios = [max(first**one * second**two, first**two * second**one) for one, two in pairs]
        return loss_of_odds(math.prod(ratios, start=Fraction(1)))


@dataclass(frozen=True)
class WeighedChoice:
    """The exponential mechanism: a candidate of each list, with probability ∝ exp(rate · least of their scores)."""

    rate: Fraction  # ε / (2Δ).
    sizes: tuple[int, ...]  # Candidates of each list.

    described = "a choice by the exponential mechanism"

    def loss(
        self, hidden: Sequence[np.ndarray], other: Sequence[np.ndarray], outcome: object, sampled: float = 1.0
    ) -> Loss:
        """Of one list exact; of tuples an upper bound, which is reached where one list decides."""
        rate = float(self.rate)
        if len(self.sizes) == 1:
            first, second = (_normalised(rate * lists[0].astype(float)) for lists in (hidden, other))
            return _of_vectors(first, second)
        gap = _log_total(hidden, rate) - _log_total(other, rate)
        steps = [rate * (one.astype(float) - two.astype(float)) for one, two in zip(hidden, other, strict=True)]
        least, most = min(float(step.min()) for step in steps), max(float(step.max()) for step in steps)
        return Loss(max(abs(most - gap), abs(least - gap)))


@dataclass(frozen=True)
class NoisyLargest:
    """Report noisy max with exponential noise (permute and flip): McKenna, Sheldon 2020.

    A candidate's coin shows heads with probability exp(-rate (s* - s_i)), and one of the heads is taken evenly.
    """

    rate: Fraction
    size: int

    described = "a noisy maximum"

    def loss(self, hidden: np.ndarray, other: np.ndarray, outcome: object, sampled: float = 1.0) -> Loss:
        """Exact to the quadrature, which is so for polynomials of the candidates' degree."""
        first, second = (self._logs(scores) for scores in (hidden, other))
        return _of_vectors(first, second)

    def _logs(self, scores: np.ndarray) -> np.ndarray:
        """p_i = h_i ∫₀¹ Π over j ≠ i of (1 - h_j + h_j t) dt, as of k other heads 1/(k + 1) is the mean of t^k."""
        heads = np.exp(-float(self.rate) * (scores.max() - scores).astype(float))
        nodes, weights = np.polynomial.legendre.leggauss(max(NODES, len(scores) // 2 + 1))
        at, weights = (nodes + 1) / 2, weights / 2
        factors = np.log1p(-heads[:, None] + heads[:, None] * at)
        together = factors.sum(axis=0)
        return np.asarray(np.log(heads) + logsumexp(together - factors, b=weights, axis=1))


@dataclass(frozen=True)
class Comparisons:
    """The sparse vector: noisy numbers compared with noisy thresholds, one noise of the threshold for all."""

    # Scales of the discrete Laplace noise of the threshold and of every question.
    threshold: Fraction
    question: Fraction

    described = "comparisons by the sparse vector"

    def loss(
        self,
        hidden: Sequence[tuple[int, int]],
        other: Sequence[tuple[int, int]],
        outcome: Sequence[bool],
        sampled: float = 1.0,
    ) -> Loss:
        """Of the words that were said: ln of the ratio of their probabilities, summed over the hidden threshold."""
        if [limit for _, limit in hidden] != [limit for _, limit in other]:
            return Loss(math.inf)
        return Loss(abs(self._log_chance(hidden, outcome) - self._log_chance(other, outcome)))

    def _log_chance(self, asked: Sequence[tuple[int, int]], said: Sequence[bool]) -> float:
        scale = float(self.threshold)
        step = max(1, round(REACH * scale / THRESHOLDS))
        raised = np.arange(-THRESHOLDS, THRESHOLDS + 1, dtype=np.int64) * step
        total = -np.abs(raised) / scale
        total -= logsumexp(total)
        for (value, limit), above in zip(asked, said, strict=True):
            total = total + _log_tail(raised + (limit - value), float(self.question), above)
        return float(logsumexp(total))


def _log_tail(least: np.ndarray, scale: float, above: bool) -> np.ndarray:
    """ln P(ν >= least) or of its complement, for discrete Laplace ν."""
    q = math.exp(-1.0 / scale)
    # P(ν >= k) = q^k / (1 + q) for k >= 1, and by symmetry 1 - q^(1-k) / (1 + q) for k <= 0.
    high = np.where(least >= 1, least, 1 - least)
    tail = -high / scale - math.log1p(q)
    rest = np.log1p(-np.exp(tail))
    return np.where((least >= 1) == above, tail, rest)


def _normalised(weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights - logsumexp(weights))


def _of_vectors(first: np.ndarray, second: np.ndarray) -> Loss:
    most = float(np.max(np.abs(first - second)))
    if most < 1e-15:
        return Loss()
    return Loss(most, logs=(first, second) if len(first) <= MOST_OUTCOMES else None)


def _log_total(lists: Sequence[np.ndarray], rate: float) -> float:
    """ln Σ over tuples of exp(rate · least score): tuples whose least is a value or more are a product of counts."""
    values = np.unique(np.concatenate([np.asarray(one) for one in lists]))
    logs = np.zeros(len(values))
    for one in lists:
        reached = len(one) - np.searchsorted(np.sort(one), values, "left")
        with np.errstate(divide="ignore"):
            logs += np.log(reached)
    after = np.append(logs[1:], -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        exactly = np.where(np.isneginf(logs), -np.inf, logs + np.log1p(-np.exp(np.minimum(after - logs, 0.0))))
    return float(logsumexp(exactly + rate * values.astype(float)))
