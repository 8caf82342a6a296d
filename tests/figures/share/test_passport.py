"""A passport says what its file says and no more, in formats that their readers take, whatever columns are called."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import yaml
from jsonschema import Draft7Validator

from core import Budget, Domain, RequestError, Tables, load_model, passport, release
from core.domain import Categorical, Dates, Numeric, PrivacyUnit
from core.figures.share.catalogue_entries import in_head
from core.figures.share.described import UNKNOWN, Publisher, described
from core.figures.share.passport import questions
from core.privacy.noise.randomness import SeededSource
from core.releases.manifest import Finding
from core.sources.public_tables import bundled_releases
from tests.releases_for_tests import small_release

HOSTILE = '</script><b onclick="x">|*_`&amp;'
CATEGORIES = ("=HYPERLINK(1)", 'a "quoted",\ncell', "]]>")
FACTS = {"curator": "Office: of #1 'Trees'", "kind": "Government", "use": "plans | roads", "region": "Lyon: all"}
SCHEMA = yaml.safe_load((Path(__file__).parent / "registry_schema.yaml").read_text(encoding="utf-8"))


def tables_release(delta: float = 0.0):
    """Tables of a hostile column of numbers, one of categories and one of dates."""
    columns = (
        Numeric(HOSTILE, 0, 8, step=1),
        Categorical("city", CATEGORIES),
        Dates("day", "2020-01-01", "2020-01-31"),
    )
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            HOSTILE: random.integers(0, 9, 2_000),
            "city": random.choice(CATEGORIES, 2_000),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 31, 2_000), "D"),
        }
    )
    return release(Tables(Domain(columns)), frame, Budget(1, delta))


@pytest.fixture(scope="module")
def made():
    return tables_release()


@pytest.fixture(scope="module")
def papers(made) -> dict[str, bytes]:
    return dict(passport(made, licence="CC0", **FACTS).papers)


def entry_of(found: dict[str, bytes]) -> tuple[str, dict]:
    (name,) = (name for name in found if name.endswith(".yaml"))
    return name, yaml.safe_load(found[name])


def test_the_registrys_schema_takes_its_entry_and_notices_a_wrong_one(papers):
    name, entry = entry_of(papers)
    validator = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
    assert re.fullmatch(r"[a-z0-9_]+\.yaml", name)
    assert not list(validator.iter_errors(entry))
    assert entry["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert entry["deployment"]["basic"]["data_curators"][0]["data_curator_name"] == FACTS["curator"]
    entry["deployment"]["dp_variant"]["variant_name"] = "Very private"
    assert list(validator.iter_errors(entry))


def test_the_registrys_entry_is_in_the_order_of_its_schema_and_folds_no_text(papers):
    name, entry = entry_of(papers)
    styles = {getattr(token, "style", None) for token in yaml.scan(papers[name].decode())}
    assert styles <= {None, "'", '"', "|"}
    ordered = SCHEMA["properties"]["deployment"]["properties"]
    assert list(entry["deployment"]) == [one for one in ordered if one in entry["deployment"]]
    for group, fields in entry["deployment"].items():
        assert list(fields) == [one for one in ordered[group]["properties"] if one in fields]


def test_without_typed_facts_there_is_no_entry_and_one_sentence_says_what_is_missing(made):
    found = passport(made, curator="Someone")
    assert not any(name.endswith(".yaml") for name in found.papers)
    assert found.unsaid == ("kind of curator", "intended use", "region")
    assert found.unsaid_in_words.count(". ") == 0


@pytest.mark.parametrize("wrong", [{"kind": "Secret"}, {"use": "x" * 3_000}, {"region": "a\x1b[31m"}])
def test_facts_that_no_register_could_show_are_refused(wrong):
    with pytest.raises(RequestError):
        Publisher(**wrong)


@pytest.mark.thorough
def test_what_no_file_can_know_is_unknown_and_what_it_says_is_answered():
    delta = {one.asked: one.answer for one in questions(described(tables_release(1e-9), "a.npz"), Publisher())}
    assert delta["Were the people told, and did they agree?"] == UNKNOWN
    assert delta["What else was released about the same people, and what is the total?"] == UNKNOWN
    assert "ε = 1, δ = 0.000000001" in delta["Which definition is met, and with which numbers?"]
    assert delta["Is δ far below one over the number of people?"].endswith(": yes.")
    loose = {one.asked: one.answer for one in questions(described(tables_release(1e-3), "a.npz"), Publisher())}
    assert "no, and it should be smaller" in loose["Is δ far below one over the number of people?"]


def test_an_owner_who_typed_bounds_is_not_said_to_have_looked_away(made):
    said = described(made, "a.npz")
    assert "unknown" in said.preparation


def test_what_was_found_out_under_the_promise_is_said_with_its_price(made):
    found = replace(made, finding=Finding("ε = 0.1", ("city",), 2_000.0, 5.0, {}, 0.0))
    assert "were found under the promise, for ε = 0.1" in described(found, "a.npz").preparation


def test_every_measured_table_is_in_json_stat_as_the_file_answers_it(made, papers):
    items = json.loads(papers["tables.jsonstat.json"])["link"]["item"]
    names = [[item["dimension"][one]["label"] for one in item["id"][:-1]] for item in items]
    assert [HOSTILE] in names and ["city"] in names and any(len(one) == 2 for one in names)
    for item, columns in zip(items, names, strict=True):
        assert (item["version"], item["class"]) == ("2.0", "dataset")
        assert np.prod(item["size"]) == len(item["value"]) and item["size"][-1] == 3
        frame = made.table(*columns)
        values = np.array(item["value"]).reshape(-1, 3)
        assert np.allclose(values, frame[["estimate", "low", "high"]], atol=6e-4)
        for one, size in zip(item["id"], item["size"], strict=True):
            assert len(item["dimension"][one]["category"]["index"]) == size


def test_tables_in_csv_read_back_cell_by_cell_and_no_cell_is_a_formula(made, papers):
    rows = list(csv.reader(io.StringIO(papers["tables.csv"].decode(), newline="")))
    assert rows[0] == ["table", "column_1", "cell_1", "column_2", "cell_2", "estimate", "low", "high"]
    cities = [row for row in rows if row[1] == "city" and not row[3]]
    assert [row[2] for row in cities] == ["'=HYPERLINK(1)", *CATEGORIES[1:]]
    assert np.allclose([float(row[5]) for row in cities], made.table("city").estimate, atol=6e-4)
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)


def test_csv_on_the_web_names_every_column_of_every_table(papers):
    metadata = json.loads(papers["csvw-metadata.json"])
    for table in metadata["tables"]:
        head = next(csv.reader(io.StringIO(papers[table["url"]].decode(), newline="")))
        assert [column["name"] for column in table["tableSchema"]["columns"]] == head


def test_croissant_describes_the_file_by_its_digest_and_every_field_of_its_tables(papers):
    metadata = json.loads(papers["croissant.json"])
    assert metadata["conformsTo"] == "http://mlcommons.org/croissant/1.1"
    marks = {file["name"]: file["sha256"] for file in metadata["distribution"]}
    assert marks["tables.csv"] == sha256(papers["tables.csv"]).hexdigest()
    sources = [field["source"] for records in metadata["recordSet"] for field in records["field"]]
    assert {one["fileObject"]["@id"] for one in sources} == {"tables.csv", "variables.csv"}
    assert [one["name"] for one in metadata["variableMeasured"]] == [HOSTILE, "city", "day"]


def test_metadata_in_a_head_cannot_end_its_element():
    text = in_head({"name": HOSTILE + "<!--" + "&"})
    assert not set("<>&") & set(text) and json.loads(text) == {"name": HOSTILE + "<!--" + "&"}


def test_the_codebook_is_xml_whatever_columns_are_called(papers):
    root = ElementTree.fromstring(papers["ddi-codebook.xml"].decode())
    names = {"d": "ddi:codebook:2_5"}
    assert [one.text for one in root.findall(".//d:var/d:labl", names)] == [HOSTILE, "city", "day"]
    values = [one.text for one in root.findall(".//d:catgry/d:labl", names)]
    assert values[0] == CATEGORIES[0] and values[2] == CATEGORIES[2] and len(values) == 3
    assert root.find(".//d:range", names).attrib["max"] == "8.0"


def test_markdown_of_the_checklist_keeps_its_two_columns(papers):
    rows = [line for line in papers["sp-800-226-checklist.md"].decode().splitlines() if line.startswith("|")]
    assert len(rows) > 25
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 3 for row in rows)


def test_people_with_several_records_are_the_unit_and_are_not_counted():
    said = described(replace(small_release(), private=True), "a.npz")
    assert said.units is not None and said.unit == "Person"
    domain = Domain.of(x=(0, 1))
    several = replace(domain, unit=PrivacyUnit("who", 3))
    said = described(replace(small_release(domain=several), private=True), "a.npz")
    assert said.units is None and "up to 3 records" in said.unit


def test_a_teaching_file_has_no_passport():
    with pytest.raises(RequestError, match="teaching file"):
        passport(small_release(noise_source=SeededSource(1)))


def test_a_model_has_a_passport_and_an_archive_holds_all_of_it():
    model = load_model(Path("tests/known_releases/permutation-1.model.json").read_bytes())
    made = passport(replace(model, private=True), **FACTS)
    _, entry = entry_of(made.papers)
    assert entry["deployment"]["basic"]["data_product_type"] == "Machine learning model"
    assert not list(Draft7Validator(SCHEMA).iter_errors(entry))
    with zipfile.ZipFile(io.BytesIO(made.zipped())) as archive:
        assert sorted(archive.namelist()) == sorted(made.papers)


@pytest.mark.deep
def test_every_bundled_sample_has_a_passport_that_the_registry_takes():
    for _, path in bundled_releases():
        made = passport(path, **FACTS)
        assert not list(Draft7Validator(SCHEMA).iter_errors(entry_of(made.papers)[1]))
