"""What the site has beside the papers of this folder, for MkDocs: `make docs`.

Papers that lie elsewhere in the repository are taken in, every mechanism has a page made from its card, and every
public name one entry of the reference, read from docstrings. Links are those of the repository, so that a paper reads
the same there; they are turned to the pages of the site.
"""

from __future__ import annotations

import inspect
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import core
from core.figures.palette import AMBER, TEAL
from core.sketches.mechanism_spec import MechanismSpec
from core.sketches.registry import cards

if TYPE_CHECKING:
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
TAKEN_IN = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "SECURITY.md": "security.md",
}
"""Papers outside this folder, and the pages they become."""
LOGO = ROOT / "core" / "ui" / "frame" / "logo.svg"
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)#:\s]+)((?:#[^)]*)?)\)")
ROOMS = {
    "releases": "Releasing and asking",
    "domain": "Columns",
    "geometry": "Kernels",
    "estimators": "With scikit-learn's conventions",
    "sketches": "Sketches",
    "analysis": "Questions",
    "figures": "Papers of a release",
    "models": "Models",
    "local": "Local reports",
    "privacy": "Budget and ledger",
    "errors": "Errors",
}
"""Rooms whose public names the reference shows, in its order."""


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are taken in or made."""
    from mkdocs.structure.files import File

    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    files.append(File.generated(config, "site.css", content=style()))
    files.append(File.generated(config, LOGO.name, content=LOGO.read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Turn a paper's links to the pages of the site."""
    place = page.file.src_uri
    origin = next((paper for paper, taken in TAKEN_IN.items() if taken == place), f"docs/{place}")
    return linked(markdown, origin, place)


def pages() -> dict[str, str]:
    """Text of every page that does not lie in this folder, by its place in the site."""
    taken = {page: (ROOT / paper).read_text(encoding="utf-8") for paper, page in TAKEN_IN.items()}
    return taken | mechanism_pages(cards()) | {"reference/index.md": reference()} | dict(_rooms())


def linked(text: str, origin: str, place: str) -> str:
    """Links of a paper at a place of the repository, as those of its page in the site, which does not have the code."""

    def turned(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(origin), found[2]))
        if target == "docs/README.md":
            target = "README.md"
        if target not in TAKEN_IN and not target.startswith("docs/"):
            return f"{found[1]} (`{target}`)"
        page = TAKEN_IN.get(target, target.removeprefix("docs/"))
        return f"[{found[1]}]({posixpath.relpath(page, posixpath.dirname(place) or '.')}{found[3]})"

    return LINK.sub(turned, text)


def style() -> str:
    """The product's colours, for the theme of the site."""
    return f"""
:root {{
  --md-primary-fg-color: {TEAL.light};
  --md-primary-fg-color--light: {TEAL.shape};
  --md-primary-fg-color--dark: {TEAL.light};
  --md-accent-fg-color: {AMBER.light};
  --md-typeset-a-color: {TEAL.light};
}}
[data-md-color-scheme="slate"] {{
  --md-accent-fg-color: {AMBER.dark};
  --md-typeset-a-color: {TEAL.dark};
}}
.md-typeset h1 {{ color: inherit; }}
"""


def mechanism_pages(known: Mapping[str, MechanismSpec]) -> dict[str, str]:
    """A page for every mechanism, and a list of them."""
    lists: dict[bool, list[str]] = {False: [], True: []}
    for card in known.values():
        lists[card.rival].append(f"| [{card.name}]({_file(card)}) | {_cell(card.title)} | {_cell(_answer(card))} |")
    head = "| name | what it is | what it answers |\n|---|---|---|\n"
    index = (
        "# Mechanisms\n\nEvery mechanism is one file with a card, which says what it is; these pages are made from the "
        "cards and the docstrings.\n\n## Our own\n\n" + head + "\n".join(lists[False]) + "\n\n## Published ones, to "
        "compare with\n\n[Rivals](../rivals.md) says where ours differ from the papers, and why.\n\n"
        + head
        + "\n".join(lists[True])
    )
    return {"mechanisms/index.md": index + "\n"} | {f"mechanisms/{_file(card)}": page(card) for card in known.values()}


