"""What is known of an owner's records before one of them is read, for the owner's eyes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import RequestError
from ..words.numbers import size
from ..words.phrases import count
from . import Source


@dataclass(frozen=True)
class Found:
    """Private, but for the number of columns.

    Attributes
    ----------
    columns : int
        How many there are.
    rows : int | None
        How many rows there are, where the data says so itself; None where they would have to be counted.
    files, size : int | None
        How many files they lie in, and their bytes together; None for what is no file of this computer.
    database : bool
        Whether the file holds other tables, too.
    """

    columns: int
    rows: int | None
    files: int | None = None
    size: int | None = None
    database: bool = False

    @classmethod
    def of(cls, source: Source, paths: Sequence[str] = (), database: bool = False) -> Found:
        """Look at what files say of themselves, and at nothing in them."""
        try:
            rows = source.rows_total()
            size = sum(Path(path).stat().st_size for path in paths)
        except (RequestError, OSError):  # gone, or not to be read: reading will say so
            return cls(len(source.columns), None)
        if not paths:
            return cls(len(source.columns), rows)
        return cls(len(source.columns), rows, len(paths), size, database)

    @property
    def where(self) -> str:
        """What it lies in, in words; "" for what is no file of this computer."""
        if self.files is None or self.size is None:
            return ""
        if self.database:
            return f"in a database of {size(self.size)}"
        return f"{count(self.files, 'file')}, {size(self.size)}"

    def facts(self, title: str) -> list[tuple[str, str]]:
        """What to show, each with what it means."""
        rows = (
            (count(self.rows, "row"), "The data says so itself. The number stays private.")
            if self.rows is not None
            else ("Rows are not counted", "Nothing is read before you release something.")
        )
        columns = (count(self.columns, "column"), "Names and kinds are below. No value is shown.")
        return [(title, self.where), columns, rows]
