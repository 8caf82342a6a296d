"""The Compare page without a browser: what is compared on what, and that no private record is ever read for it."""

import re
from decimal import Decimal
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.domain import Domain
from core.figures.comparison_figures import advice_sentence, measured_sentence, swatch
from core.geometry.kernels import Euclidean, Gaussian, Laplacian
from core.lab.comparison_plan import METHODS, ErrorCurve, Outcome, Plan, Step, Trial
from core.lab.comparison_trials import from_sample
from core.privacy.budget import Budget
from core.releases.forecast.recommendation import Closeness
from core.sources import Source
from core.sources.public_tables import sample
from core.ui import compare_page, compare_results
from core.ui.compare_choices import DECLARED, ON_FACTS, ON_FILE, marks
from core.ui.compare_results import shown_curves, tuning_sentence
from core.ui.compare_subject import SHAPES, Subject, kernels_like, picture_of
from core.ui.frame.session import KEY, OwnData, Session
from core.ui.own_data.picking_records import OWN_FILE

APP = str(Path(__file__).parents[2] / "app.py")


class Unreadable(Source):
    """Private records that nobody may touch."""

    columns, label = (), "private"

    def rows_total(self):
        raise AssertionError("the private records were counted")

    def _batches(self, domain, rows):
        raise AssertionError("the private records were read")


class Idle:
    """In the place of the thread: nothing is tried, and what was asked for is kept."""

    running = stopped = False
    doing = None
    aimed = None
    found: ClassVar[dict] = {}

    def __init__(self, subject):
        Idle.shared = subject.shared

    def known(self, identity):
        return self.found

    def aim(self, task):
        Idle.aimed = task


@pytest.fixture
def page(monkeypatch):
    """Opens the page; what it would try is `Idle.aimed`."""
    monkeypatch.setattr(compare_page, "bench", Idle)
    Idle.aimed = None

    def open_it(**state):
        app = AppTest.from_file(APP, default_timeout=60)
        for key, value in state.items():
            app.session_state[key] = value
        app.switch_page("pages/compare.py").run()
        assert not app.exception
        return app

    return open_it


def words(app):
    return " ".join(one.value for one in app.markdown)


def control(app, label):
    return next(one for one in app.segmented_control if one.label == label)


@pytest.mark.thorough
def test_a_sample_is_compared_with_every_method_that_can_and_the_others_have_a_reason(page):
    app = page()
    plan = Idle.aimed.plan
    assert Idle.shared and plan.measured and {"features", "histogram"} <= set(plan.methods)
    assert [float(plan.epsilons[0]), float(plan.epsilons[-1]), float(plan.shown_at)] == [0.05, 10, 1]
    assert "methods cannot take part:" in words(app)
    assert "RACE" in words(app)


@pytest.mark.thorough
def test_slack_brings_methods_that_need_it(page):
    app = page()
    without = set(Idle.aimed.plan.methods)
    app.toggle(key="slack").set_value(True).run()
    assert not app.exception and without <= set(Idle.aimed.plan.methods) and Idle.aimed.plan.delta > 0


@pytest.mark.deep
@pytest.mark.parametrize("name", ["stars", "photographs"])
def test_samples_of_many_columns_and_of_vectors_are_compared_too(page, name):
    page(sample=name)
    assert "race" in Idle.aimed.plan.methods and Idle.aimed.plan.places > 100


@pytest.mark.thorough
def test_private_data_is_forecast_from_public_facts_and_no_record_is_read(page):
    domain = Domain.of(age=(0, 100))
    state = Session(own=OwnData("Mine", Unreadable(), domain))
    app = page(**{KEY: state, "compare-on": ON_FACTS})
    assert "no record is read" in words(app)
    task = Idle.aimed
    assert not Idle.shared and not task.plan.measured and task.plan.shown_at is None
    ends = task.plan.epsilons[0], task.plan.epsilons[-1]
    for method in ("histogram", "features"):
        worse, better = (task.work(Step(method, epsilon, task.plan.delta)).relative_error for epsilon in ends)
        assert worse > better > 0


