"""Files as people have them: encodings, separators, headers, archives, spreadsheets, JSON lines, packages."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Categorical, Domain
from core.domain.declarations import Declaration
from core.errors import RequestError
from core.privacy.budget import Budget
from core.releases.discovery_stage import Discovery
from core.sources import Upload, open_source
from core.sources.copies import in_utf8, is_utf8
from tests.depth import crossed, deep, draws
from tests.sources.spreadsheets import CLOCK, DATE, MOMENT, ods, packed, xlsx


def texts(source, name: str) -> list[str]:
    """All values of a column, as they are given to a column of categories."""
    column = Categorical(name, ("no such", "value"))
    return [text for batch in source.batches(Domain((column,))) for text in batch.column(0).to_pylist()]


def upload(content: bytes | str, name: str = "x.csv", **options):
    return open_source(Upload(name, content.encode() if isinstance(content, str) else content), **options)


def seen(source) -> dict[str, tuple[str, str]]:
    return {column.name: (column.kind, column.format) for column in source.columns}


WORD = st.text(st.characters(codec="cp1252", categories=("L", "N")), min_size=1, max_size=6)
NOT_UTF8 = WORD.map(lambda text: text.encode("cp1252")).filter(lambda content: not is_utf8([content]))


def lines_of(content: bytes) -> list[str]:
    return b"".join(in_utf8([content], "")).decode().split("\n")[1:-1]


@pytest.mark.thorough
@settings(max_examples=draws(4, 50))
@given(names=st.lists(WORD, min_size=1, max_size=6), wide=st.booleans(), other=NOT_UTF8, at=st.integers(0, 6))
def test_the_bytes_of_one_record_change_how_no_other_is_read(names, wide, other, at):
    records = [name.encode("utf-8" if wide else "cp1252") for name in names]
    at = min(at, len(records))
    alone = lines_of(b"name\n" + b"".join(record + b"\n" for record in records))
    beside = [*records[:at], other, *records[at:]]
    together = lines_of(b"name\n" + b"".join(record + b"\n" for record in beside))
    assert together[:at] + together[at + 1 :] == alone
    assert not wide or alone == names


@pytest.mark.few(2)
@pytest.mark.parametrize("names", [["Käse", "grün"], ["ä", "ß", "x"]])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_a_byte_of_one_record_that_is_no_utf8_is_a_letter_and_leaves_the_others_as_they_are(names, encoding):
    records = [name.encode(encoding) for name in names]
    for at in (0, len(records)):
        lines = [*records[:at], "Öl".encode("cp1252"), *records[at:]]
        read = texts(upload(b"name;x\n" + b"".join(line + b";1\n" for line in lines)), "name")
        assert read == [*names[:at], "Öl", *names[at:]]


@given(st.binary(max_size=40), st.lists(st.integers(0, 40), max_size=4))
def test_what_bytes_say_does_not_depend_on_where_a_reading_is_cut(content, cuts):
    places = sorted({0, len(content), *(cut for cut in cuts if cut < len(content))})
    pieces = [content[first:last] for first, last in pairwise(places)]
    assert b"".join(in_utf8(pieces, "")) == b"".join(in_utf8([content], ""))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("encoding", "mark"),
    crossed(["cp1252", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"], [";", ",", "\t", "|"]),
)
def test_a_text_is_read_in_the_encoding_and_with_the_separator_that_it_has(encoding, mark, tmp_path):
    content = f'größe{mark}"a{mark}b"\n3{mark}"Käse{mark} grün"\n4{mark}\n'.encode(encoding)
    (tmp_path / "x.csv").write_bytes(content)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(content))
    for source in (upload(content), open_source(tmp_path / "x.csv"), open_source(tmp_path / "x.csv.gz")):
        assert [column.name for column in source.columns] == ["größe", f"a{mark}b"]
        assert texts(source, f"a{mark}b") == [f"Käse{mark} grün", None]
        assert "fields separated by" in source.remarks[0]


def test_encoding_and_separator_can_be_said():
    content = "имя:x\nяблоко:1\n"
    assert texts(upload(content.encode("cp1251"), encoding="windows-1251", sep=":"), "имя") == ["яблоко"]
    assert texts(upload("名,x\n林檎,1\n".encode("shift_jis"), encoding="SJIS"), "名") == ["林檎"]
    with pytest.raises(RequestError, match="'klingon' is not known; there are: utf-8"):
        upload(content, encoding="klingon")
    with pytest.raises(RequestError, match="one character"):
        upload(content, sep="ab")


def test_polish_names_are_no_signs_of_windows_1252_and_no_record_decides_it():
    """Pay in "zł" had been left out as free text, under the name "p³aca"."""
    polish = upload("płaca;x\n12 zł;ą\n".encode("cp1250"))
    assert [column.name for column in polish.columns] == ["płaca", "x"] and texts(polish, "x") == ["ą"]
    assert "windows-1250" in polish.remarks[0]
    for names in ("¿cuánto?;m³;Nº;name¹", "größe;£paid;m³Gas;x"):
        assert [column.name for column in upload(f"{names}\na³b;1;2;3\n".encode("cp1252")).columns] == names.split(";")
    assert texts(upload("a;b\np³aca;1\n".encode("cp1252")), "a") == ["p³aca"]
    assert upload("p³aca;b\nł;1\n".encode()).columns[0].name == "p³aca"  # as UTF-8 says
    for end in ("\r", "\r\n"):  # where "\n" ends no line, records had been taken for names
        cafe = upload(f"café;b{end}x³y;1{end}".encode("cp1252"))
        assert cafe.columns[0].name == "café" and "Windows-1252" in cafe.remarks[0]


def test_a_letter_of_several_bytes_takes_nothing_of_the_next_record_along():
    content = b"a,b\nx\x83,1\ny,2\n"  # the beginning of a letter of Shift JIS, and no end
    assert texts(upload(content, encoding="shift_jis"), "b")[1:] == ["2"]


@pytest.mark.thorough
def test_separator_and_quotes_are_taken_from_the_header_alone():
    assert texts(upload("a;b\n1,2,3,4;5\n"), "a") == ["1,2,3,4"]
    assert texts(upload("'a','b'\n'1','it \"is\"'\n"), "b") == ['it "is"']
    assert texts(upload("sep=;\na;b\n1;2\n"), "b") == ["2"]


@pytest.mark.thorough
def test_a_header_that_is_missing_gets_a_sentence_and_a_way_on():
    with pytest.raises(RequestError, match="values where names of columns are expected: say that there are none"):
        upload("1,2\n3,4\n")
    assert texts(upload("1,2\n3,4\n", header=False), "column1") == ["2", "4"]
    named = open_source(Upload("x.csv", b"1,2\n3,4\n"), ["a", "b"], header=False)
    assert texts(named, "b") == ["2", "4"]
    assert texts(upload("Report of May\n\nname,n\nx,2\n", header=3), "n") == ["2"]
    with pytest.raises(RequestError, match=r"There are 2 columns in the file 'x.csv', and 3 names are given"):
        open_source(Upload("x.csv", b"1,2\n"), ["a", "b", "c"], header=False)


def test_doubled_and_empty_names_are_told_apart_and_said():
    source = upload("a,A,,a\n1,2,3,4\n")
    assert [column.name for column in source.columns] == ["a", "A_1", "column2", "a_2"]
    assert "'A_1', 'column2', 'a_2'" in source.remarks[1]
    assert texts(source, "a_2") == ["4"]


CONTENTS = [b"secret" * 50, deep(b"PK\x03\x04" + bytes(60)), deep(b"\x9c\x00secret" * 900)]
ROWS = [
    ["no", "name", "born", "at", "fee", "ok", "from"],
    ["01", "Ä, b", (45_000, DATE), (45_000.5, MOMENT), 1.5, True, (0.25, CLOCK)],
    [],
    ["02", None, (45_001, DATE), None, 3, False, (0.5, CLOCK)],
]
SAID = {
    "no": ["01", "02"],
    "name": ["Ä, b", None],
    "born": ["2023-03-15", "2023-03-16"],
    "at": ["2023-03-15 12:00:00", None],
    "fee": ["1.5", "3"],
    "ok": ["true", "false"],
    "from": ["06:00:00", "12:00:00"],
}


@pytest.mark.thorough
def test_a_sheet_of_excel_is_a_table_of_what_its_cells_say(tmp_path):
    (tmp_path / "x.xlsx").write_bytes(xlsx({"A": ROWS, "B": [ROWS[0], ["03", "c"]]}))
    for source in (open_source(tmp_path / "x.xlsx"), upload(xlsx({"A": ROWS}), "x.xlsx")):
        assert {name: texts(source, name) for name in SAID} == SAID
        assert seen(source)["born"] == ("date", "") and seen(source)["no"] == ("text", "code")
    assert "Read is the first sheet, A; there are also: B." in open_source(tmp_path / "x.xlsx").remarks
    assert texts(open_source(f"{tmp_path}/x.xlsx::B"), "no") == ["03"]
    assert texts(open_source(tmp_path / "x.xlsx", sheet="*"), "no") == ["01", "02", "03"]
    with pytest.raises(RequestError, match=r"no sheet 'C' in .*; its sheets are: A, B"):
        open_source(f"{tmp_path}/x.xlsx::C")


@pytest.mark.thorough
def test_rows_above_the_names_of_a_sheet_are_passed_over_and_names_may_be_given():
    book = xlsx({"A": [["Report"], [], *ROWS]})
    assert texts(upload(book, "x.xlsx", header=2), "no") == ["01", "02"]
    nameless = open_source(Upload("x.xlsx", xlsx({"A": [[1, 2], [3, 4]]})), ["a", "b"], header=False)
    assert texts(nameless, "b") == ["2", "4"]
    with pytest.raises(RequestError, match="different names of columns"):
        upload(xlsx({"A": ROWS, "B": [["other"], [1]]}), "x.xlsx", sheet="*")


def test_a_sheet_of_opendocument():
    assert texts(upload(ods([["a", "b"], ["1", "Käse"]]), "x.ods"), "b") == ["Käse"]


@pytest.mark.parametrize("note", [["left the company"], [None, None, None, "left the company"]])
def test_a_remark_beside_one_record_of_a_sheet_is_no_column_of_all(note):
    """One cell beside the names made a column more, and one before them moved all others."""
    sheet = [[None, "no", "fee"], *([None, place, 7] for place in range(30))]
    with_note = [*sheet[:-1], [note[0] if len(note) == 1 else None, 29, 7, *note[3:]]]
    plain, beside = (upload(xlsx({"A": rows}), "x.xlsx") for rows in (sheet, with_note))
    assert [one.name for one in beside.columns] == [one.name for one in plain.columns] == ["column0", "no", "fee"]
    assert texts(beside, "no") == texts(plain, "no")
    assert (note[0] is None) == any("beside the last name is left out" in one for one in beside.remarks)


@pytest.mark.parametrize("first", ["1;2;3", "1,5;2,5;3,5", "'a';'b';'c'"])
def test_no_first_record_decides_how_others_are_read_where_there_are_no_names(first):
    """Decimals in it made commas what separates the fields, and quotes around its values took them off all others."""
    others = "'a';5;6\n'b';8;9\n"
    if "," in first:
        with pytest.raises(RequestError, match="Without names nothing public says what separates"):
            upload(f"{first}\n{others}", header=0)
    source = upload(f"{first}\n{others}", header=0, **({"sep": ";"} if "," in first else {}))
    assert texts(source, "column0")[1:] == ["'a'", "'b'"]


def test_a_quote_in_a_name_takes_no_record_for_a_name():
    assert texts(upload('size (5" max);weight\n1;2\n3" wide;4\n'), 'size (5" max)') == ["1", '3" wide']
    assert texts(upload('"a\nb";"c;""d"""\n1;2\n'), "a\nb") == ["1"]
    with pytest.raises(RequestError, match="a quote that does not end"):
        upload('"size;weight\n' + "1;2\n" * 20)


