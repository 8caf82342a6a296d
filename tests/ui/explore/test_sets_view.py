"""Explore with a released file of sets: what can be asked is asked, and what cannot exist is said."""

from dataclasses import replace
from io import BytesIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core import Budget, release
from core.domain import Domain, Items, PrivacyUnit
from core.sketches.minhash import MinHash
from core.sources import open_source
from core.ui.explore.sets_view import how_sets_look, items_of, meaning, overlap_sentence, share_sentence
from core.ui.finding_out import basket_command, edges_command
from core.ui.frame.navigation import CLASSIFY, EXPLORE
from core.ui.frame.session import KEY
from tests.ui.explore.visiting import choose, explore, field, options, shown

DOMAIN = Domain((Items("basket"),))
BASKETS = [["bread", "milk"]] * 3000 + [["bread", "butter", "<b>7</b>"]] * 1000


@pytest.fixture(scope="module")
def made():
    return release(MinHash(DOMAIN, 64, 500, seed=1), {"basket": BASKETS}, Budget(5))


@pytest.fixture(scope="module")
def content(made):
    return made.to_bytes()


def test_a_file_of_sets_is_described_and_has_no_views_of_places(content):
    app = explore(content, "baskets.npz")
    assert not app.exception and not app.error
    assert options(app, "View") == ["One set", "Your sets"]
    words = shown(app)
    assert "each set, however large, protected" in words and "sets" in words and "there is no picture" in words
    assert "Type or paste items" in words


def test_one_set_is_asked_by_its_items(content, made):
    app = explore(content, "baskets.npz")
    app.text_area(key="explore-items").set_value("bread, milk\nbread")
    field(app.button, "Ask").click().run()
    assert not app.exception and not app.error
    found = made.answer([["bread", "milk"]])
    sure = made.answer([["bread", "milk"]], level=1 - 1e-9)
    assert sure.low[0] < 3000 + 1000 / 4 < sure.high[0]
    assert "sets like it" in shown(app) and "Asked about 2 items: bread and milk." in shown(app)
    said = overlap_sentence(found.estimate[0], found.low[0], found.high[0], found.standard_error[0])
    assert said.replace("**", "") in shown(app).replace("<strong>", "").replace("</strong>", "").replace("&#x27;", "'")


def test_what_is_typed_stays_text(content):
    app = explore(content, "baskets.npz")
    app.text_area(key="explore-items").set_value("<b>7</b>")
    field(app.button, "Ask").click().run()
    assert not app.exception and "<b>7</b>" not in shown(app) and "&lt;b&gt;7&lt;/b&gt;" in shown(app)


def with_sets(content, table):
    app = choose(explore(content, "baskets.npz"), "View", "Your sets")
    file = BytesIO()
    pq.write_table(table, file)
    field(app.file_uploader, "A table of sets, with the column basket").set_value(
        ("mine.parquet", file.getvalue(), "application/octet-stream")
    )
    return app.run()


@pytest.mark.thorough
def test_a_file_of_sets_is_answered_one_by_one(content):
    table = pa.table({"basket": [["bread", "milk"], ["tea", "rice"]], "name": ["first", "second"]})
    app = with_sets(content, table)
    assert not app.exception and not app.error and "**2 sets** answered" in shown(app)
    listed = app.dataframe[0].value
    assert listed["basket"].tolist() == ["bread, milk", "tea, rice"] and listed["name"].tolist() == ["first", "second"]
    assert all(ends[0].isdigit() for ends in listed["very likely between"]), "an overlap is never less than nothing"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "table", [pa.table({"other": [1]}), pa.table({"basket": [1, 2]}), pa.table({"basket": [["bread"], []]})]
)
def test_sets_that_cannot_be_asked_about_get_a_sentence(content, table):
    app = with_sets(content, table)
    assert not app.exception and len(app.error) == 1


def test_other_pages_say_what_a_file_of_sets_cannot_do(content):
    app = explore(content, "baskets.npz")
    app.switch_page(CLASSIFY.path).run()
    assert not app.exception and any("tells no groups apart" in one.value for one in app.info)
    assert app.session_state[KEY].shown.name == "baskets.npz"
    app.switch_page(EXPLORE.path).run()
    assert options(app, "View") == ["One set", "Your sets"]


def test_items_are_cut_where_the_records_were_cut():
    assert items_of("a, b ,a\n\nc d", DOMAIN) == ["a", "b", "c d"]
    assert items_of("a, b;c\nd", Domain((Items("x", separator=";"),))) == ["a, b", "c", "d"]
    assert items_of(" ,\n", DOMAIN) == []


def test_what_the_noise_hides_is_not_said():
    assert "The noise hides whether any set overlaps" in overlap_sentence(5, -20, 30, 12)
    assert share_sentence(0.01, -20, 5, 12) == ""
    assert share_sentence(0.317, 6280, 6360, 40) == "On average a set overlaps with it by 31.7%."


def test_what_overlap_means_names_the_bound_on_long_sets(made):
    assert "Of a set with more" not in meaning(made)
    bounded = replace(made, sketch=replace(made.sketch, longest=40))
    assert "Of a set with more than 40 different items" in meaning(bounded)


def test_what_a_file_of_sets_must_look_like_follows_the_released_one():
    edges = Domain((Items("item", gathered=True),), unit=PrivacyUnit("customer", 1))
    assert "who it belongs to in customer" in how_sets_look(edges)
    assert "“;”" in how_sets_look(Domain((Items("x", separator=";"),))) and "lists" in how_sets_look(DOMAIN)


def test_the_commands_for_sets_are_ones_that_a_shell_reads_as_meant():
    columns = open_source({"who": [1], "what they have": [["bread"]]}).columns
    assert basket_command("my file.parquet", columns).startswith(
        "python -m core release 'my file.parquet' --items 'what they have' "
    )
    assert "--items 'what they have' --gathered --unit who:1 " in edges_command("x.csv", columns)
