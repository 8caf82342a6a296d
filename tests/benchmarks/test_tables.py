"""What is printed says what was measured."""

import json
from pathlib import Path

import pytest

from benchmarks import results, tables
from benchmarks.__main__ import main
from benchmarks.measuring import ERROR, Comparison, Curve, Published, Rival, Target, ratio
from benchmarks.words import amount, digits, duration

MACHINE = {
    "processor": "A processor",
    "cores": 2,
    "memory_gib": 24.0,
    "load_before": 0.1,
    "system": "Linux",
    "blas": "openblas 1 Zen",
    "python": "3.11",
    "versions": {"numpy": "2"},
}
ASKED = Comparison(
    "1,000 questions",
    (0.01, 0.02, 0.03),
    rivals=(Rival("NumPy", (0.05, 0.1, 0.3)), Rival("slow", (4.0,))),
    limits=(Rival("reading", (0.005, 0.005, 0.03)),),
    published=(Published("RACE, table 3", 0.4e-3, "RACE"),),
    targets=(Target("µs a question", 20.0, 25.0), Target("times as fast", 5.0, 6.0, at_least=True)),
    pieces=1000,
    piece="question",
    facts={"µs a question": 20.0},
)
WRONG = Comparison("sums", (0.01, 0.03), ERROR, rivals=(Rival("the paper's", (0.1, 0.3)),))
CURVE = Curve("Fill", "records", (10.0, 1000.0), ((0.1, 0.2), (1.0, 1.5)))


def measured(**changes):
    return results.Results("race_query", MACHINE, (ASKED, WRONG), (CURVE,), day="2026-01-02", **changes)


def test_ratios_are_of_rounds_where_both_had_every_turn():
    assert ratio((5.0, 1.0, 9.0), (1.0, 1.0, 3.0)) == 3.0
    assert ratio((8.0,), (1.0, 2.0, 4.0)) == 4.0


def beside(**changes):
    (_, _, ours, asked), (_, _, errors, others) = tables.sheet([measured(**changes)]).rows
    assert (ours, errors) == ("20.0 ms (10.0 ms – 30.0 ms)", "2% (1% – 3%)")
    return asked.split(tables.BREAK), others.split(tables.BREAK)


def test_side_by_side():
    asked, errors = beside()
    assert asked[3:5] == ["NumPy: 100 ms, 5.00 ×", "slow: 4.00 s, 200 ×"]
    assert errors == ["the paper's: 20%, 10.0 ×"]


def test_published_figures_are_for_one_piece():
    assert beside()[0][2] == "one question 20.0 µs, RACE, table 3 (RACE): 400 µs, 20.0 ×"


def test_targets_are_judged():
    within, short = beside()[0][:2]
    assert within == "target µs a question ≤ 25.0: 20.0, reached"
    assert short == "target times as fast ≥ 6.00: 5.00, **missed**"


@pytest.mark.parametrize("changes", [{"quick": True}, {"scale": 0.1}])
def test_small_sizes_say_nothing_about_targets_or_papers(changes):
    assert not [line for line in beside(**changes)[0] if "target" in line or "RACE" in line]


def test_results_come_back_as_they_were_written_and_others_stay(tmp_path):
    file = tmp_path / "results.json"
    results.write(file, [measured()])
    results.write(file, [results.Results("noise", MACHINE, (WRONG,))])
    assert results.read(file) == {"race_query": measured(), "noise": results.Results("noise", MACHINE, (WRONG,))}
    text = json.loads(file.read_text())
    assert text["format"] == results.FORMAT and len(text["benchmarks"][0]["comparisons"][0]["values"]) == 3


def test_a_file_of_another_kind_is_no_results(tmp_path):
    file = tmp_path / "results.json"
    file.write_text('{"machine": "x86_64", "rows": []}')
    assert results.read(file) == {} == results.read(tmp_path / "none.json")


def test_the_page_of_all_figures_is_what_the_command_writes(capsys):
    assert main(["--table"]) == 0
    page = Path(__file__).parents[2] / "docs" / "measured.md"
    assert capsys.readouterr().out == page.read_text(encoding="utf-8"), (
        "python -m benchmarks --table > docs/measured.md"
    )


def test_the_page_takes_the_tables_of_the_kept_results(tmp_path, capsys):
    assert main(["--table", "--out", str(tmp_path)]) == 2
    results.write(tmp_path / "results.json", [measured()])
    assert main(["--table", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "target µs a question ≤ 25.0: 20.0, reached<br>" in text and "A processor, 2 cores, 24.0 GiB" in text


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (18.1 * 60, "18.1 min"),
        (15.0, "15.0 s"),
        (0.4e-3, "400 µs"),
        (1.7e-6, "1.70 µs"),
        (3e-9, "3.00 ns"),
        (3 * 86400.0, "72.0 h"),
        (90.0, "90.0 s"),
    ],
)
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_other_figures():
    assert [digits(value) for value in (0, 1234.5, 12.34, 0.0123)] == ["0", "1,234", "12.3", "0.012"]
    assert [amount(value, ERROR) for value in (0.0123, 12.34)] == ["1.2%", "1,234%"]
    assert amount(3 * 2**30, "bytes") == "3.00 GiB"


def test_limits_say_how_many_times_as_long_the_whole_takes():
    said = "limit, reading: 5.00 ms, the whole 2.00 ×"
    assert said in beside()[0]
