"""Text of unknown origin (a file's name, a column's, a category's) where HTML, Markdown or Plotly is read."""

from __future__ import annotations

import re
import unicodedata
from html import escape

# What has a meaning in Streamlit's Markdown, and where: `_` between two letters, `:` before a space and `#` within a
# line have none. Screen readers read the escapes of a label aloud, so there are no needless ones. Then what begins a
# list at the start of a line.
_MARKDOWN = re.compile(r"[\\`*\[\]<>~$|&]|(?<![^\W_])_|_(?![^\W_])|:(?=\S)|^#|^[-+]|(?<=^\d)[.)]|(?<=^\d\d)[.)]")

DIRECTIONS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
"""Unicode's marks that turn the direction of what follows; letters of scripts that run from right to left are none."""


def in_html(text: object) -> str:
    """Text as it may stand inside HTML, between tags or in an attribute; line breaks become spaces.

    Examples
    --------
    >>> in_html('<b> "x"')
    '&lt;b&gt; &quot;x&quot;'
    """
    return escape(" ".join(str(text).split()))


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
