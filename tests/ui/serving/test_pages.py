"""All pages as each role finds them: what is not theirs says so and shows nothing else."""

from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.errors import RequestError
from core.ui.frame import visiting
from core.ui.frame.visiting import PERSON, visitor_now
from core.ui.own_data.picking_records import check_place
from core.ui.serving import door as doors
from core.ui.serving.door import TOKEN_HEADER, Person, SessionManager
from core.ui.serving.owners import REFUSED, served_ledger
from core.ui.serving.settings import NEEDS, Role, may_open

ROOT = Path(__file__).parents[3]
APP = str(ROOT / "app.py")
FILE = """
[server]
public = "https://frostglass.example.org"
folder = "{folder}"
[proxy]
addresses = ["127.0.0.1"]
email_header = "X-Forwarded-Email"
[roles]
owner = ["ann@example.org", "both@example.org"]
analyst = ["bob@example.org"]
steward = ["sue@example.org", "both@example.org"]
[approval]
epsilon = 0.5
[limits]
sessions_each = 100
[data]
"ann@example.org" = ["{data}"]
"""
PEOPLE = {
    name: Person(f"{name}@example.org", frozenset(), name[0] * 64, float("inf"))
    for name in ("ann", "bob", "sue", "tom")
}
HELD = {"ann": {Role.OWNER}, "bob": {Role.ANALYST}, "sue": {Role.STEWARD}, "tom": set()}


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A door, as if this process served others."""
    (tmp_path / "anns").mkdir()
    path = tmp_path / "serving.toml"
    path.write_text(FILE.format(folder=tmp_path, data=tmp_path / "anns"))
    door = SessionManager(path)
    monkeypatch.setattr(doors, "_open", [door])
    return door


@pytest.fixture
def come(served, request_headers):
    """Let somebody of `PEOPLE` come in, or a stranger."""

    def coming(name):
        request_headers.pop(TOKEN_HEADER, None)
        if name is not None:
            request_headers[TOKEN_HEADER] = served.enter(PEOPLE[name])

    return coming


def pages():
    return ["app.py", *(f"pages/{file.name}" for file in sorted((ROOT / "pages").glob("*.py")))]


def opened(page):
    at = AppTest.from_file(APP, default_timeout=180).run()
    return at if page == "app.py" else at.switch_page(page).run()


def test_every_page_is_listed():
    assert set(pages()) == set(NEEDS)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", [None, "tom", "bob", "sue", "ann"])
def test_each_page_shows_itself_to_its_roles_alone(come, name):
    roles = HELD.get(name, set())
    for page in pages():
        if may_open(page, roles):
            continue
        come(name)
        at = opened(page)
        assert [error.value[:25] for error in at.error] == ["This page is not for you:"], page
        assert not at.button and not at.markdown[1:] and not at.get("file_uploader") and not at.exception


@pytest.mark.parametrize(("name", "page"), [("bob", "app.py"), ("ann", "pages/data.py"), ("sue", "pages/approve.py")])
def test_a_page_of_ones_own_opens(come, name, page):
    come(name)
    at = opened(page)
    assert not at.error and not at.exception
    assert at.session_state[PERSON] == PEOPLE[name].mark


def test_a_forged_token_is_nobodys(come, request_headers):
    come("ann")
    request_headers[TOKEN_HEADER] = "0" * 32
    assert "not for you" in opened("pages/ledger.py").error[0].value


def test_a_session_is_nobody_elses(come):
    come("ann")
    at = opened("pages/ledger.py")
    assert not at.error
    come("bob")
    assert "not for you" in at.run().error[0].value


def test_a_role_that_was_taken_away_closes_the_page(come, served):
    come("ann")
    at = opened("pages/ledger.py")
    served._path.write_text(served._path.read_text().replace('owner = ["ann@', 'owner = ["eve@'))
    assert "not for you" in at.run().error[0].value


def test_an_owner_reads_from_their_own_places_alone(come, tmp_path, monkeypatch):
    monkeypatch.setattr("streamlit.session_state", {})
    pd.DataFrame({"x": [1]}).to_csv(tmp_path / "anns" / "own.csv")
    pd.DataFrame({"x": [1]}).to_csv(tmp_path / "other.csv")
    (tmp_path / "anns" / "link.csv").symlink_to(tmp_path / "other.csv")
    come("ann")
    assert visitor_now().name == "ann@example.org" and visiting.stranger() is None
    check_place(str(tmp_path / "anns" / "own.csv"))
    for name in ("other.csv", "anns/link.csv", "none.csv", "anns/../other.csv"):
        with pytest.raises(RequestError, match=REFUSED):
            check_place(str(tmp_path / name))
    for stranger in ("bob", "sue", "tom", None):
        come(stranger)
        assert visiting.stranger() is not None and visiting.places() == ()
        with pytest.raises(RequestError, match=REFUSED):
            check_place(str(tmp_path / "anns" / "own.csv"))


@pytest.mark.thorough
def test_a_steward_says_yes_to_what_waits(come, served):
    from decimal import Decimal

    from core.privacy.budget import Budget
    from tests.privacy.ledger.test_ledger import pure

    ledger = served_ledger(served.started, "ann@example.org")
    plan = ledger.plan("visits", Budget(3), pure("0.6"), {"mechanism": "race", "columns": ["age"], "parameters": {}})
    ledger.approvals.ask("ann@example.org", plan)
    come("sue")
    at = opened("pages/approve.py")
    words = " ".join(one.value for one in at.markdown)
    assert "ann@example.org: visits" in words and "ε = 0.6" in words and "age" in words
    assert "It releases: Random cells (RACE)" in words
    at.button(key="approve-1").click().run()
    assert not at.exception and ledger.approvals.latest("ann@example.org", plan).yeses == ("sue@example.org",)
    assert "It is approved, and stays here until ann@example.org releases it." in " ".join(
        one.value for one in at.markdown
    )
    ledger.register("visits", 3)
    ledger.spend("visits", pure("0.6"), {"mechanism": "race", "columns": ["age"], "parameters": {}})
    assert ledger.status("visits").left == Decimal("2.4")


def test_a_click_of_somebody_who_is_no_steward_any_more_counts_for_nothing(come, served):
    from core.privacy.budget import Budget
    from tests.privacy.ledger.test_ledger import pure

    ledger = served_ledger(served.started, "ann@example.org")
    plan = ledger.plan("visits", Budget(3), pure("0.6"), {"mechanism": "race"})
    ledger.approvals.ask("ann@example.org", plan)
    come("sue")
    at = opened("pages/approve.py")
    served._path.write_text(served._path.read_text().replace("sue@", "eve@"))
    at.button(key="approve-1").click().run()
    assert ledger.approvals.latest("ann@example.org", plan).yeses == ()
