"""Which classifiers are worth making: all share one promise, so what cannot pay for itself is left out beforehand.

Every entrant is rehearsed on labelled populations, with its real noise but a seeded source, under the share of the
promise that it would have among so many. What counts is how much it learns: what it gets right beyond always the most
common class, as a share of what there is beyond that, and nothing where it is worse, so that who drowns in noise is not
judged by which class it happens to name. The set of entrants is taken whose winner learns most on average over the
populations: more of them suit more shapes, and leave less for each. What the choice itself loses is counted too, as
records held out are few and their counts noisy; that everyone is of the largest class is always chosen among. No choice
is made that luck could decide (`RISK`), as it might fall on a class that is not the largest: then the best entrant has
all of the promise and all records, where the forecast is sure of it, and otherwise the classes are counted so. All of
this is public.

Only the sets that would be best with the whole promise for each are tried with its shares, which takes from all alike.

Labelled populations that classifiers are tried on: public random points whose classes lie in eight ways.

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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import cast

import numpy as np
from scipy.special import ndtri

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Gaussian
from ..geometry.uniforms import PublicRandom
from ..privacy.budget import Budget
from ..privacy.choosing.held_out import choice_epsilon, halvings_for
from ..privacy.noise.randomness import SeededSource
from ..privacy.shared_promise import largest_share
from ..releases.forecast.kernel_choice import USUAL, kernel_apart
from ..releases.forecast.reference_population import DEFAULT_SPREAD as SPREAD
from ..releases.forecast.reference_population import REFERENCE_POINTS, placed
from .entrants import Counts, Entrant, KernelSums, Logistic, kernels_of, said

HIDDEN = 8  # Directions that columns follow, where they follow few.
LITTLE, MUCH = 0.3, 1.0  # What a column does by itself, beside what it shares with the others.
UNEVEN = 0.5  # Standard deviation of the logarithm of how widely a column is spread.
APART, LUMPS, CLOSER, FARTHER = 4.0, 3, 1.0 / 3.0, 2.0
LENGTH = 3.0  # Of *tilted*: how much longer a heap is than wide.
NOISY = 0.3  # Of *sides*: what the records do not say of their class.
ENDS = 40.0  # Far beyond all other coordinates: where the label's own lie, so that every point has its class.


@dataclass(frozen=True)
class Shape:
    """How classes lie."""

    # Points in so many directions, and their classes, of those that were drawn beforehand.
    drawn: Callable[[PublicRandom, int, np.ndarray], tuple[np.ndarray, np.ndarray]]
    spread: float = 1.0  # How far points spread beside the usual.
    hidden: int = HIDDEN  # Directions that columns follow, at most as many as there are columns.
    own: float = LITTLE  # What a column does by itself.


def labelled_populations(domain: Domain, label: str, spread: float | None = None) -> tuple[np.ndarray, ...]:
    """Public random points of every shape, float64 (REFERENCE_POINTS, d) each, encoded as the domain says.

    `domain`: The public facts about the records, the class among them. `label`: The column of classes. `spread`:
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


EACH = 1 << 20  # More directions than there are columns: each column has one of its own.
# All of them.
SHAPES = {
    "apart": Shape(_apart, own=MUCH),
    "lumpy": Shape(_lumpy),
    "sides": Shape(_sides, hidden=EACH),
    "tilted": Shape(_tilted, hidden=EACH),
    "tilted, along few": Shape(_tilted),
    "nested": Shape(_nested),
    "apart, close together": Shape(_apart, CLOSER, own=MUCH),
    "apart, from end to end": Shape(_apart, FARTHER, own=MUCH),
}


