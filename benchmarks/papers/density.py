"""Sums of kernels and of distances: every method at every promise, with the size that public facts choose and the best.

The RACE paper's figures 3 and 7 and table 3, and figure 1 of the ICLR 2024 paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from core.domain import Domain
from core.lab.comparison_plan import METHODS, Method, Trial, best_sizes
from core.lab.comparison_trials import PublicData, released, run_trial
from core.privacy.budget import Budget
from core.releases.forecast.recommendation import Closeness, Distances
from core.sketches.registry import card

from . import published_noise
from .datasets import LINE, WIDE, points, public_data
from .guaranteed_queries import GuaranteedQueries
from .work import DONE, EPSILONS, Record, Settings, Work

DELTA = "1e-6"
FEW = 8
"""Dimensions that a method gets that cannot have all: fewer than ten, as in the RACE paper."""
PUBLISHED_ROWS = 1000
SHOWN = "1"
"""The ε at which functions are drawn and methods are listed."""


GUARANTEED = Method(
    replace(
        card("huang-roth"),
        name="huang-roth-guaranteed",
        title="Queries asked when wrong, constants of the theory",
        size=None,
        sizes=(),
        make=lambda facts: GuaranteedQueries(facts.domain),
    )
)
"""What the ICLR 2024 paper ran, and found to say nothing."""
COMPARED = {**METHODS, GUARANTEED.card.name: GUARANTEED}


@dataclass(frozen=True)
class Density:
    """An experiment on one data set.

    Attributes
    ----------
    name, data : of the experiment, and of the data set as `public_data` knows it.
    measure : the error that is reported, and that sizes are chosen by.
    title, source : for people: what it is, and which figure of which paper.
    about : what was done otherwise than in the paper, in sentences.
    """

    name: str
    data: str
    measure: str
    title: str
    source: str
    about: str = ""

    def first(self, settings: Settings) -> list[Work]:
        """Every setting on tuning draws, and the size that public facts choose on those that are reported.

        A draw of everything comes before the next draw of anything, so that a report halfway shows every method.
        """
        return sorted(self._first(settings), key=lambda work: work.repetition)

    def _first(self, settings: Settings) -> Iterator[Work]:
        for delta in ("0", DELTA):
            for key, data, sizes in self._methods(settings, delta):
                work = partial(Work, self.name, data, key, delta=delta, quick=settings.quick)
                for epsilon in settings.epsilons(EPSILONS):
                    for repetition in range(settings.tuning if len(sizes) > 1 else 0):
                        for size in sizes:
                            yield work(size=size, epsilon=epsilon, repetition=repetition, tuning=True)
                    for repetition in range(settings.repetitions):
                        yield work(size=None, epsilon=epsilon, repetition=repetition)
        if settings.takes(published_noise.KEY) and isinstance(self.question(settings)[1], Closeness):
            for epsilon in settings.epsilons(EPSILONS):
                for repetition in range(settings.repetitions):
                    yield Work(
                        self.name, self.data, published_noise.KEY, None, epsilon, "0", repetition, False, settings.quick
                    )

    def then(self, settings: Settings, records: list[Record]) -> list[Work]:
        """The best sizes, on draws on which nothing was chosen."""
        return [
            Work(self.name, data, method, size, f"{epsilon:g}", delta, repetition, False, settings.quick)
            for (data, delta), trials in grouped(records).items()
            for (method, epsilon), size in best_sizes(trials, self.measure).items()
            if size is not None
            for repetition in range(settings.repetitions)
        ]

    def _methods(self, settings: Settings, delta: str) -> Iterator[tuple[str, str, tuple[int | None, ...]]]:
        """Every method that can answer, on the data as it is or projected, and its sizes.

        Under (ε, δ) only ours, and those that do not exist without a δ: the noise of the others hardly changes what
        they are compared for.
        """
        domain, question = self.question(settings)
        for key, method in COMPARED.items():
            rival = method.card.rival
            if not settings.takes(key) or (delta != "0" and rival and not _needs_delta(key, domain, question)):
                continue
            for data, tried in self._variants(domain, rival):
                if method.refusal(tried, question, Budget(1, delta)) is None:
                    sizes = method.sizes(tried, question, 10_000)
                    yield key, data, sizes[:3] if settings.quick else sizes
                    break

    def _variants(self, domain: Domain, rival: bool) -> Iterator[tuple[str, Domain]]:
        """The data as they are, and for rivals on fewer and fewer directions."""
        yield self.data, domain
        if domain.dimensions >= WIDE and rival:
            for dimensions in range(FEW, 0, -1):
                few = Domain.of(**{f"p{place}": (-12, 12) for place in range(dimensions)})
                yield f"{self.data}/{dimensions}", few

    def question(self, settings: Settings) -> tuple[Domain, Closeness | Distances]:
        """The columns of the data set, and what is asked about it."""
        if self.data == "line":
            return LINE, Distances("l1")
        found = points(self.data, settings.data)
        return found.domain, found.question

    def trial(self, work: Work, settings: Settings) -> dict:
        """The figures of one trial."""
        data = public_data(work, settings)
        budget = Budget(work.epsilon, work.delta)
        if work.method == published_noise.KEY:
            return _published(data, work)
        method = COMPARED[work.method]
        found = asdict(run_trial(data, method, work.size, budget, work.repetition, work.tuning))
        if data.grid is None or (work.repetition, work.epsilon, work.tuning) != (0, SHOWN, False):
            return found
        drawn = released(data, method, work.size, budget).answer_points(data.grid).estimate / len(data.records)
        return found | {"function": drawn.tolist()}


def _published(data: PublicData, work: Work) -> dict:
    """The same figures of a table with too little noise; times are those of RACE."""
    places = (data.queries,) if data.grid is None else (data.queries, data.grid)
    answers, *grid = published_noise.estimates(data, PUBLISHED_ROWS, float(work.epsilon), work.repetition, places)
    errors = np.abs(answers - data.truth) / data.truth
    off = None
    if grid:
        off = float(np.linalg.norm(grid[0] - data.grid_truth) / np.linalg.norm(data.grid_truth))
    upper = float(np.percentile(errors, 95))
    trial = Trial(
        work.method,
        None,
        float(work.epsilon),
        0.0,
        work.repetition,
        False,
        float(errors.mean()),
        upper,
        off,
        0.0,
        0.0,
        0.0,
        0,
    )
    return asdict(trial) | {"real_epsilon": published_noise.real_epsilon(data, float(work.epsilon))}


def trials(records: list[Record]) -> list[Trial]:
    """What is done, as the comparison knows it."""
    names = Trial.__dataclass_fields__
    return [
        Trial(**{name: value for name, value in record.found.items() if name in names})
        for record in records
        if record.outcome == DONE
    ]


def grouped(records: list[Record]) -> dict[tuple[str, str], list[Trial]]:
    """Trials by data, projected or not, and delta."""
    keys = dict.fromkeys((record.work.data, record.work.delta) for record in records)
    return {key: trials([record for record in records if (record.work.data, record.work.delta) == key]) for key in keys}


def merged(records: list[Record], delta: str) -> list[Trial]:
    """All trials at one delta, whatever the data were projected to."""
    return trials([record for record in records if record.work.delta == delta])


def _needs_delta(key: str, domain: Domain, question: Closeness | Distances) -> bool:
    method = COMPARED[key]
    return method.refusal(domain, question, Budget(1)) is not None and (
        method.refusal(domain, question, Budget(1, DELTA)) is None
    )
