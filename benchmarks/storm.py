"""STORM on RACE tables (Coleman et al. 2020, 2021) beside what this package releases instead, under a pure epsilon.

    python -m benchmarks.storm FOLDER [--draws 5] [--epsilon 1 10]

A record (1, x, y) is hashed by four signed projections a row, W = 16. What a table says at q and at -q together grows
with <q, (1, x, y)>² and so stands for the squared error of q ∝ (θ, -1); at -θ, of records times their class, it falls
with the margin and stands for the loss of a linear support vector machine. A search without derivatives looks for its
least value, as often as it likes, as a release may be asked for ever. Every figure is the mean over draws; the number
of rows is whichever of three serves best *on the test part*, which favours STORM and is no way to release anything.

Beside it: ridge regression from one release of sums of products, and objective perturbation; airfoil, the pulsars and
occupancy, scaled by public bounds, a fifth of each to test with. Noise is seeded, as nothing here is a release.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from core.analysis.regression import regression
from core.domain import Categorical, Domain, Numeric, Vector
from core.geometry.kernels import Angular
from core.models.objective_perturbation import PureLogistic
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.job import release
from core.sketches.race import Race
from core.sketches.sums_of_products import Products
from core.sources import open_source

from .labelled_data import data_sets

AIRFOIL = Domain.of(
    frequency_hz=(200, 20_000),
    angle_of_attack_deg=(-5, 25),
    chord_length_m=(0, 0.35),
    free_stream_velocity_m_s=(0, 100),
    displacement_thickness_m=(0, 0.1),
    sound_pressure_db=(100, 145),
)
POWER, ROWS, EXACTLY = 4, (30, 200, 1000), 2_000
ROUNDS, AROUND = 60, 64
TARGET = "predicted"
Sums = Callable[[np.ndarray], np.ndarray]
"""From directions to kernel sums."""


@dataclass(frozen=True)
class Problem:
    """Numbers between -1 and 1, what is predicted among them as 1 or -1 or a number, split."""

    name: str
    classes: bool
    train: np.ndarray
    goals: np.ndarray
    test: np.ndarray
    wanted: np.ndarray


def problems(folder: Path) -> Iterator[Problem]:
    """Those of which the folder has the data."""
    path = folder / "airfoil.parquet"
    if path.is_file():
        frame = pd.read_parquet(path).sample(frac=1, random_state=1)
        points = scaled(frame, AIRFOIL)
        yield split("airfoil", False, points[:, :-1], points[:, -1])
    for data in data_sets(folder):
        if data.name in ("occupancy", "htru2"):
            frame = pd.concat((data.train, data.test))
            signs = 2.0 * data.codes(frame) - 1.0
            yield split(data.name, True, scaled(frame, data.domain), signs)


def scaled(frame: pd.DataFrame, domain: Domain) -> np.ndarray:
    """Columns between -1 and 1, by their public bounds."""
    ends = [(column.low, column.high) for column in domain.columns if isinstance(column, Numeric)]
    low, high = (np.array(side) for side in zip(*ends, strict=True))
    return np.clip((frame[list(domain.names)].to_numpy(np.float64) - low) / (high - low) * 2.0 - 1.0, -1.0, 1.0)


def split(name: str, classes: bool, points: np.ndarray, goals: np.ndarray) -> Problem:
    """The last fifth of the rows, which are in no order, to test with."""
    cut = len(points) * 4 // 5
    return Problem(name, classes, points[:cut], goals[:cut], points[cut:], goals[cut:])


def on_the_sphere(vectors: np.ndarray) -> np.ndarray:
    """Vectors made 1 long by a last coordinate, so that angles say what inner products are."""
    inside = vectors / np.sqrt(vectors.shape[1])
    return np.column_stack((inside, np.sqrt(np.maximum(0.0, 1.0 - (inside**2).sum(axis=1)))))


def hashed(vectors: np.ndarray, rows: int, budget: Budget, seed: int) -> Sums:
    """What a RACE release of vectors says at some directions."""
    domain = Domain((Vector("v", vectors.shape[1] + 1, -1, 1),))
    sketch = Race(domain, Angular(POWER), rows, width=1 << POWER, seed=seed)
    frame = pd.DataFrame({"v": list(on_the_sphere(vectors))})
    made = release(sketch, frame, budget, noise_source=SeededSource(seed))
    return lambda asked: np.asarray(made.estimate({"v": list(directions(asked))}))


def exactly(vectors: np.ndarray) -> Sums:
    """What a table of endless rows without noise would say, by some of the records."""
    some = on_the_sphere(vectors[:EXACTLY])
    return lambda asked: Angular(POWER).evaluate(directions(asked), some).sum(axis=1)


def directions(asked: np.ndarray) -> np.ndarray:
    """Queries 1 long, which have no last coordinate."""
    lengths = np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-12)
    return np.column_stack((asked / lengths, np.zeros(len(asked))))


def least(loss: Callable[[np.ndarray], np.ndarray], start: np.ndarray, seed: int) -> np.ndarray:
    """Where a loss of rows is least, by a search without derivatives: the mean of the best quarter around a centre.

    It follows the best points of each round, in steps that shrink with them (cross-entropy method; Rubinstein 1999).
    """
    random = np.random.default_rng(seed)
    centre, spread = start, np.full(len(start), 0.7)
    for _ in range(ROUNDS):
        tried = centre + spread * random.normal(size=(AROUND, len(centre)))
        best = tried[np.argsort(loss(tried))[: AROUND // 4]]
        centre, spread = best.mean(axis=0), np.maximum(0.8 * spread, best.std(axis=0)) * 0.95
    return centre


def storm(problem: Problem, sums_of: Callable[[np.ndarray], Sums], seed: int) -> float:
    """What STORM's model does on the test part: the mean squared error, or the share that is right."""
    ones, test = (np.column_stack((np.ones(len(part)), part)) for part in (problem.train, problem.test))
    start = np.zeros(ones.shape[1])
    if problem.classes:
        sums = sums_of(ones * problem.goals[:, None])
        found = least(lambda tried: sums(-tried), start, seed)
        return float(np.mean(np.sign(test @ found) == problem.wanted))
    sums = sums_of(np.column_stack((ones, problem.goals)))

    def loss(tried: np.ndarray) -> np.ndarray:
        query = np.column_stack((tried, np.full(len(tried), -1.0)))
        return sums(query) + sums(-query)

    return float(np.mean((np.clip(test @ least(loss, start, seed), -1.0, 1.0) - problem.wanted) ** 2))


