"""Programs that ask a release again (a script, a notebook), or make it once more of other records.

Names and values of a file or a visitor reach the text as Python literals and in no other way: never in a comment, a
docstring or the name of a variable. What a literal holds is data, whatever it looks like.

What makes a release again says what the released file says, and that was public before any record was read: names of
files and records are whatever its user types.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pprint import pformat

from ..domain import Domain
from ..domain.declarations import Declaration
from ..errors import RequestError
from ..privacy.budget import decimal_text
from ..releases.release import Release
from ..runtime.environment import SOFTWARE
from .exploration import Call, Density, Exploration, Step, plain_value, table_of

PACKAGE = __package__.split(".")[0]  # The name that this package is installed under.

OPENING = f'''"""Ask a released file again what was asked in an exploration, from the file alone.

    python SCRIPT [FILE]

Asking costs no privacy: a released file answers for ever. Every answer is printed and written to a CSV file in the
present folder. Written by {SOFTWARE}.
"""
'''
WIDTH = 120


@dataclass(frozen=True)
class StepCode:
    """The code that asks a question again: its title without names, a word for it, and lines that fill `answer`."""

    title: str
    kind: str
    lines: tuple[str, ...]


def script_for(exploration: Exploration) -> str:
    """The script that repeats an exploration; run it with the released file beside it, or name the file."""
    lines = [
        OPENING,
        "import sys",
        "from hashlib import sha256",
        "from pathlib import Path",
        "",
        *imports(exploration),
        "",
        f"FILE = sys.argv[1] if len(sys.argv) > 1 else {literal(exploration.file)}",
        *opening(exploration, "sys.stderr"),
    ]
    for place, question in enumerate(questions(exploration), start=1):
        lines += [
            "",
            f"# {place}. {question.title}",
            *question.lines,
            f"table.to_csv({literal(f'{place}-{question.kind}.csv')}, index=False)",
            f"print({literal(f'{place}. {question.title}')}, table, sep='\\n', end='\\n\\n')",
        ]
    return "\n".join(lines) + "\n"


def imports(exploration: Exploration) -> list[str]:
    """Import lines of what the questions call."""
    names = {PACKAGE: {"load"}}
    calls = [*exploration.parts, *(step.call for step in exploration.steps)]
    for function in (table_of, *(call.function for call in calls if not _is_method(call))):
        names.setdefault(function.__module__, set()).add(function.__name__)
    return [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]


def opening(exploration: Exploration, remarks: str) -> list[str]:
    """Code that opens the file as ``release`` and says, on the stream ``remarks``, when it is not the one explored."""
    return [
        f"FINGERPRINT = {literal(exploration.fingerprint)}",
        "",
        "contents = Path(FILE).read_bytes()",
        "if sha256(contents).hexdigest() != FINGERPRINT:",
        f'    print("This is not the file that was explored, so its answers may be others.", file={remarks})',
        "release = load(contents)",
        *(line for part in exploration.parts for line in _assigned("release", _call(part))),
    ]


def questions(exploration: Exploration) -> list[StepCode]:
    return [StepCode(step.title, step.kind, tuple(_lines(step))) for step in exploration.steps]


def _lines(step: Step) -> list[str]:
    places = step.places
    if places is None:
        return [*_assigned("answer", _call(step.call)), "table = table_of(answer)"]
    rows = [f"    {literal(name)}: {literal(values)}," for name, values in places.items()]
    call = _call(step.call, places)
    return ["places = {", *rows, "}", *_assigned("answer", call), "table = table_of(answer, places)"]


def _assigned(name: str, call: tuple[str, list[str]]) -> list[str]:
    opening, arguments = call
    line = f"{name} = {opening}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return [line]
    return [f"{name} = {opening}(", *(f"    {argument}," for argument in arguments), ")"]


def _call(call: Call, places: Mapping | None = None) -> tuple[str, list[str]]:
    """What is called, and its arguments; the places have a name of their own."""
    arguments = [
        f"{name}=places" if value is not None and value == places else f"{name}={literal(value)}"
        for name, value in call.arguments.items()
    ]
    if _is_method(call):
        return f"release.{call.function.__name__}", arguments
    return call.function.__name__, ["release", *arguments]


def _is_method(call: Call) -> bool:
    return getattr(Release, call.function.__name__, None) is call.function


def literal(value: object) -> str:
    """A plain value as Python source. The text of a string has its controls and half characters escaped by `repr`."""
    return repr(plain_value(value))


INTRODUCTION = f"""# What a released file says

