"""Strangers' journeys: how many clicks and decisions they take, and that the keyboard alone is enough for them.

Every click is counted in the browser, so that a page that asks for one more is noticed.
"""

import re

import pytest

from core.releases.release import load
from tests.browser.test_release import csv

COUNTING = "window.clicks = 0; addEventListener('pointerdown', () => { window.clicks += 1 }, true);"
FOCUSED = """() => {
  const here = document.activeElement, by = document.getElementById(here.getAttribute("aria-labelledby"));
  const said = here.cloneNode(true);
  said.querySelectorAll("[aria-hidden=true]").forEach(icon => icon.remove());
  return (here.getAttribute("aria-label") ?? (here.labels?.[0] ?? by)?.innerText ?? said.textContent).trim();
}"""
"""The name of what has the focus, without icons, which nobody is told."""
MOST_TABS = 150


@pytest.fixture
def visit(visitor, nothing_kept):
    one = visitor()
    one.page.add_init_script(COUNTING)
    return one


def wait_for(visit, words):
    visit.page.get_by_text(words, exact=True).first.wait_for()
    visit.settle()


def tab_to(visit, name):
    """Go on by Tab to what has this name, as someone does who looks for it."""
    seen = []
    for _ in range(MOST_TABS):
        visit.page.keyboard.press("Tab")
        label = visit.page.evaluate(FOCUSED)
        if label.startswith(name):
            shown = visit.page.evaluate(
                "() => { const b = document.activeElement.getBoundingClientRect();"
                " return b.bottom > 0 && b.top < innerHeight }"
            )
            assert shown, f"{name} has the focus where nobody sees it"
            return
        seen.append(label)
    pytest.fail(f"{name!r} was not reached by Tab; there were {seen}")


def press(visit, name, key="Enter"):
    tab_to(visit, name)
    visit.page.keyboard.press(key)
    visit.settle()


def write(visit, name, value):
    tab_to(visit, name)
    visit.page.keyboard.press("ControlOrMeta+a")
    visit.page.keyboard.type(value)
    visit.page.keyboard.press("Tab")
    visit.settle()


def saved(visit, name):
    with visit.page.expect_download() as started:
        press(visit, name)
    return started.value


@pytest.mark.deep
def test_a_sample_is_released_and_explored_by_four_clicks_and_no_decision(visit):
    visit.go()
    visit.click("button", "Release ages and heights")
    wait_for(visit, "2 · How much privacy?")
    visit.page.get_by_test_id("stBottom").get_by_role("button").first.click()
    visit.settle()
    visit.click("button", "Yes, release it")
    wait_for(visit, "It is released")
    visit.click("button", "Explore it")
    visit.page.wait_for_selector(".inside #answer:not(:empty)")
    visit.settle()
    assert (
        "people close by" in visit.page.inner_text(".inside .legend")
        and visit.page.evaluate("clicks") == 4
        and visit.errors == []
    )


@pytest.mark.deep
def test_a_bundled_release_is_explored_by_one_click(visit):
    visit.go()
    visit.click("link", "Flights from New York")
    visit.page.wait_for_selector(".inside #answer:not(:empty)")
    visit.settle()
    assert (
        "flights close by" in visit.page.inner_text(".inside .legend")
        and visit.page.evaluate("clicks") == 1
        and visit.errors == []
    )


LOANS = (
    "Lesernummer;Alter;Zweigstelle;Ausleihdatum;Gebühr (EUR);Ermäßigt\n"
    + "".join(
        f"L{at % 7000};{6 + at * 7 % 80 if at % 20 else ''};{('Zentrum', 'Nord', 'Süd')[at % 3]};"
        f"{1 + at % 28:02d}/{1 + at % 12:02d}/2023;1.2{at % 100:02d},50;{('nein', 'ja')[at % 4 == 0]}\n"
        for at in range(12_000)
    )
).encode()
"""An export as a library in Germany has it: semicolons, d/m/Y, decimal commas, ja and nein, and gaps."""


