"""Several questions in one release, on the Release page and on Explore."""

import numpy as np
import pandas as pd
import pytest

from core.domain import Categorical, Domain, Numeric
from core.figures.exploration import Density, Exploration
from core.figures.programs import script_for
from core.privacy.ledger.ledger import Ledger
from core.releases.release import load
from core.ui.frame.session import DESK, Opened
from core.ui.released.chosen_view import grouped, part_calls, part_of, question_of, whom
from tests.releases.test_known_releases import FILES
from tests.ui.release.visiting import confirmed, press, visit, with_total

DOMAIN = Domain((Numeric("x", 0, 100), Categorical("kind", ("old", "new"))), scale="box")
RECORDS = pd.DataFrame({"x": np.linspace(0, 100, 600), "y": np.linspace(0, 5, 600), "kind": ["old", "new"] * 300})


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    where = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(where))
    return Ledger(where)


def shares(at) -> list[str]:
    """What is said of each question in the release."""
    return [one.value for one in at.markdown if "of the budget; typical error" in one.value]


def names(at) -> list[str]:
    bold = [one.value.strip("*") for one in at.markdown if one.value.startswith("**") and one.value.endswith("**")]
    return [name for name in bold if not name.startswith("Made with")]


def who_says_the_distance():
    """The page of one question whose distance its owner says, as other questions may then be added."""
    at = with_total(visit(DOMAIN, frame=RECORDS))
    alone = "A release that finds its distance answers this one question alone"
    assert any(alone in one.value for one in at.markdown) and "release-add" not in [one.key for one in at.button]
    at.toggle(key="release-finds-1").set_value(False).run()
    assert not any(alone in one.value for one in at.markdown)
    return at


@pytest.mark.deep
def test_questions_are_added_and_taken_out_and_released_under_one_price(ledger):
    at = who_says_the_distance()
    assert not shares(at)
    at.button(key="release-add").click().run()
    assert at.radio(key="release-question").value == "distance"
    assert any("2 questions under one promise" in one.value for one in at.markdown)
    assert len(shares(at)) == 2 and "being chosen below" in shares(at)[1]
    assert names(at) == ["density of x and kind", "distance of x"]
    at.text_input(key="release-part-name-1").set_value("how far they are").run()
    evenly = shares(at)
    at.select_slider(key="release-part-weight-1").set_value(4.0).run()
    assert names(at)[1] == "how far they are" and shares(at) != evenly
    at.button(key="release-add").click().run()
    assert at.radio(key="release-question").value == "group" and at.text_input(key="release-part-name-1").value == ""
    at.button(key="release-take-out-1-0").click().run()
    assert not at.exception and names(at)[0] == "how far they are"
    at.radio(key="release-question").set_value("density").run()
    confirmed(at)
    assert not at.exception
    made = at.session_state[DESK].making.release
    assert next(iter(made.parts)) == "how far they are" and len(made.parts) == 2
    (entry,) = ledger.status("visits").releases
    assert entry.cost.pure_epsilon == made.privacy.epsilon
    assert at.selectbox(key=f"explore-question-{opened_in(at).fingerprint[:12]}").options == list(made.parts)
    at.switch_page("pages/explore.py").run()
    assert not at.exception
    question = at.selectbox(key=f"explore-question-{opened_in(at).fingerprint[:12]}")
    question.set_value(list(made.parts)[1]).run()
    assert not at.exception
    for page in ("pages/ledger.py", "pages/classify.py", "pages/compare.py"):
        at.switch_page(page).run()
        assert not at.exception


@pytest.mark.deep
def test_a_share_that_is_fixed_stays_when_another_question_is_added(ledger):
    at = with_total(visit(DOMAIN, frame=RECORDS))
    at.radio(key="release-question").set_value("distance").run()
    at.button(key="release-add").click().run()
    at.number_input(key="release-part-share-1").set_value(25).run()
    assert "25% of the budget" in shares(at)[1]
    at.button(key="release-add").click().run()
    assert len(shares(at)) == 3 and "25% of the budget" in shares(at)[1] and not at.exception


def opened_in(at) -> Opened:
    return at.session_state["frostglass"].shown


@pytest.mark.deep
def test_the_same_question_twice_is_no_release(ledger):
    at = who_says_the_distance()
    at.button(key="release-add").click().run()
    at.radio(key="release-question").set_value("density").run()
    assert any("another question than those in the release" in one.value for one in at.markdown)
    at.button(key="release-take-out-1-1").click().run()
    assert not at.exception and not shares(at) and at.radio(key="release-question").value == "density"
    press(at)
    assert at.button(key="release-yes")


def test_a_part_is_asked_by_programs_and_named_in_reports():
    (path,) = [path for path in FILES if path.stem == "parts-3"]
    opened = Opened(path.name, path.read_bytes(), load(path))
    (by_sex,) = grouped(opened)
    assert by_sex.question == "pay by sex" and grouped(question_of(opened, "age and pay")) == []
    women = part_of(by_sex, "f")
    assert (
        whom(women) == "pay by sex, f"
        and whom(opened) == ""
        and len({one.identity for one in (opened, by_sex, women)}) == 3
    )
    program = script_for(Exploration(path.name, opened.fingerprint, (Density(("age",), {}),), part_calls(women)))
    assert "release = release.part(name='pay by sex')\nrelease = release.of_class(which='f')" in program
