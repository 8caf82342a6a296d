"""One page that needs nothing else: what the papers say, what came out, curves and tables. Plotly is inside, once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from plotly.offline import get_plotlyjs

from core.figures.palette import FAINT, RED, TEAL
from core.figures.traces import STYLE, on_paper
from core.runtime.environment import SOFTWARE

from ..machine import machine
from ..tables import Sheet
from .pictures import Claim, Picture, Section
from .work import Settings, code_version

TITLE = "The papers' experiments, with every method as it should be"
OWN_STYLE = f"""
h2 {{ margin-top: 3rem; }} .source {{ color: {FAINT.light}; }} figure {{ margin: 1.5rem 0; }}
figcaption {{ color: {FAINT.light}; font-size: 0.95rem; }} .wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 0.9rem; margin: 1rem 0; }}
caption {{ text-align: left; font-weight: 600; padding: 0.3rem 0; }}
th, td {{ text-align: left; padding: 0.25rem 0.7rem 0.25rem 0; border-bottom: 1px solid #DCE3E4; }}
td {{ vertical-align: top; }} li {{ margin: 0.6rem 0; }} .yes, .no {{ font-weight: 600; }}
.yes {{ color: {TEAL.light}; }} .no {{ color: {RED.light}; }}
"""
CONFIG = {"displaylogo": False, "responsive": True, "toImageButtonOptions": {"format": "svg"}}
ABOUT = (
    "Every method runs as its paper describes it, with noise that keeps what it promises: this program's own, or a "
    "rival's, whose published code was corrected where it did not. Errors are against exact sums of public data. Noise "
    "is seeded, so that anyone gets the same figures again.",
    "There are two pictures of each. In the first, every setting was chosen by public facts alone. In the second, "
    "every method has the best of all settings that were tried, as in the papers; it was chosen on draws that are not "
    "reported, and whoever chose so on private data would pay ε for every try. What that comes to is in the tables.",
    "The code that was published with the RACE paper adds noise N times too small, N the number of records, as if "
    "counts were shares. Its curves are drawn in red and dashed. They are not private: at what they call ε they keep "
    "N ε.",
)


def write(file: Path, sections: Sequence[Section], settings: Settings) -> None:
    """Write the page in one step, so that whoever reads it never sees half of one."""
    text = "\n".join(_page(sections, settings))
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".unfinished")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(file)


def _page(sections: Sequence[Section], settings: Settings) -> Iterator[str]:
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(TITLE)}</title><style>{STYLE}{OWN_STYLE}</style>"
    yield f"<script>{get_plotlyjs()}</script></head><body><h1>{escape(TITLE)}</h1>"
    for paragraph in ABOUT:
        yield f"<p>{escape(paragraph)}</p>"
    yield f"<p class='source'>{escape(_made(settings))}</p>"
    yield from _contents(sections)
    for number, section in enumerate(sections):
        yield from _section(section, number)
    yield "</body></html>"


def _made(settings: Settings) -> str:
    where = machine()
    versions = ", ".join(f"{name} {version}" for name, version in where["versions"].items())
    quick = " Small sizes: nothing is judged by them." if settings.quick else ""
    return (
        f"{SOFTWARE}, code {code_version()}, {datetime.now(UTC).date().isoformat()}; {settings.repetitions} reported "
        f"draws of every method, {settings.tuning} for every setting; {where['processor']}, one core a trial; "
        f"Python {where['python']}, {versions}.{quick}"
    )


def _contents(sections: Sequence[Section]) -> Iterator[str]:
    """What the papers say and whether it came out, all in one list."""
    yield "<h2>In short</h2><ul>"
    for number, section in enumerate(sections):
        yield f"<li><a href='#s{number}'>{escape(section.title)}</a>"
        if section.claims:
            yield f"<ul>{''.join(map(_claim, section.claims))}</ul>"
        yield "</li>"
    yield "</ul>"


def _claim(claim: Claim) -> str:
    verdict = {True: ("yes", "Reproduced"), False: ("no", "Not reproduced"), None: ("", "Not told")}[claim.holds]
    kind, word = verdict
    return f"<li><span class='{kind}'>{word}</span>: {escape(claim.says)} <br>{escape(claim.found)}</li>"


def _section(section: Section, number: int) -> Iterator[str]:
    yield f"<section><h2 id='s{number}'>{escape(section.title)}</h2><p class='source'>{escape(section.source)}</p>"
    for paragraph in section.about:
        yield f"<p>{escape(paragraph)}</p>"
    yield from map(_picture, section.pictures)
    yield from map(_table, section.sheets)
    yield "</section>"


def _picture(picture: Picture) -> str:
    drawn = on_paper(picture.figure).to_html(
        config=CONFIG, include_plotlyjs=False, full_html=False, default_width="100%"
    )
    return f"<figure>{drawn}<figcaption>{escape(picture.caption)}</figcaption></figure>"


def _table(sheet: Sheet) -> str:
    heads = "".join(f"<th scope='col'>{escape(head)}</th>" for head in sheet.heads)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in sheet.rows)
    table = (
        f"<table><caption>{escape(sheet.title)}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )
    return f"<div class='wide'>{table}</div>"
