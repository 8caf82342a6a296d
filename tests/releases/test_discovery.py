"""What nobody has said of a table is found out under the promise, for a stated share of it."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import (
    Budget,
    Categorical,
    ChosenTables,
    Declaration,
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
from core.domain import Dates
from core.domain.column_entries import on_earth, within_reason
from core.domain.formats import format_of
from core.privacy.accounting import Reserve, admits
from core.privacy.budget import EACH_RECORD, Neighbours
from core.privacy.choosing.partition_selection import plan_values
from core.privacy.composition import Gaussian, event_of, keeps_promise, pure_sum
from core.privacy.noise.randomness import SeededSource
from core.releases import discovery_stage
from core.releases.discovery import bought_alone, by_forecast, expected_loss, format_words, loss_words
from core.releases.discovery_reading import COARSE, COARSELY, Scale, Second, Third, Votes
from core.releases.found import SURELY, Finding, Measured, found_category
from core.releases.found_ends import Seen, all_ends
from core.releases.found_ranges import _is_amount, _sensibly, found_ranges, heaps_of, rounded_outward, step_of
from core.releases.seal import showing
from core.releases.stages import Known
from core.sources import open_source
from tests.releases_for_tests import manifest_in, with_manifest

PROMISE = Budget(1, "1e-6")
PEOPLE = 20_000


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """A table as people have it: every value as text, one value that a single person has."""
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2019-03-01") + pd.to_timedelta(rng.integers(0, 1800, PEOPLE), unit="D")
    table = pd.DataFrame(
        {
            "town": rng.choice(["Bern", "Basel", "Chur", "Thun"], PEOPLE, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m", "n/a"], PEOPLE, p=[0.5, 0.4, 0.1]),
            "age": np.clip(rng.normal(45, 15, PEOPLE), 18, 90).astype(int).astype(str),
            "paid": [f"{value:.2f}".replace(".", ",") for value in rng.gamma(2, 20, PEOPLE)],
            "joined": days.strftime("%d.%m.%Y"),
            "member": rng.choice(["yes", "no"], PEOPLE),
            "mail": [f"person{place}@x.org" for place in range(PEOPLE)],
        }
    )
    table.loc[0, "town"] = "Soglio"
    return table


@pytest.fixture(scope="module")
def found(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("found") / "people.csv"
    people.to_csv(path, index=False, sep=";")
    return discover(path, PROMISE, noise_source=SeededSource(5))


@pytest.mark.thorough
def test_formats_values_and_ranges_of_a_text_file_are_found(found):
    town, age, paid, joined = (found[name].column for name in ("town", "age", "paid", "joined"))
    assert town.categories == ("Bern", "Basel", "Chur", "Thun", "other")
    assert found["sex"].column.missing_category == "missing"
    assert isinstance(age, Numeric) and age.low <= 20 and 70 <= age.high <= 130 and age.step == 1
    assert isinstance(paid, Numeric) and paid.step == 0.01 and paid.high >= 80
    assert isinstance(joined, Dates) and joined.first <= "2019-12-31" and "2023-01-01" <= joined.last < "2026"
    assert found["member"].column.categories[:2] == ("no", "yes")
    assert found["mail"].column is None and "one person" in found["mail"].why
    assert abs(found.records.count - PEOPLE) < 6 * found.records.error


def test_a_value_that_one_person_alone_has_is_not_found(found):
    assert "Soglio" not in found["town"].column.categories


def test_what_was_found_is_a_declaration_like_any_other(found):
    again = Declaration.of(found.text())
    assert again.domain == found.domain
    assert "# found" in found.text() and found.price in found.text()


def test_what_a_file_keeps_of_it_reads_back(found):
    assert Finding.from_dict(found.kept.to_dict()) == found.kept


@pytest.mark.thorough
def test_nothing_is_bought_of_columns_that_were_said(people):
    said = Declaration(Domain((Categorical("town", ("Bern", "Basel")), Categorical("sex", ("f", "m")))))
    asked = Discovery.of_source(open_source(people), PROMISE, said=said)
    assert "town" not in asked.votes.names and "sex" not in asked.votes.names
    assert discover(people, PROMISE, said=said)["town"].said


def test_the_share_follows_from_how_many_records_are_said_to_be_there_and_stays_where_it_is_said():
    names = tuple(f"c{place}" for place in range(10))
    asked = Discovery(names, names, (), (), (), (), PROMISE)
    shares = [float(by_forecast(asked, None, many).share) for many in (2_000, 10_000, 1e6)]
    assert shares[0] >= shares[1] >= 0.15 and shares[2] == 0.05
    assert by_forecast(asked, "0.1", 2_000) is asked is by_forecast(asked, None, None)
    pure = replace(asked, numbers=names, texts=(), budget=Budget(1))
    assert by_forecast(pure, None, 2_000) is pure  # no values are found, so nothing is weighed


def test_a_first_look_settles_the_share_of_a_release_for_the_same_price(tmp_path):
    """A tenth was taken of any table: of 2,000 records a tenth of all values and more became "other"."""
    random, books = np.random.default_rng(3), Ledger(str(tmp_path / "ledger.sqlite"))

    def shares(size: int, records: int) -> float:
        ranks = 1.0 / np.arange(1, size + 1)
        table = pd.DataFrame(
            {name * 3: random.choice(size, records, p=ranks / ranks.sum()).astype(str) for name in "abcdef"}
        )
        table = ("value " + table).astype("string")
        asked, name = Discovery.of_source(open_source(table), PROMISE), f"{size} of {records}"
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

    assert shares(30, 2_000) > 0.15 and shares(2, 20_000) == 0.1
    table = pd.DataFrame({"aaa": ["x", "y"] * 2_000, "bbb": ["u", "v"] * 2_000}).astype("string")
    assert not Discovery.of_source(open_source(table), PROMISE, "0.1").open
    assert discover(table, PROMISE).share == "0.1", "what is bought by itself has a price that is fixed beforehand"


@pytest.mark.parametrize("neighbours", Neighbours)
def test_looks_of_any_share_keep_within_what_is_reserved_for_them(neighbours):
    names = tuple("abcdefgh")
    unit = PrivacyUnit("id", 3)
    asked = Discovery(names, names, (), (), (), (), Budget(1, "1e-6", neighbours), unit=unit, open=True)
    looks, noise = asked.planned(6, 2)
    for share in discovery_stage.MORE:
        one, (first, second) = asked._with_share(share, looks, noise, 2)
        assert one.share == share and first == looks[0] and second.error < looks[1].error
        moved = asked.votes.sensitivity(neighbours)
        events = [event_of(moved, asked.votes_noise), *first.events, *second.events, event_of(asked.ranges(2), noise)]
        assert one.reserve.covers(events, first=True) and not asked.reserve.covers(events, first=True)
        assert one.reserve.first_rho + one.reserve.rest.rho == pytest.approx(float(asked.reserve.mu**2 / 2), rel=1e-12)


def test_groups_of_f_and_m_are_no_yes_or_no_and_words_for_nothing_are_missing_values():
    """Of "f" and "m", "f" was taken for no and all others for missing; "?" was "other", and "missing" was empty."""
    random = np.random.default_rng(2)
    people = pd.DataFrame({"group": random.choice(["f", "m", "?"], 20_000, p=[0.6, 0.3, 0.1])}).astype("string")
    asked = Discovery.of_source(open_source(people), PROMISE)
    made = release_after(asked, lambda domain: Tables.of(domain, tables="singles"), people)
    (column,) = made.sketch.domain.columns
    assert column.categories == ("f", "m", "other", "missing") and column.missing == ("?",)
    shares = made.table("group")["estimate"].to_numpy() / 20_000
    assert np.allclose(shares, [0.6, 0.3, 0.0, 0.1], atol=0.02)


def test_values_of_categories_need_a_delta_and_numbers_do_not():
    people = pd.DataFrame({"town": ["Bern"] * 4_000, "age": [20, 30, 40, 50] * 1_000})
    with pytest.raises(RequestError, match="delta, such as 1e-6, or type the values"):
        discover(people, Budget(1))
    said = Declaration(Domain((Categorical("town", ("Bern", "Basel")),)))
    assert discover(people, Budget(10), said=said)["age"].column.step in (1, 10)


def test_the_price_is_written_before_noise_and_a_refusal_costs_nothing(people, tmp_path):
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    bought = discover(people, PROMISE, ledger=ledger, dataset="people")
    (entry,) = ledger.status("people").releases
    assert entry.cost == bought.cost
    with pytest.raises(RequestError):
        discover(people, PROMISE, "0.9", ledger=ledger, dataset="people")
    assert len(ledger.status("people").releases) == 1


def test_what_noise_will_hide_is_said_before_anything_is_spent_with_what_would_do(people):
    """Of eighty questions nearly all was left out, and nothing said so before a tenth was gone."""
    asked = Discovery.of_source(open_source(people), PROMISE)
    assert loss_words(asked, 20_000) == "" and "With fewer than about" in loss_words(asked, None)
    words = loss_words(asked, 500)
    assert "With about 500 records" in words and "With ε = " in words and "type values" in words
    assert "so few are too few" in loss_words(asked, 20)
    pure = replace(asked, budget=Budget(1), unit=PrivacyUnit("id", 3))
    assert "no values are found" in loss_words(pure, None)
    assert "next to nothing is found without a δ" in format_words(pure, 2_000) and format_words(pure, 1e6) == ""
    larger = Discovery.of_source(open_source(people), PROMISE, "0.4")
    assert larger.found_from() < asked.found_from() and expected_loss(larger, 1_000) < expected_loss(asked, 1_000)


def test_questions_alike_are_expected_to_lose_less_than_columns_apart():
    alike, apart = ([f"F{place}" for place in range(40)], [f"F{place} of it" for place in range(40)])
    lost = [expected_loss(Discovery((*names,), (*names,), (), (), (), (), PROMISE), 1_500) for names in (alike, apart)]
    assert lost[0] < 0.1 < 0.5 < lost[1]


def test_a_running_number_is_left_out_by_its_name_and_costs_nothing():
    """ "Lp." had been found as a number from 0 to 13,000, for a share of what finds all others."""
    random = np.random.default_rng(2)
    table = pd.DataFrame({"Lp.": range(6_000), "lfd. Nr.": range(6_000), "age": random.integers(18, 90, 6_000)})
    asked = Discovery.of_source(open_source(table), PROMISE)
    assert asked.votes.names == ("age",)
    found = discover(table, PROMISE, noise_source=SeededSource(2))
    assert found["Lp."].column is None and "numbers the rows" in found["lfd. Nr."].why
    said = Declaration(Domain((Numeric("Lp.", 0, 6_000),)))
    assert discover(table, PROMISE, said=said, noise_source=SeededSource(2))["Lp."].column is not None


def test_how_many_may_lie_beyond_a_found_range_is_said():
    """Fees ended at 64 where one in eight was higher, and nobody said how many may."""
    random = np.random.default_rng(1)
    table = pd.DataFrame({"fee": np.round(random.lognormal(3, 1, 2_000), 2), "age": random.integers(0, 90, 2_000)})
    for seed in range(6):
        found = discover(table, PROMISE, noise_source=SeededSource(seed))
        fee = found["fee"]
        if fee.column is None:
            continue
        beyond = ((table["fee"] < fee.column.low) | (table["fee"] > fee.column.high)).sum()
        assert abs(fee.beyond.count - beyond) <= 4 * fee.beyond.error
        if fee.beyond.count + 2 * fee.beyond.error > 0.1 * found.records.count:
            assert "'fee'" in found.beyond and "may lie beyond" in found.beyond


def test_persons_with_several_rows_are_hidden_with_all_of_them(people):
    unit = PrivacyUnit("id", 3)
    owned = people.assign(id=np.arange(PEOPLE) // 3)
    one, three = (Discovery.of_source(open_source(owned), PROMISE, unit=each) for each in (PrivacyUnit("id", 1), unit))
    assert three.votes_noise.parameter >= 8 * one.votes_noise.parameter
    assert "id" not in three.columns
    assert discover(owned, PROMISE, unit=unit)["town"].column.categories[:2] == ("Bern", "Basel")


@pytest.mark.parametrize("epsilon, share", [(10, "0.5"), (30, "0.1"), (50, "0.9")])
def test_so_little_noise_is_planned_for_whatever_the_votes_say(epsilon, share):
    """Where one column alone turned out to be of categories it was refused once it was paid for."""
    asked = Discovery.of_source(open_source(pd.DataFrame({"a": ["x"], "b": ["y"]})), Budget(epsilon, "1e-6"), share)
    for categories, scales in ((1, 0), (1, 1), (0, 1), (2, 0)):
        looks, noise = asked.planned(categories, scales)
        assert bool(looks) == bool(categories) and (noise is not None) == bool(scales)


def test_so_large_a_promise_that_no_noise_covers_it_is_refused_before_it_is_paid_for():
    with pytest.raises(RequestError, match="So large a promise"):
        Discovery.of_source(open_source(pd.DataFrame({"a": ["x"]})), Budget(100, "1e-6"))


def test_durations_and_times_of_day_are_refused_before_anything_is_paid(tmp_path):
    """Their types are known, and were refused in the second reading."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for kind in (pa.duration("s"), pa.time64("us")):
        table = pa.table({"lasted": pa.array([60] * 50, kind), "age": pa.array([30] * 50)})
        with pytest.raises(RequestError, match="declare it as what it holds"):
            discover(table, PROMISE, ledger=ledger, dataset="trips")
    assert ledger.names() == []


