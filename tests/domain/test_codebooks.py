"""The labels in files of SPSS and Stata, as codebooks."""

import pandas as pd
import pyreadstat
import pytest

from core.domain.codebooks import codebook_in
from core.domain.drafts import drafted
from core.errors import RequestError

RECORDS = pd.DataFrame(
    {
        "sex": [1.0, 2, 9],
        "age": [31.0, 47, 99],
        "town": ["secret", "b", "c"],
        "view": [1.0, 2, 3],
        "pay": [1.5, 2.5, 3.5],
        "seen": pd.to_datetime(["2020-01-01"] * 3),
    }
)
LABELS = {
    "sex": {1: "male", 2: "female", 9: "no answer"},
    "age": {99: "unknown"},
    "view": {1: "low", 2: "middle", 3: "high"},
}


@pytest.fixture(scope="module")
def spss(tmp_path_factory):
    path = tmp_path_factory.mktemp("spss") / "book.sav"
    pyreadstat.write_sav(
        RECORDS,
        str(path),
        variable_value_labels=LABELS,
        missing_ranges={"sex": [9], "age": [{"lo": 97, "hi": 99}]},
        variable_measure={"sex": "nominal", "age": "scale", "view": "ordinal"},
        variable_format={"age": "F3.0", "pay": "F8.2"},
    )
    return path.read_bytes()


def test_labels_kinds_and_missing_codes_of_spss(spss):
    assert codebook_in("Book.SAV", spss) == {
        "sex": {"kind": "category", "values": {"1": "male", "2": "female"}, "missing": ["9"]},
        "age": {"kind": "number", "step": 1.0, "missing": ["97", "98", "99"]},
        "town": {"kind": "text"},
        "view": {"kind": "ordered", "values": {"1": "low", "2": "middle", "3": "high"}},
        "pay": {"kind": "number"},
        "seen": {"kind": "date", "step": "second"},
    }


def test_labels_of_stata(tmp_path):
    pyreadstat.write_dta(RECORDS, str(tmp_path / "book.dta"), variable_value_labels={"sex": LABELS["sex"]})
    book = codebook_in("book.dta", (tmp_path / "book.dta").read_bytes())
    assert book["sex"] == {"kind": "category", "values": {"1": "male", "2": "female", "9": "no answer"}}
    assert [book[name]["kind"] for name in ("age", "town", "seen")] == ["number", "text", "date"]


def test_what_is_drafted_holds_no_record_and_no_bound(spss):
    entries = drafted([(name, "number") for name in RECORDS], codebook_in("book.sav", spss))
    text = "\n".join(entry.line for entry in entries)
    assert "secret" not in text and "47" not in text and "3.5" not in text
    assert [entry.name for entry in entries if entry.unknown] == ["town", "seen"], text


@pytest.mark.parametrize("name", ["book.sav", "book.dta", "book.por", "book.zsav"])
def test_what_is_no_such_file_is_refused(name, spss):
    for content in (b"", b"no", spss[:100], spss[:-50][::-1]):
        with pytest.raises(RequestError, match="cannot be read"):
            codebook_in(name, content)


def test_text_in_another_encoding_is_refused():
    with pytest.raises(RequestError, match="UTF-8"):
        codebook_in("book.csv", "name,type\nGrö\u00dfe,number".encode("latin-1"))
