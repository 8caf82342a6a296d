"""Released files as a folder behind any static server: an index with pictures and a search, and for each file its page,
the file itself, its passport and how it is cited; and one text that says all of it to programs.

What a file says is written as text only, under a policy that lets the index run its one script, which hides what a
search does not find, and ask nothing of any network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import numpy as np

from ...errors import RequestError
from ...formatting.escapes import in_html
from ...formatting.numbers import listed, shown
from ...releases.release import Release
from ...runtime.environment import SOFTWARE
from ...runtime.transient import unfinished
from ..label import privacy_label
from ..palette import TEAL
from ..release_pictures import density_picture
from .described import PublicFile, bibtex, read_public
from .passport import passport
from .shared_page import POLICY, _hash, _style, share_html, words_of

MOST_FILES = 1000
CELLS = 24  # Along a side of a small picture.
SCRIPT = (
    'document.getElementById("search").addEventListener("input", (event) => {\n'
    "  const wanted = event.target.value.toLowerCase();\n"
    '  for (const card of document.querySelectorAll("article")) '
    "card.hidden = !card.textContent.toLowerCase().includes(wanted);\n"
    "});"
)
RULES = (
    "main { max-width: 72rem; } .cards { display: grid; gap: 1.5rem; "
    "grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); padding: 0; } "
    ".cards svg { width: 100%; aspect-ratio: 3 / 2; } .cards [hidden] { display: none; } "
    f".cards rect {{ fill: {TEAL.shape}; }} .cards .map {{ filter: blur(4px); }} "
    "a { color: var(--teal); } h2 a { color: inherit; text-decoration: none; } "
    "h2 a:hover { text-decoration: underline; }"
)


@dataclass(frozen=True)
class Entry:
    """One file of the gallery."""

    name: str  # Of the file.
    data: bytes
    file: PublicFile

    @property
    def stem(self) -> str:
        return self.name.rpartition(".")[0]

    def links(self) -> Iterator[tuple[str, str]]:
        """What is handed out of it, in words, and where."""
        yield "Ask it", f"{self.stem}.html"
        yield "The file", self.name
        yield "Passport", f"{self.stem}.passport/"
        if isinstance(self.file, Release):
            yield "Cite it", f"{self.stem}.bib"


def publish(
    folder: Path, out: Path, *, title: str = "Releases", curator: str = "", licence: str = ""
) -> tuple[Path, ...]:
    """Write a gallery of all released files of a folder into another one; what is there is replaced file by file.

    `folder`: Whose files that end in .npz or .json are all public ones; subfolders are not looked into. `out`: Where
    to; not the folder itself. `title`, `curator`, `licence`: The heading, and what passports say that no file knows.
    RequestError when a file is none that may be public, or nothing can be written; before anything is.
    """
    entries = list(entries_of(folder))
    if out.resolve() == folder.resolve():
        raise RequestError("The gallery needs a folder of its own, beside the one with the files.")
    written = {"index.html": index_html(entries, title).encode(), "llms.txt": in_plain(entries, title).encode()}
    for entry in entries:
        written[entry.name] = entry.data
        written[f"{entry.stem}.html"] = share_html(entry.file, entry.data, entry.name).encode()
        if isinstance(entry.file, Release):
            written[f"{entry.stem}.bib"] = bibtex(privacy_label(entry.file, entry.data)).encode()
        papers = passport(folder / entry.name, curator=curator, licence=licence).papers
        names = "".join(f'<li><a href="{quote(name)}">{in_html(name)}</a></li>' for name in papers)
        written[f"{entry.stem}.passport/index.html"] = _plain_page(f"Passport of {entry.stem}", f"<ul>{names}</ul>")
        written |= {f"{entry.stem}.passport/{name}": content for name, content in papers.items()}
    try:
        for name, content in written.items():
            place = out / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with unfinished(place) as draft:
                draft.write(content)
    except OSError as problem:
        raise RequestError(f"The gallery cannot be written: {problem.strerror or problem}.") from None
    return tuple(out / name for name in written)


def entries_of(folder: Path) -> Iterator[Entry]:
    try:
        found = sorted(path for path in folder.iterdir() if path.suffix in (".npz", ".json") and path.is_file())
    except OSError as problem:
        raise RequestError(f"The folder {str(folder)!r} cannot be read: {problem.strerror or problem}.") from None
    if not 1 <= len(found) <= MOST_FILES:
        raise RequestError(f"A gallery has from 1 to {MOST_FILES:,} released files, and the folder has {len(found):,}.")
    stems = [path.stem.lower() for path in found]
    for path in found:
        if stems.count(path.stem.lower()) > 1 or path.stem.lower() in ("index", "llms"):
            raise RequestError(f"The name of {path.name!r} is that of another file of the gallery: rename it.")
        try:
            data = path.read_bytes()
            yield Entry(path.name, data, read_public(data))
        except OSError as problem:
            raise RequestError(f"The file {path.name!r} cannot be read: {problem.strerror or problem}.") from None
        except RequestError as problem:
            raise RequestError(f"The file {path.name!r} is none that may be published: {problem}") from None


def index_html(entries: Sequence[Entry], title: str) -> str:
    """The index: a card a file, with a small picture where there is one."""
    script, style = SCRIPT, _style() + RULES
    policy = POLICY.format(script=_hash(script), style=_hash(style))
    lines = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{in_html(shown(title))}</title><style>{style}</style></head><body><main>",
        f"<header><h1>{in_html(shown(title))}</h1></header>",
        '<p class="fields"><label>Search<input id="search" type="search"></label></p>',
        '<div class="cards">',
        *(card for entry in entries for card in _card(entry)),
        "</div><footer><p class='note'>Made with Frostglass. Every page holds its file and asks no network. "
        '<a href="llms.txt">The same for programs</a>.</p></footer></main>',
        f"<script>{script}</script></body></html>\n",
    ]
    return "\n".join(lines)


def _card(entry: Entry) -> Iterator[str]:
    words = words_of(entry.file, entry.data, entry.name)
    yield f'<article><a href="{quote(entry.stem)}.html" tabindex="-1" aria-hidden="true">{_picture(entry.file)}</a>'
    yield f'<h2><a href="{quote(entry.stem)}.html">{in_html(words.heading)}</a></h2>'
    yield f'<p class="note">{in_html(words.line)}</p>'
    for sentence in words.warnings:
        yield f'<p class="warning">{in_html(sentence)}</p>'
    links = (f'<a href="{quote(place)}">{said}</a>' for said, place in entry.links())
    yield f"<p>{' · '.join(links)}</p></article>"


def _picture(file: PublicFile) -> str:
    """A map of the first two columns, a hill of the only one, bars of a table's first one; else an empty frame."""
    if isinstance(file, Release) and not file.parts and file.sketch.asked_for == "tables":
        answers = file.asked()
        shares = np.nan_to_num(answers.shares(answers.axes[0].name).estimate.to_numpy()[:CELLS])
        bars = "".join(
            f'<rect x="{place + 0.05}" y="{1 - high:.3f}" width="0.9" height="{high:.3f}"/>'
            for place, high in enumerate(shares / max(shares.max(), 1e-9))
        )
        return f'<svg viewBox="0 0 {len(shares)} 1" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'
    opacities = np.zeros((1, 1))
    if (
        isinstance(file, Release)
        and not file.parts
        and file.sketch.asked_for == "places"
        and not file.domain.holds_sets
    ):
        with suppress(RequestError):  # vectors alone have no picture
            opacities = density_picture(file.of_everyone(), size=CELLS)[..., 3] / 255.0
    bars = "".join(
        f'<rect x="{column}" y="{row}" width="1.02" height="1.02" opacity="{opacity:.2f}"/>'
        for row, line in enumerate(opacities)
        for column, opacity in enumerate(line)
        if opacity > 0.02
    )
    side = len(opacities)
    return f'<svg class="map" viewBox="0 0 {side} {side}" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'


