"""Buy medians and other quantiles of columns; what is chosen, and why it is private, stands in
`core.privacy.choosing.column_quantiles`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from ..domain import Domain, Numeric
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget, Number
from ..privacy.choosing.column_quantiles import MOST_CELLS, Places, QuantilesPlan, plan_quantiles, release_quantiles
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.parameters import check_number
from ..sketches.tables.quantiles import roundest
from ..sources import FileReading, Source, open_source
from .payment import LedgerAccount, payer_of, spending

SELDOM = 50.0
"""Cells between round numbers from which one in the cell of a quantile is taken for its value. Of numbers without heaps
that moves one quantile in so many, within its cell; and where many share a value, people mostly chose a round one, of
which a place between the ends of the cell is off by all who share it."""


@dataclass(frozen=True)
class PrivateQuantile:
    """One released quantile of a column.

    Attributes
    ----------
    column : str
        Its column.
    quantile : float
        Share of the records below it; 0.5 is the median.
    value : float
        Where it was found, in the column's own unit: a number so round that it is in few cells, where one is.
    rank_error : float
        With 95% probability no more than so many records lie between the exact quantile and the stretch from low to
        high. From public facts; it is mostly several times too large.
    low, high : float
        The ends of the cell that the value lies in. How many records share the cell nobody has paid to know, and they
        are not told apart: a value that a third of all has may be anywhere in it. One value where the column has steps.
    """

    column: str
    quantile: float
    value: float
    rank_error: float
    low: float
    high: float


@dataclass(frozen=True)
class ColumnQuantiles:
    """Quantiles that are to be bought, all of them for one price."""

    domain: Domain  # Public bounds of columns of numbers, and who one person is.
    budget: Budget  # What all quantiles of all columns may cost together.
    quantiles: Sequence[Number] = (0.5,)  # Shares strictly between 0 and 1, of at most four digits.
    columns: Sequence[str] | None = None  # Columns of the domain; None is every column of numbers.
    # Of columns with the values low, low + step, … alone: 1 for whole numbers. Else it is that of the domain.
    steps: Mapping[str, float] = field(default_factory=dict)
    name: ClassVar[str] = "quantiles"

    def __post_init__(self) -> None:
        numbers = {column.name: column for column in self.domain.columns if isinstance(column, Numeric)}
        names = tuple(numbers) if self.columns is None else tuple(self.columns)
        for name in names:
            if name not in numbers:
                raise RequestError(f"{name!r} is not a column of numbers with public bounds, so it has no quantiles.")
        if len(set(names)) < len(names):
            raise RequestError("Every column of which quantiles are bought is named once.")
        for name in self.steps:
            if name not in names:
                raise RequestError(f"A step is given for {name!r}, of which no quantiles are bought.")
        if not names:
            raise RequestError("Quantiles are bought of one column of numbers or more.")
        kept = tuple(_with_step(numbers[name], self.steps.get(name)) for name in names)
        object.__setattr__(self, "domain", replace(self.domain, columns=kept, scale="none"))
        _ = self.planned, self.places  # what does not fit is refused here

    @cached_property
    def planned(self) -> QuantilesPlan:
        """What is chosen, and for how much."""
        return plan_quantiles(len(self.domain.columns), self.quantiles, self.budget, self.domain.unit)

    @cached_property
    def places(self) -> tuple[Places, ...]:
        """Candidates of every column."""
        return tuple(Places(*one.bounds(1.0), _told_apart(one)) for one in self._numbers)

    @property
    def _numbers(self) -> list[Numeric]:
        return [column for column in self.domain.columns if isinstance(column, Numeric)]

    @property
    def cost(self) -> Cost:
        """What the ledger is told."""
        return self.planned.cost

    def parameters(self) -> dict[str, Any]:
        """Public facts for the ledger's note."""
        return {
            "columns": list(self.domain.names),
            "quantiles": [float(one) for one in self.planned.quantiles],
            "steps": dict(self.steps),
        }

    def buy(
        self,
        source: Source,
        payer: LedgerAccount | None,
        *,
        progress: Callable[[int], object] | None = None,
        noise_source: NoiseSource | None = None,
    ) -> tuple[PrivateQuantile, ...]:
        """Count the records in one reading, pay, and choose.

        RequestError or BudgetError when the source cannot be read or the ledger refuses; nothing was spent.

        `source`: The private records; those that miss one of the values are left out. `payer`: Who pays; with None
        adding up is left to the caller.
        """
        spend = spending(payer, self.cost, self)
        counts = [np.zeros(one.cells, dtype=np.int64) for one in self.places]
        rows = 0
        for batch in source.batches(self.domain):
            points = np.asarray(self.domain.encode(batch))
            for place, where in enumerate(self.places):
                counts[place] += where.count(points[:, place])
            rows += batch.num_rows
            if progress is not None:
                progress(rows)
        paid = spend if spend is not None else _unrecorded
        found = release_quantiles(self.places, counts, self.planned, spend=paid, noise_source=noise_source)
        return tuple(
            _found(column, float(share), error, where, place)
            for column, places, where in zip(self._numbers, found, self.places, strict=True)
            for share, place, error in zip(self.planned.quantiles, places, self._errors(where), strict=True)
        )

    def _errors(self, where: Places) -> list[float]:
        """Rank errors of the quantiles, in their order."""
        choices = sorted(self.planned.choices, key=lambda choice: choice.place)
        return [self.planned.rank_error(choice, where.cells * where.parts + 1) for choice in choices]


