"""The shared page: one HTML file that holds a release, what it promises, and the script that asks it.

Nothing in it names another host, and its own policy forbids every request: it may run its one script and its one style
sheet, whose hashes it states, and nothing else. What a file says travels packed, so that no text of a stranger ever
stands in the page's source except escaped; the script writes all of it as text.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy.special import ndtri

from ...analysis.density import Heatmap
from ...domain import Dates
from ...errors import RequestError
from ...formatting.escapes import in_html
from ...formatting.numbers import day, listed, percent, shortened, shown, significant
from ...geometry.kernels import Bandwidth
from ...local.local_answers import LocalAnswers
from ...models.linear_models import LinearModel, NumberModel
from ...models.model_file import ModelFile
from ...releases.comparison import Comparison
from ...releases.release import Release
from ...runtime.environment import APP
from ...sketches.living import Living
from ..answer_sentences import BEYOND_RECORDS, SHARED_NOISE, one_line
from ..distance_figures import distance_unit
from ..exploration import Step
from ..label import privacy_label
from ..meaning import counted, odds
from ..palette import AMBER, DARK_SHADES, FAINT, INK, LIGHT_SHADES, PAPER, RED, TEAL
from .catalogue_entries import croissant, in_head
from .described import ARCHIVE, PublicFile, Publisher, bibtex, datacite, described, manifest_text, title_of
from .page_sections import (
    differences_html,
    label_html,
    model_facts,
    number_facts,
    promise_html,
    reading_html,
    regression_facts,
    steps_html,
)
from .shared_pictures import (
    LEVEL,
    is_asked_in_pages,
    lattice_facts,
    live_facts,
    local_facts,
    opening_facts,
    table_facts,
)


def ending(data: bytes) -> str:
    """The ending of the name of a file with such contents."""
    return ".npz" if data.startswith(ARCHIVE) else ".json"


MOST_SUBJECTS = 40  # Questions and groups that a page shows.
EVERYONE = "everyone together"
SEPARATOR = " · "  # Between a question and a group.


@dataclass(frozen=True)
class Subject:
    """One population that a file answers for."""

    name: str  # Question and group in words; "" where the file has one of them.
    release: Release  # Of this population alone.
    part: str = ""  # The question and the group by their names in the file; "" where it has one, or all are meant.
    group: str = ""
    # Of a living release how the sum over some of its periods is read off the file.
    run: dict[str, Any] | None = None


def contents(file: PublicFile) -> list[dict[str, Any]]:
    """Everything that a page shows, as values for JSON."""
    if isinstance(file, LinearModel):
        return [{"name": "", **model_facts(file)}]
    if isinstance(file, NumberModel):
        return [{"name": "", **number_facts(file)}]
    if isinstance(file, LocalAnswers):
        return [local_facts(file)]
    found = subjects(file)[:MOST_SUBJECTS]
    return [facts for one in found if (facts := _facts(one, 1.0 / len(found)))]


def subjects(release: Release) -> list[Subject]:
    """The populations of a release: of every question each group, and all of them together.

    Of a living release all periods until now, and each of the latest by itself.
    """
    if release.sketch.asked_for == "periods":
        return _periods(release, cast(Living, release.sketch))
    return [subject for name, part in (release.parts or {"": release}).items() for subject in _groups(name, part)]


def _periods(release: Release, living: Living) -> list[Subject]:
    first, last = living.first_of_latest, living.released - 1
    runs = [(first, last), *((one, one) for one in range(last, max(first, last - MOST_SUBJECTS + 1) - 1, -1))]
    return [_run(release, living, *ends) for ends in (runs if first < last else runs[:1])]


def _run(release: Release, living: Living, first: int, last: int) -> Subject:
    """A run of periods, from 0."""
    run, name = release.run(first + 1, last + 1), living.names[last]
    weights = living.reading(first, last)[0].tolist()
    facts = {"weights": weights, "noise": run.privacy.counter_variance, "countNoise": run.privacy.count_variance}
    return Subject(name if first == last else f"{living.names[first]} to {name}", run, run=facts)


def _groups(name: str, release: Release) -> list[Subject]:
    classes = release.sketch.classes
    if not classes:
        return [Subject(name, release, name)]
    each = [Subject(_named(name, one), release.of_class(one), name, one) for one in classes]
    return [Subject(_named(name, EVERYONE), release.of_everyone(), name), *each]


def _named(*names: str) -> str:
    return SEPARATOR.join(name for name in names if name)


def _facts(subject: Subject, share: float) -> dict[str, Any] | None:
    """What is drawn of one population, as values for JSON; None where there is nothing to draw."""
    release = subject.release
    live = None if release.population is not None else live_facts(release)  # the page knows the error of noise alone
    found = regression_facts(release) or table_facts(release) or live or lattice_facts(release, share)
    return None if found is None else _population_facts(subject, found)


def _population_facts(subject: Subject, found: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a population, with who it is."""
    release = subject.release
    distance = release.sketch.answers == "distance"
    facts = {
        "name": subject.name,
        "part": subject.part,
        "group": subject.group,
        "run": subject.run,
        "counted": counted(release.domain),
        "records": release.records,
        "error": release.records_error if math.isfinite(release.records_error) else 0.0,
        "reach": float(ndtri(0.5 + LEVEL / 2.0)),
        "answers": release.sketch.answers,
        "unit": distance_unit(release.sketch) if distance else "",
    }
    return facts | found


