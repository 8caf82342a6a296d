"""What an owner has chosen on the Release page so far: what is asked, how finely, and the promise. All is public."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache

import numpy as np
from scipy.optimize import brentq

from ...domain import Categorical, Domain, Vector
from ...geometry.kernels import (
    Angular,
    Euclidean,
    Exponential,
    Gaussian,
    Kernel,
    Laplacian,
    Manhattan,
    Smooth,
    SmoothL1,
    SmoothSquared,
)
from ...privacy.budget import Budget
from ...sources.samples import Sample
from ...words.numbers import number, percent, significant
from .aim import CLOSENESS, Aim

SLACK = Decimal("0.000001")
"""The δ behind the switch: one in a million."""
EPSILONS = tuple(
    Decimal(step)
    for step in (
        "0.01 0.012 0.015 0.02 0.025 0.03 0.04 0.05 0.06 0.08 "
        "0.1 0.12 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.8 "
        "1 1.2 1.5 2 2.5 3 4 5 6 8 10"
    ).split()
)
"""Steps of the slider: round numbers, about equally far apart on a logarithmic scale from 0.01 to 10."""
KERNELS: dict[str, type[Kernel]] = {
    "Gaussian": Gaussian,
    "Exponential": Exponential,
    "Laplacian": Laplacian,
    "Euclidean": Euclidean,
    "Manhattan": Manhattan,
    "Smooth": Smooth,
    "Smooth, squared": SmoothSquared,
    "Smooth, city blocks": SmoothL1,
    "Angular": Angular,
}
SHARES = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
"""Steps of nearness: the distance at which closeness is half gone, in shares of the widest column's range."""
DEFAULT_SHARE = 0.05
FACTORS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.0)
"""Steps of nearness where a kernel is suggested: what its bandwidths are multiplied by."""
POWER = 4
"""Power of the Euclidean kernel: a single hash lets far records count, and four of them hardly do."""
FEW_DIMENSIONS = 3
"""Up to here a grid of counts serves best, and it serves the Gaussian kernel most quickly; beyond, random cells do."""


@dataclass(frozen=True)
class Guesses:
    """What is guessed about the data from public knowledge, to forecast with.

    ``density`` is the average closeness of two records, or None for an ordinary one.
    """

    records: int = 10_000
    density: float | None = None


@dataclass(frozen=True)
class Fineness:
    """What is settled about a release besides its question; what is None is left to the forecast.

    Attributes
    ----------
    kernel : Kernel | None
        Which places count as close, where closeness is asked for.
    by_hand : bool
        Whether the owner wants to settle the size of the table, too.
    """

    kernel: Kernel | None = None
    by_hand: bool = False


@dataclass(frozen=True)
class Draft:
    """A release as it stands on the page, before anyone confirmed it.

    Attributes
    ----------
    domain : Domain
        The public facts, as declared on the Data page.
    budget : Budget
        The promise.
    aim, fineness, guesses : Aim, Fineness, Guesses
        See there.
    seed : int
        The public hash seed, the same while the owner tries settings.
    radius : float | None
        No record is further than this from the middle of the bounds, a public fact; None where nobody said so.
    """

    domain: Domain
    budget: Budget
    aim: Aim
    fineness: Fineness
    guesses: Guesses
    seed: int
    radius: float | None = None

    def promising(self, slack: bool) -> Draft:
        """The same with a δ of one in a million, or with none."""
        budget = Budget(self.budget.epsilon, SLACK if slack else Decimal(0), self.budget.neighbours)
        return replace(self, budget=budget)

    @property
    def protected(self) -> str:
        """Who is protected: a person named by a column, or a record by itself."""
        return "record" if self.domain.unit.column is None else "person"

    @property
    def counted(self) -> str:
        """What answers count: a record is a person unless a column says that a person may have several."""
        return "people" if self.domain.unit.column is None else "records"

    @property
    def compared(self) -> Domain:
        """The columns that are compared: all but the one that says the group."""
        return self.aim.compared(self.domain)

    @property
    def measures_closeness(self) -> bool:
        """Whether answers count who is close, rather than how far all are."""
        return self.aim.answers == CLOSENESS


def widest_range(domain: Domain) -> float:
    """The largest range of a column in the coordinates that the kernel sees; 1 when all columns are categories."""
    ranges = [
        1.0 if domain.scale == "box" else column.high - column.low
        for column in domain.columns
        if not isinstance(column, Categorical)
    ]
    return max(ranges, default=domain.category_distance)


