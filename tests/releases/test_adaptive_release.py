"""Mechanisms that choose before they measure: one promise, paid once before the first look, and nothing afterwards."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest

from core.domain import Domain, PrivacyUnit
from core.errors import BudgetError, RequestError
from core.lab.published.grid_cells import Marginals
from core.privacy.budget import Budget, Neighbours, Sensitivity
from core.privacy.calibration import NoiseScale, largest_rho
from core.privacy.choosing.selection import select
from core.privacy.composition import Selections, total_rho
from core.privacy.ledger.ledger import Ledger
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.releases.release import load
from core.sketches.adaptive import Adaptive, Outcome, noisy_count, share_budget

PLANE = Domain.of(x=(0, 1), y=(0, 1))
EVERYONE = Domain.of(x=(0, 1), y=(0, 1), missing="refuse")
BUDGETS = [
    Budget(1),
    Budget(1, "1e-6"),
    Budget(1, 0, Neighbours.REPLACE_ONE),
    Budget(1, "1e-6", Neighbours.REPLACE_ONE),
]


@dataclass(frozen=True)
class Fullest(Adaptive):
    """Finds the axis with the fullest cell, and releases its marginal."""

    domain: Domain
    counts: tuple[int, int] = (4, 3)
    readings: int = 0
    name: ClassVar[str] = "marginals"

    @property
    def metric(self):
        return "l1"

    @property
    def first(self):
        return Marginals(self.domain, "l1", self.counts, ((0,), (1,)))

    def plan(self, budget):
        marginal = Marginals(self.domain, "l1", self.counts, ((0,),))
        table = (marginal.sensitivity(budget.neighbours), Fraction(3, 4))
        return share_budget(self, budget, [Fraction(1, 4)], [table], marginal)

    def run(self, read, plan, noise_source=None):
        both = self.first.marginals(read(self.first))
        sensitivity = 1 * self.domain.unit.records
        axis = select(np.array([part.max() for part in both]), sensitivity, plan.choices[0], noise_source)
        sketch = Marginals(self.domain, "l1", self.counts, ((axis,),))
        exact = both[axis]
        for _ in range(self.readings):
            exact = read(sketch)
        noisy = add_noise(exact, plan.noises[0], noise_source)
        return Outcome(sketch, noisy, plan.noises[0], noisy_count(exact.sum(), plan, noise_source))

    def exact(self, queries, records):
        return self.first.exact(queries, records)

    def parameters(self):
        return {"counts": list(self.counts)}


def records(n=400):
    return np.random.default_rng(4).beta(2, 5, (n, 2))


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("domain", [PLANE, EVERYONE], ids=["dropping", "refusing"])
def test_shares_use_up_the_promise_and_no_more(budget, domain):
    planned = Fullest(domain).plan(budget)
    cost = planned.cost
    assert (cost.epsilon, cost.delta) == (budget.epsilon, budget.delta)
    assert cost.events[0] == Selections(planned.choices[0])
    assert cost.pure_epsilon == 1  # also with a delta, as two looks need less noise so
    assert planned.count_noise is None
    assert planned.counts == (budget.neighbours is Neighbours.REPLACE_ONE and domain is EVERYONE)


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_many_looks_share_rho_and_use_it_up(neighbours):
    marginal = Marginals(EVERYONE, "l1", (4, 3), ((0,),))
    table = (marginal.sensitivity(neighbours), Fraction(3, 4))
    budget = Budget(1, "1e-6", neighbours)
    planned = share_budget(Fullest(EVERYONE), budget, [Fraction(1, 256)] * 64, [table], marginal)
    whole = Fraction(largest_rho(1.0, 1e-6))
    assert planned.cost.events[0] == Selections(planned.choices[0], 64) and planned.cost.pure_epsilon is None
    assert total_rho(planned.cost.events) <= whole
    assert float(total_rho(planned.cost.events) / whole) == pytest.approx(1, abs=1e-4)
    assert float(planned.choices[0]) == pytest.approx(float(whole / 32) ** 0.5)


@pytest.mark.parametrize("looks", [1, 3, 10, 30, 100])
def test_a_delta_makes_neither_choices_nor_tables_much_worse_than_they_would_be_without(looks):
    """The worst factor by which one way to share is worse than the other is smallest for what is taken."""
    marginal = Marginals(PLANE, "l1", (4, 3), ((0,),))
    asked = ([Fraction(1, 2 * looks)] * looks, [(Sensitivity(looks, looks), Fraction(1, 2))], marginal)
    pure, slack = (share_budget(Fullest(PLANE), Budget(1, delta), *asked) for delta in (0, "1e-6"))
    worse = max(float(pure.choices[0] / slack.choices[0]), (slack.noises[0].variance / pure.noises[0].variance) ** 0.5)
    better = max(float(slack.choices[0] / pure.choices[0]), (pure.noises[0].variance / slack.noises[0].variance) ** 0.5)
    assert worse <= better + 1e-9


def test_a_count_of_its_own_is_bought_where_it_is_better_than_the_table():
    wide = Fullest(PLANE, counts=(1 << 16, 3))
    assert Fullest(PLANE).plan(Budget(1)).count_noise is None
    planned = wide.plan(Budget(1))
    assert planned.count_noise is not None and planned.cost.pure_epsilon == 1
    made = release(wide, records(), Budget(1), noise_source=SeededSource(1))
    assert made.counted is not None and abs(made.counted - 400) < 1500


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("domain", [PLANE, EVERYONE], ids=["dropping", "refusing"])
def test_a_release_is_saved_and_read_under_the_whole_promise(budget, domain):
    mechanism = Fullest(domain)
    made = release(mechanism, records(), budget)
    planned = mechanism.plan(budget)
    assert made.privacy.budget == budget and made.privacy.rho == planned.cost.rho
    assert made.privacy.noise == planned.noises and made.private
    again = load(made.to_bytes())
    assert again.sketch == made.sketch and (again.counters == made.counters).all() and again.counted == made.counted
    assert (made.counted == 400) == made.count_is_public or made.counted is None


def test_the_ledger_has_one_entry_of_everything(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", 1)
    release(Fullest(PLANE), records(), Budget("0.75"), ledger=ledger, dataset="people")
    with pytest.raises(BudgetError):
        release(Fullest(PLANE), records(), Budget("0.5"), ledger=ledger, dataset="people")
    release(Fullest(PLANE), records(), Budget("0.25"), ledger=ledger, dataset="people")
    entries = ledger.status("people").releases
    assert [float(entry.cost.epsilon) for entry in entries] == [0.75, 0.25]
    assert entries[0].cost == Fullest(PLANE).plan(Budget("0.75")).cost


def test_what_is_refused_is_refused_before_anything_is_spent(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", 1)
    bad = np.vstack([records(), [[np.nan, 0.5]]])
    with pytest.raises(RequestError):
        release(Fullest(EVERYONE), bad, Budget(1), ledger=ledger, dataset="people")
    assert not ledger.status("people").releases


def test_everything_is_paid_before_the_first_choice_and_a_crash_loses_only_budget(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("people", 1)
    seen = []

    def crash(self, read, plan, noise_source=None):
        seen.append(len(ledger.status("people").releases))
        raise KeyboardInterrupt

    monkeypatch.setattr(Fullest, "run", crash)
    with pytest.raises(KeyboardInterrupt):
        release(Fullest(PLANE), records(), Budget(1), ledger=ledger, dataset="people")
    assert seen == [1] and len(ledger.status("people").releases) == 1


@pytest.mark.parametrize("readings", [0, 2])
def test_the_first_reading_is_used_again_and_further_ones_are_counted(readings):
    seen = []
    made = release(Fullest(PLANE, readings=readings), records(), Budget(1), progress=seen.append)
    assert seen == [400 * (1 + place) for place in range(1 + readings)]
    assert made.records == pytest.approx(400, abs=400)


def test_a_table_with_less_noise_than_was_paid_for_is_never_released(monkeypatch):
    honest = Fullest.run

    def planted(self, read, plan, noise_source=None):
        outcome = honest(self, read, plan, noise_source)
        less = NoiseScale("discrete_laplace", plan.noises[0].parameter / 2)
        return Outcome(outcome.sketch, outcome.table, less, outcome.count)

    monkeypatch.setattr(Fullest, "run", planted)
    with pytest.raises(RuntimeError):
        release(Fullest(PLANE), records(), Budget(1))


def test_seeded_noise_makes_the_same_release_and_marks_it():
    first, second = (release(Fullest(PLANE), records(), Budget(1), noise_source=SeededSource(7)) for _ in range(2))
    assert (first.counters == second.counters).all() and not first.private


def test_a_person_with_more_records_pays_with_noise():
    unit = PrivacyUnit("who", 3)
    one, three = (Fullest(Domain.of(x=(0, 1), y=(0, 1), **more)).plan(Budget(1)) for more in ({}, {"unit": unit}))
    assert three.noises[0].parameter == 3 * one.noises[0].parameter


def test_releases_of_the_same_choice_merge_and_others_do_not():
    made = [release(Fullest(PLANE), records(n), Budget(50), noise_source=SeededSource(n)) for n in (300, 400)]
    assert made[0].sketch == made[1].sketch
    assert made[0].merged(made[1]).records == pytest.approx(700, abs=20)
    other = Marginals(PLANE, "l1", (4, 3), ((1 - made[0].sketch.cliques[0][0],),))
    with pytest.raises(RequestError):
        made[0].merged(release(other, records(), Budget(50)))


def test_checkpoints_are_refused(tmp_path):
    with pytest.raises(RequestError, match="Checkpoints"):
        release(Fullest(PLANE), records(), Budget(1), checkpoints=tmp_path)
