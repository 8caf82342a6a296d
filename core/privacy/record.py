"""What a release promises, for ever: the part of its manifest that people rely on.

Most releases are one table, with a count of records at most. One of several parts has a table with noise of its own for
each of them, read off the same records: one person moves all of them at once, so their events add up
(`core.sketches.parts`), and one promise holds for everything in the file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..errors import ReleaseFileError, RequestError
from ..runtime.parameters import exact_fields, field_names
from .budget import (
    DELTA_PLACES,
    EPSILON_PLACES,
    Budget,
    Neighbours,
    PrivacyUnit,
    Sensitivity,
    decimal_text,
    exact_decimal,
)
from .calibration import NoiseScale, largest_rho, parse_fraction, weighed
from .composition import Event, Gaussian, event_of, gaussian_keeps, keeps_promise, pure_sum, total_rho

PURE_THEOREM = (
    "Every counter has independent discrete Laplace noise of scale L1 sensitivity / epsilon "
    "(Ghosh, Roughgarden, Sundararajan 2009; RACE: Coleman, Shrivastava 2021, Theorem 3.2)."
)
VECTOR_THEOREM = (
    "Every vector of counters has independent noise with density proportional to exp(-length x epsilon / L2 "
    "sensitivity); it is rounded, which is to round the noisy sums, so that costs nothing (K-norm mechanism: Hardt, "
    "Talwar 2010)."
)
COUNT_THEOREM = (
    "The number of records has discrete Laplace noise of scale L1 sensitivity / epsilon (Ghosh, Roughgarden, "
    "Sundararajan 2009)."
)
GAUSSIAN_THEOREM = (
    "Every counter has independent discrete Gaussian noise; rho = L2 sensitivity squared / (2 sigma squared) "
    "(Canonne, Kamath, Steinke 2020, Theorem 4)."
)
PARTS_THEOREM = (
    "Every part has noise of its own, and what the parts cost adds up: epsilon for pure noise, rho for Gaussian noise, "
    "and epsilon again where there is some of each (Dwork, Roth 2014, Theorem 3.16)."
)
LOCAL_THEOREM = (
    "Every person's own device sent one randomised report, no more than e^epsilon times likelier for one record than "
    "for another, and the table is made of these reports alone (post-processing: Dwork, Roth 2014, Proposition 2.1)."
)
SHARED_THEOREM = (
    "Every counter has the parts of all owners, of which those of the honest ones alone add up to discrete Laplace "
    "noise of scale L1 sensitivity / epsilon (infinitely divisible: Goryczka, Xiong 2017), and the rest post-processes."
)
THEOREMS = {
    "shared_laplace": SHARED_THEOREM,
    "rounded_l2": VECTOR_THEOREM,
    "discrete_laplace": PURE_THEOREM,
    "discrete_gaussian": GAUSSIAN_THEOREM,
    "local_reports": LOCAL_THEOREM,
}

MAX_PARTS = 1_000  # Releases that one record may be merged of, when it comes from a file.
MAX_TABLES = 50  # Tables of one release that have noise of their own.
LARGEST_PARAMETER = 1 << 112  # No sampler draws noise of a larger scale, as it would not fit 64-bit counters.


@dataclass(frozen=True)
class PrivacyRecord:
    """The promise of one release, or of several merged ones."""

    # The promise to a person whose records are in one of the merged parts.
    epsilon: Decimal
    delta: Decimal
    neighbours: Neighbours  # What is hidden: presence, or what the records say.
    unit: PrivacyUnit  # Who one person is.
    # Of every counter of the table, one entry a merged release; of several tables, one entry each, release by release.
    noise: tuple[NoiseScale, ...]
    # Of the number of records, one entry a merged release; empty when the count was not released apart. Where several
    # counts have noise, one entry each, release by release.
    count_noise: tuple[NoiseScale, ...]
    # Zero-concentrated privacy of each part's release, exact (zCDP; the largest of the parts); all that a part spent,
    # be it on the table, on the count or on bounds.
    rho: Fraction
    # The promise to a person whose records are in every merged part; the sums.
    overlap_epsilon: Decimal
    overlap_delta: Decimal
    tables: int = 1  # How many tables have noise of their own; 1 for an ordinary release.

    @property
    def pure(self) -> bool:
        """Whether the promise holds with certainty."""
        return self.delta == 0

    @property
    def local(self) -> bool:
        """Whether some of the noise was made by people's own devices."""
        return any(scale.local for scale in self.noise)

    @property
    def budget(self) -> Budget:
        """The promise as a budget."""
        return Budget(self.epsilon, self.delta, self.neighbours)

    @property
    def releases(self) -> int:
        """How many releases were merged; 1 for an ordinary one."""
        return len(self.noise) // self.tables

    @property
    def counts(self) -> int:
        """How many numbers of records have noise of their own; a list of one a class is one of them."""
        return len(self.count_noise) // self.releases

    def of_table(self, place: int, count: int | None) -> PrivacyRecord:
        """The same promise, with the noise of one table and one count.

        Whoever has the table may have the others too, so the promise is that of all together. The noise of one table
        alone would keep a stronger one.

        `place`: Of the table. `count`: Place of the count among those that have noise; None where the table has none.
        """
        counted = () if count is None else self.count_noise[count :: self.counts]
        return replace(self, noise=self.noise[place :: self.tables], count_noise=counted, tables=1)

    @property
    def theorem(self) -> str:
        """Why the promise holds."""
        kinds = {scale.distribution for scale in self.noise}
        sentences = [THEOREMS[kind] for kind in THEOREMS if kind in kinds]
        # A count has Laplace noise beside noise vectors, and else the noise of its table.
        if self.count_noise and kinds == {"rounded_l2"}:
            sentences.append(COUNT_THEOREM)
        if self.tables > 1:
            sentences.append(PARTS_THEOREM)
        return " ".join(sentences)

    @property
    def counter_variance(self) -> float:
        """Variance of the noise in one counter of the table, where there is one."""
        if self.tables > 1:
            raise TypeError("Every table of the release has noise of its own.")
        return sum(scale.variance for scale in self.noise)

    @property
    def count_variance(self) -> float:
        """Variance of the noise in the released number of records; 0 when it is public or not released apart."""
        return sum(scale.variance for scale in self.count_noise)

    def is_kept(self, tables: Sequence[Sensitivity], counts: Sequence[Sensitivity]) -> bool:
        """Whether noise of the stated scales keeps what is stated, in every merged release.

        It tells a record that contradicts itself; whether the noise was really drawn so is nothing a record can show.
        A local report hides what a record says and not that there is one, and it hides one record.

        `tables`, `counts`: How far one person moves each table, and each number of records that is not public.
        """
        if len(tables) != self.tables or (self.count_noise and len(counts) != self.counts):
            return False
        if self.local and (self.neighbours is not Neighbours.REPLACE_ONE or self.unit.records != 1):
            return False
        if any(scale.local for scale in self.count_noise):
            return False
        rhos = []
        for tables_noise, counts_noise in {self._of_release(place) for place in range(self.releases)}:
            moved = [*zip(tables, tables_noise, strict=True), *zip(counts, counts_noise, strict=False)]
            if not all(noise.fits(sensitivity) for sensitivity, noise in moved):
                return False
            events = [event_of(sensitivity, noise) for sensitivity, noise in moved]
            rhos.append(total_rho(events))
            if not self._covers(events):
                return False
        sums_fit = self.epsilon <= self.overlap_epsilon <= self.releases * self.epsilon
        # What else the release spent, on bounds say, is in its rho as well.
        return sums_fit and self.delta <= self.overlap_delta <= self.releases * self.delta and self.rho >= max(rhos)

    def _of_release(self, place: int) -> tuple[tuple[NoiseScale, ...], tuple[NoiseScale, ...]]:
        """The noise of the tables and of the counts of one of the merged releases."""
        tables, counts = place * self.tables, place * self.counts
        return self.noise[tables : tables + self.tables], self.count_noise[counts : counts + self.counts]

    def _covers(self, events: Sequence[Event]) -> bool:
        """Whether the events of tables and counts keep the promise: pure ones, Gaussian ones, or some of each."""
        pure = pure_sum(events)
        if pure is not None:
            return pure <= Fraction(self.epsilon)  # whatever delta is
        others = [event for event in events if isinstance(event, Gaussian)]
        left = Fraction(self.epsilon) - (pure_sum(event for event in events if not isinstance(event, Gaussian)) or 0)
        if self.pure or left <= 0:
            return False
        if self.tables > 1:  # by what they were calibrated by, as composing the losses of many kinds takes long
            return gaussian_keeps(others, left, self.delta)
        # The proven bounds differ by a factor of two or so; what is far off is not worth a search.
        if total_rho(others) > 16 * Fraction(largest_rho(float(left), float(self.delta))):
            return False
        return keeps_promise(events, self.epsilon, self.delta)

    def weighed(self, spread: float) -> PrivacyRecord:
        """The same promise with the noise of a weighted sum of tables that have this noise each.

        `spread`: The variance of the sum in units of theirs.
        """
        noise, count_noise = (tuple(weighed(one, spread) for one in each) for each in (self.noise, self.count_noise))
        return replace(self, noise=noise, count_noise=count_noise)

    def merged(self, other: PrivacyRecord) -> PrivacyRecord:
        """The promise of two releases whose tables are added.

        A person in one of them has that one's promise, so both have the weaker one (parallel composition); a person in
        both has the sum (basic composition).
        """
        if (self.neighbours, self.unit, self.pure) != (other.neighbours, other.unit, other.pure):
            raise RequestError(
                "Two releases can be merged only when they protect the same unit, in the same sense, both or neither "
                "with a delta, as the merged file must state one promise."
            )
        if (self.tables, self.counts) != (other.tables, other.counts):
            raise RequestError("Two releases can be merged only when both or neither released a count of records.")
        return PrivacyRecord(
            max(self.epsilon, other.epsilon),
            max(self.delta, other.delta),
            self.neighbours,
            self.unit,
            self.noise + other.noise,
            self.count_noise + other.count_noise,
            max(self.rho, other.rho),
            self.overlap_epsilon + other.overlap_epsilon,
            self.overlap_delta + other.overlap_delta,
            self.tables,
        )

    def to_dict(self) -> dict[str, object]:
        """A value for JSON: exact numbers as text; it says how many tables there are where there are several."""
        several: dict[str, object] = {} if self.tables == 1 else {"tables": self.tables}
        return several | {
            "epsilon": decimal_text(self.epsilon),
            "delta": decimal_text(self.delta),
            "rho": str(self.rho),
            "neighbours": str(self.neighbours),
            "unit": {"column": self.unit.column, "records": self.unit.records},
            "noise": [scale.to_dict() for scale in self.noise],
            "count_noise": [scale.to_dict() for scale in self.count_noise],
            "overlap_epsilon": decimal_text(self.overlap_epsilon),
            "overlap_delta": decimal_text(self.overlap_delta),
            "theorem": self.theorem,
        }

    @classmethod
    def from_dict(cls, value: object) -> PrivacyRecord:
        """The record that `to_dict` wrote; RequestError on anything else, as the file may come from a stranger."""
        tables = value.get("tables", 1) if isinstance(value, dict) else 1
        names = [name for name in field_names(cls) if name != "tables" or tables != 1]
        facts = exact_fields(value, "privacy promise", (*names, "theorem"))
        facts.pop("theorem")
        exact = ("epsilon", "delta", "overlap_epsilon", "overlap_delta", "rho")
        try:
            if not all(isinstance(facts[key], str) for key in exact):
                raise TypeError("an exact number is written as text")
            promise = Budget(facts["epsilon"], facts["delta"], facts["neighbours"])
            overlap = (
                exact_decimal(facts["overlap_epsilon"], "The epsilon of who is in all parts", EPSILON_PLACES),
                exact_decimal(facts["overlap_delta"], "The delta of who is in all parts", DELTA_PLACES),
            )
            noise, count_noise = (
                tuple(NoiseScale.from_dict(scale) for scale in _short_list(facts[key]))
                for key in ("noise", "count_noise")
            )
            rho = parse_fraction(facts["rho"])
            if type(tables) is not int or not 1 <= tables <= MAX_TABLES:
                raise ValueError("no number of tables")
            if not noise or len(noise) % tables or len(count_noise) % (len(noise) // tables):
                raise ValueError("noise for some parts only")
            if len(count_noise) > tables * (len(noise) // tables):
                raise ValueError("more counts than tables")
            if any(scale.parameter > LARGEST_PARAMETER for scale in noise + count_noise):
                raise ValueError("out of range")
        except RequestError:
            raise
        except (KeyError, TypeError, ValueError):
            raise RequestError("The privacy promise of a release must be written in exact, finite numbers.") from None
        unit = PrivacyUnit(**exact_fields(facts["unit"], "privacy unit", field_names(PrivacyUnit)))
        return cls(promise.epsilon, promise.delta, promise.neighbours, unit, noise, count_noise, rho, *overlap, tables)


def _short_list(value: object) -> list[Any]:
    if not isinstance(value, list) or len(value) > MAX_PARTS * MAX_TABLES:
        raise ValueError("not a short list")
    return value


LARGEST_COUNT = 1 << 62


MOST_MERGED = 100_000  # Counts that are added up in one.


@dataclass(frozen=True)
class BoughtCount:
    """A number of records that was released before the table was planned, whose price is part of the promise."""

    records: int  # The noisy number.
    noise: NoiseScale  # Its noise, which is independent of that of the table.
    further: tuple[NoiseScale, ...] = ()  # Noises of the counts that were added to it, where releases were merged.

    @property
    def variance(self) -> float:
        """Of all noise in it."""
        return float(self.noise.variance + sum(noise.variance for noise in self.further))

    def plus(self, other: BoughtCount) -> BoughtCount:
        """The number of the records of both; their noises are independent, so variances add up."""
        return BoughtCount(self.records + other.records, self.noise, (*self.further, other.noise, *other.further))

    def beside(self, known: float, error: float) -> tuple[float, float]:
        """A number of the same records that is known otherwise, and this one: their mean and its standard deviation.

        Each weighs as much as it is precise (the inverse of its variance), as their noises are independent.
        """
        return both(known, error, self.records, self.variance)

    def to_dict(self) -> dict[str, object]:
        """A value for JSON."""
        further = {"further": [noise.to_dict() for noise in self.further]} if self.further else {}
        return {"records": self.records, "noise": self.noise.to_dict(), **further}

    @classmethod
    def from_dict(cls, facts: object) -> BoughtCount:
        """What `to_dict` wrote; ReleaseFileError on anything else."""
        try:
            merged = isinstance(facts, dict) and "further" in facts
            fields = ("records", "noise", *(("further",) if merged else ()))
            known = exact_fields(facts, "count that was bought", fields)
            noises = [NoiseScale.from_dict(one) for one in (known["noise"], *known.get("further", ()))]
            records = known["records"]
            if type(records) is not int or abs(records) > LARGEST_COUNT or len(noises) > MOST_MERGED:
                raise ValueError("no number of records")
            known_laws = all(one.distribution == "discrete_laplace" and not one.local for one in noises)
            if not known_laws or any(one.parameter > LARGEST_PARAMETER for one in noises):
                raise ValueError("no noise of a count")
        except (ValueError, TypeError, KeyError, RequestError):
            raise ReleaseFileError("The number of records that was bought before the release is none.") from None
        return cls(records, noises[0], tuple(noises[1:]))


def both(known: float, error: float, counted: float, variance: float) -> tuple[float, float]:
    """The mean of two measurements of one number by precision, and its deviation; their noises are independent."""
    if not error:
        return known, error
    weight = 1.0 / (1.0 + variance / error**2)
    together = counted if math.isinf(error) else (1.0 - weight) * known + weight * counted
    return together, float((weight * variance) ** 0.5)