def test_without_declared_data_there_is_a_way_to_it(page):
    app = page(**{"compare-on": ON_FACTS})
    assert Idle.aimed is None and "say first what is publicly known" in words(app)
    assert "Still missing: public data to compare on." in words(app)


def with_file(page, table, **state):
    app = page(**{"compare-on": ON_FILE} | state)
    app.file_uploader(key="compare-file").set_value(("ages.csv", table.to_csv(index=False).encode(), "text/csv"))
    return app.run()


TABLE = pd.DataFrame({"age": np.arange(200) % 80, "city": ["Uri", "Zug"] * 100})


def test_a_file_is_read_only_once_it_is_declared_public(page):
    app = with_file(page, TABLE)
    assert not app.exception and Idle.aimed is None
    next(one for one in app.checkbox if one.label == DECLARED).set_value(True).run()
    assert not app.exception and not Idle.shared and Idle.aimed.plan.measured
    assert {"histogram", "features"} <= set(Idle.aimed.plan.methods)


@pytest.mark.thorough
def test_a_file_that_cannot_be_compared_gets_a_sentence(page):
    app = with_file(page, TABLE.head(10))
    next(one for one in app.checkbox if one.label == DECLARED).set_value(True).run()
    assert not app.exception and "at least 50 public records" in app.error[0].value
    assert "Still missing" in words(app)


@pytest.mark.thorough
def test_a_column_that_cannot_be_used_keeps_no_other_away(page):
    table = pd.DataFrame({"name": [f"person {n}" for n in range(1200)], "age": np.arange(1200) % 80, "same": 3})
    app = with_file(page, table)
    next(one for one in app.checkbox if one.label == DECLARED).set_value(True).run()
    assert not app.error and app.multiselect(key="compare-columns").options == ["age"]
    assert "Left out: name, same." in words(app)


def test_a_file_of_one_record_has_no_column_to_compare(page):
    app = with_file(page, TABLE.head(1))
    next(one for one in app.checkbox if one.label == DECLARED).set_value(True).run()
    assert app.error[0].value.startswith("No column of this file can be compared.") and Idle.aimed is None


@pytest.mark.thorough
def test_what_is_recommended_stands_beside_what_was_measured():
    known = sample("salaries")
    data = from_sample(known, Closeness(Gaussian(400.0)), records=300, queries=20)
    subject = Subject("x", "", known.domain, data.question, 300, data, known.show)
    advice = subject.work(Step("", Decimal(1), Decimal(0), advising=True))
    assert advice == subject.work(Step("", Decimal(1), Decimal(0), advising=True)) and advice.method == "histogram"
    ours, theirs = (
        ErrorCurve(key, "relative_error", False, (1.0,), (error,), (error,), (error,), (None,), (1,), (1,))
        for key, error in (("histogram", 0.2), ("mst", 0.1))
    )
    said = advice_sentence(advice, [ours, theirs], 1.0, True)
    assert advice.reason in said and said.endswith("Fitted histogram has 20%; the least has MST, with 10%.")
    assert advice_sentence(advice, [ours], 1.0, True).endswith("has 20%, the least of all that are drawn.")
    assert "Measured" not in advice_sentence(advice, [ours], 1.0, False)


def test_what_an_error_was_measured_on_is_said():
    known = sample("salaries")
    data = from_sample(known, records=300, queries=20)
    for measure in ("relative_error", "upper_error", "l2_error"):
        said = measured_sentence(data, measure)
        assert "on 300 records" in said and ("200 even places" in said) == (measure == "l2_error")


