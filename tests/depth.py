"""How deep the tests go: a few minutes for every change, or every sample and every example of the nightly run.

`make test-deep` sets FROSTGLASS_DEEP. Sizes are asked of `draws`, so that both depths run the same lines; a test that
says something only at its full size is marked ``deep``. One that takes long for what it says beside its cheaper
neighbours is marked ``thorough``, and one whose cases are nearly alike ``few`` with how many of them are enough for
what nobody changed: where somebody did, all of them run (`changed`). A statistical test states its false-alarm rate,
which the depth may not change: fewer draws see less, and accuse no more often.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

DEEP = bool(os.environ.get("FROSTGLASS_DEEP"))
ROOT = Path(__file__).parents[1]
IMPORTS = re.compile(r"^ *from (core[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
NAMES = re.compile(r"\w+")


@cache
def _changed_files() -> frozenset[str]:
    """Files, but for papers, that are not as the branch that one works from has them.

    Where no such branch is known, those that the last commit or somebody after it changed; a copy without a history has
    none, as it is what somebody published.
    """

    def git(*arguments: str) -> list[str]:
        told = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return told.stdout.splitlines() if told.returncode == 0 else []

    try:
        before = next((name for name in ("@{upstream}", "HEAD~1") if git("rev-parse", "--verify", name)), "HEAD")
        files = git("diff", "--name-only", before) + git("ls-files", "--others", "--exclude-standard")
    except FileNotFoundError:
        return frozenset()
    return frozenset(file for file in files if not file.endswith(".md"))


def room_of(file: Path) -> str:
    """The room of `core/` that a file or a test belongs to: `tests/` mirrors it; empty for what belongs to none.

    Audits belong to none, as they replay what all rooms draw.
    """
    top, *within = file.relative_to(ROOT).parts[:-1] or [""]
    if top not in ("core", "tests") or file.is_relative_to(ROOT / "tests" / "auditing"):
        return ""
    return within[0] if within and (ROOT / "core" / within[0]).is_dir() else ""


def imported(test: str) -> set[str]:
    """Files of `core/` that a test imports itself: those of its modules, and of names that may be modules."""
    found = set()
    for module, names in IMPORTS.findall(test):
        place = module.replace(".", "/")
        found |= {f"{place}.py", f"{place}/__init__.py"} | {f"{place}/{name}.py" for name in NAMES.findall(names)}
    return found


@cache
def changed(test: Path) -> bool:
    """Whether somebody changed a file of the test's room, or one that it imports; any, if it belongs to no room."""
    files, room = _changed_files(), room_of(test)
    if not room or room in {room_of(ROOT / file) for file in files}:
        return bool(files)
    return not files.isdisjoint(imported(test.read_text(encoding="utf-8")))


def draws(quick: int, deep: int) -> int:
    """How many samples, examples or cases to take."""
    return deep if DEEP else quick


def deep(*values: object) -> object:
    """A case of a parametrized test that only deep runs take."""
    return pytest.param(*values, marks=pytest.mark.deep)


def crossed(these: Sequence[object], those: Sequence[object]) -> list[object]:
    """Pairs of one of these and one of those, of which quick runs take each with the first of the others only."""
    return [
        (this, that) if this is these[0] or that is those[0] else deep(this, that) for this in these for that in those
    ]


def sampled(cases: Iterable[str], *quick: str) -> list[object]:
    """All cases of a parametrized test, of which quick runs take only those that are named here."""
    cases = list(cases)
    assert set(quick) <= set(cases)
    return [case if case in quick else deep(case) for case in cases]
