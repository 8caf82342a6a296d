"""What travels to a worker in place of a sketch: its name and its public parameters, seeds included, and no arrays.

The hashes of a thousand rows take megabytes and are made again from a seed in a moment, so a worker makes them itself,
once. It makes the same ones only if it is the same program on the same libraries, which it checks first: a table that
two programs fill differently would be no sketch of anything, and its sensitivity would be nobody's.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from ..domain import Domain
from ..errors import RequestError
from ..sketches.linear import LinearSketch
from ..sketches.registry import sketch_from_parameters
from ..version import VERSION

LIBRARIES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "duckdb")
"""They read records and calculate with them."""


@dataclass(frozen=True)
class Recipe:
    """A sketch as text, and the surroundings in which its tables mean the same.

    Attributes
    ----------
    mechanism : str
        The name of the sketch in the registry.
    facts : str
        Domain and parameters as JSON, which keeps every number bit for bit.
    surroundings : tuple[tuple[str, str], ...]
        What decides the bits of a table, by name, where the recipe was written.
    """

    mechanism: str
    facts: str
    surroundings: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, sketch: LinearSketch) -> Self:
        """The recipe of a sketch of a settled size."""
        facts = {"domain": sketch.domain.to_dict(), "parameters": sketch.parameters()}
        return cls(sketch.name, json.dumps(facts, allow_nan=False), surroundings())

    def sketch(self) -> LinearSketch:
        """The sketch, made once a process.

        Raises
        ------
        RequestError
            When this process is another program than the one that wrote the recipe, or runs on other libraries.
        """
        for (name, here), (_, there) in zip(surroundings(), self.surroundings, strict=True):
            if here != there:
                raise RequestError(
                    f"A worker runs {name} {here} and this computer {there}: they must be the same, as tables that "
                    "are filled differently cannot be added."
                )
        return _made(self.mechanism, self.facts)


@lru_cache(maxsize=4)
def _made(mechanism: str, facts: str) -> LinearSketch:
    described = json.loads(facts)
    return sketch_from_parameters(mechanism, Domain.from_dict(described["domain"]), described["parameters"])


@cache
def surroundings() -> tuple[tuple[str, str], ...]:
    """Name and version of everything that decides the bits of a table in this process."""
    own = (("Frostglass", f"{VERSION} ({_digest()})"), ("Python", platform.python_version()))
    return (
        *own,
        *((name, version(name)) for name in LIBRARIES if find_spec(name)),
        ("processors of the kind", platform.machine()),
    )


def _digest() -> str:
    """Twelve digits that tell this program from any other, as a version number is forgotten easily."""
    package = Path(__file__).parents[1]
    text = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        text.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return text.hexdigest()[:12]
