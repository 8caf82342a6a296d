"""The shared page: one HTML file that holds a release, what it promises, and the script that asks it.

Nothing in it names another host, and its own policy forbids every request: it may run its one script and its one style
sheet, whose hashes it states, and nothing else. What a file says travels packed, so that no text of a stranger ever
stands in the page's source except escaped; the script writes all of it as text.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

from ...errors import RequestError
from ...local.released import LocalAnswers
from ...models.model_file import TEACHING, ModelFile
from ...words.escapes import in_html
from ...words.numbers import percent, significant
from ...words.phrases import day, listed, shown
from ..report.citation import bibtex, datacite, manifest_text, title_of
from ..report.html import MARK
from ..report.label import describe, privacy_label
from ..report.style import STYLE
from ..scales import DARK_SHADES, LIGHT_SHADES
from ..sentences.answers import SHARED_NOISE, one_line
from .content import contents
from .files import PublicFile

FOLDER = Path(__file__).parent
SCRIPTS = ("bytes", "numbers", "splines", "grid", "lattice", "canvas", "chart", "forms", "take", "page")
"""The parts of the script, in the order in which they need each other."""
MOST_BYTES = 24 << 20
"""Of a file that is carried along."""
POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Shared:
    """A file in words, as a page states it.

    Attributes
    ----------
    heading, line : str
        What it is of, and the whole of it in one line.
    promise : str
        What is promised, as odds.
    sentences : tuple[str, ...]
        Everything that it says of itself.
    warnings : tuple[str, ...]
        What must be said of the promise before anything is read.
    papers : tuple[tuple[str, str, str], ...]
        What is handed out beside it: label, ending of the file's name, and text.
    """

    heading: str
    line: str
    promise: str
    sentences: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    papers: tuple[tuple[str, str, str], ...] = ()


def share_html(file: PublicFile, data: bytes, name: str) -> str:
    """One HTML file that lets people ask a release without Python and without a network.

    Parameters
    ----------
    file : PublicFile
        What is shared.
    data : bytes
        The contents of its file, which the page carries.
    name : str
        Of that file.

    Raises
    ------
    RequestError
        When the file is too large to be carried by a page.
    """
    if len(data) > MOST_BYTES:
        raise RequestError(
            f"The release takes {len(data):,} bytes, and a page carries at most {MOST_BYTES:,}: hand out the file "
            "itself."
        )
    words = _words(file, data)
    payload = {
        "title": words.heading,
        "name": name,
        "mime": "application/json" if isinstance(file, ModelFile) else "application/octet-stream",
        "papers": [list(paper) for paper in words.papers],
        "sharedNoise": SHARED_NOISE,
        "subjects": contents(file),
    }
    packed = gzip.compress(json.dumps(payload, allow_nan=False).encode(), 9, mtime=0)
    return "\n".join(_document(words, _base64(packed), _base64(data))) + "\n"


def _words(file: PublicFile, data: bytes) -> Shared:
    """What a file says of itself."""
    if isinstance(file, ModelFile):
        sentences = tuple(file.card())
        heading = f"{shown(file.task.label)} from {listed([shown(one) for one in file.features.names], 6)}"
        odds = f"A coin-flip (50%) guess about one record can rise to at most {percent(min(1.0, file.budget.odds), 3)}."
        return Shared(heading, sentences[1], "" if file.warnings else odds, sentences, file.warnings)
    if isinstance(file, LocalAnswers):
        epsilon = float(file.epsilon)
        guess = 1.0 / (1.0 + 2.718281828459045**-epsilon)
        line = f"{file.people:,} local reports · counted {day(file.created)} · ε = {significant(epsilon, 4)} each"
        promise = (
            "Nobody was trusted: every answer was randomised where it was given. Whoever sees a report and thought "
            "before that two answers were equally likely is right about which one it was in at most "
            f"{percent(guess, 3)} of cases."
        )
        return Shared(shown(file.question), line, promise, ())
    label = privacy_label(file, data)
    papers = (
        ("Cite it (BibTeX)", "bib", bibtex(label)),
        ("For a DOI (JSON)", "datacite.json", datacite(label, len(data))),
        ("Its manifest (JSON)", "manifest.json", manifest_text(data)),
    )
    odds = " ".join([label.odds_in_words, label.slack]) if label.private else ""
    sentences = tuple(describe(file, data))
    line = one_line(label).partition(" · ")[2]  # the heading says what it is of
    return Shared(title_of(label), line, odds, sentences, () if label.private else (TEACHING,), papers)


def _document(words: Shared, payload: str, data: str) -> Iterator[str]:
    script, style = _script(), _style()
    policy = POLICY.format(script=_hash(script), style=_hash(style))
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{in_html(words.heading)}</title><style>{style}</style></head><body><main>"
    yield f"<header>{MARK}<div><h1>{in_html(words.heading)}</h1>"
    yield f"<p class='made'>{in_html(words.line)}</p></div></header>"
    for sentence in words.warnings:
        yield f"<p class='warning'>{in_html(sentence)}</p>"
    yield '<div id="explore"><p class="note" id="wait">Opening the file …</p></div>'
    yield "<noscript><p>The pictures need JavaScript, which this browser does not run.</p></noscript>"
    yield from _promise(words)
    yield (
        '<section id="take" aria-labelledby="take-heading"><h2 id="take-heading">Take it along</h2>'
        '<div class="buttons"></div></section>'
    )
    yield "<footer><p class='note'>Made with Frostglass. This page holds everything it shows and asks no network.</p>"
    yield "</footer></main>"
    yield f'<script type="application/x-frostglass" id="payload">{payload}</script>'
    yield f'<script type="application/x-frostglass" id="file">{data}</script>'
    yield f"<script>{script}</script></body></html>"


def _promise(words: Shared) -> Iterator[str]:
    yield "<section id='promise' aria-labelledby='promise-heading'>"
    yield "<h2 id='promise-heading'>What it promises</h2>"
    if words.promise:
        yield f"<p class='odds'>{in_html(words.promise)}</p>"
    if words.sentences:
        lines = "".join(f"<li>{in_html(sentence)}</li>" for sentence in words.sentences)
        yield f"<details><summary>All that the file says of itself</summary><ul class='facts'>{lines}</ul></details>"
    yield "</section>"


@cache
def _script() -> str:
    parts = [(FOLDER / f"{name}.js").read_text(encoding="utf-8").strip() for name in SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();"


@cache
def _style() -> str:
    shades = " ".join(
        f".c-shade-{index} {{ color: light-dark({light}, {dark}); }}"
        for index, (light, dark) in enumerate(zip(LIGHT_SHADES, DARK_SHADES, strict=True))
    )
    return f"{STYLE.strip()}\n{(FOLDER / 'share.css').read_text(encoding='utf-8').strip()}\n{shades}\n"


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
