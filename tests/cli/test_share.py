"""`share` writes one page, and `shelf` keeps, names, describes and removes public files."""

from __future__ import annotations

import json

from tests.cli.conftest import refused
from tests.releases_for_tests import small_release


def test_a_page_is_written_beside_the_file(command, tmp_path):
    small_release().save(tmp_path / "people.npz")
    made = command("share", "people.npz")
    assert made.exit_code == 0, made.output
    page = (tmp_path / "people.html").read_text(encoding="utf-8")
    body = page[page.index("</head>") :]  # the metadata in the head says by addresses what its words mean
    assert page.startswith("<!doctype html>") and "http:" not in body and "https:" not in body
    assert command("share", "people.npz", "-o", "other.html").exit_code == 0
    assert (tmp_path / "other.html").read_text(encoding="utf-8") == page


def test_a_passport_is_written_into_a_folder_and_says_what_is_missing(command, tmp_path):
    small_release().save(tmp_path / "people.npz")
    made = command("passport", "people.npz", "--curator", "The town", "--licence", "CC0")
    assert made.exit_code == 0, made.output
    papers = {path.name for path in (tmp_path / "people.passport").iterdir()}
    assert {"croissant.json", "ddi-codebook.xml", "sp-800-226-checklist.md"} <= papers
    assert "kind of curator, intended use and region" in made.output.replace("\n", " ")
    typed = ("--curator", "The town", "--kind", "Government", "--use", "Plans", "--region", "Here")
    assert command("passport", "people.npz", *typed, "-o", "papers").exit_code == 0
    assert len(list((tmp_path / "papers").glob("*.yaml"))) == 1
    refused(command("passport", "people.npz", "--kind", "Secret"))
    refused(command("passport", "nothing.npz"))


def test_what_is_no_public_file_makes_no_page(command, tmp_path):
    (tmp_path / "people.csv").write_text("age\n5\n")
    refused(command("share", "people.csv"))
    refused(command("share", "nothing.npz"))
    assert not list(tmp_path.glob("*.html"))


def test_a_shelf_is_kept_by_name(command, tmp_path):
    small_release().save(tmp_path / "people.npz")
    assert command("shelf", "add", "people.npz", "--name", "Everyone").exit_code == 0
    assert command("shelf", "describe", "Everyone", "All of them").exit_code == 0
    facts = json.loads(command("shelf", "list", "--json").stdout)["files"]
    assert [(one["name"], one["shown"], one["description"]) for one in facts] == [("Everyone.npz", True, "All of them")]
    refused(command("shelf", "rename", "Everyone", "../up"))
    assert command("shelf", "rename", "Everyone", "All").exit_code == 0
    assert command("shelf", "remove", "All").exit_code == 0
    assert json.loads(command("shelf", "list", "--json").stdout)["files"] == []
    refused(command("shelf", "remove", "All"))
    (tmp_path / "bad.npz").write_bytes(b"PK")
    refused(command("shelf", "add", "bad.npz"))
