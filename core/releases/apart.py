"""A release whose bandwidth follows from how far its records lie apart, which is bought first.

Two readings and two entries in the ledger: the spread is read, paid for and drawn (`core.releases.spread`); then what
follows from it is read, paid for with the rest of the promise, and drawn (`core.releases.job`). The file promises both,
by basic composition, which holds for a mechanism that is chosen by an earlier output (Dwork, Roth 2014, Theorem 3.16).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..domain import Domain
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.linear import LinearSketch
from ..sources import Source
from .counted import Covered
from .job import Job
from .payment import Payer, saying_spent
from .plain import Plain
from .release import Release
from .spread import Offered, Pairs, paid, paired_up, suiting


@dataclass(frozen=True)
class ApartFirst:
    """How far records lie apart, and what is made of knowing it.

    Attributes
    ----------
    compared : Domain
        The columns whose distances count.
    offered : Offered
        What is bought first, and its price.
    made : Callable[[float], LinearSketch]
        The sketch that suits a spread, of a settled size, under what is left.
    """

    compared: Domain
    offered: Offered
    made: Callable[[float], LinearSketch]

    def cost(self, rest: Cost, budget: Budget) -> Cost:
        """Of both under the promise of everything, where the release itself costs ``rest``."""
        return Cost((*self.offered.cost.events, *rest.events), budget.epsilon, budget.delta)


class ApartJob:
    """One such release, driven as a `Job` is: iterate to read, at no cost, then `finish`.

    Parameters
    ----------
    first : ApartFirst
        What is bought first, and what follows.
    supposed : Plain
        The release as it would be of ordinary records, by which it is priced before anything is read.
    source : Source
        The private records.
    payer : Payer
        Who pays for both.
    say : Callable[[str], object]
        Tells the owner what happens.
    noise_source : NoiseSource | None
        None in any real release.

    Attributes
    ----------
    kept : Path | None
        Where the release is on the disk, once it is.
    """

    def __init__(
        self,
        first: ApartFirst,
        supposed: Plain,
        source: Source,
        payer: Payer,
        *,
        say: Callable[[str], object] = lambda words: None,
        noise_source: NoiseSource | None = None,
    ):
        self.kept: Path | None = None
        self._first, self._supposed, self._source, self._payer = first, supposed, source, payer
        self._say, self._noise_source = say, noise_source
        self._pairs: Pairs | None = None

    def __iter__(self) -> Iterator[int]:
        self._check()
        domain = replace(self._first.compared, scale="box")
        pairs = Pairs(self._first.offered.buckets, domain.dimensions)
        yield from paired_up(domain, self._source, pairs, self._noise_source)
        self._pairs = pairs

    def check_read(self) -> Pairs:
        """What was read; RuntimeError while that is not everything, and once it was used up."""
        if self._pairs is None:
            raise RuntimeError("Not all records are paired: iterate over the job to its end first.")
        return self._pairs

    def finish(self) -> Release:
        """Pay for the spread, draw it, and make the release with the rest.

        Raises
        ------
        RequestError, BudgetError
            When the ledger refuses, or the second reading fails: what was spent is said then.
        """
        exact, one = self.check_read().sum(), self._first.offered
        self._check()
        self._pairs = None
        found = paid(one, exact, self._payer, self._noise_source)
        with saying_spent(self._payer, "how far records lie apart"):
            kind = Covered(suiting(found.value, self._payer, self._planned), found.bought)
            job = Job(kind, self._source, self._payer, noise_source=self._noise_source, say=self._say)
            made = job.run()
        self.kept = job.kept
        return made

    def _planned(self, spread: float | None) -> Plain:
        return self._supposed if spread is None else replace(self._supposed, sketch=self._first.made(spread))

    def _check(self) -> None:
        """Refuse what the ledger would refuse of either entry, before the first of them."""
        one, rest = self._first.offered, self._supposed.cost
        self._payer.check(self._first.cost(rest, self._payer.budget))
        if not self._payer.has_room_for(one.cost, rest):
            raise RequestError(
                "The total has no room for how far records lie apart beside the release, as the two are entries of "
                "their own; say the distance from public knowledge instead."
            )
