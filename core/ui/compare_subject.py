"""What methods are compared on: public records with exact answers, or the public facts about private ones.

Functions are drawn along one column, over two, or along a way between two records where columns have no axis. What is
not drawn is held at what is usual in the public records: a comparison never has any others.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import thread_time

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from ..domain import Categorical, Column, Domain, Scalar, Vector
from ..figures.figure_axes import Axis
from ..formatting.numbers import significant
from ..geometry.kernel import Stationary
from ..geometry.kernels import Gaussian, Kernel, Laplacian, Smooth
from ..lab.comparison_plan import METHODS, Advice, Method, Step, Trial
from ..lab.comparison_trials import PublicData, exact_sums, from_sample, released_functions, run_trial
from ..privacy.budget import Budget
from ..releases.forecast.forecast import forecast
from ..releases.forecast.recommendation import Closeness, Distances, recommend
from ..sources.public_tables import Sample

ALONG = 400  # Places along one column.
SIDE = 36  # Places along a side of a map.
WAY = "from one record to another"


@dataclass(frozen=True, eq=False)
class Picture:
    """Places at which functions are drawn, with the exact answers there."""

    axes: tuple[Axis, ...]  # One, or two with x first.
    points: np.ndarray  # float64 (n, dimensions), encoded; of a map row by row, y first.
    exact: np.ndarray  # float64 of the picture's shape, (places,) or (y places, x places).
    answer: str  # What an answer is, for an axis.
    held: str  # What the other columns are held at, in words; "" where there are none.
    scale: float  # What answers are multiplied by: distances are shown as averages.

    def shaped(self, answers: np.ndarray) -> np.ndarray:
        """Answers at the points, (n,), as the picture has them."""
        return (self.scale * answers).reshape(self.exact.shape)


def picture_of(data: PublicData, show: Sequence[str]) -> Picture:
    """The picture of public data.

    `show`: the one or two columns to draw, where they have an axis.
    """
    columns = {column.name: column for column in data.domain.columns if not isinstance(column, Vector)}
    drawn = [columns[name] for name in show if name in columns]
    if not drawn:
        axes, points, held = *_way(data), ""
    else:
        axes, points, held = _places(data, drawn)
    closeness = isinstance(data.question, Closeness)
    scale = 1.0 if closeness else 1.0 / len(data.records)
    exact = scale * exact_sums(data.domain, data.question, points, data.records)
    shape = tuple(len(axis.values) for axis in reversed(axes))
    return Picture(
        axes, points, exact.reshape(shape), "records close by" if closeness else "average distance", held, scale
    )


def _places(data: PublicData, drawn: list[Column]) -> tuple[tuple[Axis, ...], np.ndarray, str]:
    natural = data.domain.decode_points(data.records, data.metric)
    values = [_values(column, ALONG if len(drawn) == 1 else SIDE) for column in drawn]
    grid = np.meshgrid(*values, indexing="xy")
    frame = {column.name: part.ravel() for column, part in zip(drawn, grid, strict=True)}
    usual = {name: _usual(natural[name]) for name in natural.columns if name not in frame}
    count = len(next(iter(frame.values())))
    table = pd.DataFrame(frame | {name: [value] * count for name, value in usual.items()})
    points = data.domain.encode_queries(table[list(natural.columns)], data.metric)
    axes = tuple(Axis.of(column, part) for column, part in zip(drawn, values, strict=True))
    held = ", ".join(f"{name} {_said(value)}" for name, value in usual.items())
    return axes, np.asfortranarray(points), held


def _way(data: PublicData) -> tuple[tuple[Axis, ...], np.ndarray]:
    """The straight way from one held-out record to another."""
    share = np.linspace(0.0, 1.0, ALONG)
    points = (1 - share[:, None]) * data.queries[0] + share[:, None] * data.queries[-1]
    return (Axis(WAY, share, 0.0, 1.0),), np.asfortranarray(points)


def _values(column: Column, places: int) -> np.ndarray:
    if isinstance(column, Categorical):
        return np.array(column.categories, dtype=object)
    assert isinstance(column, Scalar)
    return np.linspace(column.low, column.high, places)


def _usual(values: pd.Series) -> object:
    """The median of numbers, each by itself in vectors, and the most frequent category."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.mode()[0]
    return np.median(np.stack(values), axis=0) if values.dtype == object else float(values.median())


def _said(value: object) -> str:
    if isinstance(value, np.ndarray):
        return "at its middle"
    return significant(value, 3) if isinstance(value, float) else str(value)


# Most records and held-out questions: enough for the curves, and few enough to see them within seconds.
RECORDS, QUERIES = 10_000, 150
DRAWS = 8  # Releases whose functions are drawn; fewer of slow methods.
QUICK = 1.5  # Seconds of a processor that one of them may take for more to be drawn.
SEED = 0  # For the hashes that forecasts are made with.
# Other kernels to compare with, as methods differ in those that they serve.
SHAPES: dict[str, type[Stationary]] = {"Gaussian": Gaussian, "Laplacian": Laplacian, "Smooth": Smooth}


