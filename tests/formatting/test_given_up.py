"""Words that laypeople gave up at, or that say nothing, are in no text that people read."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
PAGES = CORE.parent / "pages"
GIVEN_UP = {
    "slack": "a one-in-a-million risk",
    "worth of (?:closeness|overlap)": "people close by",
    "of (?:its|the|their) ranges?\\b": "of the bounds",
    "crowded": "where most are",
    "such as 3\\b": "how many releases there will ever be",
    "hyper-?parameter": "setting",
    "neighbou?ring data": "what is hidden",
    "laplac(?:e|ian) mechanism": "noise",
    "differential privacy budget": "budget",
    "utility": "how far off",
    "please": "",
    r"\boops|successfully|simply": "",
}
"""What is not said, and what is in its place."""
SAID_ELSEWHERE = re.compile("|".join(GIVEN_UP), re.IGNORECASE)


def texts(path: Path) -> Iterator[str]:
    """Texts of a file that may be shown: with a space in them, and no docstrings."""
    if path.suffix != ".py":
        yield from re.findall(r'"[^"\n]* [^"\n]*"|`[^`\n]* [^`\n]*`', path.read_text(encoding="utf-8"))
        return
    told = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for inside in getattr(node, "body", ()) if isinstance(getattr(node, "body", None), list) else ():
            if isinstance(inside, ast.Expr) and isinstance(inside.value, ast.Constant):
                told.add(inside.value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in told and " " in node.value:
            yield node.value


def shown_files() -> list[Path]:
    folders = [*(CORE / name for name in ("ui", "figures", "formatting", "releases/forecast")), PAGES]
    assert all(one.is_dir() for one in folders)
    return [path for one in folders for ending in ("*.py", "*.js") for path in one.rglob(ending)]


def test_no_text_has_a_word_that_laypeople_gave_up_at():
    found = {}
    for path in shown_files():
        if SAID_ELSEWHERE.search(path.read_text(encoding="utf-8")):  # few are worth taking apart
            said = [text for text in texts(path) if SAID_ELSEWHERE.search(text)]
            if said:
                found[str(path.relative_to(CORE.parent))] = said
    assert not found


@pytest.mark.parametrize("text", ["a little Slack", "5% of its range", "9 people's worth of closeness", "such as 3"])
def test_the_words_are_found(text):
    assert SAID_ELSEWHERE.search(text)
