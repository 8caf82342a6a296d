"""Counts by group, means, quartiles and ranges of Adult by one release of tables, and by libraries of private queries.

    python -m benchmarks.statistics_rivals adult.parquet --tool frostglass --delta 1e-9 --releases 20
    python -m benchmarks.statistics_rivals adult.parquet --tool opendp --delta 1e-9 --releases 20
    python -m benchmarks.statistics_rivals adult.parquet --tool tumult --delta 1e-9 --releases 3
    python -m benchmarks.statistics_rivals adult.parquet --tool diffprivlib --releases 20

The others run in an environment of their own, with `opendp[polars]` (0.16), `tmlt.analytics` (0.21, with Java) or
`diffprivlib` (0.6.6), from the root of the repository: for them this file needs no more of ours than a formula.

All answer the same twelve questions under one promise for one added or removed record: how many there are by sex,
marital status and education, and by every year of age; the mean age and working hours; and the three quartiles of both.
A library of queries splits its budget evenly over the questions, as its manual says (OpenDP: `split_evenly_over`;
Tumult: a share for each `evaluate`), and gets zero-concentrated noise where there is a delta: the largest ρ that keeps
the promise. diffprivlib keeps an epsilon alone, and its means and quantiles promise less: one record is replaced, and
how many there are is public. Ours makes one release of the five columns. Bounds, categories and keys are public, and
the same for all.

Printed are root mean square errors of counts, of all ranges of years, which are sums of years where a tool has nothing
better, of means, and of the ranks of quartiles: how far the share of people below an answer is from what was asked.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from core.privacy.calibration import largest_rho

GROUPS = ("sex", "marital_status", "education")
NUMBERS = {"age": (17, 90), "hours_per_week": (1, 99)}
"""With their bounds."""
RANGED = "age"
SHARES = (0.25, 0.5, 0.75)
MOST_PEOPLE = 100_000
"""A public bound, which OpenDP's means and quantiles need."""
QUESTIONS = len(GROUPS) + 1 + len(NUMBERS) * (1 + len(SHARES))


@dataclass(frozen=True)
class Promise:
    """(epsilon, delta) for one record, in the words of every tool."""

    epsilon: float
    delta: float

    @property
    def rho(self) -> float:
        """Of zero-concentrated noise; where there is a delta."""
        return largest_rho(self.epsilon, self.delta)


@dataclass(frozen=True)
class Told:
    """What a tool says.

    Attributes
    ----------
    groups : dict[str, pd.Series]
        Counts by column, by category.
    years : np.ndarray
        Counts of all years of age.
    means : dict[str, float]
        By column.
    quantiles : dict[tuple[str, float], float]
        By column and share.
    """

    groups: dict[str, pd.Series]
    years: np.ndarray
    means: dict[str, float]
    quantiles: dict[tuple[str, float], float]


def years() -> list[int]:
    """All years of age."""
    low, high = NUMBERS[RANGED]
    return list(range(low, high + 1))


def by_frostglass(people: pd.DataFrame, promise: Promise) -> Told:
    """One release of five columns, of which all is asked."""
    from core import Budget, Categorical, Domain, Numeric, Tables, release

    texts = [Categorical(name, tuple(sorted(people[name].unique()))) for name in GROUPS]
    numbers = [Numeric(name, low, high, step=1) for name, (low, high) in NUMBERS.items()]
    bins = [high - low + 1 for low, high in NUMBERS.values()]
    tables = Tables.of(Domain((*texts, *numbers)), bins, "singles")
    made = release(tables, people, Budget(str(promise.epsilon), str(promise.delta)))
    groups = {name: made.table(name).set_index(name)["estimate"] for name in GROUPS}
    means = {name: float(made.mean(name)["estimate"].iloc[0]) for name in NUMBERS}
    quantiles = {
        (name, share): float(made.quantile(name, share)["estimate"].iloc[0]) for name in NUMBERS for share in SHARES
    }
    return Told(groups, made.table(RANGED)["estimate"].to_numpy(), means, quantiles)


