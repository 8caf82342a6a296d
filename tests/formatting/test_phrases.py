"""Lists, counts and days in sentences."""

from datetime import datetime

from core.formatting.phrases import count, day, listed, lowered, minute, plural, shortened, shown


def test_lists_end_with_and():
    assert listed(["a"]) == "a" and listed(list("abcdefg")) == "a, b, c, d, e, f and g"
    assert listed(list("abcdefgh")) == "a, b, c, d, e, f and 2 more"


def test_a_strangers_name_is_short_and_visible():
    assert shown("y" * 100).endswith("…") and len(shown("y" * 100)) == 80
    assert shown("a\u202eb\n c") == "a\N{REPLACEMENT CHARACTER}b c"
    assert shortened("x" * 25) == "x" * 23 + "…" and shortened("x" * 24) == "x" * 24


def test_one_is_no_plural():
    assert [count(number, "row") for number in (0, 1, 1234)] == ["0 rows", "1 row", "1,234 rows"]
    assert plural(1, "is", "are") == "is" and plural(3, "is", "are") == "are"
    assert lowered("What") == "what" and lowered("") == ""


def test_days_are_written_as_people_do():
    assert day("2026-11-02T09:05:00+00:00") == day(datetime(2026, 11, 2)) == "2 November 2026"
    assert minute("2026-11-02T09:05:00+00:00") == "2 November 2026, 09:05 UTC"
