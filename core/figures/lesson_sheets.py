"""Sheets to print for a class: one A4 page a lesson, with room to write; and the same with answers, for teachers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..formatting.escapes import in_html
from .palette import FAINT, INK
from .paper import FONT

LINES = 4  # Lines to write on, a question.
STYLE = f"""
@page {{ size: A4; margin: 16mm 18mm; }}
body {{ font: 11.5pt/1.4 {FONT}; color: {INK.light}; background: #fff; margin: 0 auto; max-width: 174mm; }}
section {{ break-after: page; padding-top: 4mm; }} section:last-child {{ break-after: auto; }}
h1 {{ font-size: 19pt; font-weight: 500; margin: 2mm 0 4mm; }}
header, footer {{ display: flex; justify-content: space-between; color: {FAINT.light}; font-size: 9.5pt; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 1mm 5mm; margin: 0 0 3mm; }}
dt {{ font-weight: 600; }} dd {{ margin: 0; }}
ol {{ padding-left: 6mm; margin: 0; }} li {{ margin-bottom: 3mm; break-inside: avoid; }}
li::marker {{ font-weight: 600; }} .line {{ border-bottom: 0.3mm solid {FAINT.light}; height: 8.5mm; }}
.answer {{ margin: 1mm 0 0; color: {FAINT.light}; }} footer {{ margin-top: 5mm; }}
@media screen {{ body {{ padding: 10mm; }}
  section + section {{ border-top: 1px solid {FAINT.light}; margin-top: 12mm; }} }}
"""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>{style}</style></head><body><main>
{sheets}
</main></body></html>
"""


@dataclass(frozen=True)
class Sheet:
    """What stands on one sheet.

    ``number`` and ``of`` say which lesson it is; ``questions`` are pairs of a question and its answer; ``address`` is
    where the lesson is found.
    """

    title: str
    number: int
    of: int
    do: str
    see: str
    questions: tuple[tuple[str, str], ...]
    address: str


def sheets_html(title: str, sheets: Sequence[Sheet], answers: bool = False) -> str:
    """Sheets as one HTML file that prints a page a lesson.

    Parameters
    ----------
    answers : bool
        Whether the answers stand below the questions, in place of lines to write on.
    """
    body = "\n".join("\n".join(_sheet(sheet, answers)) for sheet in sheets)
    return PAGE.format(title=in_html(title), style=STYLE, sheets=body)


def _sheet(sheet: Sheet, answers: bool) -> Iterator[str]:
    name = "<span>For teachers</span>" if answers else "<span>Name: ______________________</span>"
    yield f"<section><header><span>Frostglass · lesson {sheet.number} of {sheet.of}</span>{name}</header>"
    yield f"<h1>{in_html(sheet.title)}</h1>"
    yield f"<dl><dt>Do</dt><dd>{in_html(sheet.do)}</dd><dt>See</dt><dd>{in_html(sheet.see)}</dd></dl><ol>"
    for question, answer in sheet.questions:
        below = f'<p class="answer">{in_html(answer)}</p>' if answers else '<div class="line"></div>' * LINES
        yield f"<li>{in_html(question)}{below}</li>"
    yield f"</ol><footer><span>{in_html(sheet.address)}</span></footer></section>"
