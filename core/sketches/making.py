"""A mechanism for a question: what is to be measured decides the sketch, and public facts its details.

The command line, the recommendation and the app make their sketches here, so that the same words give the same sketch.
"""

from __future__ import annotations

from collections.abc import Callable

from ..domain import Domain
from ..errors import RequestError
from ..geometry.distances.profiles import profile_named
from ..geometry.hashing import families, structured
from ..geometry.kernels import Kernel
from ..privacy.budget import Budget
from .distances.distance import Distance
from .distances.moments import Moments
from .distances.projected_distance import ProjectedDistance
from .hashed.features import Features
from .hashed.race import Race
from .linear import LinearSketch
from .projected import Projected

MANY_DIMENSIONS = 128
"""From here on random features take the fast transform, where the kernel has one."""


def hashed(kernel: Kernel) -> bool:
    """Whether RACE has the kernel."""
    return _passes(families.check_kernel, kernel)


def race(
    domain: Domain,
    kernel: Kernel,
    rows: int | None = None,
    *,
    width: int = 1000,
    groups: int | None = None,
    seed: int | None = None,
) -> Race:
    """RACE; refuses a kernel that is not the collision probability of a hash."""
    families.check_kernel(kernel)
    return Race(domain, kernel, rows, width, seed=seed, groups=groups)


def features(
    domain: Domain,
    kernel: Kernel,
    budget: Budget,
    rows: int | None = None,
    *,
    groups: int | None = None,
    seed: int | None = None,
) -> Features:
    """Random features with the wave that has the least noise under the budget, and the fast transform where it pays."""
    many = domain.dimensions >= MANY_DIMENSIONS and _passes(structured.check_structure, kernel)
    return Features(
        domain, kernel, rows, seed, groups=groups, transform="fast" if many else "dense", wave=wave_for(budget)
    )


def projected(
    domain: Domain,
    kernel: Kernel,
    dimensions: int,
    budget: Budget,
    *,
    mechanism: str,
    kind: str = "fast",
    radius: float | None = None,
    seed: int | None = None,
    **size: int | None,
) -> Projected:
    """A mechanism of rows, "race" or "features", on points projected to so many dimensions.

    Parameters
    ----------
    kind, radius, seed : str, float | None, int | None
        See `Projected.of`.
    size : int | None
        Rows and groups; and width, of RACE.
    """
    made_of = {"kind": kind, "radius": radius, "seed": seed}
    if mechanism == "race":
        families.check_kernel(kernel)
        return Projected.of(domain, kernel, Race, dimensions, **made_of, **size)
    return Projected.of(domain, kernel, Features, dimensions, **made_of, wave=wave_for(budget), **size)


def wave_for(budget: Budget) -> str:
    """What a record adds to a row of random features: see `Features`."""
    return "quadrant" if budget.pure else "circle"


def distance(domain: Domain, norm: str, *, radius: float | None = None, seed: int | None = None) -> LinearSketch:
    """The mechanism for sums of distances that is best as a rule; see `distances`."""
    return next(iter(distances(domain, norm, radius, seed).values()))()


def distances(
    domain: Domain, norm: str, radius: float | None = None, seed: int | None = None
) -> dict[str, Callable[[], LinearSketch]]:
    """Every mechanism for sums of distances, by name; the one that is best as a rule comes first.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    norm : str
        "l1", "l2", "squared", "lp:P", "capped:C", "above" or "below".
    radius : float | None
        Of "l2" and "squared": records farther than this from the middle of the bounds are moved towards it.
    seed : int | None
        Of random directions, for "l2"; fresh when None.

    Raises
    ------
    RequestError
        When there is no such norm, or a radius where none is used.
    """
    if norm == "squared":
        return {"moments": lambda: Moments(domain, radius)}
    if norm == "l2":
        if domain.dimensions == 1:  # a straight line along one coordinate is a difference
            return {"distance": lambda: Distance(domain)}
        return {"projected-distance": lambda: ProjectedDistance(domain, radius, seed=seed)}
    if radius is not None:
        raise RequestError("A radius belongs to the norms l2 and squared; other distances are kept by the bounds.")
    if norm.partition(":")[0] not in ("l1", "lp", "capped", "above", "below"):
        raise RequestError(f"The norm {norm!r} must be l1, l2, squared, lp:P, capped:C, above or below.")
    profile_named(norm)
    return {"distance": lambda: Distance(domain, norm)}


def _passes(check, kernel: Kernel) -> bool:
    try:
        check(kernel)
    except RequestError:
        return False
    return True