def test_names_that_records_differ_in_are_said_before_anything_is_found_out():
    """A name that one record alone had was a column of a release that found out what nobody had said."""
    lines = '{"a": 1, "b": "x"}\n' * 500
    plain, odd = upload(lines, "x.jsonl"), upload(lines + '{"a": 1, "b": "x", "secret": 1}\n', "x.jsonl")
    promise = Budget(1, "1e-6")
    assert Discovery.of_source(plain, promise).columns == ("a", "b") and not plain.remarks
    with pytest.raises(RequestError, match="have different names"):
        Discovery.of_source(odd, promise)
    assert Discovery.of_source(odd, promise, columns=("a", "b")).columns == ("a", "b")
    said = upload(lines + '{"b": "y", "secret": 1}\n', "x.jsonl", names=["b", "a"])
    assert Discovery.of_source(said, promise).columns == ("b", "a") and texts(said, "b")[-1] == "y"


def test_the_first_record_of_a_file_without_names_says_how_all_are_encoded():
    """Its first word, in Windows-1252, is what a file in UTF-16 begins with, by which all others were read."""
    content = "\u00ff\u00fey;1\nBasel;2\n".encode("windows-1252")
    with pytest.raises(RequestError, match="nothing public says that the text is in UTF-16"):
        upload(content, header=0, sep=";")
    said = upload(content, header=0, sep=";", encoding="windows-1252")
    assert texts(said, "column0") == ["\u00ff\u00fey", "Basel"]
    wide = upload("a;1\nb;2\n".encode("utf-16"), header=0, sep=";", encoding="utf-16")
    assert texts(wide, "column0") == ["a", "b"]