def by_opendp(people: pd.DataFrame, promise: Promise) -> Told:
    """The context of OpenDP, with a query a question."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    loss = {"rho": promise.rho} if promise.delta else {"epsilon": promise.epsilon}
    context = dp.Context.compositor(
        data=pl.from_pandas(people).lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(**loss),
        split_evenly_over=QUESTIONS,
        margins=[dp.polars.Margin(max_length=MOST_PEOPLE)],
    )

    def counted(name: str, keys: list[object]) -> pd.Series:
        asked = context.query().group_by(name).agg(dp.len()).with_keys(pl.LazyFrame({name: keys}))
        return asked.release().collect().to_pandas().set_index(name)["len"].reindex(keys).astype(float)

    def single(expression: object) -> float:
        return float(context.query().select(expression).release().collect().item())

    groups = {name: counted(name, sorted(people[name].unique())) for name in GROUPS}
    ages = counted(RANGED, years()).to_numpy()
    means = {name: single(pl.col(name).fill_null(0).dp.mean(bounds)) for name, bounds in NUMBERS.items()}
    quantiles = {
        (name, share): single(pl.col(name).fill_null(0).dp.quantile(share, list(range(low, high + 1))))
        for name, (low, high) in NUMBERS.items()
        for share in SHARES
    }
    return Told(groups, ages, means, quantiles)


def by_tumult(people: pd.DataFrame, promise: Promise) -> Told:
    """A session of Tumult Analytics, with a share of the budget a question."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, RhoZCDPBudget, Session

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    if promise.delta:
        whole, each = RhoZCDPBudget(promise.rho), RhoZCDPBudget(promise.rho / QUESTIONS)
    else:
        whole, each = PureDPBudget(promise.epsilon), PureDPBudget(promise.epsilon / QUESTIONS)
    frame = spark.createDataFrame(people)
    session = Session.from_dataframe(whole, "people", frame, protected_change=AddOneRow())

    def asked(query: object) -> pd.DataFrame:
        return session.evaluate(query, each).toPandas()

    def counted(name: str, keys: list[object]) -> pd.Series:
        found = asked(QueryBuilder("people").groupby(KeySet.from_dict({name: keys})).count())
        return found.set_index(name)["count"].reindex(keys).astype(float)

    groups = {name: counted(name, sorted(people[name].unique())) for name in GROUPS}
    ages = counted(RANGED, years()).to_numpy()
    means, quantiles = {}, {}
    for name, (low, high) in NUMBERS.items():
        means[name] = float(asked(QueryBuilder("people").average(name, low, high)).iloc[0, 0])
        for share in SHARES:
            quantiles[name, share] = float(asked(QueryBuilder("people").quantile(name, share, low, high)).iloc[0, 0])
    return Told(groups, ages, means, quantiles)


def by_diffprivlib(people: pd.DataFrame, promise: Promise) -> Told:
    """A function a question, each with a share of epsilon."""
    from diffprivlib import tools

    if promise.delta:
        sys.exit("diffprivlib's counts, means and quantiles keep an epsilon alone.")
    share = promise.epsilon / QUESTIONS

    def counted(codes: np.ndarray, keys: list[object]) -> pd.Series:
        ends = (-0.5, len(keys) - 0.5)
        return pd.Series(tools.histogram(codes, share, bins=len(keys), range=ends)[0], index=keys, dtype=float)

    groups = {}
    for name in GROUPS:
        keys = sorted(people[name].unique())
        groups[name] = counted(pd.Categorical(people[name], keys).codes, keys)
    ages = counted(people[RANGED].to_numpy() - years()[0], years()).to_numpy()
    means = {name: float(tools.mean(people[name], epsilon=share, bounds=ends)) for name, ends in NUMBERS.items()}
    quantiles = {
        (name, part): float(tools.quantile(people[name], part, epsilon=share, bounds=ends))
        for name, ends in NUMBERS.items()
        for part in SHARES
    }
    return Told(groups, ages, means, quantiles)


TOOLS: dict[str, Callable[[pd.DataFrame, Promise], Told]] = {
    "frostglass": by_frostglass,
    "opendp": by_opendp,
    "tumult": by_tumult,
    "diffprivlib": by_diffprivlib,
}


def errors(told: Told, people: pd.DataFrame) -> dict[str, float]:
    """Mean squared errors of one release, by kind of question."""
    groups = [told.groups[name] - people[name].value_counts().reindex(told.groups[name].index) for name in GROUPS]
    exact = people[RANGED].value_counts().reindex(years(), fill_value=0).to_numpy()
    # A range is the difference of two sums from the first year on.
    below = np.concatenate([[0.0], np.cumsum(told.years - exact)])
    ranges = [below[last] - below[first] for first in range(len(below)) for last in range(first + 1, len(below))]
    means = {f"mean {name}": (told.means[name] - people[name].mean()) ** 2 for name in NUMBERS}
    ranks = [_rank_error(people[name].to_numpy(), told.quantiles[name, share], share) for name, share in told.quantiles]
    return {
        "counts": float(np.mean(np.concatenate(groups) ** 2)),
        "ranges": float(np.mean(np.square(ranges))),
        **means,
        "ranks": float(np.mean(np.square(ranks))),
    }


def _rank_error(values: np.ndarray, answer: float, share: float) -> float:
    """How far the share asked for is from those below an answer and not above it: whole numbers are held by many."""
    least, most = (values < answer).mean(), (values <= answer).mean()
    return float(max(least - share, share - most, 0.0))


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--tool", choices=TOOLS, default="frostglass")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", default="0")
    parser.add_argument("--releases", type=int, default=20)
    asked = parser.parse_args()
    people = pd.read_parquet(asked.file, columns=[*GROUPS, *NUMBERS])
    people = people.astype(dict.fromkeys(GROUPS, str)).astype(dict.fromkeys(NUMBERS, "int64"))
    promise = Promise(asked.epsilon, float(asked.delta))
    start = time.process_time()
    found = pd.DataFrame([errors(TOOLS[asked.tool](people, promise), people) for _ in range(asked.releases)])
    said = "; ".join(f"{name} {value:.4g}" for name, value in np.sqrt(found.mean()).items())
    print(f"{asked.tool}, ({asked.epsilon:g}, {asked.delta}), {asked.releases} releases: {said}", flush=True)
    print(f"{(time.process_time() - start) / asked.releases:.2f} s of this process a release")


if __name__ == "__main__":
    main()
