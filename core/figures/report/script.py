"""An exploration as a Python script: the same questions to the same file, by the public interface alone.

Names and values of a file or a visitor reach the text as Python literals and in no other way: never in a comment, a
docstring or the name of a variable. What a literal holds is data, whatever it looks like.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...releases.release import Release
from ...version import SOFTWARE
from .exploration import Call, Exploration, Step, plain_value

PACKAGE = __package__.split(".")[0]
"""The name that this package is installed under."""

OPENING = f'''"""Ask a released file again what was asked in an exploration, from the file alone.

    python SCRIPT [FILE]

Asking costs no privacy: a released file answers for ever. Every answer is printed and written to a CSV file in the
present folder. Written by {SOFTWARE}.
"""
'''
WIDTH = 120


@dataclass(frozen=True)
class Question:
    """The code of one step.

    Attributes
    ----------
    title : str
        What is asked, in words without names.
    kind : str
        One word for it.
    lines : tuple[str, ...]
        Code that leaves the answer in ``answer`` and its table in ``table``.
    """

    title: str
    kind: str
    lines: tuple[str, ...]


def script_for(exploration: Exploration) -> str:
    """The script that repeats an exploration; run it with the released file beside it, or name the file.

    Raises
    ------
    RequestError
        When a step holds a value that cannot be written down.
    """
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
    names = {f"{PACKAGE}": {"load"}, f"{PACKAGE}.figures.report.tables": {"table_of"}}
    for step in exploration.steps:
        function = step.call.function
        if not _is_method(step.call):
            module = PACKAGE + function.__module__.removeprefix(PACKAGE)
            names.setdefault(module, set()).add(function.__name__)
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


def questions(exploration: Exploration) -> list[Question]:
    """The code of every step."""
    return [Question(step.title, step.kind, tuple(_lines(step))) for step in exploration.steps]


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