def test_a_carriage_return_in_a_value_is_part_of_it():
    """It stood in the copy without quotes, as the end of a line, and the table was refused."""
    values = ["a", "x\ra\rb", "a\r\nb", "b"]
    assert texts(upload("\n".join(json.dumps({"c": value}) for value in values), "x.jsonl"), "c") == values


@pytest.mark.thorough
def test_json_lines_and_lists_are_tables_whose_numbers_are_as_they_are_written(tmp_path):
    records = [{"a": 1.50, "b": "x\ny"}, {"b": None, "c": [1, 2], "a": 10**20}, {"ok": True}]
    lines = "\n".join(map(json.dumps, records)).replace("1.5", "1.50").encode()
    wanted = {"a": ["1.50", "1" + "0" * 20, None], "b": ["x\ny", None, None], "ok": [None, None, "true"]}
    for source in (
        upload(lines, "x.jsonl"),
        upload(gzip.compress(lines), "x.ndjson.gz"),
        upload(json.dumps(records).replace("1.5", "1.50"), "x.json"),
    ):
        assert {name: texts(source, name) for name in wanted} == wanted
    with pytest.raises(RequestError, match="Line 2 is no record"):
        upload(b'{"a": 1}\nsecret\n', "x.jsonl")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["dta", deep("sav"), deep("xpt")])
