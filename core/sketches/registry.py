"""The cards of all mechanisms, found where they lie, and sketches by the names that release files give them.

Every file of `ROOMS` (our mechanisms, and published ones of others to compare them with) may write ``CARD =
MechanismSpec("name", ...)``, or ``SOMETHING_CARD`` for a second one. The text of the files says which names there are,
so that a list of them loads nothing, and neither does this module, which the command line's help needs; a file is
imported when its mechanism is asked for. Mechanisms from elsewhere are either handed to `register`, or named by an
installed package as an entry point of the group ``frostglass.mechanisms``, whose value is the card.

A question is asked of `candidates`: what is to be measured decides which mechanisms have a part, and public facts their
details. The command line, the recommendation, the estimators and the app make their sketches here or from a card
itself, so that the same words give the same sketch.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..errors import RequestError
from .mechanism_spec import LAST, MechanismSpec, PublicInputs

if TYPE_CHECKING:
    from ..domain import Domain
    from ..geometry.kernels import Kernel
    from .adaptive import Adaptive
    from .linear import LinearSketch

ENTRY_POINTS = "frostglass.mechanisms"
ROOMS = ("sketches", "lab/published")
MAX_NESTING = 4  # Sketches inside each other: classes of projected points of a sketch are two inside the first.
_CARD = re.compile(r"^(\w*CARD) = (MechanismSpec\(.*?^\))", re.MULTILINE | re.DOTALL)
_registered: dict[str, MechanismSpec] = {}


@dataclass(frozen=True)
class _Found:
    """A card that was not read yet: what its text says, and where the whole of it is."""

    name: str
    rank: int
    command: bool
    load: Callable[[], MechanismSpec]


@cache
def _found() -> tuple[_Found, ...]:
    """All cards of our rooms and of installed packages; the latter cannot take the name of one of ours."""
    core = Path(__file__).parents[1]
    ours = [found for room in ROOMS for path in sorted((core / room).rglob("*.py")) for found in _in_file(path, core)]
    taken = {found.name for found in ours}
    others = [
        _Found(point.name, LAST, True, point.load)
        for point in entry_points(group=ENTRY_POINTS)
        if point.name not in taken
    ]
    return (*ours, *others)


def _in_file(path: Path, core: Path) -> Iterator[_Found]:
    module = ".".join((__package__.rpartition(".")[0], *path.relative_to(core).with_suffix("").parts))
    for variable, text in _CARD.findall(path.read_text(encoding="utf-8")):
        call = ast.parse(text, mode="eval").body
        said: dict[str | None, Any] = {
            part.arg: part.value.value for part in call.keywords if isinstance(part.value, ast.Constant)
        }

        def load(module: str = module, variable: str = variable) -> MechanismSpec:
            found: MechanismSpec = getattr(import_module(module), variable)
            return found

        yield _Found(call.args[0].value, said.get("rank", LAST), said.get("command", True), load)


def command_names() -> tuple[str, ...]:
    known = [(card.rank, card.name) for card in _registered.values() if card.command]
    return tuple(name for _, name in sorted([*known, *((one.rank, one.name) for one in _found() if one.command)]))


def cards() -> dict[str, MechanismSpec]:
    """Every card by its name, in the order of lists; all mechanisms are loaded."""
    known = [*_loaded(), *_registered.values()]
    return {card.name: card for card in sorted(known, key=lambda card: (card.rank, card.name))}


@cache
def _loaded() -> tuple[MechanismSpec, ...]:
    return tuple(found.load() for found in _found())


def _looked_up(name: str) -> MechanismSpec | None:
    """The card of a name, for which its mechanism alone is loaded; None where there is none."""
    if name in _registered:
        return _registered[name]
    return next((found.load() for found in _found() if found.name == name), None)


def card(name: str) -> MechanismSpec:
    """The card of a name; RequestError where there is none."""
    found = _looked_up(name)
    if found is None:
        raise RequestError(f"There is no mechanism {name!r}; there are: {', '.join(cards())}.")
    return found


def card_of(sketch: LinearSketch | Adaptive) -> MechanismSpec:
    """The card of a sketch's mechanism; for a sketch that no card is about, one that says nothing but its name."""
    return _looked_up(sketch.name) or MechanismSpec(sketch.name, sketch.name, "", answers=sketch.answers)


