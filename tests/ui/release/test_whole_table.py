"""The whole table on the Release page: what several columns begin with, made with one button."""

import re

import numpy as np
import pandas as pd
import pytest

from core.domain import Dates, Domain, Numeric, PrivacyUnit
from core.errors import RequestError
from core.figures.meaning import left_out_in_words, pairs_left_out
from core.privacy.budget import Budget
from core.privacy.ledger.ledger import Ledger
from core.releases.forecast.whole_table import cell_error, reason, whole_table
from core.releases.job import release
from core.sketches.plan import plan
from core.sketches.tables.tables import Tables
from core.ui.frame.session import DESK
from core.ui.release.several import STRONGEST
from tests.tables_for_tests import COLUMNS, inhabitants
from tests.ui.release.visiting import confirmed, visit, with_total


@pytest.fixture
def ledger(tmp_path, monkeypatch):
    where = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("FROSTGLASS_LEDGER", str(where))
    return Ledger(where)


@pytest.mark.thorough
def test_several_columns_begin_with_the_whole_table_and_one_button_makes_it(ledger):
    at = with_total(visit(Domain(COLUMNS), frame=inhabitants(2000)))
    assert at.radio(key="release-question").value == "table" and not at.exception and not at.error
    said = "\n".join(one.value for one in at.markdown)
    assert "Counts in tables" in said and "each two of them together, 10 pairs" in said
    assert not [slider for slider in at.select_slider if "near" in slider.label]
    assert "Release for" in at.button(key="release").label
    confirmed(at)
    assert not at.exception and "It is released" in [one.value for one in at.header]
    assert '"alone": true' in at.get("bidi_component")[0].proto.json
    at.switch_page("pages/explore.py").run()
    assert not at.exception and '"alone": false' in at.get("bidi_component")[0].proto.json


@pytest.mark.thorough
def test_the_owner_may_name_columns_to_count_the_others_by(ledger):
    at = with_total(visit(Domain(COLUMNS), frame=inhabitants(500)))
    (by,) = [one for one in at.multiselect if one.label.startswith("Count all columns only by some")]
    by.set_value(["town"]).run()
    said = "\n".join(one.value for one in at.markdown)
    assert not at.exception and not at.error and "each together with town, 4 pairs" in said


@pytest.mark.deep
def test_one_column_and_two_begin_with_how_dense_it_is(ledger):
    at = visit()
    assert at.radio(key="release-question").value == "density"
    at.radio(key="release-question").set_value("table").run()
    assert not at.exception and not at.error


@pytest.mark.thorough
def test_the_forecast_is_the_error_of_the_cells_of_a_release():
    budget, data = Budget(1, "1e-6"), inhabitants()
    sketch, seen = whole_table(Domain(COLUMNS), 4_000, budget)
    error, cells = cell_error(sketch, plan(sketch, budget).noise.variance, [(i,) for i in range(5)])
    assert seen.standard_error == error and seen.estimate == pytest.approx(4_000 / cells)
    asked = release(sketch, data, budget).asked()
    told = [float((asked.table(axis.name).standard_error ** 2).mean()) for axis in sketch.axes]
    assert error == pytest.approx((sum(told) / len(told)) ** 0.5, rel=1e-6)
    few, _ = whole_table(Domain(tuple(Numeric(f"x{i}", 0, 1) for i in range(8))), 20, budget)
    said = reason(few, 20, budget)
    assert "pairs are left out" in said and "in 4 cells" in said


