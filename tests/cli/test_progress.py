"""How far a long reading is, is said line by line where there is no terminal, and short ones say nothing."""

from __future__ import annotations

import re

import pytest

from core.cli import output
from core.cli.output import reading
from core.releases.engine import building


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(output, "monotonic", lambda: now[0])
    monkeypatch.setattr(building.Pace.__init__, "__defaults__", (None, lambda: now[0], 0))
    return now


def test_a_line_every_ten_seconds_with_rate_and_time_left(clock, capsys):
    with reading("Reading records", 100_000_000) as show:
        for second in range(31):
            clock[0] = float(second)
            show(second * 1_000_000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "Reading records: 10,000,000 of 100,000,000 rows, 1,000,000 rows/s, 2 min left.",
        "Reading records: 20,000,000 of 100,000,000 rows, 1,000,000 rows/s, 80 s left.",
        "Reading records: 30,000,000 of 100,000,000 rows, 1,000,000 rows/s, 70 s left.",
    ]


def test_a_reading_that_is_continued_is_as_fast_as_it_is_now(clock, capsys):
    with reading("Reading records", 100, rows=60) as show:
        clock[0] = 20.0
        show(80)
    assert capsys.readouterr().err == "Reading records: 80 of 100 rows, 1 rows/s, 20 s left.\n"


def test_where_nobody_knows_the_total_there_is_no_time_left(clock, capsys):
    with reading("Reading records", None) as show:
        clock[0] = 5.0
        show(10)
        clock[0] = 10.0
        show(20)
    assert capsys.readouterr().err == "Reading records: 20 rows, 2 rows/s.\n"


def test_a_line_of_a_narrow_terminal_holds_all_of_it(clock, capsys, monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    with reading("Reading records", 2_000_000_000) as show:
        clock[0] = 90.0
        show(1_111_111_111)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert re.search(r"Reading records .* 56%, 1,111,111,111 rows, 12,300,000 rows/s, 72 s left", shown), shown
