"""What events cost together: the tight sum, by composing privacy loss distributions.

A pure event loses at worst what randomised response does (Kairouz, Oh, Viswanath 2015), and a Gaussian event what the
continuous mechanism does and the slack of `unit_shifts` or `whole_shifts`. Loss distributions of the
worst pairs compose by convolution, also when an output steers what is asked next (Zhu, Dong, Wang 2022, Theorem 10).
"""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from .events import Alone, Event, Gaussian, PureParts, pure_sum, total_rho
from .zcdp import zcdp_epsilon

SMALLEST_PLD_DELTA = 1e-10
"""The convolutions of privacy loss distributions are exact to about 1e-14 in delta; below this they are not used."""


def epsilon_spent(events: Sequence[Event], delta: float) -> float:
    """Return an epsilon with which all events together are (epsilon, delta)-private: an upper bound, and a tight one.

    The smallest of the plain sum (pure events), the zCDP conversion, and, unless a Gaussian event claims zCDP alone,
    the composition of privacy loss distributions.

    Parameters
    ----------
    events : Sequence[Event]
        In any order; none cost 0.
    delta : float
        0 asks for the pure sum, which is infinite when any event is Gaussian.
    """
    if not events:
        return 0.0
    if any(isinstance(event, Alone) for event in events):
        return _with_lone_ones(events, delta)
    pure = pure_sum(events)
    plain_sum = math.inf if pure is None else float(pure)
    if delta == 0:
        return plain_sum
    counts: Counter[Fraction] = Counter()
    for event in events:
        if isinstance(event, PureParts):
            counts[event.epsilon] += event.count
    tables = Counter(event.table for event in events if isinstance(event, Gaussian))
    best = min(plain_sum, zcdp_epsilon(float(total_rho(events)), float(delta)))
    if delta >= SMALLEST_PLD_DELTA and None not in tables:
        from .loss_distributions import composed_epsilon  # its library takes a second to load

        best = min(best, composed_epsilon(frozenset(counts.items()), frozenset(tables.items()), float(delta), best))
    return best


def _with_lone_ones(events: Sequence[Event], delta: float) -> float:
    """Basic composition (Dwork, Roth 2014, Theorem 3.16), where nothing else is known of some of the events."""
    alone = [event for event in events if isinstance(event, Alone)]
    left = delta - float(sum((event.delta for event in alone), Fraction(0)))
    if left < 0:
        return math.inf
    others = [event for event in events if not isinstance(event, Alone)]
    return float(sum((event.epsilon for event in alone), Fraction(0))) + epsilon_spent(others, left)
