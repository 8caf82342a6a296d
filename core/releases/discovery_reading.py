"""What is counted to find out what nobody has said of a table: how values are written, where they lie, which there are.

Three readings. In the first each record has one vote a column, for the set of formats that its value fits
(`domain.formats`), and is counted once among all. In the second, which goes by the formats that were found, each record
has of a column of numbers or dates two votes for the coarse cell of its value, without which there is no range at all,
one for the finer cell and one for its step; of a column of categories its value is counted.

**How far one person moves the votes.** A record has one vote in each of d columns and w among all records: L1 = d + w
and squared L2 norm d + w². In the second reading it has c = 2 votes in one cell and one in each of two others, of each
of d' columns of numbers and dates: L1 = (c + 2) d' and squared L2 norm (c² + 2) d'. A replaced record takes its votes
from some cells and gives them to others: twice as much. With m records a person it is m times as much in L1 and m²
times in squared L2 norm. What a record votes for depends on its own values and on what was released before, and never
on another record.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import ndtri

from ..domain.column import as_float64, to_numpy
from ..domain.columns import degrees_of, is_coded, says_years, stem_of
from ..domain.dates import moments
from ..domain.formats import FORMATS, IN_THOUSANDS, MARKS, Format, fitting, format_of
from ..domain.written import are_words
from ..domain.written_dates import NEVER
from ..formatting.escapes import steers
from ..privacy.budget import Neighbours, PrivacyUnit, Sensitivity
from ..privacy.choosing.partition_selection import weights
from ..runtime.counter_tables import Floats, Integers
from ..runtime.parameters import MAX_TEXT

SAMPLES = (
    *("", "yes", "1", "1.0", "1,0", "12", "1.5", "1,5", "Berlin", "01067", "19991231", "2024-01-31", "31.12.2024"),
    *("01.02.2024", "12/31/2024", "12:30", "8:30 pm", "1:27", "a@b.cd", "x" * 80),
    *("€ 1.459", "€ 1,459"),
)
"""Texts that fit every set of formats that a text can fit."""
UNSTRUCTURED = ("category", "text", "identifier", "code", "nothing")
MOSTLY, ABOUT, CODES, RARELY = 0.55, 0.005, 0.02, 50.0
"""Shares of the values that fit a format for it to be that of a column; by which two formats fit about as many; that
begin with a zero where numbers are codes; and how many times as many records have no value where nobody has one."""
SURE = 2.0
"""Standard deviations of noise from which a cell is taken to hold records."""
DOUBTFUL = 3.0
"""The same by which two formats differ that fit the same values, of which several cells tell."""
NAMED_CODES = re.compile(
    r"zip|plz|post(al|leit|code)|c[oó]d(e|igo|ice)|phone|telefon|(\b|_)(tel|cap|cp|fips|iban)(\b|_)", re.I
)
"""Names of columns, in five languages, whose numbers are codes."""
COARSELY = 2
"""c: votes of a record for its coarse cell."""
COARSE = 60
"""Powers of two of either sign in which numbers are told apart, from 2^-20 on."""
LEAST_POWER = -20
FIRST_YEAR, DECADES = 1700, 60
NUMBERED_FROM, NUMBERED, TOGETHER = 1850, 42, 5
"""From which year on so many times five years are told apart where years are numbers, in columns whose names say so:
powers of two and eighths between them are centuries there."""
TO_A_DEGREE = 16
"""Finer cells of a column whose name says latitude or longitude: an eighth of what lies between powers of two is half a
continent."""
STEPS = (1000.0, 100.0, 10.0, 5.0, 1.0, 0.1, 0.01, 0.0)
"""What numbers are whole multiples of, the coarsest that fits: each a multiple of those after it. 0 is of nothing."""


@cache
def signatures() -> tuple[int, ...]:
    """The sets of formats that a text may fit, each a bit a format; that of no value first."""
    return tuple(dict.fromkeys(int(bits) for bits in fitting(pa.array(SAMPLES, pa.large_string()))))


@cache
def cell_of_signature(bits: int) -> int:
    """The cell of a set of formats: its own, or of those with nothing but formats of it the one with most of them."""
    known = signatures()
    if bits in known:
        return known.index(bits)
    within = [one for one in known if one & ~bits == 0]
    return known.index(max(within, key=int.bit_count)) if within else known.index(1 << FORMATS.index(format_of("text")))


@dataclass(frozen=True)
class Votes:
    """What is counted in the first reading."""

    # Columns of texts, and those whose type says what they hold.
    texts: tuple[str, ...]
    others: tuple[str, ...]
    unit: PrivacyUnit  # Who one person is.
    # Whether the file separates its columns as programs do where decimals have a comma: by semicolons.
    comma: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return (*self.texts, *self.others)

    @property
    def weight(self) -> int:
        """w: votes that a record has among all records, so that their number has no more noise than it needs."""
        return max(1, math.isqrt(len(self.names)) // 2)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """How far one person moves the votes; see the top."""
        columns, weight = len(self.names), self.weight
        times = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        # A replaced record stays one: where it is not left out, its votes among all are where they were.
        moved = Sensitivity(times * (columns + weight), times * (columns + weight**2))
        return moved.scaled(self.unit.records)

    @property
    def shape(self) -> int:
        """Cells in all."""
        return len(self.texts) * len(signatures()) + 2 * len(self.others) + 1

    def count(self, table: Integers, batch: pa.RecordBatch) -> None:
        """Add the votes of a batch."""
        cells, at = len(signatures()), 0
        for name in self.names:
            values = batch.column(name)
            if name in self.texts:
                bits, places = np.unique(fitting(as_texts(values)), return_inverse=True)
                found = np.array([cell_of_signature(int(one)) for one in bits], np.int64)[places]
                size = cells
            else:
                found, size = to_numpy(pc.is_valid(values)).astype(np.int64), 2
                if pa.types.is_floating(values.type):
                    found &= ~np.isnan(as_float64(name, values))
            table[at : at + size] += np.bincount(found, minlength=size)
            at += size
        table[at] += self.weight * batch.num_rows

    def of_text(self, noisy: Integers, name: str) -> Integers:
        """The votes of a column of texts."""
        place = self.texts.index(name) * len(signatures())
        return noisy[place : place + len(signatures())]

    def missing(self, noisy: Integers, name: str) -> float:
        """How many records have no value."""
        if name in self.texts:
            return float(self.of_text(noisy, name)[0])
        return float(noisy[len(self.texts) * len(signatures()) + 2 * self.others.index(name)])

    def formats(self, noisy: Integers, error: float, pure: bool = False) -> dict[str, Format]:
        """How each column of texts is written, by what stands out of the noise of its votes, Laplace's where pure."""
        votes = {name: self.of_text(noisy, name).astype(float) for name in self.texts}
        least = error * stands_out(len(votes) * len(signatures()), pure)
        spread = error * math.sqrt(max(1, len(votes)))
        prefer = _preferred(np.sum(list(votes.values()), axis=0), spread, self.comma) if votes else ()
        said = {name: (one, error) for name, one in votes.items()} | dict(_means_of_alike(votes, error, least))
        return {
            name: format_of("nothing")
            if one[1:].max() < least * noise / error
            else _format(one, noise, prefer, bool(NAMED_CODES.search(name)), is_coded(name))
            for name, (one, noise) in said.items()
        }