WRONG = {
    "dates as numbers": (Numeric("since", 0, 10), "holds dates or times where numbers are expected"),
    "numbers as dates": (Dates("pay", "2020-01-01", "2020-12-31"), "pay"),
    "a column that is not there": (Numeric("income", 0, 10), "income"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_declaration_is_refused_in_one_sentence_before_anything_is_paid(ledger, wrong):
    column, sentence = WRONG[wrong]
    domain, budget = Domain((column, Numeric("age", 0, 119, step=1))), Budget(1, "1e-6")
    ledger.register("people", 3, "1e-5")
    with pytest.raises(RequestError, match=sentence) as refusal:
        release(Tables.of(domain, 10), inhabitants(300), budget, ledger=ledger, dataset="people")
    assert str(refusal.value).count(". ") == 0 and "\n" not in str(refusal.value)
    assert not ledger.status("people").releases


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Numeric("pay", 9, 3), "smallest value of 'pay' must be below its largest"),
        (lambda: Dates("since", "2023-01-01", "2020-01-01"), "first date of 'since' must come before its last"),
        (lambda: Numeric("age", 0, 10, step=20), "step of 'age' must lie between 0 and the distance"),
    ],
)
def test_swapped_bounds_are_refused_where_they_are_typed(make, sentence):
    with pytest.raises(RequestError, match=sentence):
        make()


@pytest.mark.deep
def test_pairs_that_go_together_most_are_chosen_where_not_all_can_be_seen(ledger):
    """What is forecast, what is asked for and paid, and what the file then says is left out: all of one choice."""
    names = [f"x{place}" for place in range(12)]
    columns = tuple(Numeric(name, -3, 3) for name in names)
    middle = np.random.default_rng(2).normal(size=(800, 12))
    at = with_total(visit(Domain(columns), frame=pd.DataFrame(middle, columns=names)))
    at.select_slider(key="release-records-1").set_value(300)
    at.toggle(key="release-slack").set_value(True).run()
    which = at.segmented_control(key="release-pairs-1")
    assert which.label.startswith("Of 66 pairs of columns")
    which.set_value(STRONGEST).run()
    said = "\n".join(one.value for one in at.markdown)
    assert not at.exception and not at.error and "go together most as far as noise lets that be seen" in said
    assert "Add another question" not in [button.label for button in at.button]
    confirmed(at)
    assert not at.exception and "It is released" in [one.value for one in at.header]
    made = at.session_state[DESK].making
    assert made.release.sketch.choosing == "privately"
    assert 0 < len(made.release.sketch.pairs) == made.order.sketch.pairs < 66
    assert ledger.status("visits").releases and "chosen under the promise" in left_out_in_words(made.release)
    assert len(pairs_left_out(made.release)) == 66 - len(made.release.sketch.pairs)


@pytest.mark.thorough
def test_a_delta_is_chosen_beside_epsilon_and_says_what_it_brings_and_costs(ledger):
    """It lay under Fine-tune, where what it brings was said without what an answer would be off by."""
    names = [f"x{place}" for place in range(6)]
    at = visit(
        Domain(tuple(Numeric(name, -3, 3) for name in names)), frame=pd.DataFrame(np.zeros((9, 6)), columns=names)
    )
    folded = next(one for one in at.expander if one.label == "Fine-tune")
    assert "release-slack" in {one.key for one in at.toggle} - {one.key for one in folded.toggle}
    said = [one.value for one in at.markdown]
    assert any("may say more about someone than ε allows" in one for one in said)
    (brought,) = (one for one in said if "with a pure promise" in one)
    pure, risky = (float(band.replace(",", "")) for band in re.findall(r"± ([\d.,]+)", brought))
    assert pure > 1.05 * risky > 0
    at.toggle(key="release-slack").set_value(True).run()
    assert brought in [one.value for one in at.markdown]  # the same two figures, whichever is chosen


@pytest.mark.thorough
def test_where_a_delta_lets_pairs_be_seen_it_is_not_said_to_gain_nothing(ledger):
    """With several rows a person a pure promise counts single columns alone, with more cells and less noise each."""
    names = [f"x{place}" for place in range(8)]
    domain = Domain(tuple(Numeric(name, -3, 3) for name in names), unit=PrivacyUnit("who", 12))
    frame = pd.DataFrame(np.zeros((9, 8)), columns=names).assign(who=[f"p{row}" for row in range(9)])
    at = visit(domain, frame=frame)
    at.select_slider(key="release-records-1").set_value(16_000).run()
    (brought,) = (one.value for one in at.markdown if "This risk" in one.value)
    assert "This risk lets 28 pairs of columns be counted, where a pure promise lets none." in brought
