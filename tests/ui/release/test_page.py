"""Choosing on the page Release, without a browser: what is missing, what it costs, and what comes out."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import core.releases.job
import core.releases.seal
import core.releases.stages
from core.domain import Categorical, Domain, Numeric, Vector
from core.formatting.escapes import in_markdown
from core.releases.release import load
from core.ui.frame.session import DESK, KEY
from core.ui.release.release_route import PICKED
from core.ui.release.release_task import Stage
from tests.depth import deep
from tests.ui.release.visiting import APP, PATIENCE, PRESS, ask, confirmed, paid, press, visit, with_total, words

WIDE = pd.DataFrame({"city": ["Bern", "Basel"] * 50, "v": [[0.1] * 6] * 100})


def test_without_data_it_says_what_is_missing(ledger):
    at = AppTest.from_file(APP, default_timeout=PATIENCE).switch_page("pages/release.py").run()
    assert not at.exception and at.button(key=PRESS).disabled
    assert "Still missing: data to release." in words(at)


@pytest.mark.thorough
def test_it_starts_at_one_without_slack_and_asks_for_the_total_of_a_new_data_set(ledger):
    at = visit()
    assert at.select_slider(key="release-epsilon").value == 1 and not at.toggle(key="release-slack").value
    assert at.number_input(key="release-total-1").value is None
    assert at.button(key=PRESS).disabled and "Still missing: the total budget of the data set." in words(at)
    with_total(at)
    assert not at.button(key=PRESS).disabled
    assert at.button(key=PRESS).label == "Release for ε = 1.0, leaving 2.0"
    assert "73.1%" in words(at)


@pytest.mark.deep
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
    assert at.button(key=PRESS).label == "Release for ε = 0.2, leaving nothing" and not at.button(key=PRESS).disabled
    confirmed(at)
    bought, price = paid(ledger)
    assert ledger.status("visits").left == 0 and price == Decimal("0.3") and bought.count("histogram") == 2


@pytest.mark.thorough
@pytest.mark.parametrize("typed", [deep(None), deep(0.0), 0.1234567890123])
def test_an_impossible_epsilon_blocks_the_release_and_nothing_else(ledger, typed):
    at = with_total(visit())
    at.number_input(key="release-epsilon-exact").set_value(typed).run()
    assert not at.exception and at.button(key=PRESS).disabled
    at.number_input(key="release-epsilon-exact").set_value(0.5).run()
    assert not at.button(key=PRESS).disabled


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


@pytest.mark.thorough
def test_running_the_page_again_neither_draws_nor_spends(ledger, monkeypatch):
    at = confirmed(with_total(visit()))
    table = at.session_state[DESK].making.release.counters
    for drawing in (core.releases.seal, core.releases.stages):
        monkeypatch.setattr(drawing, "add_noise", lambda *_: pytest.fail("noise was drawn again"))
    for _ in range(3):
        at.run()
    at.switch_page("pages/ledger.py").run()
    at.switch_page("pages/release.py").run()
    assert at.session_state[DESK].making.release.counters is table and len(ledger.status("visits").releases) == 3


@pytest.mark.deep
def test_nobody_reads_of_slack_ranges_or_crowds(ledger):
    said = str(with_total(visit(Domain.of(x=(0, 100), y=(0, 5)))).main)
    for given_up in ("slack", "share of its range", "shares of its range", "crowded", "such as 3"):
        assert given_up not in said.replace("release-slack", "").replace("release-total-slack", "")


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
def test_columns_that_are_left_out_are_not_in_the_file(ledger):
    at = with_total(visit(Domain.of(x=(0, 100), y=(0, 5))))
    at.multiselect(key="release-columns-density-1-None").set_value(["y"]).run()
    confirmed(at)
    assert at.session_state[DESK].making.release.domain.names == ("y",)
    at.button(key="release-again").click().run()
    at.multiselect(key="release-columns-density-1-None").set_value([]).run()
    assert at.button(key=PRESS).disabled and "a column to ask by" in words(at)


@pytest.mark.deep
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


@pytest.mark.thorough
def test_a_density_is_released_as_finely_as_its_noise_allows(ledger):
    at = with_total(visit())
    said = " ".join(one.value for one in at.markdown)
    assert "Whoever has the file chooses how closely to look" in said and "Detail down to spikes" in said
    press(at)
    asked = at.session_state[DESK].asked.sketch
    assert asked.open_bandwidth and asked.sized


@pytest.mark.deep
def test_a_map_is_seen_on_made_up_people_before_anything_is_paid(ledger):
    at = with_total(visit(Domain.of(x=(0, 10), y=(0, 10)), frame=pd.DataFrame({"x": [1.0], "y": [2.0]})))
    at.toggle(key="release-preview").set_value(True).run()
    assert not at.exception and not at.error and "five places" in words(at) and not ledger.names()
    assert any("highest at" in str(one.proto) for one in at.get("plotly_chart"))


@pytest.mark.thorough
def test_a_hostile_column_name_in_an_error_is_not_read_as_markdown(ledger):
    hostile = "![x](https://example.org/spy.png)"
    frame = pd.DataFrame({hostile: [1.0, np.nan]})
    domain = Domain((Numeric(hostile, 0, 100),), missing="refuse")
    said = confirmed(with_total(visit(domain, frame=frame))).error[0].value
    assert in_markdown(hostile) in said and hostile not in said


@pytest.mark.thorough
@pytest.mark.parametrize("question", ["table", deep("density")])
def test_the_smallest_epsilon_is_found_from_what_is_needed_and_put_into_the_field(question):
    at = with_total(visit())
    at.radio(key="release-question").set_value(question).run()
    at.number_input(key="release-need-error").set_value(2.0).run()
    at.button(key="release-need-find").click().run()
    assert not at.exception and not at.error
    (said,) = [one.value for one in at.markdown if "is the smallest promise for an error of 2" in one.value]
    epsilon = at.number_input(key="release-epsilon-exact").value
    assert f"ε = {epsilon:g}" in said.replace("\\", "") and 0 < epsilon < 1
    at.number_input(key="release-need-error").set_value(0.001).run()
    at.button(key="release-need-find").click().run()
    assert not at.exception and at.number_input(key="release-epsilon-exact").value == epsilon
    assert [one for one in at.markdown if "No promise up to" in one.value]
