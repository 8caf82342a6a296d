"""Labelled populations that classifiers are tried on: public random points whose classes lie in seven ways.

Nobody may look at the private records to see how their classes lie. Shapes stand for what they may be like. In some all
columns follow a few hidden directions, as those of pictures do; in others each has much or all of its values for
itself, as those of ordinary tables do, and everywhere some columns are spread more widely than others:

* *apart*: one heap a class, their middles four standard deviations from each other on average;
* *lumpy*: three heaps a class, so that a class has no middle that says much;
* *sides*: a class for each of K random directions, the one along which a point lies farthest out;
* *tilted*: one long heap a class, whose middles lie apart across its length and not along it, and a first class that
  has most points;
* *nested*: one class around the other, by the distance from the middle in two hidden directions;

and the first once more where everything fills a third of the usual part of the bounds, and where it fills them to their
ends, as the values of a picture do. Classes are of unequal size: the first has about twice as many points as the last.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...geometry.hashing.uniforms import PublicRandom
from ...releases.forecast.reference_population import DEFAULT_SPREAD as SPREAD
from ...releases.forecast.reference_population import REFERENCE_POINTS, placed

HIDDEN = 8
"""Directions that columns follow, where they follow few."""
LITTLE, MUCH = 0.3, 1.0
"""What a column does by itself, beside what it shares with the others."""
UNEVEN = 0.5
"""Standard deviation of the logarithm of how widely a column is spread."""
APART, LUMPS, CLOSER, FARTHER = 4.0, 3, 1.0 / 3.0, 2.0
LENGTH = 3.0
"""Of *tilted*: how much longer a heap is than wide."""
NOISY = 0.3
"""Of *sides*: what the records do not say of their class."""
ENDS = 40.0
"""Far beyond all other coordinates: where the label's own lie, so that every point has its class."""


@dataclass(frozen=True)
class Shape:
    """How classes lie.

    Attributes
    ----------
    drawn : Callable
        Points in so many directions, and their classes, of those that were drawn beforehand.
    spread : float
        How far points spread beside the usual.
    hidden : int
        Directions that columns follow, at most as many as there are columns.
    own : float
        What a column does by itself.
    """

    drawn: Callable[[PublicRandom, int, np.ndarray], tuple[np.ndarray, np.ndarray]]
    spread: float = 1.0
    hidden: int = HIDDEN
    own: float = LITTLE


def labelled_populations(domain: Domain, label: str, spread: float | None = None) -> tuple[np.ndarray, ...]:
    """Public random points of every shape, float64 (REFERENCE_POINTS, d) each, encoded as the domain says.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, the class among them.
    label : str
        The column of classes.
    spread : float | None
        Standard deviation of a column in shares of its bounds, where that is known: then all shapes have it.
    """
    return _populations(domain, label, None if spread is None else float(f"{spread:.3g}"))


@lru_cache(maxsize=8)
def _populations(domain: Domain, label: str, known: float | None) -> tuple[np.ndarray, ...]:
    blocks = np.repeat([column.name == label for column in domain.columns], [one.width for one in domain.columns])
    return tuple(
        placed(
            domain, "l2", partial(_labelled, blocks, place, shape, shape.spread if known is None else known / SPREAD)
        )
        for place, shape in enumerate(SHAPES.values())
        if known is None or shape.spread == 1.0
    )


def _labelled(blocks: np.ndarray, place: int, shape: Shape, spread: float, dimensions: int) -> np.ndarray:
    """Points of one shape, in standard deviations of the usual spread; far out along the coordinate of their class."""
    random, classes = PublicRandom(0, 31, place), int(blocks.sum())
    features = dimensions - classes
    hidden, own = min(features, shape.hidden), shape.own
    codes = (classes * random.uniforms(REFERENCE_POINTS) ** 1.3).astype(np.int64)
    found, codes = shape.drawn(random, hidden, codes)
    found = (found - found.mean(axis=0)) / found.std()
    axes = np.linalg.qr(ndtri(random.uniforms(features, features)))[0][:hidden]
    shared = found @ axes * math.sqrt(features / hidden)
    each = np.exp(UNEVEN * ndtri(random.uniforms(features)))
    each *= spread / math.sqrt(float(np.mean(each**2)) * (1.0 + own**2))
    points = np.zeros((REFERENCE_POINTS, dimensions))
    points[:, ~blocks] = each * (shared + own * ndtri(random.uniforms(REFERENCE_POINTS, features)))
    points[:, blocks] = np.where(np.arange(classes) == codes[:, None], ENDS, -ENDS)
    return points


def _apart(random: PublicRandom, hidden: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    middles = ndtri(random.uniforms(int(codes.max()) + 1, hidden))
    return _around(random, middles[codes], middles), codes


def _lumpy(random: PublicRandom, hidden: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    classes = int(codes.max()) + 1
    middles = ndtri(random.uniforms(classes * LUMPS, hidden))
    lumps = codes + classes * (LUMPS * random.uniforms(len(codes))).astype(np.int64)
    return _around(random, middles[lumps], middles), codes


def _around(random: PublicRandom, own: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """Bells around middles that are moved so far from each other that they are apart."""
    between = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    mean = between.sum() / (len(middles) * (len(middles) - 1))
    return own * APART / mean + ndtri(random.uniforms(*own.shape))


def _tilted(random: PublicRandom, hidden: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    classes = int(codes.max()) + 1
    codes = (classes * (codes + random.uniforms(len(codes))) ** 2 / classes**2).astype(np.int64)
    long = np.where(np.arange(hidden) < hidden // 2, LENGTH, 1.0)
    middles = ndtri(random.uniforms(classes, hidden)) / long
    own, mean = middles[codes], middles.mean(axis=0)
    spread = np.linalg.norm(middles - mean, axis=1).mean()
    return (own - mean) * APART / math.sqrt(2.0) / spread + long * ndtri(random.uniforms(*own.shape)), codes


def _sides(random: PublicRandom, hidden: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points, classes = ndtri(random.uniforms(len(codes), hidden)), int(codes.max()) + 1
    directions = ndtri(random.uniforms(hidden, classes))
    scores = points @ (directions / np.linalg.norm(directions, axis=0))
    return points, (scores + NOISY * ndtri(random.uniforms(*scores.shape))).argmax(axis=1)


def _nested(random: PublicRandom, hidden: int, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points, classes = ndtri(random.uniforms(len(codes), hidden)), int(codes.max()) + 1
    radius = np.linalg.norm(points[:, :2], axis=1)
    order = np.argsort(np.argsort(radius))
    return points * (0.7 + 0.6 * (order * classes // len(codes)) / classes)[:, None], order * classes // len(codes)


EACH = 1 << 20
"""More directions than there are columns: each column has one of its own."""
SHAPES = {
    "apart": Shape(_apart, own=MUCH),
    "lumpy": Shape(_lumpy),
    "sides": Shape(_sides, hidden=EACH),
    "tilted": Shape(_tilted, hidden=EACH),
    "nested": Shape(_nested),
    "apart, close together": Shape(_apart, CLOSER, own=MUCH),
    "apart, from end to end": Shape(_apart, FARTHER, own=MUCH),
}
"""All of them."""
