"""Between which numbers and dates nearly all values of a column lie, as it follows from noisy votes.

A cell of one column stands out of noise where hundreds have a value in it, so a range that went by single cells had no
end where a tail is thin, and none at all among a hundred columns of answers from 1 to 5. Two things are known besides:
how many records have a value, and which shapes columns commonly have. So a column's coarse votes are weighed against a
few thousand public shapes; and columns of one table are alike, so how common each shape is in it is
learnt of all of them together, in rounds of expectation and maximisation. A cell belongs to the range where it has more
than `RARE` of the records, more likely than not, or stands out by itself. Where dates begin and end is told to the
year, by the posterior mean of public spans. All of it is computed of what was released with noise.

The shapes are shares of the records in coarse cells, on powers of two or decades, as columns commonly have them before
anybody looked at one: bells, uniform ones, whole numbers from 1, shares of zeros, two signs. Each is loosened, so that
a cell may have half of what the shape says or half more. Of dates also spans of so many years: even, growing, falling,
bells. All of it is public.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np
from scipy.special import ndtr, ndtri

from ..domain.columns import degrees_of
from ..runtime.counter_tables import Floats, Integers
from .discovery_reading import (
    COARSE,
    COARSELY,
    DECADES,
    DOUBTFUL,
    FIRST_YEAR,
    LEAST_POWER,
    NUMBERED,
    NUMBERED_FROM,
    SURE,
    TO_A_DEGREE,
    TOGETHER,
    Scale,
)
from .found import OCCUPIED

LOOSE, SPREADING, ELSEWHERE = 0.5, 0.01, 0.001
"""By which a cell may differ from its shape: parts of what that says, and of the records, near it and elsewhere."""
LEAST_SHAPED, AROUND = 0.002, 2
"""The share from which a shape has a cell, and how many cells beside those are near it."""
THIS_DECADE = 2020
LENGTHS = (*range(1, 11), 12, 15, 18, 22, 27, 33, 40, 48, 58, 70, 85, 100, 130, 170)
"""Years that dates span."""

BESIDE, FAR = 2.5, 4.5
"""Standard deviations of noise from which a cell stands out by itself, beside as `found.OCCUPIED`: next to one that
does, and far from it, where there are so many cells that one of them is likely to have much noise."""
NEAR = 3
"""Cells."""
RARE, KEPT = 0.015, 0.8
"""Shares of the records: with more a cell belongs to a range; and so many are expected in one that is said."""
ROUNDS, ORDINARILY = 3, 4.0
"""In which the shapes of a table are learnt, and how many columns what is ordinary counts for."""
LEAST_TOGETHER = 3
"""Columns."""
LIKELIEST = 200
"""Shapes that are looked at in the end."""
HIDDEN, LOST, JUMP = 0.02, 0.05, 0.1
"""Shares of the records that noise may hide: of a step, in each part of a range; beyond its end; and beyond an end
beside a part that holds more than may be hidden."""
NEARLY_ZERO = 1e-4  # Of the other end.
NUMBERED_DECADES = (NUMBERED_FROM - FIRST_YEAR) // 10, (NUMBERED_FROM + NUMBERED * TOGETHER - FIRST_YEAR) // 10 - 1
"""The first and the last in which years are told apart where they are numbers."""
WINDOW = 20
"""Decades within which dates are told to the year."""
ARCS = np.unique((2.0 ** np.arange(0.0, 12.75, 0.25)).astype(np.int64))
"""Lengths of stretches of degrees, in finer cells, by a fifth each."""
HIDING = 0.1
"""Share of the records that noise may hide in such a stretch."""
BEYOND = 0.009
"""Share of the dates that is expected before a range of them, and after it."""


@cache
def spans_of(years: int, since: int) -> tuple[Floats, Floats]:
    """Shares of dates in each of so many years, a span a row, and how common each is anywhere: most end in our days."""
    rows, common = [], []
    for length in LENGTHS:
        place = (np.arange(length) + 0.5) / length
        even, bell = np.ones(length), np.exp(-0.5 * ((place - 0.5) / 0.2) ** 2)
        forms = ((even, 0.4), (np.exp(3.0 * place), 0.25), (np.exp(-3.0 * place), 0.1), (bell, 0.25))
        starts = range(0, years - length + 1, max(1, length // 8))
        for start, (form, often) in product(starts, forms[: 1 if length == 1 else 4]):
            row = np.zeros(years)
            row[start : start + length] = form / form.sum()
            rows.append(row)
            end = since + start + length - 1
            common.append(often * max(1, length // 8) / length * (0.02 + math.exp(-abs(end - THIS_DECADE - 4) / 8)))
    weights = np.array(common)
    return np.array(rows), weights / weights.sum()


def loosened(shapes: Floats, records: float) -> Floats:
    """By how much, squared, records of a cell may differ from what a shape says."""
    shaped = shapes > LEAST_SHAPED
    if shapes.shape[1] == 2 * COARSE + 1:
        shaped[:, COARSE] = False  # The cells beside that of zero are of millionths.
    near = shaped.copy()
    for away in range(1, AROUND + 1):
        near[:, away:] |= shaped[:, :-away]
        near[:, :-away] |= shaped[:, away:]
    return np.asarray(((np.where(near, SPREADING, ELSEWHERE)) ** 2 + (LOOSE * shapes) ** 2) * records**2, float)


@cache
def shapes_of(kind: str) -> tuple[Floats, Floats]:
    """Shares of the records in every coarse cell, a shape a row, and how common each is anywhere."""
    rows, common = zip(*(_spans_of_decades() if kind == "date" else _signed(*_octaves())), strict=True)
    weights = np.array(common)
    return np.array(rows), weights / weights.sum()


def _spans_of_decades() -> Iterator[tuple[Floats, float]]:
    """Of dates: all days of one or more decades, most often up to ours."""
    ours = (THIS_DECADE - FIRST_YEAR) // 10
    for last, decades in product(range(12, DECADES - 10), (1, 2, 3, 4, 5, 6, 8, 10)):
        row = np.zeros(DECADES)
        row[last - decades + 1 : last + 1] = 1.0 / decades
        yield row, math.exp(-abs(last - ours) / (1.0 if last > ours else 2.5)) / decades


def _octaves() -> tuple[Floats, Floats]:
    """Of numbers above zero: shares between powers of two, and how common each is."""
    powers = np.arange(LEAST_POWER, LEAST_POWER + COARSE + 1)
    ends, rows, common = 2.0**powers, [], []
    for middle, (width, often) in product(
        np.arange(-7, 27.5, 0.5), ((0.1, 0.25), (0.4, 0.2), (0.8, 0.3), (1.6, 0.2), (3.0, 0.05))
    ):  # a bell of so many octaves
        rows.append(np.diff(ndtr((powers - middle) / width)))
        common.append(0.45 * often * math.exp(-abs(middle - 5) / 4))
    for power, top in product(range(-4, 22), (1.25, 1.5, 2.0)):  # uniform from zero on
        rows.append(np.clip(np.minimum(ends[1:], top * 2.0**power) - ends[:-1], 0.0, None))
        common.append(0.12 * math.exp(-abs(power - 5) / 4))
    for last in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12):  # whole numbers from 1 on
        rows.append(np.histogram(np.arange(1, last + 1), ends)[0].astype(float))
        common.append(1.0)
    shapes = np.array(rows)
    return shapes / shapes.sum(axis=1, keepdims=True), np.array(common)


def _signed(octaves: Floats, common: Floats) -> Iterator[tuple[Floats, float]]:
    """The same with shares of zeros, and of numbers below zero."""
    signs = ((0.0, 0.93), (0.3, 0.04), (0.5, 0.02), (1.0, 0.01))
    zeros = ((0.0, 0.5), (0.1, 0.12), (0.35, 0.1), (0.6, 0.1), (0.8, 0.1), (0.95, 0.08))
    for (zero, some), (below, often) in product(zeros, signs):
        if below and zero > 0.5:
            continue
        for octave, one in zip(octaves, common, strict=True):
            row = np.concatenate([below * octave[::-1], [0.0], (1.0 - below) * octave]) * (1.0 - zero)
            row[COARSE] = zero
            yield row, one * some * often


@dataclass(frozen=True)
class Seen:
    """The noisy votes of one column."""

    scale: Scale  # Its cells.
    votes: Integers  # As `discovery_reading.Second.split` gives them.
    error: float  # Standard deviation of the noise in each.
    records: float  # About how many records have a value in it; at least 1.

    @property
    def kind(self) -> str:
        """Number, date, year where that is a number, or degrees."""
        return "year" if self.scale.of_years else "degrees" if self.scale.of_degrees else self.scale.kind

    @cached_property
    def parts(self) -> Floats:
        """Of every coarse cell; of every decade where years are numbers."""
        fine = self.votes[self.scale.fine].astype(float)
        if self.kind == "year":
            before = np.zeros((NUMBERED_FROM - FIRST_YEAR) // TOGETHER)
            return np.append(before, fine[:-1]).reshape(-1, 10 // TOGETHER)
        if self.kind == "degrees":
            return np.zeros((self.scale.coarse, self.scale.parts))
        return fine.reshape(self.scale.coarse, self.scale.parts)

    @cached_property
    def cells(self) -> Floats:
        """Records in every coarse cell, by its own votes and its parts', weighed by precision."""
        whole, weight = self.votes[: self.scale.coarse] / COARSELY, COARSELY**2 * self.scale.parts
        if self.kind in ("year", "degrees"):
            return np.asarray(whole)
        return np.asarray((whole * weight + self.parts.sum(axis=1)) / (weight + 1.0))

    @property
    def zeros(self) -> float:
        """About how many records have the number 0, by all votes that it has."""
        coarse, fine = self.cells[COARSE], float(self.votes[-1])
        weight = COARSELY**2 + 1.0 / self.scale.parts
        return max(0.0, float((weight * coarse + fine) / (weight + 1.0)))

    @property
    def variance(self) -> float:
        """Of the noise in each of `cells`."""
        return self.error**2 / (COARSELY**2 + 1.0 / self.scale.parts)