def _with_step(column: Numeric, step: float | None) -> Numeric:
    """The column with the step that is said of it, which says how finely values are told apart."""
    if step is None:
        return column
    if check_number(step, "The step of a column") <= 0:
        raise RequestError("The step of a column must be above zero, such as 1 for whole numbers.")
    return replace(column, step=float(step))


def _told_apart(column: Numeric) -> float | None:
    """The step by which candidates lie apart; None where there are too many values, and of amounts."""
    if column.scale or not column.step:
        return None
    return column.step if (column.high - column.low) / column.step < MOST_CELLS - 1 else None


def _found(column: Numeric, quantile: float, rank_error: float, where: Places, place: float) -> PrivateQuantile:
    """A place that was chosen and the ends of its cell, in the column's own unit."""
    ends = where.cell_around(place)
    value, low, high = np.clip(column.between(np.array([place, *ends])), column.low, column.high).tolist()
    if not column.step:
        value = roundest(low, high, value, apart=SELDOM * (high - low))
    if column.step and where.step is None:  # a cell may lie between two values
        value = float(column.present(value))
        low, high = min(low, value), max(high, value)
    return PrivateQuantile(column.name, quantile, value, rank_error, low, high)


def private_quantiles(
    data: object,
    domain: Domain,
    budget: Budget,
    quantiles: Sequence[Number] = (0.5,),
    columns: Sequence[str] | None = None,
    *,
    steps: Mapping[str, float] | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    noise_source: NoiseSource | None = None,
    **reading: Unpack[FileReading],
) -> tuple[PrivateQuantile, ...]:
    """Medians, or other quantiles, of columns of numbers: several times sharper than off a release of distances.

    Parameters
    ----------
    data : object
        Whatever `core.sources.open_source` opens: a path, a frame, an array.
    domain : Domain
        Public bounds of the columns, and who one person is.
    budget : Budget
        The promise for all quantiles of all columns together.
    quantiles : Sequence[Number]
        Shares strictly between 0 and 1, of at most four digits; the median alone without it.
    columns : Sequence[str] | None
        Which columns; None is every column of numbers.
    steps : Mapping[str, float] | None
        Of columns with the values low, low + step, … alone: 1 for whole numbers.
    ledger, dataset : Ledger | str | None, str | None
        Who pays, as in `release`.
    noise_source : NoiseSource | None
        None in any real release.
    **reading : FileReading
        How a file is read that does not say it itself: ``encoding``, ``sep``, ``header``, ``names``, ``sheet``.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": range(18, 88)})
    >>> (median,) = private_quantiles(people, Domain.of(age=(0, 120)), Budget(10), steps={"age": 1})
    >>> 40 < median.value < 65
    True

    Raises
    ------
    RequestError, BudgetError
        When something cannot be used, or the budget does not allow it; nothing was spent.
    """
    asked = ColumnQuantiles(domain, budget, quantiles, columns, {} if steps is None else steps)
    payer = payer_of(ledger, dataset, budget, domain.unit)
    return asked.buy(open_source(data, **reading), payer, noise_source=noise_source)


def _unrecorded(cost: Cost) -> None:
    """Nobody pays: adding up is left to the caller."""
