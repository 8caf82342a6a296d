"""What the house was brought to stays so: no more knots, circles or names that say nothing than were left."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("count_house", Path(__file__).parents[2] / "docs" / "count_house.py")
count_house = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(count_house)
CACHED = [kept for kept in vars(count_house).values() if hasattr(kept, "cache_clear")]
AT_MOST, knots, members, reached = (getattr(count_house, name) for name in ("AT_MOST", "knots", "members", "reached"))


def test_a_knot_is_found_and_a_chain_is_none():
    assert knots({"a": ["b"], "b": ["c"], "c": []}) == []
    assert knots({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"], "e": []}) == [["a", "b"], ["c", "d"]]


@pytest.fixture(scope="module")
def places():
    return reached()


@pytest.mark.thorough
@pytest.mark.parametrize("what", AT_MOST)
def test_nothing_got_worse_than_it_was_brought_to(what, places):
    assert len(places[what]) <= AT_MOST[what], "\n".join(places[what])


def test_imports_inside_functions_and_for_types_count(tmp_path, monkeypatch):
    (tmp_path / "core").mkdir()
    (tmp_path / "core" / "__init__.py").write_text("")
    (tmp_path / "core" / "one.py").write_text("def f():\n    from .two import B\n")
    for_types = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from . import one\n"
    (tmp_path / "core" / "two.py").write_text(for_types + "class B:\n    x: int\n    y: int = 1\n")
    monkeypatch.setattr(count_house, "ROOT", tmp_path)
    for cached in CACHED:
        cached.cache_clear()
    try:
        assert reached()["circles of files"] == ["core.one core.two"]
        assert members("B") == "2 members, 1 to be answered"
    finally:
        monkeypatch.undo()
        for cached in CACHED:
            cached.cache_clear()


@pytest.mark.thorough
def test_run_as_a_file_it_ended_in_the_middle():
    code = f"import runpy; runpy.run_path({SPEC.origin!r})['path_of_a_record']()"
    run = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=Path(SPEC.origin).parent, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("paper", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_have_moved_were_still_named_to_builders(paper):
    text = (count_house.ROOT / paper).read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", text)
    assert len(named) > 5
    absent = [name for name in named if not any((count_house.ROOT / top / name).exists() for top in ("", "core"))]
    assert absent == []
