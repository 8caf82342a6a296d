"""Text in tables that people open in spreadsheets, which take a cell that begins like a formula for one.

A category or a column that somebody named `=HYPERLINK(…)` would be run there. In CSV and TSV such a text gets a quote
in front, as spreadsheets write it themselves; numbers are no text and stay as they are. In Parquet texts are exact.
"""

from __future__ import annotations

import pandas as pd

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""What a formula begins with, and what spreadsheets skip before one."""


def safe_cell(value: object) -> object:
    """A cell as a spreadsheet shows it and does not run it.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("a=1"), safe_cell(-3)
    ("'=1+1", 'a=1', -3)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The same with safe cells and names of columns."""
    safe = frame.copy()
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_datetime64_any_dtype(column.dtype):
            safe.isetitem(place, column.astype(object).map(safe_cell, na_action="ignore"))
    safe.columns = [safe_cell(name) for name in frame.columns]
    return safe


def csv_of(frame: pd.DataFrame) -> bytes:
    """A frame as CSV that is safe to open in a spreadsheet."""
    text: str = safe_frame(frame).to_csv(index=False)
    return text.encode()
