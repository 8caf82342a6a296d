"""A release finds out how many records there are and, of more columns than a grid is for, how near counts as close."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from core.analysis.classification import classify
from core.domain import Domain
from core.ui.frame.session import DESK

from .visiting import ask, confirmed, press, visit, with_total, words

NAMES = ("a", "b", "c", "d")
WIDE = Domain.of(**{name: (0, 10) for name in NAMES})
PEOPLE = pd.DataFrame(np.clip(np.random.default_rng(0).normal(5, 0.6, (3000, 4)), 0, 10), columns=NAMES)


def of_density():
    return ask(visit(WIDE, frame=PEOPLE), "density")


@pytest.mark.deep
def test_a_release_of_four_columns_asks_to_buy_its_distance_first(ledger):
    at = with_total(of_density())
    assert "finds out by itself" in words(at)
    asked = press(at).session_state[DESK].asked
    assert asked.cost.epsilon == asked.promised.epsilon == 1 and asked.kind.budget.epsilon < 1
    assert "finds out first how many records fit what is declared (ε = 0.01 of it) and how many records there" in words(
        at
    )
    assert "the price stays the same" in words(at) and ledger.names() == []


@pytest.mark.deep
def test_the_page_counts_records_whose_number_nobody_says_and_sizes_the_table_for_them(ledger):
    at = with_total(visit())
    supposed = press(at).session_state[DESK].asked
    assert supposed.kind.budget.epsilon == Decimal("0.9702") and supposed.cost.epsilon == 1
    made = confirmed(at).session_state[DESK].making.release
    fitting, count, _ = ledger.status("visits").releases
    assert (fitting.note["mechanism"], str(fitting.cost.epsilon)) == ("fitting", "0.01")
    assert count.note["mechanism"] == "count" and str(count.cost.epsilon) == "0.0198" and made.privacy.epsilon == 1
    assert made.counted_before is not None and made.sketch != supposed.sketch  # of 300 records, and not of 10,000


@pytest.mark.thorough
def test_a_declaration_that_nobody_fits_costs_a_hundredth_on_the_page(ledger):
    """A range in another unit was paid for in full: the command line refused it, and the page did not."""
    at = confirmed(
        with_total(visit(Domain.of(x=(100_000, 200_000)), frame=pd.DataFrame({"x": np.linspace(0, 9, 3_000)})))
    )
    said = " ".join(one.value for one in (*at.error, *at.warning)) + words(at)
    assert "Only about" in said and "It is released" not in [one.value for one in at.header]
    assert [str(one.cost.epsilon) for one in ledger.status("visits").releases] == ["0.01"]


@pytest.mark.thorough
def test_who_was_warned_and_asks_for_the_same_again_gets_it_where_the_price_is_all_of_the_total(ledger):
    """The sentence said to ask again, and the button said no: the hundredth had left too little of the total."""
    at = with_total(visit(Domain.of(x=(100_000, 200_000)), frame=pd.DataFrame({"x": np.linspace(0, 9, 3_000)})), 1.0)
    confirmed(confirmed(at).run())
    assert "It is released" in [one.value for one in at.header]
    bought = ledger.status("visits").releases
    assert [one.note["mechanism"] for one in bought][:2] == ["fitting", "count"] and len(bought) == 3
    assert sum(one.cost.epsilon for one in bought) == 1


@pytest.mark.deep
def test_what_is_released_is_two_entries_and_as_fine_as_was_found(ledger):
    at = with_total(of_density())
    supposed = press(at).session_state[DESK].asked
    made = confirmed(at).session_state[DESK].making
    bought = ledger.status("visits").releases
    assert [one.note["mechanism"] for one in bought][:3] == ["fitting", "count", "spread"]
    assert sum(one.cost.epsilon for one in bought) == 1
    assert ledger.status("visits").left == 2 and made.release.privacy.epsilon == 1
    assert np.max(made.release.sketch.kernel.bandwidth) < np.max(supposed.sketch.kernel.bandwidth)


@pytest.mark.deep
def test_whoever_says_number_and_distance_pays_for_the_release_alone(ledger):
    at = with_total(of_density())
    at.toggle(key="release-finds-1").set_value(False).run()
    at.toggle(key="release-records-said-1").set_value(True).run()
    assert at.select_slider(key="release-share-1") and "finds out by itself" not in words(at)
    asked = press(at).session_state[DESK].asked
    assert [stage.name for stage in asked.first.stages] == ["fitting"] and asked.kind.budget.epsilon == Decimal("0.99")


@pytest.mark.deep
def test_where_noise_would_hide_it_the_usual_distance_is_supposed(ledger):
    at = of_density()
    at.number_input(key="release-epsilon-exact").set_value(0.011).run()
    with_total(at)
    assert "is not bought" in words(at)
    assert [stage.name for stage in press(at).session_state[DESK].asked.first.stages] == ["fitting", "count"]


@pytest.mark.deep
def test_groups_of_many_columns_are_told_apart_at_the_distance_that_was_found(ledger):
    kinds = np.where(PEOPLE.a > 5, "old", "new")
    domain = Domain.of(**{name: (0, 10) for name in NAMES}, kind=["new", "old"])
    at = ask(with_total(visit(domain, frame=PEOPLE.assign(kind=kinds))), "group")
    assert "finds out by itself" in words(at)
    supposed = press(at).session_state[DESK].asked
    made = confirmed(at).session_state[DESK].making
    assert ledger.status("visits").releases[2].note["mechanism"] == "spread"
    assert np.max(made.release.sketch.inner.kernel.bandwidth) < np.max(supposed.sketch.inner.kernel.bandwidth)
    right = classify(made.release, PEOPLE[:500]).labels == kinds[:500]
    assert np.mean(right) > 0.8


@pytest.mark.deep
def test_beside_another_question_the_usual_distance_is_supposed(ledger):
    at = with_total(visit(WIDE, frame=PEOPLE))
    at.button(key="release-add").click().run()
    assert at.radio(key="release-question").value == "density" and "suits ordinary records" in words(at)
    assert not at.exception and not at.error