Asking costs no privacy: a released file answers for ever. This notebook needs the file beside it and Frostglass
installed, and nothing else. Written by {SOFTWARE}."""


def notebook_for(exploration: Exploration) -> str:
    """The notebook that repeats an exploration, as the text of an .ipynb file."""
    draws = any(isinstance(step, Density) for step in exploration.steps)
    drawing = [f"from {PACKAGE}.figures.release_pictures import figure_of"] if draws else []
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


AGAIN_OPENING = f'''"""Release records once more: the same columns, the same question and table, and the same promise.

    python SCRIPT RECORDS DATASET OUT

RECORDS is a file of records, DATASET its name in the ledger that pays, and OUT the file to write. What is said below
was public before any record was read; a run reads the records, spends the budget and draws new noise. Its file merges
with the one that this was written from, where the records are others. Written by {SOFTWARE}.
"""
'''


def program_for(release: Release) -> str:
    """The Python program that makes a release of the same kind.

    RequestError when what is in the file was chosen under noise that a second run would draw anew.
    """
    sketch, privacy = release.sketch, release.privacy
    promise = ", ".join(map(literal, (decimal_text(privacy.epsilon), decimal_text(privacy.delta))))
    parameters = pformat(sketch.parameters(), width=WIDTH - 4, compact=True, sort_dicts=False)
    lines = [
        AGAIN_OPENING,
        "import sys",
        "",
        f"from {PACKAGE} import Budget, {'Declaration' if _as_text(sketch.domain) else 'Domain'}, release",
        f"from {PACKAGE}.sketches.registry import sketch_from_parameters",
        "",
        "RECORDS, DATASET, OUT = sys.argv[1:]",
        *_declared(sketch.domain),
        f"PARAMETERS = {parameters}",
        "",
        f"sketch = sketch_from_parameters({literal(sketch.name)}, DOMAIN, PARAMETERS)",
        f"budget = Budget({promise}, {literal(privacy.neighbours.value)})",
        "made = release(sketch, RECORDS, budget, dataset=DATASET)",
        "made.save(OUT)",
        'print(f"Wrote {OUT}, about {made.records:,.0f} records.")',
    ]
    return "\n".join(lines) + "\n"


def command_for(release: Release, file: str) -> str:
    """The command that does the same with the released file, of this name, beside it."""
    privacy = release.privacy
    options = ["--like", file, "--epsilon", decimal_text(privacy.epsilon)]
    options += ["--delta", decimal_text(privacy.delta)] if privacy.delta else []
    return f"python -m {PACKAGE} release RECORDS {shlex.join(options)} --dataset DATASET --out OUT"


def _declared(domain: Domain) -> list[str]:
    """Code that makes the domain: of the declaration that its owner could have typed, where there is one."""
    text = _as_text(domain)
    if not text:
        facts = pformat(domain.to_dict(), width=WIDTH - 4, compact=True, sort_dicts=False)
        return [f"DOMAIN = Domain.from_dict({facts})"]
    return [
        "DOMAIN = Declaration.of(",
        *(f"    {literal(line)}" for line in text.splitlines(keepends=True)),
        ").domain",
    ]


def _as_text(domain: Domain) -> str:
    """The domain as a declaration; "" where a declaration cannot say it all."""
    try:
        text = Declaration(domain, says_missing=True).text()
        return text if Declaration.of(text).domain == domain else ""
    except RequestError:
        return ""
