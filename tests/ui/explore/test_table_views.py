"""The Ask view without a browser: a question in SQL is answered with bands, or refused in one sentence."""

import dataclasses
from types import SimpleNamespace

import pandas as pd
import pytest

from core.privacy.budget import PrivacyUnit
from core.ui.explore.table_views import first_question, possible, readable
from tests.tables_for_tests import table_release
from tests.ui.explore.visiting import explore, view


@pytest.mark.thorough
def test_questions_in_sql_are_answered_with_bands_or_refused_in_one_sentence():
    made = table_release()
    assert first_question(made).startswith('SELECT "town", COUNT(*) AS "people", AVG("age") AS average')
    assert first_question(table_release(tables="singles")).startswith('SELECT "town", COUNT(*) AS "people"\n')
    app = view(explore(made.to_bytes(teaching=True)), "Ask")
    app.segmented_control(key=next(one.key for one in app.segmented_control if one.label == "How to ask")).set_value(
        "Write SQL"
    ).run()
    assert not app.exception and not app.info
    (frame,) = [one.value for one in app.dataframe]
    assert list(frame.columns[:4]) == ["town", "people", "people_low", "people_high"] and len(frame) == 3
    app.text_area[0].set_value("SELECT MAX(pay) FROM records").run()
    assert not app.exception and "cannot be answered from tables" in app.info[0].value and not app.dataframe
    app.text_area[0].set_value("SELECT age, COUNT(*) AS n FROM records WHERE town = 'Lyon' GROUP BY age").run()
    assert not app.exception and app.dataframe[0].value["age"].iloc[0] == "[0, 10)"
    assert readable(made.asked().table("town"))["town"].tolist() == ["Lyon", "Nice", "Paris"]


@pytest.mark.thorough
def test_four_lists_ask_without_sql_and_dates_are_neither_summed_nor_averaged_unasked():
    app = view(explore(table_release().to_bytes(teaching=True)), "Ask")
    assert not app.exception and not app.text_area
    assert list(app.dataframe[0].value.columns) == ["town", "people", "people_low", "people_high"]
    assert (
        min(possible(pd.DataFrame({"people": [-47], "people_low": [-104], "people_high": [11]}), "people").iloc[0]) == 0
    )
    assert all(pd.api.types.is_integer_dtype(app.dataframe[0].value[name]) for name in ("people", "people_low"))
    lists = {one.label: one for one in app.selectbox}
    lists["What"].set_value("The total of").run()
    of = next(one for one in app.selectbox if one.label == "Of")
    assert "since" not in of.options and of.options
    next(one for one in app.selectbox if one.label == "Among").set_value("since").run()
    assert not app.exception and any("BETWEEN '" in one.value for one in app.code) and "note" in app.dataframe[0].value
    next(one for one in app.selectbox if one.label == "For each").set_value("everyone together").run()
    assert not app.exception and len(app.dataframe[0].value) == 1


def test_visits_are_asked_for_as_visits_where_a_person_may_have_several():
    """Of a table of visits it said how many people there are, and counted visits."""
    unit = PrivacyUnit("member", 4)
    made = table_release()
    for record, many in (("visit", "visits"), ("", "records")):
        domain = dataclasses.replace(made.domain, unit=unit, record=record)
        assert f'COUNT(*) AS "{many}"' in first_question(SimpleNamespace(asked=made.asked, domain=domain))