def all_ends(seen: Sequence[Seen]) -> list[tuple[float, float] | None]:
    """Between which numbers nearly all values of each column lie; None where the votes do not tell."""
    cells: list[tuple[int, int] | None] = [None] * len(seen)
    years: dict[int, tuple[float, float]] = {}
    for kind in ("number", "year", "degrees", "date"):
        places = [place for place, one in enumerate(seen) if one.kind == kind]
        for place, weights in zip(places, _weighed([seen[place] for place in places], kind), strict=True):
            cells[place] = _cells(seen[place], weights)
    dates = {place: its for place, one in enumerate(seen) if one.kind == "date" and (its := cells[place])}
    together = dates and max(last for _, last in dates.values()) - min(first for first, _ in dates.values()) < WINDOW
    for some in [dates] if together else [{place: its} for place, its in dates.items()]:
        window = min(first for first, _ in some.values()) - 3, max(last for _, last in some.values()) + 2
        if window[1] - window[0] <= WINDOW + 5:
            years |= zip(some, _years([seen[place] for place in some], *window), strict=True)
    years |= {
        place: next(_years([one], *NUMBERED_DECADES))
        for place, one in enumerate(seen)
        if cells[place] and _numbered(one)
    }
    years |= {place: arc for place, one in enumerate(seen) if one.kind == "degrees" and (arc := _arc(one))}
    found: list[tuple[float, float] | None] = []
    for place, (one, its) in enumerate(zip(seen, cells, strict=True)):
        if its is None or place in years:
            found.append(years.get(place))
            continue
        like = [(other, held) for other, held in zip(seen, cells, strict=True) if held and other.kind == one.kind]
        low, high = (
            _kept_from(one, its[side], [other for other, held in like if held[side] == its[side]], way)
            for side, way in ((0, 1), (1, -1))
        )
        found.append(_between(one, its[0] * one.scale.parts + low, (its[1] + 1) * one.scale.parts - high))
    return found


