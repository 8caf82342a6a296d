"""What is kept beside a ledger for topping up: the noise of one release, paid once, whatever happens in between."""

import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from core import Ledger, release, top_up
from core.domain import Domain
from core.errors import BudgetError, RequestError
from core.geometry import kernels
from core.privacy.budget import Budget
from core.privacy.choosing.private_bounds import Grid
from core.privacy.ledger.ledger_records import FOLLOWS
from core.releases import going_on
from core.releases.bounds_and_centre import BoundsPurchase
from core.releases.going_on import kept_for
from core.releases.payment import LedgerAccount
from core.releases.release import load
from core.releases.topping_up import ToppingUp, averaged
from core.sketches.histogram import Histogram
from core.sketches.part import Part
from core.sketches.plan import planned_for
from core.sketches.race import Race
from core.sources import open_source
from tests.depth import draws

DOMAIN = Domain.of(x=(0, 8))
RACE = Race(DOMAIN, kernels.Euclidean(bandwidth=2), rows=draws(60, 600), width=8, seed=1)
RECORDS = {"x": np.repeat(np.arange(8) + 0.5, 50)}


@pytest.fixture
def book(tmp_path):
    made = Ledger(str(tmp_path / "ledger.sqlite"))
    made.register("people", 1)
    return made


def first(book, epsilon="0.5", sketch=RACE, **more):
    return release(sketch, RECORDS, Budget(epsilon), ledger=book, dataset="people", **more)


def further(book, made, epsilon, records=None):
    return top_up(made, records, epsilon, ledger=book, dataset="people")


def kept_files(book):
    return sorted(Path(f"{book.where}.releases").glob("*.finer"))


@pytest.mark.parametrize("part", ["0.1", "0.5", "0.9"])
def test_a_pure_release_topped_up_that_is_worse_than_one_made_at_once(book, part):
    made = first(book, part)
    wanted = ToppingUp(made, 1 - Decimal(part), kept_for(made, book, "people"))
    _, then, once = wanted.errors
    assert then == once == math.sqrt(planned_for(RACE, Budget(1)).noises[0].variance)
    both = further(book, made, 1 - Decimal(part))
    assert both.privacy.budget == Budget(1) and both.privacy.noise == planned_for(RACE, Budget(1)).noises
    exact = RACE.zeros()
    RACE.add(exact, DOMAIN.encode_queries(RECORDS, RACE.metric))
    noise = (np.asarray(both.counters) - exact).reshape(-1)
    assert 0.4 < np.mean(noise**2) / both.privacy.counter_variance < 2.1  # 480 counters: beyond in 1e-9 of runs


def test_topping_up_that_reads_records_which_have_changed_or_are_gone(book, tmp_path):
    both = further(book, first(book), "0.5", tmp_path / "nowhere.csv")
    assert both.privacy.epsilon == 1


def test_stages_that_add_up_to_more_than_was_paid(book):
    made = first(book, "0.2")
    for _ in range(4):
        made = further(book, made, "0.2")
    costs = [entry.cost for entry in book.entries("people")]
    assert sum(cost.epsilon for cost in costs) == sum(cost.pure_epsilon for cost in costs) == 1
    assert len(made.combined.releases) == 5 and len(made.combined.parts) == 4
    with pytest.raises(BudgetError):
        further(book, made, "0.1", RECORDS)


def test_what_was_kept_that_is_shown_twice(book):
    made = first(book, "0.2")
    kept = kept_for(made, book, "people")
    further(book, made, "0.3")
    assert kept_for(made, book, "people") is None
    planned = planned_for(RACE, Budget("0.5"))
    payer = LedgerAccount(book, "people", Budget("0.3"), "record")
    with pytest.raises(RequestError, match="topped up already"):
        kept.pay_and_show(made, planned, Decimal("0.3"), payer)
    assert len(book.entries("people")) == 2
    assert further(book, made, "0.2", RECORDS).combined.way == "average"  # which composes with anything


def test_what_was_kept_that_is_shown_as_of_another_sketch(book):
    """Its price would be that of a sketch which one person moves less: of the same numbers, as a stranger says."""
    made = first(book, "0.2")
    other = replace(made, sketch=made.sketch.within(Domain.of(x=(0, 9))))
    assert kept_for(other, book, "people") is None
    promised = replace(made, privacy=replace(made.privacy, rho=2 * made.privacy.rho))
    assert kept_for(promised, book, "people") is None and kept_for(made, book, "people") is not None


