"""Whether a release is as exact as its owner needed, where the promise follows from that, and how much less would do.

    python -m benchmarks.from_the_end FOLDER --out settings.csv [--cpu 600] [--seed 1]

A setting is a table of the folder (CSV or Parquet, of which columns of numbers alone are looked at, one to four at
random, with round bounds about them), a question (sums of three kernels or of three distances) and an error that is
wanted, such that some promise does it. `budget_for` solves ε from public facts: columns, bounds, number of records.
Then tables are made with fresh seeds under that promise, and under one smaller by `LESS`, and asked at a hundred
records that are left out: the error is the root mean square over places and seeds of what the sketch is off without
noise and of the noise in the answer, whose variance is known exactly.

*Held* is a setting where that is at most the wanted error, and *close* one where ε is at most `LESS` times the least
that would do: where the smaller promise misses it. Settings follow each other in an order by the seed, so that any
number of them is a fair sample.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from core.errors import RequestError
from core.geometry.kernels import KERNELS
from core.privacy.budget import Budget
from core.releases.forecast.budget_for import budget_for, careful_error, seen_of
from core.releases.forecast.recommendation import Closeness, Distances, Question, recommend
from core.sketches.plan import plan

from .public_sets import PublicSet, of_numbers

LESS, ASKED, SEEDS = 1.3, 100, 8
KINDS = ("gaussian", "laplacian", "exponential", "l1", "l2", "squared")
FACTORS, SIZES, DELTAS = (0.2, 0.5, 1.0), (1_000, 3_000, 8_000), (0, 0, 1e-6)
HEAD = ("set", "columns", "question", "factor", "delta", "records", "wanted", "mechanism", "epsilon", "true", "less")


def tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Columns of numbers with ten values and more, of tables with six hundred rows and more."""
    found = {}
    for path in sorted(folder.glob("*.csv")) + sorted(folder.glob("*.parquet")):
        table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_parquet(path)
        numbers = table.select_dtypes("number").dropna(axis=1, thresh=len(table) // 2).dropna()
        numbers = numbers.loc[:, numbers.nunique() >= 10]
        if len(numbers) >= 600 and len(numbers.columns):
            found[path.stem] = numbers
    return found


def question_of(kind: str, factor: float, public: PublicSet) -> Question:
    """As `recommend` takes it."""
    if kind in KERNELS:
        return Closeness(KERNELS[kind](factor * public.median_distance("l1" if kind == "laplacian" else "l2")))
    return Distances(kind)


def error(public: PublicSet, sketch: object, budget: Budget, records: int, random: np.random.Generator) -> float:
    """Of answers as a share of all records, or of an average distance, in its unit: root mean square."""
    queries = public.encoded(0, ASKED, sketch.metric)
    kept = public.encoded(ASKED, ASKED + records, sketch.metric)
    exact, squares, noise = sketch.exact(queries, kept), [], plan(sketch, budget).noise.variance
    for _ in range(SEEDS):
        drawn = sketch.reseeded(int(random.integers(1 << 31)))
        table = drawn.zeros()
        drawn.add(table, kept)
        off = drawn.answer(table, len(kept), queries, 0.0, 0.95).estimate - exact
        squares.append(np.mean(off**2 + drawn.noise_variance(noise, queries)) / len(kept) ** 2)
        if drawn == sketch:  # without public random numbers all are the same
            break
    return math.sqrt(float(np.mean(squares)))


def settings(found: dict[str, pd.DataFrame], seed: int) -> Iterator[tuple[PublicSet, str, float, float, int, float]]:
    """Sets of columns, kinds of question, their factor, δ, records, and the promise that the wanted error is near."""
    random = np.random.default_rng(seed)
    while True:
        name = str(random.choice(list(found)))
        table = found[name].sample(frac=1.0, random_state=int(random.integers(1 << 31)))
        columns = random.choice(table.columns, min(len(table.columns), int(random.integers(1, 5))), replace=False)
        room = random.choice([0.0, 0.1, 0.5, 2.0], len(columns))
        low, high = table[columns].min().to_numpy(float), table[columns].max().to_numpy(float)
        low = np.where(low >= 0.0, 0.0, low - room * (high - low))
        points = table[columns].to_numpy(float)
        public = of_numbers(f"{name}: {', '.join(columns)}", np.tile(points, (10, 1)), low, high + room * (high - low))
        records = min(int(random.choice(SIZES)), len(points) - ASKED)
        kind, factor = str(random.choice(KINDS)), float(random.choice(FACTORS))
        yield public, kind, factor, float(random.choice(DELTAS)), records, float(np.exp(random.uniform(-2.0, 1.2)))


def measured(
    setting: tuple[PublicSet, str, float, float, int, float], random: np.random.Generator
) -> dict[str, object]:
    """One setting; empty where no promise does what is wanted."""
    public, kind, factor, delta, records, near = setting
    question = question_of(kind, factor, public)

    def first(budget: Budget, many: float) -> object:
        return next(one for one in recommend(public.domain, many, budget, question) if one.sketch is not None)

    def seen(budget: Budget, many: float) -> object:
        one = first(budget, many)
        return seen_of(one.chooser or one.answering, budget, many)

    (one,) = seen(Budget(f"{near:.3g}", delta), records)
    whole = one.estimate if one.answers == "distance" else one.records
    wanted = float(f"{careful_error(one) / whole:.2g}")
    if not 0.0 < wanted < 1.0:
        return {}
    solved = budget_for(seen, records=records, error=f"{100 * wanted:.6g}%", delta=delta).budget
    less = Budget(f"{float(solved.epsilon) / LESS:.3g}", delta)
    (one,) = seen(solved, records)
    share = one.estimate / records if one.answers == "distance" else 1.0
    mechanism = first(solved, records)
    true, missed = (error(public, first(some, records).answering, some, records, random) for some in (solved, less))
    return dict(
        zip(
            HEAD,
            (
                *(public.name, len(public.domain.columns), kind, factor, delta, records, wanted, mechanism.name),
                *(float(solved.epsilon), true / share, missed / share),
            ),
            strict=True,
        )
    )


def report(path: Path) -> None:
    """How many held, and how many were close."""
    rows = pd.read_csv(path)
    for name, some in (("all", rows), *rows.groupby("question")):
        held, close = some.true <= some.wanted, some.less > some.wanted
        ratio = (some.true / some.wanted).quantile([0.05, 0.5, 0.95]).round(2).tolist()
        print(f"{name}: {len(some)} settings, held {held.mean():.0%}, close {close.mean():.0%}, true/wanted {ratio}")


def main() -> None:
    """Measure settings until the processor seconds are used up, and print what they come to."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--cpu", type=float, default=600.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--kind", action="append", help="only these questions")
    given = options.parse_args()
    start, random = process_time(), np.random.default_rng()
    for setting in settings(tables(given.folder), given.seed):
        if process_time() - start >= given.cpu:
            break
        if given.kind and setting[1] not in given.kind:
            continue
        try:
            row = measured(setting, random)
        except RequestError as told:
            print(f"left out: {told}")
            continue
        if row:
            begun = given.out.is_file()
            with given.out.open("a", newline="") as opened:
                writer = csv.DictWriter(opened, HEAD)
                if not begun:
                    writer.writeheader()
                writer.writerow(row)
    report(given.out)


if __name__ == "__main__":
    main()
