"""Topping up: two releases of the same records as one, about as good as one made at once, and both paid for."""

import math
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from core import Ledger, release, top_up
from core.domain import Domain
from core.errors import BudgetError, ReleaseFileError, RequestError
from core.geometry import kernels
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.manifest import Averaged
from core.releases.release import load
from core.releases.topping_up import ToppingUp, _Spent, averaged
from core.sketches.histogram import Histogram
from core.sketches.part import Part
from core.sketches.plan import planned_for
from core.sketches.race import Race
from tests.depth import draws

DOMAIN = Domain.of(x=(0, 8))
RACE = Race(DOMAIN, kernels.Euclidean(bandwidth=2), rows=draws(60, 600), width=8, seed=1)
RECORDS = {"x": np.repeat(np.arange(8) + 0.5, 50)}


def exact(sketch=RACE):
    table = sketch.zeros()
    sketch.add(table, DOMAIN.encode_queries(RECORDS, sketch.metric))
    return table


@pytest.mark.few(2)
@pytest.mark.parametrize("delta", ["1e-6", "1e-9"])
@pytest.mark.parametrize("first", ["0.05", "0.3", "0.5", "0.9"])
def test_under_a_delta_a_release_that_is_ten_percent_worse_than_one_made_at_once(first, delta):
    more = 1 - Decimal(first)
    wanted = ToppingUp(release(RACE, RECORDS, Budget(first, delta)), more)
    _, then, once = wanted.errors
    assert wanted.promise == Budget(1, delta)
    assert once == math.sqrt(planned_for(RACE, Budget(1, delta)).noises[0].variance)
    assert 0.999 < then / once < 1.1


@pytest.mark.parametrize(("first", "most"), [("0.01", 1.0 / 0.99 + 1e-3), ("0.09", 1.1), ("0.5", math.sqrt(2) + 1e-3)])
def test_pure_parts_whose_loss_is_another_than_is_said(first, most):
    _, then, once = ToppingUp(release(RACE, RECORDS, Budget(first)), 1 - Decimal(first)).errors
    part = float(first)
    assert then / once == pytest.approx(1 / math.hypot(part, 1 - part), rel=1e-3) and then / once < most


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_noise_that_is_not_what_the_file_says_of_it(tmp_path, delta):
    first = release(RACE, RECORDS, Budget("0.3", delta))
    both = top_up(first, RECORDS, "0.7")
    noise = (np.asarray(both.counters) - exact()).reshape(-1)
    assert 0.5 < np.mean(noise**2) / both.privacy.counter_variance < 1.9  # 480 counters: beyond in 1e-9 of runs
    assert both.privacy.counter_variance < first.privacy.counter_variance / 3
    assert (both.privacy.epsilon, both.privacy.releases) == (1, 1)
    both.save(tmp_path / "both.npz")
    assert load(tmp_path / "both.npz") == both
    assert "epsilon 0.3" in both.combined.sentence and "is the average of one of" in both.combined.sentence


@pytest.mark.thorough
def test_an_average_that_a_second_purchase_does_not_pay_for(tmp_path):
    book = Ledger(str(tmp_path / "ledger.sqlite"))
    book.register("people", 1, "1e-6")
    first = release(RACE, RECORDS, Budget("0.4", "1e-6"), ledger=book, dataset="people")
    both = top_up(first, RECORDS, "0.6", ledger=book, dataset="people")
    entries = book.entries("people")
    assert [entry.note.get("tops_up") for entry in entries] == [None, first.created]
    assert both.privacy.budget == Budget(1, "1e-6") and entries[1].cost.epsilon > Decimal("0.6")
    with pytest.raises(BudgetError):
        top_up(both, RECORDS, "0.1", ledger=book, dataset="people")
    assert len(book.entries("people")) == 2


@pytest.mark.thorough
def test_what_was_topped_up_before_is_topped_up_again():
    once = top_up(release(RACE, RECORDS, Budget("0.2", "1e-6")), RECORDS, "0.3")
    twice = top_up(once, RECORDS, "0.5")
    assert twice.privacy.budget == Budget(1, "1e-6") and len(twice.combined.releases) == 3
    at_once = planned_for(RACE, Budget(1, "1e-6")).noises[0].variance
    assert math.sqrt(twice.privacy.counter_variance / at_once) < 1.1


def test_two_files_after_a_crash_promise_no_less_than_they_keep():
    """The second release lies beside the ledger when the program was stopped before both were one."""
    first = release(RACE, RECORDS, Budget("0.4", "1e-6"))
    wanted = ToppingUp(first, Decimal("0.6"))
    second = release(RACE, RECORDS, wanted.second)
    found = averaged(first, second).privacy
    assert Decimal("0.99") < found.epsilon < Decimal("1.01") and found.delta == wanted.promise.delta
    pure = averaged(release(RACE, RECORDS, Budget("0.4")), release(RACE, RECORDS, Budget("0.3"))).privacy
    assert (pure.epsilon, pure.delta) == (Decimal("0.7"), 0)