@pytest.mark.parametrize("number", [0.5, -0.5, 0.0, 0.1, 100.0, 1e300])
@pytest.mark.parametrize("name", ["x", "age"])
def test_a_column_that_says_one_number_of_everyone_is_found_with_a_range(name, number):
    """Between 0.5 and 0.6 there is less than a tenth in floating point, which was refused once it was paid for."""
    found = discover(pd.DataFrame({name: np.full(2_000, number)}), Budget(20), noise_source=SeededSource(0))[name]
    assert found.column is None or found.column.step <= found.column.high - found.column.low


@pytest.mark.parametrize("columns", [3, 20])
@pytest.mark.parametrize("relation", list(Neighbours), ids=str)
def test_no_record_moves_the_votes_further_than_declared_and_one_does_as_far(columns, relation):
    """One of numbers everywhere, in place of nobody or of one of words; among twenty columns a record counts twice."""
    names = tuple(f"c{place}" for place in range(columns))
    votes, tables = Votes(names, (), EACH_RECORD), []
    for text in ("12,5", "Bern"):
        tables.append(np.zeros(votes.shape, np.int64))
        votes.count(tables[-1], pa.record_batch({name: pa.array([text]) for name in names}))
    declared = votes.sensitivity(relation)
    there, instead = tables
    moved = there if relation is Neighbours.ADD_REMOVE else there - instead
    reached = int(np.abs(moved).sum()), int(np.square(moved).sum())
    assert reached[0] <= declared.l1 and reached[1] <= declared.l2_squared
    if relation is Neighbours.ADD_REMOVE:
        assert reached == (declared.l1, declared.l2_squared) and votes.weight == (2 if columns == 20 else 1)


