"""Which mechanism? All that can answer a question are forecast from public facts, and ranked with the reason in words.

The forecasts are of the same answers on the same reference population, so they can be compared; a mechanism that cannot
answer is listed with why not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Jaccard, Kernel
from ..geometry.projections.dimensions import dimensions_for
from ..privacy.budget import Budget
from ..sketches import making
from ..sketches.classes import Classes
from ..sketches.grids.axes import is_product_of_columns
from ..sketches.grids.histogram import Histogram
from ..sketches.grouped import GroupedSketch
from ..sketches.hashed.minhash import MinHash
from ..sketches.linear import LinearSketch
from .forecast import Forecast, checked_density, checked_records, choose_size, forecast

Maker = Callable[[], LinearSketch]

TIE = 1.03
"""Errors this close to each other are alike; the smaller file is better then."""
WORTH_PROJECTING = 64
"""Dimensions from which a projection is tried."""
PROJECTION_ERROR = 0.02
"""Expected error that a projection may add to an average closeness."""


class Question(ABC):
    """What is asked of a release."""

    @abstractmethod
    def candidates(self, domain: Domain, budget: Budget) -> dict[str, Maker]:
        """Every mechanism that may answer, by name; making one raises RequestError where it cannot."""


@dataclass(frozen=True)
class Closeness(Question):
    """How dense is it here? Sums of a kernel.

    Attributes
    ----------
    kernel : Kernel
        What closeness is.
    radius : float | None
        Public bound on the distance of a record from the middle of the bounds, used where points are projected.
    seed : int | None
        Public seed of the sketches; fresh when None.
    rows, width : int | None, int
        Of sketches that have them; None leaves the rows to the forecast.
    """

    kernel: Kernel
    radius: float | None = None
    seed: int | None = None
    rows: int | None = None
    width: int = 1000

    def candidates(self, domain: Domain, budget: Budget) -> dict[str, Maker]:
        kernel, seed = self.kernel, self.seed
        if domain.holds_sets and isinstance(kernel, Jaccard):
            return {"minhash": lambda: MinHash(domain, self.rows, seed=seed)}
        makers: dict[str, Maker] = {
            "histogram": lambda: self._histogram(domain),
            "race": lambda: making.race(domain, kernel, self.rows, width=self.width, seed=seed),
            "features": lambda: making.features(domain, kernel, budget, self.rows, seed=seed),
        }
        if domain.dimensions >= WORTH_PROJECTING:
            makers |= {
                f"projected {name}": lambda name=name: self._projected(domain, budget, name)
                for name in ("race", "features")
            }
        return makers

    def _histogram(self, domain: Domain) -> LinearSketch:
        """A histogram, where single answers are read from it fast: a peak search asks for thousands."""
        sketch = Histogram(domain, self.kernel)
        if len(sketch.numeric) > 1 and not is_product_of_columns(self.kernel):
            raise RequestError(
                f"A histogram answers slowly for the {self.kernel.name} kernel: it is no product of its columns, so "
                "every answer would add up dozens of products over the whole grid."
            )
        return sketch

    def _projected(self, domain: Domain, budget: Budget, mechanism: str) -> LinearSketch:
        dimensions = dimensions_for(PROJECTION_ERROR, domain.dimensions, self.kernel, "gaussian")
        if dimensions >= domain.dimensions:
            raise RequestError(
                f"As many dimensions as there are would be needed to keep the error of a projection below "
                f"{PROJECTION_ERROR:.0%}."
            )
        size = {"rows": self.rows} | ({"width": self.width} if mechanism == "race" else {})
        return making.projected(
            domain, self.kernel, dimensions, budget, mechanism=mechanism, radius=self.radius, seed=self.seed, **size
        )


@dataclass(frozen=True)
class Distances(Question):
    """How far is everyone from here? Sums of distances.

    Attributes
    ----------
    norm : str
        "l1", "l2", "squared", "lp:P", "capped:C", "above" or "below".
    radius : float | None
        Of l2 and squared, a public bound on the distance of a record from the middle of the bounds.
    seed : int | None
        Public seed of random directions; fresh when None.
    """

    norm: str
    radius: float | None = None
    seed: int | None = None

    def candidates(self, domain: Domain, budget: Budget) -> dict[str, Maker]:
        return making.distances(domain, self.norm, self.radius, self.seed)


@dataclass(frozen=True)
class Recommendation:
    """A mechanism, what it would give, and why it stands where it stands.

    Attributes
    ----------
    name : str
        Of the mechanism; of the one inside, where there is a table for every class.
    sketch : LinearSketch | None
        With all its public parameters and a size; None when it cannot answer.
    forecast : Forecast | None
        What it would give; None when it cannot answer.
    reason : str
        A sentence or two.
    """

    name: str
    sketch: LinearSketch | None
    forecast: Forecast | None
    reason: str


def recommend(
    domain: Domain,
    records: float | None,
    budget: Budget,
    question: Question,
    *,
    label: str | None = None,
    density: float | None = None,
    sample: np.ndarray | None = None,
) -> list[Recommendation]:
    """Every mechanism for a question, the best first, those that cannot answer last.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    records : float | None
        A public guess of their number; 10,000 when None.
    budget : Budget
        The promise.
    question : Question
        What is asked.
    label : str | None
        The column that says the class of a record, where each class gets a table of its own.
    density, sample : float | None, np.ndarray | None
        See `core.forecast.forecast.forecast`.

    Raises
    ------
    RequestError
        When a guess is out of range, or no mechanism can answer.

    Examples
    --------
    >>> from core import Budget, Domain, kernels
    >>> best, *_ = recommend(Domain.of(x=(0, 100)), 5000, Budget(1), Closeness(kernels.Gaussian(5)))
    >>> best.name
    'histogram'
    """
    checked_records(records)
    if isinstance(question, Closeness):
        checked_density(density)
    compared = domain if label is None else domain.without(label)
    possible: list[Recommendation] = []
    impossible: list[Recommendation] = []
    for name, make in question.candidates(compared, budget).items():
        try:
            sketch = make() if label is None else Classes(domain, label, make())
            sketch = sketch if sketch.sized else choose_size(sketch, budget, records, density, sample)
            outlook = forecast(sketch, budget, records, density, sample)
            possible.append(Recommendation(name, sketch, outlook, ""))
        except RequestError as problem:
            impossible.append(Recommendation(name, None, None, str(problem)))
    if not possible:
        raise RequestError(f"No mechanism can answer this. {impossible[0].reason}")
    return [*_explained(_ranked(possible)), *impossible]


def _ranked(possible: list[Recommendation]) -> list[Recommendation]:
    """By forecast error; of those alike to the best, the smallest file comes first, then the shortest time."""
    least = min(one.forecast.relative_error for one in possible)

    def rank(one: Recommendation) -> tuple[float, ...]:
        seen = one.forecast
        alike = seen.relative_error <= TIE * least
        return (0.0, seen.file_bytes, seen.seconds) if alike else (seen.relative_error, 0.0, 0.0)

    return sorted(possible, key=lambda one: (one.forecast.relative_error > TIE * least, *rank(one)))


def _explained(ranked: list[Recommendation]) -> list[Recommendation]:
    best = ranked[0]
    first = Recommendation(best.name, best.sketch, best.forecast, _first_reason(ranked))
    return [first, *(Recommendation(o.name, o.sketch, o.forecast, _other_reason(o, best)) for o in ranked[1:])]


def _first_reason(ranked: list[Recommendation]) -> str:
    best, *others = ranked
    why = _because(best)
    error = _percent(best.forecast.relative_error)
    if not others:
        return f"{_titled(best.name)} the only mechanism for this, {why}: an error of {error} is expected."
    second = others[0]
    against = f"{error} against {_percent(second.forecast.relative_error)} for {_named(second.name)}"
    if second.forecast.relative_error <= TIE * best.forecast.relative_error:
        smaller = ", and the file is smaller" if best.forecast.file_bytes < second.forecast.file_bytes else ""
        return f"{_titled(best.name)} as good as {_named(second.name)} here{smaller}: {against}."
    return f"{_titled(best.name)} best here, {why}: {against}."


def _because(one: Recommendation) -> str:
    """What suits the mechanism, as a clause."""
    inner, _ = one.sketch.one_answer
    dimensions = inner.domain.dimensions
    columns = "one column" if dimensions == 1 else f"{dimensions:,} dimensions"
    if one.name == "histogram":
        grid = " by ".join(f"{side:,}" for side in inner.shape)
        return f"with only {columns} and {grid} counters, which are fine enough for the kernel"
    if one.name == "moments":
        return "as a count, the sum of all records and that of their squared lengths say everything"
    if one.name == "projected-distance":
        return f"as straight lines are averages over directions, of which it takes {inner.shape[0]:,}"
    if inner.answers == "distance":
        return f"as a fitted grid of {inner.shape[0]:,} counters is fine enough for {columns}"
    if one.name == "minhash":
        return f"as sets have no coordinates; each of its {inner.shape[0]:,} rows needs one counter for an answer"
    if one.name == "race":
        return f"as each of its {inner.shape[0]:,} rows needs one counter for an answer, whatever the number of columns"
    if "projected" in one.name:
        return f"as {inner.projection.target:,} of {columns} are enough for the kernel, and fewer take less time"
    return f"as its {inner.shape[0]:,} waves need two counters each for an answer, whatever the number of columns"


def _other_reason(one: Recommendation, best: Recommendation) -> str:
    seen = one.forecast
    error = f"An error of {_percent(seen.relative_error)} is expected"
    ratio = seen.relative_error / best.forecast.relative_error
    if ratio <= TIE:
        larger = ", and a larger file" if seen.file_bytes > best.forecast.file_bytes else ""
        return f"{error}, much as with {_named(best.name)}{larger}."
    source = "noise" if seen.noise_error > seen.sampling_error else _what_is_sampled(one)
    times = f"{ratio:.1f}" if ratio < 10 else f"{ratio:,.0f}"
    return f"{error}, {times} times that of {_named(best.name)}; most of it is {source}."


def _what_is_sampled(one: Recommendation) -> str:
    inner, _ = one.sketch.one_answer
    return "chance in its random rows" if isinstance(inner, GroupedSketch) else "what its grid is too coarse for"


NAMES = {
    "race": "RACE",
    "minhash": "MinHash",
    "features": "random features",
    "histogram": "a histogram",
    "projected race": "RACE on projected points",
    "projected features": "random features of projected points",
    "distance": "a tree of distances",
    "moments": "sums of squares",
    "projected-distance": "distances along random directions",
}
"""Mechanisms as they are called in a sentence."""
SEVERAL = ("features", "projected features", "moments", "projected-distance")
"""Those of the names that are plural."""


def _named(name: str) -> str:
    return NAMES.get(name, name)


def _titled(name: str) -> str:
    """The beginning of a sentence about a mechanism, up to its verb."""
    named = _named(name)
    return f"{named[0].upper()}{named[1:]} {'are' if name in SEVERAL else 'is'}"


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):,g}%"
