"""An exploration as a Jupyter notebook (format 4.5): the cells of the script, with figures."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ...version import SOFTWARE
from .exploration import Density, Exploration
from .script import PACKAGE, imports, literal, opening, questions

INTRODUCTION = f"""# What a released file says

Asking costs no privacy: a released file answers for ever. This notebook needs the file beside it and Frostglass
installed, and nothing else. Written by {SOFTWARE}."""


def notebook_for(exploration: Exploration) -> str:
    """The notebook that repeats an exploration, as the text of an .ipynb file.

    Raises
    ------
    RequestError
        When a step holds a value that cannot be written down.
    """
    draws = any(isinstance(step, Density) for step in exploration.steps)
    drawing = [f"from {PACKAGE}.figures.report.pictures import figure_of"] if draws else []
    setup = [
        "import sys",
        "from hashlib import sha256",
        "from pathlib import Path",
        "",
        *sorted([*imports(exploration), *drawing]),
        "",
        f"FILE = {literal(exploration.file)}",
        *opening(exploration, "sys.stderr"),
    ]
    cells = [_markdown(INTRODUCTION.splitlines()), _code(setup)]
    for place, (step, question) in enumerate(zip(exploration.steps, questions(exploration), strict=True), start=1):
        cells += [_markdown([f"## {place}. {question.title}"]), _code([*question.lines, "table"])]
        if isinstance(step, Density):
            cells.append(_code(["figure_of(release, answer)"]))
    notebook = {
        "cells": [cell | {"id": f"cell-{place}"} for place, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def _markdown(lines: Sequence[str]) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": _source(lines)}


def _code(lines: Sequence[str]) -> dict:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": _source(lines)}


def _source(lines: Sequence[str]) -> list[str]:
    """Lines as the format keeps them: all but the last end in a line break."""
    return [line + "\n" for line in lines[:-1]] + list(lines[-1:])
