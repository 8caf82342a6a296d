"""Searches by name, of those whose reports can be collected before the search begins."""

from __future__ import annotations

from ...checks import check_choice, exact_fields
from .finder import Alphabet, Finder
from .prefix_searches import PrefixExtending, TreeHist
from .sfp import FragmentPuzzle

FINDERS: dict[str, type[Finder]] = {kind.name: kind for kind in (PrefixExtending, TreeHist, FragmentPuzzle)}


def finder_from(facts: object) -> Finder:
    """The search that `described` wrote; RequestError on anything else."""
    given = exact_fields(facts, "search", ("name", "alphabet", "epsilon", "step"))
    check_choice(given["name"], "The search", tuple(FINDERS))
    alphabet = Alphabet(**Alphabet.read(given["alphabet"]))
    return FINDERS[given["name"]](alphabet, given["epsilon"], given["step"])


def described(one: Finder) -> dict[str, object]:
    """A search as a value for JSON."""
    return {
        "name": one.name,
        "alphabet": one.alphabet.written(),
        "epsilon": f"{one.epsilon:f}",
        "step": one.step,
    }
