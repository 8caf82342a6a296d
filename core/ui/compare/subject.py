"""What methods are compared on: public records with exact answers, or the public facts about private ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import thread_time

import numpy as np
from scipy.optimize import brentq

from ...domain import Domain
from ...experiments.comparison_methods import METHODS, Method
from ...experiments.comparison_plan import Advice, Step
from ...experiments.comparison_results import Trial
from ...experiments.comparison_trials import released_functions, run_trial
from ...experiments.public_data import PublicData, from_sample
from ...forecast.forecast import forecast
from ...forecast.recommendation import Closeness, Distances, recommend
from ...geometry.kernels import Gaussian, Kernel, Laplacian, Smooth
from ...geometry.kernels.kernel import Stationary
from ...privacy.budget import Budget
from ...sources.samples import Sample
from .picture import Picture, picture_of

RECORDS, QUERIES = 10_000, 150
"""Most records and held-out questions: enough for the curves, and few enough to see them within seconds."""
DRAWS = 8
"""Releases whose functions are drawn; fewer of slow methods."""
QUICK = 1.5
"""Seconds of a processor that one of them may take for more to be drawn."""
SEED = 0
"""Of the hashes that forecasts are made with."""
SHAPES: dict[str, type[Stationary]] = {"Gaussian": Gaussian, "Laplacian": Laplacian, "Smooth": Smooth}
"""Other kernels to compare with, as methods differ in those that they serve."""


@dataclass(frozen=True, eq=False)
class Subject:
    """What methods are compared on; all of it is public.

    Attributes
    ----------
    identity : str
        Equal for equal data and questions.
    title : str
        For people.
    domain, question : Domain, Closeness | Distances
        What is asked of what.
    records : int
        How many there are, or a public guess.
    data : PublicData | None
        Public records with exact answers; None where only forecasts can be compared.
    show : tuple[str, ...]
        The columns to draw.
    shared : bool
        Whether it is everyone's, as the samples are, and no visitor's own.
    """

    identity: str
    title: str
    domain: Domain
    question: Closeness | Distances
    records: int
    data: PublicData | None = None
    show: tuple[str, ...] = ()
    shared: bool = False

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
            if method.answers == self.answers:
                yield method, method.refusal(self.domain, self.question, budget)

    def work(self, step: Step) -> Trial | np.ndarray | tuple[int | None, ...] | Advice:
        """Try a step.

        Raises
        ------
        RequestError
            When its method cannot answer.
        """
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
            method.key,
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
