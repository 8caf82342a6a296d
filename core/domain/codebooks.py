"""Codebooks: what a data dictionary says of columns, turned into entries of a declaration.

Read are CSV and other tables with a header line (also as pasted out of a document), YAML, the columns of CSV on the Web
(W3C, "tableSchema") and of Frictionless table schemas ("fields"), and the labels in files of SPSS and Stata. Headers
are known by their usual names. A codebook describes what anyone could have; one that was made of the private records by
a program is no public knowledge, as its smallest and largest values are people's.

A file of SPSS or Stata says of each column what its codes mean and which of them stand for a missing value, and is
often all the data dictionary that there is. Its dictionary alone is read, by pyreadstat, and none of its records. It
says nothing of the bounds of numbers, which are left to the owner.
"""

import csv
import io
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import RequestError
from ..formatting.numbers import shown
from ..runtime.environment import check_extra
from ..runtime.transient import private_folder
from .column_entries import KINDS
from .columns import tidy_name
from .declarations import mapping_of
from .written import KNOWN

# What pyreadstat calls its reader, by the ending of a file's name.
READERS = {".sav": "read_sav", ".zsav": "read_sav", ".por": "read_por", ".dta": "read_dta"}
# Without it the codes that stand for a missing value are not told.
OPTIONS = {".sav": {"user_missing": True}, ".zsav": {"user_missing": True}}
MOST_LISTED = 100


def is_labelled(name: str) -> bool:
    """Whether a file's name says that it is of such a package."""
    return Path(name).suffix.lower() in READERS


def read_labels(name: str, content: bytes) -> dict[str, dict[str, Any]]:
    """What the file says of its columns, by their names, in the words of a codebook.

    `name`: Of the file; ends with .sav, .zsav, .por or .dta. `content`: The whole file; it lies in a folder of its own
    for the moment that pyreadstat takes.
    """
    check_extra("pyreadstat", "files", "Reading the labels of an SPSS or Stata file")
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
    return said | {"kind": _labelled_kind(format_)}


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


def _labelled_kind(format_: str) -> str:
    """From a print format: F8.0 is whole, F8.2 is not, A20 is text, DATE11 a day (SPSS); %8.0g, %20s, %td (Stata)."""
    plain = format_.upper()
    if re.fullmatch(r"A\d*|%-?\d*S", plain):
        return "text"
    if "DATETIME" in plain or plain.startswith(("%TC", "%-TC", "YMDHMS")):
        return "datetime"
    if re.search(r"[ESJ]?DATE\d*$", plain) or plain.startswith(("%TD", "%-TD", "%D")):
        return "date"
    return "integer" if re.fullmatch(r"F\d+(\.0)?", plain) else "number"


MOST_ROWS = 10_000
# What columns of a codebook are called, by what they say, and words for types, by the kind that they mean.
HEADERS, TYPES = ({what: words.split() for what, words in KNOWN[table].items()} for table in ("headers", "types"))
WHOLE = ("integer", "int", "whole", "count", "long", "short", "byte", "nonnegativeinteger", "positiveinteger")
SECONDS = ("datetime", "timestamp", "date_time")
_PAIR = re.compile(r"\s*([^=:;|,\n]{1,60}?)\s*(?:=|:|\s-\s)\s*([^;|\n]+?)\s*")


