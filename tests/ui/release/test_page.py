"""The Release page without a browser: what follows from the controls, and that a release happens once."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import core.releases.job
import core.releases.seal
from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.forecast.nearness import suggested_kernel
from core.geometry.kernels import Euclidean, Laplacian
from core.privacy.budget import Budget
from core.privacy.ledger.ledger import Ledger
from core.releases.release import load
from core.releases.sandbox import Sandbox
from core.sketches.classes import Classes
from core.sketches.distances.distance import Distance
from core.sketches.hashed.race import Race
from core.sources import open_source
from core.sources.samples import sample, samples
from core.ui.frame.session import KEY, OwnData, Session
from core.ui.release.making import Stage
from core.ui.release.progress import KEY as DESK
from core.ui.release.truth import compare
from core.ui.release.way import PICKED
from core.words.escapes import in_markdown
from core.words.phrases import listed
from tests.depth import deep, draws, sampled

APP = str(Path(__file__).parents[3] / "app.py")
PATIENCE = 180
"""Seconds that a page may take on a busy machine; nothing here measures speed."""
DOMAIN = Domain.of(x=(0, 100))
RECORDS = pd.DataFrame({"x": np.linspace(0, 100, 500), "y": np.linspace(0, 5, 500), "who": np.arange(500) // 2})
PRESS = "release"
LABELLED = pd.DataFrame({"x": np.linspace(0, 100, 600), "kind": np.repeat(["old", "new"], 300)})


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    where = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(where))
    return Ledger(where)


def visit(domain=DOMAIN, title="visits", frame=RECORDS, sample=None):
    """The page as an owner finds it who has described a data set."""
    at = AppTest.from_file(APP, default_timeout=PATIENCE)
    session = Session()
    source = open_source(frame)
    session.pick(title, source, sample)
    session.own = OwnData(title, source, domain, sample)
    at.session_state[KEY] = session
    at.switch_page("pages/release.py").run()
    assert not at.exception
    return at


def with_total(at, total=3.0):
    return at.number_input(key="release-total-1").set_value(total).run()


def press(at):
    return at.button(key=PRESS).click().run()


def confirmed(at):
    """Press, say yes, and let the work be done."""
    press(at)
    at.button(key="release-yes").click().run()
    while "Making the release" in [one.value for one in at.header]:
        assert at.session_state[DESK].making.wait(60)
        at.run()
    return at


def words(at):
    return " ".join(one.value for one in at.markdown)


def test_without_data_it_says_what_is_missing(ledger):
    at = AppTest.from_file(APP, default_timeout=PATIENCE).switch_page("pages/release.py").run()
    assert not at.exception and at.button(key=PRESS).disabled
    assert "Still missing: data to release." in words(at)


def test_it_starts_at_one_without_slack_and_asks_for_the_total_of_a_new_data_set(ledger):
    at = visit()
    assert at.select_slider(key="release-epsilon").value == 1 and not at.toggle(key="release-slack").value
    assert at.number_input(key="release-total-1").value is None
    assert at.button(key=PRESS).disabled and "Still missing: the total budget of the data set." in words(at)
    with_total(at)
    assert not at.button(key=PRESS).disabled
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 2.0"
    assert "73.1%" in words(at)


def test_price_risk_and_forecast_move_with_epsilon(ledger):
    at = with_total(visit())
    before = words(at)
    at.select_slider(key="release-epsilon").set_value(Decimal("0.1")).run()
    assert at.button(key=PRESS).label == "Release for ε = 0.1, leaving 2.9"
    assert "52.5%" in words(at) and at.number_input(key="release-epsilon-exact").value == 0.1
    assert words(at) != before


@pytest.mark.deep
def test_an_epsilon_may_be_typed_exactly(ledger):
    at = with_total(visit(), 0.3)
    at.number_input(key="release-epsilon-exact").set_value(0.1).run()
    confirmed(at)
    at.button(key="release-again").click().run()
    at.number_input(key="release-epsilon-exact").set_value(0.2).run()
    assert at.select_slider(key="release-epsilon").value == Decimal("0.2")
    assert at.button(key=PRESS).label == "Release for ε = 0.2, leaving 0.0" and not at.button(key=PRESS).disabled
    confirmed(at)
    assert ledger.status("visits").left == 0 and len(ledger.status("visits").releases) == 2


@pytest.mark.parametrize("typed", [None, deep(0.0), 0.1234567890123])
def test_an_impossible_epsilon_blocks_the_release_and_nothing_else(ledger, typed):
    at = with_total(visit())
    at.number_input(key="release-epsilon-exact").set_value(typed).run()
    assert not at.exception and at.button(key=PRESS).disabled
    at.number_input(key="release-epsilon-exact").set_value(0.5).run()
    assert not at.button(key=PRESS).disabled


def test_it_never_offers_what_the_ledger_would_refuse(ledger):
    at = with_total(visit(), 1.0)
    at.select_slider(key="release-epsilon").set_value(Decimal("1.2")).run()
    assert at.button(key=PRESS).disabled and "a smaller ε, as 1.0 is left" in words(at)
    at.select_slider(key="release-epsilon").set_value(Decimal("1")).run()
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 0.0"


def test_a_release_is_asked_about_made_paid_for_and_opened(ledger):
    at = with_total(visit())
    press(at)
    assert "at the price of **ε = 1.0**" in words(at) and ledger.names() == []
    at.button(key="release-yes").click().run()
    at.session_state[DESK].making.wait(60)
    at.run()
    making, session = at.session_state[DESK].making, at.session_state[KEY]
    assert making.stage is Stage.MADE and "It is released" in [one.value for one in at.header]
    opened = session.shown
    assert load(opened.data).counters.tobytes() == making.release.counters.tobytes() and making.release.private
    assert opened.name.startswith("release-2") and "visits" not in opened.name
    status = ledger.status("visits")
    assert status.epsilon == 3 and status.left == 2 and session.dataset == "visits"
    assert not at.exception and "73.1%" in words(at)


def test_running_the_page_again_neither_draws_nor_spends(ledger, monkeypatch):
    at = confirmed(with_total(visit()))
    table = at.session_state[DESK].making.release.counters
    monkeypatch.setattr(core.releases.seal, "add_noise", lambda *_: pytest.fail("noise was drawn again"))
    for _ in range(3):
        at.run()
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/release.py").run()
    assert at.session_state[DESK].making.release.counters is table and len(ledger.status("visits").releases) == 1


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


def test_nobody_reads_of_slack_ranges_or_crowds(ledger):
    said = str(with_total(visit(Domain.of(x=(0, 100), y=(0, 5)))).main)
    for given_up in ("slack", "share of its range", "shares of its range", "crowded", "such as 3"):
        assert given_up not in said.replace("release-slack", "").replace("release-total-slack", "")


def test_not_yet_means_not(ledger):
    at = press(with_total(visit()))
    at.button(key="release-no").click().run()
    assert at.session_state[DESK].making is None and ledger.names() == []
    assert not at.button(key=PRESS).disabled


def being_made(gated):
    """The page while half of the records are read."""
    at = press(with_total(visit(frame=gated)))
    at.button(key="release-yes").click().run()
    assert gated.waiting.wait(60)
    return at.run()


def test_stopping_costs_nothing(ledger, gated):
    at = being_made(gated)
    at.button(key="release-stop").click().run()
    assert "Stopped. Nothing was released and nothing was spent." in words(at)
    assert ledger.names() == [] and not at.button(key=PRESS).disabled


@pytest.mark.deep
def test_while_it_is_made_other_pages_work_and_say_so_and_the_result_is_there_on_return(ledger, gated):
    at = being_made(gated)
    assert "Making the release" in [one.value for one in at.header]
    assert "500 of 1,000 rows read" in "".join(str(one.proto) for one in at.main if hasattr(one, "proto"))
    at.switch_page("pages/explore.py").run()
    assert not at.exception and "A release is being made: 50%" in words(at)
    gated.gate.set()
    assert at.session_state[DESK].making.wait(60)
    at.run()
    assert "Your release is ready" in words(at) and len(ledger.status("visits").releases) == 1
    at.switch_page("pages/release.py").run()
    assert "It is released" in [one.value for one in at.header] and at.session_state[KEY].shown is not None
    at.switch_page("pages/explore.py").run()
    assert "Your release is ready" not in words(at), "it was seen"


@pytest.mark.deep
def test_what_was_stopped_from_elsewhere_is_said_on_every_page_and_once(ledger, gated):
    at = being_made(gated)
    making = at.session_state[DESK].making
    making.left_alone = True
    making.stop()
    at.switch_page("pages/ledger.py").run()
    assert "Your release was not made" in words(at)
    at.switch_page("pages/release.py").run()
    assert "as this browser was away for too long" in words(at) and ledger.names() == []
    assert "as this browser was away for too long" not in words(at.run())


def test_data_that_cannot_be_read_is_one_sentence_and_costs_nothing(ledger):
    gaps = pd.DataFrame({"x": [1.0, np.nan]})
    at = confirmed(with_total(visit(Domain.of(x=(0, 100), missing="refuse"), frame=gaps)))
    assert [error.value for error in at.error] and "nothing was spent" in at.error[0].value
    assert ledger.names() == [] and not at.exception and not at.button(key=PRESS).disabled


def test_a_known_data_set_keeps_its_total_and_its_relation(ledger):
    ledger.register("visits", 2, 0, "replace_one")
    at = visit()
    assert not at.number_input or "release-total-1" not in [one.key for one in at.number_input]
    assert at.radio(key="release-relation").disabled and at.radio(key="release-relation").value == "replace_one"
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 1.0"


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


def test_the_name_of_a_data_set_is_matched_whatever_its_capitals(ledger):
    ledger.register("Visits", 5)
    at = visit(title="visits")
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 4.0"


@pytest.mark.deep
def test_settings_by_hand_are_the_ones_released(ledger):
    at = with_total(visit(Domain.of(x=(0, 100), y=(0, 5))))
    at.segmented_control(key="release-how").set_value("By hand").run()
    at.selectbox(key="release-kernel-1").set_value("Laplacian").run()
    at.number_input(key="release-bandwidth-1-none").set_value(7.5)
    at.number_input(key="release-power-1").set_value(2).run()
    at.radio(key="release-way-density-None").set_value("race").run()
    at.number_input(key="release-rows").set_value(40)
    at.number_input(key="release-width").set_value(64)
    at.run()
    assert not at.exception and not at.error
    confirmed(at)
    sketch = at.session_state[DESK].making.release.sketch
    assert sketch.kernel.to_dict() == {"name": "laplacian", "bandwidth": 7.5, "power": 2}
    assert (sketch.rows, sketch.width) == (40, 64) and sketch.shape[0] == 40


@pytest.mark.deep
def test_a_table_that_is_too_large_is_one_sentence(ledger):
    at = with_total(visit(Domain.of(x=(0, 100), y=(0, 5))))
    at.segmented_control(key="release-how").set_value("By hand").run()
    at.selectbox(key="release-kernel-1").set_value("Euclidean").run()
    at.session_state[PICKED]["density-None"] = "race"  # whether or not another way promises more
    at.run()
    at.number_input(key="release-rows").set_value(1_000_000)
    at.number_input(key="release-width").set_value(1_000_000)
    at.run()
    assert not at.exception and "counters" in at.error[0].value and at.button(key=PRESS).disabled


@pytest.mark.deep
def test_columns_may_be_measured_in_shares_of_their_range(ledger):
    at = with_total(visit(Domain.of(x=(0, 100), y=(0, 5))))
    at.toggle(key="release-box-1").set_value(True).run()
    confirmed(at)
    assert at.session_state[DESK].making.release.domain.scale == "box"


def test_other_data_starts_with_an_empty_total(ledger):
    at = with_total(visit())
    session = at.session_state[KEY]
    source = open_source(RECORDS)
    session.pick("others", source)
    session.own = OwnData("others", source, DOMAIN)
    at.run()
    assert at.number_input(key="release-total-2").value is None and at.button(key=PRESS).disabled


def test_who_comes_through_a_proxy_pays_in_a_ledger_of_the_session(ledger, request_headers):
    ledger.register("Payroll of Grubenmann", 3)
    request_headers["Via"] = "1.1 gate"
    at = with_total(visit())
    assert "counted in this session only" in words(at)
    assert "Grubenmann" not in str(at.selectbox(key="release-dataset-1").options)
    confirmed(at)
    assert not at.exception and ledger.names() == ["Payroll of Grubenmann"]
    assert at.session_state[DESK].making.stage is Stage.MADE


def ask(at, question):
    return at.radio(key="release-question").set_value(question).run()


@pytest.mark.deep
def test_the_question_survives_a_page_change(ledger):
    at = ask(visit(), "distance")
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/release.py").run()
    assert at.radio(key="release-question").value == "distance" and not at.exception


def test_groups_need_a_column_of_categories_and_another_to_compare_by(ledger):
    at = ask(with_total(visit()), "group")
    assert at.button(key=PRESS).disabled and "a column of categories that says the group" in words(at)
    assert ledger.names() == [] and not at.exception


@pytest.mark.deep
@pytest.mark.parametrize(("norm", "mechanism"), [("l1", "distance"), deep("squared", "moments")])
def test_how_far_everyone_is_can_be_asked_and_released(ledger, norm, mechanism):
    at = ask(with_total(visit(Domain((Numeric("x", 0, 100, "km"),)))), "distance")
    at.segmented_control(key="release-norm").set_value(norm).run()
    assert not at.exception and not at.error
    assert "The average distance from a typical place will be" in words(at) and ("km²" in words(at)) == (norm != "l1")
    confirmed(at)
    release = at.session_state[DESK].making.release
    assert not at.exception and release.sketch.name == mechanism
    far, near = release.density([[100.0], [50.0]])
    assert far > near > 0 and [entry.cost.epsilon for entry in ledger.status("visits").releases] == [1]


@pytest.mark.deep
def test_distances_start_without_categories(ledger):
    at = ask(with_total(visit(Domain.of(x=(0, 100), kind=["new", "old"]), frame=LABELLED)), "distance")
    assert at.multiselect(key="release-columns-distance-1-None").value == ["x"] and not at.exception


@pytest.mark.deep
def test_another_way_is_listed_with_its_reason_and_can_be_picked(ledger):
    at = with_total(visit(Domain.of(x=(0, 100), y=(0, 100))))
    ways = at.radio(key="release-way-density-None")
    assert ways.value == "histogram" and "Made with: A grid of counts (histogram)" in words(at)
    assert "is expected" in str(ways.proto) and "KB" in str(ways.proto)
    ways.set_value("features").run()
    assert "Made with: Random waves" in words(at)
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/release.py").run()
    assert at.radio(key="release-way-density-None").value == "features"
    at.select_slider(key="release-epsilon").set_value(Decimal("0.5")).run()
    press(at)
    assert at.session_state[DESK].asked.sketch.name == "features"
    at.button(key="release-no").click().run()
    at.radio(key="release-way-density-None").set_value("histogram").run()
    press(at)
    assert at.session_state[DESK].asked.sketch.name == "histogram"


@pytest.mark.deep
def test_vectors_of_bounded_length_need_less_noise(ledger):
    vectors = pd.DataFrame({"v": list(np.eye(6)[np.arange(90) % 6])})
    radii = []
    for longest in ({}, {"v": 1.0}):
        at = with_total(visit(Domain((Vector("v", 6, -1, 1),)), frame=vectors))
        at.session_state[KEY].own = replace(at.session_state[KEY].own, longest=longest)
        ask(at, "distance").segmented_control(key="release-norm").set_value("squared").run()
        press(at)
        radii.append(at.session_state[DESK].asked.sketch.radius)
    assert radii == [pytest.approx(6**0.5), 1.0]


@pytest.mark.deep
def test_a_table_a_group_is_released_under_one_promise(ledger):
    domain = Domain.of(x=(0, 100), kind=["new", "old"])
    at = ask(with_total(visit(domain, frame=LABELLED)), "group")
    assert not at.exception and not at.error and at.selectbox(key="release-label-1").value == "kind"
    confirmed(at)
    release = at.session_state[DESK].making.release
    assert isinstance(release.sketch, Classes) and release.sketch.label == "kind"
    assert release.sketch.inner.domain.names == ("x",) and release.counters.shape[0] == 2
    assert [entry.cost.epsilon for entry in ledger.status("visits").releases] == [1]


@pytest.mark.deep
def test_which_of_several_columns_says_the_group_is_for_the_owner_to_say(ledger):
    frame = LABELLED.assign(town=np.tile(["Bern", "Chur"], 300))
    at = ask(with_total(visit(Domain.of(x=(0, 100), kind=["new", "old"], town=["Bern", "Chur"]), frame=frame)), "group")
    assert at.button(key=PRESS).disabled and "the column that says the group" in words(at)
    at.selectbox(key="release-label-1").set_value("town").run()
    assert not at.button(key=PRESS).disabled
    at.multiselect(key="release-columns-group-1-town").set_value(["x"]).run()
    confirmed(at)
    assert at.session_state[DESK].making.release.domain.names == ("x", "town")


@pytest.mark.deep
def test_a_sample_knows_the_column_of_its_groups(ledger):
    at = ask(of_sample(sample("heart")), "group")
    assert not at.exception and at.selectbox(key="release-label-1").value == "state"
    press(at)
    sketch = at.session_state[DESK].asked.sketch
    assert sketch.categories == ("healthy", "ill") and sketch.inner.kernel == sample("heart").kernel


@pytest.mark.deep
def test_columns_that_are_left_out_are_not_in_the_file(ledger):
    at = with_total(visit(Domain.of(x=(0, 100), y=(0, 5))))
    at.multiselect(key="release-columns-density-1-None").set_value(["y"]).run()
    confirmed(at)
    assert at.session_state[DESK].making.release.domain.names == ("y",)
    at.button(key="release-again").click().run()
    at.multiselect(key="release-columns-density-1-None").set_value([]).run()
    assert at.button(key=PRESS).disabled and "a column to ask by" in words(at)


@pytest.mark.deep
def test_the_truth_is_offered_for_samples_only_and_a_look_is_remembered(ledger):
    assert not [one for one in confirmed(with_total(visit())).toggle if one.key == "release-exact"]
    one = sample("salaries")
    at = visit(one.domain, title="pay", frame=one.path, sample=one.name)
    assert not at.button(key=PRESS).disabled, "a sample is nobody's secret, so its total is filled in"
    confirmed(at)
    assert not at.toggle(key="release-exact").value and "Exact and not private" not in words(at)
    at.toggle(key="release-exact").set_value(True).run()
    assert "Exact and not private" in words(at) and not at.exception
    at.button(key="release-again").click().run()
    confirmed(at)
    spent = Sandbox.beside(ledger.where).ledger.status("pay").releases
    assert [entry.note.get("compared_with_exact") for entry in spent] == [None, True]


def test_a_sample_never_touches_the_ledger_of_its_owner_and_begins_again(ledger):
    one = sample("salaries")
    at = visit(one.domain, title=one.title, frame=one.path, sample=one.name)
    assert not [field for field in at.number_input if field.key == "release-total-1"]
    at.number_input(key="release-epsilon-exact").set_value(3).run()
    confirmed(at)
    sandbox = Sandbox.beside(ledger.where)
    assert ledger.names() == [] and sandbox.ledger.status(one.title).spent > 2.9 and len(sandbox.shelf.entries()) == 1
    at.button(key="release-again").click().run()
    assert at.button(key=PRESS).disabled and "nothing is left" in words(at)
    at.button(key="sandbox-begin-again").click().run()
    assert (not at.exception and not at.button(key=PRESS).disabled and not sandbox.exists) or not sandbox.ledger.names()
    assert sandbox.shelf.entries() == () and ledger.names() == []


def test_the_comparison_is_with_the_kernel_sums_of_the_records():
    points = np.linspace(0, 1, 400)
    source = open_source(pd.DataFrame({"x": points}))
    sketch = Race(Domain.of(x=(0, 1)), Euclidean(0.2), rows=400, seed=3)
    release = core.releases.job.release(sketch, source, Budget(50))
    compared = compare(release, source)
    assert len(compared.exact) == 300
    total = Euclidean(0.2).evaluate(points[:, None], points[:, None]).sum(axis=1)
    assert set(np.round(compared.exact, 6)) <= set(np.round(total, 6))
    off = np.sqrt(np.mean((compared.released - compared.exact) ** 2))
    np.testing.assert_allclose(compared.error, off / compared.exact.mean())
    assert compared.error < 0.1
    # Errors of one release move together: 286 of 300 are held in the middle, and 233 were in the worst of 150 releases.
    # The mean of twelve is eight of its standard deviations above 250.
    more = [compare(core.releases.job.release(sketch, source, Budget(50)), source).held for _ in range(11)]
    assert np.mean([compared.held, *more]) > 250


def test_distances_and_groups_are_compared_with_what_is_exact():
    points = np.linspace(0, 1, 400)
    source = open_source(pd.DataFrame({"x": points, "kind": np.where(points < 0.5, "low", "high")}))
    line = Domain.of(x=(0, 1))
    distances = core.releases.job.release(Distance(line), source, Budget(50))
    compared = compare(distances, source)
    assert compared.exact.min() >= 400 * 0.25 - 1 and compared.error < 0.01 and compared.agreement is None
    labelled = Domain.of(x=(0, 1), kind=["low", "high"])
    sketch = Classes(labelled, "kind", Race(line, Euclidean(0.2), 400, seed=3))
    agreement = compare(core.releases.job.release(sketch, source, Budget(50)), source).agreement
    assert agreement.same > 285 and agreement.sure > 200 and agreement.wrong < 10


WIDE = pd.DataFrame({"city": ["Bern", "Basel"] * 50, "v": [[0.1] * 6] * 100})


@pytest.mark.parametrize(
    "domain",
    [
        pytest.param(Domain((Categorical("city", ("Bern", "Basel")),)), id="categories"),
        pytest.param(Domain((Vector("v", 6, -1, 1),)), id="vector", marks=pytest.mark.deep),
        pytest.param(Domain((Vector("v", 6, -1, 1), Categorical("city", ("Bern", "Basel"))), scale="box"), id="both"),
    ],
)
def test_columns_of_every_kind_can_be_released(ledger, domain):
    at = confirmed(with_total(visit(domain, frame=WIDE)))
    assert not at.exception and not at.error and at.session_state[DESK].making.stage is Stage.MADE


def of_sample(one):
    at = visit(one.domain, title=one.name, frame=one.path, sample=one.name)
    question = at.radio(key="release-question")
    return at if question.value == "density" else question.set_value("density").run()


def kernel_of(at):
    """The kernel of the order that a press asks about."""
    press(at)
    return at.session_state[DESK].asked.sketch.kernel


@pytest.mark.deep
@pytest.mark.parametrize("name", sampled([one.name for one in samples()], "photographs"))
def test_a_sample_starts_with_its_own_kernel_and_guesses(ledger, name):
    one = sample(name)
    at = of_sample(one)
    assert not at.exception and not at.error
    assert at.select_slider(key="release-records-1").value == one.records_guess
    assert at.select_slider(key="release-density-1").value == one.density_guess
    assert kernel_of(at) == suggested_kernel(one.domain, one)


@pytest.mark.deep
def test_a_sample_with_a_bandwidth_a_column_can_be_seen_nearer_and_changed_by_hand(ledger):
    heart = sample("heart")
    at = of_sample(heart)
    at.select_slider(key="release-factor-1").set_value(2.0).run()
    assert kernel_of(at) == Laplacian((0.14, 0.14, 2.0, 2.0, 2.0, 2.0, 2.0))
    at = of_sample(heart)
    at.segmented_control(key="release-how").set_value("By hand").run()
    assert at.selectbox(key="release-kernel-1").value == "Laplacian"
    at.number_input(key="release-bandwidth-1-box-pressure").set_value(0.5).run()
    assert not at.exception and kernel_of(at) == Laplacian((0.07, 0.07, 0.5, 1.0, 1.0, 1.0, 1.0))


def test_a_density_is_released_as_finely_as_its_noise_allows(ledger):
    at = with_total(visit())
    said = " ".join(one.value for one in at.markdown)
    assert "Whoever has the file chooses how closely to look" in said and "Detail down to spikes" in said
    press(at)
    asked = at.session_state[DESK].asked.sketch
    assert asked.open_bandwidth and asked.sized


def test_a_hostile_column_name_in_an_error_is_not_read_as_markdown(ledger):
    hostile = "![x](https://example.org/spy.png)"
    frame = pd.DataFrame({hostile: [1.0, np.nan]})
    domain = Domain((Numeric(hostile, 0, 100),), missing="refuse")
    said = confirmed(with_total(visit(domain, frame=frame))).error[0].value
    assert in_markdown(hostile) in said and hostile not in said


def reloaded(page):
    """A page as the browser shows it after F5: everything that the session held is gone."""
    return AppTest.from_file(APP, default_timeout=PATIENCE).switch_page(page).run()


def of_the_list(at, name):
    """The buttons of the list of kept releases on a page."""
    return [button for button in at.button if button.key.startswith(f"kept-{name}-")]


def test_a_release_is_still_there_after_the_page_was_loaded_again(ledger):
    made = confirmed(with_total(visit()))
    opened = made.session_state[KEY].shown
    assert "A copy is kept beside your ledger" in words(made)
    explored = made.button(key="release-explore")
    assert explored.label == "Explore it" and explored.proto.type == "primary"

    at = reloaded("pages/release.py")
    assert not at.exception and "What you released is still here" in words(at)
    assert [button.label[:6] for button in of_the_list(at, "release")] == ["visits"]

    at = reloaded("app.py")
    assert not at.exception and len(of_the_list(at, "home")) == 1, "where a visit begins"
    at = reloaded("pages/explore.py")
    assert not at.exception and at.session_state[KEY].shown.data == opened.data
    assert at.session_state[KEY].shown.name == opened.name and "visits" not in opened.name
    at.button(key="explore-close").click().run()
    assert at.session_state[KEY].shown is None, "what was closed stays closed"
    of_the_list(at, "explore")[0].click().run()
    assert at.session_state[KEY].shown.data == opened.data and not at.exception

    ledger.register("others", 1)
    at = reloaded("pages/ledger.py")
    assert not of_the_list(at, "ledger"), "it lists the releases of the data set that is shown"
    at.selectbox(key="ledger-dataset").set_value("visits").run()
    assert len(of_the_list(at, "ledger")) == 1 and not at.exception
    assert f"How dense it is of {listed(list(opened.release.domain.names))}, file {opened.name}" in words(at)


def test_who_comes_through_a_proxy_finds_nothing_that_is_kept(ledger, request_headers):
    confirmed(with_total(visit()))
    request_headers["X-Forwarded-For"] = "203.0.113.9"
    for page in ("release", "explore", "ledger"):
        at = reloaded(f"pages/{page}.py")
        assert not at.exception and not of_the_list(at, page) and "visits" not in words(at)
        assert at.session_state[KEY].shown is None


def test_a_kept_file_that_was_damaged_is_refused_in_a_sentence(ledger):
    kept = confirmed(with_total(visit())).session_state[DESK].making.kept
    kept.write_bytes(kept.read_bytes()[:-100])
    at = reloaded("pages/explore.py")
    assert not at.exception and at.session_state[KEY].shown is None
    of_the_list(at, "explore")[0].click().run()
    assert not at.exception and len(at.error) == 1


def test_looking_at_what_is_kept_makes_no_ledger(tmp_path):
    reloaded("pages/explore.py")
    assert not (tmp_path / "data" / "frostglass").exists()


def test_a_sample_of_public_records_is_shown_at_every_epsilon(ledger):
    at = ask(of_sample(sample("health")), "density")
    assert not at.exception
    assert "public records, shown at every ε" in "\n".join(element.value for element in at.markdown)
