"""The smallest promise for what an owner needs: it is met, a smaller one misses it, and what cannot be is said why."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from core import Budget, Distance, Domain, Part, Parts, Race, RequestError, Tables, release
from core.geometry import kernels
from core.releases.forecast.budget_for import Goal, budget_for, careful_error, epsilon_of_harm, seen_of
from core.releases.forecast.forecast import forecast
from tests.depth import draws

DOMAIN = Domain.of(age=(0, 100), city=["a", "b", "c"])


@pytest.mark.parametrize("wanted", [{"error": "1%"}, {"error": 60}, {"visible": 50}])
def test_what_is_needed_is_met_and_a_smaller_promise_misses_it(wanted):
    sketch = Tables(DOMAIN).sized_for(Budget(1), 10_000)
    found, goal = budget_for(sketch, records=10_000, **wanted), Goal.of(**wanted)
    assert goal.shortfall(found.seen) <= 1.0
    smaller = Budget(round(float(found.budget.epsilon) * 0.95, 6))
    assert goal.shortfall(seen_of(sketch, smaller, 10_000)) > 1.0


def test_a_smaller_promise_is_found_where_sizes_make_errors_jump():
    def seen(budget: Budget, records: float):
        epsilon = float(budget.epsilon)
        one = forecast(Race(Domain.of(x=(0, 1)), kernels.Euclidean(0.1), rows=100, width=20), Budget(1), records)
        return [replace(one, standard_error=0.1 * records if epsilon < 0.4 or 0.5 < epsilon < 0.6 else 1.0)]

    assert float(budget_for(seen, records=1_000, error="5%").budget.epsilon) == pytest.approx(0.4, rel=0.03)


@pytest.mark.thorough
def test_the_error_that_was_measured_is_at_most_the_one_that_was_wanted():
    """The mean of K squared errors is above chi2's point of 1 - 1e-6 over K in one of a million: so often it errs."""
    random, records = np.random.default_rng(1), 4_000
    people = {"age": random.integers(0, 100, records), "city": random.choice(["a", "b", "c"], records)}
    sketch = Tables(DOMAIN)
    found = budget_for(sketch, records=records, error="1%")
    squares = []
    for _ in range(draws(3, 20)):
        made = release(sketch.sized_for(found.budget, records), people, found.budget)
        edges = made.asked().axes[0].edges()
        counts = [np.histogram(people["age"][people["city"] == city], edges)[0] for city in "abc"]
        squares.append((made.table("age", "city").estimate.to_numpy() - np.stack(counts, axis=1).ravel()) ** 2)
    cells = np.concatenate(squares)
    assert math.sqrt(cells.mean()) <= 0.01 * records * math.sqrt(chi2.ppf(1 - 1e-6, cells.size) / cells.size)
    assert math.sqrt(cells.mean()) >= 0.01 * records / 2.0


@pytest.mark.thorough
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_every_part_of_a_release_is_as_exact_as_is_needed(delta):
    parts = Parts.of(
        (
            Part(Tables(DOMAIN).sized_for(Budget(1), 9_000), "tables"),
            Part(Race(Domain.of(age=(0, 100)), kernels.Euclidean(10), rows=60, width=40), "ages"),
        )
    )
    found = budget_for(parts, records=20_000, error="3%", delta=delta)
    assert len(found.seen) == 2 and Goal.of("3%").shortfall(found.seen) <= 1.0


@pytest.mark.deep
def test_distances_are_as_exact_as_a_share_of_the_distance_that_is_supposed():
    sketch = Distance(Domain.of(x=(0, 1), y=(0, 1)))
    found = budget_for(sketch, records=5_000, error="5%")
    one = forecast(sketch, found.budget, 5_000)
    assert 0.045 < careful_error(one) / one.estimate <= 0.05


@pytest.mark.thorough
def test_what_no_promise_can_do_is_refused_with_how_many_people_would_do():
    with pytest.raises(RequestError, match=r"No promise up to ε = 10 .* about [\d,]+ records or fewer") as refused:
        budget_for(Tables(DOMAIN), records=1_000, error="0.01%")
    many = float(str(refused.value).split("about ")[1].split(" records")[0].replace(",", ""))
    assert budget_for(Tables(DOMAIN), records=1.1 * many, error="0.01%").budget.epsilon <= 10


def test_a_delta_is_named_where_it_would_do():
    sketch = Race(Domain.of(x=(0, 1)), kernels.Euclidean(0.05), rows=4_000, width=100)
    with pytest.raises(RequestError, match=r"a δ of 0\.000001"):
        budget_for(sketch, records=1_000, error="0.8%")


@pytest.mark.parametrize("wrong", ["", "much", "150%", "-1", "nan", 0])
def test_what_is_no_error_is_refused(wrong):
    with pytest.raises(RequestError):
        Goal.of(wrong)


def test_nothing_needed_is_refused():
    with pytest.raises(RequestError, match="how exact"):
        budget_for(Tables(DOMAIN), records=100)


def test_errors_are_read_as_people_write_them():
    assert Goal.of("2%") == Goal.of("± 2 %") == Goal.of(0.02) == Goal(share=0.02)
    assert Goal.of("50") == Goal.of(50) == Goal(people=50.0)


@pytest.mark.parametrize(("before", "after"), [(0.01, 0.03), (0.5, 0.75), (0.2, 0.9)])
def test_nobodys_guess_rises_above_what_was_said(before, after):
    epsilon = epsilon_of_harm(before, after)
    risen = math.exp(epsilon) * before / (1.0 + (math.exp(epsilon) - 1.0) * before)
    assert risen <= after < risen + 0.001


@pytest.mark.parametrize("chances", [(0.0, 0.1), (0.3, 0.2), (0.1, 1.0), (0.2, 0.2)])
def test_chances_that_are_none_are_refused(chances):
    with pytest.raises(RequestError):
        epsilon_of_harm(*chances)
