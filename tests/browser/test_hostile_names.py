"""Names that are script, wherever people see them in a browser: what a stranger's file says is text and never runs."""

import json
import threading

import numpy as np
import pytest

from core import Budget, Categorical, Domain, Numeric, release
from core.domain.round_columns import Coordinate
from core.figures.share.shared_page import share_html
from core.geometry.kernels import Gaussian
from core.local.poll_server import PollServer
from core.local.poll_store import Polls
from core.local.survey import Survey
from core.releases.release_store import Shelf
from core.sketches.histogram import Histogram
from core.sketches.tables.tables import Tables

SCRIPTS = (
    "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=2</script>",
    "[link](javascript:window.pwned=3)",
    '"><svg onload=window.pwned=4>',
    "${window.pwned=5}`'\"",
    "$\\href{javascript:window.pwned=6}{x}$ :material/home: **b**",
)
ACROSS, UP, KIND = SCRIPTS[0], SCRIPTS[1], SCRIPTS[3]
OUTLINE = {
    "type": "FeatureCollection",
    "name": SCRIPTS[0],
    "features": [
        {
            "type": "Feature",
            "properties": {"name": SCRIPTS[1], "title": SCRIPTS[0], "description": SCRIPTS[3]},
            "geometry": {"type": "Polygon", "coordinates": [[[1, 1], [9, 1], [9, 9], [1, 9], [1, 1]]]},
        }
    ],
}


def hostile():
    """A release whose columns, categories and unit are script."""
    random = np.random.default_rng(1)
    people = {ACROSS: random.random(500) * 10, UP: random.random(500) * 10}
    people[KIND] = random.choice(SCRIPTS, 500)
    columns = (Numeric(ACROSS, 0, 10, unit=SCRIPTS[0][:20]), Numeric(UP, 0, 10), Categorical(KIND, SCRIPTS))
    return release(Histogram(Domain(columns), Gaussian(1.0), (16, 16)), people, Budget(1))


def ran(page):
    """What ran, if anything did, in the page and in all that it shows inside itself."""
    page.wait_for_timeout(300)
    return [frame.evaluate("window.pwned") for frame in page.frames if frame.evaluate("window.pwned") is not None]


def follow_links(page):
    """No link of the page leads to a script."""
    return page.evaluate(
        "[...document.querySelectorAll('a[href]')].map(a => a.href).filter(a => /^javascript/i.test(a))"
    )


def hostile_table():
    """Released tables of the same columns, and of names that objects of a script have already."""
    random = np.random.default_rng(1)
    people = {ACROSS: random.random(500) * 10, "__proto__": random.choice(SCRIPTS, 500)}
    people["constructor"] = random.choice(["x", "toString"], 500)
    categories = Categorical("__proto__", SCRIPTS), Categorical("constructor", ("x", "toString"))
    return release(Tables.of(Domain((Numeric(ACROSS, 0, 10, unit=SCRIPTS[0][:20]), *categories)), 5), people, Budget(2))


@pytest.mark.deep
@pytest.mark.parametrize("make", [hostile, hostile_table])
def test_a_shared_page_runs_no_name(browser, tmp_path, make):
    made = make()
    place = tmp_path / "page.html"
    place.write_text(share_html(made, made.to_bytes(), SCRIPTS[1] + ".npz"), encoding="utf-8")
    context = browser.new_context()
    try:
        page = context.new_page()
        page.set_content(SCRIPTS[0])
        assert ran(page) == [1]  # else nothing below would be found
        page.goto(place.as_uri())
        assert "onerror=window.pwned" in page.inner_text("body")  # it is there, as text
        assert ran(page) == [] and follow_links(page) == []
    finally:
        context.close()


@pytest.mark.thorough
def test_a_poll_runs_no_question_or_answer(browser, tmp_path):
    polls = Polls(tmp_path / "polls.sqlite")
    poll = polls.make_up(Survey.of(SCRIPTS[0], SCRIPTS, "de", 1), [5] * len(SCRIPTS))
    real = polls.make(Survey.of(SCRIPTS[1], SCRIPTS, "de", 1))
    with PollServer(polls, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        context = browser.new_context()
        try:
            page = context.new_page()
            for name in (f"{real.id}", f"{real.id}/show", f"{poll.id}/show", f"{poll.id}/stored"):
                page.goto(f"http://127.0.0.1:{server.listens[1]}/p/{name}")
                page.locator("body", has_text="window.pwned").wait_for()  # the pages forbid to evaluate texts again
                assert ran(page) == [] and follow_links(page) == []
        finally:
            context.close()
            server.shutdown()
            thread.join()


@pytest.mark.deep
def test_the_app_runs_no_name_of_a_file_column_category_or_outline(visitor, home):
    made = hostile()
    kept = Shelf(home / "frostglass" / "ledger.sqlite.releases").keep(made, SCRIPTS[0])
    visit = visitor()
    for path in (f"/explore?release={kept.stem}", "/classify", "/ledger", "/"):
        visit.go(path)
        assert ran(visit.page) == [] and follow_links(visit.page) == []
        if path.startswith("/explore"):
            assert "onerror=window.pwned" in visit.page.inner_text("body")
    visit.go(f"/explore?release={kept.stem}")
    visit.click("button", "Share")
    assert ran(visit.page) == [] and visit.errors == []


@pytest.mark.deep
def test_the_app_runs_nothing_of_an_outline(visitor, home):
    random = np.random.default_rng(1)
    domain = Domain((Coordinate("east", "longitude", 0, 10, 0, 10), Coordinate("north", "latitude", 0, 10, 0, 10)))
    places = {"east": random.random(500) * 10, "north": random.random(500) * 10}
    made = release(Histogram(domain, Gaussian(1.0), (16, 16)), places, Budget(1))
    kept = Shelf(home / "frostglass" / "ledger.sqlite.releases").keep(made, "map")
    visit = visitor()
    visit.go(f"/explore?release={kept.stem}")
    visit.click("button", "Outline")
    with visit.page.expect_response(lambda response: "/_stcore/upload_file/" in response.url):
        visit.page.get_by_test_id("stFileUploaderDropzoneInput").last.set_input_files(
            {"name": f"{SCRIPTS[0]}.geojson", "mimeType": "application/json", "buffer": json.dumps(OUTLINE).encode()}
        )
    visit.settle()
    assert ran(visit.page) == [] and follow_links(visit.page) == [] and visit.errors == []


@pytest.mark.deep
def test_the_app_runs_no_name_of_private_data(visitor):
    visit = visitor()
    visit.go("/data")
    quoted = ",".join('"' + one.replace('"', '""') + '"' for one in SCRIPTS[:4])
    rows = "\n".join(f"{place},{place * 2},{place},{place}" for place in range(30))
    visit.drop(f"{SCRIPTS[0]}.csv", f"{quoted}\n{rows}\n".encode())
    assert ran(visit.page) == [] and follow_links(visit.page) == []
    assert "window.pwned" in visit.page.inner_text("body")
