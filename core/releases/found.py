"""What was found out of a table's columns under a promise, and the declaration that it comes to."""

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..domain import Categorical, Domain
from ..domain.column_entries import columns_of
from ..domain.columns import Column
from ..domain.declarations import Declaration, in_flow, stated
from ..domain.formats import Format
from ..domain.written import NOTHING
from ..errors import RequestError
from ..formatting.numbers import in_rising_order, listed, rounded
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, PrivacyUnit, decimal_text
from ..privacy.choosing.partition_selection import ValueSelection
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
OCCUPIED = 3.5
"""Standard deviations from which a number is more than noise."""
FEW_BEYOND = 0.1
"""Share of the records of which nothing is said if so few may lie beyond a range."""
LEAST_FOUND = 0.05
"""Share of the records whose values must be found for a column to be one of categories, and no free text."""


@dataclass(frozen=True)
class Measured:
    """A number that was released with noise."""

    count: float  # As it came out, without bias; noise may make it negative.
    error: float  # Its standard deviation.

    @property
    def text(self) -> str:
        """For a person: with two deviations; at most so many where there may be none, as "about 0" would say so."""
        within = 2 * self.error
        if self.count < within:
            return f"at most {rounded(max(0.0, self.count) + within, self.error)}"
        return f"about {rounded(self.count, self.error)} ± {rounded(within, self.error)}"


