"""What was found out of a table's columns under a promise, and the declaration that it comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.special import ndtri

from ..domain import Categorical, Domain
from ..domain.column_entries import columns_of, on_earth
from ..domain.columns import Column
from ..domain.declarations import Declaration, in_flow, stated
from ..domain.formats import Format
from ..errors import RequestError
from ..formatting.numbers import listed, rounded
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, decimal_text
from ..privacy.choosing.partition_selection import ValueSelection
from ..privacy.neighbours import PrivacyUnit
from .discovery_reading import LEAST_POWER, STEPS, SURE, Scale
from .manifest import Finding

OTHER, MISSING = "other", "missing"
SURELY = 3.0
"""Standard deviations above the threshold from which a count enters what a release says of its column.

A value is found where its noisy count passes the threshold, so counts near it are too high on average, the more so the
rarer the value is. A count that enters where it is T' or more, with noise s, is off by s φ((T' - x)/s) on average over
all that noise may do, x being the truth, where the release's own count is taken otherwise; and a value with so many
records is found all but surely. The weight of the count is l = r²/(r² + s²) beside the release's own noise r, so all
that is ever added to a standard error is at most l s φ(0) <= 0.2 r, and that at x = T' alone.
"""
OCCUPIED, BESIDE, FAR = 3.5, 2.5, 4.5
"""Standard deviations of noise from which a cell is taken to be part of a range: near one that is, beside it, and
elsewhere, where there are so many cells that one of them is likely to have much noise."""
NEAR = 3
"""Cells."""
HIDDEN, LOST, JUMP = 0.02, 0.05, 0.1
"""Shares of the records that noise may hide: of a step, in each part of a range; beyond its end; and beyond an end
beside a part that holds more than may be hidden."""
HEAPED = 0.1
"""Share by which more are whole multiples of a step than if finer numbers were equally frequent, for a heap."""
NEARLY = 1e-9  # Of a step, by which a number in floating point may miss a whole multiple of it.
LEAST_FOUND = 0.05
"""Share of the records whose values must be found for a column to be one of categories, and no free text."""


@dataclass(frozen=True)
class Measured:
    """A number that was released with noise.

    Attributes
    ----------
    count : float
        As it came out, without bias; noise may make it negative.
    error : float
        Its standard deviation.
    """

    count: float
    error: float

    @property
    def text(self) -> str:
        """For a person."""
        return f"about {rounded(max(0.0, self.count), self.error)}"


@dataclass(frozen=True)
class FoundColumn:
    """What is known of one column.

    Attributes
    ----------
    name : str
        Of the source's column.
    column : Column | None
        As a domain has it; None where nothing could be found that a domain can say, and the column is left out.
    said : bool
        Whether its owner had said it, so that nothing was bought about it.
    format : str
        How its values are written, in words; "" where that goes without saying.
    why : str
        Why it is left out, in a sentence; "" where it is not.
    values : Mapping[str, Measured]
        Values of a category that were found, the most frequent first, and how many records have each.
    other, missing, zero : Measured | None
        How many records have a value that was not found, none at all, and the number 0; None where nobody looked.
    heaps : Mapping[float, Measured]
        Round numbers of whose whole multiples there are more than of others, with how many records have one; 0 apart.
    rare : tuple[str, ...]
        Values that were found in a second look, in which records that are rare in several columns count less: at least
        so many records have them.
    sure : tuple[str, ...]
        Values whose counts owe nothing to having been found; see `SURELY`.
    """

    name: str
    column: Column | None
    said: bool = False
    format: str = ""
    why: str = ""
    values: Mapping[str, Measured] = field(default_factory=dict, hash=False)
    other: Measured | None = None
    missing: Measured | None = None
    zero: Measured | None = None
    heaps: Mapping[float, Measured] = field(default_factory=dict, hash=False)
    rare: tuple[str, ...] = ()
    sure: tuple[str, ...] = ()


@dataclass(frozen=True)
class Discovered:
    """What was found out of a table, for a price; whatever is made of it costs nothing more.

    Attributes
    ----------
    columns : tuple[FoundColumn, ...]
        All columns but that of the persons, in the order of the table.
    records : Measured
        How many records there are.
    cost : Cost | None
        What it promises by itself, and what the ledger adds up; None where nothing had to be bought.
    share : str
        Which part of the whole promise it is, such as "0.1": of ε where that is pure, and of ρ under a delta.
    whole : Budget
        The promise that it is a part of.
    left : Budget
        What the same promise leaves for one release that comes after it, as an entry of its own.
    unit : PrivacyUnit
        Who one person is.
    record : str
        What one row is, in words, where that was said.
    """

    columns: tuple[FoundColumn, ...]
    records: Measured
    cost: Cost | None
    share: str
    whole: Budget
    left: Budget
    unit: PrivacyUnit
    record: str = ""

    def __getitem__(self, name: str) -> FoundColumn:
        """One column by its name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def heaps(self) -> list[str]:
        """Where numbers pile up, a sentence a column."""
        said = []
        for one in self.columns:
            piles = [f"{self._part(count)} have a multiple of {step:g}" for step, count in one.heaps.items()]
            if one.zero is not None and noticeable(one.zero.count, one.zero.error):
                piles.insert(0, f"{self._part(one.zero)} records have 0")
            if piles:
                said.append(f"{one.name!r}: {listed(piles)}.")
        return said

    def _part(self, found: Measured) -> str:
        """How many records that is, for a person: noise may say more than there are."""
        return "nearly all" if found.count >= self.records.count else found.text

    @property
    def price(self) -> str:
        """What it cost, in words: "ε = 0.1", or "a share of 0.1 of ε = 1 with δ = 0.000001"."""
        if self.cost is None:
            return "nothing"
        if self.whole.pure:
            return self.cost.describe()
        whole = f"ε = {decimal_text(self.whole.epsilon)}, δ = {decimal_text(self.whole.delta)}"
        return f"a share of {self.share} of {whole}"

    @cached_property
    def domain(self) -> Domain:
        """The columns that can be used, by what was said and found; RequestError where there is none."""
        columns = tuple(one.column for one in self.columns if one.column is not None)
        if not columns:
            raise RequestError(
                "Nothing was found that a table could be made of, as noise hides so few records; say more."
            )
        return Domain(columns, unit=self.unit, scale="box", record=self.record)

    @property
    def declaration(self) -> Declaration:
        """The same as a declaration, to be corrected like any other."""
        return Declaration(self.domain)

    def text(self) -> str:
        """A declaration file, which says of every column whether it was found and of those left out why."""
        said = {one.name for one in self.columns if one.said}
        lines = [f"# What is marked as found was bought for {self.price}; to correct it costs nothing."]
        head, listed = self.declaration.text().split("columns:\n")
        lines += [*head.splitlines(), "columns:"]
        entries = stated(self.domain.columns)
        for (name, _), line in zip(entries.items(), listed.splitlines(), strict=True):
            lines.append(line if name in said else f"{line}  # found")
        lines += [f"  # {in_flow(one.name)}: left out. {one.why}" for one in self.columns if one.column is None]
        return "\n".join(lines) + "\n"

    @property
    def kept(self) -> Finding:
        """What a release file says of it."""
        found = tuple(one for one in self.columns if not one.said and one.column is not None)
        counts = {one.name: {value: measured.count for value, measured in one.values.items()} for one in found}
        errors = [measured.error for one in found for measured in one.values.values()]
        return Finding(
            self.price,
            tuple(one.name for one in found),
            self.records.count,
            self.records.error,
            {name: values for name, values in counts.items() if values},
            max(errors, default=0.0),
            {one.name: one.sure for one in found if one.sure},
            max((one.values[value].error for one in found for value in one.sure), default=0.0),
        )