FOLDER = Path(__file__).parent
COLOURS = {"amber": AMBER, "teal": TEAL, "ink": INK, "faint": FAINT, "red": RED, "paper": PAPER}
MARK = (
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true"><defs><filter id="frost" x="-60%" y="-60%" width="220%" '
    'height="220%"><feGaussianBlur stdDeviation="1.7"/></filter></defs><g class="mark-people"><circle cx="4.5" cy="11" '
    'r="2.3"/><circle cx="8.6" cy="18" r="2.3"/><circle cx="3.8" cy="23" r="2.3"/></g><rect class="mark-pane" x="12.5" '
    'y="1.5" width="18" height="29" rx="3"/><g class="mark-shape" filter="url(#frost)"><circle cx="21.5" cy="17.5" '
    'r="5.5"/><circle cx="20" cy="13.5" r="3.4"/></g></svg>'
)
TAUGHT = (
    "This is a file for teaching. Its noise can be repeated, so it protects nobody; never make one from records of "
    "real people."
)
FONTS_LICENCE = (
    "/* Fonts: Source Sans 3 and Source Serif 4, copyright 2014-2023 Adobe, with Reserved Font Name 'Source'; parts of "
    "them under other names. SIL Open Font License, Version 1.1: openfontlicense.org. */"
)
# The decoder, which is a package of its own; the page draws what it decodes.
READER = APP / "readers" / "javascript"
IMPORT = re.compile(r'^import \{[^}]*\} from "(?:[^"]*/)?([a-z_]+\.js)";\n', re.MULTILINE)
# What a browser does not need of a script: remarks that have lines of their own, and how far lines are indented.
REMARKS = re.compile(r"^ *(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/)\n|^ +", re.MULTILINE | re.DOTALL)
# Where something is drawn inside another program, such as the app; `inside.js` says what is handed over of a table.
INSIDE_PLACE = '<div class="inside"></div>'
# What stays in place keeps clear of the app's menu, which does so too, and on a phone of all of its head.
BESIDE_MENU = (
    ".bar-top { padding-right: 2.4rem; } @media (max-width: 768px) { .bar-top { top: 3.6rem; padding-right: 0; } }"
)
MOST_BYTES = 24 << 20  # The largest file that a page carries along.
POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; font-src data:; base-uri 'none'; "
    "form-action 'none'"
)


@dataclass(frozen=True)
class Shared:
    """A file in words, as a page states it."""

    # What it is of, and the whole of it in one line.
    heading: str
    line: str
    whose: str = ""  # The end of it that says who is protected; on a phone the label alone does.
    promise: tuple[str, ...] = ()  # Lines of markup; none where nothing is promised.
    warnings: tuple[str, ...] = ()  # What must be said of the promise before anything is read.
    facts: tuple[str, ...] = ()  # Everything that it says of itself, as lines of markup.
    # What is handed out beside it: label, ending of the file's name, and text.
    papers: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Asked:
    """What was looked at in a release, which its page shows besides; printed, it is a report."""

    steps: tuple[Step, ...] = ()  # What was asked of it.
    part: Release | None = None  # Of a release with several questions or groups, the one that was asked.
    whom: str = ""  # Its question and group in words.
    compared: tuple[Comparison, str] | None = None  # Of tables, the difference to another release, and its name.


