"""From the options that were typed to a mechanism: which one is meant, which options it has, and the sketch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import RequestError
from . import notation
from .options import ClassOptions, GuessOptions, SketchOptions, refuse_typed, typed
from .output import say

if TYPE_CHECKING:
    from ..domain import Domain
    from ..geometry.kernels import Kernel
    from ..privacy.budget import Budget
    from ..sketches.adaptive import Adaptive
    from ..sketches.linear import LinearSketch

KERNEL = {"--kernel", "--bandwidth", "--power"}
PROJECTION = {"--project", "--projection", "--radius"}
OPTIONS = {
    "race": KERNEL | PROJECTION | {"--rows", "--width", "--groups", "--seed"},
    "minhash": {"--kernel", "--rows", "--width", "--groups", "--seed", "--scheme", "--longest"},
    "features": KERNEL | PROJECTION | {"--rows", "--groups", "--seed"},
    "histogram": KERNEL,
    "distance": {"--norm", "--radius", "--seed"},
    "directions": {"--project", "--projection", "--seed"},
    "exponential-sum": KERNEL | {"--rows", "--groups", "--seed"},
    "auto": KERNEL | {"--norm", "--radius", "--seed"},
}
"""Options that a mechanism has, beside those that all have."""
RIVAL_OPTIONS = {"closeness": KERNEL | {"--size", "--seed"}, "distance": {"--size", "--seed"}}
"""Those of a rival without options of its own, by what it answers."""
MAIN = ("race", "minhash", "features", "histogram", "distance", "directions")
"""Mechanisms that are named where an option belongs to another one."""
COMMON = {"--mechanism", "--label", "--classes", "--like"}
DEFAULT_KERNELS = {"race": "euclidean"}
OTHERWISE = "gaussian"


def declared_mechanism(
    shape: SketchOptions, domain: Domain, budget: Budget, guess: GuessOptions | None = None
) -> LinearSketch | Adaptive:
    """The sketch that was typed.

    Parameters
    ----------
    shape : SketchOptions
        What was typed.
    domain : Domain
        All columns, that of the classes included.
    budget : Budget
        The promise, by which some details are chosen.
    guess : GuessOptions | None
        Public guesses, where the mechanism is to be chosen by forecast; None where that cannot be.

    Raises
    ------
    RequestError
        When options are missing or contradict each other.
    """
    from ..sketches.adaptive import Adaptive
    from ..sketches.classes import Classes

    name = mechanism_name(shape, domain.holds_sets)
    check_options(shape, name)
    if name == "auto":
        return _recommended(shape, domain, budget, guess)
    make = _MAKERS.get(name, _rival)
    made = make(shape, domain if shape.label is None else domain.without(shape.label), budget)
    if shape.label is None:
        return made
    if isinstance(made, Adaptive):
        raise RequestError(f"--label cannot be given here, as the mechanism {name} makes no table a class.")
    return Classes(domain, shape.label, made)


def mechanism_name(shape: SketchOptions, sets: bool = False) -> str:
    """The mechanism that was named, or the one that other options imply; ``sets`` says that records are sets."""
    from ..geometry.kernels import KERNELS
    from ..sketches.making import hashed

    if shape.kernel == "jaccard" and shape.mechanism == "race":
        return "minhash"  # RACE of sets
    if shape.mechanism is not None:
        return shape.mechanism
    if shape.norm is not None:
        return "distance"
    if shape.kernel == "jaccard" or (sets and shape.kernel is None):
        return "minhash"
    kernel = KERNELS[shape.kernel or DEFAULT_KERNELS["race"]]
    return "race" if hashed(kernel() if shape.kernel == "angular" else kernel(1.0)) else "features"


def options_of(name: str) -> set[str]:
    """The options that a mechanism has, beside those that all have."""
    from ..sketches.published.catalogue import rival

    return OPTIONS[name] if name in OPTIONS else RIVAL_OPTIONS[rival(name).answers]


def check_options(shape: SketchOptions, name: str) -> None:
    """Refuse options that another mechanism has, and this one not."""
    own = options_of(name)
    for option in typed(shape):
        if option not in own | COMMON:
            owners = " or ".join(owner for owner in MAIN if option in OPTIONS[owner])
            owner = f"the mechanism {owners}" if owners else "the rivals from papers"
            raise RequestError(f"{option} cannot be given here, as it belongs to {owner}, and this is {name}.")
    if shape.project is None:
        refuse_typed([option for option in typed(shape) if option == "--projection"], "--project says no dimensions")
        if name not in ("distance", "auto") and shape.radius is not None:
            raise RequestError("--radius cannot be given here, as it needs --project, or the norm l2 or squared.")
    check_classes(shape)


def check_classes(shape: ClassOptions) -> None:
    """Refuse classes without a column that says them."""
    if shape.label is None:
        refuse_typed(["--classes"] if shape.classes is not None else [], "--label does not say which column holds them")


def declared_kernel(shape: SketchOptions, domain: Domain, otherwise: str = OTHERWISE) -> Kernel:
    """The kernel, with one bandwidth or one a column.

    Parameters
    ----------
    shape, domain : SketchOptions, Domain
        What was typed, and the columns that are compared.
    otherwise : str
        The kernel when none was named.
    """
    from ..geometry.kernels import KERNELS, Angular, Jaccard

    name = shape.kernel or otherwise
    kind = KERNELS[name]
    if kind is Jaccard:
        if shape.bandwidth is not None or shape.power != 1:
            raise RequestError("The jaccard kernel has no bandwidth and no power: it is the share of common items.")
        return Jaccard()
    if kind is Angular:
        if shape.bandwidth is not None:
            raise RequestError("The angular kernel has no bandwidth, as angles need no unit; raise its --power.")
        return Angular(shape.power)
    if shape.bandwidth is None:
        raise RequestError(
            f"The {name} kernel needs a --bandwidth: the distance at which closeness fades, in the units of the "
            "columns."
        )
    return kind(notation.parse_bandwidth(shape.bandwidth, domain.names), shape.power)


def seed_of(shape: SketchOptions) -> int | None:
    """The public seed that was typed, if any."""
    return None if shape.seed is None else notation.parse_seed(shape.seed)


def _race(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..sketches import making

    kernel = declared_kernel(shape, domain, DEFAULT_KERNELS["race"])
    size = {"rows": shape.rows, "groups": shape.groups} | ({} if shape.width is None else {"width": shape.width})
    if shape.project is not None:
        return _projected(shape, domain, kernel, budget, "race", size)
    return making.race(domain, kernel, seed=seed_of(shape), **size)


def _minhash(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..sketches.hashed.minhash import MinHash

    if shape.kernel not in (None, "jaccard"):
        raise RequestError(f"The mechanism minhash is for the kernel jaccard, and this is {shape.kernel}.")
    return MinHash(
        domain,
        shape.rows,
        scheme=shape.scheme,
        longest=shape.longest,
        seed=seed_of(shape),
        groups=shape.groups,
        **({} if shape.width is None else {"width": shape.width}),
    )


def _features(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..sketches import making

    kernel = declared_kernel(shape, domain)
    size = {"rows": shape.rows, "groups": shape.groups}
    if shape.project is not None:
        return _projected(shape, domain, kernel, budget, "features", size)
    return making.features(domain, kernel, budget, seed=seed_of(shape), **size)


def _projected(
    shape: SketchOptions, domain: Domain, kernel: Kernel, budget: Budget, mechanism: str, size: dict
) -> LinearSketch:
    from ..sketches.making import projected

    return projected(
        domain,
        kernel,
        shape.project,
        budget,
        mechanism=mechanism,
        kind=shape.projection,
        radius=shape.radius,
        seed=seed_of(shape),
        **size,
    )


def _histogram(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..sketches.grids.histogram import Histogram

    return Histogram(domain, declared_kernel(shape, domain))


def _distance(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..sketches.making import distance

    if shape.norm is None:
        raise RequestError("The mechanism distance needs a --norm: l1, l2, squared, lp:P, capped:C, above or below.")
    return distance(domain, shape.norm, radius=shape.radius, seed=seed_of(shape))


def _directions(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..geometry.projections.kinds import projection_kind
    from ..sketches.distances.directions import Directions

    if shape.project is None:
        refuse_typed(["--seed"] if shape.seed is not None else [], "directions have random numbers only with --project")
        return Directions(domain)
    kind = projection_kind(shape.projection)
    return Directions(domain, projection=kind(domain.dimensions, shape.project, seed_of(shape)))


def _exponential_sum(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch:
    from ..sketches.published.series.exponential_sum import ExponentialSum

    kernel = declared_kernel(shape, domain, "smooth")
    return ExponentialSum(domain, kernel, shape.rows, seed=seed_of(shape), groups=shape.groups)


def _rival(shape: SketchOptions, domain: Domain, budget: Budget) -> LinearSketch | Adaptive:
    from ..sketches.published.catalogue import rival

    named = rival(shape.mechanism)
    kernel = declared_kernel(shape, domain) if named.answers == "closeness" else None
    return named.make(domain, kernel, shape.size, seed_of(shape))


_MAKERS = {
    "race": _race,
    "minhash": _minhash,
    "features": _features,
    "histogram": _histogram,
    "distance": _distance,
    "directions": _directions,
    "exponential-sum": _exponential_sum,
}


def _recommended(shape: SketchOptions, domain: Domain, budget: Budget, guess: GuessOptions | None) -> LinearSketch:
    """The first choice of the recommendation, which is said."""
    from ..forecast.recommendation import recommend

    if guess is None:
        raise RequestError("--mechanism auto cannot be given here, as there is nothing to forecast; name a mechanism.")
    asked = question(shape, domain)
    best = recommend(domain, guess.records, budget, asked, label=shape.label, density=guess.density)[0]
    if best.sketch is None:
        raise RequestError(f"No mechanism fits: {best.reason}")
    say(best.reason)
    return best.sketch


def question(shape: SketchOptions, domain: Domain):
    """What is asked, for the recommendation."""
    from ..forecast.recommendation import Closeness, Distances

    if shape.norm is not None:
        refuse_typed([option for option in typed(shape) if option in KERNEL], "--norm asks for distances")
        return Distances(shape.norm, shape.radius, seed_of(shape))
    compared = domain if shape.label is None else domain.without(shape.label)
    kernel = declared_kernel(shape, compared, "jaccard" if domain.holds_sets else OTHERWISE)
    return Closeness(kernel, shape.radius, seed_of(shape))
