"""Data that takes long to read, in a real browser: named by a path, released in the background, stopped at no cost."""

import sqlite3
from contextlib import closing

import pytest

from tests.browser.test_release import unfold

ROWS = 200_000
ROWS_VIEW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n{limit}) SELECT i % 100 AS age FROM n"
"""Rows that SQLite counts out one by one while they are read: a file of a few kilobytes that takes long to read."""


def describe(visit, table):
    visit.page.get_by_role("combobox", name="Which of the 2 tables of clinic.sqlite?").click()
    visit.page.get_by_role("option", name=table, exact=True).click()
    visit.page.get_by_text(f"clinic.sqlite::{table}").first.wait_for()
    visit.settle()
    unfold(visit, "age")
    visit.fill("Smallest age", "0")
    visit.fill("Largest age", "100")
    visit.click("button", "Use this data")
    visit.page.get_by_text("How much privacy?").wait_for()
    visit.settle()


def release(visit):
    field = visit.page.get_by_role("spinbutton", name="Its total budget, for ever (ε)")
    field.fill("3")
    field.press("Tab")
    visit.settle()
    visit.page.get_by_test_id("stBottom").get_by_role("button").first.click()
    visit.settle()
    visit.page.get_by_role("button", name="Yes, release it", exact=True).click()
    visit.page.get_by_role("dialog").wait_for(state="hidden")


@pytest.mark.deep
def test_a_long_reading_goes_on_while_other_pages_are_visited_and_is_stopped_at_no_cost(visitor, ledger, tmp_path):
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as store:
        store.execute(f"CREATE VIEW endless AS {ROWS_VIEW.format(limit='')}")
        store.execute(f"CREATE VIEW long AS {ROWS_VIEW.format(limit=f' LIMIT {ROWS}')}")
    visit = visitor("phone", "dark")
    visit.go("/data")
    visit.choose("A path or database")
    visit.fill("Path, pattern or database table", "/nowhere/clinic.sqlite")
    visit.click("button", "Open")
    assert "There is no file '/nowhere/clinic.sqlite'." in visit.text
    visit.fill("Path, pattern or database table", str(path))
    visit.click("button", "Open")

    describe(visit, "endless")
    release(visit)
    visit.page.get_by_text("rows a second").wait_for()
    assert visit.overflow() <= 0 and visit.illegible() == [] and "left" not in visit.text
    visit.click("link", "Explore")
    visit.page.get_by_text("A release is being made").wait_for()
    assert visit.overflow() <= 0 and visit.illegible() == [] and "What a released file is" in visit.text
    visit.click("link", "Look at it")
    visit.page.get_by_role("button", name="Stop, at no cost").click()
    visit.page.get_by_text("Stopped. Nothing was released and nothing was spent.").wait_for()

    visit.click("link", "Data")
    describe(visit, "long")
    release(visit)
    visit.click("link", "Ledger")
    visit.click("link", "Release")
    visit.page.get_by_text("It is released").wait_for()
    visit.settle()
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.errors == []
    (name,) = [one for one in ledger().names() if "clinic" in one]
    assert name.endswith("long") and len(ledger().status(name).releases) == 1
