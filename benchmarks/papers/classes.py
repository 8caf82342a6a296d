"""Figure 4 of the RACE paper: classifiers from one table a class, beside private logistic regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.linear_model import LogisticRegression

from core.analysis.classification import classify
from core.geometry.kernels import Euclidean
from core.models.objective_perturbation import ObjectivePerturbation
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.classes import Classes
from core.sketches.moments import Moments
from core.sketches.race import Race
from core.sources import open_source

from ..labelled_data import Labelled, data_sets
from .pictures import Claim, Picture, Section, lines_figure, of_repetitions
from .work import DONE, EPSILONS, Record, Settings, Work

NAME = "classification"
BANDWIDTHS = {"occupancy": 0.5, "htru2": 0.1}
"""Of columns that are scaled to their bounds (RACE paper, table 2)."""
ROWS, WIDTH = (10, 20, 50, 100, 200), 100
LAMBDAS = (0.01, 0.1, 1.0, 2.0)
SMALL = 1_500
MEMORY = 1 << 30
LOGISTIC = "logistic regression, not private"


def race(data: Labelled, size: int | None, budget: Budget, seed: int) -> Callable:
    """RACE with the paper's kernel, W = 100 and its rule of the largest average closeness; size is R."""
    kernel = Euclidean(BANDWIDTHS[data.name]) if data.name in BANDWIDTHS else data.kernel
    inner = Race(data.domain, kernel, size, WIDTH, seed=seed)
    return _released(Classes(data.whole_domain, data.label.name, inner), data, budget, seed, "likelihood")


def nearest_mean(data: Labelled, size: int | None, budget: Budget, seed: int) -> Callable:
    """The class whose noisy mean is nearest, as in section 11.3 of the ICLR 2024 paper."""
    inner = Moments(data.domain).for_mean()
    return _released(Classes(data.whole_domain, data.label.name, inner), data, budget, seed, "mean")


def objective_perturbation(data: Labelled, size: int | None, budget: Budget, seed: int) -> Callable:
    """Chaudhuri, Monteleoni, Sarwate 2011; size is a place in the list of λ, the smallest when None."""
    return _regression(data, LAMBDAS[0 if size is None else size], budget, seed)


def least_perturbation(data: Labelled, size: int | None, budget: Budget, seed: int) -> Callable:
    """The same with the least regularisation that the promise allows, which the paper did not try."""
    return _regression(data, None, budget, seed)


def _regression(data: Labelled, strength: float | None, budget: Budget, seed: int) -> Callable:
    model = ObjectivePerturbation(data.whole_domain, data.label.name, strength, records=len(data.train))
    return model.fit(open_source(_table(data.train)), budget, noise_source=SeededSource(seed)).codes


WAYS: dict[str, tuple[str, tuple[int | None, ...], Callable]] = {
    "race": ("RACE", (None, *ROWS), race),
    "objective-perturbation": ("Objective perturbation", (None, *range(1, len(LAMBDAS))), objective_perturbation),
    "least-perturbation": ("Objective perturbation, least λ", (None,), least_perturbation),
    "nearest-mean": ("Nearest mean", (None,), nearest_mean),
}
"""Title, settings and maker of a classifier, by key."""


@lru_cache(maxsize=4)
def sets(folder: Path | None, quick: bool) -> dict[str, Labelled]:
    """Those of the paper that are there, by name; without any, the bundled sample."""
    found = {data.name: data for data in data_sets(folder)}
    chosen = {name: data for name, data in found.items() if name in BANDWIDTHS} or {
        "heart sample": found["heart sample"]
    }
    if not quick:
        return chosen
    return {name: replace(data, train=data.train[:SMALL], test=data.test[:300]) for name, data in chosen.items()}


def first(settings: Settings) -> list[Work]:
    """Every setting on tuning draws, the untuned ones on those that are reported, and what is not private."""
    return list(_first(settings))


def _first(settings: Settings) -> Iterator[Work]:
    for name in sets(settings.data, settings.quick):
        yield Work(NAME, name, LOGISTIC, None, "1", "0", 0, False, settings.quick)
        for key, (_, sizes, _) in WAYS.items():
            if not settings.takes(key):
                continue
            work = partial(Work, NAME, name, key, delta="0", quick=settings.quick)
            for epsilon in settings.epsilons(EPSILONS):
                for repetition in range(settings.tuning if len(sizes) > 1 else 0):
                    for size in sizes[:3] if settings.quick else sizes:
                        yield work(size=size, epsilon=epsilon, repetition=repetition, tuning=True)
                for repetition in range(settings.repetitions):
                    yield work(size=None, epsilon=epsilon, repetition=repetition)


def then(settings: Settings, records: list[Record]) -> list[Work]:
    """The settings that were best on the test set, as in the paper, on draws of their own."""
    return [
        Work(NAME, data, method, size, epsilon, "0", repetition, False, settings.quick)
        for (data, method, epsilon), size in best(records).items()
        if size is not None
        for repetition in range(settings.repetitions)
    ]


