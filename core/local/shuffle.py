"""What a shuffler adds: if nobody knows who sent which report, the crowd hides each person further.

n people send reports of one ε₀-private kind, and the collector sees them in random order only. How much one person's
value then shows is bounded by hiding among clones (Feldman, McMillan, Talwar 2021 and 2023), in the form proved here.

*Decomposition.* Let E bound all ratios, and let a and b be the probabilities of a report for two values x and x'. Put
P = Σ(a - b)₊/(E - 1), and Q = (a - b)₊/((E - 1)P), Q' = (b - a)₊/((E - 1)P). Then

    a = EP·Q + P·Q' + rest,    b = P·Q + EP·Q' + rest,    c >= P·Q + P·Q' for any third value's report c.

Indeed where a >= b the rest of a is a - E(a - b)/(E - 1) = (Eb - a)/(E - 1), that of b is b - (a - b)/(E - 1), which is
the same, and it is not negative as a <= Eb; and c >= a/E >= (a - b)/(E - 1), again by a <= Eb. Where a < b, likewise.

*Clones.* So each of the others, whatever their value, draws Q with probability P, Q' with P, and else something that
their own value decides. The one person draws Q or Q' with probability (E + 1)P, and else something that does not depend
on whether they have x or x'. Let it be told even whether they did, which of the others have no label, and what those
sent. Then the rest, shuffled, tells how many drew Q and how many Q' and nothing more, and only where the person has a
label does it tell anything: with that probability, the counts are (A, A'), those of n - 1 draws with probabilities P,
P, 1 - 2P, and one more in A with odds E to 1 for x, and 1 to E for x'.

Where a report speaks for values with weight A and against others with weight B, and where bits have coins of their own,
Σ(a - b)₊ = p - q for any two values, so P = (p - q)/(E - 1) is the same for all. For any other report there is the
simpler way of 2021: c >= (a + b)/(2E), so each of the others sends a clone of the person's report, as x or as x' would
send it, with probability 1/(2E) each, and the person's own is always one of these two for sure.

*Adding up.* For a total of c labels the odds of x grow with A, so δ(ε) = Σ (Pr_x - e^ε Pr_x')₊ is a sum over c of tails
of binomial distributions. Totals too far out to matter are counted into δ in full, and 10^-12 is set aside for
rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from scipy.stats import binom

from ..errors import RequestError
from ..formatting.numbers import significant
from .oracles.flh import FastHashing
from .oracles.oracle import Oracle, Pure

ROUNDING = 1e-12
FAR_OUT = 1e-14
STEPS = 60


@dataclass(frozen=True)
class Shuffled:
    """n shuffled reports.

    Attributes
    ----------
    odds : float
        E, the largest ratio of one report.
    people : int
        n.
    clones : float
        How likely one of the others draws each of the two labels.
    labelled, sure : float, float
        How likely the person has a label, and how likely it is that of their value.
    """

    odds: float
    people: int
    clones: float
    labelled: float
    sure: float

    @classmethod
    def of(cls, one: Oracle, people: int) -> Shuffled:
        """Reports of an oracle."""
        if not people >= 2:
            raise RequestError("A crowd to hide in needs two people or more.")
        odds = float(one.odds)
        if isinstance(one, Pure) and not isinstance(one, FastHashing):
            p, q = one.chances
            clones = min(float((p - q) / (one.odds - 1)), 1 / (odds + 1))
            return cls(odds, people, clones, (odds + 1) * clones, odds / (odds + 1))
        return cls(odds, people, 1 / (2 * odds), 1.0, 1.0)

    def delta(self, epsilon: float) -> float:
        """The least δ that is proven for a central ε: never below the true one."""
        others, chance = self.people - 1, min(2 * self.clones, 1.0)
        least, most = int(binom.ppf(FAR_OUT, others, chance)), int(binom.isf(FAR_OUT, others, chance)) + 1
        drawn = np.arange(max(least, 0), min(most, others) + 1)
        # sure A + (1 - sure) A' > e (sure A' + (1 - sure) A) for A + A' = drawn + 1, solved for A.
        e, sure = math.exp(epsilon), self.sure
        first = np.floor((drawn + 1) * (e * sure - (1 - sure)) / ((2 * sure - 1) * (1 + e))) + 1
        mine, not_mine = binom.sf(first - 2, drawn, 0.5), binom.sf(first - 1, drawn, 0.5)
        likely = sure * mine + (1 - sure) * not_mine
        unlikely = (1 - sure) * mine + sure * not_mine
        gained = np.maximum(likely - e * unlikely, 0.0) @ binom.pmf(drawn, others, chance)
        return min(1.0, self.labelled * float(gained) + 3 * FAR_OUT + ROUNDING)

    def epsilon(self, delta: float) -> float:
        """The central ε that is proven at a δ: at most the local one, and never below the true one."""
        if not 0 < delta < 1:
            raise RequestError("A crowd hides people with a δ above 0 and below 1.")
        low, high = 0.0, math.log(self.odds)
        for _ in range(STEPS):
            middle = (low + high) / 2
            if self.delta(middle) <= delta:
                high = middle
            else:
                low = middle
        return high

    def sentence(self, delta: float) -> str:
        """For people."""
        local, central = math.log(self.odds), self.epsilon(delta)
        return (
            f"Each report has ε = {significant(local, 3)} against everyone; in random order among {self.people:,}, so "
            f"that nobody sees who sent which, it is worth ε = {significant(central, 3)}, but for a risk of δ = "
            f"{Decimal(str(delta)):f}."
        )
