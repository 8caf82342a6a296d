"""What lets a linear model bend: curves of single numbers, and waves of all columns together; no longer than lines are.

**Curves.** A number v between -1 and 1 is read as v itself and as tents, which stand side by side
in levels. Level l = 1, 2, ... L has 2^(l-1) of them, as wide as the bounds together, each of height 2^(-(l-1)/2).
Weights of v and of all tents are every continuous line with 2^L + 1 knots at equal distances, but for its constant,
which the 1 in front has; lower levels have the longer coordinates, so what is smooth is learnt first.

*They are no longer than numbers are.* At v one tent a level, at most, is above 0. With t_1 = 1 - |v|, its share of its
height is t_l with t_(l+1) = 1 - |2 t_l - 1|. So v² + t_1² = 1 - 2 t_1 (1 - t_1). As T = 1 - |2t - 1| is twice the
smaller of t and 1 - t, 2t(1 - t) = T - T²/2 = (T² + 2T(1 - T))/2, and by doing this again and again

    v² + Σ_l 2^(-(l-1)) t_l² = 1 - 2^(-(L-1)) 2 t_L (1 - t_L) <= 1.

The squared length of a record's features is thus at most what it is in a corner of the bounds, however often they are
halved: each number adds no more than 1.

**Waves.** What columns say only together, such as that two of them have the same sign, no sum of curves says. A wave is
cos 2π<w, z> and sin 2π<w, z> of all coordinates z at a public random frequency w, normal with a deviation of one over a
length λ: weights of many of them are any function that varies over lengths λ and more (Rahimi, Recht 2007; the
frequencies are those of `core.geometry.frequencies`, from a fixed public seed). Lengths are `LENGTHS` times how
far two records of the usual spread are apart, as nobody may look how far they are.

*They are no longer either.* Let B be the squared length of a corner of the bounds. Of it waves have the
share s = `SHARE`: lines and curves are multiplied by √(1 - s), which leaves at most (1 - s) B of their squared length,
and each of W waves by √(s B/W), which makes it

    W · (s B/W) · (cos² + sin²) = s B.

So the squared length of a record with both is at most B, as it is of lines alone. The radius, and every sensitivity
that is proved from it, is the same for straight lines, curves and waves; records are shortened to it all the same
(`whole_vectors`), so it holds whatever rounds. Every coordinate is a function of one record, element by element: sums
over coordinates are taken in their order, and the cosine is a polynomial (`wave`), not a library's.

**Products.** Whether two columns have the same sign, one number says: their product. Where products are asked for, all
P of two coordinates of numbers stand beside lines, curves and waves, each times √(t B/P), t = `SHARE_OF_PRODUCTS`: none
is above 1, so together they have at most a squared length of t B, and lines and curves are multiplied by √(1 - t), or
by √(1 - s - t) beside both. Over the bounds of either number a product is 0 on average: curves say all of a column.

**What waves say of one column**, for whoever looks: the mean over all other columns, as if each were spread evenly over
its bounds or categories by itself. Of a column with characteristic function χ_k(w) = E e^(2πi w z_k) that is
e^(2πi w_j z_j) Π_(k≠j) χ_k(w_k), real part and imaginary one, with χ(w) = sin(2πw)/(2πw) of a number.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from ..geometry.frequencies import draw_frequencies
from ..geometry.kernels import Gaussian

# Of waves, in lengths that records are apart: half of them see broadly, the others what is close together.
LENGTHS = (1.0, 0.5)
SPREAD = 1.0 / 3.0  # The usual standard deviation of a number between -1 and 1: a sixth of the bounds.
SINE_TERMS = 10
SHARE = 0.1  # Of the squared length, that waves have: what curves alone say is learnt first.
SHARE_OF_PRODUCTS = 0.3
SEED = 0  # Of the frequencies, which are public and the same for ever.


def knots(halvings: int) -> np.ndarray:
    """Where a curve may bend, both ends of the bounds among them, float64 (2^halvings + 1,) between -1 and 1."""
    return np.linspace(-1.0, 1.0, (1 << halvings) + 1)


def tents(halvings: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the tops of all tents are, one over half their width, and their heights: float64 (2^halvings - 1,) each."""
    levels = np.concatenate([np.full(1 << level, level) for level in range(halvings)])
    places = np.concatenate([np.arange(1 << level) for level in range(halvings)])
    return (2.0 * places + 1.0) / 2.0**levels - 1.0, 2.0**levels, 2.0 ** (-levels / 2.0)


