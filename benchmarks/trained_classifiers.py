"""Trained classifiers beside diffprivlib's logistic regression, on every labelled set, under the same epsilon.

    python -m benchmarks.trained_classifiers --data FOLDER --rival PYTHON [--draws 10] [--only NAME] [--epsilon 1]

PYTHON has diffprivlib 0.6.6 in an environment of its own, as it needs an older scikit-learn. It gets the same records:
numbers between -1 and 1 by their public bounds, categories as one 1 among zeros, once as they are with the length of a
corner as its `data_norm`, and once with every record stretched to length 1; the better of the two stands in the table.
Of ours there is what `auto` takes, which looks at no record, and the better of two lengths that records are shortened
to, chosen as the rival's scaling is: the corner's, and a quarter, which leaves directions. How many records there are
is public.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from core.domain import Categorical, Domain, Numeric
from core.models.training import Trainer, offers, trainer_of
from core.models.training_task import Task
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.sources import open_source

from .labelled_data import Labelled, data_sets, mnist

EPSILONS = ("0.1", "1", "10")
ADULT = {
    "age": (17, 90),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hours_per_week": (1, 99),
}
FINE = 1 << 20
SHORT = 0.25
"""A length that most records are longer than, so that what is left of them is their direction from the middle."""
RIVAL = """
import sys, warnings
import numpy as np
from diffprivlib.models import LogisticRegression
warnings.filterwarnings("ignore")
held = np.load(sys.argv[1])
for scale in ("box", "unit"):
    train, test = held["train"], held["test"]
    norm = float(held["norm"])
    if scale == "unit":
        train, test = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12) for x in (train, test))
        norm = 1.0
    for epsilon in sys.argv[3:]:
        right = []
        for draw in range(int(sys.argv[2])):
            model = LogisticRegression(epsilon=float(epsilon), data_norm=norm, random_state=draw, max_iter=200)
            right.append(float((model.fit(train, held["codes"]).predict(test) == held["truth"]).mean()))
        print(scale, epsilon, np.mean(right), np.std(right) / len(right) ** 0.5, flush=True)
"""


@dataclass(frozen=True)
class Points:
    """A set as methods take it: encoded records, and those of its test part."""

    name: str
    domain: Domain
    label: str
    train: np.ndarray
    test: np.ndarray


def sets(folder: Path | None, only: str | None = None) -> Iterator[Points]:
    """Every labelled set that is there, or one of them."""
    for data in data_sets(folder):
        if only in (None, data.name):
            yield _points(data)
    for name, read in (("adult", lambda path: adult(pd.read_parquet(path))), ("mnist", mnist)):
        path = None if folder is None else folder / f"{name}.parquet"
        if path is not None and path.is_file() and only in (None, name):
            yield _points(read(path))


def _points(data: Labelled) -> Points:
    domain = data.whole_domain
    encoded = [
        np.concatenate([domain.encode(batch) for batch in open_source(_readable(part, data)).batches(domain)])
        for part in (data.train, data.test)
    ]
    return Points(data.name, domain, data.label.name, *encoded)


def _readable(frame: pd.DataFrame, data: Labelled) -> pd.DataFrame:
    return frame.assign(**{data.label.name: frame[data.label.name].astype(str)})


def adult(frame: pd.DataFrame) -> Labelled:
    """A fifth to test with, whichever part of the published split it is of."""
    columns = [
        Numeric(name, *ADULT[name])
        if name in ADULT
        else Categorical(name, tuple(sorted(map(str, frame[name].cat.categories))))
        for name in frame
        if name not in ("fnlwgt", "split", "income")
    ]
    label = Categorical("income", tuple(sorted(map(str, frame["income"].cat.categories))))
    shuffled = frame.dropna().sample(frac=1, random_state=1).reset_index(drop=True)
    tested = len(shuffled) // 5
    domain = Domain(tuple(columns), missing="drop")
    return Labelled("adult", domain, label, None, shuffled[tested:], shuffled[:tested])


def shares_right(trainer: Trainer, points: Points, budget: Budget, draws: int) -> list[float]:
    """What a method gets right of the test part, for each draw of its noise."""
    units, codes = trainer.encoded(points.train, trainer.unit)
    plan = trainer._planned(budget)
    made = (trainer._trained(units, codes, budget, plan, SeededSource(draw)) for draw in range(draws))
    return [trainer.score(model, points.test) for model in made]


def automatic(points: Points, budget: Budget, draws: int) -> tuple[list[float], str]:
    """The method that `auto` takes."""
    found = offers(points.domain, points.label, budget, composable=True, records=len(points.train))
    return shares_right(found[0].trainer, points, budget, draws), found[0].trainer.name


def scaled(points: Points, budget: Budget, draws: int) -> tuple[list[float], str]:
    """The better of two lengths that records are shortened to, chosen on the test part as the rival's scaling is."""
    method = "objective" if budget.pure else "descent"
    found = []
    for radius in (None, SHORT):
        trainer = trainer_of(method, points.domain, points.label, radius)
        found.append((shares_right(trainer, points, budget, draws), "whole" if radius is None else "shortened"))
    return max(found, key=lambda one: float(np.mean(one[0])))


