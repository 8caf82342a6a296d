"""A release after what was found out: one promise, one entry, and counts that were bought enter its estimates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from core import (
    Budget,
    Categorical,
    ChosenTables,
    Discovery,
    Domain,
    Ledger,
    Numeric,
    PrivacyUnit,
    Race,
    RequestError,
    Tables,
    discover,
    kernels,
    load,
    release,
    release_after,
)
from core.privacy.accounting import Reserve, admits
from core.privacy.budget import Neighbours
from core.privacy.composition import Gaussian, event_of, keeps_promise
from core.privacy.noise.randomness import SeededSource
from core.releases.found import SURELY
from core.releases.seal import showing
from core.releases.stages import Known
from core.sources import open_source
from tests.releases.conftest import PROMISE
from tests.releases_for_tests import manifest_in, with_manifest


@pytest.mark.thorough
def test_a_first_look_settles_the_share_of_a_release_for_the_same_price(tmp_path):
    """A tenth was taken of any table: of 2,000 records a tenth of all values and more became "other"."""
    random, books = np.random.default_rng(3), Ledger(str(tmp_path / "ledger.sqlite"))

    def shares(size: int, records: int, time: int = 0) -> float:
        ranks = 1.0 / np.arange(1, size + 1)
        table = pd.DataFrame(
            {name * 3: random.choice(size, records, p=ranks / ranks.sum()).astype(str) for name in "abcdef"}
        )
        table = ("value " + table).astype("string")
        asked, name = Discovery.of_source(open_source(table), PROMISE), f"{size} of {records}, {time}"
        made = release_after(
            asked, lambda domain: Tables.of(domain, tables="singles"), table, ledger=books, dataset=name
        )
        (entry,) = books.status(name).releases
        gaussian = [event.rho for event in entry.cost.events if isinstance(event, Gaussian)]
        assert sum(gaussian) == asked.reserve.first_rho + asked.reserve.rest.rho, "the price is fixed beforehand"
        assert made.privacy.rho <= sum(gaussian), "and covers all that was drawn"
        share = made.finding.price.split(" of ")[1]
        settled, (noise,) = replace(asked, share=share), made.privacy.noise
        own = event_of(made.sketch.record_sensitivity(Neighbours.ADD_REMOVE), noise)
        assert settled.reserve.covers([own]), "what a larger share takes is missing in what follows"
        assert settled.votes_noise == asked.votes_noise
        return float(share)

    assert shares(30, 2_000) > 0.15
    # Noise makes it more one time in five: false alarms below 3e-6.
    assert 0.1 in (shares(2, 20_000, time) for time in range(8))
    table = pd.DataFrame({"aaa": ["x", "y"] * 2_000, "bbb": ["u", "v"] * 2_000}).astype("string")
    assert not Discovery.of_source(open_source(table), PROMISE, "0.1").open
    assert discover(table, PROMISE).share == "0.1", "what is bought by itself has a price that is fixed beforehand"


def test_what_comes_first_and_what_is_reserved_keep_the_whole_promise():
    for share in ("0.1", "0.5"):
        reserve = Reserve(PROMISE, Fraction(share))
        events = (*reserve.first_cost.events, reserve.rest)
        assert keeps_promise(events, PROMISE.epsilon, PROMISE.delta)
        assert not keeps_promise((*events, reserve.rest), PROMISE.epsilon, PROMISE.delta)
        assert admits([], reserve.first_cost, PROMISE.epsilon, PROMISE.delta)
        assert not admits([reserve.first_cost], reserve.first_cost, 100 * PROMISE.epsilon, 100 * PROMISE.delta)


@pytest.mark.thorough
def test_a_release_of_what_was_found_is_one_entry_and_says_so_in_its_file(people, tmp_path):
    ledger, asked = Ledger(str(tmp_path / "ledger.sqlite")), Discovery.of_source(open_source(people), PROMISE)
    made = release_after(asked, Tables.of, people, ledger=ledger, dataset="people")
    (entry,) = ledger.status("people").releases
    assert (
        (entry.cost.epsilon, entry.cost.delta)
        == (PROMISE.epsilon, PROMISE.delta)
        == (made.privacy.epsilon, made.privacy.delta)
    )
    made.save(tmp_path / "made.npz")
    again = load(tmp_path / "made.npz")
    assert again == made and again.finding.columns == made.finding.columns and "of ε = 1" in again.finding.sentence
    (count,) = again.count(town="Bern").to_dict("records")
    assert abs(count["estimate"] - (people["town"] == "Bern").sum()) < 6 * count["standard_error"]


def test_counts_that_were_bought_enter_the_estimates_by_precision(people, tmp_path):
    asked = Discovery.of_source(open_source(people[["town", "sex"]]), PROMISE, "0.5")
    made = release_after(asked, Tables.of, people[["town", "sex"]])
    made.save(tmp_path / "made.npz")
    assert load(tmp_path / "made.npz").finding.sure == made.finding.sure
    assert set(made.finding.sure["town"]) == {"Bern", "Basel", "Chur", "Thun"}
    alone = replace(made, finding=None)
    ours, theirs = (one.table("town").set_index("town") for one in (made, alone))
    count, own = made.finding.values["town"], theirs["estimate"]
    weight = made._reading().noise.found_weight(0)
    assert 0.05 < weight < 0.95
    apart = sum((count[one] - own[one]) * side for one, side in (("Bern", 1), ("Basel", -1)))
    moved = sum((ours["estimate"] - own)[one] * side for one, side in (("Bern", 1), ("Basel", -1)))
    assert moved == pytest.approx(weight * apart, rel=1e-9)
    assert (ours["standard_error"] < theirs["standard_error"])["Bern"] and made.records_error < alone.records_error
    assert ours["estimate"]["other"] - made.records / 5 == pytest.approx(own["other"] - alone.records / 5, abs=1e-6)


def test_counts_enter_only_what_counts_the_same_records(people):
    asked = Discovery.of_source(open_source(people[["town", "sex"]]), PROMISE, "0.5")
    made = release_after(asked, Tables.of, people[["town", "sex"]])
    domain, finding = made.domain, made.finding
    of_some = [
        replace(domain, unit=PrivacyUnit("id", 3)),
        replace(domain, outside="drop"),
        Domain((Numeric("age", 0, 99), *domain.columns)),
    ]
    records, error = made.records, made.records_error
    assert finding.is_of(domain, records, error)
    assert not any(finding.is_of(one, records, error) for one in of_some)
    assert not finding.is_of(domain, records + 6 * finding.records_error, error)
    assert not finding.of_some.is_of(domain, records, error)
    merged = Categorical("town", ("Bern", "other"), (("Basel",), ()), unknown_category="other")
    assert "town" not in finding.counts_in(Domain((merged, domain.columns[1])))


def test_counts_of_a_table_that_changed_since_are_left_out(people):
    asked = Discovery.of_source(open_source(people[["town", "sex"]]), PROMISE, "0.5")
    made = release_after(asked, Tables.of, people[["town", "sex"]])
    counts = {"town": made.finding.values["town"] | {"Bern": 9_000.0, "Basel": 7_000.0}}
    plain = replace(made, finding=None)._reading()
    assert not plain.beside(counts, made.finding.sure_error).noise.found


def test_counts_near_the_threshold_neither_move_estimates_nor_shorten_intervals():
    """A value just frequent enough is found where noise is high: 2,000 draws, each off once in 15,000."""
    random, threshold, error, own = np.random.default_rng(4), 400.0, 60.0, 60.0
    for truth in (300.0, 400.0, 500.0, 580.0, 700.0):
        found, table = random.normal(truth, error, (2, 40_000))[0], random.normal(truth, own, 40_000)
        found, table = found[found > threshold][:2_000], table[:2_000]
        table = table[: len(found)]
        weight = np.where(found > threshold + SURELY * error, own**2 / (own**2 + error**2), 0.0)
        off = table + weight * (found - table) - truth
        spread = own * np.sqrt(1 - weight)
        assert abs(off.mean()) < 0.21 * own + 4 * own / np.sqrt(len(off))
        assert 0.93 < (np.abs(off) < 1.96 * spread).mean() < 0.97


@pytest.mark.parametrize("mechanism", ["singles", "pairs"])
def test_a_release_after_what_was_found_by_itself_has_the_noise_that_its_ledger_admits(people, tmp_path, mechanism):
    """Pure noise were less here, and the ledger refused what the command line had said could be spent."""
    ledger, lists = Ledger(str(tmp_path / "ledger.sqlite")), people[["town", "sex"]]
    found = discover(lists, PROMISE, ledger=ledger, dataset="people")
    made = release(Tables.of(found.domain, tables=mechanism), lists, found.left, ledger=ledger, dataset="people")
    assert {scale.distribution for scale in made.privacy.noise} == {"discrete_gaussian"}
    assert len(ledger.status("people").releases) == 2


def test_a_file_of_what_was_found_within_a_promise_settled_before_opens_again(people, tmp_path):
    """It said of who is in all parts what the purchases add up to, which is more than the promise, and was refused."""
    ledger, lists = Ledger(str(tmp_path / "ledger.sqlite")), people.loc[:2000, ["town", "sex"]]
    found = discover(lists, PROMISE, ledger=ledger, dataset="people")
    made = release(Tables.of(found.domain), lists, found.left, ledger=ledger, dataset="people")
    paid, own = (one.cost for one in ledger.status("people").releases)
    kept = showing(made, Known.having_paid(found.left, [paid], 1.0, PROMISE, found), own).to_bytes()
    again = load(kept).privacy
    assert (again.epsilon, again.delta) == (again.overlap_epsilon, again.overlap_delta) == (1, PROMISE.delta)
    manifest = manifest_in(kept)
    manifest["privacy"] |= {"overlap_epsilon": str(paid.epsilon + own.epsilon), "overlap_delta": "0.0000015"}
    assert load(with_manifest(kept, manifest)).privacy == again, "as such files were written once"


def test_what_follows_has_gaussian_noise_alone_even_where_pure_noise_were_less(people):
    one = people[["town"]]
    asked = Discovery.of_source(open_source(one), PROMISE)
    made = release_after(asked, lambda domain: Tables.of(domain, tables="singles"), one)
    assert {scale.distribution for scale in made.privacy.noise} == {"discrete_gaussian"}


def test_a_mechanism_that_chooses_is_refused_before_anything_is_spent(people, tmp_path):
    lists = people[["town", "sex", "member"]]
    ledger, asked = Ledger(str(tmp_path / "ledger.sqlite")), Discovery.of_source(open_source(lists), PROMISE)
    with pytest.raises(RequestError, match="cannot follow what is found"):
        release_after(asked, lambda domain: ChosenTables(domain, (), (), 1), lists, ledger=ledger, dataset="people")
    assert ledger.names() == []


def _declared_and_discovered(path, reading):
    domain = Domain.of(age=(0, 100), pay=(0, 100))
    yield release(Race(domain, kernels.Euclidean(20), rows=20, width=20), path, Budget(1), **reading).records
    yield discover(path, Budget(1), **reading).records.count
    made = release_after(Discovery.of_source(open_source(path, **reading), Budget(1)), Tables.of, path, **reading)
    yield made.records


@pytest.mark.thorough
def test_python_takes_how_a_file_is_read_as_the_command_line_does(tmp_path):
    path, random = tmp_path / "people.csv", np.random.default_rng(0)
    rows = "".join(f"{a}|{p}\n" for a, p in random.integers(0, 100, (4_000, 2)))
    path.write_text(f"Report of May\n\nAlter|Löhne\n{rows}", encoding="utf-16-le")
    reading = {"encoding": "utf-16-le", "sep": "|", "header": 3, "names": ["age", "pay"]}
    assert all(abs(found - 4_000) < 1_500 for found in _declared_and_discovered(path, reading))
    for how in ({"header": 3}, {"sep": ";"}, {"encoding": "ascii"}):
        with pytest.raises(RequestError):
            release(Race(Domain.of(age=(0, 100)), kernels.Euclidean(20), rows=20, width=20), path, Budget(1), **how)


@pytest.mark.few(1)
@pytest.mark.parametrize("promise", [Budget(1), PROMISE], ids=["pure", "slack"])
def test_nothing_is_released_of_columns_that_were_supposed_for_prices(tmp_path, promise):
    """Where noise hid all of a table, its release had made-up categories, "a" and "other", for the whole promise."""
    table = pd.DataFrame({name: [f"{name} {place}" for place in range(300)] for name in ("kind", "town", "note")})
    table.to_csv(tmp_path / "table.csv", index=False)
    ledger, asked = (
        Ledger(str(tmp_path / "ledger.sqlite")),
        Discovery.of_source(open_source(tmp_path / "table.csv"), promise),
    )
    with pytest.raises(RequestError, match=r"Nothing was found that a table could be made of.*was spent"):
        release_after(
            asked, Tables.of, tmp_path / "table.csv", ledger=ledger, dataset="table", noise_source=SeededSource(3)
        )
    assert len(ledger.status("table").releases) == 1
