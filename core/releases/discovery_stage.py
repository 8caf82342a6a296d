"""The stage that finds out what nobody has said of a table: its price, its readings, its draws; see `discovery`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..domain import Categorical, Domain
from ..domain.column_entries import columns_of
from ..domain.columns import numbers_rows
from ..domain.declarations import Declaration
from ..errors import RequestError
from ..privacy.accounting import Cost, Reserve
from ..privacy.budget import EACH_RECORD, Budget, Number, PrivacyUnit, Sensitivity, exact_decimal
from ..privacy.calibration import NoiseScale, calibrate, gaussian_scale
from ..privacy.choosing.partition_selection import FirstLook, ValueSelection, plan_values, shown_values
from ..privacy.composition import Event, event_of
from ..privacy.noise.noise import add_noise, check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sources import Source
from ..sources.delimited import DelimitedSource
from ..sources.frames_and_arrays import FrameSource
from .alike_questions import columns_alike, found_categories
from .discovery_reading import Scale, Second, Third, Votes
from .found import ON_MISSING, OTHER, Discovered, FoundColumn, Measured, beside, counted_as, found_plainly
from .found_ranges import found_ranges
from .stages import Known, Offer, Progress, Stage

SHARE, MORE = "0.1", ("0.125", "0.15", "0.2", "0.25")
"""Of the promise; and what it may become in view of a first look. See `Discovery.settled`."""
FOR_VOTES, FOR_RANGES = Fraction(1, 50), Fraction(1, 4)
"""Of the whole promise, or a fifth of what is spent if that is less; and of the rest at least, beside values of
categories, and as much as a third for each column of a range beside one of categories if that is more."""
FIRST_LOOK = Fraction(7, 20)
"""Of what finds values, for the frequent ones; the rest finds what is rare in few columns of a record."""
SPARE = tuple(Fraction(part, 1000) for part in (998, 990, 970, 930, 850, 700, 500, 300, 150, 70, 30, 10))
"""Parts of ρ with which noise is planned until it is covered: the first are enough but for noise of a few units.
What one column of values alone would not be covered by is refused beforehand, as its noise is the least there is."""


@dataclass(frozen=True)
class Discovery(Stage):
    """What is to be found out, and for how much: from public facts alone, the same for any records.

    Attributes
    ----------
    columns : tuple[str, ...]
        All columns but that of the persons, in the order of the table.
    texts, numbers, dates : tuple[str, ...]
        Those that are looked at, by what the table's own types say; of text files all are texts.
    truths, left_out : tuple[str, ...], tuple[str, ...]
        Those of yes and no, of which nothing is left to find; and those of lists and other things.
    budget : Budget
        The promise of which a share is spent.
    share : str
        The share: of ε where the promise is pure, and of ρ under a delta.
    unit : PrivacyUnit
        Who one person is.
    said : Declaration | None
        What is known of some columns, which are not looked at then.
    comma : bool
        Whether a file separates its columns by semicolons, as where decimals have a comma.
    open : bool
        Whether nobody says the share and there may be categories: where a release follows, a first look settles it.
    """

    columns: tuple[str, ...]
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    dates: tuple[str, ...]
    truths: tuple[str, ...]
    left_out: tuple[str, ...]
    budget: Budget
    share: str = SHARE
    unit: PrivacyUnit = EACH_RECORD
    said: Declaration | None = field(default=None, compare=False)
    comma: bool = False
    open: bool = False
    name: ClassVar[str] = "discovery"
    learns: ClassVar[str] = "what nobody had said of the columns"
    needed: ClassVar[bool] = True
    for_prices: ClassVar[bool] = True

    @classmethod
    def of_source(
        cls,
        source: Source,
        budget: Budget,
        share: Number | None = None,
        unit: PrivacyUnit | None = None,
        said: Declaration | None = None,
        columns: Sequence[str] | None = None,
    ) -> Discovery:
        """What would be found out of a table.

        `share`: Without it a tenth, or more where a release follows; see `discovery.by_forecast` and `settled`.
        `columns`: Which are looked at, or said; None is all of them.

        RequestError when there is no such column or share, or the promise finds no values and nothing else is left to
        find.
        """
        exact = exact_decimal(SHARE if share is None else share, "The share of what is found out")
        if not 0 < exact < 1:
            raise RequestError(
                "The share of what is found out must lie strictly between 0 and 1: a release follows it."
            )
        unit = unit or (EACH_RECORD if said is None else said.domain.unit)
        source.check_names([*(columns or ()), *([] if unit.column is None else [unit.column])])
        used = [one for one in source.columns if one.name != unit.column and (columns is None or one.name in columns)]
        known = () if said is None else said.domain.fields
        asked = [one.name for one in used if one.name not in known and not numbers_rows(one.name)]
        if isinstance(source, FrameSource):
            _check_typed(source, asked)
        if columns is None and isinstance(source, DelimitedSource) and source.named_by_records:
            raise RequestError(
                f"The records of {source.label} have different names, so one of them alone might make a column, which "
                "would be public: say the names of those that count."
            )
        lists = [one.name for one in used if one.lists]
        kinds = {name: "other" if name in lists else kind for name, kind in typed_columns(source) if name in asked}
        by_kind = {kind: tuple(name for name, one in kinds.items() if one == kind) for kind in set(kinds.values())}
        left_out = tuple(name for name, kind in kinds.items() if kind not in ("text", "number", "date", "boolean"))
        found = cls(
            tuple(one.name for one in used),
            by_kind.get("text", ()),
            by_kind.get("number", ()),
            by_kind.get("date", ()),
            by_kind.get("boolean", ()),
            left_out,
            budget,
            f"{exact:f}",
            unit,
            said,
            isinstance(source, DelimitedSource) and source.delimiter == ";",
            share is None and not budget.pure and "text" in by_kind,
        )
        found._check(isinstance(source, DelimitedSource))
        return found

    def _check(self, untyped: bool) -> None:
        """Refuse what nothing could come of."""
        if not self.votes.names:
            raise RequestError("Nothing is left to find out: all columns that can be looked at are said already.")
        if self.budget.pure and self.texts and not untyped:
            raise RequestError(
                f"Values of {self.texts[0]!r} cannot be found under a pure promise, as one that a single person has "
                "would show that person: give a delta, such as 1e-6, or type the values."
            )
        check_drawable(self.votes_noise)
        self.planned(1, 0) if self.texts and not self.budget.pure else self.planned(0, 1)

    @property
    def of(self) -> Domain:  # type: ignore[override]
        """The columns that are read."""
        return plain_domain(self.votes.names, self.unit)

    @cached_property
    def votes(self) -> Votes:
        """What the first reading counts."""
        return Votes(self.texts, (*self.numbers, *self.dates), self.unit, self.comma)

    @property
    def typed(self) -> tuple[Scale, ...]:
        """Cells of the columns of whose values types say that they are numbers or dates."""
        numbers = (Scale(name, "number") for name in self.numbers)
        return (*numbers, *(Scale(name, "date") for name in self.dates))

    @cached_property
    def reserve(self) -> Reserve | None:
        """How the promise is shared with what follows; None where it is pure, as ε adds up."""
        return None if self.budget.pure else Reserve(self.budget, Fraction(self.share))

    @cached_property
    def epsilon(self) -> Fraction:
        """What is spent of a pure promise."""
        return Fraction(self.budget.epsilon) * Fraction(self.share)

    @property
    def for_votes(self) -> Fraction:
        """Part of what is spent that pays for votes."""
        return min(FOR_VOTES / Fraction(self.share), Fraction(1, 5))

    @cached_property
    def votes_noise(self) -> NoiseScale:
        """Of every cell of the votes."""
        moved = self.votes.sensitivity(self.budget.neighbours)
        if self.reserve is None:
            return calibrate(moved, self.epsilon * self.for_votes)
        return gaussian_scale(moved, self.reserve.first_rho * self.for_votes)

    @cached_property
    def cost(self) -> Cost:
        """What it promises by itself, which the ledger adds up where it is bought alone."""
        if self.reserve is None:
            moved, later = self.votes.sensitivity(self.budget.neighbours), self.epsilon * (1 - self.for_votes)
            ranges = self.ranges(1)
            events = (event_of(moved, self.votes_noise), event_of(ranges, calibrate(ranges, later)))
            return Cost(events, exact_decimal(self.epsilon, "The price of what is found out"))
        return self.reserve.first_cost

    @property
    def left(self) -> Budget:
        """What the promise leaves for one release that comes after it, as an entry of its own in the ledger."""
        if self.reserve is not None:
            return self.reserve.later
        left = Fraction(self.budget.epsilon) - self.epsilon
        return replace(self.budget, epsilon=exact_decimal(left, "What is left"))

    def ranges(self, columns: int) -> Sensitivity:
        """How far one person moves the second reading's table of so many columns of numbers and dates."""
        return Second.sensitivity(columns, self.budget.neighbours, self.unit)

    def planned(self, categories: int, scales: int) -> tuple[list[ValueSelection], NoiseScale | None]:
        """How values of so many columns are found, in one look or two, and the noise of the ranges of so many."""
        if self.reserve is None:
            later = self.epsilon * (1 - self.for_votes)
            return [], calibrate(self.ranges(scales), later) if scales else None
        moved, rho = self.votes.sensitivity(self.budget.neighbours), self.reserve.first_rho * (1 - self.for_votes)
        part = max(FOR_RANGES, Fraction(scales, scales + 3 * categories)) if scales else Fraction(0)
        for spare in SPARE:
            noise: NoiseScale | None = None
            events: list[Event] = [event_of(moved, self.votes_noise)]
            looks = self._looks(categories, rho * spare * (1 - part), self.reserve.failure)
            events += [event for look in looks for event in look.events]
            if scales:
                noise = gaussian_scale(self.ranges(scales), rho * spare * part)
                events.append(event_of(self.ranges(scales), noise))
            if self.reserve.covers(events, first=True):
                return looks, noise
        raise RequestError("So large a promise needs no noise that what is found out could be covered by: say less.")

    def _looks(self, categories: int, rho: Fraction, failure: Fraction) -> list[ValueSelection]:
        """How values of so many columns are found for ρ: in two looks, or one where a record has one column alone."""
        who = self.budget.neighbours, self.unit
        if categories < 2:
            return [plan_values(categories, rho, failure, *who)] if categories else []
        first = plan_values(categories, rho * FIRST_LOOK, failure / 2, *who)
        return [first, plan_values(categories, rho * (1 - FIRST_LOOK), failure / 2, *who, again=True)]

    def found_from(self, categories: int | None = None) -> int | None:
        """How many records a value needs so as to be found with 95% probability; None where no values are found.

        `categories`: In how many columns values are looked for; None supposes all columns of texts.
        """
        categories = len(self.texts) if categories is None else categories
        looks, _ = self.planned(categories, len(self.numbers) + len(self.dates)) if categories else ([], None)
        return math.ceil(looks[-1].found_from()) if looks else None

    def settled(
        self, looks: list[ValueSelection], noise: NoiseScale | None, scales: int, seen: FirstLook
    ) -> tuple[Discovery, list[ValueSelection]]:
        """The share for which pairs are expected to err least in view of a first look, and both looks for it.

        What a larger share adds is for the second look alone: all before it is as it was for the smaller one. What the
        looks say decides how much of one promise they take, and not what the promise is; see `accounting.Reserve`.
        """
        if not self.open or self.reserve is None or len(looks) < 2:
            return self, looks
        hidden = seen.hidden(self.reserve.mu, len(self.columns))
        offered = [self._with_share(share, looks, noise, scales) for share in (SHARE, *MORE)]
        return min(offered, key=lambda one: hidden / math.sqrt(1.0 - float(one[0].share)) + seen.lost(one[1][-1]))

    def _with_share(
        self, share: str, looks: list[ValueSelection], noise: NoiseScale | None, scales: int
    ) -> tuple[Discovery, list[ValueSelection]]:
        """With a share that is not smaller, and a second look for what that adds."""
        one, (first, second) = replace(self, share=share, open=False), looks
        if one.reserve is None or self.reserve is None or share == self.share:
            return one, looks
        events = [event_of(self.votes.sensitivity(self.budget.neighbours), self.votes_noise), *first.events]
        events += [] if noise is None else [event_of(self.ranges(scales), noise)]
        rho = Fraction(second.moved.l2_squared) / (2 * second.noise.parameter)
        rho += one.reserve.first_rho - self.reserve.first_rho
        for spare in SPARE:
            who = self.budget.neighbours, self.unit
            more = plan_values(second.columns, rho * spare, second.failure, *who, again=True)
            if one.reserve.covers([*events, *more.events], first=True):
                return one, [first, more]
        return self, looks

    @property
    def price(self) -> str:
        """In words."""
        return self._result((), Measured(0.0, 0.0)).price

    def parameters(self) -> dict[str, Any]:
        """For the ledger's note."""
        return {"columns": list(self.votes.names)}

    def offered(self, known: Known) -> Offer:
        if self.reserve is None:
            return Offer(self.votes_noise, self.cost, self.left)
        return Offer(self.votes_noise, self.cost, self.reserve.left, self.reserve)

    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, np.ndarray]:
        """The votes, by one reading."""
        table, rows = np.zeros(self.votes.shape, np.int64), 0
        for batch in read_batches(source, self.votes.names, self.unit):
            for scale in self.typed if not rows else ():  # what the second reading would refuse, by types alone
                scale.values(batch.column(scale.name).slice(0, 0))
            self.votes.count(table, batch)
            rows += batch.num_rows
            yield rows
        return table

    def drawn(
        self,
        exact: Any,
        known: Known,
        offer: Offer,
        source: Source,
        noise_source: NoiseSource | None,
        progress: Progress,
    ) -> Discovered:
        """Votes with noise; then, by what they say, the second reading and its noise."""
        if isinstance(source, DelimitedSource):
            source.found_out = True
        noisy = add_noise(exact, self.votes_noise, noise_source)
        exact[...] = 0
        error = math.sqrt(self.votes_noise.variance)
        formats = self.votes.formats(noisy, error, self.budget.pure)
        records = Measured(float(noisy[-1]) / self.votes.weight, error / self.votes.weight)
        written = (Scale(name, counted_as(one), one) for name, one in formats.items() if counted_as(one))
        scales = (*self.typed, *written)
        categories = tuple(name for name, one in formats.items() if one.kind in ("category", "code"))
        if self.budget.pure:
            categories = ()
        looks, noise = self.planned(len(categories), len(scales))
        second = Second(scales, categories)
        if scales or categories:
            self._read(source, (*(scale.name for scale in scales), *categories), second.count, progress)
        missing = {name: Measured(self.votes.missing(noisy, name), error) for name in self.votes.names}
        seen = shown_values(second.values, looks[0], noise_source) if looks else []
        second.values, rare = [], list[dict[str, int]]()
        first = dict(zip(categories, seen, strict=True))
        alike = columns_alike(first)
        settled: Discovery = self
        if looks:
            gaps = [missing[name].count for name in categories]
            look = FirstLook.of(looks[0], seen, gaps, max(records.count, records.error, 1.0))
            settled, looks = self.settled(looks, noise, len(scales), look)
        if len(looks) > 1:
            third = Third([{name: first[name] for name in names} for names in alike])
            self._read(source, categories, third.count, progress)
            # A look takes a column for each that was paid for: of columns alike all but one hold nothing.
            apart = [Counter[str]()] * (len(categories) - len(alike))
            rare = shown_values([*third.values, *apart], looks[1], noise_source)[: len(alike)]
        found = found_categories(first, dict(zip(alike, rare, strict=False)), looks, records, missing)
        if noise is not None:
            table, spread = add_noise(second.table, noise, noise_source), math.sqrt(noise.variance)
            found += found_ranges(list(second.split(table)), spread, records, missing)
        found += [
            found_plainly(name, one, missing[name])
            for name, one in formats.items()
            if name not in {f.name for f in found}
        ]
        return settled._result(found, records)

    def _read(
        self, source: Source, names: Sequence[str], count: Callable[[pa.RecordBatch], None], progress: Progress
    ) -> None:
        rows = 0
        for batch in read_batches(source, names, self.unit):
            count(batch)
            rows += batch.num_rows
            progress(rows)

    def _result(self, found: Sequence[FoundColumn], records: Measured) -> Discovered:
        """Everything together, in the order of the table."""
        said = [] if self.said is None else [FoundColumn(one.name, one, True) for one in self.said.domain.columns]
        truths = [FoundColumn(name, columns_of(name, {"kind": "yes_no"} | ON_MISSING)[0]) for name in self.truths]
        lost = [
            FoundColumn(name, None, why="It holds lists or other things that have no range.") for name in self.left_out
        ]
        known = {one.name for one in said}
        lost += [FoundColumn(one, None, why=RUNS) for one in self.columns if numbers_rows(one) and one not in known]
        order = [*dict.fromkeys([*self.columns, *(one.name for one in said)])]
        columns = beside(said, (*found, *truths, *lost), order)
        record, before = ("", "") if self.said is None else (self.said.record, self.said.paid)
        return Discovered(columns, records, self.cost, self.share, self.budget, self.left, self.unit, record, before)

    def learnt(self, known: Known, offer: Offer, noisy: Discovered) -> Iterator[Known]:
        least, known = max(1.0, noisy.records.error), self._shared(known, noisy.share, noisy)
        yield replace(known, records=max(noisy.records.count, least), found=noisy)

    def _shared(self, known: Known, share: str, noisy: Discovered | None = None) -> Known:
        """The same where this share is settled: of the promise that is paid for, less is left."""
        if share == self.share:
            return known
        one = replace(self, share=share, open=False)
        return replace(known, bought=known.bought[:-1]).after(one, one.offered(known), noisy)

    def supposed(self, known: Known) -> Known:
        """Columns that might be found, for prices beforehand: two values in each category, numbers from 0 to 1."""
        formatted = [
            *(FoundColumn(name, Categorical(name, ("a", OTHER), unknown_category=OTHER)) for name in self.texts),
            *(FoundColumn(name, columns_of(name, {"kind": "number", "low": 0, "high": 1})[0]) for name in self.numbers),
            *(
                FoundColumn(name, columns_of(name, {"kind": "date", "first": "2000-01-01", "last": "2024-12-31"})[0])
                for name in self.dates
            ),
        ]
        known = self._shared(known, MORE[-1] if self.open else self.share)
        return replace(known, records=ORDINARY, found=self._result(formatted, Measured(ORDINARY, 0.0)))