TRAINED_ON = 2 * REFERENCE_POINTS // 3
NOISES = 2  # Draws of the noise, each asked about a part of the records that are left: one alone may be a lucky one.
MOST_TOGETHER, MOST_TRIED = 3, 2  # Entrants in a set, and sets of each number that are tried.
# Shares learnt by which one more entrant must better the forecast: less than that, a rehearsal cannot tell, and of
# those who are as near to the best one the smallest file is first.
WORTH = 0.02
WORTHLESS = -1.0  # Of a set that cannot be made, or not be chosen from.
# How likely noise may let some way win a choice that is as far behind as the largest class is by forecast: where so
# little is to be learnt that it is likelier, a smaller class might be chosen for everyone, and no choice is made.
RISK = 0.05
# Shares learnt from which on one is made alone, of all records, where held-out ones could not tell it from a class for
# everyone; where less is to be learnt classes are counted with all of the promise, so that the answer is the largest.
SURE = 0.05
MOST_WAYS = 16  # That are chosen among in imagination.
DRAWS = 400  # Of the choice, in imagination.
# Squared coordinates times classes, beyond which a logistic regression is not tried out and so does not compete.
MOST_WORK = 5 * 10**6


@dataclass(frozen=True)
class Prospect:
    """Entrants that are worth making together."""

    entrants: tuple[Entrant, ...]  # From one to three of them, the one with the best forecast first.
    # How much the winner learns of the populations, on average: what it gets right beyond always the most common class,
    # as a share of what there is.
    learnt: float
    # Of every entrant, how much it would learn by itself under the whole promise, the best first.
    alone: tuple[tuple[Entrant, float], ...]
    compared: bool = True  # Whether held-out records compare them, and one class for everyone with them.


def prospect(entrants: Sequence[Entrant], budget: Budget, records: float, spread: float | None = None) -> Prospect:
    """The entrants to make under a promise, from public facts alone.

    `entrants`: Of one column of classes. `budget`: The promise of everything together. `records`: How many there are,
    from public knowledge or from a count that was bought. `spread`: How far columns are spread, where that is known;
    see `core.releases.stages`. RequestError when none can be made under such a promise.
    """
    alone = _alone(entrants, budget, records, spread)
    means = {one: float(np.mean(learnt)) for one, learnt in alone.items()}
    counts = next((one for one in alone if isinstance(one, Counts)), None)
    ranked = [one for one in alone if one is not counts]
    chosen: tuple[Entrant, ...] = (ranked[0],) if counts is None else (counts,)
    best = WORTHLESS if counts is None else 0.0
    for number in range(1, min(MOST_TOGETHER, len(ranked)) + 1):
        hoped = {
            together: float(np.mean(np.max([alone[one] for one in together], axis=0)))
            for together in combinations(ranked, number)
        }
        # Of one alone the order is that of `_alone`: of those that are alike the smallest file is first.
        tried = list(hoped) if number == 1 else sorted(hoped, key=hoped.__getitem__, reverse=True)
        for together in tried[:MOST_TRIED]:
            if hoped[together] < best + WORTH:
                break  # even under the whole promise each
            learnt = _together(together, budget, records, spread)
            if learnt > best + WORTH:
                chosen, best = together, learnt
    if counts in chosen and ranked and means[ranked[0]] >= SURE:
        return Prospect((ranked[0],), means[ranked[0]], tuple(means.items()), compared=False)
    return Prospect(chosen, best, tuple(means.items()))


def class_kernel(domain: Domain, label: str, budget: Budget, records: float, spread: float | None) -> Gaussian:
    """The kernel whose sums tell classes of made-up records apart best by themselves, of more columns than a grid has.

    `domain`, `label`: The public facts about the records, and the column of their classes.
    """
    best = next(iter(_alone(kernels_of(domain, label, spread), budget, records, spread)))
    return kernel_apart(domain.without(label), cast(KernelSums, best).spread, cast(KernelSums, best).share or USUAL)


