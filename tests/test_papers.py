"""The papers lead to what is there."""

import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAPERS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benchmarks/README.md",
]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PLACE = re.compile(r"`((?:core|tests|pages|benchmarks|sample_data|docs)/[\w./]*)`")
NAMED = sorted(path.relative_to(ROOT).as_posix() for path in PAPERS)


@pytest.mark.parametrize("paper", NAMED)
def test_links_and_places_are_there(paper):
    text = (ROOT / paper).read_text(encoding="utf-8")
    missing = [link for link in LINK.findall(text) if not (ROOT / paper).parent.joinpath(link).exists()]
    missing += [place for place in PLACE.findall(text) if not (ROOT / place).exists()]
    assert not missing


def test_the_index_names_every_paper():
    index = set(LINK.findall((ROOT / "docs" / "README.md").read_text(encoding="utf-8")))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} <= index


def test_the_readme_fits_two_screens_and_its_lines_of_python_run():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 80 and len(text) < 5_000
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    random = np.random.default_rng(1)
    names = {"X": random.normal(size=(400, 2)), "points": np.zeros((3, 2))}
    exec(program, names)
    assert np.isfinite(names["model"].score_samples(names["points"])).all()
