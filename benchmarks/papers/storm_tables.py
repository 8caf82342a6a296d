"""Regression on RACE tables (STORM: Coleman et al. 2020, 2021) beside what is released instead, against a pure epsilon.

As `benchmarks.storm`, which says how it is done. The number of rows is whichever serves best on the test part, which
favours STORM and is no way to release anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.privacy.budget import Budget

from .. import storm
from . import training_sets
from .pictures import Claim, Picture, Section, lines_figure, of_repetitions
from .work import DONE, EPSILONS, Record, Settings, Work

NAME = "storm"
MEMORY = 1 << 30
MADE_UP = "made up, 5 columns"
NOTHING, STORM, EXACTLY, OURS = "nothing", "storm", "its-loss", "ours"
TITLES = {
    NOTHING: "Nothing learnt",
    STORM: "STORM",
    EXACTLY: "STORM's loss, without noise",
    OURS: "Products, or objective perturbation",
}


@lru_cache(maxsize=2)
def problems(folder: Path | None, quick: bool) -> dict[str, storm.Problem]:
    """A made-up slope, and airfoil, occupancy and the pulsars where the folder has them."""
    _, frame = training_sets.made_up(5, 5_000, training_sets.NUMBERS)
    points = frame.to_numpy()
    found = {MADE_UP: storm.split(MADE_UP, False, points[:, :-1], points[:, -1])}
    if folder is not None:
        found |= {problem.name: problem for problem in storm.problems(folder)}
    return {name: _shortened(problem) if quick else problem for name, problem in found.items()}


def _shortened(problem: storm.Problem) -> storm.Problem:
    few = training_sets.SMALL
    return replace(problem, train=problem.train[:few], goals=problem.goals[:few])


def first(settings: Settings) -> list[Work]:
    """STORM at every number of rows, and what is beside it; where there is no noise, once."""
    works = []
    for data in problems(settings.data, settings.quick):
        works += [Work(NAME, data, method, None, "1", "0", 0, False, settings.quick) for method in (NOTHING, EXACTLY)]
        for epsilon in settings.epsilons(EPSILONS):
            for draw in range(settings.repetitions):
                ways: list[tuple[str, int | None]] = [(OURS, None), *((STORM, rows) for rows in storm.ROWS)]
                works += [Work(NAME, data, way, rows, epsilon, "0", draw, False, settings.quick) for way, rows in ways]
    return works


def measure(work: Work, settings: Settings) -> dict:
    """The share that is wrong of the test part, or the mean squared error as a share of that of the mean."""
    problem = problems(settings.data, work.quick)[work.data]
    budget, seed = Budget(work.epsilon), work.repetition
    ways: dict[str, Callable[[], float]] = {
        NOTHING: lambda: storm.trivial(problem),
        EXACTLY: lambda: storm.storm(problem, storm.exactly, seed),
        OURS: lambda: storm.ours(problem, budget, seed),
        STORM: lambda: storm.storm(
            problem, lambda vectors: storm.hashed(vectors, work.size or storm.ROWS[0], budget, seed), seed
        ),
    }
    value = ways[work.method]()
    return {"value": 1.0 - value if problem.classes else value / storm.trivial(problem)}


def section(settings: Settings, records: list[Record]) -> Section:
    """A panel a set, with STORM at its best number of rows for each epsilon."""
    panels, claims = {}, []
    for name in dict.fromkeys(record.work.data for record in records):
        found = best(record for record in records if record.outcome == DONE and record.work.data == name)
        places = sorted({float(record.work.epsilon) for record in records if record.work.method == OURS})
        for still in (NOTHING, EXACTLY):
            if still in found:
                (value,) = found[still].values()
                found[still] = dict.fromkeys(places, value)
        panels[name] = [of_repetitions(key, TITLES[key], found[key]) for key in TITLES if found.get(key)]
        claims += _claims(name, {key: {at: float(np.mean(v)) for at, v in told.items()} for key, told in found.items()})
    figure = lines_figure(panels, TITLES, "ε", "wrong, or squared error of that of the mean", log_y=False)
    about = (
        "Mean squared errors are shares of what the mean does; classes are shares told wrongly.",
        f"STORM has the best of {', '.join(map(str, storm.ROWS))} rows at each ε, chosen on the test part.",
    )
    caption = "On held-out records; bands hold 80% of the repetitions."
    source = "RACE (CCS 2021) on linear models; STORM (Coleman et al. 2020)"
    return Section("Regression on RACE tables", source, about, tuple(claims), (Picture(caption, figure),))


def best(records: Iterable[Record]) -> dict[str, dict[float, list[float]]]:
    """Values by method and epsilon, of the number of rows whose mean is least."""
    by_rows: dict[tuple[str, float], dict[int | None, list[float]]] = {}
    for one in records:
        place = one.work.method, float(one.work.epsilon)
        by_rows.setdefault(place, {}).setdefault(one.work.size, []).append(one.found["value"])
    found: dict[str, dict[float, list[float]]] = {}
    for (method, epsilon), rows in by_rows.items():
        found.setdefault(method, {})[epsilon] = min(rows.values(), key=np.mean)
    return found


def _claims(name: str, means: dict[str, dict[float, float]]) -> list[Claim]:
    shared = sorted(set(means.get(STORM, {})) & set(means.get(OURS, {})))
    if not shared:
        return []
    said = "; ".join(f"ε = {at:g}: {means[STORM][at]:.3f} against {means[OURS][at]:.3f}" for at in shared)
    holds = all(means[STORM][at] <= means[OURS][at] for at in shared)
    return [
        Claim(f"A RACE table regresses as well as a release of its own ({name}).", holds, f"STORM and ours. {said}.")
    ]