def _alone(
    entrants: Sequence[Entrant], budget: Budget, records: float, spread: float | None
) -> dict[Entrant, np.ndarray]:
    """How much each learns of every population under the whole promise, the best first; of those alike the smallest."""
    found = {one: _rights(one, budget, records, spread) for one in entrants}
    alone = {one: _learnt(*rights) for one, rights in found.items() if rights is not None}
    if not alone:
        raise RequestError("No classifier can be made of these columns under this promise; take fewer columns.")
    means = {one: float(np.mean(learnt)) for one, learnt in alone.items()}
    best = max(means.values())

    def rank(one: Entrant) -> tuple[float, ...]:
        alike = means[one] > best - WORTH
        return (0.0, one.size_rank, -means[one]) if alike else (1.0, -means[one])

    return {one: alone[one] for one in sorted(alone, key=rank)}


def _learnt(rights: np.ndarray, common: np.ndarray) -> np.ndarray:
    """What is right beyond always the most common class, as a share of what there is."""
    return np.maximum((rights - common) / (1.0 - common), 0.0)


def _together(entrants: tuple[Entrant, ...], budget: Budget, records: float, spread: float | None) -> float:
    """How much the winner of several learns, on average over the populations; -1 where one of them cannot be made."""
    share = largest_share(budget, len(entrants))
    held = 2.0 ** -halvings_for(records)
    made_of = records if len(entrants) == 1 else records * (1.0 - held)  # one alone was rehearsed for all of them
    found = [_rights(one, share, made_of, spread) for one in entrants]
    made = [rights for rights in found if rights is not None]
    if len(made) < len(found):
        return WORTHLESS
    common = made[0][1]
    # Entrants, the largest class, and the others, each as large as what is left has room for: (ways, populations).
    others = (1.0 - common) / (len(entrants[0].categories) - 1)
    rights = np.array([*(own for own, _ in made), common, *[others] * (len(entrants[0].categories) - 1)][:MOST_WAYS])
    lucky = math.log(len(rights) / RISK) / (choice_epsilon(budget) * records * held)
    if float(np.mean(rights[: len(made)].max(axis=0) - common)) < lucky:
        return WORTHLESS
    chance = np.sqrt(rights * (1.0 - rights) / (records * held)) + 1.0 / (choice_epsilon(budget) * records * held)
    luck = ndtri(PublicRandom(0, 32).uniforms(DRAWS, *rights.shape))
    taken = (rights + chance * luck).argmax(axis=1)
    learnt = (rights - common) / (1.0 - common)  # below 0 where less is right than of the largest class
    return float(np.mean(np.take_along_axis(learnt[None], taken[:, None, :], axis=1)))


def _rights(
    entrant: Entrant, budget: Budget, records: float, spread: float | None = None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Shares right of every population, its own and of the most common class; None where it cannot be made or tried."""
    found = _rehearsed(entrant, budget, float(f"{records:.3g}"), spread)
    return None if found is None else (np.array(found)[:, 0], np.array(found)[:, 1])


@lru_cache(maxsize=256)
def _rehearsed(
    entrant: Entrant, budget: Budget, records: float, spread: float | None
) -> tuple[tuple[float, float], ...] | None:
    """Cached, as a page asks again at every move of a slider; arguments are public, and so is the answer."""
    features = entrant.domain.without(entrant.label).dimensions
    if isinstance(entrant, Logistic) and (features + 1) ** 2 * len(entrant.categories) > MOST_WORK:
        return None
    try:
        ready = entrant.settled(budget, records, seed=0)
    except RequestError:
        return None
    made_of = int(min(max(records, 2.0), TRAINED_ON))
    found = []
    for place, points in enumerate(labelled_populations(entrant.encoded, entrant.label, spread)):
        right, asked = 0.0, points[TRAINED_ON:]
        noises = [SeededSource(NOISES * place + noise) for noise in range(NOISES)]
        files = ready.rehearsed(points[:made_of], records, noises)
        for file, part in zip(files, np.array_split(asked, NOISES), strict=True):
            right += float(np.sum(said(file, part)[0] == entrant.codes(part)))
        common = float(np.bincount(entrant.codes(asked)).max())
        found.append((right / len(asked), common / len(asked)))
    return tuple(found)
