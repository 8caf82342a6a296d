"""Parts of noise: what each of several owners adds, so that the parts of any t of them together are the noise.

*Discrete Laplace.* The noise is the difference of two geometric variables, P(G = n) = (1-q) q^n with q = exp(-1/b). The
generating function of G is (1-q)/(1-qz) = exp(Σ over n >= 1 of (q^n/n) (z^n - 1)): G is the sum of *jumps*, of which
Poisson(q^n/n) have the length n, independently for all n. Kept with probability 1/t each, whatever becomes of the
others, Poisson(q^n/(tn)) jumps of each length are left, and their sum has the generating function
((1-q)/(1-qz))^(1/t): the negative binomial (Pólya) law of shape 1/t. t independent ones of these add up to G, exactly,
and t differences of two to the noise (Goryczka, Xiong 2017; here without their floating-point gammas).

So a part is drawn so: draw G (`discrete_samplers`, digit by digit), then its jumps given that they add up to n = G, and
keep each with probability 1/t. Given the sum, c_j jumps of length j have a probability proportional to
Π (q^j/j)^c_j / c_j! = q^n Π 1/(j^c_j c_j!), which is Cauchy's formula for the lengths of the cycles of a uniform
permutation of n things. Those lengths are drawn one by one: the cycle of any one thing has a uniform length from 1 to
n, and what is left is a uniform permutation of the other n - length (Lovász, Combinatorial Problems, 3.3). Both choices
are one: u, uniform below n t, has u div t + 1 uniform from 1 to n and, independently, u mod t = 0 with probability 1/t.
It takes about ln b + 1 random words a draw, whole numbers only.

*Discrete Gaussian.* Each part is a discrete Gaussian of σ²/t, whose sum is one of σ² nearly (Kairouz, Liu, Steinke
2021, "The Distributed Discrete Gaussian Mechanism for Federated Learning with Secure Aggregation", whose bound has
10 exp(-2π²w k/(k+1)) where a pointwise one has about 4). Here is how nearly, pointwise. Let D_v be the discrete
Gaussian of variance parameter v, w = σ²/t and Θ(μ) = Σ over whole x of exp(-(x-μ)²/(2s²)). By Poisson
summation Θ(μ)/(s √2π) = 1 + 2 Σ over j >= 1 of exp(-2π²s²j²) cos(2πjμ), which lies within 1 ± η(s²),
η(s²) = 2 Σ exp(-2π²s²j²). Completing the square, (D_kw * D_w)(z) is proportional to exp(-z²/(2(k+1)w)) Θ(z k/(k+1))
with s² = w k/(k+1), so its ratio to D_(k+1)w, for every z, lies within (1+η)/(1-η) either way. Convolving with a
further D_w keeps bounds on ratios, so the sum of t parts has ratios to D_σ² of at most e^a either way,

    a = Σ over k = 1 ... t-1 of ln((1+η_k)/(1-η_k)),   η_k = η(w k/(k+1)).

A person who moves at most d counters: the other counters have the same law and are independent, and on these d the
ratios lie within e^(±ad), for both neighbours. So with the same probability e^(-ad) for both the sum is exactly that of
the discrete Gaussian mechanism, and otherwise anything: an event that fails with δ_f = 1 - e^(-ad) <= ad
(`events.Failure`). For noise of any use δ_f is far below 1e-30.

*K-norm vectors* have no parts here: parts of a vector would be rounded each by itself, and sums of rounded vectors are
not the rounded sum.

Further owners' parts, and those of owners who are not honest, are added to the sum of t honest ones, which
post-processes it: more noise never harms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...errors import RequestError
from ...runtime.array_types import Words
from ...runtime.compiled_code import njit
from ..calibration import NoiseScale
from ..composition import Failure
from ..neighbours import Sensitivity
from ..replay.laws import NoisePart
from ..replay.tape import drawn
from .discrete_samplers import Draws, LaplaceSampler, gaussian_sampler, upper_half
from .noise import Sampler, add_drawn, check_drawable, is_private
from .randomness import WORD_BITS, Source, Stream

# Of b t: the digits of a geometric draw are below 32 b, so a number below n t has room in a word.
LARGEST_PARTS = 1 << 57
MOST_OWNERS = 100_000
SPARE_WORDS = 256


@dataclass(frozen=True)
class LaplacePart:
    """A t-th of discrete Laplace noise: the difference of two negative binomial variables of shape 1/t."""

    geometric: LaplaceSampler  # Of one geometric variable.
    owners: int  # t.

    def draw(self, count: int, stream: Stream) -> Draws:
        """Return `count` independent draws."""
        up, down = self._negative_binomial(count, stream), self._negative_binomial(count, stream)
        exact = {
            index: up.exact.get(index, int(up.values[index])) - down.exact.get(index, int(down.values[index]))
            for index in {*up.exact, *down.exact}
        }
        return Draws(up.values - down.values, exact)

    def _negative_binomial(self, count: int, stream: Stream) -> Draws:
        whole = self.geometric.draw(count, stream)
        left, kept = whole.values.astype(np.uint64), np.zeros(count, np.uint64)
        left[list(whole.exact)] = 0  # these may be longer than a word
        words, place, at_a_time = np.empty(0, np.uint64), 0, 2 + int(math.log(float(self.geometric.scale) + 2))
        while place < count:
            words = np.concatenate((words, stream.words(min(at_a_time * (count - place) + SPARE_WORDS, 1 << 20))))
            place, used = _keep_jumps(left, kept, place, np.uint64(self.owners), words)
            words = words[used:]
        return Draws(kept.astype(np.int64), {index: self._kept_of(n, stream) for index, n in whole.exact.items()})

    def _kept_of(self, left: int, stream: Stream) -> int:
        """What is kept of the jumps of one sum, which may be of any length."""
        kept = 0
        while left:
            chosen = _below(left * self.owners, stream)
            length = chosen // self.owners + 1
            kept += length if chosen % self.owners == 0 else 0
            left -= length
        return kept


def check_parts(scales: Sequence[NoiseScale], owners: int) -> None:
    """Refuse noise that cannot be drawn in so many parts, before anything is spent on it."""
    check_drawable(*scales)
    for scale in scales:
        part_sampler(scale, owners)


def failure_of_parts(
    moved: Sequence[tuple[Sensitivity, NoiseScale]], owners: int, delta: Fraction, room: Fraction
) -> tuple[Failure, ...]:
    """What the sum of parts may fail by beside the noise itself; nothing where the sum is exactly the noise.

    RequestError when the parts are too small for their sum to be near enough.

    `moved`: How far one person moves each table, and the noise that all parts together are to be. `owners`: How many
    parts are the noise: t. `delta`, `room`: The δ of the promise, and the share of it that may be lost.
    """
    gaussian = [(one.l1, scale) for one, scale in moved if scale.distribution == "discrete_gaussian"]
    if not gaussian or owners == 1:
        return ()
    lost = math.fsum(counters * _unlike(float(scale.parameter), owners) for counters, scale in gaussian)
    # Rounded up to a power of ten, which every record of it can hold.
    failure = Fraction(1, 10 ** min(150, math.floor(-math.log10(lost)))) if 0 < lost < 0.1 else Fraction(bool(lost))
    if failure > room * delta:
        raise RequestError(
            f"The noise cannot be shared by {owners:,} owners, as parts that small do not add up to noise of the same "
            "law nearly enough; a smaller epsilon, fewer owners or --noise full can."
        )
    return (Failure(max(failure, Fraction(1, 10**150))),)


def _unlike(sigma2: float, owners: int) -> float:
    """a of the module: how far the sum of parts may be from the noise, as the logarithm of a ratio."""
    total = 0.0
    for k in range(1, owners):
        x = 2.0 * math.pi**2 * sigma2 / owners * k / (k + 1)
        eta = 2.0 * math.exp(-x) / -math.expm1(-3.0 * x) if x > 0.01 else 1.0  # j² - 1 >= 3 (j - 1)
        if eta >= 0.5:
            return math.inf
        total += math.log1p(eta) - math.log1p(-eta)
    return 1.000001 * total


def add_part(
    table: np.ndarray, scale: NoiseScale, owners: int, source: Source | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Return a table with one owner's part of noise on every counter.

    `table`: The owner's exact sums, int64, any shape. `scale`: The noise that the parts of `owners` owners together
    are. `owners`: t: how many honest owners suffice. `out`: As of `add_noise`.
    """
    noisy = np.empty(table.shape, np.int64) if out is None else out
    sampler = part_sampler(scale, owners)
    law = NoisePart(scale.distribution, scale.parameter, Fraction(1, owners), table.shape)

    def draw() -> np.ndarray:
        add_drawn(table, sampler, source, noisy)
        return noisy

    if table.size:
        np.copyto(noisy, drawn(law, table, draw, is_private(source)))
    return noisy


