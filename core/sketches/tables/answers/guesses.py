"""Asking for the best guess by the names of columns: counts that agree with each other, of any columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..axes import Axis
from ..reading import Reading
from .best_guess import BestGuess
from .conditions import Where, chosen, places_of
from .counts import cell_keys, check_apart


@dataclass(frozen=True, eq=False)
class TableGuess:
    """The best guess of one release: counts that are not negative and agree with each other, without intervals.

    Any columns may be asked for together, also such as were not measured together: these are the most even table that
    agrees with those that were. For conclusions, ask for unbiased answers: a guess is off on purpose.

    Parameters
    ----------
    reading : Reading
        What a noisy table says of each residual.
    """

    reading: Reading

    @cached_property
    def guess(self) -> BestGuess:
        """The tables."""
        return BestGuess(self.reading)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The columns with their cells."""
        return self.reading.layout.axes

    def count(self, where: Where | None = None) -> float:
        """How many records fit a condition; a cell that a range cuts counts by its share."""
        return float(self.table(where=where).estimate[0])

    def table(self, *by: str, where: Where | None = None) -> pd.DataFrame:
        """How many records there are in each combination of the cells of some columns, with a column `estimate`.

        Parameters
        ----------
        *by : str
            Names of columns; see `TableAnswers.table`.
        where : Where | None
            A condition on further columns.
        """
        axes, conditions = self.axes, where or {}
        kept, asked = places_of(axes, by), places_of(axes, list(conditions))
        check_apart(kept, asked)
        if len(asked) == 1 and not kept:
            weights = chosen(axes[asked[0]], conditions[axes[asked[0]].name], fine=True).share
            return pd.DataFrame({"estimate": [float(weights @ self.guess.fine_counts(asked[0]))]})
        table = tuple(sorted((*kept, *asked)))
        found = self.guess.counts(table)
        for side in reversed(range(len(table))):
            if table[side] in asked:
                axis = axes[table[side]]
                found = np.tensordot(found, chosen(axis, conditions[axis.name]).share, axes=(side, 0))
        left = [place for place in table if place in kept]
        found = np.transpose(found, [left.index(place) for place in kept])
        return pd.DataFrame(cell_keys([axes[place] for place in kept]) | {"estimate": found.reshape(-1)})
