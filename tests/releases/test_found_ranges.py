"""What is found out of numbers and dates: where they begin and end, in which steps, and on which scale."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from core import Budget, discover
from core.domain.columns import on_earth, within_reason
from core.domain.formats import format_of
from core.privacy.budget import EACH_RECORD
from core.privacy.noise.randomness import SeededSource
from core.releases.discovery_reading import COARSE, COARSELY, Scale
from core.releases.found import Discovered, FoundColumn, Measured
from core.releases.found_ends import Seen, all_ends
from core.releases.found_ranges import _is_amount, _sensibly, found_ranges, heaps_of, rounded_outward, step_of
from tests.releases.conftest import PROMISE


@pytest.mark.thorough
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
            assert "'fee'" in found.beyond and "lie beyond" in found.beyond


def test_how_many_lie_beyond_a_range_is_a_number_only_where_noise_tells_it():
    """Of 18,900 readings "at most 18,000" were said to lie beyond a range that held all of them."""
    told = FoundColumn("fee", None, beyond=Measured(900.0, 100.0))
    hidden = FoundColumn("kWh", None, beyond=Measured(400.0, 4_000.0))
    few = FoundColumn("age", None, beyond=Measured(10.0, 20.0))
    records = Measured(3_000.0, 100.0)
    found = Discovered((told, hidden, few), records, None, "0", PROMISE, PROMISE, EACH_RECORD)
    assert found.beyond == (
        "Records that lie beyond the range that was found, and count at its end: 'fee' about 900 ± 200. "
        "Noise hides whether more than a tenth of the records lie beyond the range that was found of 'kWh'."
    )


@pytest.mark.few(4)
@pytest.mark.parametrize("number", [0.5, -0.5, 0.0, 0.1, 100.0, 1e300])
@pytest.mark.parametrize("name", ["x", "age"])
def test_a_column_that_says_one_number_of_everyone_is_found_with_a_range(name, number):
    """Between 0.5 and 0.6 there is less than a tenth in floating point, which was refused once it was paid for."""
    found = discover(pd.DataFrame({name: np.full(2_000, number)}), Budget(20), noise_source=SeededSource(0))[name]
    assert found.column is None or found.column.step <= found.column.high - found.column.low


@pytest.mark.parametrize("name", ["x", "year", "start_lat"])
def test_every_number_has_the_same_votes_wherever_it_lies(name):
    """Two for its coarse cell, and one for each of the others; infinite ones and such as are none have no vote."""
    numbers = [0.0, -0.0, 5e-324, -1e-9, 0.25, 1.0, -7.0, 99.5, 2.0**39, 2.0**40, -1e300, 1e308, *range(1840, 2070, 7)]
    scale = Scale(name, "number")
    for number in (*numbers, math.inf, -math.inf, math.nan):
        table = np.zeros(scale.shape, np.int64)
        scale.count(table, pa.array([number]))
        parts = table[: scale.coarse], table[scale.fine], table[scale.fine.stop :]
        assert [part[part != 0].tolist() for part in parts] == ([[2], [1], [1]] if math.isfinite(number) else [[]] * 3)


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


@pytest.mark.thorough
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


@pytest.mark.parametrize(
    ("name", "found", "said"),
    [
        ("Moyenne /20", (4.0, 32.0), (0.0, 20.0)),
        ("score out of 30", (8.0, 40.0), (0.0, 30.0)),
        ("Zufriedenheit (1-10)", (0.0, 15.0), (1.0, 10.0)),
        ("Satisfaction [0 à 7]", (0.0, 6.0), (0.0, 6.0)),
        ("price/12", (0.0, 25.0), (0.0, 25.0)),
        ("l/100km", (0.0, 30.0), (0.0, 30.0)),
        ("period (2019-2021)", (0.0, 130.0), (0.0, 130.0)),
        ("points (1-10)", (0.0, 400.0), (0.0, 400.0)),  # in another unit
    ],
)
def test_a_scale_that_a_name_says_is_the_range(name, found, said):
    assert within_reason(name, *found) == said


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


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "name, middle, wide, records, low, high",
    [
        ("lat", 47.37, 0.03, 12_000, (47.1, 47.32), (47.42, 47.6)),
        ("pickup_longitude", -73.98, 0.04, 12_000, (-74.3, -74.02), (-73.94, -73.7)),
        ("Längengrad", 8.2, 0.9, 12_000, (5.0, 7.0), (9.4, 12.0)),
        ("lng", 20.0, 60.0, 200_000, (-180, -100), (120, 180)),
        ("latitude", 47.37, 0.03, 300, (0, 40), (48, 64)),  # too few to tell where in their octave
        ("latitude", 4_700_000.0, 900.0, 12_000, (4e6, 4.7e6), (4.7e6, 8.4e6)),  # metres
    ],
)
def test_degrees_are_found_to_a_town_and_not_to_half_a_continent(name, middle, wide, records, low, high):
    """Of rides in one town the latitude was said to be 36 to 48, so that all of them shared a cell."""
    values = np.random.default_rng(2).normal(middle, wide, records)
    scale, votes = votes_of(values, name=name)
    noisy = votes + np.rint(np.random.default_rng(1).normal(0, 60, votes.shape)).astype(int)
    (found,) = found_ranges([(scale, noisy)], 60.0, Measured(records, 30), {name: Measured(0, 9)})
    assert low[0] <= found.column.low <= low[1] and high[0] <= found.column.high <= high[1]
    outside = ((values < found.column.low) | (values > found.column.high)).sum()
    assert outside <= 0.05 * records and abs(found.beyond.count - outside) < 5 * found.beyond.error


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


def test_a_range_of_dates_ends_with_a_year_where_years_stand_out_of_wide_noise():
    """It ended with a decade wherever all of a decade's noise together was more than a fiftieth of the records."""
    days = pd.date_range("2019-01-01", "2023-12-31", 12_000).astype("datetime64[s]")
    scale, votes = votes_of(days, "date")
    assert ends_of(scale, votes, 100.0) == (2019.0, 2024.0)


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


@pytest.mark.thorough
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
