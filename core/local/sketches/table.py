"""All sketches by name."""

from __future__ import annotations

from ...checks import check_choice, exact_fields
from ...errors import RequestError
from .cells import CountMeanSketch, CountMin, CountSketch, HadamardSketch
from .rappor import Rappor
from .sketch import LocalSketch

SKETCHES: dict[str, type[LocalSketch]] = {
    kind.name: kind for kind in (Rappor, CountMin, CountMeanSketch, HadamardSketch, CountSketch)
}


def sketch(name: str, epsilon: object, **settings: object) -> LocalSketch:
    """The sketch of a name with these parameters, and others as they suit; RequestError where there is none."""
    check_choice(name, "The sketch", tuple(SKETCHES))
    kind = SKETCHES[name]
    for setting in settings:
        if setting not in kind.__dataclass_fields__:
            raise RequestError(f"The sketch {name!r} has no {setting.replace('_', ' ')} to be given.")
    return kind(epsilon, **settings)  # type: ignore[arg-type]  # every field is checked when it is made


def sketch_from(facts: object) -> LocalSketch:
    """The sketch that `written_out` described; RequestError on anything else."""
    given = exact_fields(facts, "sketch", ("name", "parameters"))
    check_choice(given["name"], "The sketch", tuple(SKETCHES))
    kind = SKETCHES[given["name"]]
    return kind(**kind.read(given["parameters"]))
