"""The pages that the site adds: each mechanism and each public name has its place, and links lead there."""

import importlib.util
import posixpath
import re
from pathlib import Path

import pytest
import yaml

import core
from core.sketches.registry import cards

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("site_of_docs", DOCS / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(site) -> dict[str, str]:
    """Every page as the site shows it."""
    papers = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    del papers["README.md"]
    origins = {page: paper for paper, page in site.TAKEN_IN.items()}
    every = papers | site.pages()
    return {place: site.linked(text, origins.get(place, f"docs/{place}"), place) for place, text in every.items()}


def test_links_of_all_pages_lead_to_pages_and_pictures(site, pages):
    there = set(pages) | {
        path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*") if path.suffix in (".png", ".svg")
    }
    missing = {
        (place, link)
        for place, text in pages.items()
        for _, link, _ in site.LINK.findall(text)
        if posixpath.normpath(posixpath.join(posixpath.dirname(place), link)) not in there
    }
    assert not missing


def test_every_mechanism_has_a_page_of_what_its_card_says(pages):
    for card in cards().values():
        text = pages[f"mechanisms/{card.name.replace(' ', '-')}.md"]
        assert text.startswith(f"# {card.title}\n") and card.paper in text and f"`{card.name}`" in text
        assert card.sketch is None or f"::: {card.sketch.__module__}.{card.sketch.__qualname__}" in text


def test_every_public_name_has_one_entry_where_its_link_says(pages):
    links = re.findall(r"\[`(\w+)`\]\((\w+\.md)#([\w.]+)\)", pages["reference/index.md"])
    assert sorted(name for name, _, _ in links) == sorted(name for name in core.__all__ if not name.startswith("_"))
    assert all(f"::: {place}\n" in pages[f"reference/{page}"] for _, page, place in links)


def test_the_menu_names_every_paper_and_nothing_else(pages):
    text = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    menu = re.findall(r"^\s+- (?:\w+: )?([\w/-]+\.md)$", text, re.MULTILINE)
    assert yaml.safe_load(text)["nav"] and len(menu) == len(set(menu))
    assert set(menu) == {place for place in pages if not re.match(r"(mechanisms|reference)/(?!index)", place)}