def _means_of_alike(
    votes: Mapping[str, Floats], error: float, least: float
) -> Iterator[tuple[str, tuple[Floats, float]]]:
    """Of columns of one name and a number behind it the mean of all their votes, and its noise, where votes of their
    own differ from it by nothing that stands out of the noise: so few people answer alike that it hides each column."""
    for stem in sorted({stem_of(name) for name in votes} - {""}):
        alike = {name: one for name, one in votes.items() if stem_of(name) == stem}
        mean = np.mean(list(alike.values()), axis=0)
        for name, one in alike.items():
            if np.abs(one - mean).max() < least:
                yield name, (mean, error / math.sqrt(len(alike)))


def stands_out(cells: int, pure: bool) -> float:
    """Standard deviations that noise alone passes in any of so many cells in one table of twenty at most.

    A Laplace variable is above z of its deviations with probability exp(-z √2) / 2, far more often than a Gaussian one.
    """
    chance = 0.05 / max(1, cells)
    return -math.log(2.0 * chance) / math.sqrt(2.0) if pure else float(ndtri(1.0 - chance))


def _format(votes: Floats, error: float, prefer: Sequence[str], coded: bool, grouped: bool) -> Format:
    """The format of a column by its noisy votes, each less one standard deviation, so that noise adds up to little.

    Numbers 0 and 1 are numbers, and no words for yes and no: to be wrong about that costs nothing, and the other way
    round it would leave out everyone with another number. Where other words than yes and no are written, as "f" for no
    stands beside "m", or the name says groups, such words are categories. Of numbers without decimals, such as
    "70,001", noise alone would tell the mark, so the table's own is taken unless the other stands out of the noise;
    likewise times of day before durations. Where a column's name says that it has codes, it has unless decimals stand
    out. Money with one mark, as "€ 1.459", is in thousands unless values of the column stand out of the noise that have
    that mark before decimals.
    """
    votes = _with_its_decimals(votes, error)
    seen = np.maximum(votes - error, 0.0)
    nothing, written = seen[0], seen[1:].sum()
    if written <= 0.0:
        return format_of("nothing")
    shares = {one.name: float(seen[_with(one.name)].sum()) / written for one in FORMATS}
    words = set(_with("yes_no")) - set(_with("decimal_point")) - set(_with("decimal_comma"))
    said, others = float(seen[sorted(words)].sum()) / written, votes[_with("category")].sum()
    shares["yes_no"] = said if others <= max(ABOUT * written, SURE * error) and not grouped else 0.0
    shares["category"] += said - shares["yes_no"]
    if nothing > written * RARELY:
        return format_of("nothing")
    doubt = SURE * error / written
    point, comma = (seen[_with(*pair)].sum() / written for pair in MARKS.items())
    digits = max(shares[name] for name in MARKS)
    if shares["code"] > CODES + doubt or (coded and digits >= MOSTLY and max(point, comma) < CODES + doubt):
        return format_of("code")
    names = [*prefer, *(one.name for one in FORMATS if one.name not in (*prefer, *UNSTRUCTURED))]
    best = max(shares[name] for name in names)
    if best >= MOSTLY:
        for usual, *others in (prefer[-2:], ("time", "duration", "hours_minutes")):
            doubtful = (best - shares[usual]) * written <= DOUBTFUL * error
            if doubtful and best in [shares[other] for other in others]:
                return format_of(usual)
        return format_of(next(name for name in names if shares[name] >= best - ABOUT))
    return format_of(max(UNSTRUCTURED[:3], key=lambda name: shares[name]))


