"""Formats of values: what fits them, what they say, and that a text means the same beside any others."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.column_entries import columns_of
from core.domain.declarations import Declaration
from core.domain.formats import FORMATS, MOST_AT_ONCE, chosen, fitting, format_of, guessed
from core.domain.written_dates import NEVER
from core.errors import RequestError
from tests.depth import draws
from tests.tables_for_tests import LETTERS

BY_FORMAT = {
    "decimal_point": {"12": 12, "1,200.50": 1200.5, "1'200.5": 1200.5, "€ 3.50": 3.5, "-12%": -12, "12 CHF": 12},
    "decimal_comma": {"1.200,50": 1200.5, "1 200,5": 1200.5, "1\N{NO-BREAK SPACE}200": 1200, "3,50 EUR": 3.5, "12": 12},
    "yes_no": {
        **{"ja": 1, "NEIN": 0, "Sí": 1, "sì": 1, "não": 0, "Tak": 1, "нет": 0, "evet": 1, "t": 1, "0": 0, " Oui ": 1},
        **{"igen": 1, "nem": 0, "ναι": 1, "όχι": 0, "예": 1, "Ya": 1, "tidak": 0, "da": 1, "нет ": 0},
    },
    "time": {"08:30": 8.5, "8:30 pm": 20.5, "12:00 a.m.": 0, "23:59:60": np.nan, "18:45 Uhr": 18.75},
    "duration": {"1:27": 87, "0:01:27": 87, "PT1M27S": 87, "90 min": 5400, "2 days, 00:00:01": 172801, "90 s": 90},
    "hours_minutes": {"1:27": 87, "37:30": 2250, "1:27:30": 87.5, "1 h 27 min": 87, "2 Std. 5 Min.": 125},
}
DATES = {
    "day_first": "31/12/2024|31.12.24|31-12-2024|31 Dec 2024|31. Dezember 2024|31 de diciembre de 2024|31 déc. 2024",
    "month_first": "12/31/2024|12-31-24|Dec 31, 2024|December 31st 2024",
    "year_first": "2024-12-31|2024/12/31|2024.12.31|2024年12月31日|2024-Dec-31",
    "compact_date": "20241231",
}


@pytest.mark.parametrize("name", BY_FORMAT)
def test_texts_of_a_format_say_their_numbers(name):
    texts, numbers = zip(*BY_FORMAT[name].items(), strict=True)
    read = format_of(name).read(pa.array(texts))
    assert np.allclose(read, numbers, equal_nan=True), dict(zip(texts, read, strict=True))
    assert (format_of(name).fits(pa.array(texts)) == ~np.isnan(numbers)).all()


@pytest.mark.parametrize("name", DATES)
def test_dates_of_a_format_are_that_day(name):
    texts = DATES[name].split("|")
    wanted = int(np.datetime64("2024-12-31T00:00:00").astype(int))
    assert format_of(name).read(pa.array(texts)).tolist() == [wanted] * len(texts), texts
    assert format_of(name).fits(pa.array(texts)).all()


def test_days_that_there_are_not_are_no_dates():
    texts = pa.array(["31/02/2024", "00.01.2024", "2024-13-01", "1.1.0024", "29/02/2023", "32 Dec 2024", "1/2/345"])
    for name in DATES:
        assert (format_of(name).read(texts) == NEVER).all()
        assert not format_of(name).fits(texts).any()


@pytest.mark.parametrize("hours", ["1 h 27 min", "2 Std. 5 Min.", "1h 05m", "3 horas 10 minutos"])
def test_what_is_short_of_an_hour_is_hours_and_minutes_where_other_values_say_so(hours):
    """0:55 was 55 seconds beside them, as either format reads them and minutes and seconds stand first."""
    (found,) = guessed([pa.array(["0:55", "12:20", hours, "1:05"])], comma=False)
    assert found == ("number", "hours_minutes")
    assert format_of("hours_minutes").read(pa.array(["0:55"])).tolist() == [55]
    assert next(guessed([pa.array(["0:55", "1 min 27 s", "90 s"])], comma=False)) == ("number", "duration")


def test_a_time_of_day_behind_a_date_is_read():
    texts = ["31/12/2024 08:30", "31.12.2024, 8:30 pm", "31.12.2024 um 20:30 Uhr", "Tue, 31 Dec 2024 20:30:00 GMT"]
    read = format_of("day_first").read(pa.array(texts)).astype("M8[s]").astype(str).tolist()
    assert read == ["2024-12-31T08:30:00", *["2024-12-31T20:30:00"] * 3]


@pytest.mark.thorough
def test_what_fits_a_text():
    told = [
        ("01067", {"code"}),
        ("0", {"yes_no", "decimal_point", "decimal_comma"}),
        ("1.200", {"decimal_point", "decimal_comma"}),
        ("1.2", {"decimal_point"}),
        ("03/04/2024", {"day_first", "month_first"}),
        ("keine Angabe", {"nothing"}),
        (" N/A ", {"nothing"}),
        (None, {"nothing"}),
        ("Anna@Example.org", {"identifier"}),
        ("unknown", {"category"}),
        ("+49 170 1234567", {"category"}),
        ("It was late when we came, and nobody was there.", {"text"}),
    ]
    fits = {one.name: one.fits(pa.array([text for text, _ in told], pa.string())) for one in FORMATS}
    for place, (text, names) in enumerate(told):
        assert {name for name, places in fits.items() if places[place]} == names, text


ANY = st.one_of(
    st.text(LETTERS, max_size=12),
    st.from_regex(r"\A[-+(€$]?[0-9.,' ]{1,10}[%)]?( ?(EUR|h|min|kr))?\Z"),
    st.from_regex(r"\A[0-9]{1,4}[-./: ][0-9A-Za-z]{1,4}[-./: ][0-9]{1,4}( [0-9]{1,2}:[0-9]{2}(:[0-9]{2})?)?\Z"),
    st.sampled_from([text for texts in BY_FORMAT.values() for text in texts]),
)


@pytest.mark.thorough
@settings(max_examples=draws(4, 50))
@given(texts=st.lists(st.one_of(ANY, st.none()), min_size=1, max_size=draws(6, 30)))
def test_what_a_text_fits_and_says_depends_on_no_other_and_every_text_fits_one_to_three(texts):
    together = fitting(pa.array(texts, pa.string()))
    alone = [int(fitting(pa.array([text], pa.string()))[0]) for text in texts]
    assert together.tolist() == alone
    assert fitting(pa.array(texts, pa.string()).dictionary_encode()).tolist() == alone
    assert all(1 <= bits.bit_count() <= MOST_AT_ONCE for bits in alone)
    for one in FORMATS:
        read = one.read(pa.array(texts, pa.string()))
        unread = (
            np.array(read.is_null())
            if isinstance(read, pa.Array | pa.ChunkedArray)
            else (read == NEVER) | (read != read)
        )
        if one.name != "nothing":
            assert not (unread & one.fits(pa.array(texts, pa.string()))).any(), one.name


@given(
    number=st.decimals(min_value=-10_000_000, max_value=10_000_000, places=2),
    comma=st.booleans(),
    mark=st.sampled_from(["", " ", "\N{NARROW NO-BREAK SPACE}", "'", "other"]),
    beside=st.sampled_from(["{}", "{} €", "€{}", "{}%", "{} EUR", " {} "]),
)
def test_any_number_written_in_a_format_is_read_back(number, comma, mark, beside):
    text = f"{number:,.2f}"
    mark = mark if mark != "other" else "." if comma else ","
    text = text.replace(",", "\0").replace(".", "," if comma else ".").replace("\0", mark)
    one = format_of("decimal_comma" if comma else "decimal_point")
    written = pa.array([beside.format(text)])
    assert one.read(written).tolist() == [float(number)]
    assert one.fits(written).all()


@given(
    day=st.dates(date(1970, 1, 1), date(2068, 12, 31)),
    written=st.sampled_from(
        [
            ("day_first", "%d/%m/%Y"),
            ("day_first", "%d.%m.%y"),
            ("day_first", "%d-%b-%Y"),
            ("day_first", "%d. %B %Y"),
            ("month_first", "%m/%d/%Y"),
            ("month_first", "%b %d, %Y"),
            ("year_first", "%Y-%m-%d"),
            ("year_first", "%Y/%m/%d"),
            ("compact_date", "%Y%m%d"),
        ]
    ),
    at=st.none() | st.times(),
)
def test_any_day_written_in_a_format_is_read_back(day, written, at):
    name, form = written
    moment = datetime(day.year, day.month, day.day)
    text = day.strftime(form)
    if at is not None and name != "compact_date":
        moment, text = datetime.combine(day, at.replace(microsecond=0)), f"{text} {at:%H:%M:%S}"
    read = format_of(name).read(pa.array([text]))
    assert read.astype("M8[s]").astype(str).tolist() == [moment.isoformat()]
    assert format_of(name).fits(pa.array([text])).all()


def counts_of(texts: list[str]) -> dict[str, float]:
    bits = fitting(pa.array(texts))
    return {one.name: float((bits >> place & 1).sum()) for place, one in enumerate(FORMATS)} | {"records": len(texts)}


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["01067", "80331", "10115", "50667"], "code"),
        (["31/12/2024", "01/02/2024", ""], "day_first"),
        (["12/31/2024", "01/02/2024", "n/a"], "month_first"),
        (["ja", "nein", "", "k.A."], "yes_no"),
        (["1", "0", "3", "0", "2", "1"], "decimal_point"),
        (["1", "0", "0"], "yes_no"),
        (["1.200,50", "3,20", "12"], "decimal_comma"),
        (["red", "blue", "12"], "category"),
        (["a@b.org", "c@d.org"], "identifier"),
    ],
)
def test_a_column_gets_the_format_that_most_of_it_fits(texts, name):
    assert chosen(counts_of(texts)).name == name


def test_where_two_formats_fit_alike_the_preferred_one_is_taken():
    texts = counts_of(["1.200", "12", "7"])
    assert chosen(texts).name == "decimal_point"
    assert chosen(texts, ["decimal_comma"]).name == "decimal_comma"


def column(**facts):
    (made,) = columns_of("x", {key: value for key, value in facts.items()})
    return made


def test_a_declared_format_reads_numbers_dates_and_durations_and_is_written_down_again():
    text = """columns:
  fee: {kind: number, low: 0, high: 100, format: decimal_comma}
  due: {kind: date, first: 2020-01-01, last: 2025-12-31, format: day_first}
  lasts: {kind: number, low: 0, high: 600, unit: min, format: hours_minutes}
  paid: {kind: yes_no}