def beside(
    columns: Sequence[FoundColumn], others: Sequence[FoundColumn], order: Sequence[str]
) -> tuple[FoundColumn, ...]:
    """What was said and what was found, in the order of the table."""
    known = {one.name: one for one in (*columns, *others)}
    return tuple(replace(known[name], name=name) for name in order if name in known)


def counted_as(one: Format) -> str:
    """What a column of a format is counted as in a range: "number", "date", or "" for nothing."""
    return {"number": "number", "time": "number", "duration": "number", "date": "date"}.get(one.kind, "")


ON_MISSING = {"on_missing": "category"}
"""Of numbers, dates and yes or no: noise hides how many records miss a value, and none of them is left out for it."""


def found_category(
    name: str, shown: Sequence[dict[str, int]], looks: Sequence[ValueSelection], records: Measured, missing: Measured
) -> FoundColumn:
    """A column of categories by the values that were found, in each look."""
    values = {
        value: Measured(count / look.weight, look.error)
        for one, look in zip(shown, looks, strict=True)
        for value, count in one.items()
    }
    found = sum(one.count for one in values.values())
    spread = math.sqrt(records.error**2 + missing.error**2 + sum(one.error**2 for one in values.values()))
    other = Measured(records.count - found - max(0.0, missing.count), spread)
    if found < LEAST_FOUND * records.count or not values:
        why = "Hardly any of its values is shared by so many people that it could be shown: it may be free text."
        return FoundColumn(name, None, False, "", why, values, other, missing)
    rest, gap = (_unlike(label, values) for label in (OTHER, MISSING))
    gap = gap if noticeable(missing.count, missing.error) else rest
    categories = dict.fromkeys((*values, rest, gap))
    column = Categorical(name, tuple(categories), missing_category=gap, unknown_category=rest)
    rare = tuple(shown[1]) if shown[1:] else ()
    least = looks[0].threshold / looks[0].weight + SURELY * looks[0].error
    sure = tuple(value for value in shown[0] if values[value].count > least)
    return FoundColumn(name, column, False, "", "", values, other, missing, rare=rare, sure=sure)