RUNS = "Its name says that it numbers the rows, which tells nothing of anybody: say its range if it does."
ORDINARY = 10_000.0
"""Records that a release is priced for before their number is known."""


def read_batches(source: Source, names: Sequence[str], unit: PrivacyUnit) -> Iterator[pa.RecordBatch]:
    """The columns as they are written, of at most as many records a person as count."""
    return source.batches(plain_domain(names, unit))


def plain_domain(names: Sequence[str], unit: PrivacyUnit) -> Domain:
    """Columns of which nothing is known: lists that nothing is on, so that values come as they are written."""
    return Domain(tuple(Categorical(name, ("a", "b")) for name in names), unit=unit)


def typed_columns(source: Source) -> list[tuple[str, str]]:
    """Name and kind of all columns as types say: what those of text tables seem to hold is guessed from values."""
    guessed = isinstance(source, DelimitedSource)
    return [(one.name, "text" if guessed else one.kind) for one in source.columns]


def _check_typed(source: FrameSource, names: Sequence[str]) -> None:
    """Refuse columns of Python objects: what they hold is known from their values alone, for which nobody has paid."""
    frame = source.frame
    untyped = [name for name in names if getattr(frame[name].dtype, "categories", frame[name]).dtype == object]
    if untyped:
        raise RequestError(
            f"The column {untyped[0]!r} of the frame holds Python objects, whose type only their values would tell: "
            "give it one, as by astype('string'), or say what is known of it."
        )