"""
    declared = Declaration.of(text)
    fee, due, lasts, paid = declared.domain.columns
    assert fee.numbers(pa.array(["12,50 EUR", "1.000", "x"]))[:2].tolist() == [12.5, 1000.0]
    assert due.text(due.numbers(pa.array(["03/04/2021"]))[0]) == "2021-04-03"
    assert lasts.numbers(pa.array(["1:27"])).tolist() == [87.0]
    assert paid.codes(pa.array(["ja", "Nein", "NO", "Да", "?"])).tolist() == [1, 0, 0, 1, -1]
    assert Declaration.of(declared.text()) == declared
    assert type(declared.domain).from_dict(declared.domain.to_dict()) == declared.domain


def test_a_format_that_nobody_knows_is_refused_with_those_that_there_are():
    with pytest.raises(RequestError, match="decimal_comma"):
        column(kind="number", low=0, high=1, format="commas")
    with pytest.raises(RequestError, match="day_first"):
        column(kind="date", first="2020-01-01", last="2021-01-01", format="dayfirst")
    with pytest.raises(RequestError, match="take decimal out"):
        column(kind="number", low=0, high=1, format="decimal_point", decimal=",")


def test_a_column_of_whole_numbers_has_the_mark_that_another_of_its_table_surely_has():
    whole, sure, point = (pa.array(texts, pa.large_string()) for texts in (["1", "12"], ["1,5", "2"], ["0.5", "7"]))
    assert list(guessed([whole, sure], False)) == [("number", "decimal_comma")] * 2
    assert list(guessed([whole, point], True)) == [("number", "")] * 2
    assert list(guessed([pa.array(["1.971"], pa.large_string())], True)) == [("number", "decimal_comma")]
    assert list(guessed([pa.array(["rs10907175"], pa.large_string())], False)) == [("text", "")]


def test_an_amount_of_money_with_three_digits_after_its_only_mark_is_in_thousands():
    """ "$ 1.234" was 1.2 in files whose columns stand between tabs, where a point before decimals is usual."""
    thousands = pa.array(["$ 1.234", "€ 1,234", "12.500 EUR", "R$ 12.345"], pa.large_string())
    comma, point = (format_of(name) for name in ("decimal_comma", "decimal_point"))
    assert comma.fits(thousands).tolist() == [True, False, True, True]
    assert point.fits(thousands).tolist() == [False, True, False, False]
    assert comma.read(thousands)[[0, 2, 3]].tolist() == [1234.0, 12500.0, 12345.0]
    either = pa.array(["$ 950", "1.234", "5%"], pa.large_string())
    assert comma.fits(either).all() and point.fits(either).all()
    decimals = pa.array(["$ 1.23", "$ 1.2345", "$0.999", "0.989"], pa.large_string())
    assert point.fits(decimals).all() and not comma.fits(decimals).any()


@pytest.mark.parametrize("mark", ".,")
def test_a_price_of_a_litre_has_three_decimals_where_the_rest_of_its_column_has_that_mark_before_them(mark):
    """ "€ 1.459" was 1459 beside "€ 0.989" and "€ 1.5"."""
    prices, thousands = ([one.replace(".", mark) for one in some] for some in (["€ 1.459"] * 30, ["€ 1.459", "€ 12"]))
    others = ["€ 0.989".replace(".", mark), "€ 1.5".replace(".", mark)]
    name, other = ("decimal_point", "decimal_comma") if mark == "." else ("decimal_comma", "decimal_point")
    read = list(guessed([pa.array(some, pa.large_string()) for some in (prices + others, thousands)], False))
    assert read[0] == ("number", name) and format_of(name).read(pa.array(prices))[0] == 1.459
    assert format_of(other).read(pa.array(thousands))[0] == 1459.0
    assert list(guessed([pa.array(thousands, pa.large_string())], False)) == [("number", other)]