@pytest.mark.parametrize("name", ["x", "year"])
def test_every_number_has_the_same_votes_wherever_it_lies(name):
    """Two for its coarse cell, and one for each of the others; infinite ones and such as are none have no vote."""
    numbers = [0.0, -0.0, 5e-324, -1e-9, 0.25, 1.0, -7.0, 99.5, 2.0**39, 2.0**40, -1e300, 1e308, *range(1840, 2070, 7)]
    scale = Scale(name, "number")
    for number in (*numbers, math.inf, -math.inf, math.nan):
        table = np.zeros(scale.shape, np.int64)
        scale.count(table, pa.array([number]))
        parts = table[: scale.coarse], table[scale.fine], table[scale.fine.stop :]
        assert [part[part != 0].tolist() for part in parts] == ([[2], [1], [1]] if math.isfinite(number) else [[]] * 3)


def test_a_text_that_a_dictionary_has_twice_is_counted_as_one():
    """Of two entries of an Arrow dictionary that are one text the later one's count stood for both: one record more
    took away all the others."""
    often = pa.DictionaryArray.from_arrays(pa.array([0] * 900 + [1], pa.int32()), pa.array(["Bern", "Bern"]))
    batch = pa.record_batch({"town": often, "born_in": often})
    second, third = Second((), ("town",)), Third([{"town": ()}, {"born_in": ()}])
    second.count(batch)
    third.count(batch)
    assert second.values == [{"Bern": 901}] and third.values[0] == {"Bern": 901 * 707}


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("relation", list(Neighbours), ids=str)
@pytest.mark.parametrize("columns", [1, 5])
def test_no_person_moves_the_counts_for_ranges_further_than_declared_and_one_does_as_far(columns, relation, records):
    """All records of one person have the same number everywhere; replaced, one of another power and another step."""
    scales, tables = tuple(Scale("year" if place == 1 else f"c{place}", "number") for place in range(columns)), []
    for number in (2003.0, -70_000.25):
        second = Second(scales, ())
        second.count(pa.record_batch({scale.name: pa.array([number] * records) for scale in scales}))
        tables.append(second.table)
    declared = Second.sensitivity(columns, relation, PrivacyUnit("id", records))
    there, instead = tables
    moved = there if relation is Neighbours.ADD_REMOVE else there - instead
    assert (int(np.abs(moved).sum()), int(np.square(moved).sum())) == (declared.l1, declared.l2_squared)


def test_a_count_enters_only_where_it_is_three_deviations_above_the_threshold():
    look = plan_values(1, Fraction(1, 50), Fraction(1, 10**6))
    ends = [math.ceil(look.threshold + part * look.error) for part in (0.1, SURELY - 0.1, SURELY + 0.1)]
    shown = {"rare": ends[0], "some": ends[1], "many": ends[2], "most": 50 * ends[2]}
    found = found_category("town", [shown], [look], Measured(60.0 * ends[2], 5.0), Measured(0.0, 5.0))
    assert found.sure == ("many", "most")


def test_what_comes_first_and_what_is_reserved_keep_the_whole_promise():
    for share in ("0.1", "0.5"):
        reserve = Reserve(PROMISE, Fraction(share))
        events = (*reserve.first_cost.events, reserve.rest)
        assert keeps_promise(events, PROMISE.epsilon, PROMISE.delta)
        assert not keeps_promise((*events, reserve.rest), PROMISE.epsilon, PROMISE.delta)
        assert admits([], reserve.first_cost, PROMISE.epsilon, PROMISE.delta)
        assert not admits([reserve.first_cost], reserve.first_cost, 100 * PROMISE.epsilon, 100 * PROMISE.delta)