def _unlike(label: str, values: Iterable[str]) -> str:
    """A name for a category that is none of the values, whatever their case."""
    return f"({label})" if label in {value.strip().lower() for value in values} else label


def found_range(scale: Scale, noisy: np.ndarray, error: float, missing: Measured) -> FoundColumn:
    """A column of numbers or dates by its range."""
    words = "" if scale.format is None else scale.format.words
    ends = ends_of(scale, noisy, error)
    if ends is None:
        why = "Too few people have a value in it for a range to stand out of the noise: say its bounds."
        return FoundColumn(scale.name, None, False, words, why, missing=missing)
    entry: dict[str, object] = dict(scale.format.entry) if scale.format is not None else {"kind": scale.kind}
    zero, heaps = None, {}
    if scale.kind == "date":
        first, last = (int(end) for end in ends)
        entry |= {"first": f"{first}-01-01", "last": f"{max(first, last - 1)}-12-31"}
    else:
        step = step_of(noisy, error)
        low, high = on_earth(scale.name, *rounded_outward(*ends, step))
        entry |= {"low": low, "high": high} | ({"step": step} if step else {})
        zero = Measured(float(noisy[-1]), error)
        heaps = {one: Measured(count, spread) for one, count, spread in heaps_of(noisy, error)}
    (column,) = columns_of(scale.name, entry | ON_MISSING)
    return FoundColumn(scale.name, column, False, words, missing=missing, zero=zero, heaps=heaps)


def ends_of(scale: Scale, noisy: np.ndarray, error: float) -> tuple[float, float] | None:
    """Between which numbers nearly all values lie, by what stands out of the noise; None where nothing does."""
    coarse = noisy[: scale.coarse].astype(float)
    parts = noisy[scale.coarse : scale.coarse * (1 + scale.parts)].astype(float).reshape(-1, scale.parts)
    most = int(np.argmax(coarse))
    if coarse[most] <= OCCUPIED * error:
        return None
    ways = (range(most - 1, -1, -1), range(most + 1, scale.coarse))
    first, last = (_reached(coarse, most, way, error) for way in ways)
    records = float(coarse[first : last + 1].sum())
    low = first * scale.parts + _trimmed(parts[first], records, error)
    high = (last + 1) * scale.parts - _trimmed(parts[last][::-1], records, error)
    ends = scale.edge(low), scale.edge(max(high, low + 1))
    least = 2.0**LEAST_POWER  # what is nearer to zero is zero
    return (0.0 if -least <= ends[0] < least < ends[1] else ends[0]), (
        0.0 if ends[0] < -least < ends[1] <= least else ends[1]
    )


def _reached(coarse: np.ndarray, most: int, way: range, error: float) -> int:
    """The last cell on the way outwards that stands out of the noise."""
    last = most
    for cell in way:
        away = abs(cell - last)
        if coarse[cell] > error * (BESIDE if away == 1 else OCCUPIED if away <= NEAR else FAR):
            last = cell
    return last