@pytest.mark.deep
def test_three_decisions_take_an_export_to_an_explored_overview(visit, ledger):
    """The file; each row is a person (the column that is proposed says otherwise); how many releases there will be."""
    visit.go()
    visit.click("button", "Start with your data")
    visit.drop("bib.csv", LOANS)
    assert "Still missing: how many rows one person may have" in visit.text
    visit.choose("Each row is one person")
    visit.choose("3")
    visit.click("button", "Find out, for a tenth of ε = 1.0")
    wait_for(visit, "Found out for a tenth of ε = 1.0. To correct what was found costs nothing.")
    assert (
        visit.page.locator(".fg-told", has_text="· found").count() >= 5 and visit.page.locator(".fg-wrong").count() == 0
    )
    assert visit.overflow() <= 0 and visit.illegible() == [] and visit.barriers() == []
    visit.click("button", "Use this data")
    wait_for(visit, "2 · How much privacy?")
    press = visit.page.get_by_test_id("stBottom").get_by_role("button").first
    rest = re.search(r"Release for ε = (\S+)", press.inner_text())[1]
    assert f"What is made takes the rest, ε = {rest}, and the file promises all of it. With this risk" in visit.text
    press.click()
    visit.settle()
    assert "what it promises is ε = 1.0 with a one-in-a-million risk" in visit.page.get_by_role("dialog").inner_text()
    visit.click("button", "Yes, release it")
    wait_for(visit, "It is released")
    visit.click("button", "Explore it")
    visit.page.wait_for_selector(".inside .card")
    visit.settle()
    seen = " ".join(visit.page.locator(".inside").all_inner_texts())
    assert all(words in seen for words in ("Zweigstelle", "Zentrum", "Ausleihdatum", "Ermäßigt", "yes"))
    assert visit.page.evaluate("clicks") == 8 and visit.errors == []
    status = ledger().status("bib")
    assert float(status.epsilon) == 3 and len(status.releases) == 2


@pytest.mark.deep
def test_from_a_sample_to_a_saved_answer_by_keyboard_alone(visit):
    visit.go()
    press(visit, "Release ages and heights")
    wait_for(visit, "2 · How much privacy?")
    press(visit, "Release for")
    press(visit, "Yes, release it")
    wait_for(visit, "It is released")
    press(visit, "Explore it")
    visit.page.wait_for_selector(".inside #answer:not(:empty)")
    visit.settle()
    visit.page.locator(".inside #picture").focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowUp"):
        visit.page.keyboard.press(key)
    said = visit.page.locator("[role=status]").first.inner_text()
    assert re.search(r"\d people in here|in here: very likely fewer than [\d,]+ people", said)  # as the noise has it
    press(visit, "Take this along")
    download = saved(visit, "Answers (CSV)")
    assert download.path().read_text().startswith("age,height,estimate")
    visit.page.keyboard.press("Escape")
    report = saved(visit, "Save the report")
    assert "What is promised" in report.path().read_text() and visit.page.evaluate("clicks") == 0


@pytest.mark.deep
def test_from_an_own_table_to_a_saved_file_by_keyboard_alone(visit):
    visit.go()
    press(visit, "Start with your data")
    wait_for(visit, "Where are the records?")
    tab_to(visit, "Upload")
    with visit.page.expect_file_chooser() as chooser:
        visit.page.keyboard.press("Enter")
    chooser.value.set_files({"name": "ages.csv", "mimeType": "text/csv", "buffer": csv()})
    visit.settle()
    press(visit, "age")
    press(visit, "Read age as", "ArrowDown")
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    visit.settle()
    write(visit, "Smallest age", "0")
    write(visit, "Largest age", "100")
    press(visit, "Use this data")
    wait_for(visit, "2 · How much privacy?")
    write(visit, "Its total budget, for ever (ε)", "3")
    press(visit, "Release for")
    press(visit, "Yes, release it")
    wait_for(visit, "It is released")
    made = load(saved(visit, "Save the file").path().read_bytes())
    assert made.private and made.domain.names == ("age",)
    assert visit.page.evaluate("clicks") == 0 and visit.errors == []
