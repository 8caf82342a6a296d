"""Tables as people have them, from the file to the explored overview in three decisions; more of them from a folder.

    FROSTGLASS_DEEP=1 FROSTGLASS_TABLES=FOLDER python -m pytest -s tests/browser/test_wild_tables.py

says of every file in the folder, too, how long it took, what it cost the server (aimed at: a minute, and five seconds
of its processors for 100,000 rows), and what was left out for which reason. Nothing is known of them but their names.
"""

import io
import os
import re
import zipfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import pytest

from tests.sources.spreadsheets import DATE, ods, xlsx

FOLDER = os.environ.get("FROSTGLASS_TABLES", "")
CITIES = ("Zürich", "Genève", "Łódź", "San José", "Oslo")
EXPORTS = {
    # A name of the file; its columns; how dates are written; yes and no; the mark before decimals; the encoding.
    "Ausleihen.csv": ("Leser;Alter;Ort;Datum;Gebühr (EUR);Ermäßigt", "%d.%m.%Y", "ja nein", ",", "cp1252"),
    "prets.csv": ("Lecteur;Âge;Ville;Date;Montant (€);Réduit", "%d/%m/%Y", "oui non", ",", "cp1252"),
    "prestamos.csv": ("Lector;Edad;Ciudad;Fecha;Importe;Reducido", "%d/%m/%Y", "sí no", ",", "utf-8-sig"),
    "loans.csv": ("Reader,Age,Town,Date,Fee,Reduced", "%m/%d/%Y", "yes no", ".", "utf-8"),
    "wypozyczenia.tsv": ("Czytelnik\tWiek\tMiasto\tData\tOpłata\tUlga", "%Y-%m-%d", "tak nie", ",", "utf-16"),
}
OTHERS = (
    "lines.jsonl",
    "packed.zip",
    "excel.xlsx",
    "office.ods",
    "stata.dta",
    "spss.sav",
    "sas.xpt",
    "columns.parquet",
)
"""Each with a name of its own, as files of one name are one data set, which is found out once."""


