"""The one command: what it lists, what it measures at small sizes, and how it counts time and memory."""

import sys

import pytest

from benchmarks import curves, results
from benchmarks.__main__ import main
from benchmarks.catalogue import CATALOGUE, chosen
from benchmarks.measuring import Curve, Settings
from benchmarks.memory import run_apart
from benchmarks.timing import in_turn


def test_every_benchmark_is_listed(capsys):
    assert main(["--list"]) == 0
    together, _, alone = capsys.readouterr().out.partition("\n\n")
    assert [line.split()[0] for line in together.splitlines()] == [benchmark.name for benchmark in CATALOGUE]
    assert all(line.endswith((".", ":")) for line in alone.splitlines()) and "\nsessions " in alone


def test_long_ones_run_only_by_name():
    assert not any(benchmark.long for benchmark in chosen([]))
    assert [benchmark.name for benchmark in chosen(["noise"])] == ["noise"]


def test_an_unknown_name_is_refused(capsys):
    assert main(["--only", "speed"]) == 2
    assert "'speed'" in capsys.readouterr().err


@pytest.mark.deep
def test_a_quick_run_prints_and_writes_what_it_measured(tmp_path, capsys):
    assert main(["--quick", "--only", "noise", "--repetitions", "1", "--out", str(tmp_path)]) == 0
    assert "OpenDP" in capsys.readouterr().out
    kept = results.read(tmp_path / "results.json")["noise"]
    assert kept.quick and [len(one.values) for one in kept.comparisons] == [1, 1]
    assert all(one.rivals and one.targets for one in kept.comparisons)
    assert str(tmp_path) not in (tmp_path / "results.json").read_text()


def test_every_way_has_its_turn_in_every_round():
    turns = []
    seconds = in_turn({name: lambda name=name: turns.append(name) for name in "ab"}, 3)
    assert turns == ["a", "b"] * 4 and [len(seconds[name]) for name in "ab"] == [3, 3]


@pytest.mark.thorough
def test_memory_is_that_of_the_programme_and_not_of_who_starts_it():
    own = bytearray(300 << 20)  # resident here, and not there
    small = run_apart([sys.executable, "-I", "-S", "-c", "print('done')"])
    large = run_apart([sys.executable, "-I", "-S", "-c", "x = bytearray(b'1') * (150 << 20)"])
    assert small.output == "done\n" and len(own) > small.peak_bytes
    assert 150 << 20 <= large.peak_bytes < 300 << 20


def test_a_programme_that_fails_is_not_measured():
    with pytest.raises(RuntimeError, match="no luck"):
        run_apart([sys.executable, "-c", "raise SystemExit('no luck')"])


def test_curves_share_a_panel_by_title(tmp_path):
    ours = Curve("Fill", "records", (10.0, 1000.0), ((0.1, 0.3), (1.0, 1.5)))
    theirs = Curve("Fill", "records", (10.0, 1000.0), ((1.0, 3.0), (2.0, 2.5)), name="NumPy")
    other = Curve("Ask", "R", (1.0, 2.0), ((0.1,), (0.2,)))
    drawn = curves.figure([ours, theirs, other])
    assert [trace.name for trace in drawn.data] == ["Frostglass", "NumPy", "Frostglass"]
    assert [title.text for title in drawn.layout.annotations] == ["Fill", "Ask"]
    assert drawn.data[0].xaxis == drawn.data[1].xaxis != drawn.data[2].xaxis
    curves.write(tmp_path / "page.html", [results.Results("scaling", {}, (), (ours, theirs, other))])
    page = (tmp_path / "page.html").read_text()
    assert "Plotly.newPlot" in page and 'src="http' not in page


def test_quick_sizes_are_small():
    assert Settings(quick=True).size(1000, 10) == 10 and Settings().size(1000, 10) == 1000
    assert Settings(repetitions=4).repeats(7) == 4 and Settings().repeats(7) == 7