def codebook_in(name: str, content: bytes) -> dict[str, dict[str, Any]]:
    """What the file of a codebook says, by the column's name: entries of a declaration, whole or in part.

    `name`: Of the file; its ending tells files of SPSS and Stata.
    """
    if is_labelled(name):
        return {column: _entry(column, said) for column, said in read_labels(name, content).items()}
    try:
        return read_codebook(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise RequestError(
            f"The codebook {shown(name)!r} is not text in UTF-8: save it again with that encoding."
        ) from None


def paid_in(content: bytes) -> str:
    """What a declaration says that finding it out has cost, for whatever is made of its entries; "" of others."""
    if b"paid" not in content:
        return ""
    try:
        return str(mapping_of(content.decode("utf-8-sig"), "The codebook").get("paid", ""))
    except (RequestError, UnicodeDecodeError):
        return ""


def read_codebook(text: str) -> dict[str, dict[str, Any]]:
    """What a codebook says, by the column's name: entries of a declaration, whole or in part."""
    text = text.lstrip("\N{ZERO WIDTH NO-BREAK SPACE}")
    if not text.strip():
        raise RequestError("There is nothing in the codebook.")
    stripped = text.lstrip()
    if stripped.startswith(("{", "[")):
        return _of_json(stripped)
    if re.match(r"(#[^\n]*\n|\s*\n|---\s*\n)*[^,;\t|\n]+:\s*(\{|\n|$|[^,;\t|]*\n)", text):
        return _of_yaml(text)
    return _of_table(text)


def _of_yaml(text: str) -> dict[str, dict[str, Any]]:
    found = mapping_of(text, "The codebook")
    named = found["columns"] if isinstance(found.get("columns"), dict) else found
    if not all(isinstance(facts, dict) for facts in named.values()):
        raise RequestError("The codebook must say of each column, by its name, what anyone could have in it.")
    return {
        name: facts if facts.get("kind") in KINDS else _entry(name, _by_header(facts)) for name, facts in named.items()
    }


def _of_json(text: str) -> dict[str, dict[str, Any]]:
    try:
        found = json.loads(text)
    except ValueError:
        return _of_yaml(text)
    if isinstance(found, list):
        found = {"fields": found}
    schema = found.get("tableSchema", found.get("schema", found))
    if not schema.get("columns") and not schema.get("fields") and found.get("tables"):
        schema = found["tables"][0].get("tableSchema", {})
    columns = schema.get("columns", schema.get("fields"))
    if isinstance(columns, dict):
        return _of_yaml(text)
    if not isinstance(columns, list) or not all(isinstance(column, dict) for column in columns):
        raise RequestError("The codebook is JSON without a list of columns (tableSchema) or fields.")
    missing = [str(word) for word in schema.get("missingValues", []) if word]
    return {str(column.get("name", _title(column))): _of_schema(column, missing) for column in columns}


def _title(column: Mapping[str, Any]) -> str:
    title = column.get("titles", "")
    return str(title[0] if isinstance(title, list) and title else title)


def _of_schema(column: Mapping[str, Any], missing: list[str]) -> dict[str, Any]:
    """A column of CSV on the Web, or a field of a table schema."""
    kind = column.get("datatype", column.get("type", ""))
    facts = dict(kind) if isinstance(kind, dict) else {"base": kind}
    facts |= column.get("constraints", {})
    null = column.get("null", missing)
    said: dict[str, Any] = {
        "kind": str(facts.get("base", "")),
        "low": facts.get("minimum", facts.get("minInclusive", "")),
        "high": facts.get("maximum", facts.get("maxInclusive", "")),
        "values": facts.get("enum", column.get("categories", "")),
        "missing": [str(word) for word in ([null] if isinstance(null, str) else null) if word],
        "unit": column.get("unit", ""),
    }
    if str(column.get("categoriesOrdered", "")).lower() == "true":
        said["kind"] = "ordered"
    return _entry(str(column.get("name", "")), said)


def _of_table(text: str) -> dict[str, dict[str, Any]]:
    first = next(line for line in text.splitlines() if line.strip())
    mark = max("\t;|,", key=first.count)
    rows = list(csv.reader(io.StringIO(text.strip()), delimiter=mark, skipinitialspace=True))
    if mark == "|":  # a table of Markdown begins and ends with a bar
        rows = [[cell.strip() for cell in row] for row in rows]
        rows = [row[1:-1] if len(row) > 2 and row[0] == row[-1] == "" else row for row in rows]
        rows = [row for row in rows if not all(re.fullmatch(r":?-*:?", cell) for cell in row)]
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    if len(rows) < 2 or len(rows) > MOST_ROWS or first.count(mark) == 0:
        raise RequestError(
            "The codebook must be a table with a first line of names, such as name,type,min,max,values, and a line for "
            f"each of at most {MOST_ROWS:,} columns."
        )
    heads = [_head(cell) for cell in rows[0]]
    if "name" not in heads:
        raise RequestError(
            "No column of the codebook says the names: its first line must have one called name, variable or column."
        )
    found: dict[str, dict[str, Any]] = {}
    for row in rows[1:]:
        said = {head: cell.strip() for head, cell in reversed(list(zip(heads, row, strict=False))) if head}
        name = said.get("name", "")
        if name:
            # Codebooks with a line for each value repeat the name, or leave it empty.
            found[name] = _entry(name, said)
    return found


def _head(cell: str) -> str | None:
    tidy = tidy_name(cell)
    return next((head for head, names in HEADERS.items() if tidy in names), None)


def _by_header(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {head: value for key, value in facts.items() if (head := _head(str(key)))}


def _entry(name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of a declaration from what a line of a codebook says."""
    word = tidy_name(str(said.get("kind", "")))
    kind = word if word in KINDS else _kind(word)
    values = _values(said.get("values", ""))
    low, high = _text(said.get("low")), _text(said.get("high"))
    if (not low or not high) and said.get("range"):
        low, high = _range(str(said["range"])) or (low, high)
    if not values and isinstance(said.get("values"), str) and (ends := _range(str(said["values"]))):
        low, high = (low or ends[0]), (high or ends[1])
    if values and kind in ("", "text", "number", "yes_no"):
        kind = "category"
    if kind in ("", "number") and re.match(r"\d{4}-\d{2}", low):
        kind = "date"
    facts: dict[str, Any] = {"kind": kind or ("number" if low or high else "")}
    missing = listed_words(said.get("missing", ""))
    if facts["kind"] == "number":
        facts |= {"low": float(low)} if _is_number(low) else {}
        facts |= {"high": float(high)} if _is_number(high) else {}
        step = _text(said.get("step")) or ("1" if word in WHOLE else "")
        facts |= {"step": float(step)} if _is_number(step) and _fits(step, low, high) else {}
        facts |= {"unit": _text(said["unit"])} if said.get("unit") else {}
    elif facts["kind"] == "date":
        facts |= {"first": low} if low else {}
        facts |= {"last": high} if high else {}
        facts |= {"step": "second"} if word in SECONDS else {}
        facts |= {"format": _text(said["format"])} if "%" in _text(said.get("format")) else {}
    elif facts["kind"] in ("category", "ordered"):
        facts |= {"values": values} if values else {}
    if missing and facts["kind"] not in ("", "text"):
        facts["missing"] = missing
    return facts


def _kind(word: str) -> str:
    plain = re.sub(r"_*\d+$", "", word)
    return next((kind for kind, words in TYPES.items() if word in words or plain in words), "")


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _fits(step: str, low: str, high: str) -> bool:
    return not (_is_number(low) and _is_number(high)) or float(step) <= float(high) - float(low)


def _range(text: str) -> tuple[str, str] | None:
    """The ends of "0-120", "0 to 120", "[0, 120]" and "2015-01-01..2020-12-31"."""
    date, number = r"\d{4}-\d{2}-\d{2}", r"-?\d+(?:\.\d+)?"
    for one in (date, number):
        found = re.fullmatch(rf"\s*[\[(]?\s*({one})\s*(?:to|\.\.+|-|–|,|;)\s*({one})\s*[\])]?\s*", text)
        if found:
            return found.group(1), found.group(2)
    return None


def _values(stated: object) -> Any:
    """Labels, or a mapping from codes to labels: "1=Male; 2=Female", "1, Male | 2, Female", "Male|Female"."""
    if isinstance(stated, Mapping):
        return {str(code): str(label) for code, label in stated.items()}
    if isinstance(stated, Sequence) and not isinstance(stated, str):
        if stated and all(isinstance(one, Mapping) and "value" in one for one in stated):
            return {str(one["value"]): str(one.get("label", one["value"])) for one in stated}
        return [str(one) for one in stated]
    text = _text(stated)
    if not text or _range(text):
        return ""
    parts = _split(text)
    pairs = [_PAIR.fullmatch(part) for part in parts]
    if all(pairs) and len(parts) >= 2:
        return {pair.group(1): pair.group(2) for pair in pairs if pair}
    if "|" in text and all(part.count(",") >= 1 for part in parts):  # as REDCap writes choices
        return {part.split(",", 1)[0].strip(): part.split(",", 1)[1].strip() for part in parts}
    return parts if len(parts) >= 2 else ""


def _split(text: str) -> list[str]:
    mark = next((mark for mark in ("\n", "|", ";", ",") if mark in text), None)
    parts = [text] if mark is None else text.split(mark)
    return list(dict.fromkeys(part.strip().strip("\"'") for part in parts if part.strip()))


def listed_words(stated: object) -> list[str]:
    """A list of words, or the parts of a text that lists them."""
    if isinstance(stated, str):
        return _split(stated) if stated.strip() else []
    return [str(one) for one in stated] if isinstance(stated, Sequence) else []