def share_html(file: PublicFile, data: bytes, name: str, asked: Asked | None = None) -> str:
    """One HTML file that lets people ask a release without Python and without a network, and that prints as a report.

    RequestError when the file is too large to be carried by a page, or cannot answer what was asked.
    """
    if len(data) > MOST_BYTES:
        raise RequestError(
            f"The release takes {len(data):,} bytes, and a page carries at most {MOST_BYTES:,}: hand out the file "
            "itself."
        )
    words = words_of(file, data, name)
    stills: list[dict[str, Any]] = []
    sections = list(_sections(file, asked or Asked(), stills)) if isinstance(file, Release) else []
    shown = contents(file)
    payload = {
        "title": words.heading,
        "name": name,
        "mime": "application/json" if isinstance(file, ModelFile) else "application/octet-stream",
        "papers": [list(paper) for paper in words.papers],
        "sharedNoise": " ".join((SHARED_NOISE, *([BEYOND_RECORDS] if _is_beyond(file) else []))),
        "subjects": shown,
        "opening": _opening(file, shown),
        "asked": isinstance(file, Release) and is_asked_in_pages(file),
        "start": "" if asked is None else asked.whom.replace(", ", SEPARATOR),
        "stills": stills,
    }
    return "\n".join(_document(words, _metadata(file, data, name), sections, _packed(payload, 9), _base64(data))) + "\n"