def _with_its_decimals(votes: Floats, error: float) -> Floats:
    """The votes of a column, in which money that has one mark counts for either where others surely have it so."""
    grouped = [place for place, bits in enumerate(signatures()) if bits & IN_THOUSANDS]
    for name, other in MARKS.items():
        (doubtful,) = set(grouped) & set(_with(other))
        these, those = (set(_with(*pair)) - set(grouped) for pair in ((name, other), (other, name)))
        more = votes[sorted(these)].sum() - max(0.0, votes[sorted(those)].sum())
        if more > DOUBTFUL * error * math.sqrt(len(these) + len(those)):
            votes = votes.copy()
            votes[cell_of_signature(_bits(name) | _bits(other))] += votes[doubtful]
            votes[doubtful] = 0.0
    return votes


def _bits(name: str) -> int:
    return 1 << FORMATS.index(format_of(name))


def _with(name: str, without: str = "") -> list[int]:
    """The cells of sets with one format, and without another one."""
    bit, other = (_bits(one) if one else 0 for one in (name, without))
    return [place for place, bits in enumerate(signatures()) if bits & bit and not bits & other]


def _preferred(votes: Floats, error: float, comma: bool) -> tuple[str, ...]:
    """Which of two formats is meant where a value fits both: that of which more is written in the table.

    Noise alone tells it of none: the one that is usual in such files comes first unless the other stands out of it.
    """
    usual = [tuple(MARKS)[:: -1 if comma else 1], ("day_first", "month_first")]
    order: list[str] = []
    for one, other in usual:
        these, those = _with(one, other), _with(other, one)
        more = votes[those].sum() - votes[these].sum()
        order += (other, one) if more > DOUBTFUL * error * math.sqrt(len(these) + len(those)) else (one, other)
    return ("yes_no", "year_first", *order[2:], "compact_date", *order[:2])


def as_texts(values: pa.Array) -> pa.Array:
    """Texts, dictionary-encoded or not: one that a file's dictionary has twice would be counted in parts."""
    if pa.types.is_dictionary(values.type):
        if len(values.dictionary.unique()) == len(values.dictionary):
            return values
        values = values.dictionary_decode()
    return pc.cast(values, pa.large_string())