@pytest.mark.thorough
def test_every_picture_has_the_exact_answers_at_its_points():
    for name, sides in (("salaries", 1), ("city", 2), ("heart", 2), ("photographs", 1)):
        known = sample(name)
        data = from_sample(known, records=300, queries=20)
        picture = picture_of(data, known.show)
        assert len(picture.axes) == sides and picture.exact.size == len(picture.points)
        place = picture.exact.size // 3
        exact = (
            METHODS["race"]
            .build(data.domain, data.question, Budget(1), 4, 0)
            .exact(picture.points[place : place + 1], data.records)
        )
        assert picture.exact.ravel()[place] == pytest.approx(exact[0])
        assert picture.shaped(np.ones(picture.exact.size)).shape == picture.exact.shape


def test_kernels_to_compare_with_are_half_gone_at_the_same_distance():
    for kernel in (Euclidean(3.0, 4), Laplacian(0.5), Gaussian(2.0)):
        at = np.array([[0.0]])
        offered = kernels_like(kernel)
        assert set(offered) == set(SHAPES) - {type(kernel).__name__}
        half = next(d for d in np.linspace(0, 10, 20001) if kernel.evaluate(at, np.array([[d]]))[0, 0] <= 0.5)
        for other in offered.values():
            assert other.evaluate(at, np.array([[half]]))[0, 0] == pytest.approx(0.5, abs=2e-3)
    assert kernels_like(Laplacian((0.1, 0.4)))["Gaussian"].bandwidth[1] == pytest.approx(
        4 * kernels_like(Laplacian((0.1, 0.4)))["Gaussian"].bandwidth[0], rel=1e-3
    )


def test_what_tuning_would_cost_is_said():
    method = METHODS["race"]
    default = ErrorCurve("race", "relative_error", False, (1.0,), (0.2,), (0.1,), (0.3,), (None,), (1,), (5,))
    tuned = ErrorCurve("race", "relative_error", True, (1.0,), (0.1,), (0.1,), (0.1,), (500,), (6,), (3,))
    sentence = tuning_sentence(method, (None, 100, 500), default, tuned, 1.0)
    assert sentence == (
        "At ε = 1 its error is 20% at the setting that public facts choose and 10% at the best one (rows: 500). "
        "Trying 6 settings on private data would cost ε = 7 in place of 1."
    )
    assert tuning_sentence(method, (None, 100), default, None, 1.0) == ""
    assert "none to tune" in tuning_sentence(METHODS["histogram"], (None,), default, None, 1.0)


def test_slow_pictures_are_drawn_once_and_quick_ones_often(monkeypatch):
    known = sample("salaries")
    data = from_sample(known, records=300, queries=20)
    subject = Subject("x", "", known.domain, Closeness(known.kernel), 300, data, known.show)
    monkeypatch.setattr("core.ui.compare_subject.QUICK", np.inf)
    assert len(subject._drawn(METHODS["race"], Budget(1))) == 8
    monkeypatch.setattr("core.ui.compare_subject.QUICK", -1.0)
    assert len(subject._drawn(METHODS["race"], Budget(1))) == 1


def test_ones_own_private_file_is_no_public_file(page, monkeypatch):
    class Dropped:
        def getvalue(self):
            return TABLE.to_csv(index=False).encode()

    app = with_file(page, TABLE, **{OWN_FILE: Dropped()})
    next(one for one in app.checkbox if one.label == DECLARED).set_value(True).run()
    assert "your own private file" in app.error[0].value and Idle.aimed is None


def test_methods_that_are_seen_together_differ_and_every_mark_can_be_drawn():
    closeness = [marks()[key] for key, method in METHODS.items() if method.card.answers == "closeness"]
    lines = [(mark.colour, mark.dash) for mark in closeness[:20]]
    assert set(marks()) == set(METHODS) and len(set(lines)) == len(lines)
    assert all(mark.colour in swatch(mark) for mark in marks().values())


