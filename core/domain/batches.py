"""Batches of records: tables in memory, whoever made them, and where the rows of a batch stand in their source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import RequestError

# Key of a batch's schema metadata: the place of its first row in the source, so that a refusal can name the row.
FIRST_ROW = b"first_row"
# The same for batches of gathered sets: how many rows of the source were read for them since the batch before.
ROWS_READ = b"rows_read"


def first_row(batch: pa.RecordBatch | pa.Table) -> int | None:
    """The place of a batch's first row in its source; None where the batch does not say it."""
    found = (batch.schema.metadata or {}).get(FIRST_ROW)
    return None if found is None else int(found)


def arrow_table(data: object, names: Sequence[str], what: str = "The data") -> pa.Table:
    """The named columns of a pandas frame, an Arrow table or batch, or a mapping from name to values.

    Further columns are ignored. A 2-d NumPy array inside a mapping is a column of vectors.

    Raises
    ------
    RequestError
        When a column is missing or named twice, or holds values of mixed types.
    """
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, (pa.Table, pd.DataFrame)):
        present = data.column_names if isinstance(data, pa.Table) else list(data.columns)
    elif isinstance(data, Mapping):
        present = list(data)
    else:
        raise RequestError(f"{what} must be a table with named columns: a pandas frame, an Arrow table or a mapping.")
    for name in names:
        if present.count(name) != 1:
            problem = "no column" if name not in present else "more than one column"
            raise RequestError(f"{what} must have one column {name!r}, and there is {problem} of that name.")
    if isinstance(data, pa.Table):
        return data.select(list(names))
    arrays = [arrow_array(data[name], name) for name in names]
    if len({len(array) for array in arrays}) > 1:
        raise RequestError(f"{what} must have columns of the same length.")
    return pa.Table.from_arrays(arrays, names=list(names))


def arrow_array(values: object, name: str) -> pa.Array | pa.ChunkedArray:
    """One column as Arrow; NaN and None alike become missing values."""
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            return values
        if isinstance(values, (pd.Series, pd.Index)):
            return pa.array(values, from_pandas=True)
        if isinstance(values, (list, tuple)):
            # NumPy would give all values one type, so that one person's text made texts of everyone's numbers.
            return pa.array(list(values), from_pandas=True)
        array = np.asarray(values)
        if array.ndim == 2:
            # Not from_pandas: NaN in a vector is a missing entry as it is, and looking for it would be one more pass.
            flat = pa.array(np.ascontiguousarray(array).reshape(-1))
            return pa.FixedSizeListArray.from_arrays(flat, array.shape[1])
        return pa.array(np.atleast_1d(array) if array.dtype != object else list(np.atleast_1d(array)), from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        # The library's own message would repeat the value.
        raise RequestError(f"The column {name!r} mixes values of different types; give it one type.") from None
