"""Frostglass: see the shape, not the people.

A linear sketch turns private records into one small table of integers; noise is added once; from then on anyone may ask
the released file anything, at no further cost in privacy.

    from core import Budget, Domain, Race, kernels, load, release

The names below are looked up when first used, so that a command that needs none of them starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .compiled_code import find_room

if TYPE_CHECKING:
    from . import kernels
    from .domain import Categorical, Domain, Items, Numeric, PrivacyUnit, Vector
    from .errors import BudgetError, ReleaseFileError, RequestError
    from .privacy.budget import Budget
    from .privacy.ledger import Ledger
    from .privacy.neighbours import Neighbours
    from .recommendation import Closeness, Distances, Recommendation, recommend
    from .release_file import load
    from .releases import Release, release
    from .sketches.classes import Classes
    from .sketches.directions import Directions
    from .sketches.distance import Distance
    from .sketches.features import Features
    from .sketches.histogram import Histogram
    from .sketches.minhash import MinHash
    from .sketches.moments import Moments
    from .sketches.projected import Projected
    from .sketches.projected_distance import ProjectedDistance
    from .sketches.race import Race

find_room()

_HOME = {
    "Budget": ".privacy.budget",
    "BudgetError": ".errors",
    "Categorical": ".domain",
    "Classes": ".sketches.classes",
    "Closeness": ".recommendation",
    "Directions": ".sketches.directions",
    "Distance": ".sketches.distance",
    "Distances": ".recommendation",
    "Domain": ".domain",
    "Features": ".sketches.features",
    "Histogram": ".sketches.histogram",
    "Items": ".domain",
    "Ledger": ".privacy.ledger",
    "MinHash": ".sketches.minhash",
    "Moments": ".sketches.moments",
    "Neighbours": ".privacy.neighbours",
    "Numeric": ".domain",
    "PrivacyUnit": ".domain",
    "Projected": ".sketches.projected",
    "ProjectedDistance": ".sketches.projected_distance",
    "Race": ".sketches.race",
    "Recommendation": ".recommendation",
    "Release": ".releases",
    "ReleaseFileError": ".errors",
    "RequestError": ".errors",
    "Vector": ".domain",
    "load": ".release_file",
    "recommend": ".recommendation",
    "release": ".releases",
}
"""Module of every public name."""

__all__ = [
    "Budget",
    "BudgetError",
    "Categorical",
    "Classes",
    "Closeness",
    "Directions",
    "Distance",
    "Distances",
    "Domain",
    "Features",
    "Histogram",
    "Items",
    "Ledger",
    "MinHash",
    "Moments",
    "Neighbours",
    "Numeric",
    "PrivacyUnit",
    "Projected",
    "ProjectedDistance",
    "Race",
    "Recommendation",
    "Release",
    "ReleaseFileError",
    "RequestError",
    "Vector",
    "kernels",
    "load",
    "recommend",
    "release",
]


def __getattr__(name: str) -> object:
    if name == "kernels":
        return import_module(".kernels", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
