"""Records that were read into memory once, to be divided and read again without another draw.

Where a person may have several records, which of them count is drawn at random at every reading. Who reads several
times and needs the same records each time reads these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ..domain import Domain
from ..errors import RequestError
from ..privacy.unit import EACH_RECORD
from .arrow import ArrowSource
from .source import BATCH_ROWS, Source


class Drawn(ArrowSource):
    """The columns of a domain of records that were drawn already, so that a person has no more of them than may be.

    Parameters
    ----------
    table : pa.Table
        What `Source.batches` gave.
    label : str
        How messages name the source.
    """

    def __init__(self, table: pa.Table, label: str) -> None:
        made = ArrowSource.of_table(table, label)
        super().__init__(label, made.schema, made.read, made.total)
        self.table = table

    @classmethod
    def of(cls, source: Source, domain: Domain, most: int) -> Drawn:
        """Read a source once.

        Parameters
        ----------
        source, domain : Source, Domain
            The private records, and which columns of them.
        most : int
            Numbers that are held in memory; RequestError where there are more.

        Raises
        ------
        RequestError
            As `Source.batches` does, and when the records are too many to be held.
        """
        before, parts, held = source.fingerprint(), [], 0
        for batch in source.batches(domain):
            held += len(batch) * domain.dimensions
            if held > most:
                raise RequestError(
                    f"All records are held in memory for this, at most {most:,} numbers: give it fewer records or "
                    "columns."
                )
            parts.append(batch)
        if source.fingerprint() != before:
            raise RequestError(f"What is in {source.label} has changed while it was read; start again.")
        # That nobody is there is no reason to refuse, which would tell it.
        table = pa.Table.from_batches(parts) if parts else pa.table({name: pa.nulls(0) for name in domain.fields})
        return cls(table, source.label)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def batches(self, domain: Domain, rows: int = BATCH_ROWS, start: int = 0) -> Iterator[pa.RecordBatch]:
        return super().batches(replace(domain, unit=EACH_RECORD), rows, start)

    def where(self, chosen: np.ndarray) -> Drawn:
        """Some of them, bool (n,)."""
        return Drawn(self.table.filter(pa.array(chosen)), self.label)
