"""Which tests a run takes: of a room that somebody changed all that are not deep, of others the cheaper ones."""

import subprocess
from pathlib import Path

import pytest

from tests import depth


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_what_was_changed_or_added_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = (
        "core/privacy/noise/law.py",
        "core/sources/ids.py",
        "tests/sources/test_ids.py",
        "tests/browser/test_home.py",
    )
    for file in (*files, "docs/index.md", "readers/reader.js"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("as it was")
    monkeypatch.setattr(depth, "ROOT", tmp_path)
    told = depth._changed_files.__wrapped__
    assert told() == set(), "a copy without a history is what somebody published"
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "everything")
    assert told() == set()
    (tmp_path / "core/privacy/noise/law.py").write_text("changed")
    (tmp_path / "tests/sources/test_new.py").write_text("new")
    (tmp_path / "docs/index.md").write_text("a paper")
    (tmp_path / "readers/reader.js").write_text("of no room")
    both = {"core/privacy/noise/law.py", "tests/sources/test_new.py", "readers/reader.js"}
    assert told() == both
    _git(tmp_path, "commit", "--quiet", "--all", "--message", "one room")
    assert told() == both, "nobody knows what was there before but the last commit"
    _git(tmp_path, "branch", "published")
    _git(tmp_path, "branch", "--set-upstream-to", "published")
    assert told() == {"tests/sources/test_new.py"}


def _near(monkeypatch: pytest.MonkeyPatch, files: set[str], *names: str) -> list[bool]:
    monkeypatch.setattr(depth, "_changed_files", lambda: frozenset(files))
    depth.changed.cache_clear()
    return [depth.changed(depth.ROOT / "tests" / name) for name in names]


def test_a_test_of_no_room_belongs_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    names = "auditing/test_trials.py", "browser/test_home.py", "models/test_classifier_choice.py"
    assert _near(monkeypatch, set(), *names) == [False] * 3
    assert _near(monkeypatch, {"core/sources/people.py"}, *names) == [True, True, False]
    assert _near(monkeypatch, {"core/models/tukey.py"}, *names) == [True] * 3
    assert _near(monkeypatch, {"docs/models/draw.py"}, *names) == [True, True, False]


def test_a_test_belongs_to_what_it_imports_from_other_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from core.privacy.budget import Budget\n  from core.sketches import (\n    linear,\n    parts,\n)\n"
    files = {"privacy/budget.py", "sketches/__init__.py", "sketches/linear.py", "sketches/parts.py"}
    assert {f"core/{file}" for file in files} <= depth.imported(text)
    names = "releases/test_job.py", "formatting/test_numbers.py"
    assert _near(monkeypatch, {"core/geometry/kernels.py"}, *names) == [True, False]
    depth.changed.cache_clear()
