"""Values that were on nobody's list, found under a promise: each is counted with noise, and shown above a threshold.

A list of categories that nobody can type is in the data, and to copy it from there would show values that one person
alone has. So every value of every column is counted, every count gets discrete Gaussian noise of parameter σ², and a
value is shown, with its noisy count, when that passes a threshold T (Korolova, Kenthapadi, Mishra, Ntoulas 2009; with
Gaussian noise over everything a person has: Gopi, Gulhane, Kulkarni, Shen, Shokouhi, Yekhanin 2020).

**What is promised.** A person has at most m records, and each has one value in each of d columns. Let D and D' differ
in one person, D0 be everyone else, and *new* be a value of a column that is in D or D' and not in D0. Let B be that
some new value is shown, and β the larger of its probabilities under D and D'.

1. *No new value is shown, but with probability β <= δ.* New values of one column with k_1, k_2, … records of the
   person, Σ k_i <= m, are shown with probability at most Σ P(N > T - k_i), N the noise, which is at most m max over k
   of P(N > T - k)/k. For whole t >= 1, P(N >= t) is at most that of a normal number of variance σ² being t - 1 or more
   (Canonne, Kamath, Steinke 2020, Proposition 25). T is the least whole number with

       d · m · max over 1 <= k <= m of Q((T - k)/σ)/k <= δ,        Q the normal tail.

2. *Otherwise it is Gaussian noise on counts.* Noise is independent between values, so given that no new value is shown,
   what is shown of all others has the law that it has anyway: that of a function of their noisy counts under D, P', or
   under D', Q'. So M(D) = (1 - β) P' + β P'' and M(D') = (1 - β) Q' + β Q'' (where one has the smaller probability,
   part of its P' is called P''). Counts of the values of D0 are a table that the person moves, in each column, by whole
   numbers that add up to m at most in absolute value (add or remove), or by two such rows of them (replace): the
   squared L2 norm is at most d m² or 2 d m². Hockey-stick divergences are jointly convex, so M is (ε, δ' + δ)-private
   wherever the Gaussian table is (ε, δ')-private, and the same holds of M followed by anything that is chosen in view
   of it.

β is an `events.Failure` beside the `events.Gaussian` of the table, also for adding up (`accounting`). ∎

**A second look at what is rare.** Most records have only frequent values, which one look finds for a part of ρ. In the
second look a record counts only in the columns in which its value was not found: with weight w(u) = floor(G/√u) in each
of u such columns, so that its weights are a vector of length G at most, whatever u is, and a record that is rare in one
column counts √d times as much there as in the first look. The person's m records move these sums by m G at most in L2
norm (√2 times that where records are replaced), and new values have mass k w(u) for k records, at most m u/k of them:
(1) becomes max over k and u of (m u/k) Q((T - k w(u))/σ) <= δ. Where k records of one new value count in different
numbers of columns, their mass is the mean of k w(u_i), and Q((T - x)/σ) is convex up to T, which no k w(u) passes under
such a δ: each record is charged Q((T - k w(u_i))/σ)/k, in u_i columns, which is at most δ/m in all. What was found in
the first look is a public fact then. Two looks may each fail; their two δ add up. Of the Adult data's ten columns two
looks leave about half as many records without their value as one does.

**Columns alike.** Where several columns have one list of values, as the questions of a survey do, the second look
counts them together: cells are pairs of a group of columns and a value, and a record counts once in each cell of which
it has the value in any column of the group, however many these are. It has at most one cell for each column, so u <= d,
and its weights over cells are the same vector of length G at most; a value is new where D0 has it in no column of the
group; and a record is in no cell twice, so k records have mass Σ w(u_i) there as above. So all of (1), (2) and the
second look holds of cells in place of columns, for the same noise and threshold. (Were a record in a cell as often as
it gave that answer, one that gave it everywhere would have a mass of √d G there and be shown.) An answer of one in a
hundred to each of eighty questions is one that half of the records gave somewhere: it is found as the frequent ones
are. Which columns are alike must follow from their names and from what the first look has shown.

**Why not the optimal thresholds of one column.** Desfontaines, Voss, Gipson, Mandayam (2022) show which rule shows a
value of one column with the largest probability under (ε, δ). As d columns and what follows them share a promise, what
counts is its ρ, and there their rule with ε = √(2ρ) needs about log(1/δ)/ε records where this one needs
√(2 log(1/δ))/ε, for one column as for many.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.special import log_ndtr, ndtri

from ...errors import RequestError
from ...runtime.counter_tables import Integers
from ..budget import EACH_RECORD, Neighbours, PrivacyUnit, Sensitivity
from ..calibration import NoiseScale, gaussian_scale
from ..composition import Event, Failure, event_of
from ..noise.noise import add_noise
from ..noise.randomness import Source
from ..replay.laws import ShownValues
from ..replay.tape import drawn

WEIGHT = 1000
"""G."""
MARGIN = 1e-6
"""Relative, of the floating-point tail; its errors are a thousandth of that."""

OTHER, RARER = 0.5, 0.8
"""What values that are not found take of their own part from a pair of columns, and by which power of what a value
needs to be found that part falls; measured, as `APART`, on surveys of schooling and of health."""
APART = 0.2
"""What noise takes of a cell that it hides, as most of it follows from single columns."""
OFTEN = 0.1
"""Part of the records beyond which a value need not be rare to be hidden."""
MEAN_SIZE, MOST_COMPARED = math.sqrt(2.0 / math.pi), 12
"""Of a normal number of deviation 1; and of how many columns pairs are looked at."""


@dataclass(frozen=True)
class ValueSelection:
    """How values are found, from public facts."""

    columns: int  # D.
    noise: NoiseScale  # Of every count.
    threshold: int  # T: a value is shown when its noisy count is larger.
    failure: Fraction  # Δ: how likely it is at most that a value is shown which one person alone has.
    moved: Sensitivity  # How far one person moves the counts of everybody else's values.
    weight: int = 1  # G: what a record counts that is rare in one column alone, in a second look; 1 in the first.

    @property
    def error(self) -> float:
        """Standard deviation of the noise, in records of weight G."""
        return math.sqrt(self.noise.variance) / self.weight

    @property
    def events(self) -> tuple[Event, ...]:
        """What it does to privacy."""
        return event_of(self.moved, self.noise), Failure(self.failure)

    def found_from(self, chance: float = 0.95) -> float:
        """How many records of weight G a value needs so as to be found with this probability."""
        return self.threshold / self.weight + self.error * float(ndtri(chance))


@dataclass(frozen=True)
class FirstLook:
    """What a first look has made public: how frequent values are, and how many records have another one."""

    selection: ValueSelection  # Of the look.
    records: float  # About how many there are.
    found: tuple[np.ndarray, ...]  # Shares of the values of each column, float64 (values,).
    # Of each column the share of all others; noise may make it negative, so that their mean is right.
    rest: tuple[float, ...]

    @classmethod
    def of(
        cls, selection: ValueSelection, shown: Sequence[Mapping[str, int]], missing: Sequence[float], records: float
    ) -> FirstLook:
        """By the noisy counts of values, and of records that miss one, in every column.

        A column in which nothing was found, though rare values would have been, is taken for one of free text.
        """
        found = tuple(np.array(sorted(one.values()), np.float64) / records for one in shown)
        gaps = [max(0.0, one) / records for one in missing]
        rest = tuple(1.0 - float(one.sum()) - gap for one, gap in zip(found, gaps, strict=True))
        told = [place for place, one in enumerate(found) if len(one) or selection.found_from() > OFTEN * records]
        return cls(selection, records, tuple(found[place] for place in told), tuple(rest[place] for place in told))

    def lost(self, again: ValueSelection) -> float:
        """What a pair of columns is expected to lose, as a part of its records, by what a second look does not find."""
        rest = max(0.0, float(np.mean(self.rest or (0.0,))))
        needed = again.found_from() * math.sqrt(max(1.0, rest * self.selection.columns))  # rare in so many columns
        return OTHER * rest * float(min(1.0, needed / self.selection.found_from()) ** RARER)

    def hidden(self, mu: float, columns: int) -> float:
        """What noise is expected to take from a pair, with a whole promise of μ for all pairs of so many columns.

        Values that were not found are supposed to be half as frequent as those that are.
        """
        noise = math.sqrt(self.selection.moved.l2_squared / self.selection.columns * math.comb(columns, 2) * 2) / mu
        half = self.selection.found_from() / 2.0
        cells = []
        for one, rest in list(zip(self.found, self.rest, strict=True))[:MOST_COMPARED]:
            others = max(0.0, rest)
            many = max(1.0, others * self.records / half)
            cells.append((np.append(one, others / many) * self.records, np.append(np.ones(len(one)), many)))
        errors = [
            of_one @ np.minimum(noise * MEAN_SIZE, APART * np.outer(one, other) / self.records) @ of_other
            for (one, of_one), (other, of_other) in combinations(cells, 2)
        ]
        return float(np.mean(errors)) / (2.0 * self.records) if errors else 0.0


def plan_values(
    columns: int,
    rho: Fraction,
    failure: Fraction,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    unit: PrivacyUnit = EACH_RECORD,
    *,
    again: bool = False,
) -> ValueSelection:
    """How values of so many columns are found for ρ and a chance of failure; or again, in a second look.

    RequestError when there is no chance of failure, without which no value can be shown that nobody has said.
    """
    if failure <= 0:
        raise RequestError(
            "Values of categories cannot be found under a pure promise, as one that a single person has would show "
            "that person: give a delta, such as 1e-6, or type the values."
        )
    moved = values_sensitivity(columns, neighbours, unit, again=again)
    noise = gaussian_scale(moved, rho)
    masses = [(u, int(weights(u)[u])) for u in range(1, columns + 1)] if again else [(columns, 1)]
    threshold = least_threshold(noise.parameter, masses, unit.records, failure)
    return ValueSelection(columns, noise, threshold, failure, moved, WEIGHT if again else 1)


def weights(columns: int) -> Integers:
    """w(u) of a record that counts in u columns, int64 (columns + 1,); that of none is 0."""
    return np.array([0, *(math.isqrt(WEIGHT**2 // u) for u in range(1, columns + 1))], np.int64)


def values_sensitivity(columns: int, neighbours: Neighbours, unit: PrivacyUnit, *, again: bool = False) -> Sensitivity:
    """How far one person moves the counts of values of so many columns; see the proof at the top."""
    times = 1 if neighbours is Neighbours.ADD_REMOVE else 2
    if again:
        longest = int((np.arange(columns + 1) * weights(columns)).max())
        return Sensitivity(times * longest, times * WEIGHT**2).scaled(unit.records)
    return Sensitivity(times * columns, times * columns, unit_shifts=True).scaled(unit.records)


def least_threshold(sigma2: Fraction, masses: Sequence[tuple[int, int]], records: int, failure: Fraction) -> int:
    """T, for pairs of how many columns a record counts in and with which weight; see the proof at the top."""
    sigma, limit = math.sqrt(float(sigma2)), math.log(float(failure)) - MARGIN
    shares = np.unique(np.geomspace(1, records, 64).astype(np.int64)) if records > 64 else np.arange(1, records + 1)
    # Between two that are tried, k is the lower one at least below the line and the higher one at most above it.
    above = np.append(shares[1:] - 1, records)
    above = np.maximum(above, shares)

    def fits(threshold: int) -> bool:
        return all(
            math.log(columns * records) + float((log_ndtr((above * mass - threshold) / sigma) - np.log(shares)).max())
            <= limit
            for columns, mass in masses
        )

    low, high = 0, 1
    while not fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def shown_values(
    counts: Sequence[Mapping[str, int]], selection: ValueSelection, source: Source | None = None
) -> list[dict[str, int]]:
    """The values of each column that pass the threshold, with their noisy counts, those of the largest first.

    `counts`: Exact and private: how many records have each value, one mapping a column; each count is at least 1.
    `selection`: How. `source`: Where the random bits come from; the operating system unless this is a test or a lesson.
    """
    if len(counts) != selection.columns:
        raise ValueError("Values are found in as many columns as were paid for.")
    keys = [sorted(column) for column in counts]
    exact = [np.array([column[key] for key in listed], np.int64) for column, listed in zip(counts, keys, strict=True)]
    if any(len(one) and one.min() < 1 for one in exact):
        raise ValueError("A value that nobody has is none to be found.")
    law = ShownValues(selection.noise.parameter, selection.threshold, selection.columns)
    private = source is None or source.private

    def draw() -> list[list[tuple[str, int]]]:
        noisy = [add_noise(one, selection.noise, source) if len(one) else one for one in exact]
        if not any(map(len, exact)):  # bits are drawn all the same, as it is a draw that nothing came out of
            add_noise(np.zeros(1, np.int64), selection.noise, source)
        return [
            [(listed[place], int(one[place])) for place in np.flatnonzero(one > selection.threshold)]
            for listed, one in zip(keys, noisy, strict=True)
        ]

    shown = drawn(law, list(zip(keys, exact, strict=True)), draw, private)
    return [dict(sorted(column, key=lambda one: (-one[1], one[0]))) for column in shown]
