"""The audit of whole releases passes what is right, and finds what is planted."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.domain import Domain
from core.geometry import kernels
from core.privacy.budget import Budget, Neighbours, PrivacyUnit
from core.privacy.choosing.private_bounds import Grid
from core.privacy.noise import noise as noise_module
from core.privacy.noise import randomness
from core.releases import payment, purchase_plan, seal
from core.releases.bounds_and_centre import BoundsPurchase, CentrePurchase, CentreStage
from core.releases.kind import kind_of
from core.releases.release_audit import findings
from core.sketches import plan as planning
from core.sketches import race as race_module
from core.sketches.directions import Directions
from core.sketches.histogram import Histogram
from core.sketches.race import Race
from core.sources import queried
from tests.depth import crossed, deep, draws, sampled

DOMAIN = Domain.of(height=(50, 250), city=["Bern", "Basel", "Chur"], scale="box")
PEOPLE = Domain.of(height=(50, 250), unit=PrivacyUnit("person", 3))
SLACK = "1e-5"


def race(domain=DOMAIN, rows=4):
    return Race(domain, kernels.Euclidean(bandwidth=0.2), rows=rows, width=8, groups=2, seed=1)


def kind(delta=0, neighbours="add_remove", domain=DOMAIN, sketch=None, **bought):
    rows = 40 if delta else 4  # noise is Gaussian where one person moves many counters
    return kind_of(race(domain, rows) if sketch is None else sketch, Budget(1, delta, neighbours), **bought)


@pytest.mark.thorough
@pytest.mark.few(1)
@pytest.mark.parametrize(("delta", "neighbours"), crossed([0, SLACK], list(Neighbours)))
@pytest.mark.parametrize("domain", [DOMAIN, deep(PEOPLE)], ids=["records", "people"])
def test_what_is_right_passes(domain, delta, neighbours):
    """Each of its tests of chance fails correct noise with probability below 1e-10; there are a dozen of them here."""
    assert list(findings(kind(delta, neighbours, domain), draws(6, 24))) == []


def scaled(factor):
    """Noise of another width than is stated."""
    real = noise_module.add_noise

    def add_noise(table, scale, source=None, out=None):
        power = 2 if scale.distribution == "discrete_gaussian" else 1
        parameter = scale.parameter * Fraction(factor).limit_denominator(1000) ** power
        return real(table, replace(scale, parameter=parameter), source, out)

    return add_noise


def altered(change):
    """Noise that something was done to."""
    real = noise_module.add_noise

    def add_noise(table, scale, source=None, out=None):
        exact = np.array(table)
        drawn = real(np.zeros(table.shape, np.int64), scale, source)
        found = exact + change(drawn, exact)
        if out is None:
            return found
        out[...] = found
        return out

    return add_noise


class SameKey(randomness.SystemSource):
    """An operating system that gives the same key every time."""

    def stream(self):
        return randomness.CipherStream(bytes(32))


def same_key(monkeypatch):
    monkeypatch.setattr(noise_module, "SystemSource", SameKey)


def noise(change):
    return lambda monkeypatch: monkeypatch.setattr(seal, "add_noise", change)


def first_rows_noise(drawn, exact):
    return np.broadcast_to(drawn[:1], drawn.shape)


def mirrored(drawn, exact):
    flat = drawn.reshape(-1).copy()
    flat[len(flat) // 2 :] = -flat[: len(flat) - len(flat) // 2]
    return flat.reshape(drawn.shape)


def without_tails(drawn, exact):
    return np.clip(drawn, -10, 10)  # 2.5 times its scale


def less_where_more_is(drawn, exact):
    return np.where(exact > exact.mean(), drawn // 2, drawn)


def sensitivity(change):
    def plant(monkeypatch):
        real = race_module.Race.sensitivity
        monkeypatch.setattr(race_module.Race, "sensitivity", lambda self, neighbours: change(real, self, neighbours))

    return plant


def halved(real, sketch, neighbours):
    found = real(sketch, neighbours)
    return replace(found, l1=found.l1 // 2, l2_squared=found.l2_squared // 2, parts=found.parts // 2)


def as_if_added(real, sketch, neighbours):
    return real(sketch, Neighbours.ADD_REMOVE)


def as_if_one_record(real, sketch, neighbours):
    return real(replace(sketch, domain=replace(sketch.domain, unit=PrivacyUnit())), neighbours)


def counted_twice(monkeypatch):
    real = race_module.Race.add

    def add(self, table, points):
        real(self, table, points)
        real(self, table, points)

    monkeypatch.setattr(race_module.Race, "add", add)


def all_rows_of_a_person(monkeypatch):
    real = queried.keep_at_most
    monkeypatch.setattr(queried, "keep_at_most", lambda batches, records: real(batches, 1000))


def bounds_of_the_data(monkeypatch):
    real = Domain.encode

    def encode(self, batch, metric="l2"):
        found = real(self, batch, metric)
        found[:, 0] /= found[:, 0].mean()
        return found

    monkeypatch.setattr(Domain, "encode", encode)


def nothing_written_down(monkeypatch):
    monkeypatch.setattr(payment.LedgerAccount, "spend", lambda self, cost, released: None)


def half_the_price(monkeypatch):
    real = payment.LedgerAccount.spend

    def spend(self, cost, released):
        half = replace(cost, events=tuple(replace(one, epsilon=one.epsilon / 2) for one in cost.events))
        return real(self, replace(half, epsilon=cost.epsilon / 2), released)

    monkeypatch.setattr(payment.LedgerAccount, "spend", spend)


def ledger_that_never_refuses(monkeypatch):
    from core.privacy.ledger import ledger

    monkeypatch.setattr(ledger, "check_allowed", lambda *facts: None)


def stated_lower(monkeypatch):
    real = seal.sealed

    def sealed(sketch, table, count, privacy, noise_source):
        return real(sketch, table, count, replace(privacy, epsilon=privacy.epsilon / 2), noise_source)

    monkeypatch.setattr(seal, "sealed", sealed)


def type_of_the_exact_table(monkeypatch):
    real = seal.noised

    def noised(sketch, held, planned, budget, noise_source):
        table, records = held
        made = real(sketch, (table, records), planned, budget, noise_source)
        narrow = np.int32 if np.abs(made.counters).max() < 1000 else np.int64
        return replace(made, counters=made.counters.astype(narrow))

    for module in (seal, __import__("core.releases.kind", fromlist=["plain"])):
        monkeypatch.setattr(module, "noised", noised)


def slack_is_lent(monkeypatch):
    """Calibrated for a δ a thousand times as large."""
    real = planning.calibrate_shares
    monkeypatch.setattr(
        planning,
        "calibrate_shares",
        lambda tables, epsilon, delta=Fraction(0), **more: real(tables, epsilon, 1000 * delta, **more),
    )


def unchecked(monkeypatch):
    """Without the program's own check of every promise, which finds most mistakes in plans by itself."""
    from core.privacy import accounting, record

    monkeypatch.setattr(record.PrivacyRecord, "is_kept", lambda self, tables, counts: True)
    monkeypatch.setattr(accounting, "keeps_promise", lambda events, epsilon, delta: True)


