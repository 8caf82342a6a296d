"""The overview of a released table without a browser: what is handed to what draws it, and what comes back of it."""

import base64

import pytest

from tests.tables_for_tests import table_release
from tests.ui.explore.visiting import explore, facts_of_picture, handed_over, shown, view


@pytest.mark.thorough
def test_a_table_is_handed_over_whole_and_its_view_is_kept_in_the_address():
    made = table_release(places=True)
    file = made.to_bytes(teaching=True)
    app = explore(file)
    given = handed_over(app)
    assert not app.exception and given["name"] == "people" and given["view"] == ""
    assert base64.b64decode(given["file"]) == file
    facts = facts_of_picture(app)
    assert [axis["name"] for axis in facts["axes"]] == list(made.domain.names) and facts["map"] is not None
    assert "Records that miss a value of since, town, age, pay or 2 more were left out" in shown(app)


def linked(file: bytes, part: str):
    """The file as somebody opens it who followed a link to a view."""
    app = explore()
    app.query_params["part"] = part
    app.file_uploader[0].set_value(("people.npz", file, "application/octet-stream"))
    return app.run()


@pytest.mark.thorough
def test_a_link_leads_to_its_view_and_says_how_surely_the_pair_in_it_goes_together():
    app = linked(table_release(places=True).to_bytes(teaching=True), "1:0;pair:1.2")
    assert not app.exception and handed_over(app)["view"] == "1:0;pair:1.2"
    assert "town and age of everyone: χ² with noise is" in shown(app)
    view(view(app, "Ask"), "Overview")
    assert handed_over(app)["view"] == "1:0;pair:1.2" and "χ²" in shown(app)


@pytest.mark.thorough
def test_a_view_that_nobody_could_come_to_says_nothing_of_columns_that_were_not_counted_together():
    singles = table_release(tables="singles").to_bytes(teaching=True)
    for forged in ("pair:1.2", "pair:9.1", "pair:1.1", "x" * 5000):
        app = linked(singles, forged)
        assert not app.exception and "χ²" not in shown(app) and len(handed_over(app)["view"]) < 5000
    assert "No two columns were measured together." in shown(app)
