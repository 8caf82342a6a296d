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
    Declaration,
    Discovery,
    Domain,
    Ledger,
    Numeric,
    PrivacyUnit,
    RequestError,
    discover,
)
from core.domain import Dates
from core.privacy.budget import EACH_RECORD, Neighbours
from core.privacy.choosing.partition_selection import plan_values
from core.privacy.composition import event_of, pure_sum
from core.privacy.noise.randomness import SeededSource
from core.releases import discovery_stage
from core.releases.discovery import bought_alone, by_forecast, expected_loss, format_words, loss_words
from core.releases.discovery_reading import Scale, Second, Votes
from core.releases.found import SURELY, Finding, Measured, found_category, paid_before
from core.sources import open_source
from tests.releases.conftest import PEOPLE, PROMISE


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


def test_a_declaration_that_was_found_says_what_it_cost_so_that_files_of_it_promise_that(found):
    """Its ranges are in every file that is made of it, and commands promised the price of the table alone."""
    again = Declaration.of(found.text())
    assert paid_before(again.paid) == ((found.cost,), found.whole) and again.text().count("\npaid: ") == 1
    assert paid_before("") == ((), None) and not Declaration(found.domain).paid
    for wrong in ("0.1", "[{}]", '[{"cost": {}, "whole": {}}]', again.paid.replace("rho", "tau")):
        with pytest.raises(RequestError, match="What the declaration says was paid for it cannot be read"):
            paid_before(wrong)


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


@pytest.mark.thorough
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


@pytest.mark.few(2)
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


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("relation", list(Neighbours), ids=str)
@pytest.mark.parametrize("columns", [1, 5])
def test_no_person_moves_the_counts_for_ranges_further_than_declared_and_one_does_as_far(columns, relation, records):
    """All records of one person have the same number everywhere; replaced, one of another power and another step."""
    names = ["c", "year", "lat", *(f"c{place}" for place in range(3, columns))][:columns]
    scales, tables = tuple(Scale(name, "number") for name in names), []
    for number in (2003.0, -70_000.25):
        second = Second(scales, ())
        said = {name: 47.3 if name == "lat" and number > 0 else number for name in names}
        second.count(pa.record_batch({name: pa.array([said[name]] * records) for name in names}))
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


def test_found_bands_and_grades_stand_in_their_order_and_places_by_how_frequent_they_are():
    look = plan_values(1, Fraction(1, 50), Fraction(1, 10**6))
    for often, listed in (
        (("25-34", "65+", "18-24"), ("18-24", "25-34", "65+", "other")),
        (("4e", "3e", "6e"), ("3e", "4e", "6e", "other")),
        (("38185", "01004"), ("38185", "01004", "other")),
        (("Oslo", "Bern"), ("Oslo", "Bern", "other")),
    ):
        shown = {value: 5_000 - place for place, value in enumerate(often)}
        found = found_category("band", [shown], [look], Measured(20_000.0, 5.0), Measured(0.0, 5.0))
        assert found.column.categories == listed


def test_naples_is_no_missing_value_among_codes_of_provinces_and_na_is_none_among_names():
    look = replace(plan_values(1, Fraction(1, 50), Fraction(1, 10**6)), weight=1)
    shares = {"MI": 4_000, "RM": 3_000, "NA": 1_500, "TO": 1_000, "BO": 500, "PA": 400}
    in_all, missing = Measured(10_400.0, 5.0), Measured(1_502.0, 5.0)
    found = found_category("province", [shares], [look], in_all, missing)
    assert "NA" in found.column.categories and not found.column.missing
    assert found.values["NA"].count == 1_500 and found.missing.count == 2
    assert abs(found.other.count) < 5  # they were taken from what is missing, and counted once
    words = {"Milan": 4_000, "Rome": 3_000, "NA": 1_500, "Turin": 1_000, "Bologna": 500, "Palermo": 400}
    found = found_category("town", [words], [look], in_all, missing)
    assert "NA" not in found.column.categories and found.column.missing == ("NA",) and found.missing.count == 1_502


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
