"""Laplace noise that is made less later, at no loss: what was shown follows from what will be shown, by public noise.

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

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ..replay.laws import FinerNoise, KeptNoise
from ..replay.tape import drawn, rolling
from .discrete_samplers import LARGEST_SCALE, LaplaceSampler
from .noise import is_private
from .randomness import Source, Stream, SystemSource

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
    return LaplaceSampler.of(scale, signs=1)


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