def _opening(file: PublicFile, shown: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The picture of the first population, where a page decodes it."""
    if not isinstance(file, Release) or not shown or shown[0]["kind"] != "live":
        return None
    return opening_facts(next(one.release for one in subjects(file) if one.name == shown[0]["name"]), shown[0])


def _is_beyond(file: PublicFile) -> bool:
    """Whether bands are for the population that the records were drawn from."""
    return isinstance(file, Release) and file.population is not None


def _metadata(file: PublicFile, data: bytes, name: str) -> Iterator[str]:
    """Croissant metadata for the head, which search engines read; none of a teaching file, which is no data set.

    It is data and no script, so the page's policy lets it be. The addresses in it say what its words mean, and nothing
    fetches them.
    """
    if isinstance(file, LocalAnswers) or file.private:
        metadata = croissant(described(file, name, data), Publisher(), data)
        yield f'<script type="application/ld+json">{in_head(metadata)}</script>'


def _sections(release: Release, asked: Asked, stills: list[dict[str, Any]]) -> Iterator[str]:
    """What was asked; pictures in it are drawn from what is added to ``stills``."""
    part = asked.part or release
    yield from steps_html(part, asked.steps, asked.whom, stills)
    if asked.compared is not None and _is_table(part):
        yield from differences_html(*asked.compared)


def _is_table(release: Release) -> bool:
    return release.sketch.asked_for == "tables"


def words_of(file: PublicFile, data: bytes, name: str) -> Shared:
    """What a file says of itself, in words."""
    if isinstance(file, ModelFile):
        sentences = tuple(file.card())
        heading = f"{shown(file.task.label)} from {listed([shown(one) for one in file.features.names], 6)}"
        said = "".join(f"<li>{in_html(sentence)}</li>" for sentence in sentences)
        facts = (
            f"<details open><summary>All that the file says of itself</summary><ul class='facts'>{said}</ul></details>"
        )
        line = sentences[1].removesuffix(" ".join(file.warnings)).strip()  # what they say stands below it
        promise = () if file.warnings else (_odds(odds(file.budget, file.task.domain)),)
        return Shared(heading, line, "", promise, file.warnings, (facts,))
    if isinstance(file, LocalAnswers):
        guess = 1.0 / (1.0 + math.exp(-float(file.epsilon)))
        line = f"{file.people:,} local reports · counted {day(file.created)} · ε = {significant(file.epsilon, 4)} each"
        promise = (
            "Nobody was trusted: every answer was randomised where it was given. Whoever sees a report and thought "
            "before that two answers were equally likely is right about which one it was in at most "
            f"{percent(guess, 3)} of cases."
        )
        return Shared(shown(file.question), line, "", (_odds(promise),))
    label = privacy_label(file, data)
    papers = (
        ("Cite it (BibTeX)", "bib", bibtex(label)),
        ("For a DOI (JSON)", "datacite.json", datacite(label, len(data))),
        ("Its manifest (JSON)", "manifest.json", manifest_text(data)),
    )
    line = one_line(label).partition(" · ")[2]  # the heading says what it is of
    promise = tuple(promise_html(label)) if label.private else ()
    facts = (*label_html(label), *reading_html(label, file.sketch.asked_for))
    heading, whom = short_title(file, name), title_of(label).partition(": a differentially")[0]
    line = " · ".join(part for part in (whom, *line.split(" · ")[1:]) if part)
    whose = "".join(line.rpartition(" · ")[1:])
    return Shared(heading, line, whose, promise, () if label.private else (TAUGHT,), facts, papers)


PLAIN_NAME = re.compile(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9 _.,()-]{2,48}")
NO_NAMES = {"release", "released", "shared", "sketch", "data", "table", "tables", "frostglass", "file", "out"}


def short_title(release: Release, name: str) -> str:
    """What a page is called: the name that its owner gave the file, or its columns, and the years that it is about."""
    stem = re.sub(r"(\.npz|\.json|\.html)+$", "", name)
    words = " ".join(re.split(r"[\s_-]+", stem)).strip()
    years = _years(release)
    if not PLAIN_NAME.fullmatch(stem) or words.lower() in NO_NAMES or re.fullmatch(r"[0-9a-f]{8,}", stem):
        names = [shortened(shown(column.name), 40) for column in release.domain.columns]
        words = listed(names) if len(names) < 4 else f"{names[0]}, {names[1]} and {len(names) - 2:,} more columns"
    title = f"{words[:1].upper()}{words[1:]}"
    return title if not years or years in title else f"{title}, {years}"


def _years(release: Release) -> str:
    """The years between which the dates of a release lie; "" where it has none, or too many columns of them."""
    dates = [column for column in release.domain.columns if isinstance(column, Dates)]
    if len(dates) != 1:
        return ""
    ends = dates[0].between(np.array([dates[0].low, dates[0].high])).astype("M8[Y]").astype(int) + 1970
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}–{ends[1]}"


def _odds(words: str) -> str:
    return f"<p class='odds'>{in_html(words)}</p>"


def _document(words: Shared, metadata: Iterable[str], sections: list[str], payload: str, data: str) -> Iterator[str]:
    code, style = script(), _style()
    policy = POLICY.format(script=_hash(code), style=_hash(style))
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{in_html(words.heading)}</title><style>{style}</style>"
    yield from metadata
    yield "</head><body><main>"
    yield f"<header>{MARK}<div><h1>{in_html(words.heading)}</h1>"
    line, whose = in_html(words.line.removesuffix(words.whose)), in_html(words.whose)
    yield f"<p class='made'>{line} <span class='whose'>{whose}</span></p></div></header>"
    for sentence in words.warnings:
        yield f"<p class='warning'>{in_html(sentence)}</p>"
    yield '<div id="explore"><p class="note" id="wait">Opening the file …</p></div>'
    yield "<noscript><p>The pictures need JavaScript, which this browser does not run.</p></noscript>"
    yield from sections
    if words.promise:
        yield "<section id='promise' aria-labelledby='promise-heading'>"
        yield from ("<h2 id='promise-heading'>What is promised</h2>", *words.promise, "</section>")
    yield from words.facts
    yield (
        '<section id="take" aria-labelledby="take-heading"><h2 id="take-heading">Take it along</h2>'
        '<div class="buttons"></div></section>'
    )
    yield "<footer><p class='note'>Made with Frostglass. This page holds everything it shows and asks no network.</p>"
    yield "</footer></main>"
    yield f'<script type="application/x-frostglass" id="payload">{payload}</script>'
    yield f'<script type="application/x-frostglass" id="file">{data}</script>'
    yield f"<script>{code}</script></body></html>"


@cache
def script(entry: str = "page.js") -> str:
    """A module and all that it imports as one script: each after those that it needs, in one scope."""
    return f'(() => {{\n"use strict";\n{_parts(entry)}\n}})();'


def inside_script(entry: str = "inside") -> str:
    """A module that draws inside another program's page, `inside.js` a whole table; its default export says how."""
    return f"{_parts(f'{entry}.js')}\nexport default {entry};"


def _parts(entry: str) -> str:
    parts: dict[str, str] = {}
    _take(entry, parts)
    return "\n".join(parts.values())


def _take(name: str, parts: dict[str, str]) -> None:
    own = FOLDER / name
    text = (own if own.exists() else READER / name).read_text(encoding="utf-8").strip()
    for other in IMPORT.findall(text):
        if other not in parts:
            _take(other, parts)
    parts[name] = re.sub("^export ", "", REMARKS.sub("", IMPORT.sub("", text)), flags=re.MULTILINE)


def inside_style() -> str:
    """The page's style sheet for a part of another page, which has fonts of its own and says whether it is dark."""
    rules = re.sub(r"(:root|\bbody) \{", ":host {", _rules()).replace("color-scheme: light dark; ", "")
    return f"{rules}{BESIDE_MENU}\n"


def inside(release: Release, data: bytes, name: str, identity: str, question: str = "") -> dict[str, str]:
    """What `inside.js` draws a released table from: of a file with several questions, that of one of them.

    `identity`: of the file and what is asked of it; it tells one drawing from another.
    """
    packed = _packed(_facts(Subject("", release, question), 1.0), 6)
    return {"identity": identity, "name": name, "facts": packed, "file": _base64(data)}


def pictured(
    release: Release,
    data: bytes,
    identity: str,
    asked: tuple[str, str, Bandwidth | None],
    known: tuple[float, float] | None = None,
) -> dict[str, str]:
    """What `pictured.js` draws one or two columns of a release from; nothing where it cannot ask such a file.

    `asked`: the question and the group of the file that the release is, "" for the only or for all of them, and the
    bandwidth that it is read with, None for the file's own. `known`: as `live_facts` has it.
    """
    question, group, bandwidth = asked
    found = None if release.population is not None else live_facts(release, True, known)
    if found is None or len(data) > MOST_BYTES:
        return {}
    found["readings"] = [{"bandwidth": bandwidth, "words": ""}]
    facts = _packed(_population_facts(Subject("", release, question, group), found), 6)
    return {"identity": identity, "facts": facts, "file": _base64(data), "said": SHARED_NOISE}


STEPS = (
    2**15 - 1
)  # Of a map that is handed over, from 0 to the largest of its numbers: many more than there are shades.


def worked_out(picture: Heatmap) -> str:
    """A map as `pictured.js` is given it, which then draws that and works nothing out; "" of errors nobody knows."""
    if not picture.errors_known:
        return ""
    stacked = np.array([picture.estimate, picture.low, picture.high])
    largest = float(np.abs(stacked).max()) or 1.0
    whole = np.rint(stacked * (STEPS / largest)).astype("<i2")
    top = int(picture.estimate.argmax())
    # Nothing else is as high as what is asked first, whose numbers are as they are.
    np.minimum(whole[0], whole[0].flat[top] - 1, out=whole[0])
    exact = {"top": top, "most": [float(numbers.flat[top]) for numbers in stacked]}
    packed = {"shape": picture.estimate.shape, "step": largest / STEPS, "numbers": _base64(whole.tobytes())}
    return _packed(packed | exact, 6)


def _packed(values: object, level: int) -> str:
    return _base64(gzip.compress(json.dumps(values, allow_nan=False).encode(), level, mtime=0))


@cache
def _style() -> str:
    return f"{FONTS_LICENCE}\n{''.join(_faces())}{_rules()}"


@cache
def _rules() -> str:
    shades = " ".join(
        f".c-shade-{index} {{ color: light-dark({light}, {dark}); }}"
        for index, (light, dark) in enumerate(zip(LIGHT_SHADES, DARK_SHADES, strict=True))
    )
    named = "".join(
        f"--{name}: light-dark({one.light}, {one.dark}); --{name}-shape: {one.shape}; " for name, one in COLOURS.items()
    )
    rules = (FOLDER / "share.css").read_text(encoding="utf-8").strip()
    return f":root {{ {named}}}\n{shades}\n{rules}\n"


def _faces() -> Iterator[str]:
    """The page's two fonts, as the page may load nothing: Latin letters, figures and signs, 53 KB together."""
    for name, weights in (("sans", "400 650"), ("serif", "600")):
        data = _base64((FOLDER / f"{name}.woff2").read_bytes())
        yield (
            f'@font-face {{ font-family: "Frostglass {name.capitalize()}"; font-weight: {weights}; '
            f'src: url("data:font/woff2;base64,{data}") format("woff2"); }}\n'
        )


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