def _kept_from(seen: Seen, cell: int, alike: Sequence[Seen], way: int) -> int:
    """How many parts of its outermost cell a range begins after, by its own votes and by all columns that end there."""
    if seen.kind in ("year", "degrees"):
        return 0
    parts = seen.parts[cell][::way]
    own = _trimmed(parts, seen.records, seen.error)
    if len(alike) < LEAST_TOGETHER:
        return own
    common = np.mean([one.parts[cell][::way] for one in alike], axis=0)
    records = float(np.mean([one.records for one in alike]))
    together = _trimmed(common, records, seen.error / math.sqrt(len(alike)), DOUBTFUL)
    return together if together > own and parts[:together].sum() < SURE * seen.error * math.sqrt(together) else own


def _arc(seen: Seen) -> tuple[float, float] | None:
    """The shortest stretch that holds nearly all degrees, and a bit more on both sides; None where noise hides it."""
    most = {"latitude": 90, "longitude": 180}[degrees_of(seen.scale.name) or "longitude"] * TO_A_DEGREE
    votes = seen.votes[seen.scale.fine][180 * TO_A_DEGREE - most : 180 * TO_A_DEGREE + most].astype(float)
    sums = np.concatenate([[0.0], np.cumsum(votes)])
    for cells in ARCS[ARCS <= 2 * most]:
        hidden = seen.error * math.sqrt(cells)
        if hidden > HIDING * seen.records:
            return None
        held = sums[cells:] - sums[:-cells]
        if held.max() >= (1.0 - HIDDEN) * seen.records - hidden:
            first, spare = int(held.argmax()), max(1, int(cells) // 8)
            ends = max(0, first - spare), min(2 * most, first + int(cells) + spare)
            return (ends[0] - most) / TO_A_DEGREE, (ends[1] - most) / TO_A_DEGREE
    return None


def _numbered(seen: Seen) -> bool:
    """Whether numbers are years, as the column's name says: nearly nobody has another one."""
    return seen.kind == "year" and seen.votes[seen.scale.fine][-1] <= max(LOST * seen.records, SURE * seen.error)


def _between(seen: Seen, low: int, high: int) -> tuple[float, float]:
    """The ends of parts; what is much nearer to zero than the other end is zero."""
    ends = seen.scale.edge(low), seen.scale.edge(max(high, low + 1))
    least = max(2.0**LEAST_POWER, NEARLY_ZERO * max(map(abs, ends)))
    return (0.0 if -least <= ends[0] < least < ends[1] else ends[0]), (
        0.0 if ends[0] < -least < ends[1] <= least else ends[1]
    )


def _cells(seen: Seen, weights: Floats) -> tuple[int, int] | None:
    """The first and last coarse cell of one column, by how likely each shape is in it."""
    scale, error = seen.scale, math.sqrt(seen.variance)
    shapes, _ = shapes_of(scale.kind)
    likeliest = np.argsort(-weights, kind="stable")[:LIKELIEST]
    weights, shapes = weights[likeliest] / weights[likeliest].sum(), shapes[likeliest]
    loose = loosened(shapes, seen.records)
    taken = loose / (loose + seen.variance)
    masses = seen.records * shapes + taken * (seen.cells - seen.records * shapes)
    spreads = np.sqrt(taken * seen.variance)
    held = weights @ ndtr((masses - RARE * seen.records) / spreads) > 0.5
    shares = weights @ np.maximum(masses, 0.0)
    most = int(np.argmax(seen.cells))
    if seen.cells[most] > OCCUPIED * error:
        ways = range(most - 1, -1, -1), range(most + 1, scale.coarse)
        held[[_reached(seen.cells, most, way, error) for way in ways]] = True
    cells = np.flatnonzero(held)
    if not len(cells) or shares[cells[0] : cells[-1] + 1].sum() < KEPT * shares.sum():
        return None
    return int(cells[0]), int(cells[-1])


def _weighed(seen: Sequence[Seen], kind: str) -> Floats:
    """How likely each shape is in each column, of columns of one kind: (columns, shapes), each row adding up to 1."""
    if not seen:
        return np.zeros((0, 0))
    shapes, ordinary = shapes_of(kind)
    # Columns of about as many records are weighed together, as the loosened shapes are theirs alone.
    about = np.rint(np.log([one.records for one in seen]) * 20.0) / 20.0
    fits = np.zeros((len(seen), len(shapes)))
    for size in np.unique(about):
        places, records = np.flatnonzero(about == size), math.exp(size)
        variance = seen[0].variance
        inverse = 1.0 / (variance + loosened(shapes, records))
        cells = np.array([seen[int(place)].cells for place in places])
        towards = records * shapes * inverse
        alone = 0.5 * (np.log(inverse) - records * shapes * towards).sum(axis=1)
        fits[places] = cells @ towards.T - 0.5 * (cells**2) @ inverse.T + alone
    return _learnt(fits, ordinary)


def _learnt(fits: Floats, ordinary: Floats) -> Floats:
    """How likely each shape is in each column, by how it fits there and by how common it is in the table."""
    prior = ordinary
    for _ in range(ROUNDS if len(fits) >= LEAST_TOGETHER else 0):
        prior = (ORDINARILY * ordinary + _normalised(fits + np.log(prior)).sum(axis=0)) / (ORDINARILY + len(fits))
    return _normalised(fits + np.log(prior))


def _years(seen: Sequence[Seen], first: int, last: int) -> Iterator[tuple[float, float]]:
    """The first year of each column of dates and the one after its last, within decades that hold them all."""
    first, last = max(0, first), min(DECADES - 1, last)
    spans, ordinary = spans_of(10 * (last - first + 1), FIRST_YEAR + 10 * first)
    both = np.hstack([spans, spans.reshape(len(spans), -1, 10).sum(axis=2)])
    fives, fits = spans.reshape(len(spans), -1, TOGETHER).sum(axis=2), []
    for one in seen:
        parts, coarse = one.parts[first : last + 1].ravel(), one.votes[: one.scale.coarse] / COARSELY
        votes, shares, noise = parts, fives, np.full(len(parts), one.error)
        if one.kind == "date":
            votes, shares = np.concatenate([parts, coarse[first : last + 1]]), both
            noise = np.where(np.arange(len(votes)) < len(parts), one.error, one.error / COARSELY)
        variance = noise**2 + ((LOOSE * shares) ** 2 + SPREADING**2) * one.records**2
        fits.append(-0.5 * ((votes - one.records * shares) ** 2 / variance + np.log(variance)).sum(axis=1))
    for one, weights in zip(seen, _learnt(np.array(fits), ordinary), strict=True):
        shares = np.cumsum(weights @ spans)
        low, high = np.searchsorted(shares, BEYOND), np.searchsorted(shares, shares[-1] - BEYOND)
        parts, each = one.parts[first : last + 1].ravel(), TOGETHER if one.kind == "year" else 1
        seen_there = _surely_held(parts, one.records, one.error) * each
        kept = [int(low), int(high), *seen_there, *(seen_there + each - 1)]
        yield FIRST_YEAR + 10.0 * first + min(kept), FIRST_YEAR + 10.0 * first + max(kept) + 1


def _surely_held(parts: Floats, records: float, error: float) -> Integers:
    """Places of cells that surely hold records, or without which surely more than a few would lie beyond an end."""
    most = np.maximum(FAR * error * np.sqrt(np.arange(1, len(parts) + 1)), RARE * records)
    before, after = np.cumsum(parts) > most, (np.cumsum(parts[::-1]) > most)[::-1]
    ends = [*np.flatnonzero(before)[:1], *np.flatnonzero(after)[-1:]]
    return np.array([*np.flatnonzero(parts > max(FAR * error, RARE * records)), *ends], np.int64)


def _normalised(logarithms: Floats) -> Floats:
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), float)