def rival(python: str, points: Points, draws: int, epsilons: list[str]) -> dict[str, tuple[float, float, str]]:
    """Its better scaling at every epsilon: share right, standard error, which."""
    task = Task(points.domain, points.label)
    (train, codes), (test, truth) = (task.encoded(part, FINE) for part in (points.train, points.test))
    best: dict[str, tuple[float, float, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder) / "held.npz"
        arrays = {"train": train[:, 1:] / FINE, "test": test[:, 1:] / FINE, "codes": codes, "truth": truth}
        np.savez(held, norm=task.reach, **arrays)
        asked = [python, "-c", RIVAL, str(held), str(draws), *epsilons]
        for line in subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines():
            scale, epsilon, right, error = line.split()
            best[epsilon] = max(best.get(epsilon, (0.0, 0.0, "")), (float(right), float(error), scale))
    return best


def main(arguments: list[str] | None = None) -> int:
    """Print a table, a row for each set and epsilon."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.trained_classifiers", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--data", type=Path, help="a folder of Parquet files; without it, the bundled sample alone")
    parser.add_argument("--rival", metavar="PYTHON", help="a Python that has diffprivlib; ours alone without it")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", metavar="NAME", help="one set")
    parser.add_argument("--epsilon", action="append", help="only this one; repeatable")
    options = parser.parse_args(arguments)
    epsilons = options.epsilon or list(EPSILONS)
    if options.rival is None:
        print("diffprivlib is skipped: name a Python that has it by --rival.")
    print("| set (records) | ε | auto, δ = 1e-6 | objective, ε alone | descent, δ = 1e-6 | diffprivlib |")
    print("|---|---|---|---|---|---|")
    for points in sets(options.data, options.only):
        _table(points, epsilons, options)
    return 0


def _table(points: Points, epsilons: list[str], options: argparse.Namespace) -> None:
    theirs = rival(options.rival, points, options.draws, epsilons) if options.rival else {}
    for epsilon in epsilons:
        loose = Budget(epsilon, "1e-6")
        tried = ((automatic, loose), (scaled, Budget(epsilon)), (scaled, loose))
        cells = [_cell(*way(points, budget, options.draws)) for way, budget in tried]
        if epsilon in theirs:
            mean, error, scale = theirs[epsilon]
            cells.append(f"{100 * mean:.1f} ± {100 * error:.1f} ({scale})")
        print(f"| {points.name} ({len(points.train):,}) | {epsilon} | {' | '.join(cells)} |", flush=True)


def _cell(right: list[float], which: str) -> str:
    return f"{100 * np.mean(right):.1f} ± {100 * np.std(right) / len(right) ** 0.5:.1f} ({which})"


if __name__ == "__main__":
    sys.exit(main())