@pytest.mark.parametrize("epsilon", ["1", "3", "5"])
def test_votes_all_looks_and_ranges_together_are_covered_by_what_is_reserved(people, epsilon):
    """Noise of few units, as for a large promise, loses more than its share: every look must be in the account."""
    stage = Discovery.of_source(open_source(people), Budget(epsilon, "1e-6"), "0.5")
    for categories in (0, 1, 2, 7):
        for scales in (0, 1, 7):
            looks, noise = stage.planned(categories, scales)
            assert len(looks) == min(categories, 2) and (noise is None) == (scales == 0)
            events = [event_of(stage.votes.sensitivity(Neighbours.ADD_REMOVE), stage.votes_noise)]
            events += [event for look in looks for event in look.events]
            events += [event_of(stage.ranges(scales), noise)] if noise else []
            assert stage.reserve.covers(events, first=True)


@pytest.mark.parametrize("delta", [0, "1e-4"])
def test_each_table_has_the_noise_that_is_priced_for_it(people, monkeypatch, delta):
    """Ranges with the noise of the votes were seen by no test where that noise was the longer one."""
    drawn, real = [], discovery_stage.add_noise
    monkeypatch.setattr(discovery_stage, "add_noise", lambda *given: drawn.append(given[1]) or real(*given))
    numbers = people[["age"]].iloc[:4000].astype(float).assign(half=0.5)
    asked = Discovery.of_source(open_source(numbers), Budget(20, delta), "0.5")
    bought_alone(asked, open_source(numbers), None, noise_source=SeededSource(3))
    assert drawn == [asked.votes_noise, asked.planned(0, 2)[1]] and drawn[0] != drawn[1]
    costs = asked.votes.sensitivity(asked.budget.neighbours), asked.ranges(2)
    if not delta:
        assert pure_sum(map(event_of, costs, drawn)) <= asked.epsilon == 10


def test_what_is_found_is_made_of_what_was_drawn_and_of_nothing_that_is_exact(people, monkeypatch):
    """Other people and the same draws: how many of them miss a value was told exactly by nothing that anybody saw."""
    outcomes = []

    def noted(real):
        return lambda *given: outcomes.append(real(*given)) or copy.deepcopy(outcomes[-1])

    for name in ("add_noise", "shown_values"):
        monkeypatch.setattr(discovery_stage, name, noted(getattr(discovery_stage, name)))
    some = people.iloc[:4000].astype("string")
    first = discover(some, Budget(20, "1e-4"), "0.5", noise_source=SeededSource(3))
    assert len(outcomes) == 4 and len(first["town"].values) > 1 and first["age"].column is not None
    for name in ("add_noise", "shown_values"):
        monkeypatch.setattr(discovery_stage, name, lambda *given: outcomes.pop(0))
    others = some.iloc[::3].assign(town="", age="7", sex="f").astype("string")
    assert discover(others, Budget(20, "1e-4"), "0.5", noise_source=SeededSource(9)) == first and not outcomes


@pytest.mark.thorough
def test_a_release_of_what_was_found_is_one_entry_and_says_so_in_its_file(people, tmp_path):
    ledger, asked = Ledger(str(tmp_path / "ledger.sqlite")), Discovery.of_source(open_source(people), PROMISE)
    made = release_after(asked, Tables.of, people, ledger=ledger, dataset="people")
    (entry,) = ledger.status("people").releases
    assert (
        (entry.cost.epsilon, entry.cost.delta)
        == (PROMISE.epsilon, PROMISE.delta)
        == (
            made.privacy.epsilon,
            made.privacy.delta,
        )
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


def votes_of(values, kind="number", name="x"):
    scale = Scale(name, kind)
    table = np.zeros(scale.shape, np.int64)
    scale.count(table, pa.array(values, pa.timestamp("s") if kind == "date" else pa.float64()))
    return scale, table


def ends_of(scale, votes, error):
    return all_ends([Seen(scale, votes, error, max(1.0, votes[: scale.coarse].sum() / COARSELY))])[0]


@pytest.mark.thorough
def test_answers_from_1_to_5_in_a_hundred_columns_are_found_as_whole_numbers():
    """Of 4,000 people's answers 42 columns of 100 had no range and were left out."""
    random, error = np.random.default_rng(3), 280.0
    answers = [votes_of(random.choice(5, 4_000, p=random.dirichlet(np.full(5, 3.0))) + 1) for _ in range(97)]
    seen = [
        Seen(scale, votes + np.rint(random.normal(0, error, votes.shape)), error, 4_000.0) for scale, votes in answers
    ]
    ends = [rounded_outward(*one, 1.0) for one in all_ends(seen)]
    assert sum(one == (1.0, 5.0) for one in ends) >= 80
    assert all(low <= 1.0 and high >= 5.0 for low, high in ends)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "answers", [(0, 1), (1, 2, 3, 4), (1, 2, 3, 5), (1, 2, 3, 4, 5, 6, 7), tuple(range(11))], ids=str
)
def test_answers_whose_ends_few_people_gave_have_the_range_of_the_other_questions(answers):
    """Of 97 such columns and 4,000 people 26 were cut: 1 to 3 or 2 to 5; and of 1 to 4 half had 5 and 6 as well."""
    random, error, read = np.random.default_rng(3), 200.0, []
    for place in range(24):
        shares = random.dirichlet(np.ones(len(answers)))
        scale, votes = votes_of(random.choice(answers, 4_000, p=shares), name=f"answer {place}")
        read.append((scale, votes + np.rint(random.normal(0, error, votes.shape)).astype(int)))
    missing = {scale.name: Measured(0.0, error) for scale, _ in read}
    found = [one.column for one in found_ranges(read, error, Measured(4_000, 75), missing)]
    assert sum((one.low, one.high, one.step) == (answers[0], answers[-1], 1.0) for one in found) >= 22


@pytest.mark.parametrize(
    "answers, rare",
    [(range(7), 0), *(pytest.param(*one, marks=pytest.mark.thorough) for one in ((range(1, 6), 1), (range(-3, 4), 3)))],
    ids=str,
)
def test_rare_answers_at_the_end_of_a_scale_are_told_by_all_questions_of_one_name(answers, rare):
    """Of 0 to 6 in sixty columns, where 2% say 0, 59 were found as 1 to 6, and whoever said 0 counted as 1."""
    random, error, read = np.random.default_rng(3), 250.0, []
    for place in range(60):
        shares = np.where(np.array(answers) == rare, 0.02, random.dirichlet(np.full(len(answers), 3.0)) + 0.03)
        scale, votes = votes_of(random.choice(answers, 3_500, p=shares / shares.sum()), name=f"item_{place}")
        read.append((scale, votes + np.rint(random.normal(0, error, votes.shape)).astype(int)))
    missing = {scale.name: Measured(0.0, error) for scale, _ in read}
    found = [one.column for one in found_ranges(read, error, Measured(3_500, 75), missing)]
    assert sum((one.low, one.high, one.step) == (answers[0], answers[-1], 1.0) for one in found) >= 58


