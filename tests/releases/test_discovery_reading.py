"""What is found out of values: how they are written, which kind they are, and categories that people share."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Budget, Declaration, Discovery, Domain, Ledger, Numeric, RequestError, Tables, discover, release_after
from core.privacy.budget import EACH_RECORD
from core.privacy.noise.randomness import SeededSource
from core.releases.discovery_reading import Second, Third, Votes
from core.sources import open_source
from tests.releases.conftest import PROMISE


@pytest.mark.thorough
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


def test_durations_and_times_of_day_are_refused_before_anything_is_paid(tmp_path):
    """Their types are known, and were refused in the second reading."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    for kind in (pa.duration("s"), pa.time64("us")):
        table = pa.table({"lasted": pa.array([60] * 50, kind), "age": pa.array([30] * 50)})
        with pytest.raises(RequestError, match="declare it as what it holds"):
            discover(table, PROMISE, ledger=ledger, dataset="trips")
    assert ledger.names() == []


def test_a_text_that_a_dictionary_has_twice_is_counted_as_one():
    """Of two entries of an Arrow dictionary that are one text the later one's count stood for both: one record more
    took away all the others."""
    often = pa.DictionaryArray.from_arrays(pa.array([0] * 900 + [1], pa.int32()), pa.array(["Bern", "Bern"]))
    batch = pa.record_batch({"town": often, "born_in": often})
    second, third = Second((), ("town",)), Third([{"town": ()}, {"born_in": ()}])
    second.count(batch)
    third.count(batch)
    assert second.values == [{"Bern": 901}] and third.values[0] == {"Bern": 901 * 707}


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


@pytest.mark.parametrize("values", [[1, 2, "x"], ["a", "b", 1.5], [True, False, "x"]])
def test_categories_of_pandas_among_which_one_value_is_of_another_type_are_refused_likewise(values):
    """Of numbers among which one person has a word the whole column was asked about as one of texts."""
    frame = pd.DataFrame({"a": pd.Series(values, dtype="category"), "b": [1, 2, 3]})
    with pytest.raises(RequestError, match="whose type only their values would tell"):
        discover(frame, Budget(1, "1e-6"))


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