@lru_cache(maxsize=64)
def part_sampler(scale: NoiseScale, owners: int) -> Sampler:
    """The sampler of one part; RequestError where noise has none."""
    if not 1 <= owners <= MOST_OWNERS:
        raise RequestError(f"Noise is shared by 1 to {MOST_OWNERS:,} owners.")
    if scale.distribution == "discrete_gaussian":
        return gaussian_sampler(scale.parameter / owners)
    if scale.distribution == "discrete_laplace":
        if scale.parameter * owners > LARGEST_PARTS:
            raise RequestError(
                f"Noise of so large a scale is not drawn in parts of {owners:,} owners; a larger epsilon needs less."
            )
        return LaplacePart(LaplaceSampler.of(scale.parameter, signs=1), owners)
    raise RequestError(
        "Noise for whole vectors cannot be shared, as parts of it would be rounded each by itself: give a delta, or "
        "let every owner add full noise."
    )


def summed(scale: NoiseScale, parts: int, owners: int) -> NoiseScale:
    """What so many parts add up to, of which `owners` are the noise."""
    share = Fraction(parts, owners)
    if share == 1:
        return scale
    if scale.distribution == "discrete_gaussian":
        return NoiseScale("discrete_gaussian", scale.parameter * share)
    return NoiseScale("shared_laplace", scale.parameter, draws=share)