@pytest.mark.parametrize("code, ends, words", [(99, (1, 5), ("97", "98", "99")), (9, (1, 9), ()), (-8, (-8, 5), ())])
def test_a_code_for_no_answer_in_questions_of_one_name_moves_nobody_to_the_end_of_the_scale(code, ends, words):
    """Of 1 to 5 and 99 for no answer, whoever gave none counted as 5 where noise hid 99, or all ended at 112."""
    random, error, read = np.random.default_rng(4), 60.0, []
    for place in range(12):
        scale, votes = votes_of(
            random.choice([1, 2, 3, 4, 5, code], 9_000, p=[0.2] * 4 + [0.17, 0.03]), name=f"q{place}"
        )
        read.append((scale, votes + np.rint(random.normal(0, error, votes.shape)).astype(int)))
    missing = {scale.name: Measured(0.0, error) for scale, _ in read}
    found = [one.column for one in found_ranges(read, error, Measured(9_000, 30), missing)]
    assert {(one.low, one.high) for one in found} == {ends}
    assert {one.reading.missing for one in found} == {words}


def test_a_word_that_is_found_in_one_question_is_an_answer_to_all_of_its_name():
    """Of eight questions answered "refused" by few, those had it whose noise said so, and elsewhere it was "other"."""
    random = np.random.default_rng(4)
    shares = {place: 0.2 if place == 3 else 0.004 for place in range(8)}
    table = {
        f"view {place}": random.choice(["yes", "maybe", "other", "refused"], 6_000, p=[0.5 - rare, 0.3, 0.2, rare])
        for place, rare in shares.items()
    }
    table |= {"view 8": random.choice(["Bern", "Basel"], 6_000), "town": random.choice(["Bern", "Thun"], 6_000)}
    found = discover(pd.DataFrame(table).astype("string"), PROMISE, noise_source=SeededSource(2))
    for place in range(8):
        column = found[f"view {place}"].column
        assert set(column.categories) == {"yes", "maybe", "other", "refused", "(other)"}
        assert column.unknown_category == "(other)"
    assert set(found["view 0"].values) == {"yes", "maybe", "other"}, "what was counted is not changed by it"
    assert [set(found[name].column.categories) for name in ("view 8", "town")] == [
        {"Bern", "Basel", "other"},
        {"Bern", "Thun", "other"},
    ]


def test_questions_of_one_name_in_a_text_file_are_found_too():
    """What was bought of a text file was lost, as how its numbers are written has no hash."""
    random, scales = np.random.default_rng(4), [Scale(f"D{k}", "number", format_of("decimal_comma")) for k in range(4)]
    read = [(scale, random.integers(-90, 90, scale.shape)) for scale in scales]
    for one, votes in read:
        one.count(votes, pa.array(random.choice(["1", "2", "3", "4", "5"], 3_000)))
    missing = {one.name: Measured(0.0, 60.0) for one, _ in read}
    assert all(
        (one.column.low, one.column.high) == (1, 5) for one in found_ranges(read, 60.0, Measured(3_000, 9), missing)
    )


def test_a_question_of_another_kind_keeps_its_range_where_votes_tell():
    """Ages and yes or no as 1 and 2 among answers from 1 to 5, under names that differ by a number alone."""
    random, error = np.random.default_rng(2), 100.0
    kinds = [*[(1, 2, 3, 4, 5)] * 8, tuple(range(18, 80)), (1, 2)]
    columns = [votes_of(random.choice(kind, 50_000), name=f"q_{place}a") for place, kind in enumerate(kinds)]
    read = [(scale, votes + np.rint(random.normal(0, error, votes.shape)).astype(int)) for scale, votes in columns]
    missing = {scale.name: Measured(0.0, error) for scale, _ in read}
    *usual, ages, yes = [one.column for one in found_ranges(read, error, Measured(50_000, 30), missing)]
    assert all((one.low, one.high) == (1, 5) for one in usual)
    assert ages.low <= 18 and ages.high >= 79 and (yes.low, yes.high) == (1, 2)


def test_more_noise_than_records_is_no_fault_after_it_was_paid_for():
    """Noise below 0 in all octaves put the median of a column far outside of them, and what was bought was lost."""
    scale, votes = votes_of([1.0])
    assert not _is_amount(Seen(scale, np.full_like(votes, -3), 5.0, 1.0), 0.0, 1_000.0, 1.0)


@pytest.mark.thorough
def test_a_thin_tail_does_not_end_a_range_where_noise_hides_its_cells():
    """Of days ill, 0 for most, the range was 0 to 1: each octave of the others was within noise."""
    random, error = np.random.default_rng(5), 130.0
    days = np.where(random.random(5_000) < 0.8, 0, random.geometric(0.15, 5_000))
    scale, votes = votes_of(days)
    for _ in range(20):
        low, high = ends_of(scale, votes + np.rint(random.normal(0, error, votes.shape)), error)
        assert low == 0.0 and (days < high).mean() > 0.9


