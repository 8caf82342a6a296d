"""Text of unknown origin (a file's name, a column's, a category's) where HTML, Markdown, Plotly or a spreadsheet reads.

A spreadsheet takes a cell that begins like a formula for one: a column that somebody named `=HYPERLINK(…)` would be run
there. In CSV and TSV such a text gets a quote in front, as spreadsheets write it themselves; numbers are no text and
stay as they are. In Parquet texts are exact.
"""

from __future__ import annotations

import re
import unicodedata
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# What has a meaning in Streamlit's Markdown, and where: `_` between two letters, `:` before a space and `#` within a
# line have none. Screen readers read the escapes of a label aloud, so there are no needless ones. Then what begins a
# list at the start of a line.
_MARKDOWN = re.compile(r"[\\`*\[\]<>~$|&]|(?<![^\W_])_|_(?![^\W_])|:(?=\S)|^#|^[-+]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")

# Unicode's marks that turn the direction of what follows; letters of scripts that run from right to left are none.
DIRECTIONS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def in_html(text: object) -> str:
    """Text as it may stand inside HTML, between tags or in an attribute; line breaks become spaces.

    Examples
    --------
    >>> in_html('<b> "x"')
    '&lt;b&gt; &quot;x&quot;'
    """
    return escape(isolated(" ".join(str(text).split())))


# Letters of scripts that run from right to left, as far as they stand together.
_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
_FROM_RIGHT = re.compile(f"{_LETTER}(?:[^A-Za-zÀ-ɏ,:;·(){{}}<>]*{_LETTER})?…?")


def isolated(text: str) -> str:
    """A sentence in which names that run from right to left leave the order of what is around them as it is.

    Examples
    --------
    >>> isolated("38% שלום") == "38% \\u2068שלום\\u2069"
    True
    """
    return _FROM_RIGHT.sub("\u2068\\g<0>\u2069", text)


def in_markdown(text: object) -> str:
    """Text where Streamlit reads Markdown: labels, options, messages; line breaks become spaces.

    A column named like a picture would otherwise make every visitor's browser fetch that picture from a stranger.

    Examples
    --------
    >>> print(in_markdown("![a](b) costs $5"), in_markdown("- 1. x"))
    !\\[a\\](b) costs \\$5 \\- 1. x
    """
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(str(text).split()))


def in_plotly(text: str) -> str:
    """Text in a figure's titles and labels, where Plotly reads some HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def steers(sign: str) -> bool:
    """Whether a character is not drawn but steers what is: a control character, a line's end, a mark of direction."""
    return unicodedata.category(sign) in ("Cc", "Zl", "Zp", "Cs") or unicodedata.bidirectional(sign) in DIRECTIONS


FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # What a formula begins with, and what spreadsheets skip before one.


def safe_cell(value: object) -> object:
    """A cell as a spreadsheet shows it and does not run it.

    Examples
    --------
    >>> safe_cell("=1+1"), safe_cell("a=1"), safe_cell(-3)
    ("'=1+1", 'a=1', -3)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULAS) else value


def safe_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose texts and names of columns are safe in a spreadsheet."""
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype  # here, as most who escape know no pandas

    safe = frame.copy()
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not is_numeric_dtype(column.dtype) and not is_datetime64_any_dtype(column.dtype):
            safe.isetitem(place, column.astype(object).map(safe_cell, na_action="ignore"))
    safe.columns = [safe_cell(name) for name in frame.columns]
    return safe


def csv_of(frame: pd.DataFrame) -> bytes:
    """A frame as CSV that is safe to open in a spreadsheet."""
    text: str = safe_frame(frame).to_csv(index=False)
    return text.encode()
