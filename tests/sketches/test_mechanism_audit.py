"""The audit of mechanisms that choose passes what keeps its promise, and catches what costs too little."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from core.domain import Domain
from core.geometry import kernels
from core.lab.published.privbayes import PrivBayes
from core.privacy.budget import Budget, Neighbours, PrivacyUnit
from core.privacy.calibration import calibrate
from core.sketches import linear
from core.sketches.features import Features
from core.sketches.mechanism_audit import audit_adaptive, audit_sketch, worst_neighbours
from core.sketches.race import Race
from tests.depth import crossed, deep

LEVEL = 1 - 1e-8
DOMAIN = Domain.of(height=(50, 250), city=["Bern", "Basel", "Chur"], scale="box")
PEOPLE = Domain.of(height=(50, 250), unit=PrivacyUnit("person", 3))


def race(domain=DOMAIN):
    return Race(domain, kernels.Euclidean(bandwidth=0.2), rows=2, width=8, groups=2, seed=1)


@pytest.mark.parametrize("domain", [DOMAIN, PEOPLE], ids=["records", "people"])
@pytest.mark.parametrize("neighbours", Neighbours)
def test_the_pair_reaches_the_declared_sensitivity(domain, neighbours):
    sketch = race(domain)
    first, second = worst_neighbours(sketch, neighbours)
    assert np.abs(first - second).sum() == sketch.sensitivity(neighbours).l1
    assert first.min() >= 0 and second.min() >= 0


@pytest.mark.few(1)
@pytest.mark.parametrize("domain", [deep(DOMAIN), PEOPLE], ids=["records", "people"])
@pytest.mark.parametrize(("delta", "neighbours"), crossed([0, "1e-5"], list(Neighbours)))
def test_race_keeps_its_promise(domain, neighbours, delta):
    report = audit_sketch(race(domain), Budget(1, delta, neighbours), runs=40_000, level=LEVEL)
    assert report.passed
    assert delta or report.epsilon_lower > 0.3


def test_half_the_noise_is_caught(monkeypatch):
    def half(sensitivity, epsilon, delta):
        return calibrate(sensitivity, 2 * epsilon, delta)

    monkeypatch.setattr(linear, "calibrate", half)
    report = audit_sketch(race(), Budget(1), level=LEVEL)
    assert not report.passed and report.epsilon_lower > Fraction(3, 2)


def test_gaussian_noise_is_attacked_with_records_that_are_far_apart_in_a_straight_line(monkeypatch):
    """A signed count that changes its counter moves as far in L1 as one that changes its sign, and less far in L2."""
    sketch = Features(Domain.of(x=(-1, 1), y=(-1, 1)), kernels.Gaussian(0.3), rows=4, seed=1)

    def little(sensitivity, epsilon, delta):
        scale = calibrate(sensitivity, epsilon, delta)
        return replace(scale, parameter=scale.parameter / 16)

    monkeypatch.setattr(linear, "calibrate", little)
    assert not audit_sketch(sketch, Budget(1, "1e-5", Neighbours.REPLACE_ONE), level=LEVEL).passed


CUBE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))
ADAPTIVE_AUDIT_PEOPLE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), unit=PrivacyUnit("person", 2))


@dataclass(frozen=True)
class Cheap(PrivBayes):
    """Says that everything costs ε = 1, and spends ε = 40."""

    def plan(self, budget):
        return super().plan(Budget(40, 0, budget.neighbours))


def attacked(kind, domain, neighbours):
    mechanism = kind(domain, kernels.Gaussian(0.3), cells=2, degree=1, seed=1)
    return audit_adaptive(mechanism, Budget(1, 0, neighbours), runs=200, level=LEVEL)


@pytest.mark.deep
def test_a_promise_that_is_kept():
    assert attacked(PrivBayes, CUBE, "add_remove").passed


@pytest.mark.thorough
def test_a_promise_that_is_broken():
    broken = attacked(Cheap, ADAPTIVE_AUDIT_PEOPLE, "replace_one")
    assert not broken.passed and "which breaks the promise" in broken.sentence
