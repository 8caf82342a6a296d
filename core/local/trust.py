"""What trust is worth: the same question at the same ε with an owner who adds noise once, and with nobody to trust.

An owner's noise is as large for a million people as for ten, so the error of a share falls as 1/n; that of local
reports comes from everyone's coins and falls as 1/√n. So for the same error local reports need about as many people as
the square of what an owner needs.

What a shuffler adds: if nobody knows who sent which report, the crowd hides each person further.

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
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy

from ..errors import RequestError
from ..formatting.numbers import significant
from ..privacy.budget import Budget, Sensitivity
from ..privacy.calibration import NoiseScale, calibrate
from ..releases.forecast.forecast import forecast
from ..sketches.race import Race
from .local_race import CellReports, forecast_reports, sized
from .oracle_choice import Outlook
from .oracles.local_hashing import FastHashing
from .oracles.oracle import Oracle, Pure


@dataclass(frozen=True)
class Trust:
    """Errors of a share, as standard deviations, and who needs how many people."""

    epsilon: float  # The promise of both.
    people: int  # How many take part.
    # Error with an owner, and with local reports.
    owner: float
    local: float
    needed: float  # How many people local reports need for the owner's error.


def of_counts(local: Outlook) -> Trust:
    """For a question with a list of answers: counts with discrete Laplace noise, against an oracle's estimates.

    One person moves one of the owner's counts by one (add or remove), so each has noise of scale 1/ε.
    """
    one = local.oracle
    quiet = math.sqrt(owner_noise(one.epsilon).variance)
    each = local.error / math.sqrt(local.people)  # of √n people
    return Trust(
        float(one.epsilon),
        local.people,
        quiet / local.people,
        local.error / local.people,
        (each * local.people / quiet) ** 2,
    )


def owner_noise(epsilon: Decimal) -> NoiseScale:
    """The noise of an owner's counts."""
    return calibrate(Sensitivity(1, 1, unit_shifts=True), Fraction(epsilon))


def of_density(
    sketch: Race, epsilon: Decimal, people: int, density: float | None = None, sample: object = None
) -> Trust:
    """For the closeness of records: a RACE release of an owner, against one of local reports, each of its best size.

    For the people that are needed, the noise of local reports alone counts: further rows cost them none, and take the
    chance in rows away.
    """
    open_size = replace(sketch, rows=None, groups=None)
    owner = forecast(open_size, Budget(epsilon), people, density, sample)
    reports = CellReports.of(sized(open_size, epsilon, people, "auto", density, sample), epsilon)
    local = forecast_reports(reports, people, density, sample)
    return Trust(
        float(reports.epsilon),
        people,
        owner.promised_error,
        local.promised_error,
        people * (local.promised_noise / owner.promised_error) ** 2,
    )


ROUNDING = 1e-12
FAR_OUT = 1e-14
STEPS = 60


@dataclass(frozen=True)
class Shuffled:
    """n shuffled reports."""

    odds: float  # E, the largest ratio of one report.
    people: int  # n.
    clones: float  # How likely one of the others draws each of the two labels.
    # How likely the person has a label, and how likely it is that of their value.
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
        binom = scipy.stats.binom
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
