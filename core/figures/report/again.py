"""A release as a program that makes it once more: the same columns, question, table and promise, of other records.

It says what the released file says, and that was public before any record was read: names of files and records are
whatever its user types. Names of columns reach the text as Python literals and in no other way, as in a `script`.
"""

from __future__ import annotations

import shlex
from pprint import pformat

from ...domain import Domain
from ...domain.declaration import Declaration
from ...errors import RequestError
from ...privacy.budget import decimal_text
from ...releases.release import Release
from ...version import SOFTWARE
from .script import PACKAGE, WIDTH, literal

OPENING = f'''"""Release records once more: the same columns, the same question and table, and the same promise.

    python SCRIPT RECORDS DATASET OUT

RECORDS is a file of records, DATASET its name in the ledger that pays, and OUT the file to write. What is said below
was public before any record was read; a run reads the records, spends the budget and draws new noise. Its file merges
with the one that this was written from, where the records are others. Written by {SOFTWARE}.
"""
'''


def program_for(release: Release) -> str:
    """The Python program that makes a release of the same kind.

    Raises
    ------
    RequestError
        When what is in the file was chosen under noise that a second run would draw anew.
    """
    sketch, privacy = release.sketch, release.privacy
    promise = ", ".join(map(literal, (decimal_text(privacy.epsilon), decimal_text(privacy.delta))))
    parameters = pformat(sketch.parameters(), width=WIDTH - 4, compact=True, sort_dicts=False)
    lines = [
        OPENING,
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
        text = Declaration(domain).text()
        return text if Declaration.of(text).domain == domain else ""
    except RequestError:
        return ""
