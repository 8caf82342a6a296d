"""All pairs of a table's columns, by tables with optimal noise and by what won contests of synthetic data.

    python -m benchmarks.table_rivals adult.parquet                # tables, mst and aim
    python -m benchmarks.table_rivals adult.parquet --method mst --bins 10 --epsilon 1 --delta 1e-9

For a public data set, whose bounds and categories are read off its rows: numbers are cut into equal bins, and the mean
total variation distance of all pairs from the exact ones is printed with the seconds of processor time. `aim` fits a
model after every round, some dozens of times, which takes a while.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from core.domain import Categorical, Column, Domain, Numeric
from core.geometry.kernels import Gaussian
from core.privacy.budget import Budget
from core.releases.job import release
from core.releases.release import Release
from core.sketches.published.networks.aim import AIM
from core.sketches.published.networks.markov_model import fitted_marginals
from core.sketches.published.networks.mst import MST
from core.sketches.tables.tables import Tables

Pairs = Mapping[tuple[int, int], np.ndarray]


def columns_of(frame: pd.DataFrame, bins: int) -> tuple[Domain, np.ndarray, list[int]]:
    """What is public about a public table, the cell of every record along each column, and how many cells there are."""
    columns: list[Column] = []
    cells, counts = [], []
    for name, values in frame.items():
        if pd.api.types.is_numeric_dtype(values):
            low, high = float(values.min()), float(values.max())
            columns.append(Numeric(str(name), low, high))
            share = (values.to_numpy(float) - low) / (high - low)
            cells.append(np.minimum((share * bins).astype(int), bins - 1))
            counts.append(bins)
        else:
            known = tuple(sorted(values.unique()))
            columns.append(Categorical(str(name), known))
            cells.append(pd.Categorical(values, known).codes.astype(int))
            counts.append(len(known))
    return Domain(tuple(columns)), np.array(cells), counts


def exact_pairs(cells: np.ndarray, counts: list[int]) -> Pairs:
    """Shares of all cells of all pairs."""
    found = {}
    for one, other in combinations(range(len(counts)), 2):
        joint = np.bincount(cells[one] * counts[other] + cells[other], minlength=counts[one] * counts[other])
        found[one, other] = joint.reshape(counts[one], counts[other]) / cells.shape[1]
    return found


def by_tables(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """The best guess of a release of tables."""
    guess = release(Tables.of(domain, bins), frame, budget).guessed()
    names = domain.names
    return {
        (one, other): guess.table(names[one], names[other])["estimate"].to_numpy().reshape(counts[one], counts[other])
        for one, other in combinations(range(len(counts)), 2)
    }


def by_mst(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """The model that fits a chosen tree."""
    made: Release = release(MST(domain, Gaussian(1.0), cells=bins), frame, budget)
    marginals, wanted = made.sketch.marginals, list(combinations(range(len(counts)), 2))
    total = max(1.0, made.sketch.total(made.counters))
    tables = marginals.marginals(made.counters)
    return dict(zip(wanted, fitted_marginals(counts, marginals.cliques, tables, total, wanted=wanted), strict=True))


def by_aim(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """The model that fits tables chosen round by round."""
    made: Release = release(AIM(domain, Gaussian(1.0), cells=bins), frame, budget)
    wanted = tuple(combinations(range(len(counts)), 2))
    return dict(zip(wanted, made.sketch.fitted(made.counters, wanted), strict=True))


METHODS: dict[str, Callable[[Domain, pd.DataFrame, Budget, int, list[int]], Pairs]] = {
    "tables": by_tables,
    "mst": by_mst,
    "aim": by_aim,
}


def distance(found: Pairs, exact: Pairs) -> float:
    """Mean total variation distance of all pairs, where negative counts are none."""
    apart = []
    for pair, shares in exact.items():
        kept = np.maximum(found[pair], 0.0)
        apart.append(0.5 * np.abs(kept / kept.sum() - shares).sum())
    return float(np.mean(apart))


def main() -> None:
    """Print one line a method."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--bins", type=int, default=10)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-9")
    asked = parser.parse_args()
    frame = pd.read_parquet(asked.file)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype(object).fillna("?").astype(str)
    domain, cells, counts = columns_of(frame, asked.bins)
    exact, budget = exact_pairs(cells, counts), Budget(asked.epsilon, asked.delta)
    for method in asked.method or METHODS:
        start = time.process_time()
        off = distance(METHODS[method](domain, frame, budget, asked.bins, counts), exact)
        print(f"{method}: {off:.4f} in {time.process_time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
