"""Faults planted in how releases are made, one at a time: exact replay through the front door finds each of them."""

import hashlib
import logging
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from core import Budget, Domain
from core.auditing.trials import examine, of_sketch
from core.domain import Categorical, Numeric
from core.geometry.kernels import Gaussian
from core.privacy.accounting import Cost
from core.privacy.budget import PrivacyUnit
from core.privacy.noise import randomness
from core.releases import job, payment, release_store, seal
from core.releases.kind import with_chosen_size
from core.sketches.classes import Classes
from core.sketches.distance import Distance
from core.sketches.histogram import Histogram
from tests.depth import draws

PURE, DELTA, REPLACED = Budget(1), Budget(1, "0.000001"), Budget(1, 0, "replace_one")
X, SEVERAL = Domain.of(x=(0.0, 1.0)), Domain.of(x=(0.0, 1.0), unit=PrivacyUnit("id", 2))
OF_CLASSES = Domain((Numeric("x", 0, 1), Categorical("c", ("u", "v"))))


def histogram(domain=X):
    return Histogram(domain, Gaussian(0.25), cells=(4,))


def trial(budget=PURE, sketch=None):
    return of_sketch("histogram", sketch or histogram(), budget)


SOUND = {
    "histogram": trial,
    "with a delta": lambda: trial(DELTA),
    "replaced": lambda: trial(REPLACED),
    "several rows": lambda: trial(sketch=histogram(SEVERAL)),
    "distances": lambda: trial(sketch=with_chosen_size(Distance(X, "l1"), PURE, 100)),
    "classes": lambda: trial(sketch=Classes(OF_CLASSES, "c", histogram(OF_CLASSES.without("c")))),
}
PLANTED = {}


def planted(name, on="histogram"):
    def kept(fault):
        PLANTED[name] = (on, fault)
        return fault

    return kept


def around(monkeypatch, owner, name, wrapper):
    monkeypatch.setattr(owner, name, wrapper(getattr(owner, name)))


def scaled(factor):
    def wrapper(real):
        def noised(table, scale, source=None, out=None):
            return real(table, replace(scale, parameter=scale.parameter * factor), source, out)

        return noised

    return wrapper


@planted("a scale a tenth too small")
def _(monkeypatch):
    around(monkeypatch, seal, "add_noise", scaled(Fraction(9, 10)))


@planted("a variance a tenth too small under a delta", on="with a delta")
def _(monkeypatch):
    around(monkeypatch, seal, "add_noise", scaled(Fraction(9, 10)))


@planted("no noise at all where nobody is there")
def _(monkeypatch):
    def wrapper(real):
        return lambda table, *rest: real(table, *rest) if table.any() else table

    around(monkeypatch, seal, "add_noise", wrapper)


@planted("counts of classes without noise", on="classes")
def _(monkeypatch):
    def wrapper(real):
        def sealed(sketch, table, count, privacy, source):
            return real(sketch, table, EXACT["counts"], privacy, source)

        return sealed

    around(monkeypatch, seal, "sealed", wrapper)

    def kept(real):
        def paid_for(exact, cost, spend):
            held = real(exact, cost, spend)
            EXACT["counts"] = np.array(held[1], np.int64)
            return held

        return paid_for

    around(monkeypatch, job, "paid_for", kept)


EXACT = {}


@planted("one counter without noise")
def _(monkeypatch):
    def wrapper(real):
        def noised(table, scale, source=None, out=None):
            first = int(np.ravel(table)[0])
            noisy = real(table, scale, source, out)
            noisy.reshape(-1)[0] = first
            return noisy

        return noised

    around(monkeypatch, seal, "add_noise", wrapper)


@planted("paying after the noise")
def _(monkeypatch):
    def wrapper(real):
        def noised(self, held, reader, source):
            made = real(self, held, reader, source)
            WAITING.pop()()
            return made

        return noised

    def paid_for(exact, cost, spend):
        WAITING.append(lambda: spend(cost))
        return exact.use_up()

    monkeypatch.setattr(job, "paid_for", paid_for)
    around(monkeypatch, job.Plain, "noised", wrapper)


WAITING = []


@planted("half of the price written down")
def _(monkeypatch):
    def wrapper(real):
        def spend(self, cost, sketch):
            half = tuple(replace(event, epsilon=event.epsilon / 2) for event in cost.events)
            return real(self, Cost(half, cost.epsilon / 2), sketch)

        return spend

    around(monkeypatch, payment.LedgerAccount, "spend", wrapper)


@planted("the exact table left in a temporary file")
def _(monkeypatch):
    def wrapper(real):
        def paid_for(exact, cost, spend):
            held = real(exact, cost, spend)
            np.save(Path(tempfile.gettempdir()) / "rest.npy", held[0])
            return held

        return paid_for

    around(monkeypatch, job, "paid_for", wrapper)


@planted("the number of records in the log")
def _(monkeypatch):
    def wrapper(real):
        def paid_for(exact, cost, spend):
            logging.getLogger("frostglass").warning("%s records", exact.records)
            return real(exact, cost, spend)

        return paid_for

    around(monkeypatch, job, "paid_for", wrapper)