@dataclass(frozen=True)
class FoundColumn:
    """What is known of one column."""

    name: str  # Of the source's column.
    # As a domain has it; None where nothing could be found that a domain can say, and the column is left out.
    column: Column | None
    said: bool = False  # Whether its owner had said it, so that nothing was bought about it.
    format: str = ""  # How its values are written, in words; "" where that goes without saying.
    why: str = ""  # Why it is left out, in a sentence; "" where it is not.
    # Values of a category that were found, the most frequent first, and how many records have each.
    values: Mapping[str, Measured] = field(default_factory=dict, hash=False)
    # How many records have a value that was not found, none at all, and the number 0; None where nobody looked.
    other: Measured | None = None
    missing: Measured | None = None
    zero: Measured | None = None
    # How many records have a value outside of the range that was found, and count at its end.
    beyond: Measured | None = None
    # Round numbers of whose whole multiples there are more than of others, with how many records have one; 0 apart.
    heaps: Mapping[float, Measured] = field(default_factory=dict, hash=False)
    # Values that were found in a second look, in which records that are rare in several columns count less: at least so
    # many records have them.
    rare: tuple[str, ...] = ()
    sure: tuple[str, ...] = ()  # Values whose counts owe nothing to having been found; see `SURELY`.

    @property
    def together(self) -> int:
        """How many values it has where some were found in columns alike alone, so that nobody counted others; or 0."""
        if self.other is not None or self.missing is None or self.format or not isinstance(self.column, Categorical):
            return 0
        return len(set(self.column.categories) - {self.column.missing_category, self.column.unknown_category})


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
    before : str
        What the declaration of the columns that were said says of their own price; "" where it says none.
    """

    columns: tuple[FoundColumn, ...]
    records: Measured
    cost: Cost | None
    share: str
    whole: Budget
    left: Budget
    unit: PrivacyUnit
    record: str = ""
    before: str = ""

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

    @property
    def beyond(self) -> str:
        """In which columns how many records may lie outside of the range that was found, in a sentence; "" in none."""
        many = {
            one.name: one.beyond
            for one in self.columns
            if one.beyond is not None and one.beyond.count + 2 * one.beyond.error > FEW_BEYOND * self.records.count
        }
        told = [name for name, outside in many.items() if noticeable(outside.count, outside.error)]
        said = [f"{name!r} {self._part(many[name])}" for name in told]
        hidden = [repr(name) for name in many if name not in told]
        lies = "Records that lie beyond the range that was found, and count at its end: "
        hides = "Noise hides whether more than a tenth of the records lie beyond the range that was found of "
        parts = [(lies, said), (hides, hidden)]
        return " ".join(f"{first}{listed(some)}." for first, some in parts if some)

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
        own = [] if self.cost is None else [(self.cost, self.whole)]
        return Declaration(self.domain, paid=paid_text([*paid_pairs(self.before), *own]))

    def text(self) -> str:
        """A declaration file, which says of every column whether it was found and of those left out why."""
        said = {one.name for one in self.columns if one.said}
        lines = [f"# What is marked as found was bought for {self.price}; to correct it costs nothing."]
        if self.cost is not None:
            lines.append("# A release or a model of it shows what was found, and so promises what that has cost, too.")
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
    name: str,
    shown: Sequence[dict[str, int]],
    looks: Sequence[ValueSelection],
    records: Measured,
    missing: Measured,
    also: Sequence[str] = (),
) -> FoundColumn:
    """A column of categories by the values that were found, in each look; words for no value are said to be such.

    `also`: Values that were found in columns alike.
    """
    every = {
        value: Measured(count / look.weight, look.error)
        for one, look in zip(shown, looks, strict=True)
        for value, count in one.items()
    }
    codes = _codes_like_words_for_nothing((*every, *also))
    counted = [every[one] for one in codes if one in every]
    error = math.hypot(missing.error, *(one.error for one in counted))
    missing = Measured(missing.count - sum(one.count for one in counted), error)
    words = tuple(
        dict.fromkeys(one.strip() for one in (*every, *also) if _says_nothing(one) and one.strip().upper() not in codes)
    )
    values = {value: count for value, count in every.items() if value.strip() not in words}
    also = [one for one in also if one.strip() not in words]
    found = sum(one.count for one in values.values())
    spread = math.sqrt(records.error**2 + missing.error**2 + sum(one.error**2 for one in values.values()))
    other = None if also else Measured(records.count - found - max(0.0, missing.count), spread)
    if not also and (found < LEAST_FOUND * (records.count - max(0.0, missing.count)) or not values):
        why = "Hardly any of its values is shared by enough people to be shown: type them, if it is no free text."
        return FoundColumn(name, None, False, "", why, values, other, missing)
    rest, gap = (_unlike(label, (*values, *also)) for label in (OTHER, MISSING))
    gap = gap if noticeable(missing.count, missing.error) else rest
    order = (*values, *also)
    categories = dict.fromkeys((*(in_rising_order(order) or order), rest, gap))
    column = Categorical(name, tuple(categories), missing=words, missing_category=gap, unknown_category=rest)
    rare = tuple(value for value in shown[1] if value in values) if shown[1:] else ()
    least = looks[0].threshold / looks[0].weight + SURELY * looks[0].error
    sure = tuple(value for value in shown[0] if value in values and values[value].count > least)
    return FoundColumn(name, column, False, "", "", values, other, missing, rare=rare, sure=sure)


FEWEST_CODES = 5  # Other values of two capital letters, from which on they all are codes.
_TWO_CAPITALS = re.compile("[A-Z]{2}")


def _says_nothing(value: str) -> bool:
    return value.strip().lower() in NOTHING


def _codes_like_words_for_nothing(values: Sequence[str]) -> set[str]:
    """Naples, Namibia and North Dakota among codes of two capital letters, where NA and ND are words for no value.

    Whoever exports missing values so gets a category of that name, which says as much.
    """
    others = {value for value in values if not _says_nothing(value)}
    codes = len(others) >= FEWEST_CODES and all(map(_TWO_CAPITALS.fullmatch, others))
    return {value for value in values if codes and _says_nothing(value) and _TWO_CAPITALS.fullmatch(value)}


def _unlike(label: str, values: Iterable[str]) -> str:
    """A name for a category that is none of the values, whatever their case."""
    return f"({label})" if label in {value.strip().lower() for value in values} else label


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


def noticeable(count: float, error: float) -> bool:
    """Whether a noisy number is more than noise."""
    return count > OCCUPIED * error


def paid_text(bought: Iterable[tuple[Cost, Budget]]) -> str:
    """What finding columns out has cost, each with the promise that it was the first part of, for a declaration."""
    written = [{"cost": cost.to_dict(), "whole": budget_to_dict(whole)} for cost, whole in bought]
    return json.dumps(written, separators=(",", ":")) if written else ""


def paid_pairs(paid: str) -> list[tuple[Cost, Budget]]:
    """What `paid_text` wrote; RequestError of others."""
    try:
        return [(Cost.from_dict(one["cost"]), Budget(**one["whole"])) for one in json.loads(paid or "[]")]
    except (ValueError, TypeError, KeyError, ArithmeticError, AttributeError):
        raise RequestError("What the declaration says was paid for it cannot be read: find it out again.") from None


def paid_before(paid: str) -> tuple[tuple[Cost, ...], Budget | None]:
    """The costs, and a single one's promise, for `Known.having_paid`."""
    bought = paid_pairs(paid)
    return tuple(cost for cost, _ in bought), bought[0][1] if len(bought) == 1 else None


def refuse_paid_for(costs: Collection[Cost], what: str) -> None:
    """RequestError where columns were found out for a price, and what is made of them promises no more than its own."""
    if costs:
        raise RequestError(
            f"The columns were found out for a price, which the promise of {what} does not cover: type what anyone may "
            "know of them."
        )


def budget_to_dict(budget: Budget) -> dict[str, str]:
    """A promise for JSON, as `Budget` takes it."""
    return {"epsilon": str(budget.epsilon), "delta": str(budget.delta), "neighbours": str(budget.neighbours)}
