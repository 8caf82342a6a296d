"""The audit of mechanisms that choose passes what keeps its promise, and catches what costs too little."""

from dataclasses import dataclass

from core import Budget, Domain
from core.geometry import kernels
from core.privacy.unit import PrivacyUnit
from core.sketches.adaptive_audit import audit_adaptive
from core.sketches.published.networks.privbayes import PrivBayes

CUBE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1))
PEOPLE = Domain.of(x=(0, 1), y=(0, 1), z=(0, 1), unit=PrivacyUnit("person", 2))
LEVEL = 1 - 1e-8


@dataclass(frozen=True)
class Cheap(PrivBayes):
    """Says that everything costs ε = 1, and spends ε = 40."""

    def plan(self, budget):
        return super().plan(Budget(40, 0, budget.neighbours))


def attacked(kind, domain, neighbours):
    mechanism = kind(domain, kernels.Gaussian(0.3), cells=2, degree=1, seed=1)
    return audit_adaptive(mechanism, Budget(1, 0, neighbours), runs=200, level=LEVEL)


def test_a_promise_that_is_kept():
    assert attacked(PrivBayes, CUBE, "add_remove").passed


def test_a_promise_that_is_broken():
    broken = attacked(Cheap, PEOPLE, "replace_one")
    assert not broken.passed and "which breaks the promise" in broken.sentence