@dataclass(frozen=True)
class Scale:
    """Cells in which values of one column of numbers or dates are counted: coarse ones, parts of them, and steps."""

    # Of the column; "number" or "date".
    name: str
    kind: str
    format: Format | None = None  # How it is written, where it is texts.

    @property
    def of_years(self) -> bool:
        """Whether every five years are a finer cell, and all other numbers one more."""
        return self.kind == "number" and says_years(self.name)

    @property
    def of_degrees(self) -> bool:
        """Whether every sixteenth of a degree is a finer cell, and all other numbers one more."""
        return self.kind == "number" and degrees_of(self.name) is not None

    @property
    def parts(self) -> int:
        """Of a coarse cell."""
        return 8 if self.kind == "number" else 10

    @cached_property
    def edges(self) -> Floats:
        """Ends of the finer cells, increasing: powers of two and seven numbers between two of them, or years."""
        if self.kind == "date":
            return np.arange(FIRST_YEAR, FIRST_YEAR + 10 * DECADES + 1, dtype=float)
        powers = 2.0 ** np.arange(LEAST_POWER, LEAST_POWER + COARSE)
        above = (powers[:, None] * (1.0 + np.arange(8) / 8.0)).ravel()
        above = np.append(above, 2.0 ** (LEAST_POWER + COARSE))
        return np.concatenate([-above[::-1], above])

    @property
    def coarse(self) -> int:
        """Coarse cells; of numbers that of 0 is in the middle."""
        return DECADES if self.kind == "date" else 2 * COARSE + 1

    @property
    def fine(self) -> slice:
        """The place of the finer cells, behind the coarse ones."""
        if self.of_years or self.of_degrees:
            return slice(self.coarse, self.coarse + (NUMBERED if self.of_years else 360 * TO_A_DEGREE) + 1)
        return slice(self.coarse, self.coarse * (1 + self.parts))

    @property
    def shape(self) -> int:
        """Cells in all."""
        return int(self.fine.stop) + len(STEPS) + 1

    def values(self, array: pa.Array) -> Floats:
        """Numbers, or years and parts of them; NaN where there is none."""
        if self.kind == "date":
            seconds = (
                moments(self.name, array) if self.format is None else np.asarray(self.format.read(as_texts(array)))
            )
            known = seconds != NEVER
            days = np.where(known, seconds, 0).astype("M8[s]").astype("M8[D]")
            years = days.astype("M8[Y]")
            parts = (days - years.astype("M8[D]")).astype(float) / 366.0
            return np.where(known, years.astype(int) + 1970 + parts, np.nan)
        if self.format is None:
            return np.array(as_float64(self.name, array))
        return np.array(self.format.read(as_texts(array)), np.float64)

    def count(self, table: Integers, array: pa.Array) -> None:
        """Add the votes of values."""
        values = self.values(array)
        values = values[np.isfinite(values)]
        place = np.clip(np.searchsorted(self.edges, values, side="right") - 1, 0, len(self.edges) - 2)
        if self.kind == "number":  # the cell of zero stands for a coarse one, all of whose parts are the first
            middle = COARSE * 8
            fine = np.where(place == middle, middle, np.where(place > middle, place + 7, place))
            step = np.where(values == 0.0, len(STEPS), self._steps(values))
        else:
            fine, step = place, np.zeros(len(values), np.int64)
        table[: self.coarse] += COARSELY * np.bincount(fine // self.parts, minlength=self.coarse)
        if self.of_years or self.of_degrees:
            first, wide = (NUMBERED_FROM, float(TOGETHER)) if self.of_years else (-180.0, 1.0 / TO_A_DEGREE)
            since, cells = np.floor((np.clip(values, -1e6, 1e6) - first) / wide), self.fine.stop - self.coarse - 1
            fine = np.where((since >= 0) & (since < cells), since, cells).astype(np.int64)
        table[self.fine] += np.bincount(fine, minlength=self.fine.stop - self.coarse)
        table[self.fine.stop :] += np.bincount(step, minlength=len(STEPS) + 1)

    @staticmethod
    @np.errstate(over="ignore", invalid="ignore")  # a warning would tell of a record
    def _steps(values: Floats) -> Integers:
        """The place among `STEPS` of the coarsest that each is a whole multiple of."""
        found = np.full(len(values), len(STEPS) - 1, np.int64)
        for place in reversed(range(len(STEPS) - 1)):
            # A multiple of 0.01 is a whole number of hundredths, up to what floating point may say of it.
            often = values / STEPS[place] if STEPS[place] >= 1.0 else values * round(1.0 / STEPS[place])
            found[np.abs(often - np.rint(often)) < 1e-8 * np.maximum(1.0, np.abs(often))] = place
        return found

    def edge(self, fine: int) -> float:
        """The lower end of a finer cell, by its place among all."""
        if self.kind == "date":
            return float(self.edges[fine])
        middle = COARSE * 8
        return float(self.edges[fine if fine <= middle else max(fine - 7, middle + 1)])


@dataclass
class Second:
    """What is counted in the second reading: private."""

    scales: tuple[Scale, ...]  # Of columns of numbers and dates.
    categories: tuple[str, ...]  # Columns of texts whose values are counted.
    table: Integers = field(init=False)
    values: list[Counter[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.table = np.zeros(sum(scale.shape for scale in self.scales), np.int64)
        self.values = [Counter() for _ in self.categories]

    @staticmethod
    def sensitivity(columns: int, neighbours: Neighbours, unit: PrivacyUnit) -> Sensitivity:
        """How far one person moves the votes of so many columns of numbers and dates; see the top."""
        times = columns * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
        return Sensitivity((COARSELY + 2) * times, (COARSELY**2 + 2) * times).scaled(unit.records)

    def count(self, batch: pa.RecordBatch) -> None:
        """Add the records of a batch."""
        at = 0
        for scale in self.scales:
            scale.count(self.table[at : at + scale.shape], batch.column(scale.name))
            at += scale.shape
        for counts, name in zip(self.values, self.categories, strict=True):
            counts.update(counted(batch.column(name)))

    def split(self, noisy: Integers) -> Iterator[tuple[Scale, Integers]]:
        """Each column's own votes."""
        at = 0
        for scale in self.scales:
            yield scale, noisy[at : at + scale.shape]
            at += scale.shape


@dataclass
class Third:
    """What is counted in a third reading: of columns of categories, the values that were not found; private.

    Columns alike are counted together: a record once for each value that it has in any of them. So it counts at most
    once in each of so many cells as there are columns, as the second look of `partition_selection` asks.
    """

    # What was found in each column, of those together that are alike; most are by themselves.
    alike: Sequence[Mapping[str, Collection[str]]]
    values: list[Counter[str]] = field(init=False)

    def __post_init__(self) -> None:
        self.values = [Counter() for _ in self.alike]
        self._weights = weights(sum(map(len, self.alike)))
        self._known = [frozenset(value for values in one.values() for value in values) for one in self.alike]
        self._places: list[dict[str, int]] = [{} for _ in self.alike]

    def count(self, batch: pa.RecordBatch) -> None:
        """Add the records of a batch, each with the weight of one that is rare in so many cells."""
        rare = [self._cells(place, batch) for place in range(len(self.alike))]
        each = self._weights[np.sum([(one >= 0).sum(axis=1) for one in rare], axis=0)]
        for counts, places, one in zip(self.values, self._places, rare, strict=True):
            sums, (rows, columns) = np.zeros(len(places), np.int64), np.nonzero(one >= 0)
            np.add.at(sums, one[rows, columns], each[rows])
            counts.update({name: int(sums[place]) for name, place in places.items() if sums[place]})

    def _cells(self, group: int, batch: pa.RecordBatch) -> Integers:
        """The places of the values of each record that count, each once, int64 (records, columns); others are -1."""
        places, found = self._places[group], []
        for name in self.alike[group]:
            texts = as_texts(batch.column(name))
            coded = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
            unseen = counted(coded.dictionary).keys() - self._known[group]
            names = pc.cast(coded.dictionary, pa.large_string()).to_pylist()
            here = np.array([places.setdefault(one, len(places)) if one in unseen else -1 for one in names] + [-1])
            found.append(here[to_numpy(pc.fill_null(coded.indices, len(names))).astype(np.int64)])
        cells = np.sort(np.stack(found, axis=1), axis=1)
        cells[:, 1:][cells[:, 1:] == cells[:, :-1]] = -1
        return cells


def counted(values: pa.Array) -> dict[str, int]:
    """How many records have each text that could be the name of a category, or be written for nothing."""
    found = pc.value_counts(as_texts(values))
    names, counts = found.field("values"), found.field("counts")
    if pa.types.is_dictionary(names.type):
        names = names.dictionary_decode()
    names = pc.cast(names, pa.large_string())
    empty = to_numpy(pc.fill_null(are_words(names, ()), True))
    kept = ~empty & to_numpy(pc.less_equal(pc.fill_null(pc.utf8_length(names), MAX_TEXT + 1), MAX_TEXT))
    pairs = zip(names.filter(pa.array(kept)).to_pylist(), to_numpy(counts)[kept].tolist(), strict=True)
    return {name: count for name, count in pairs if not any(map(steers, name))}