def distance_at(domain: Domain, share: float) -> float:
    """The distance that is this share of the widest range, in four digits."""
    return float(f"{share * widest_range(domain):.4g}")


def kernel_at(domain: Domain, share: float) -> Gaussian | Euclidean:
    """The kernel that is offered first, with closeness half gone at a distance of this share of the widest range."""
    return falling_to_half(domain, distance_at(domain, share))


def falling_to_half(domain: Domain, distance: float) -> Gaussian | Euclidean:
    """The kernel that suits the dimensions, with closeness half gone at a distance in a straight line."""
    if domain.dimensions <= FEW_DIMENSIONS:
        return Gaussian(float(f"{distance / math.sqrt(2 * math.log(2)):.4g}"))
    return Euclidean(float(f"{distance / half_distance(POWER):.4g}"), POWER)


@cache
def half_distance(power: int) -> float:
    """The distance, in bandwidths, at which the Euclidean kernel of this power is a half."""
    kernel, here = Euclidean(1.0, power), np.zeros((1, 1))
    return float(brentq(lambda distance: kernel.evaluate(here, np.array([[distance]]))[0, 0] - 0.5, 1e-3, 10.0))


def suggested_kernel(domain: Domain, sample: Sample) -> Kernel | None:
    """The kernel that a sample comes with, for those of its columns that are used.

    In few dimensions another one with the same half distance takes the place of a Euclidean one. None where the sample
    says nothing: with a column that it does not know, or columns that are measured otherwise.
    """
    known = sample.domain
    if domain.scale != known.scale or not set(domain.names) <= set(known.names):
        return None
    bandwidth = sample.kernel.bandwidth
    if isinstance(bandwidth, tuple):
        of_column = dict(zip(known.names, bandwidth, strict=True))
        return replace(sample.kernel, bandwidth=tuple(of_column[name] for name in domain.names))
    if isinstance(sample.kernel, Euclidean):
        return falling_to_half(domain, bandwidth * half_distance(sample.kernel.power))
    return sample.kernel


def radius_of(domain: Domain, longest: Mapping[str, float]) -> float | None:
    """What no record is further than from the middle of the bounds, where all columns are vectors of bounded length.

    Vectors that are bounded by their length are so around zero, which is the middle of their bounds.
    """
    if not all(isinstance(column, Vector) and column.name in longest for column in domain.columns):
        return None
    shares = [
        longest[column.name] / (column.high - column.low if domain.scale == "box" else 1.0) for column in domain.columns
    ]
    return math.hypot(*shares)


def stretched(kernel: Kernel, factor: float) -> Kernel:
    """The kernel with every bandwidth so many times as long, in four digits."""
    longer = np.array(kernel.bandwidth) * factor
    return replace(kernel, bandwidth=np.vectorize(lambda value: float(f"{value:.4g}"))(longer).tolist())


def factor_words(factor: float) -> str:
    """A step of nearness where a kernel is suggested."""
    return "as suggested" if factor == 1 else f"{number(factor)} times as far"


def distance_words(domain: Domain, share: float) -> str:
    """A step of nearness as a person would say it: "5% of the range" or, where columns share a unit, "1 km (5% …)"."""
    of_range = f"{percent(share)} of the range"
    units = {column.unit for column in domain.columns if not isinstance(column, Categorical)}
    if domain.scale == "box" or not units:
        return of_range
    unit = f" {units.pop()}" if len(units) == 1 and units != {""} else ""
    return f"{significant(distance_at(domain, share), 4)}{unit} ({of_range})"


def amount(epsilon: Decimal) -> str:
    """An ε as it stands on a price tag: exact, with at least one decimal place."""
    text = format(epsilon.normalize(), "f")
    return text if "." in text else f"{text}.0"


def rounded_down(epsilon: Decimal) -> Decimal:
    """What is left of a budget, in three digits and never more than there is."""
    if epsilon <= 0:
        return Decimal(0)
    step = Decimal(1).scaleb(epsilon.adjusted() - 2)
    return (epsilon // step) * step


def nearest_step(epsilon: Decimal) -> Decimal:
    """The step of the slider that is nearest to an ε, on its logarithmic scale."""
    return min(EPSILONS, key=lambda step: abs((step / epsilon).ln()))
