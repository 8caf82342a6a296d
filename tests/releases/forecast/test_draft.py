"""What was chosen on the Release page: exact decimals, nearness in shares of the bounds, and the promise it makes."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain import Categorical, Domain, Numeric, PrivacyUnit, Vector
from core.formatting.numbers import amount, rounded_down
from core.geometry.kernels import Euclidean, Gaussian, Laplacian
from core.privacy.budget import Budget
from core.privacy.ledger.account import Account, Preview, left_of_total, price
from core.privacy.ledger.ledger import Ledger
from core.releases.forecast.draft import GROUP, Draft
from core.releases.forecast.kernel_choice import (
    FACTORS,
    FEW_DIMENSIONS,
    SHARES,
    distance_words,
    factor_words,
    half_distance,
    kernel_at,
    radius_of,
    stretched,
    suggested_kernel,
)
from core.releases.forecast.recommendation import recommend
from core.releases.kind import Plain
from core.sources.public_tables import sample, samples
from core.ui.own_data.paying import EPSILONS, SLACK, nearest_step
from core.ui.release.release_forecast import within_promise
from tests.privacy.ledger.test_ledger import gaussian

TWO = Domain.of(x=(0, 20), y=(0, 10))


def test_the_slider_runs_from_a_hundredth_to_ten_in_about_equal_steps():
    steps = [float(step) for step in EPSILONS]
    assert (steps[0], steps[-1]) == (0.01, 10.0) and Decimal(1) in EPSILONS
    ratios = np.diff(np.log(steps))
    assert (ratios > 0.15).all() and (ratios < 0.35).all()


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [("1", "1.0"), ("10", "10.0"), ("0.010", "0.01"), ("2.50", "2.5"), ("0", "0.0"), ("1E+1", "10.0")],
)
def test_a_price_is_exact(epsilon, words):
    assert amount(Decimal(epsilon)) == words


def test_a_price_says_what_is_left():
    assert price(Budget(1), Decimal(2)) == "ε = 1.0, leaving 2.0"
    assert price(Budget("0.5", SLACK)) == "ε = 0.5 with a one-in-a-million risk"


def test_the_page_and_the_command_line_said_two_numbers_of_what_is_left(tmp_path):
    """Beside a δ the one took the spent off the total, and the other said what one more pure release may spend."""
    book = Ledger(tmp_path / "ledger")
    book.register("people", 4, "1e-6")
    for _ in range(2):
        book.spend("people", gaussian(1))
    status = book.status("people")
    account = Account.of(status)
    none = Preview(None, status.spent, status.left)
    assert status.left < account.left(none), "these were said, the one here and the other there"
    assert left_of_total(status) == f"ε = {account.left(none)}"


@given(st.decimals(0, 100, allow_nan=False, places=12))
def test_what_is_left_is_never_rounded_up(epsilon):
    left = rounded_down(epsilon)
    assert left <= epsilon and left >= epsilon * Decimal("0.99") and len(left.as_tuple().digits) <= 3


@given(st.sampled_from(EPSILONS), st.floats(0.95, 1.05))
def test_the_slider_follows_what_is_typed(step, factor):
    assert nearest_step(step * Decimal(str(factor))) == step


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(
    "domain", [TWO, Domain.of(x=(0, 20), y=(0, 10), scale="box"), Domain.of(x=(0, 20), y=(0, 1), z=(0, 1), w=(0, 1))]
)
def test_closeness_is_half_gone_at_the_distance_that_was_chosen(domain, share):
    reach = 1.0 if domain.scale == "box" else 20.0
    here, there = np.zeros((1, domain.dimensions)), np.eye(1, domain.dimensions) * share * reach
    assert kernel_at(domain, share).evaluate(here, there)[0, 0] == pytest.approx(0.5, abs=2e-3)


def test_nearness_in_words():
    km = Domain((Numeric("east", 0, 20, "km"), Numeric("north", 0, 16, "km")))
    assert distance_words(km, 0.05) == "1 km (5% of the bounds)"
    assert distance_words(TWO, 0.002) == "0.04 (0.2% of the bounds)"
    assert distance_words(Domain((Categorical("city", ("Bern", "Chur")),)), 0.05) == "5% of the bounds"
    mixed = Domain((Numeric("height", 0, 2, "m"), Numeric("age", 0, 120, "years")), scale="box")
    assert distance_words(mixed, 0.1) == "10% of the bounds"


def test_a_suggested_kernel_follows_the_columns_that_are_used():
    heart = sample("heart")
    known = heart.domain
    assert all(
        suggested_kernel(one.domain, one) == one.kernel for one in samples() if one.domain.dimensions > FEW_DIMENSIONS
    )
    fewer = replace(known, columns=(known.columns[5], known.columns[1]))
    assert suggested_kernel(fewer, heart) == Laplacian((1.0, 0.07))
    assert suggested_kernel(replace(known, scale="none"), heart) is None
    assert suggested_kernel(replace(known, columns=(*known.columns, heart.label)), heart) is None


@pytest.mark.parametrize("one", samples(), ids=lambda one: one.name)
def test_in_few_dimensions_the_kernel_changes_and_its_half_distance_stays(one):
    if one.domain.dimensions > FEW_DIMENSIONS:
        return
    suggested = suggested_kernel(one.domain, one)
    if not isinstance(one.kernel, Euclidean):
        assert suggested == one.kernel
        return
    here, there = np.zeros((1, 1)), np.array([[half_distance(one.kernel.power) * one.kernel.bandwidth]])
    assert isinstance(suggested, Gaussian)
    assert suggested.evaluate(here, there)[0, 0] == pytest.approx(0.5, abs=1e-3)


def test_vectors_bounded_by_their_length_keep_all_records_in_a_ball():
    two = Domain((Vector("a", 4, -1, 1), Vector("b", 9, -2, 2)))
    assert radius_of(two, {"a": 1.0, "b": 2.0}) == pytest.approx(5**0.5)
    assert radius_of(replace(two, scale="box"), {"a": 1.0, "b": 2.0}) == pytest.approx(0.5**0.5)
    assert radius_of(two, {"a": 1.0}) is None and radius_of(TWO, {}) is None


def test_a_kernel_is_stretched_in_all_its_bandwidths():
    assert stretched(Euclidean(190.0, 4), 0.35) == Euclidean(66.5, 4)
    assert stretched(Laplacian((0.07, 1.0)), 3.0) == Laplacian((0.21, 3.0))
    assert 1.0 in FACTORS and factor_words(1.0) == "as suggested" and factor_words(0.5) == "0.5 times as far"


def draft(**changes):
    return Draft(**{"domain": TWO, "budget": Budget(1), "kernel": Euclidean(1), "seed": 7} | changes)


def test_a_draft_lists_everything_that_is_in_its_way():
    assert draft().missing == () and draft().lacking("a").lacking("b", "c").missing == ("a", "b", "c")


def test_a_draft_has_a_price_once_a_way_was_chosen_and_somebody_pays():
    bare = draft(account=Account("visits", Budget(3), "record"))
    assert bare.action == "Release" and bare.after is None and bare.left is None
    ranked = recommend(TWO, 10_000, Budget(1), bare.asked)
    ready = replace(bare, way=ranked[0])
    assert ready.action == "Release for ε = 1.0, leaving 2.0" and ready.after.admitted and ready.left == 2
    assert ready.sketch is ranked[0].sketch and ready.one is ready.sketch
    poor = replace(ready, account=Account("visits", Budget("0.5"), "record"))
    assert poor.left is None and poor.after.refusal == "a smaller ε, as 0.5 is left of this data set's total"


def test_what_is_compared_leaves_out_who_is_in_which_group():
    labelled = Domain.of(x=(0, 20), kind=["a", "b"])
    of_groups = draft(domain=labelled, question=GROUP, label="kind")
    assert of_groups.compared.names == ("x",) and of_groups.measures_closeness
    assert not draft(question=GROUP, norm="l1", label="kind", domain=labelled).measures_closeness
    assert draft().compared == TWO


def test_who_is_protected_and_what_is_counted():
    assert (draft().protected, draft().counted) == ("record", "people")
    people = draft(domain=Domain.of(x=(0, 1), unit=PrivacyUnit("who", 3)))
    assert (people.protected, people.counted) == ("person", "records")


@pytest.mark.thorough
def test_after_what_was_found_the_noise_that_is_forecast_is_that_of_the_release():
    """ "± 16 records" stood beside a release of three times the noise, as what was found rules pure noise out."""
    after = draft(budget=Budget("0.869", "7.5e-7"), within=Budget(1, "1e-6"), kernel=Gaussian(2.0))
    after = replace(after, way=recommend(after.domain, 10_000, after.promise, after.asked)[0])
    made = Plain(after.sketch, after.promise, gaussian_only=True)
    assert (after.noise, after.cost) == (made.planned.noises[0], made.cost)
    assert after.noise.variance > replace(after, within=None).noise.variance
    assert within_promise(replace(after, within=None)).forecast is after.forecast
