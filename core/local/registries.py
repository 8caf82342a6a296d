"""What a survey is made of, by name: oracles, sketches, and searches whose reports can be collected beforehand.

Each is a class in a file of its folder, and is found there (`core.parameters.Registry`).
"""

from __future__ import annotations

from decimal import Decimal
from typing import cast

import numpy as np

from ..checks import exact_fields
from ..errors import RequestError
from ..parameters import Registry
from .hitters.finder import Alphabet, Finder
from .oracles.oracle import ORACLES, oracle
from .sketches.sketch import LocalSketch

SKETCHES: Registry[LocalSketch] = Registry(
    f"{__package__}.sketches",
    LocalSketch,  # type: ignore[type-abstract]
    "The sketch",
)
FINDERS: Registry[Finder] = Registry(f"{__package__}.hitters", Finder, "The search")  # type: ignore[type-abstract]


def sketch(name: str, epsilon: object, **settings: object) -> LocalSketch:
    """The sketch of a name with these parameters, and others as they suit; RequestError where there is none."""
    kind = SKETCHES.named(name)
    for setting in settings:
        if setting not in kind.__dataclass_fields__:
            raise RequestError(f"The sketch {name!r} has no {setting.replace('_', ' ')} to be given.")
    return cast(LocalSketch, kind(epsilon, **settings))


def finder_from(facts: object) -> Finder:
    """The search that `described_search` wrote; RequestError on anything else."""
    given = exact_fields(facts, "search", ("name", "alphabet", "epsilon", "step"))
    alphabet = Alphabet(**Alphabet.read(given["alphabet"]))
    return cast(Finder, FINDERS.named(given["name"])(alphabet, given["epsilon"], given["step"]))


def described_search(one: Finder) -> dict[str, object]:
    """A search as a value for JSON."""
    return {"name": one.name, "alphabet": one.alphabet.written(), "epsilon": f"{one.epsilon:f}", "step": one.step}


def warm() -> None:
    """Compile every loop, for every type of reports that there is."""
    values, one = np.arange(10), Decimal(1)
    shapes = [oracle(name, 20, one) for name in ("sue", "blh", "ss")]
    for domain in (20, 300, 70_000):
        shapes += [oracle(name, domain, one) for name in ("de", "hr", "pgr")]
    shapes += [ORACLES.named("flh")(20, one, functions, 1) for functions in (10, 1000, 100_000)]
    shapes += [
        ORACLES.named("hm")(domain, one, coefficients)
        for domain, coefficients in ((20, 1), (20, 2), (300, 3), (300, 5))
    ]
    for shape in shapes:
        shape.estimate(shape.aggregate(shape.privatise(values)))
    hashing = ORACLES.named("olh")(20, one)
    hashing.supported(hashing.privatise(values), values)