def in_plain(entries: Sequence[Entry], title: str) -> str:
    """The gallery for programs that read: what each file is of, what it promises, and where everything is."""
    lines = [f"# {_line(title)}", "", f"> Differentially private releases, made with {SOFTWARE}.", ""]
    for entry in entries:
        words = words_of(entry.file, entry.data, entry.name)
        lines += [f"## {_line(words.heading)}", "", _line(words.line), ""]
        if isinstance(entry.file, Release):
            columns = listed([shown(name) for name in entry.file.domain.names], 100)
            lines += [f"Columns: {_line(columns)}.", ""]
        lines += [f"- [{said}]({quote(place)})" for said, place in entry.links()]
        lines.append("")
    lines += [
        "## How to ask a file",
        "",
        "In Python: `import frostglass; frostglass.load(path).answer({column: [values]})`. In JavaScript: the package",
        "`frostglass-reader`. By the Model Context Protocol: `frostglass mcp FOLDER`, beside the downloaded files.",
        "A release is public: asking it anything costs no privacy.",
        "",
    ]
    return "\n".join(lines)


def _line(text: str) -> str:
    """Text of a file as one line in which nothing is marked up."""
    plain = " ".join(shown(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{sign}" if sign in "\\`*_[]>#" else sign for sign in plain)


def _plain_page(title: str, body: str) -> bytes:
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{in_html(shown(title))}</title>'
    none = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">'
    return f"{head}{none}</head><body><h1>{in_html(shown(title))}</h1>{body}</body></html>\n".encode()
