"""What the tutorials tell a reader to type runs, in their order."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
TUTORIALS = sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / "tutorials").glob("*.md"))


@pytest.mark.thorough
@pytest.mark.parametrize("tutorial", TUTORIALS)
def test_a_tutorial_runs_from_its_first_line_to_its_last(tutorial, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / tutorial).read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) > 3
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, tutorial, "exec"), names)