def curved(numbers: np.ndarray, halvings: int) -> np.ndarray:
    """Numbers between -1 and 1 (n,) with their tents, float64 (n, 2^halvings); see the module."""
    tops, steep, heights = tents(halvings)
    shares = np.maximum(0.0, 1.0 - np.abs(numbers[:, None] - tops) * steep)
    return np.column_stack((numbers, shares * heights))


def frequencies(waves: int, groups: Sequence[int]) -> np.ndarray:
    """The public frequencies of so many waves, turns a unit of each coordinate, float64 (waves, d).

    `groups`: Which coordinates are the categories of one column, by equal numbers above 0; 0 of numbers.
    """
    return _frequencies(waves, tuple(groups))


@lru_cache(maxsize=16)
def _frequencies(waves: int, groups: tuple[int, ...]) -> np.ndarray:
    categories = [groups.count(group) for group in set(groups) - {0}]
    apart = 2.0 * (SPREAD**2 * groups.count(0) + sum(1.0 - 1.0 / max(2, many) for many in categories))
    drawn = draw_frequencies(Gaussian(math.sqrt(apart)), (len(groups),), waves, 1, SEED).waves
    return np.asarray(drawn / np.resize(LENGTHS, waves)[:, None])


def waved(vectors: np.ndarray, waves: np.ndarray, square: float) -> np.ndarray:
    """Waves (W, d) of coordinates between -1 and 1 (n, d), float64 (n, 2W): cosines, then sines; see the module.

    `square`: B, the squared length of a corner of the bounds.
    """
    turns = np.zeros((len(vectors), len(waves)))
    for column, speeds in zip(vectors.T, waves.T, strict=True):
        turns += column[:, None] * speeds
    return height(len(waves), square) * np.hstack((wave(turns), wave(turns - 0.25)))


def multiplied(vectors: np.ndarray, pairs: np.ndarray, square: float) -> np.ndarray:
    """Products of pairs (P, 2) of coordinates between -1 and 1 (n, d), float64 (n, P); see the module."""
    one, other = pairs.T
    return height(len(pairs), square, SHARE_OF_PRODUCTS) * (vectors[:, one] * vectors[:, other])


def height(many: int, square: float, share: float = SHARE) -> float:
    """What so many waves or products are multiplied by: √(s B/W), at most 1, as all coordinates are cut there."""
    return min(1.0, math.sqrt(share * square / many))


def wave(turns: np.ndarray) -> np.ndarray:
    """cos 2πt, element by element, by the power series of the sine, within 1e-13."""
    angle = 2.0 * math.pi * (0.25 - np.abs(turns - np.rint(turns)))
    square, found = angle * angle, np.ones_like(angle)
    for term in range(SINE_TERMS, 0, -1):
        found = 1.0 - found * square / (2 * term * (2 * term + 1))
    return np.asarray(np.clip(angle * found, -1.0, 1.0))


def mean_waves(
    places: Sequence[np.ndarray], waves: np.ndarray, groups: Sequence[int], square: float
) -> tuple[list[np.ndarray], np.ndarray]:
    """What waves are on average where one column has a value and the others any; see the module.

    `places`: Of each coordinate the values to tell of, float64 (k,); 1 of a category. Returns at each place of each
    coordinate, float64 (k, 2W); and over all values of all columns, float64 (2W,).
    """
    own = np.array([group or -1 - place for place, group in enumerate(groups)])
    _, column_of = np.unique(own, return_inverse=True)
    means = np.ones((column_of.max() + 3, len(waves)), complex)  # with a 1 at either end
    for column in range(column_of.max() + 1):
        speeds = waves[:, column_of == column]
        category = groups[int(np.argmax(column_of == column))] > 0
        means[column + 1] = np.exp(2j * np.pi * speeds).mean(axis=1) if category else np.sinc(2.0 * speeds[:, 0])
    before, after = np.cumprod(means, axis=0), np.cumprod(means[::-1], axis=0)[::-1]
    others = before[column_of] * after[column_of + 2]

    def told(found: np.ndarray) -> np.ndarray:
        return height(len(waves), square) * np.concatenate((found.real, found.imag), axis=-1)

    turned = [np.exp(2j * np.pi * np.outer(at, speeds)) for at, speeds in zip(places, waves.T, strict=True)]
    return [told(one * rest) for one, rest in zip(turned, others, strict=True)], told(before[-1])


def lines_beside(waves: int, products: int) -> float:
    """What lines and curves are multiplied by where so many waves and products stand beside them."""
    return math.sqrt(1.0 - SHARE * (waves > 0) - SHARE_OF_PRODUCTS * (products > 0))
