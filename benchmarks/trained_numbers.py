"""Regressions of a number beside diffprivlib's linear regression, on every set, under the same epsilon.

    python -m benchmarks.trained_numbers --data FOLDER --rival PYTHON [--draws 10] [--only NAME] [--epsilon 1]

PYTHON has diffprivlib 0.6.6 in an environment of its own. It gets the same records: numbers between -1 and 1 by their
public bounds, which it is told, categories as one 1 among zeros. It keeps epsilon alone, as `products` does here, from
which every other column can be regressed too; beside them is the better of the methods that take a δ. A fifth of the
records is tested with, and predictions are cut to the bounds. Printed are squared errors as shares of that of the mean.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from core.models.training import NUMBER_METHODS, trainer_of
from core.models.training_task import Task
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source

from .papers.training_sets import NUMBERS, Labelled, labelled, names

EPSILONS = ("0.1", "1", "10")
DELTA = "1e-6"
FINE = 1 << 20
RIVAL = """
import sys, warnings
import numpy as np
from diffprivlib.models import LinearRegression
warnings.filterwarnings("ignore")
held = np.load(sys.argv[1])
ends = -np.ones(held["train"].shape[1]), np.ones(held["train"].shape[1])
for epsilon in sys.argv[3:]:
    for draw in range(int(sys.argv[2])):
        model = LinearRegression(epsilon=float(epsilon), bounds_X=ends, bounds_y=(-1, 1), random_state=draw)
        told = np.clip(model.fit(held["train"], held["goals"]).predict(held["test"]), -1, 1)
        print(epsilon, np.mean((told - held["truth"]) ** 2) / held["truth"].var(), flush=True)
"""


def encoded(data: Labelled) -> list[np.ndarray]:
    """Points of both parts."""
    return [
        np.concatenate([data.domain.encode(batch) for batch in open_source(frame).batches(data.domain)])
        for frame in (data.train, data.test)
    ]


def ours(data: Labelled, points: list[np.ndarray], method: str, budget: Budget, draws: int) -> list[float]:
    """What a method leaves unexplained, for each draw of its noise."""
    trainer = trainer_of(method, data.domain, data.label)
    units, goals = trainer.encoded(points[0], trainer.unit)
    plan = trainer._planned(budget)
    models = (trainer._trained(units, goals, budget, plan, SeededSource(draw)) for draw in range(draws))
    return [1.0 - trainer.score(model, points[1]) for model in models]


def rival(python: str, data: Labelled, points: list[np.ndarray], draws: int, epsilons: list[str]) -> dict[str, list]:
    """The same of diffprivlib, by epsilon."""
    task = Task(data.domain, data.label)
    (train, goals), (test, truth) = (task.encoded(part, FINE) for part in points)
    found: dict[str, list] = {}
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder) / "held.npz"
        parts = {"train": train[:, 1:] / FINE, "test": test[:, 1:] / FINE}
        np.savez(held, goals=goals / FINE, truth=truth / FINE, **parts)
        asked = [python, "-c", RIVAL, str(held), str(draws), *epsilons]
        for line in subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines():
            epsilon, error = line.split()
            found.setdefault(epsilon, []).append(float(error))
    return found


def main() -> None:
    """Print a table, a row for each set and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder of Parquet files; made-up sets alone without it")
    parser.add_argument("--rival", metavar="PYTHON", help="a Python that has diffprivlib; ours alone without it")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", action="append", metavar="NAME", help="one set; repeatable")
    parser.add_argument("--epsilon", action="append", help="only this one; repeatable")
    options = parser.parse_args()
    epsilons = options.epsilon or list(EPSILONS)
    print(f"| set (records) | ε | products, ε alone | best with δ = {DELTA} | diffprivlib |\n|---|---|---|---|---|")
    for name in options.only or names(NUMBERS, options.data):
        data = labelled(NUMBERS, name, options.data, False)
        points = encoded(data)
        theirs = rival(options.rival, data, points, options.draws, epsilons) if options.rival else {}
        for epsilon in epsilons:
            alone = ours(data, points, "products", Budget(epsilon), options.draws)
            task, budget = Task(data.domain, data.label), Budget(epsilon, DELTA)
            fitting = [kind.name for kind in NUMBER_METHODS.values() if kind.suits(task, budget)]
            tried = {method: ours(data, points, method, budget, options.draws) for method in fitting}
            best = min(tried, key=lambda method: float(np.mean(tried[method])))
            cells = [_cell(alone), f"{_cell(tried[best])} ({best})", _cell(theirs.get(epsilon, []))]
            print(f"| {name} ({len(data.train):,}) | {epsilon} | {' | '.join(cells)} |", flush=True)


def _cell(values: list[float]) -> str:
    if not values:
        return ""
    return f"{np.mean(values):.4f} ± {np.std(values) / len(values) ** 0.5:.4f}"


if __name__ == "__main__":
    sys.exit(main())