def bounds_for_nothing(monkeypatch):
    monkeypatch.setattr(purchase_plan, "_fixed", lambda offer, whole: offer.table.cost)


def centre_for_nothing(monkeypatch):
    first = CentreStage._noise.func

    def planned_alone(self):
        return first(self)[0], planning.plan(self.sketch, self.budget)

    monkeypatch.setattr(CentreStage, "_noise", property(planned_alone))


BOUNDS = {
    "sketch": Histogram(Domain.of(x=(0, 1)), kernels.Gaussian(bandwidth=0.3), cells=(8,)),
    "bounds": BoundsPurchase({"x": Grid(-10, 10)}),
}
CENTRE = {"sketch": Directions(Domain.of(x=(-1, 1), y=(-1, 1))), "centre": CentrePurchase()}
OF_CHANCE = {
    "half the noise": (noise(scaled(0.5)), {}),
    "half the Gaussian noise": (noise(scaled(0.5)), {"delta": SLACK}),
    "noise short of √2": (noise(scaled(0.7071)), {}),
    "Gaussian noise short of √2": (noise(scaled(0.7071)), {"delta": SLACK}),
    "one key for ever": (same_key, {}),
    "one row of noise for all rows": (noise(altered(first_rows_noise)), {}),
    "noise used again with the other sign": (noise(altered(mirrored)), {}),
    "noise of one sign": (noise(altered(lambda drawn, exact: np.abs(drawn))), {}),
    "no noise": (noise(altered(lambda drawn, exact: 0 * drawn)), {}),
    "noise without tails": (noise(altered(without_tails)), {}),
    "less noise where more is": (noise(altered(less_where_more_is)), {}),
}
CERTAIN = {
    "half the sensitivity": (sensitivity(halved), {}),
    "half the sensitivity of Gaussian noise": (sensitivity(halved), {"delta": SLACK}),
    "replaced records taken for added ones": (sensitivity(as_if_added), {"neighbours": "replace_one"}),
    "people taken for records": (sensitivity(as_if_one_record), {"domain": PEOPLE}),
    "all rows of a person": (all_rows_of_a_person, {"domain": PEOPLE}),
    "each record counted twice": (counted_twice, {}),
    "bounds taken from the data": (bounds_of_the_data, {}),
    "nothing in the ledger": (nothing_written_down, {}),
    "half the price in the ledger": (half_the_price, {}),
    "a ledger that never refuses": (ledger_that_never_refuses, {}),
    "a stronger promise in the file": (stated_lower, {}),
    "a type of counters from the exact table": (type_of_the_exact_table, {}),
    "a slack that nobody gave": (slack_is_lent, {"delta": SLACK}),
    "bounds for nothing": (bounds_for_nothing, BOUNDS),
    "a centre for nothing": (centre_for_nothing, CENTRE),
}


@pytest.mark.thorough
@pytest.mark.parametrize("fault", sampled(OF_CHANCE, "one row of noise for all rows"))
def test_wrong_noise_is_found(fault, monkeypatch):
    plant, asked = OF_CHANCE[fault]
    plant(monkeypatch)
    assert list(findings(kind(**asked)))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "fault",
    sampled(
        CERTAIN,
        "half the sensitivity",
        "replaced records taken for added ones",
        "people taken for records",
        "nothing in the ledger",
        "a stronger promise in the file",
        "bounds for nothing",
    ),
)
def test_what_has_nothing_to_do_with_chance_is_found_by_few_releases(fault, monkeypatch):
    plant, asked = CERTAIN[fault]
    unchecked(monkeypatch)
    plant(monkeypatch)
    assert list(findings(kind(**asked), 2))


@pytest.mark.few(2)
@pytest.mark.parametrize("asked", [BOUNDS, CENTRE], ids=["bounds", "a centre"])
@pytest.mark.parametrize("delta", [0, SLACK])
def test_what_is_bought_passes(asked, delta):
    assert list(findings(kind(delta, **asked), 2)) == []
