"""Rows that do not fit their domain, as masks, and how the first one is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from ..errors import RequestError
from .batches import first_row
from .column import Mask

Masks = dict[str, np.ndarray]
"""Rows that are meant, by name of the column."""


def either(*masks: Mask) -> Mask:
    """Rows that any of the masks means."""
    present = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(present) if present else None


def refuse_record(missing: Masks, unknown: Masks, batch: pa.RecordBatch | pa.Table) -> None:
    """Refuse the first record that misses a value, or else one of an unknown category, where the domain says so."""
    for name, mask, problem in _problems(missing, unknown):
        first = first_row(batch)
        place = f"row {(first or 0) + _first(mask):,}" + (" of its batch" if first is None else "")
        why = "and the domain says that missing values are refused"
        raise RequestError(f"The value of the column {name!r} in {place} {problem}, {why}.")


def refuse_query(missing: Masks, unknown: Masks, dates: Sequence[str] = ()) -> None:
    """Refuse the first query that misses a value, or else one of an unknown category.

    Texts that are asked about in a column of ``dates`` and are none count as missing.
    """
    for name, mask, problem in _problems(missing, unknown):
        none = " or not a date, such as 2024-12-31" if name in dates else ""
        raise RequestError(f"The query of the column {name!r} in row {_first(mask):,} {problem}{none}.")


def _problems(missing: Masks, unknown: Masks) -> Iterator[tuple[str, np.ndarray, str]]:
    """Columns with rows that do not fit, and why; the value itself is never named."""
    for masks, problem in ((missing, "is missing"), (unknown, "is not on the public list of categories")):
        for name, mask in masks.items():
            yield name, mask, problem


def _first(mask: np.ndarray) -> int:
    return int(np.argmax(mask)) + 1
