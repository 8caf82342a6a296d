"""The page of all figures, `docs/measured.md`: accuracy as commands printed it, and speed from results.json."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from . import tables
from .results import Results

ACCURACY = Path(__file__).parent / "accuracy.toml"
"""What was measured by commands that print and keep nothing, written down by hand with its command and its day."""


def page(results: Sequence[Results]) -> str:
    """All of it, for `python -m benchmarks --table > docs/measured.md`."""
    return "\n\n".join(_parts(tomllib.loads(ACCURACY.read_text(encoding="utf-8")), results)) + "\n"


def _parts(accuracy: dict[str, Any], results: Sequence[Results]) -> Iterator[str]:
    yield f"# Measured\n\n{accuracy['about']}"
    for subject in accuracy["subject"]:
        yield f"## {subject['title']}"
        for one in subject["figures"]:
            if one.get("detail"):
                continue
            yield _said(one)
            if "rows" in one:
                yield tables.rows_of(one["heads"], one["rows"])
            if "notes" in one:
                yield one["notes"]
        details = [one["title"].lower() for one in subject["figures"] if one.get("detail")]
        if details:
            yield f"In `benchmarks/accuracy.toml` alone: {', '.join(details)}."
    yield f"{accuracy['speed']}\n\n{tables.machines(results)}"
    yield tables.sheet(results, everything=False).markdown()


def _said(one: dict[str, Any]) -> str:
    """What was measured, on what, by which command and when."""
    command = f"`{one['command']}`, " if "command" in one else ""
    return f"**{one['title']}**: {one['about']} ({command}{one['day']})."
