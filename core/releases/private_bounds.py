"""Buy bounds for columns of a private source; what is bought, and why it is private, stands in `privacy.quantiles`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from ..domain import Domain, Numeric
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.quantiles import Bounds, Grid, release_bounds
from ..privacy.unit import EACH_RECORD, PrivacyUnit
from ..sources import Source


def private_bounds(
    source: Source,
    grids: Mapping[str, Grid],
    budget: Budget,
    unit: PrivacyUnit = EACH_RECORD,
    *,
    spend: Callable[[Cost], object],
    quantiles: tuple[float, float] = (0.01, 0.99),
) -> dict[str, Bounds]:
    """Bounds between which most records of each column lie, (ε, δ)-private together.

    Parameters
    ----------
    source : Source
        The private records; those that miss one of the values are left out.
    grids : Mapping[str, Grid]
        A generous public range for each column, by name.
    budget : Budget
        What all these bounds together may cost.
    unit : PrivacyUnit
        Who one person is.
    spend : Callable[[Cost], object]
        Writes the cost to a ledger, durably, or raises; called when everything is counted and before any noise is
        drawn.
    quantiles : tuple[float, float]
        Shares of the records below the low and below the high bounds.

    Examples
    --------
    >>> private_bounds(source, {"pay": Grid(-1e9, 1e9, spacing="log")}, Budget("0.1"),
    ...                spend=lambda cost: ledger.spend("payroll", cost))  # doctest: +SKIP

    Raises
    ------
    RequestError, BudgetError
        When the source cannot be read, or ``spend`` refuses; nothing was released.
    """
    counts = GridCounts(grids, unit)
    for batch in source.batches(counts.domain):
        counts.add(batch)
    found = release_bounds(list(grids.values()), counts.counts, budget, unit, spend=spend, quantiles=quantiles)
    return dict(zip(grids, found, strict=True))


class GridCounts:
    """How many records lie in every cell of some columns' grids: exact, and private.

    A record that misses one of the values is left out of all of them, so one record moves one cell of each grid.

    Parameters
    ----------
    grids : Mapping[str, Grid]
        A generous public range for each column, by name.
    unit : PrivacyUnit
        Who one person is.

    Attributes
    ----------
    domain : Domain
        Of the columns that are counted.
    counts : list[np.ndarray]
        int64 (cells,) of every column.
    """

    def __init__(self, grids: Mapping[str, Grid], unit: PrivacyUnit):
        self.domain = Domain(tuple(Numeric(name, grid.low, grid.high) for name, grid in grids.items()), unit=unit)
        self.counts = [np.zeros(grid.cells, dtype=np.int64) for grid in grids.values()]
        self._grids = tuple(grids.values())

    def add(self, batch: pa.RecordBatch) -> None:
        """Count the records of a batch, which may have further columns."""
        points = self.domain.encode(batch)
        for place, grid in enumerate(self._grids):
            self.counts[place] += grid.count(points[:, place])
