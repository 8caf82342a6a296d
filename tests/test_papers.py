"""The papers lead to what is there, and show commands that there are."""

import re
import shlex
from functools import cache
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
COMMAND = re.compile(r"^ {4}(?:python -m core|frostglass) ((?:.*\\\n)*.*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
PLACE = re.compile(r"`((?:core|tests|pages|benchmarks|sample_data|docs)/[\w./]*)`")
NAMED = sorted(path.relative_to(ROOT).as_posix() for path in PAPERS)


@pytest.mark.parametrize("paper", NAMED)
def test_links_and_places_are_there(paper):
    text = (ROOT / paper).read_text(encoding="utf-8")
    missing = [link for link in LINK.findall(text) if not (ROOT / paper).parent.joinpath(link).exists()]
    missing += [place for place in PLACE.findall(text) if not (ROOT / place).exists()]
    assert not missing


@cache
def commands():
    from typer.main import get_command

    from core.cli.commands import app

    return get_command(app)


@pytest.mark.parametrize("paper", NAMED)
def test_commands_that_papers_show_have_their_names_and_options(paper):
    """Files need not be there, nor what a shell would put in their place."""
    shown = COMMAND.findall((ROOT / paper).read_text(encoding="utf-8"))
    for text in shown:
        command, words = commands(), shlex.split(text.replace("\\\n", " "), comments=True)
        while hasattr(command, "commands"):
            assert words[0] in command.commands, text
            command = command.commands[words.pop(0)]
        known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
        assert [word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word) and word not in known] == [], text


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