@planted("a float in the manifest")
def _(monkeypatch):
    def wrapper(real):
        def sealed(sketch, table, count, privacy, source):
            made = real(sketch, table, count, privacy, source)
            return replace(made, software=f"{made.software} {EXACT['sum'] * 1e-9:.12f}")

        return sealed

    def kept(real):
        def paid_for(exact, cost, spend):
            held = real(exact, cost, spend)
            EXACT["sum"] = float(np.sum(held[0]))
            return held

        return paid_for

    around(monkeypatch, job, "paid_for", kept)
    around(monkeypatch, seal, "sealed", wrapper)


@planted("noise from a seed that anyone knows")
def _(monkeypatch):
    def wrapper(real):
        return lambda table, scale, source=None, out=None: real(table, scale, randomness.SeededSource(1), out)

    around(monkeypatch, seal, "add_noise", wrapper)


@planted("a key of the records")
def _(monkeypatch):
    def wrapper(real):
        def noised(table, scale, source=None, out=None):
            key = hashlib.sha256(np.ascontiguousarray(table).tobytes()).digest()

            class Keyed:
                private = True

                def stream(self):
                    return randomness.CipherStream(key)

            return real(table, scale, Keyed(), out)

        return noised

    around(monkeypatch, seal, "add_noise", wrapper)


@planted("the size of the file by how many records there are")
def _(monkeypatch):
    def wrapper(real):
        def sealed(sketch, table, count, privacy, source):
            made = real(sketch, table, count, privacy, source)
            return replace(made, software=made.software + " " * (EXACT["records"] % 7))

        return sealed

    def kept(real):
        def paid_for(exact, cost, spend):
            held = real(exact, cost, spend)
            EXACT["records"] = int(np.sum(held[1]))
            return held

        return paid_for

    around(monkeypatch, job, "paid_for", kept)
    around(monkeypatch, seal, "sealed", wrapper)


@planted("reading that stops when enough is there")
def _(monkeypatch):
    def wrapper(real):
        def noised(self, held, reader, source):
            if int(np.sum(held[1])) > 12:
                return real(self, held, reader, source)
            return real(replace(self), (held[0] * 0, held[1]), reader, source)

        return noised

    around(monkeypatch, job.Plain, "noised", wrapper)


@planted("a refusal by how many records there are")
def _(monkeypatch):
    from core.errors import RequestError

    def wrapper(real):
        def noised(self, held, reader, source):
            if int(np.sum(held[1])) > 12:
                raise RequestError("There are too many records for this table, as its cells would be crowded.")
            return real(self, held, reader, source)

        return noised

    around(monkeypatch, job.Plain, "noised", wrapper)


@planted("every record counted three times", on="distances")
def _(monkeypatch):
    def wrapper(real):
        def add(self, table, points):
            for _ in range(3):
                real(self, table, points)

        return add

    around(monkeypatch, Distance, "add", wrapper)


@planted("all rows of a person", on="several rows")
def _(monkeypatch):
    from core.sources import queried

    def keep(batches, records):
        for batch in batches:
            yield batch.select(range(batch.num_columns - 1))

    monkeypatch.setattr(queried, "keep_at_most", keep)


@planted("the sensitivity of the other relation", on="replaced")
def _(monkeypatch):
    from core.privacy.budget import Neighbours

    real = Histogram.record_sensitivity

    def record_sensitivity(self, neighbours):
        return real(self, Neighbours.ADD_REMOVE)

    monkeypatch.setattr(Histogram, "record_sensitivity", record_sensitivity)


@planted("the unit's rows left out of the sensitivity", on="several rows")
def _(monkeypatch):
    from core.privacy.budget import Sensitivity

    monkeypatch.setattr(Sensitivity, "scaled", lambda self, records: self)


@planted("a name of the kept file by the exact table")
def _(monkeypatch):
    def wrapper(real):
        return lambda dataset, mark: real(f"{dataset} {EXACT['records']}", mark)

    def kept(real):
        def paid_for(exact, cost, spend):
            EXACT["records"] = 0
            return real(exact, cost, spend)

        return paid_for

    around(monkeypatch, release_store, "_name", wrapper)
    around(monkeypatch, job, "paid_for", kept)
    around(
        monkeypatch,
        job.Plain,
        "first",
        lambda real: lambda self, reader: EXACT.update(records=reader.source.rows_total()) or real(self, reader),
    )


@planted("a retry without a price where the noise is unlucky")
def _(monkeypatch):
    def wrapper(real):
        def noised(table, scale, source=None, out=None):
            exact = table.copy()
            noisy = real(table, scale, source, out)
            return real(exact, scale, source, out) if noisy.sum() != 2**62 else noisy

        return noised

    around(monkeypatch, seal, "add_noise", wrapper)


@planted("a sampler that draws hardly any noise")
def _(monkeypatch):
    from core.privacy.noise import noise

    real = noise._laplace
    monkeypatch.setattr(noise, "_laplace", lambda scale: real(scale / 1000))


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SOUND)
def test_sound_releases_pass(name):
    verdict = examine(SOUND[name](), draws(3, 5))
    assert verdict.passed, verdict.sentence


@pytest.mark.few(6)
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(name, monkeypatch):
    on, fault = PLANTED[name]
    fault(monkeypatch)
    trial = SOUND[on]()
    assert any(examine(trial, pairs).findings for pairs in (1, 5))  # most need one