def _trimmed(parts: np.ndarray, records: float, error: float) -> int:
    """How many parts of an outermost cell hold nearly nobody, from its outer end on.

    They do where what is counted in them is noise, and noise hides few records in so many parts.
    """
    if parts.sum() < SURE * error:
        return 0
    sums, spread = np.cumsum(parts), error * np.sqrt(np.arange(1, len(parts) + 1))
    empty = sums <= np.maximum(0.002 * records, SURE * spread)
    kept = len(parts) - 1 if empty.all() else int(np.argmin(empty))
    if error * math.sqrt(len(parts)) <= HIDDEN * records:
        return kept
    most = np.maximum(sums, 0.0) + float(ndtri(0.95)) * spread  # that may lie there, but for one time in twenty
    while kept and most[kept - 1] > LOST * records:
        if parts[kept] > max(OCCUPIED * error, most[kept - 1]) and most[kept - 1] <= JUMP * records:
            break
        kept -= 1
    return kept


def step_of(noisy: np.ndarray, error: float) -> float:
    """What nearly all numbers are whole multiples of; 0 where nothing is.

    Of one that is coarser than 1 noise must leave no doubt, as values between would be counted with others.
    """
    votes = noisy[-len(STEPS) - 1 : -1].astype(float)
    records = max(float(votes.sum() + noisy[-1]), 0.0)
    finer = np.append(np.cumsum(votes[::-1])[::-1][1:], 0.0)  # votes for all steps after each
    hidden = SURE * error * np.sqrt(np.arange(len(STEPS))[::-1])
    told = finer <= np.maximum(HIDDEN * records, hidden)
    sure = (hidden <= HIDDEN * records) & (np.cumsum(votes) > OCCUPIED * error * len(STEPS) ** 0.5)
    return next(one for place, one in enumerate(STEPS) if told[place] and (one <= 1.0 or sure[place]))


def heaps_of(noisy: np.ndarray, error: float) -> Iterator[tuple[float, float, float]]:
    """Round numbers of which more records have a whole multiple, other than 0, than if finer ones were as frequent.

    With how many records that are, and the standard deviation of it; of two of which as many have one, the rounder.
    """
    sums, step, said = np.cumsum(noisy[-len(STEPS) - 1 : -1].astype(float)), step_of(noisy, error), 0.0
    for place, (one, finer) in enumerate(pairwise(STEPS)):
        if finer and finer >= step:
            # What is said already is left aside: of all others, are there more than their share?
            these, all_of, spread = sums[place] - said, sums[place + 1] - said, error * math.sqrt(place + 2)
            if these - all_of * finer / one > max(HEAPED * all_of, OCCUPIED * spread):
                said = float(sums[place])
                yield one, said, error * math.sqrt(place + 1)


def found_plainly(name: str, one: Format, missing: Measured) -> FoundColumn:
    """A column whose format says all of it, or of which nothing more is found."""
    if one.kind == "yes_no":
        (column,) = columns_of(name, dict(one.entry) | ON_MISSING)
        return FoundColumn(name, column, False, one.words, missing=missing)
    why = {
        "text": "It is free text; its length or chosen words can be said.",
        "identifier": "Its values name one person or thing each.",
        "nothing": "Nearly nobody has a value in it, or too few to be told from noise.",
    }.get(one.kind, "Values of categories cannot be found under a pure promise: type them, or give a delta.")
    return FoundColumn(name, None, False, one.words, why, missing=missing)


def rounded_outward(low: float, high: float, step: float) -> tuple[float, float]:
    """Ends that people would say: in tenths of the power of ten of their distance, or whole steps where these are
    more. A high end above zero is that of a cell without it, so whole numbers end below it: of 0 and 1, with 1."""
    if step and high > 0.0:
        first = math.ceil(low / step - NEARLY) * step
        last = (math.ceil(high / step - NEARLY) - 1) * step if step >= 1.0 else high
        low, high = (first, max(last, first + step)) if first <= last else (low, high)
    if 0.0 < low <= 0.1 * high:
        low = 0.0
    width = max(high - low, step, 1e-12)
    nice = max(10.0 ** math.floor(math.log10(width)) / 10.0, step)
    ends = math.floor(low / nice + NEARLY) * nice, math.ceil(high / nice - NEARLY) * nice
    return float(f"{ends[0]:.12g}"), float(f"{ends[1]:.12g}")


def noticeable(count: float, error: float) -> bool:
    """Whether a noisy number is more than noise."""
    return count > OCCUPIED * error
