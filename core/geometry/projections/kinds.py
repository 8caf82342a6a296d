"""The kinds of projection by name."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import RequestError
from .dense import GaussianProjection, OrthogonalProjection
from .fast import FastProjection
from .projection import Projection

PROJECTIONS: dict[str, type[Projection]] = {
    kind.name: kind for kind in (FastProjection, GaussianProjection, OrthogonalProjection)
}


def projection_kind(name: object) -> type[Projection]:
    """The class of that name; RequestError when there is none."""
    if not isinstance(name, str) or name not in PROJECTIONS:
        raise RequestError(f"A projection must be one of {', '.join(PROJECTIONS)}.")
    return PROJECTIONS[name]


def projection_from_dict(source: int, value: object) -> Projection:
    """The projection from ``source`` dimensions that `Projection.to_dict` wrote down; RequestError on anything else."""
    facts = value if isinstance(value, Mapping) else {}
    kind = projection_kind(facts.get("name"))
    return kind(source, **kind.read({key: entry for key, entry in facts.items() if key != "name"}))