def test_files_of_statistics_packages(kind, tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    days = pd.to_datetime(["2020-01-01 10:00:00", "2021-01-01 11:30:05"])
    frame = pd.DataFrame({"sex": [1.0, np.nan], "name": ["a", "ü"], "at": days, "x": [1.5, 2.25]})
    write = {"sav": "write_sav", "dta": "write_dta", "xpt": "write_xport"}[kind]
    getattr(pyreadstat, write)(frame, str(tmp_path / f"x.{kind}"))
    source = open_source(tmp_path / f"x.{kind}")
    assert texts(source, "name") == ["a", "ü"]
    assert texts(source, "sex") == ["1", None]
    assert texts(source, "at") == ["2020-01-01 10:00:00", "2021-01-01 11:30:05"]
    assert texts(source, "x") == ["1.5", "2.25"]
    assert seen(source)["at"][0] == "date" and seen(source)["x"][0] == "number"


@pytest.mark.thorough
def test_the_tables_of_an_archive_are_one_table(tmp_path):
    content = packed({"b.csv": "a;b\n2;ü\n", "a.csv": "a;b\n1;ä\n".encode("latin-1"), "__MACOSX/._a.csv": "?"})
    (tmp_path / "x.zip").write_bytes(content)
    for source in (upload(content, "x.zip"), open_source(tmp_path / "x.zip")):
        assert texts(source, "b") == ["ä", "ü"]
    assert texts(upload(packed({"x.xlsx": xlsx({"A": ROWS})}), "x.zip"), "no") == ["01", "02"]
    with pytest.raises(RequestError, match=r"no table in the file 'x.zip'"):
        upload(packed({"x.pdf": "?"}), "x.zip")


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "name", ["a.xlsx", "a.ods", "a.xls", "a.zip", "a.sav", deep("a.dta"), deep("a.sas7bdat"), "a.json"]
)
@pytest.mark.parametrize("content", CONTENTS, ids=len)
def test_damaged_files_are_refused_in_a_sentence(name, content):
    with pytest.raises(RequestError) as refused:
        upload(content, name)
    assert "secret" not in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.thorough
def test_a_sheet_that_claims_more_cells_than_there_is_memory_for_ends_in_a_sentence():
    files = _unpacked(xlsx({"A": [["a"], ["b"]]}))
    far = files["xl/worksheets/s0.xml"].replace(b"A2", b"XFD1048576")
    with pytest.raises(RequestError, match=r"memory or time|damaged"):
        upload(packed({**files, "xl/worksheets/s0.xml": far}), "x.xlsx")