@pytest.mark.deep
def test_all_methods_take_part_again_where_others_can(page):
    app = page()
    next(one for one in app.pills if one.label == "Methods").set_value(["histogram"]).run()
    assert Idle.aimed.plan.methods == ("histogram",)
    app.selectbox(key="kernel").set_value("Laplacian").run()
    assert not app.exception and {"features", "histogram"} <= set(Idle.aimed.plan.methods)
    next(one for one in app.pills if one.label == "Methods").set_value([]).run()
    assert "Pick at least one method." in words(app) and "Still missing: a method." in words(app)


@pytest.mark.thorough
def test_functions_are_drawn_within_the_range_of_epsilon(page):
    app = page()
    app.select_slider(key="at").set_value(Decimal("0.1")).run()
    assert Idle.aimed.plan.shown_at == Decimal("0.1")
    app.select_slider(key="epsilons").set_value((Decimal("0.5"), Decimal(4))).run()
    assert not app.exception and Idle.aimed.plan.shown_at == 1
    assert Idle.aimed.plan.epsilons == tuple(map(Decimal, ("0.5", "1", "2", "4")))


def test_a_method_without_a_setting_stays_when_the_others_are_tuned():
    trials = [
        Trial(method, size, 1.0, 0.0, 0, tuning, 0.1, 0.1, None, 0.1, 0.0, 0.1, 10)
        for method, size, tuning in (
            ("race", None, False),
            ("race", 100, True),
            ("race", 100, False),
            ("histogram", None, False),
        )
    ]
    assert {(c.method, c.tuned) for c in shown_curves(trials, "relative_error", True)} == {
        ("race", True),
        ("histogram", False),
    }
    assert not any(curve.tuned for curve in shown_curves(trials, "relative_error", False))


@pytest.mark.deep
def test_curves_that_were_measured_before_are_there_at_once_and_can_be_measured_here(page, monkeypatch):
    trial = Trial("histogram", None, 1.0, 0.0, 0, False, 0.1, 0.2, None, 0.1, 0.0, 0.1, 10)
    monkeypatch.setattr(Idle, "found", {Step("histogram", Decimal(1), Decimal(0)): Outcome(trial, None, 1.0)})
    monkeypatch.setattr(compare_results, "bundled", lambda identity: Idle.found)
    monkeypatch.setattr(Plan, "seconds_left", lambda plan, known: 0.0)
    app = page(sample="salaries")
    again = app.button(key="compare-again-here")
    assert len(app.get("plotly_chart")) >= 4 and "Measured before, on another computer" in words(app)
    assert "Each point is one release at the setting that public facts choose." in words(app)
    identity = Idle.aimed.identity
    again.click().run()
    assert not app.exception and app.session_state[compare_results.AGAIN] == {identity}
    assert not [one for one in app.button if one.key == "compare-again-here"]


@pytest.mark.thorough
def test_nothing_is_measured_on_a_sample_until_somebody_asks_for_it(page):
    app = page(sample="salaries")
    assert not Idle.aimed.plan.asked and Idle.aimed.plan.next_step({}) is None
    assert "This has not been measured yet. Here that takes about" in words(app)
    app.button(key="compare-further-here").click().run()
    assert not app.exception and Idle.aimed.plan.asked and "not been measured yet" not in words(app)
    app.selectbox(key="sample").set_value("city").run()
    assert not Idle.aimed.plan.asked


@pytest.mark.deep
def test_local_reports_stand_beside_an_owner_when_they_are_asked_for(page):
    app = page(sample="colours")
    toggle = next(one for one in app.toggle if one.key == "compare-local")
    toggle.set_value(True).run()
    assert not app.exception
    table = next(one.value for one in app.dataframe if "local reports" in one.value.columns)
    needed = [int(text.replace(",", "")) for text in table["people"]]
    (records,) = re.findall(r"Both are RACE with ([\d,]+) records", words(app))
    assert len(needed) == 3 and needed == sorted(needed, reverse=True)
    assert min(needed) > int(records.replace(",", ""))
