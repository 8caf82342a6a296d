"""The overview of a released table without a browser: a part is chosen by its fields, and shown everywhere."""

import re

from tests.tables_for_tests import table_release
from tests.ui.explore.visiting import explore, field, shown


def people(app) -> int:
    return int(re.search(r"· ([\d,]+) records", shown(app))[1].replace(",", ""))


def test_a_table_opens_as_an_overview_and_a_part_is_shown_everywhere():
    app = explore(table_release(places=True).to_bytes(teaching=True))
    assert not app.exception
    text = shown(app)
    assert "Everyone" in text and abs(people(app) - 4000) < 100
    assert text.count("<table") == 6 and "median" in text and "2022-" in text
    assert "Records that miss a value of since, town, age, pay or 2 more were left out" in text
    assert [one.value for one in app.header] == ["Where", "Which columns go together"]
    assert "of everyone go together:" in text and "more than noise alone would show" in text
    field(app.selectbox, "Column").set_value("town").run()
    before = shown(app)
    app.pills[0].set_value([2]).run()
    assert not app.exception and "town: Paris" in shown(app) and people(app) < 2200
    assert shown(app).split("Paris", 1)[1] != before.split("Everyone", 1)[1]
    assert "places were not measured together with town" in shown(app)
    field(app.selectbox, "Column").set_value("age").run()
    field(app.select_slider, "From … to").set_value((3, 5)).run()
    assert "age: 30 to 59" in shown(app) and "town: Paris" not in shown(app)
    next(button for button in app.button if button.label == "Show all").click().run()
    assert not app.exception and "Everyone" in shown(app)


def test_what_was_not_measured_together_is_greyed_with_a_word():
    app = explore(table_release(tables="singles").to_bytes(teaching=True))
    assert not app.exception and "No two columns were measured together." in shown(app)
    field(app.selectbox, "Column").set_value("town").run()
    app.pills[0].set_value([0]).run()
    assert not app.exception and shown(app).count("Not measured together with town.") == 4