def test_a_bomb_in_an_archive_ends_in_a_sentence(monkeypatch):
    monkeypatch.setattr("core.sources.copies.MOST_IN_MEMORY", 1 << 20)
    with pytest.raises(RequestError, match=r"larger than 0.0 GiB once it is unpacked"):
        upload(packed({"x.csv": b"a,b\n" + bytes(4 << 20)}), "x.zip")


def _unpacked(content: bytes) -> dict[str, bytes]:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_file_that_changed_is_copied_anew(tmp_path):
    path = Path(tmp_path / "x.csv")
    path.write_bytes("a\nä\n".encode("latin-1"))
    source = open_source(path)
    assert texts(source, "a") == ["ä"]
    path.write_bytes("a\nä\nö\n".encode("latin-1"))
    assert texts(source, "a") == ["ä", "ö"]


LIBRARY = "\n".join(
    (
        "Ausweis;Geboren;Entliehen am;Gebühr (EUR);Rabatt;Dauer;Verlängert;PLZ;Zweigstelle;Anzahl;Mahnung;Sprache;"
        "Bewertung;Uhrzeit;Bemerkung",
        "007;31/12/1980;03.04.2024 17:05;1.200,50;12,5 %;1:27;ja;01067;Mitte;3;nein;Deutsch;4,5;08:30;",
        "008;01/02/1999;28.11.2023 09:00;0,00;;12:03;Nein;80331;Süd;1;;Französisch;k. A.;19:45;"
        "verspätet zurück, Einband beschädigt, Leserin benachrichtigt",
        "009;;;-;5 %;0:01:05;JA;10115;West;12;ja;-;2,0;21:00;",
    )
)


@pytest.mark.thorough
def test_an_ordinary_export_of_a_city_library_opens(tmp_path):
    path = tmp_path / "bib.csv"
    path.write_bytes(LIBRARY.replace("\n", "\r\n").encode("cp1252"))
    source = open_source(path)
    assert seen(source) == {
        "Ausweis": ("text", "code"),
        "Geboren": ("date", "day_first"),
        "Entliehen am": ("date", "day_first"),
        "Gebühr (EUR)": ("number", "decimal_comma"),
        "Rabatt": ("number", "decimal_comma"),
        "Dauer": ("number", "duration"),
        "Verlängert": ("boolean", "yes_no"),
        "PLZ": ("text", "code"),
        "Zweigstelle": ("text", ""),
        "Anzahl": ("number", "decimal_comma"),  # as others of the table have
        "Mahnung": ("boolean", "yes_no"),
        "Sprache": ("text", ""),
        "Bewertung": ("number", "decimal_comma"),
        "Uhrzeit": ("date", "time"),
        "Bemerkung": ("text", "text"),
    }
    declared = Declaration.of(
        """columns:
  Geboren: {kind: date, first: 1900-01-01, last: 2025-12-31, format: day_first}
  Gebühr (EUR): {kind: number, low: 0, high: 2000, format: decimal_comma}
  Dauer: {kind: number, low: 0, high: 3600, format: duration}
  Verlängert: {kind: yes_no}
  PLZ: {kind: category, values: ["01067", "10115", "80331"]}
  Uhrzeit: {kind: number, low: 0, high: 24, format: time}
missing: category
"""
    )
    (batch,) = source.batches(declared.domain)
    read = {column.name: column for column in declared.domain.columns}
    assert read["Gebühr (EUR)"].numbers(batch.column("Gebühr (EUR)"))[:2].tolist() == [1200.5, 0.0]
    assert read["Dauer"].numbers(batch.column("Dauer")).tolist() == [87.0, 723.0, 65.0]
    assert read["Verlängert"].codes(batch.column("Verlängert")).tolist() == [1, 0, 1]
    assert read["PLZ"].codes(batch.column("PLZ")).tolist() == [0, 2, 1]
    assert read["Uhrzeit"].numbers(batch.column("Uhrzeit")).tolist() == [8.5, 19.75, 21.0]
    born = read["Geboren"]
    assert [born.text(day) for day in born.numbers(batch.column("Geboren"))[:2]] == ["1980-12-31", "1999-02-01"]