def ours(problem: Problem, budget: Budget, seed: int) -> float:
    """The same by sums of products, or by objective perturbation."""
    names = [f"x{place}" for place in range(problem.train.shape[1])]
    train, test = (pd.DataFrame(part, columns=names) for part in (problem.train, problem.test))
    columns = tuple(Numeric(name, -1, 1) for name in names)
    if problem.classes:
        domain = Domain((*columns, Categorical(TARGET, ("-1", "1"))))
        train[TARGET] = np.where(problem.goals > 0, "1", "-1")
        model = PureLogistic(domain, TARGET).fit(open_source(train), budget, noise_source=SeededSource(seed))
        return float(np.mean(2 * model.codes(test) - 1 == problem.wanted))
    domain = replace(Domain(columns), columns=(*columns, Numeric(TARGET, -1, 1)))
    train[TARGET] = problem.goals
    made = release(Products(domain), train, budget, noise_source=SeededSource(seed))
    found = regression(made, TARGET).predict(test).estimate.to_numpy()
    return float(np.mean((found - problem.wanted) ** 2))


def trivial(problem: Problem) -> float:
    """What the mean, or the most common class, does without noise."""
    mean = float(problem.goals.mean())
    if problem.classes:
        return float(np.mean(problem.wanted == np.sign(mean)))
    return float(np.mean((problem.wanted - mean) ** 2))


def mean_of_draws(problem: Problem, rows: int, budget: Budget, draws: int) -> float:
    """STORM from tables of so many rows."""

    def drawn(seed: int) -> float:
        return storm(problem, lambda vectors: hashed(vectors, rows, budget, seed), seed)

    return float(np.mean([drawn(seed) for seed in range(draws)]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--epsilon", nargs="+", default=["1", "10"])
    options = parser.parse_args()
    table = Table("data", "what is told", "ε", "nothing learnt", "STORM", "its rows", "its loss, exactly", "ours")
    for problem in problems(options.folder):
        exact = storm(problem, exactly, 0)
        for epsilon in options.epsilon:
            budget, draws = Budget(epsilon), range(options.draws)
            found = {rows: mean_of_draws(problem, rows, budget, options.draws) for rows in ROWS}
            best = (max if problem.classes else min)(found, key=lambda rows: found[rows])
            beside = float(np.mean([ours(problem, budget, seed) for seed in draws]))
            told = "share right" if problem.classes else "mean squared error"
            numbers = (trivial(problem), found[best], best, exact, beside)
            table.add_row(problem.name, told, epsilon, *(f"{number:.4g}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    main()
