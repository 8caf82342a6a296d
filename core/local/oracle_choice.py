"""Choosing an oracle from public facts: how many values there are, how many people, which promise, which phones.

Forecasts are the oracles' exact variances, so they are the error itself, of a value that few people have.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from scipy.special import ndtr, ndtri

from ..errors import RequestError
from ..formatting.numbers import count, significant, taken
from .oracles.oracle import ORACLES, Oracle, oracle

LEVEL = 0.95
# Oracles whose error is larger by no more than this are as good, and the one with the shortest reports is taken.
AS_GOOD = 1.03
PATIENCE = 600.0  # Seconds of the collector's processor that a recommendation may cost.


@dataclass(frozen=True)
class Outlook:
    """What an oracle would give."""

    oracle: Oracle  # The oracle.
    people: int  # How many report.
    error: float  # Standard deviation of an estimated count that is small.
    bits: int  # Of a report.
    # Rough times of one core.
    device_seconds: float
    collector_seconds: float

    @property
    def share_error(self) -> float:
        """How far off an estimated share may be, with the level of intervals."""
        return self.reach / self.people

    @property
    def reach(self) -> float:
        """Half the length of an interval around a small count."""
        return float(ndtri(0.5 + LEVEL / 2)) * self.error

    def found(self, share: float) -> float:
        """Probability that a true share is told from zero: that its estimate is above what nobody's would pass."""
        own = math.sqrt(self.oracle.typical_variance(self.people, share * self.people))
        return float(ndtr((share * self.people - self.reach) / own))


def outlook(one: Oracle, people: int) -> Outlook:
    """The forecast of an oracle for so many people."""
    if not people >= 1:
        raise RequestError("A forecast is for at least one person.")
    device, collector = one.work(people)
    return Outlook(one, people, math.sqrt(one.typical_variance(people)), one.bits, device, collector)


def outlooks(domain: int, people: int, epsilon: object, most_bits: int | None = None) -> list[Outlook]:
    """Every oracle that can answer, the smallest error first; those whose reports are longer than said are left out."""
    found = []
    for name in ORACLES:
        try:
            one = oracle(name, domain, epsilon)
        except RequestError:
            if name == "de":  # the number of values or epsilon is wrong
                raise
            continue
        if most_bits is None or one.bits <= most_bits:
            found.append(outlook(one, people))
    if not found:
        raise RequestError(
            f"No oracle fits {domain:,} values into {most_bits:,} bits a report; the shortest has "
            f"{(domain - 1).bit_length():,}."
        )
    return sorted(found, key=lambda one: one.error)


def recommended(choices: Iterable[Outlook]) -> Outlook:
    """The oracle to take: of those as good as the best that the collector can wait for, the shortest reports."""
    known = list(choices)
    quick = [one for one in known if one.collector_seconds <= PATIENCE] or known
    best = min(one.error for one in quick)
    return min((one for one in quick if one.error <= best * AS_GOOD**0.5), key=lambda one: (one.bits, one.error))


def sentence(choice: Outlook) -> str:
    """A recommendation for people."""
    return (
        f"Take {choice.oracle.title} ({choice.oracle.name}): with {choice.people:,} people, {meaning(choice)} A "
        f"report takes {count(choice.bits, 'bit')}, and counting all of them {taken(choice.collector_seconds)}."
    )


def meaning(choice: Outlook) -> str:
    """What a forecast means, as the end of a sentence and a further one."""
    points = significant(100 * choice.share_error, 2)
    twice = 2 * choice.share_error
    known = f"a share is known to ± {points} points at ε = {_plain(choice.oracle.epsilon)}"
    if twice >= 1:
        return f"{known}, so that nothing but the largest shares can be told from zero."
    often = math.floor(100 * choice.found(twice))
    return (
        f"{known}: an estimate above {points} is told from zero, and a true share of {significant(100 * twice, 2)} is "
        f"found {often} times in 100."
    )


def _plain(epsilon: Decimal) -> str:
    return f"{epsilon:f}"
