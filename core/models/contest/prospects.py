"""Which classifiers are worth making: all share one promise, so what cannot pay for itself is left out beforehand.

Every entrant is rehearsed on labelled populations, with its real noise but a seeded source, under the share of the
promise that it would have among so many. What counts is how much it learns: what it gets right beyond always the most
common class, as a share of what there is beyond that, and nothing where it is worse, so that who drowns in noise is not
judged by which class it happens to name. The set of entrants is taken whose winner learns most on average over the
populations: more of them suit more shapes, and leave less for each. What the choice itself loses is counted too, as
records held out are few and their counts noisy; that everyone is of the largest class is always chosen among. Where no
set learns anything worth speaking of, counting the classes is left, with all of the promise and nothing held out. All
of this is public.

Only the sets that would be best with the whole promise for each are tried with its shares, which takes from all alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import cast

import numpy as np
from scipy.special import ndtri

from ...domain import Domain
from ...errors import RequestError
from ...geometry.hashing.uniforms import PublicRandom
from ...geometry.kernels import Gaussian
from ...privacy.budget import Budget
from ...privacy.held_out import choice_epsilon, halvings_for
from ...privacy.noise.randomness import SeededSource
from ...privacy.shared_promise import largest_share
from ...releases.forecast.nearness import USUAL, kernel_apart
from ...releases.forecast.reference_population import REFERENCE_POINTS
from .entrants import Counts, Entrant, KernelSums, Logistic, kernels_of, said
from .populations import labelled_populations

TRAINED_ON = 2 * REFERENCE_POINTS // 3
NOISES = 2
"""Draws of the noise, each asked about a part of the records that are left: one alone may be a lucky one."""
MOST_TOGETHER, MOST_TRIED = 3, 2
"""Entrants in a set, and sets of each number that are tried."""
WORTH = 0.02
"""Shares learnt by which one more entrant must better the forecast: less than that, a rehearsal cannot tell, and of
those who are as near to the best one the smallest file is first."""
WORTHLESS = -1.0
"""Of a set that cannot be made."""
MOST_WAYS = 16
"""That are chosen among in imagination."""
DRAWS = 400
"""Of the choice, in imagination."""
MOST_WORK = 5 * 10**6
"""Squared coordinates times classes, beyond which a logistic regression is not tried out and so does not compete."""


@dataclass(frozen=True)
class Prospect:
    """Entrants that are worth making together.

    Attributes
    ----------
    entrants : tuple[Entrant, ...]
        From one to three of them, the one with the best forecast first.
    learnt : float
        How much the winner learns of the populations, on average: what it gets right beyond always the most common
        class, as a share of what there is.
    alone : tuple[tuple[Entrant, float], ...]
        Of every entrant, how much it would learn by itself under the whole promise, the best first.
    """

    entrants: tuple[Entrant, ...]
    learnt: float
    alone: tuple[tuple[Entrant, float], ...]


def prospect(entrants: Sequence[Entrant], budget: Budget, records: float, spread: float | None = None) -> Prospect:
    """The entrants to make under a promise, from public facts alone.

    Parameters
    ----------
    entrants : Sequence[Entrant]
        Of one column of classes.
    budget : Budget
        The promise of everything together.
    records : float
        How many there are, from public knowledge or from a count that was bought.

    spread : float | None
        How far columns are spread, where that is known; see `core.releases.spread`.

    Raises
    ------
    RequestError
        When none can be made under such a promise.
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
    return Prospect(chosen, best, tuple(means.items()))


def class_kernel(domain: Domain, label: str, budget: Budget, records: float, spread: float | None) -> Gaussian:
    """The kernel whose sums tell classes of made-up records apart best by themselves, of more columns than a grid has.

    Parameters
    ----------
    domain, label : Domain, str
        The public facts about the records, and the column of their classes.
    budget, records, spread : Budget, float, float | None
        See `prospect`.
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