def test_bounds_that_everyone_knows_end_a_found_range_in_the_same_unit():
    assert within_reason("age", 16.0, 130.0) == (16.0, 120.0)
    assert within_reason("age", 0.0, 1_100.0) == (0.0, 1_100.0)  # in months
    assert within_reason("year", 500.0, 4_100.0) == (1900.0, 2100.0)
    assert within_reason("Âge", 16.0, 130.0) == (16.0, 120.0)
    assert within_reason("age", -70.0, 70.0) == (0.0, 70.0)
    assert within_reason("Stunde", 8.0, 31.0) == (8.0, 24.0)
    assert within_reason("discovery_year", 1000.0, 2050.0) == (1900.0, 2050.0)
    assert within_reason("cost a year", 0.0, 4_100.0) == (0.0, 4_100.0)
    assert within_reason("height", 40.0, 90.0) == (40.0, 90.0)  # in inches
    assert within_reason("income", 0.0, 270_000.0) == (0.0, 270_000.0)
    assert within_reason("lat", 10.0, 130.0) == (10.0, 90.0)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "first, last, name, low, high",
    [
        (1952, 2007, "year", (1900, 1952), (2007, 2030)),
        (2011, 2014, "Jahr", (2009, 2011), (2014, 2016)),
        (1950, 2003, "rok urodzenia", (1940, 1950), (2003, 2012)),
        (1950, 2003, "Geburtsjahr", (1940, 1950), (2003, 2012)),
        (1700, 2007, "year", (1000, 1700), (2007, 2100)),
        (1, 12, "year", (0, 1), (12, 16)),
    ],
)
def test_years_that_are_numbers_are_found_to_five_of_them_and_not_to_a_century(first, last, name, low, high):
    """Four years of pay were said to lie between 1920 and 2050, so that all of them shared a cell or two; and noise hid
    where in their octave those from 1952 to 2007 lie, and "year" was said to go from 1000 to 2100."""
    scale, votes = votes_of(np.linspace(first, last, 1_700).round(), name=name)
    noisy = votes + np.rint(np.random.default_rng(1).normal(0, 60, votes.shape)).astype(int)
    (found,) = found_ranges([(scale, noisy)], 60.0, Measured(1_700, 30), {name: Measured(0, 9)})
    assert low[0] <= found.column.low <= low[1] and high[0] <= found.column.high <= high[1]


def test_no_more_records_are_said_to_pile_up_than_there_are():
    """Of 4,050 records "about 6,000" had a multiple of 1, among a hundred columns with much noise each."""
    found = discover(pd.DataFrame({"pay": np.zeros(3000)}), Budget(10, "1e-6"))
    (pay,) = found.columns
    more = replace(pay, zero=Measured(6000.0, 900.0), heaps={1.0: Measured(6000.0, 900.0)})
    (said,) = replace(found, columns=(more,)).heaps
    assert said == "'pay': nearly all records have 0 and nearly all have a multiple of 1."


def test_heaps_at_round_numbers_are_found_and_said():
    random = np.random.default_rng(0)
    price = np.where(random.random(20_000) < 0.4, 10 * random.integers(1, 9, 20_000), random.integers(1, 90, 20_000))
    assert [step for step, _, _ in heaps_of(votes_of(price)[1], 50.0, 1.0)] == [10.0]
    assert not list(heaps_of(votes_of(random.integers(1, 90, 20_000))[1], 50.0, 1.0))
    pay = pd.DataFrame({"pay": np.where(random.random(20_000) < 0.2, 0.0, 100.0 * random.integers(1, 400, 20_000))})
    (said,) = discover(pay, Budget(10, "1e-6")).heaps
    assert said.startswith("'pay': about ") and said.endswith("records have 0.")


@pytest.mark.parametrize("step", [1000.0, 100.0, 10.0, 5.0, 1.0, 0.1, 0.01, 0.0])
def test_the_step_is_the_coarsest_that_noise_leaves_no_doubt_of(step):
    values = np.random.default_rng(1).integers(1, 3000, 50_000) * (step or 0.001)
    assert step_of(votes_of(values)[1], 30.0, 50_000.0) == step
    assert step_of(votes_of(values)[1], 3_000.0, 50_000.0) <= 1.0


def test_zeros_do_not_make_a_range_begin_below_zero():
    """Of pay from 0 on the range began at -10,000: the cell of zero has a lower end of its own."""
    scale, votes = votes_of(np.append(np.zeros(500), np.linspace(100, 90_000, 5_000)))
    assert ends_of(scale, votes, 5.0)[0] == 0.0
    scale, votes = votes_of(np.append(np.zeros(500), -np.linspace(100, 90_000, 5_000)))
    assert ends_of(scale, votes, 5.0)[1] == 0.0


@pytest.mark.parametrize("values, ends", [([0, 1] * 3_000, (0, 1)), ([0] * 6_000, (0, 1)), ([1, 2, 3] * 2_000, (1, 3))])
def test_whole_numbers_end_with_the_last_of_them_and_not_below_0_or_one_step_beyond(values, ends):
    """Of 0 and 1 the range was 0 to 2, and -1 to 1 where noise hid the ones."""
    scale, votes = votes_of(values)
    assert rounded_outward(*ends_of(scale, votes, 50.0), step_of(votes, 50.0, 6_000.0)) == ends


def test_times_of_day_end_with_the_day():
    """Hours from 6 to 22 were found as 0 to 64: noise took an octave beyond them for theirs."""
    scale = Scale("arrived", "number", format_of("time"))
    votes = np.zeros(scale.shape, np.int64)
    scale.count(votes, pa.array([f"{hour:02d}:30" for hour in range(6, 22)] * 400))
    beyond = next(cell for cell in range(COARSE, scale.coarse) if scale.edge(cell * scale.parts) >= 32.0)
    votes[beyond] += COARSELY * 900
    found = found_ranges([(scale, votes)], 60.0, Measured(6_400.0, 60.0), {"arrived": Measured(0.0, 60.0)})
    assert (found[0].column.low, found[0].column.high) == (6.0, 24.0)


def test_degrees_of_latitude_and_longitude_do_not_leave_the_earth():
    """They were found as 10 to 130 and -260 to -60, as cells are powers of two."""
    assert on_earth("Latitude", 10.0, 130.0) == (10.0, 90.0)
    assert on_earth("lng", -260.0, -60.0) == (-180.0, -60.0)
    assert on_earth("longitude", 0.0, 260.0) == (0.0, 260.0)  # of 0 to 360 degrees
    assert on_earth("lat", 5_000_000.0, 6_000_000.0) == (5_000_000.0, 6_000_000.0)  # of metres
    assert on_earth("late", 10.0, 130.0) == (10.0, 130.0)


@pytest.mark.thorough
def test_noise_alone_does_not_tell_the_mark_before_decimals_where_a_column_has_none():
    """Of "70,001" in a table with points one in several draws was read as 70.001."""
    asked = Votes(("pay", "order"), (), EACH_RECORD)
    exact = np.zeros(asked.shape, np.int64)
    texts = {"pay": ["12.50"] * 5_000, "order": [f"70,{place:03d}" for place in range(500)] * 10}
    asked.count(exact, pa.RecordBatch.from_pydict(texts))
    random = np.random.default_rng(2)
    read = [asked.formats(exact + np.rint(random.normal(0, 90, exact.shape)), 90.0) for _ in range(200)]
    assert sum(one["order"].name == "decimal_point" for one in read) >= 195
    assert all(one["pay"].name == "decimal_point" for one in read)