def loans(size=6_000, days="%Y-%m-%d", words="yes no", decimal="."):
    """Made-up loans of a library, all of them texts as a program exports them."""
    random = np.random.default_rng(size)
    age = random.normal(41, 17, size).clip(6, 90).astype(int).astype(str)
    moments = pd.to_datetime("2021-01-04") + pd.to_timedelta(random.integers(0, 900, size), unit="D")
    fees = np.round(random.gamma(2, 3, size), 2)
    return pd.DataFrame(
        {
            "reader": [f"L{one}" for one in random.integers(0, size // 2, size)],
            "age": np.where(random.random(size) < 0.05, "", age),
            "town": random.choice(CITIES, size, p=(0.4, 0.25, 0.2, 0.1, 0.05)),
            "date": moments.strftime(days),
            "fee": [f"{fee:.2f}".replace(".", decimal) for fee in fees],
            "reduced": random.choice(words.split(), size, p=(0.3, 0.7)),
        }
    )


def export(name):
    """The bytes of one of the files."""
    if name in EXPORTS:
        head, days, words, decimal, encoding = EXPORTS[name]
        mark = re.findall(r"[;,\t]", head)[0]
        table = loans(6_000, days, words, decimal).set_axis(head.split(mark), axis=1)
        if encoding == "cp1252":
            table = table.replace("Łódź", "Nîmes")
        return table.to_csv(index=False, sep=mark).encode(encoding)
    table = loans(100_000 if name.endswith(("jsonl", "zip", "parquet")) else 4_000)
    kind, out = name.partition(".")[2], io.BytesIO()
    typed = table.assign(
        age=pd.to_numeric(table.age), fee=table.fee.astype(float), date=pd.to_datetime(table.date).astype("M8[s]")
    )
    if kind == "jsonl":
        return typed.assign(date=table.date).to_json(orient="records", lines=True).encode()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("packed.csv", table.to_csv(index=False))
        return out.getvalue()
    if kind == "parquet":
        typed.to_parquet(out)
        return out.getvalue()
    if kind == "ods":
        return ods([list(table), *table.itertuples(index=False)])
    if kind == "xlsx":
        serial = (pd.to_datetime(table.date) - pd.Timestamp("1899-12-30")).dt.days
        rows = typed.assign(date=[(day, DATE) for day in serial]).astype(object).replace({np.nan: None})
        return xlsx({"Loans": [list(table), *rows.itertuples(index=False)]})
    if kind == "dta":
        typed.to_stata(out, write_index=False, version=118)
        return out.getvalue()
    written = pytest.importorskip("pyreadstat")
    path = Path(os.environ.get("PYTEST_TMP", "/tmp")) / name
    {"sav": written.write_sav, "xpt": written.write_xport}[kind](typed, str(path))
    return path.read_bytes()


WARM = []
"""Where the server has loaded what it loads once, before the first table is measured."""


@pytest.fixture
def visit(visitor, nothing_kept):
    if not WARM:
        carried_through(visitor(), "warm.csv", loans(2_000).to_csv(index=False).encode())
        WARM.append(True)
    return visitor()


def carried_through(visit, name, content):
    """From the file to the explored overview; what the page said on the way about columns that are left out."""
    visit.go()
    visit.click("button", "Start with your data")
    visit.drop(name, content, "application/octet-stream")
    if visit.page.get_by_role("button", name="Begin afresh").count():  # as of other files with the same columns
        visit.click("button", "Begin afresh")
    visit.choose("Each row is one person")
    visit.choose("3")
    visit.page.get_by_role("button", name=re.compile("^Find out, for ")).first.click()
    visit.settle()
    visit.page.get_by_text(re.compile("^Found out for ")).first.wait_for()
    said = visit.page.locator(".fg-told").all_inner_texts()
    visit.click("button", "Use this data")
    visit.page.get_by_text("2 · How much privacy?", exact=True).first.wait_for()
    visit.settle()
    visit.page.get_by_test_id("stBottom").get_by_role("button").first.click()
    visit.settle()
    visit.click("button", "Yes, release it")
    visit.page.get_by_text("It is released", exact=True).first.wait_for()
    visit.settle()
    visit.click("button", "Explore it")
    visit.page.wait_for_selector(".inside .card, .inside #answer:not(:empty)")
    visit.settle()
    assert visit.errors == []
    return said


@pytest.mark.deep
@pytest.mark.parametrize("name", [*EXPORTS, *OTHERS])
def test_an_export_comes_to_an_explored_overview_in_three_decisions(visit, server_seconds, name):
    content = export(name)
    began, spent = perf_counter(), server_seconds()
    carried_through(visit, name, content)
    spent = server_seconds() - spent
    print(f"{name}: {perf_counter() - began:.0f} s, {spent:.1f} s of the server's processors")
    seen = " ".join(visit.page.locator(".inside").all_inner_texts())
    assert any(city in seen for city in CITIES)


@pytest.mark.deep
@pytest.mark.skipif(not FOLDER, reason="FROSTGLASS_TABLES names no folder of tables")
@pytest.mark.parametrize("path", sorted(Path(FOLDER).iterdir()) if FOLDER else [], ids=lambda path: path.name)
def test_a_table_of_the_folder_comes_to_an_explored_overview(visit, server_seconds, path):
    visit.page.set_default_timeout(120_000)
    began, spent = perf_counter(), server_seconds()
    try:
        said = carried_through(visit, path.name, path.read_bytes())
    except Exception:
        print(f"{path.name}: stopped at {visit.text[-1500:]!r}")
        raise
    took, spent = perf_counter() - began, server_seconds() - spent
    print(f"{path.name}: {took:.0f} s, {spent:.1f} s of the server's processors, {len(said)} columns")
    for one in said:
        print(f"   {one!r}")
