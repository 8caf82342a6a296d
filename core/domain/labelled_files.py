"""Codebooks inside the files of statistics packages: names, labels and missing codes of SPSS and Stata.

Such a file says of each column what its codes mean and which of them stand for a missing value, and is often all the
data dictionary that there is. Its dictionary alone is read, by pyreadstat, and none of its records. It says nothing of
the bounds of numbers, which are left to the owner.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import RequestError
from ..machine.environment import check_extra
from ..machine.transient import private_folder
from ..words.phrases import shown

READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}
"""What pyreadstat calls its reader, by the ending of a file's name."""
OPTIONS = {".sav": {"user_missing": True}, ".zsav": {"user_missing": True}}
"""Without it the codes that stand for a missing value are not told."""
MOST_LISTED = 100


def is_labelled(name: str) -> bool:
    """Whether a file's name says that it is of such a package."""
    return Path(name).suffix.lower() in READERS


def read_labels(name: str, content: bytes) -> dict[str, dict[str, Any]]:
    """What the file says of its columns, by their names, in the words of a codebook.

    Parameters
    ----------
    name : str
        Of the file; ends with .sav, .zsav, .por or .dta.
    content : bytes
        The whole file; it lies in a folder of its own for the moment that pyreadstat takes.

    Raises
    ------
    RequestError
        When pyreadstat is not installed, or cannot read the file.
    """
    check_extra("pyreadstat", "spss", "Reading the labels of an SPSS or Stata file")
    import pyreadstat

    suffix = Path(name).suffix.lower()
    with private_folder() as folder:
        path = Path(folder) / f"codebook{suffix}"
        path.write_bytes(content)
        try:
            _, said = getattr(pyreadstat, READERS[suffix])(str(path), metadataonly=True, **OPTIONS.get(suffix, {}))
        except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OSError, ValueError):
            raise RequestError(
                f"The codebook {shown(name)!r} cannot be read: damaged, or not in the format that its name says."
            ) from None
    labels, missing, written = said.variable_value_labels, said.missing_ranges, said.original_variable_types
    return {
        column: _said(
            written.get(column) or "", said.variable_measure.get(column), labels.get(column, {}), missing.get(column)
        )
        for column in said.column_names
    }


def _said(format_: str, measure: str | None, labels: Mapping[Any, str], missing: Any) -> dict[str, Any]:
    """Facts of a column: its kind, its labelled values, and the codes that are missing."""
    gaps = [(one["lo"], one["hi"]) for one in missing or ()]
    lost = [code for lo, hi in gaps for code in _listed(lo, hi)]
    lost += [code for code in labels if code not in lost and _is_missing(code, gaps)]
    values = {_code(code): str(label) for code, label in labels.items() if code not in lost}
    said: dict[str, Any] = {"missing": [_code(code) for code in lost]} if lost else {}
    if values and measure != "scale":
        return said | {"kind": "ordered" if measure == "ordinal" else "category", "values": values}
    return said | {"kind": _kind(format_)}


def _listed(lo: Any, hi: Any) -> list[Any]:
    """The codes of a stretch, where they are few and whole; one that is open to a side has none."""
    if lo == hi:
        return [lo]
    whole = all(isinstance(end, (int, float)) and float(end).is_integer() for end in (lo, hi))
    return [float(code) for code in range(int(lo), int(hi) + 1)] if whole and hi - lo < MOST_LISTED else []


def _is_missing(code: Any, gaps: list[tuple[Any, Any]]) -> bool:
    return any(type(code) is type(lo) and lo <= code <= hi for lo, hi in gaps)


def _code(code: Any) -> str:
    """A code as the data holds it when exported: a whole number without a point."""
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code)


def _kind(format_: str) -> str:
    """From a print format: F8.0 is whole, F8.2 is not, A20 is text, DATE11 a day (SPSS); %8.0g, %20s, %td (Stata)."""
    plain = format_.upper()
    if re.fullmatch(r"A\d*|%-?\d*S", plain):
        return "text"
    if "DATETIME" in plain or plain.startswith(("%TC", "%-TC", "YMDHMS")):
        return "datetime"
    if re.search(r"[ESJ]?DATE\d*$", plain) or plain.startswith(("%TD", "%-TD", "%D")):
        return "date"
    return "integer" if re.fullmatch(r"F\d+(\.0)?", plain) else "number"