def test_a_crash_after_the_price_that_lets_it_be_drawn_twice(book, monkeypatch):
    made = first(book, "0.2")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(going_on, "less_noise", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        further(book, made, "0.3")
    assert len(book.entries("people")) == 2 and kept_for(made, book, "people") is None
    assert further(book, made, "0.3", RECORDS).combined.way == "average"


def test_a_file_beside_the_ledger_that_others_may_read_or_that_has_exact_sums(book):
    made = first(book)
    (path,) = kept_files(book)
    assert path.stat().st_mode & 0o077 == 0
    kept = kept_for(made, book, "people")
    exact = RACE.zeros()
    RACE.add(exact, DOMAIN.encode_queries(RECORDS, RACE.metric))
    for table in (kept.tables[0].table, kept.tables[0].table + kept.tables[0].above):
        noise = (table - exact).reshape(-1)
        assert np.mean(noise**2) > planned_for(RACE, Budget(1)).noises[0].variance / 3


@pytest.mark.parametrize("content", [b"", b"PK", None])
def test_a_damaged_file_is_no_reason_not_to_top_up(book, content):
    made = first(book)
    (path,) = kept_files(book)
    path.unlink() if content is None else path.write_bytes(content)
    assert further(book, made, "0.5", RECORDS).combined.way == "average"


def test_nothing_is_kept_where_nothing_is_left_or_a_delta_counts_in_the_ledger(book, tmp_path):
    first(book, "1")
    assert not kept_files(book)
    other = Ledger(str(tmp_path / "other.sqlite"))
    other.register("people", 1, "1e-6")
    release(RACE, RECORDS, Budget("0.5"), ledger=other, dataset="people")
    assert not kept_files(other)


def test_nothing_is_kept_for_a_table_that_one_entry_paid_for_with_the_bounds_before_it(book):
    """Its total is as if the table alone had been bought, and the entry says nothing of a file beside it."""
    bounds = BoundsPurchase({DOMAIN.names[0]: Grid(-100.0, 100.0)})
    made = release(RACE, RECORDS, Budget("0.5"), bounds=bounds, ledger=book, dataset="people")
    assert made.private and not kept_files(book)


@pytest.mark.thorough
def test_several_tables_and_a_count_each_keep_their_own_noise(book, tmp_path):
    members = [Part(RACE, "dense"), Part(Histogram(DOMAIN, kernels.Gaussian(bandwidth=2), cells=(8,)), "counts")]
    made = first(book, "0.3", members, records=400)
    both = further(book, made, "0.7")
    at_once = planned_for(made.sketch, Budget(1))
    assert both.privacy.noise == at_once.noises and both.combined.way == "less_noise"
    both.save(tmp_path / "both.npz")
    assert load(tmp_path / "both.npz") == both
    assert both.part("counts").records == pytest.approx(400, abs=60)


def test_an_average_with_a_release_that_it_was_made_of(book):
    """Noise of the one is in the other, so weights and the error that is said would both be wrong."""
    made = first(book, "0.2")
    less = further(book, made, "0.3")
    with pytest.raises(RequestError, match="or a part of it"):
        averaged(made, less)
    average = averaged(less, release(RACE, RECORDS, Budget("0.2")))
    for part in (made, less):
        with pytest.raises(RequestError, match="or a part of it"):
            averaged(average, part)
    other = averaged(less, release(RACE, RECORDS, Budget("0.2")))
    with pytest.raises(RequestError, match="or a part of it"):
        averaged(average, other)


def test_a_release_that_is_taken_off_the_shelf_leaves_what_was_kept_for_it(book):
    first(book)
    shelf = going_on.shelf_of(book)
    shelf.remove(shelf.entries()[0].name)
    assert not kept_files(book)


def test_the_ledger_says_what_followed_from_what(book):
    made = first(book)
    (path,) = kept_files(book)
    further(book, made, "0.5")
    assert book.entries("people")[1].note[FOLLOWS] == path.stem


def test_who_reads_the_records_only_where_both_are_averaged(book):
    made = first(book)
    source = open_source(RECORDS)
    wanted = ToppingUp(made, Decimal("0.5"))
    assert wanted.made(lambda: source, None).combined.way == "average"