def register(card: MechanismSpec) -> None:
    """Make a mechanism of another module known to this process; ValueError where its name is taken."""
    if _looked_up(card.name) is not None:
        raise ValueError(f"There is a mechanism {card.name!r} already.")
    _registered[card.name] = card


def unregister(name: str) -> None:
    del _registered[name]


def look_again() -> None:
    """Look again for installed packages that bring mechanisms."""
    _found.cache_clear()
    _loaded.cache_clear()


def has_format(sketch: LinearSketch) -> bool:
    """Whether a release file that names the sketch's mechanism is read back as such a sketch."""
    return card_of(sketch).sketch is type(sketch)


def sketch_from_parameters(mechanism: object, domain: Domain, parameters: object) -> LinearSketch:
    """The sketch of a named mechanism, from what its `parameters` wrote down.

    RequestError when no mechanism has that name or the parameters are not its own; they may come from a stranger's
    file.
    """
    _check_nesting(parameters)
    found = _looked_up(mechanism) if isinstance(mechanism, str) else None
    if found is None or found.sketch is None:
        names = [name for name, one in cards().items() if one.sketch is not None]
        raise RequestError(f"The mechanism is not one that this version knows ({', '.join(names)}); a newer one may.")
    return found.sketch.from_parameters(domain, parameters)


def _check_nesting(parameters: object) -> None:
    """Refuse sketches inside sketches without end, before the first of them is made."""
    for _ in range(MAX_NESTING):
        inner = parameters.get("inner") if isinstance(parameters, dict) else None
        if not isinstance(inner, dict):
            return
        parameters = inner.get("parameters")
    raise RequestError(f"Sketches may lie inside each other at most {MAX_NESTING} deep.")


def hashed(kernel: Kernel) -> bool:
    """Whether RACE has the kernel."""
    from ..geometry import hash_families

    try:
        hash_families.check_kernel(kernel)
    except RequestError:
        return False
    return True


def candidates(facts: PublicInputs) -> list[MechanismSpec]:
    """The cards of all mechanisms that may be recommended for a question, in the order of lists.

    RequestError when there is no such distance.
    """
    if facts.kernel is None:
        check_norm(facts)
    return [card for card in cards().values() if card.recommended and card.refusal(facts) is None]


def check_norm(facts: PublicInputs) -> None:
    """RequestError when there is no such distance, or a radius where none is used."""
    from ..geometry.distance_profiles import profile_named

    norm = facts.norm or ""
    if norm in ("l2", "squared"):
        return
    if facts.radius is not None:
        raise RequestError("A radius belongs to the norms l2 and squared; other distances are kept by the bounds.")
    if norm.partition(":")[0] not in ("l1", "lp", "capped", "above", "below"):
        raise RequestError(f"The norm {norm!r} must be l1, l2, squared, lp:P, capped:C, above or below.")
    profile_named(norm)


def distance(domain: Domain, norm: str, *, radius: float | None = None, seed: int | None = None) -> LinearSketch:
    """The mechanism for sums of distances that is best as a rule: the first that may be recommended.

    RequestError when there is no such norm, or a radius where none is used. `norm`: "l1", "l2", "squared", "lp:P",
    "capped:C", "above" or "below". `radius`: of "l2" and "squared": records farther than this from the middle of the
    bounds are moved towards it. `seed`: of random directions, for "l2"; fresh when None.
    """
    from ..privacy.budget import Budget

    # None of these sketches depends on the promise before it is sized.
    facts = PublicInputs(domain, Budget(1), norm=norm, seed=seed, radius=radius)
    return cast("LinearSketch", candidates(facts)[0].made_from(facts))  # none that answers distances best is adaptive