def reach(scale: NoiseScale, parts: int, owners: int, chance: float) -> int:
    """What the sum of so many parts passes, either way, with at most a probability.

    Gaussian parts are subgaussian with their σ² (Canonne, Kamath, Steinke 2020, Lemma 33), and so is their sum. For
    Laplace parts Chernoff's bound at half the rate, s = 1/(2b): E e^(sZ) = ((1-q)²/((1-q e^s)(1-q e^-s)))^(k/t).
    """
    share, tail = parts / owners, math.log(2.0 / chance)
    if scale.distribution == "discrete_gaussian":
        return math.ceil(1.0001 * math.sqrt(2.0 * float(scale.parameter) * share * tail)) + 1
    rate = float(1 / scale.parameter)
    low, high = -math.expm1(-0.5 * rate), -math.expm1(-1.5 * rate)
    moment = share * (2.0 * math.log(-math.expm1(-rate)) - math.log(low) - math.log(high))
    return math.ceil(1.0001 * (tail + moment) * 2.0 / rate) + 1


@njit(nogil=True, cache=True)
def _keep_jumps(left: Words, kept: Words, start: int, owners: np.uint64, words: Words) -> tuple[int, int]:
    """Split what is left of each sum into jumps and keep a t-th of them, until sums or words run out.

    Returns place, used: the sum to go on with, and the first word not used.
    """
    place, used = start, 0
    zero, one = np.uint64(0), np.uint64(1)
    while place < left.size:
        while left[place] > zero:
            if used == words.size:
                return place, used
            bound = left[place] * owners
            word = words[used]
            used += 1
            # ⌊word · bound / 2^64⌋; of the products that end lowest 2^64 mod bound are drawn again (Lemire 2019).
            low = word * bound
            if low < bound and low < (zero - bound) % bound:
                continue
            chosen = upper_half(word, bound)
            length = chosen // owners + one
            if chosen % owners == zero:
                kept[place] += length
            left[place] -= length
        place += 1
    return place, used


def _below(bound: int, stream: Stream) -> int:
    """A uniform whole number below a bound of any length."""
    bits = (bound - 1).bit_length()
    while True:
        number = int.from_bytes(stream.words(max(1, -(-bits // WORD_BITS))).tobytes(), "little") & ((1 << bits) - 1)
        if number < bound:
            return number
