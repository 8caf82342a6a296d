"""A release that finds its distance: two entries that are the promise, and nothing spent where it cannot be made."""

from decimal import Decimal

import numpy as np
import pytest

from core import Budget, Domain, RequestError
from core.forecast.nearness import kernel_apart
from core.geometry.kernels import Euclidean
from core.privacy.ledger.ledger import Ledger
from core.releases.apart import ApartFirst, ApartJob
from core.releases.payment import Payer
from core.releases.plain import Plain
from core.releases.spread import offered
from core.sketches.hashed.race import Race
from core.sources import open_source

BOX = Domain.of(**{f"x{place}": (0, 10) for place in range(4)})
PROMISE = Budget(1)


def made(spread):
    return Race(BOX, Euclidean(kernel_apart(BOX, spread).bandwidth), rows=32, width=50, seed=1)


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.sqlite")


def job(ledger, settle=made, total=None):
    points = np.clip(np.random.default_rng(0).normal(5, 0.6, (3000, 4)), 0, 10)
    source = open_source({name: points[:, place] for place, name in enumerate(BOX.names)})
    first = ApartFirst(BOX, offered(BOX, PROMISE, 3000), settle)
    payer = Payer(ledger, "people", PROMISE, "record", total)
    return ApartJob(first, Plain(made(1 / 6), first.offered.left), source, payer)


def test_it_is_two_entries_and_a_file_that_promises_both(ledger):
    one = job(ledger, total=Budget(2))
    assert list(one)[-1] == 3000 and ledger.names() == []
    release = one.finish()
    spread, rest = ledger.status("people").releases
    assert spread.note["mechanism"] == "spread" and rest.note["mechanism"] == "race"
    assert (
        spread.cost.epsilon + rest.cost.epsilon == Decimal(1) == release.privacy.epsilon and spread.cost.epsilon < 0.06
    )
    assert ledger.status("people").left == 1 and one.kept is not None
    narrow, supposed = release.sketch.kernel.bandwidth, made(1 / 6).kernel.bandwidth
    assert narrow < 0.75 * supposed  # records lie nearer than ordinary ones: the noise is a fifth of that
    with pytest.raises(RuntimeError):
        one.finish()
    assert len(ledger.status("people").releases) == 2


def test_where_the_ledger_has_no_room_for_both_nothing_is_read_or_spent(ledger):
    ledger.register("people", Decimal("0.99"), 0)
    with pytest.raises(RequestError):
        next(iter(job(ledger)))
    assert ledger.status("people").releases == ()


def test_half_a_reading_is_never_paid_for(ledger):
    one = job(ledger)
    with pytest.raises(RuntimeError):
        one.finish()
    assert ledger.names() == []


def test_what_was_spent_is_said_where_the_release_fails_after_it(ledger):
    def fails(spread):
        raise RequestError("This cannot be made.")

    one = job(ledger, fails, Budget(2))
    list(one)
    with pytest.raises(RequestError, match=r"ε = 0\.0.* was spent on how far"):
        one.finish()
    status = ledger.status("people")
    assert len(status.releases) == 1 and status.left == 2 - status.releases[0].cost.epsilon
