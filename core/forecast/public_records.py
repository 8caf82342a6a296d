"""Records that everybody may know, on which forecasts are tried in place of made-up ones.

They are taken as a release takes private ones: values beyond the bounds are moved to them, or left out, as the domain
says. Whoever names them says that they are public: what is chosen by them, such as the size of a table, goes into the
file, and nothing hides it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..domain import Domain

if TYPE_CHECKING:
    from .one_trial import Trial

MOST_REMEMBERED = 64
"""Trials."""


@dataclass(frozen=True, eq=False)
class PublicRecords:
    """Public records, in an order that says nothing.

    Attributes
    ----------
    title : str
        What they are called.
    table : pa.Table
        Columns as they were read.
    key : str
        Tells them from all others, for what is remembered of them elsewhere.
    """

    title: str
    table: pa.Table
    key: str = field(default_factory=lambda: token_hex(8))
    _tried: dict[Any, Trial] = field(default_factory=dict, repr=False)

    def encoded(self, domain: Domain, metric: str) -> np.ndarray:
        """Coordinates of all of them, float64 (n, dimensions), less those that miss a value of the domain's columns."""
        (batch,) = self.table.select(domain.names).combine_chunks().to_batches()
        return replace(domain, missing="drop").encode(batch, metric)

    def spread(self, domain: Domain) -> float:
        """Standard deviation of a column in shares of its bounds, root mean square over the columns."""
        points = self.encoded(replace(domain, scale="box"), "l2")
        return float(np.sqrt(points.var(axis=0).mean()))

    def trial(self, sketch: object, tried: Callable[[], Trial]) -> Trial:
        """How a sketch did on them, remembered with them and forgotten with them."""
        if sketch not in self._tried:
            self._tried[sketch] = tried()
        while len(self._tried) > MOST_REMEMBERED:
            del self._tried[next(iter(self._tried))]
        return self._tried[sketch]