def test_pure_noise_under_a_delta_that_is_doubled_for_nothing():
    sketch = Histogram(DOMAIN, kernels.Gaussian(bandwidth=2), cells=(8,))
    first = release(sketch, RECORDS, Budget("0.4", "1e-6"))
    assert first.privacy.noise[0].distribution == "discrete_laplace"
    assert top_up(first, RECORDS, "0.6").privacy.budget == Budget(1, "1e-6")


@pytest.mark.thorough
def test_several_questions_each_of_which_keeps_its_own_noise(tmp_path):
    members = [Part(RACE, "dense"), Part(Histogram(DOMAIN, kernels.Gaussian(bandwidth=2), cells=(8,)), "counts")]
    first = release(members, RECORDS, Budget("0.3", "1e-6"), records=400)
    both = top_up(first, RECORDS, "0.7")
    both.save(tmp_path / "both.npz")
    assert load(tmp_path / "both.npz") == both
    for one, other in zip(first.privacy.noise, both.privacy.noise, strict=True):
        assert other.variance < one.variance / 3
    assert both.part("counts").records == pytest.approx(400, abs=60)


def test_the_same_release_or_one_of_another_sketch_that_would_seem_to_be_better():
    first = release(RACE, RECORDS, Budget(1))
    with pytest.raises(RequestError, match="the same release"):
        averaged(first, first)
    other = release(RACE.reseeded(2), RECORDS, Budget(1))
    with pytest.raises(RequestError, match="hash seed included"):
        averaged(first, other)
    with pytest.raises(RequestError, match="merged can only be topped up by each"):
        ToppingUp(first.merged(release(RACE, RECORDS, Budget(1))), Decimal(1))
    with pytest.raises(RequestError, match="merged can only be topped up by each"):
        averaged(first, first.merged(release(RACE, RECORDS, Budget(1))))
    replaced = release(RACE, RECORDS, Budget(1, neighbours="replace_one"))
    with pytest.raises(RequestError, match="whom they protect"):
        averaged(first, replaced)
    with pytest.raises(RequestError):
        top_up(first, RECORDS, 0)


def test_next_to_nothing_more_under_the_same_delta_is_promised_with_the_deltas_of_both():
    """What is calibrated tightly leaves no room in zCDP, so there they add up, and none of the two is forgotten."""
    first = release(RACE, RECORDS, Budget("0.3", "1e-6"))
    wanted = ToppingUp(first, Decimal("0.001"))
    assert (wanted.second, wanted.promise) == (Budget("0.001", "1e-6"), Budget("0.301", "2e-6"))
    assert averaged(first, release(RACE, RECORDS, wanted.second)).privacy.budget == wanted.promise


def test_noise_that_is_pure_beside_something_bought_under_the_delta_is_not_taken_for_a_pure_promise():
    sketch = Histogram(DOMAIN, kernels.Gaussian(bandwidth=2), cells=(8,))
    first = release(sketch, RECORDS, Budget("0.4", "1e-6"))
    bought = replace(first, privacy=replace(first.privacy, rho=2 * first.privacy.rho))
    assert _Spent.of(first).pure and not _Spent.of(bought).pure
    assert not _Spent.of(release(RACE, RECORDS, Budget("0.4", "1e-6"))).pure


def test_weights_follow_from_the_noise_alone_and_not_from_what_is_in_the_tables():
    first, second = release(RACE, {"x": [0.5]}, Budget("0.2")), release(RACE, RECORDS, Budget("0.6"))
    one, other = (np.asarray(made.counters).astype(int) for made in (first, second))
    variances = [made.privacy.counter_variance for made in (first, second)]
    share = variances[1] / sum(variances)
    np.testing.assert_array_equal(averaged(first, second).counters, other + np.rint(share * (one - other)))


def test_seeded_noise_that_passes_for_private_in_an_average():
    first = release(RACE, RECORDS, Budget(1))
    assert not top_up(first, RECORDS, 1, noise_source=SeededSource(1)).private


@pytest.mark.parametrize(
    "made", [3, [], [["x", "1", "0"]] * 2, [["2026-01-01T00:00:00+00:00", "-1", "0"]] * 2, [[]] * 2]
)
def test_an_average_of_nothing_in_a_file_of_a_stranger(made):
    with pytest.raises(ReleaseFileError, match="average of makes no sense"):
        Averaged.from_dict({"releases": made})