def test_a_range_of_dates_ends_with_a_year_where_years_stand_out_of_wide_noise():
    """It ended with a decade wherever all of a decade's noise together was more than a fiftieth of the records."""
    days = pd.date_range("2019-01-01", "2023-12-31", 12_000).astype("datetime64[s]")
    scale, votes = votes_of(days, "date")
    assert ends_of(scale, votes, 100.0) == (2019.0, 2024.0)


def formats_of(texts: dict[str, list[str]], comma: bool, error: float = 105.0) -> list[dict[str, str]]:
    """How columns are read under noise, in each of forty draws."""
    asked, random = Votes(tuple(texts), (), EACH_RECORD, comma), np.random.default_rng(4)
    exact = np.zeros(asked.shape, np.int64)
    asked.count(exact, pa.RecordBatch.from_pydict(texts))
    noisy = (exact + np.rint(random.normal(0, error, exact.shape)) for _ in range(40))
    return [{name: one.name for name, one in asked.formats(each, error).items()} for each in noisy]


@pytest.mark.thorough
@pytest.mark.parametrize("comma", [True, False])
def test_where_hardly_any_value_shows_decimals_the_mark_is_that_of_such_files(comma):
    """Of thousand people's whole numbers noise alone told it, in one table of six the wrong one."""
    whole = ["12"] * 970 + ["12,5" if comma else "12.5"] * 30
    wanted = "decimal_comma" if comma else "decimal_point"
    read = formats_of({f"c{place}": whole for place in range(8)}, comma)
    assert sum(one == wanted for each in read for one in each.values()) >= 310


@pytest.mark.parametrize("mark", ".,")
def test_a_price_of_1_459_a_litre_is_read_by_the_votes_of_its_whole_column(mark):
    """Its three decimals were thousands. Where nothing else shows decimals, or they are lost in noise, they are."""
    fuel = [f"€ 1.{place % 900 + 99:03d}" for place in range(3_500)] + ["€ 0.989", "€ 1.5"] * 750
    plain, few = ["€ 1.459", "€ 950"] * 2_500, ["€ 1.459"] * 4_999 + ["€ 1.5"]
    texts = {"fuel": fuel, "plain": plain, "few": few}
    read = formats_of({name: [one.replace(".", mark) for one in some] for name, some in texts.items()}, mark == ",")
    point, comma = ("decimal_point", "decimal_comma") if mark == "." else ("decimal_comma", "decimal_point")
    assert sum(one == {"fuel": point, "plain": comma, "few": comma} for one in read) >= 39


def test_no_format_is_made_of_noise_where_so_few_people_have_a_value_that_it_hides_all():
    """Of 120 rows under wide noise numbers were left out for naming one person each, which they do not."""
    read = formats_of({f"c{place}": ["12.5"] * 120 for place in range(8)}, False, error=150.0)
    kinds = [one for each in read for one in each.values()]
    assert sum(one not in ("nothing", "decimal_point", "decimal_comma") for one in kinds) <= 16


def test_a_found_category_that_was_missing_in_most_rows():
    """A column of which nine rows in ten say nothing was one of nothing, and its values were not looked for."""
    random = np.random.default_rng(8)
    town = np.where(random.random(12_000) < 0.9, None, random.choice(["Bern", "Basel", "Chur"], 12_000))
    table = pd.DataFrame({"town": pd.array(town, "string"), "age": random.integers(18, 90, 12_000)})
    one = discover(table, PROMISE, noise_source=SeededSource(5))["town"]
    assert set(one.column.categories) == {"Bern", "Basel", "Chur", "other", "missing"}
    assert one.missing.count == pytest.approx((town == None).sum(), abs=5 * one.missing.error)  # noqa: E711


def test_answers_in_a_sentence_are_categories_and_letters_are_free_text():
    answer, letter = "Yes, but only in the past year / sometimes", " ".join(["word"] * 12)
    read = formats_of({"often": [answer] * 1000, "why": [letter] * 1000}, False)
    assert all(one == {"often": "category", "why": "text"} for one in read)


def test_a_semicolon_in_the_line_of_names_is_what_tells_such_files(tmp_path):
    for mark in ";,":
        (tmp_path / "file.csv").write_text(f"a{mark}b\n1{mark}2\n")
        source = open_source(str(tmp_path / "file.csv"))
        assert Discovery.of_source(source, PROMISE).votes.comma == (mark == ";")


def test_numbers_of_a_column_named_as_codes_are_codes_and_amounts_and_dates_are_not():
    texts = {"PLZ": [str(12345 + place) for place in range(1000)], "phone cost": ["3.50"] * 1000}
    texts |= {"code date": ["31.12.2024"] * 1000, "number": texts["PLZ"]}
    wanted = {"PLZ": "code", "phone cost": "decimal_point", "code date": "day_first", "number": "decimal_point"}
    assert sum(one == wanted for one in formats_of(texts, False)) >= 38


def test_dates_within_two_years_are_found_to_the_year_among_a_hundred_columns():
    """Noise of 400 votes a year hid of 4,500 people where a decade's dates begin and end, and all of it was said."""
    random, error = np.random.default_rng(7), 400.0
    days = pd.to_datetime("2021-01-01") + pd.to_timedelta(random.integers(0, 730, (30, 4_500)).ravel(), unit="D")
    columns = [votes_of(some, "date") for some in days.values.astype("datetime64[s]").reshape(30, -1)]
    seen = [
        Seen(scale, votes + np.rint(random.normal(0, error, votes.shape)), error, 4_500.0) for scale, votes in columns
    ]
    ends = all_ends(seen)
    assert all(first <= 2021.0 and 2023.0 <= last and last - first <= 4.0 for first, last in ends)


AMOUNTS = {
    "lognormal": (lambda random: np.exp(7 + 1.3 * random.normal(size=10_000)), "log"),
    "with zeros": (lambda random: np.exp(7 + 1.5 * random.normal(size=10_000)) * (random.random(10_000) < 0.5), "log"),
    "even": (lambda random: random.uniform(0, 5_000, 10_000), ""),
    "exponential": (lambda random: random.exponential(900, 10_000), ""),
    "bell": (lambda random: random.normal(500, 60, 10_000), ""),
    "few": (lambda random: random.geometric(0.3, 10_000).astype(float), ""),
}


