"""Which tests a run takes: of a room that somebody changed all that are not deep, of others the cheaper ones."""

import subprocess
from pathlib import Path

import pytest

from tests import depth


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_rooms_of_what_was_changed_or_added_and_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = (
        "core/privacy/noise/law.py",
        "core/sources/ids.py",
        "tests/sources/test_ids.py",
        "tests/browser/test_home.py",
    )
    for file in (*files, "docs/index.md"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("as it was")
    monkeypatch.setattr(depth, "ROOT", tmp_path)
    told = depth._changed_rooms.__wrapped__
    assert told() == set(), "a copy without a history is what somebody published"
    _git(tmp_path, "init", "--quiet")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "--quiet", "--message", "everything")
    assert told() == set()
    (tmp_path / "core/privacy/noise/law.py").write_text("changed")
    (tmp_path / "tests/sources/test_new.py").write_text("new")
    (tmp_path / "docs/index.md").write_text("of no room")
    assert told() == {"privacy", "sources"}
    _git(tmp_path, "commit", "--quiet", "--all", "--message", "one room")
    assert told() == {"privacy", "sources"}, "nobody knows what was there before but the last commit"
    _git(tmp_path, "branch", "published")
    _git(tmp_path, "branch", "--set-upstream-to", "published")
    assert told() == {"sources"}


def test_a_test_of_no_room_belongs_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    names = "test_order.py", "browser/test_home.py", "models/test_classifier_choice.py"
    for rooms, near in (((), [False] * 3), (("sources",), [True, True, False]), (("models",), [True] * 3)):
        monkeypatch.setattr(depth, "_changed_rooms", lambda rooms=rooms: frozenset(rooms))
        assert [depth.changed(depth.ROOT / "tests" / name) for name in names] == near
