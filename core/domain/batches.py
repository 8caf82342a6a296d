"""What a batch of records may say about where its rows stand in the source."""

from __future__ import annotations

import pyarrow as pa

FIRST_ROW = b"first_row"
"""Key of a batch's schema metadata: the place of its first row in the source, so that a refusal can name the row."""
ROWS_READ = b"rows_read"
"""The same for batches of gathered sets: how many rows of the source were read for them since the batch before."""


def first_row(batch: pa.RecordBatch | pa.Table) -> int | None:
    """The place of a batch's first row in its source; None where the batch does not say it."""
    found = (batch.schema.metadata or {}).get(FIRST_ROW)
    return None if found is None else int(found)
