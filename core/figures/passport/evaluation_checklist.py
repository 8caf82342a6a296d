"""What NIST SP 800-226 would have an evaluator ask of a claim of differential privacy, as far as a file can answer.

The publication draws a pyramid: the numbers of the promise and the unit of privacy on top; below them the algorithms,
what they do to the use of the data, the query model and the trust model; at the bottom how they were implemented, how
records are secured and how they were collected. Each stone rests on those below. It has no form to be filled in, so the
questions here are those of its sections and of its hazards, in its order from the top. A file knows nothing of the
bottom: there the answer is that it is unknown, for the owner to fill in, and never that all is well.

References
----------
Near, Darais, Lefkovitz, Howarth 2025, Guidelines for Evaluating Differential Privacy Guarantees (NIST SP 800-226).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...formatting.escapes import in_markdown
from ...formatting.numbers import significant
from ...privacy.budget import decimal_text
from .described import COMPOSITION, IMPLEMENTATION, UNKNOWN, Said
from .registry_entry import trusted

if TYPE_CHECKING:
    from .registry_entry import Publisher

STRONG, WEAK = 1, 10
"""ε up to which a promise is commonly called strong, and from which it says little in the worst case."""


class Question(NamedTuple):
    """One line of the checklist."""

    section: str
    asked: str
    answer: str  # `UNKNOWN` where the file cannot know.


def questions(said: Said, publisher: Publisher) -> Iterator[Question]:
    """All questions with their answers, from the top of the pyramid to its bottom."""
    numbers = f"ε = {decimal_text(said.epsilon)}" + (f", δ = {decimal_text(said.delta)}" if said.delta else "")
    section = "Privacy parameters"
    yield Question(section, "Which definition is met, and with which numbers?", f"{said.variant}: {numbers}.")
    yield Question(section, "How strong is that in the worst case?", f"{said.odds} {_strength(said)}")
    yield Question(section, "Is δ far below one over the number of people?", _slack(said))
    section = "Unit of privacy"
    yield Question(section, "Whose data is hidden?", f"{said.unit}. {said.unit_details}")
    yield Question(
        section,
        "Does one person have several records, and is that within the unit?",
        _several(said),
    )
    section = "Composition"
    yield Question(section, "Is all that the file holds under the stated numbers?", COMPOSITION)
    yield Question(section, "What else was released about the same people, and what is the total?", UNKNOWN)
    yield Question(section, "Is anything published beside it without noise?", said.unprotected)
    section = "Algorithms and correctness"
    yield Question(section, "Which mechanisms were used, and why do they keep the promise?", said.promise)
    yield Question(section, "Was the implementation tested against its proof?", said.audited or UNKNOWN)
    yield Question(section, "Were bounds, categories or settings chosen by looking at the records?", said.preparation)
    section = "Accuracy and bias"
    yield Question(section, "How accurate are its answers, and is that stated with them?", said.utility)
    yield Question(section, "What is it to be used for, and is it accurate enough for that?", _use(publisher))
    yield Question(
        section,
        "Are small groups so noisy that decisions about them would be unfair?",
        "Noise is as large for small groups as for large ones, so that it is larger in proportion; every answer has an "
        "interval that says so. Whether that is fair to them is for the owner to judge: unknown.",
    )
    yield Question(section, "Do the records stand for whom they are meant to?", UNKNOWN)
    section = "Query model"
    yield Question(section, "Do analysts ask the records, or a finished release?", "A finished release, made once.")
    section = "Trust model"
    yield Question(section, "Who is trusted with the records?", trusted(said))
    section = "Implementation"
    yield Question(section, "Can floating-point numbers give noise away?", IMPLEMENTATION)
    yield Question(
        section,
        "Can the time or the memory that it took give records away?",
        "Nobody asks the records through it, so that there is no answer to time. Who watched the machine while the "
        "release was made is unknown.",
    )
    section = "Data security and access control"
    yield Question(section, "Who can read the records, and how is that enforced?", UNKNOWN)
    yield Question(section, "How long are they kept, and how are they destroyed?", UNKNOWN)
    section = "Data collection"
    yield Question(section, "Were the people told, and did they agree?", UNKNOWN)
    yield Question(section, "Was more collected than is needed?", UNKNOWN)


def checklist(said: Said, publisher: Publisher) -> str:
    """The checklist as Markdown, a table a section."""
    asked = list(questions(said, publisher))
    known = sum("unknown" not in one.answer.lower() for one in asked)
    lines = [
        "# Evaluation by NIST SP 800-226",
        "",
        f"{in_markdown(said.title)}; file {in_markdown(said.name)}.",
        "",
        f"{known} of {len(asked)} questions are answered from the file, which says what the program that wrote it did. "
        "The others nobody can read off it, or not all of them: what is unknown, whoever holds the records answers.",
    ]
    section = ""
    for one in asked:
        if one.section != section:
            section = one.section
            lines += ["", f"## {section}", "", "| Question | Answer |", "|---|---|"]
        lines.append(f"| {_cell(one.asked)} | {_cell(one.answer)} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    """A text in a table of Markdown, whatever it holds."""
    return in_markdown(text)


def _strength(said: Said) -> str:
    epsilon = float(said.epsilon)
    if epsilon <= STRONG:
        return f"ε is at most {STRONG}, which is commonly called strong."
    if epsilon < WEAK:
        return f"ε is between {STRONG} and {WEAK}, as in many deployments; what it hides in practice depends on them."
    return f"ε is {WEAK} or more, which proves little in the worst case."


def _slack(said: Said) -> str:
    if not said.delta:
        return "There is no δ: the promise holds with certainty."
    if said.units is None:
        return f"δ = {decimal_text(said.delta)}; how many people there are is unknown."
    chance = float(said.delta) * said.units
    verdict = "yes" if chance <= 0.01 else "no, and it should be smaller"
    return f"δ times the number of people is about {significant(chance, 1)}: {verdict}."


def _several(said: Said) -> str:
    if said.model == "Local":
        return "Each report is protected by itself; whether a person sent several is unknown."
    if said.domain is None or said.domain.unit.column is None:
        return (
            "Each record is protected by itself. Whether a person has several, whose protection is weaker, is unknown."
        )
    return f"Records are counted to people by the column {said.domain.unit.column}: {said.unit}."


def _use(publisher: Publisher) -> str:
    return (
        f"{publisher.use.rstrip('.')}. Whether it is accurate enough for that is unknown." if publisher.use else UNKNOWN
    )
