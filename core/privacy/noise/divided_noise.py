"""Noise in pieces: parts that several owners add, and noise of which some is taken off later.

**Parts** of which those of any t owners together are the noise.

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

**Less noise later**, at no loss: what was shown follows from what will be shown, by public noise.

Let Geo(q) be P(G = k) = (1-q) q^k, and let a table x be shown as Y1 = x + Z1 with discrete Laplace noise of scale b1:
Z1 = G - G' for independent G, G' of Geo(a1), a1 = exp(-1/b1). Let b2 < b1, a2 = exp(-1/b2), r = a2/a1, and let N, N'
be of Geo(r), independent of all that. Then for M = min(G, N) and E = G - M, and likewise M', E' of G', N',

    Y2 = x + M - M',        Y1 = Y2 + E - E'.

*Lemma.* M has the law Geo(a2), and E is independent of it. For j = 0, P(M = k, E = 0) = P(G = k, N >= k) =
(1-a1) (a1 r)^k; for j > 0, P(M = k, E = j) = P(N = k, G = k + j) = (1-r) (1-a1) a1^j (a1 r)^k. Both are (a1 r)^k = a2^k
times a function of j. ∎ This is the lazy Markov chain of Koufogiannis, Han and Pappas 2015, "Gradual release of
sensitive data under differential privacy", on whole numbers; its characteristic functions say the same.

So Y2 has discrete Laplace noise of the scale b2, exactly, and Y1 is Y2 with noise that depends on no record: the pair
is as private as Y2 alone, which is 1/b2 for each unit of L1 by which a person moves x. Noise of b1 and then noise of b2
independent of it would cost the sum of both.

*In between.* Let b1 > c > b2. Then r = r_a r_b for r_a = exp(1/b1 - 1/c), r_b = exp(1/c - 1/b2), and the minimum of
N_a of Geo(r_a) and N_b of Geo(r_b) is of Geo(r), independent of N_a - min(N_a, N_b) by the lemma. What c shows is
x + min(G, N_a) - min(G', N_a'), whose parts are M + F for F = min(G, N_a) - min(G, N) = min(E, N_a - N) where N < G,
and 0 = E where not. So F = min(E, (N_a - N_b)+) for fresh N_a, N_b has the right law given (M, E), and the records are
needed no more: from Y2, E, E' follows Y_c = Y2 + F - F', and F, F' take the places of E, E' for what comes next.

*Adaptively.* Whoever chooses c after having seen Y1, or other releases in between, chooses a function of what was seen.
The joint density of Y1 = u and Y_c = v is p_c(v - x) q_c(u - v) for that c = c(u), and p_c moves by at most e^(d/c)
between neighbours whose tables differ by d in L1, at every pair (u, v): so all that was shown until then costs what the
last of it costs by itself, in pure ε. (Rényi divergences of a c that is chosen so are another matter: there the ledger
does not count on this.)

*What lies on the disk meanwhile*, Y2, E and E' (`Finest`), is Y2 with independent noise: were it stolen, it would have
told as much as a release of b2. It holds no record and no exact sum, and it does not matter whether records change
meanwhile, as they are read once. From the first draw alone it follows like so: given Z1 = z, the smaller of G and G' is
of Geo(a1²), as P(G = z + m, G' = m) = (1-a1)² a1^(z + 2m) for z >= 0, and alike for z < 0; then N and N' are drawn.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ...errors import RequestError
from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Words
from ...runtime.inner_products import upper_half
from ..budget import Sensitivity
from ..calibration import NoiseScale
from ..composition import Failure
from ..replay.laws import FinerNoise, KeptNoise, NoisePart
from ..replay.tape import drawn, rolling
from .discrete_samplers import LARGEST_SCALE, Draws, LaplaceSampler, gaussian_sampler
from .noise import Sampler, add_drawn, check_drawable, is_private
from .randomness import WORD_BITS, Source, Stream, SystemSource

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
        return LaplacePart(LaplaceSampler.of(scale.parameter, signed=False), owners)
    raise RequestError(
        "Noise for whole vectors cannot be shared, as parts of it would be rounded each by itself: give a delta, or "
        "let every owner add full noise."
    )


def warm_parts() -> None:
    """Compile what several owners draw parts with, or load what an earlier run compiled."""
    part_sampler(NoiseScale("discrete_laplace", Fraction(1)), 2).draw(1, SystemSource().stream())


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


SMALL = 1 << 60  # Numbers below it add up in 64 bits; of larger ones, which hardly ever are drawn, Python's are taken.


@dataclass(frozen=True)
class Finest:
    """A table with less noise than was shown of it, and what has to be added to have what was shown.

    Arrays of one shape, int64, or of Python's whole numbers where these may be larger.
    """

    table: np.ndarray  # Y2.
    above: np.ndarray  # E.
    below: np.ndarray  # E'.


def can_follow(shown: Fraction, finer: Fraction) -> bool:
    """Whether noise of the first scale can be made noise of the second."""
    return finer < shown <= LARGEST_SCALE and _between(shown, finer) <= LARGEST_SCALE


def kept_finest(
    exact: np.ndarray, shown: np.ndarray, scale: Fraction, finest: Fraction, source: Source | None = None
) -> Finest:
    """What may be shown later of a table that was shown with discrete Laplace noise.

    `exact`: The exact sums. `shown`: The same with noise of `scale`, none of them set to an end of its type. `finest`:
    The least scale that will ever be shown.
    """

    def draw() -> tuple[np.ndarray, ...]:
        stream = (SystemSource() if source is None else source).stream()
        sums, noisy = (_room(np.ravel(table)) for table in (exact, shown))
        noise = _room(noisy - sums)
        less = _geometric(len(noise), scale / 2, stream)
        parts = []
        for side in (np.maximum(noise, 0) + less, np.maximum(-noise, 0) + less):
            parts.append((side, np.minimum(side, _geometric(len(noise), _between(scale, finest), stream))))
        (up, least_up), (down, least_down) = parts
        found = sums + least_up - least_down, up - least_up, down - least_down
        return tuple(one.reshape(exact.shape) for one in found)

    law = KeptNoise(scale, finest, exact.shape)
    return Finest(*drawn(law, exact, draw, is_private(source)))


def less_noise(
    kept: Finest, shown: Fraction, wanted: Fraction, finest: Fraction, source: Source | None = None
) -> tuple[np.ndarray, Finest]:
    """The table with noise of a scale between what was shown and the finest, and what is kept after that.

    Only draw it once of the same `kept`: two draws by themselves are no chain, and tell more than the finer of them.

    `shown`, `wanted`, `finest`: Scales, shown > wanted >= finest.
    """

    def draw() -> tuple[np.ndarray, ...]:
        if wanted == finest:
            return kept.table, np.zeros_like(kept.above), np.zeros_like(kept.below)
        stream = (SystemSource() if source is None else source).stream()
        up, down = (_left_of(_room(np.ravel(part)), shown, wanted, finest, stream) for part in (kept.above, kept.below))
        up, down = up.reshape(kept.table.shape), down.reshape(kept.table.shape)
        return kept.table + up - down, up, down

    law = FinerNoise("discrete_laplace", wanted, kept.table.shape, before=shown, last=wanted == finest)
    table, above, below = drawn(law, _hidden_by(kept), draw, is_private(source))
    return table, Finest(kept.table, above, below)


def _left_of(excess: np.ndarray, shown: Fraction, wanted: Fraction, finest: Fraction, stream: Stream) -> np.ndarray:
    """F = min(E, (N_a - N_b)+)."""
    coarse, fine = (_geometric(len(excess), _between(*two), stream) for two in ((shown, wanted), (wanted, finest)))
    return np.asarray(np.minimum(excess, np.maximum(coarse - fine, 0)))


def _between(shown: Fraction, finer: Fraction) -> Fraction:
    """The scale of N: exp(-1/scale) = a2/a1."""
    return 1 / (1 / finer - 1 / shown)


@lru_cache(maxsize=64)
def _sampler(scale: Fraction) -> LaplaceSampler:
    return LaplaceSampler.of(scale, signed=False)


def _geometric(count: int, scale: Fraction, stream: Stream) -> np.ndarray:
    """Draws of P(k) = (1-q) q^k, q = exp(-1/scale)."""
    draws = _sampler(scale).draw(count, stream)
    values = draws.values.astype(object if any(value >= SMALL for value in draws.exact.values()) else np.int64)
    for index, value in draws.exact.items():
        values[index] = value
    return _room(values)


def _room(numbers: np.ndarray) -> np.ndarray:
    """The same numbers in a type in which a few of them add up."""
    if numbers.dtype == object:
        return numbers
    large = len(numbers) and not -SMALL < int(numbers.min()) <= int(numbers.max()) < SMALL
    return numbers.astype(object if large else np.int64)


def _hidden_by(kept: Finest) -> np.ndarray | None:
    """What the noise hides, as far as a tape that is recorded knows it; nobody else has it any more."""
    tape = rolling()
    draws = [] if tape is None else tape.draws
    mine = (draw for draw in draws if isinstance(draw.law, KeptNoise) and np.array_equal(draw.outcome[0], kept.table))
    return next((draw.hidden for draw in mine), None)
