"""Who pays for a release on the page, out of which total, and when not."""

from decimal import Decimal

import pandas as pd
import pytest

from core.domain import Domain, PrivacyUnit
from core.sources import open_source
from core.ui.frame.session import DESK, KEY, OwnData
from core.ui.release.release_task import Stage
from tests.depth import draws
from tests.ui.release.visiting import DOMAIN, PRESS, RECORDS, confirmed, visit, with_total, words


@pytest.mark.thorough
def test_it_never_offers_what_the_ledger_would_refuse(ledger):
    at = with_total(visit(), 1.0)
    at.select_slider(key="release-epsilon").set_value(Decimal("1.2")).run()
    assert at.button(key=PRESS).disabled and "a smaller ε, as 1.0 is left" in words(at)
    at.select_slider(key="release-epsilon").set_value(Decimal("1")).run()
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving nothing"


@pytest.mark.deep
def test_a_total_is_chosen_by_how_often_or_typed(ledger):
    at = visit()
    at.select_slider(key="release-epsilon").set_value(Decimal("1.2"))
    at.segmented_control(key="release-often-1").set_value(3).run()
    assert at.number_input(key="release-total-1").value == 3.6 and "97.3%" in words(at)
    assert at.button(key=PRESS).label == "Release for ε = 1.2, leaving 2.4"
    at.select_slider(key="release-epsilon").set_value(Decimal("0.1")).run()
    assert at.button(key=PRESS).label == "Release for ε = 0.1, leaving 0.2", "the total follows, to the last digit"
    with_total(at, 5.0)
    assert at.segmented_control(key="release-often-1").value is None
    assert at.button(key=PRESS).label == "Release for ε = 0.1, leaving 4.9"
    at.number_input(key="release-epsilon-exact").set_value(60.0)
    at.segmented_control(key="release-often-1").set_value(2).run()
    assert at.button(key=PRESS).disabled and "a total is at most 100" in words(at)


@pytest.mark.thorough
def test_a_known_data_set_keeps_its_total_and_its_relation(ledger):
    ledger.register("visits", 2, 0, "replace_one")
    at = visit()
    assert not at.number_input or "release-total-1" not in [one.key for one in at.number_input]
    assert at.radio(key="release-relation").disabled and at.radio(key="release-relation").value == "replace_one"
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 1.0"


@pytest.mark.thorough
def test_the_same_file_has_one_name_in_the_ledger_of_app_and_command_line(ledger):
    assert visit(title="bib.csv").selectbox(key="release-dataset-1").value == "bib"
    assert visit(title="clinic.duckdb::visits").selectbox(key="release-dataset-1").value == "clinic.visits"
    assert visit(title="visits/*.csv").selectbox(key="release-dataset-1").value == "visits/*.csv"
    ledger.register("bib.csv", 2)
    assert visit(title="bib.csv").selectbox(key="release-dataset-1").value == "bib.csv", "an earlier version named it"


@pytest.mark.thorough
def test_a_data_set_that_protects_others_cannot_pay(ledger):
    ledger.register("visits", 2, 0, "add_remove", "who:2")
    at = visit()
    assert at.button(key=PRESS).disabled and "“visits”" in at.error[0].value
    own = visit(Domain.of(x=(0, 100), unit=PrivacyUnit("who", 2)))
    assert not own.button(key=PRESS).disabled


@pytest.mark.deep
def test_slack_needs_a_total_with_slack(ledger):
    ledger.register("strict", 2)
    columns = [f"x{i}" for i in range(draws(5, 8))]
    many = Domain.of(**{name: (0, 100) for name in columns})
    at = visit(many, title="strict")
    at.toggle(key="release-slack").set_value(True).run()
    assert at.button(key=PRESS).disabled and "a promise without the one-in-a-million risk" in words(at)
    few = visit(title="strict")
    few.toggle(key="release-slack").set_value(True).run()
    assert not few.button(key=PRESS).disabled  # its noise keeps ε alone, so that it needs none of the slack
    records = pd.DataFrame({name: RECORDS["x"] for name in columns})
    new = with_total(visit(many, title="lenient", frame=records))
    new.toggle(key="release-slack").set_value(True).run()
    assert new.toggle(key="release-total-slack-needed").disabled
    confirmed(new)
    assert ledger.dataset("lenient").delta == Decimal("0.000001")
    release = new.session_state[DESK].making.release
    assert release.privacy.delta == Decimal("0.000001") and release.privacy.noise[0].distribution == "discrete_gaussian"


@pytest.mark.thorough
def test_the_name_of_a_data_set_is_matched_whatever_its_capitals(ledger):
    ledger.register("Visits", 5)
    at = visit(title="visits")
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 4.0"


@pytest.mark.thorough
def test_other_data_starts_with_an_empty_total(ledger):
    at = with_total(visit())
    session = at.session_state[KEY]
    source = open_source(RECORDS)
    session.pick("others", source)
    session.own = OwnData("others", source, DOMAIN)
    at.run()
    assert at.number_input(key="release-total-2").value is None and at.button(key=PRESS).disabled


@pytest.mark.thorough
def test_who_comes_through_a_proxy_pays_in_a_ledger_of_the_session(ledger, request_headers):
    ledger.register("Payroll of Grubenmann", 3)
    request_headers["Via"] = "1.1 gate"
    at = with_total(visit())
    assert "counted in this session only" in words(at)
    assert "Grubenmann" not in str(at.selectbox(key="release-dataset-1").options)
    confirmed(at)
    assert not at.exception and ledger.names() == ["Payroll of Grubenmann"]
    assert at.session_state[DESK].making.stage is Stage.MADE