@dataclass(frozen=True, eq=False)
class Subject:
    """What methods are compared on; all of it is public."""

    identity: str  # Equal for equal data and questions.
    title: str  # For people.
    # What is asked of what.
    domain: Domain
    question: Closeness | Distances
    records: int  # How many there are, or a public guess.
    data: PublicData | None = None  # Public records with exact answers; None where only forecasts can be compared.
    show: tuple[str, ...] = ()  # The columns to draw.
    shared: bool = False  # Whether it is everyone's, as the samples are, and no visitor's own.

    @property
    def answers(self) -> str:
        """What is summed: "closeness" or "distance"."""
        return "closeness" if isinstance(self.question, Closeness) else "distance"

    @cached_property
    def picture(self) -> Picture | None:
        """Where released functions are drawn; None without records."""
        return None if self.data is None else picture_of(self.data, self.show)

    def taking_part(self, budget: Budget) -> Iterator[tuple[Method, str | None]]:
        """Every method for such questions, with None or the reason why it cannot take part."""
        for method in METHODS.values():
            if method.card.answers == self.answers:
                yield method, method.refusal(self.domain, self.question, budget)

    def work(self, step: Step) -> Trial | np.ndarray | tuple[int | None, ...] | Advice:
        """Try a step; RequestError when its method cannot answer."""
        budget = Budget(step.epsilon, step.delta)
        if step.advising:
            return self._advice(budget)
        method = METHODS[step.method]
        if self.data is None:
            return self._forecast(method, budget)
        if step.sizing:
            return method.sizes(self.domain, self.question, self.records)
        if step.drawn:
            return self._drawn(method, budget)
        return run_trial(self.data, method, step.size, budget, step.repetition, step.tuning)

    def _advice(self, budget: Budget) -> Advice:
        """What would be recommended for private records of which the same is known."""
        domain = self.domain if self.data is None else self.data.domain
        best, *_ = recommend(domain, self.records, budget, replace(self.question, seed=SEED))
        return Advice(best.name, best.reason)

    def _drawn(self, method: Method, budget: Budget) -> np.ndarray:
        """Released functions at the picture's points, float64 (draws, points): one, and more where that was quick."""
        start = thread_time()
        once = released_functions(self.data, method, None, budget, self.picture.points, 1)
        if thread_time() - start > QUICK:
            return once
        return released_functions(self.data, method, None, budget, self.picture.points, DRAWS)

    def _forecast(self, method: Method, budget: Budget) -> Trial:
        """What public facts say of a trial; nobody looks at a record for it."""
        seen = forecast(method.build(self.domain, self.question, budget, None, SEED), budget, self.records)
        return Trial(
            method.card.name,
            None,
            float(budget.epsilon),
            float(budget.delta),
            0,
            False,
            seen.relative_error,
            np.nan,
            None,
            seen.seconds,
            np.nan,
            np.nan,
            seen.file_bytes,
        )


def sample_subject(known: Sample, question: Closeness | Distances) -> Subject:
    """A bundled sample, on which everyone compares alike."""
    data = from_sample(known, question, records=RECORDS, queries=QUERIES)
    identity = f"{known.name} {described(question)}"
    return Subject(identity, known.title, known.domain, question, len(data.records), data, known.show, shared=True)


def described(question: Closeness | Distances) -> str:
    """Equal for equal questions."""
    return json.dumps(question.kernel.to_dict()) if isinstance(question, Closeness) else question.norm


def kernels_like(kernel: Kernel) -> dict[str, Kernel]:
    """Kernels by their titles that are half gone at the same distance, the given one left out.

    Along a column that is; across columns each measures distance in its own way.
    """
    if not isinstance(kernel, Stationary):
        return {}
    half = _half_distance(kernel)
    return {
        title: _stretched(shape(1.0), kernel.bandwidth, half)
        for title, shape in SHAPES.items()
        if not (isinstance(kernel, shape) and kernel.power == 1)
    }


def _stretched(unit: Stationary, bandwidth: float | tuple[float, ...], half: float) -> Kernel:
    factor = half / _half_distance(unit)
    wide = [float(f"{factor * width:.4g}") for width in np.atleast_1d(bandwidth)]
    return replace(unit, bandwidth=tuple(wide) if isinstance(bandwidth, tuple) else wide[0])


def _half_distance(kernel: Stationary) -> float:
    """The distance, in bandwidths, at which a kernel is a half."""
    unit, here = replace(kernel, bandwidth=1.0), np.zeros((1, 1))
    return float(brentq(lambda distance: unit.evaluate(here, np.array([[distance]]))[0, 0] - 0.5, 1e-6, 1e3))