def _reached(coarse: np.ndarray, most: int, way: range, error: float) -> int:
    """The last cell on the way outwards that stands out of the noise."""
    last = most
    for cell in way:
        away = abs(cell - last)
        if coarse[cell] > error * (BESIDE if away == 1 else OCCUPIED if away <= NEAR else FAR):
            last = cell
    return last


def _trimmed(parts: np.ndarray, records: float, error: float, sure: float = SURE) -> int:
    """How many parts of an outermost cell hold nearly nobody, from its outer end on.

    They do where what is counted in them is noise, and noise hides few records in so many parts.
    """
    if parts.sum() < sure * error:
        return 0
    sums, spread = np.cumsum(parts), error * np.sqrt(np.arange(1, len(parts) + 1))
    empty = sums <= np.maximum(0.002 * records, sure * spread)
    kept = len(parts) - 1 if empty.all() else int(np.argmin(empty))
    if error * math.sqrt(len(parts)) <= HIDDEN * records:
        return kept
    most = np.maximum(sums, 0.0) + float(ndtri(0.95)) * spread  # that may lie there, but for one time in twenty
    while kept and most[kept - 1] > LOST * records:
        if parts[kept] > max(OCCUPIED * error, most[kept - 1]) and most[kept - 1] <= JUMP * records:
            break
        kept -= 1
    return kept