@pytest.mark.parametrize("values, scale", AMOUNTS.values(), ids=AMOUNTS)
def test_amounts_over_decades_are_told_apart_by_ratios_and_others_by_differences(values, scale):
    """In cells of equal widths most amounts were in the first, and pairs of them erred 3.4 times as much."""
    random = np.random.default_rng(6)
    own, votes = votes_of(np.round(values(random), 2))
    noisy = votes + np.rint(random.normal(0, 60, votes.shape)).astype(int)
    (found,) = found_ranges([(own, noisy)], 60.0, Measured(10_000, 50), {"x": Measured(0, 60)})
    assert found.column.scale == scale


@pytest.mark.thorough
def test_amounts_with_many_zeros_and_heavy_tails_are_found_and_exponential_numbers_never_taken_for_them():
    """Where noise put the end of a range far out, every second exponential column was said to be of amounts."""
    random = np.random.default_rng(6)

    def proposed(values) -> float:
        found = []
        for _ in range(12):
            own, votes = votes_of(np.round(values(10_000), 2))
            noisy = votes + np.rint(random.normal(0, 60, votes.shape)).astype(int)
            (one,) = found_ranges([(own, noisy)], 60.0, Measured(10_000, 50), {"x": Measured(0, 60)})
            found.append(one.column is not None and one.column.scale == "log")
        return sum(found)

    assert proposed(lambda size: 10 * (1 + random.pareto(1, size)) * (random.random(size) < 0.5)) >= 8
    assert proposed(lambda size: np.exp(7 + 2 * random.normal(size=size)) * (random.random(size) < 0.4)) >= 11
    for share in (1.0, 0.5, 0.1):
        assert proposed(lambda size, share=share: random.exponential(900, size) * (random.random(size) < share)) <= 1


def test_amounts_are_told_by_all_their_octaves_where_noise_hides_the_largest():
    """Of log-normal pay of 6,000 among 10,000 people every fourth draw was found to be amounts: only a tail counted."""
    random, found = np.random.default_rng(9), {}
    for name, values in {
        "pay": lambda: np.exp(7 + 1.3 * random.normal(size=10_000)),
        "even": lambda: random.uniform(0, 5_000, 10_000),
        "exponential": lambda: random.exponential(900, 10_000),
    }.items():
        found[name] = 0
        for _ in range(8):
            own, votes = votes_of(np.round(values() * (random.random(10_000) < 0.6), 2))
            noisy = votes + np.rint(random.normal(0, 170, votes.shape)).astype(int)
            (one,) = found_ranges([(own, noisy)], 170.0, Measured(10_000, 50), {"x": Measured(0, 170)})
            found[name] += one.column is not None and one.column.scale == "log"
    assert found["pay"] >= 6 and found["even"] == found["exponential"] == 0


def test_noise_alone_does_not_say_that_pay_is_below_zero():
    """Pay of 3,500 people, 0 for a third, was found from -3,000 on, and so not to be amounts; debts are below 0."""
    random = np.random.default_rng(5)
    pay = np.exp(7.6 + 1.4 * random.normal(size=3_500)) * (random.random(3_500) > 0.3)
    for name, values, low in (("pay", pay, 0.0), ("balance", pay, -3_000.0), ("pay", -pay, -3_000.0)):
        scale, votes = votes_of(values, name=name)
        noisy = votes + np.rint(random.normal(0, 90, votes.shape)).astype(int)
        assert _sensibly(Seen(scale, noisy, 90.0, 3_500.0), -3_000.0, -3_000.0, 33_000.0) == (low, 33_000.0)


def test_noise_far_from_all_values_is_no_end_of_a_range():
    """Among 121 cells one has noise of 3.5 standard deviations in one column of forty."""
    scale, votes = votes_of(np.linspace(10, 60, 4_000))
    votes[scale.coarse - 5] = 390
    assert ends_of(scale, votes, 100.0)[1] <= 64.0


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


@pytest.mark.few(2)
@pytest.mark.parametrize("decimals", ["{:.1f}", "{:.0f}"])
@pytest.mark.parametrize("comma", [False, True])
def test_numbers_of_which_most_are_0_or_1_are_numbers_with_decimals_or_without(decimals, comma):
    """Written 0,0 and 1,0 they were read as yes and no, and everyone with another number was left out."""
    rows = [decimals.format(number) for number in [0, 1, 0, 1, 2, 5] * 1000]
    frame = pd.DataFrame({"x": [row.replace(".", ",") if comma else row for row in rows]})
    found = discover(frame, Budget(2, "1e-6"), noise_source=SeededSource(1))
    assert isinstance(found["x"].column, Numeric)


def test_a_column_of_python_objects_is_refused_as_one_value_alone_would_decide_its_type():
    for values in ([None, None, None], [None, "x", None], [1, "x", 2.5]):
        frame = pd.DataFrame({"a": pd.Series(values, dtype=object), "b": [1, 2, 3]})
        with pytest.raises(RequestError, match="whose type only their values would tell"):
            discover(frame, Budget(1, "1e-6"))


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


def test_how_data_are_read_is_refused_where_they_say_it_themselves():
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    for data, how in ((frame, {"sep": ";"}), (open_source(frame), {"sheet": "A"}), (frame, {"names": ["y"]})):
        with pytest.raises(RequestError, match="cannot be said, as it says that itself"):
            discover(data, Budget(1), **how)


@pytest.mark.parametrize("pure", [True, False])
def test_noise_of_many_columns_makes_no_format_of_any(pure):
    """Of a survey's eighty columns, hidden all, Laplace noise had made two columns of dates and numbers."""
    votes = Votes(tuple(f"Q{place}" for place in range(80)), (), EACH_RECORD)
    random = np.random.default_rng(17)
    made = 0
    for _ in range(40):
        noise = random.laplace(0, 1e3 / math.sqrt(2), votes.shape) if pure else random.normal(0, 1e3, votes.shape)
        made += any(one.kind != "nothing" for one in votes.formats(np.rint(noise).astype(int), 1e3, pure).values())
    assert made <= 7  # 5% each; more by chance in fewer than one run of a thousand


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