def best(records: list[Record]) -> dict[tuple[str, str, str], int | None]:
    """The setting of the greatest mean accuracy on tuning draws, by data set, method and epsilon."""
    found: dict[tuple[str, str, str], dict[int | None, list[float]]] = {}
    for one in records:
        if one.outcome == DONE and one.work.tuning:
            sizes = found.setdefault((one.work.data, one.work.method, one.work.epsilon), {})
            sizes.setdefault(one.work.size, []).append(one.found["accuracy"])
    return {key: max(sizes, key=lambda size: np.mean(sizes[size])) for key, sizes in found.items()}


def measure(work: Work, settings: Settings) -> dict:
    """Accuracy on held-out records."""
    data = sets(settings.data, work.quick)[work.data]
    data = replace(data, train=data.train[: max(50, int(work.share * len(data.train)))])
    truth = data.codes(data.test)
    if work.method == LOGISTIC:
        return {"accuracy": _reference(data, truth)}
    _, _, make = WAYS[work.method]
    start = perf_counter()
    seed = work.repetition + (1 << 20 if work.tuning else 0)
    predict = make(data, work.size, Budget(work.epsilon, work.delta), seed)
    built = perf_counter()
    found = predict(data.test[list(data.domain.names)])
    return {"accuracy": float(np.mean(found == truth)), "seconds_build": built - start}


def _reference(data: Labelled, truth: np.ndarray) -> float:
    train, test = (data.domain.encode_queries(frame) for frame in (data.train, data.test))
    model = LogisticRegression(max_iter=1_000).fit(train, data.codes(data.train))
    return float(np.mean(model.predict(test) == truth))


def _released(sketch: Classes, data: Labelled, budget: Budget, seed: int, rule: str) -> Callable:
    made = release(sketch, _table(data.train), budget, records=len(data.train), noise_source=SeededSource(seed))
    return lambda places: classify(made, places, rule).codes


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def section(settings: Settings, records: list[Record]) -> Section:
    """Accuracy against ε, a panel a data set."""
    chosen, panels, claims = best(records), {}, []
    for name in dict.fromkeys(record.work.data for record in records):
        own = [one for one in records if one.outcome == DONE and one.work.data == name]
        lines, at_one = [], {}
        for key, (title, sizes, _) in WAYS.items():
            for tuned in (False, True) if len(sizes) > 1 else (False,):
                found = {
                    float(epsilon): values
                    for epsilon in settings.epsilons(EPSILONS)
                    if (values := _accuracies(own, key, epsilon, chosen.get((name, key, epsilon)) if tuned else None))
                }
                if found:
                    lines.append(of_repetitions(key, f"{title}, tuned" if tuned else title, found, dashed=not tuned))
                    at_one[key, tuned] = {place: float(np.mean(values)) for place, values in found.items()}
        reference = next((one.found["accuracy"] for one in own if one.work.method == LOGISTIC), None)
        if reference is not None:
            ends = {float(epsilon): [reference] for epsilon in settings.epsilons(EPSILONS)}
            lines.append(of_repetitions("reference", LOGISTIC, ends, dashed=True))
        panels[name] = lines
        claims += _claims(name, at_one)
    figure = lines_figure(panels, {key: title for key, (title, _, _) in WAYS.items()}, "ε", "accuracy", log_y=False)
    return Section(
        "Classification",
        "RACE (CCS 2021), figure 4",
        (
            "One table for each class, all with the same ε as the classes share nobody; a place belongs to the class "
            "of the largest average closeness. Beside it stands logistic regression by objective perturbation. As in "
            "the paper, the best setting is the one that did best on the test set: R of RACE with W = 100, λ of the "
            "regression. It was chosen on draws that are not reported. Dashed lines are not tuned.",
        ),
        tuple(claims),
        (Picture("Accuracy on held-out records; bands hold 80% of the repetitions.", figure),),
    )


def _claims(name: str, found: dict[tuple[str, bool], dict[float, float]]) -> list[Claim]:
    race_found, rival = found.get(("race", True)), found.get(("objective-perturbation", True))
    if not race_found or not rival:
        return []
    shared = sorted(set(race_found) & set(rival))
    ahead = [place for place in shared if race_found[place] > rival[place]]
    said = "; ".join(f"ε = {place:g}: {race_found[place]:.1%} against {rival[place]:.1%}" for place in shared)
    least = found.get(("least-perturbation", False), {})
    gained = sorted(set(rival) & set(least))
    beside = "; ".join(f"ε = {place:g}: {least[place]:.1%} against {rival[place]:.1%}" for place in gained)
    fair = Claim(
        f"The λ that were tried (0.01 to 2) do the regression justice ({name}, ε above 0.1).",
        all(rival[place] > least[place] - 0.01 for place in gained if place > 0.1),
        f"With the least λ that the promise allows: {beside}.",
    )
    return [
        *([fair] if gained else []),
        Claim(
            f"RACE does about as well as private logistic regression or better ({name}, ε above 0.1).",
            all(race_found[place] > rival[place] - 0.01 for place in shared if place > 0.1),
            f"RACE is ahead at {len(ahead)} of {len(shared)} promises, both tuned. {said}.",
        ),
    ]


def _accuracies(records: list[Record], key: str, epsilon: str, size: int | None) -> list[float]:
    return [
        one.found["accuracy"]
        for one in records
        if (one.work.method, one.work.epsilon, one.work.size, one.work.tuning) == (key, epsilon, size, False)
    ]