def page(card: MechanismSpec) -> str:
    """The page of a mechanism, from its card and the docstring of its sketch."""
    facts = {
        "Name": f"`{card.name}`",
        "Answers": _answer(card),
        "Whose idea": card.paper,
        "Budget": "needs a δ" if card.needs_delta else "pure ε, and (ε, δ)",
        "Its one setting": f"`--size`, {card.size}" if card.size else None,
        "Coordinates": f"at most {card.most_dimensions}" if card.most_dimensions else None,
        "Chosen for a user": "by `recommend`, where its forecast is the best" if card.recommended else None,
        "Chosen under noise": f"{card.choice.sentence} {card.choice.theorem}" if card.choice else None,
    }
    rows = "\n".join(f"| {name} | {_cell(value)} |" for name, value in facts.items() if value)
    parts = [f"# {card.title}", _sentence(card.idea), f"| In short | |\n|---|---|\n{rows}", _command(card)]
    if card.sketch is not None:
        where = f"{card.sketch.__module__}.{card.sketch.__qualname__}"
        parts.append(f"## In Python\n\n::: {where}\n    options:\n      heading_level: 3\n")
        parts.append(f"Its file: `{card.sketch.__module__.replace('.', '/')}.py`.")
    return "\n\n".join(part for part in parts if part) + "\n"


def reference() -> str:
    """The list of all public names, in their first sentences."""
    lists = ["# Reference\n\nEvery name of `from core import …` (`from frostglass import …` once installed)."]
    for room, names in _names().items():
        entries = [f"* [`{name}`]({room}.md#{_place(name)}): {_first_sentence(name)}" for name in names]
        lists.append(f"## {ROOMS[room]}\n\n" + "\n".join(entries))
    return "\n\n".join(lists) + "\n"


def _rooms() -> Iterator[tuple[str, str]]:
    for room, names in _names().items():
        entries = "\n\n".join(f"::: {_place(name)}" for name in names)
        yield f"reference/{room}.md", f"# {ROOMS[room]}\n\n{entries}\n"


def _names() -> dict[str, list[str]]:
    """Public names by their room."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in core.__all__:
        if not name.startswith("_"):
            found[_place(name).split(".")[1]].append(name)
    return {room: found[room] for room in ROOMS}


def _place(name: str) -> str:
    """Where a public name is defined, as the package that imports it has it."""
    thing = getattr(core, name)
    return str(thing.__name__) if inspect.ismodule(thing) else f"{thing.__module__}.{thing.__qualname__}"


def _first_sentence(name: str) -> str:
    text = " ".join((inspect.getdoc(getattr(core, name)) or "").split("\n\n")[0].split())
    return _cell(text)


def _file(card: MechanismSpec) -> str:
    return card.name.replace(" ", "-") + ".md"


def _answer(card: MechanismSpec) -> str:
    if card.sets:
        return "overlaps of sets"
    return {"closeness": "sums of a kernel", "distance": "sums of distances"}.get(card.answers, card.answers)


def _command(card: MechanismSpec) -> str:
    if not card.command or card.make is None:
        return ""
    given = " ".join(
        f"{option} {value}" for name in sorted(card.example) for option, value in _options(name, card.example[name])
    )
    return (
        "## On the command line\n\n"
        f"    frostglass release people.csv {given} \\\n"
        f"        --epsilon 1 --mechanism {card.name} --out people.npz"
    )


def _options(name: str, value: object) -> Iterator[tuple[str, object]]:
    option = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        yield from [(option, "")] if value else []
    elif isinstance(value, list | tuple):
        yield from ((option, one) for one in value)
    else:
        yield option, value


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
