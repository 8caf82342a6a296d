"""All pairs of a table's columns, by tables with optimal noise and by what won contests of synthetic data.

    python -m benchmarks.table_rivals adult.parquet --without split --method tables --method mst
    python -m benchmarks.table_rivals adult.parquet --without split --method aim --model-size 20000 --iterations 100
    python -m benchmarks.table_rivals adult.parquet --method seen --method chosen --records 2000 --bins 6 --releases 5

For a public data set, whose bounds and categories are read off its rows: numbers are cut into equal bins, and the mean
total variation distance of all pairs from the exact ones is printed with the seconds of processor time. `tables` counts
all pairs; `seen` as many as can be seen, by public sizes; `chosen` as many, chosen under noise; a pair that was not
counted is guessed from those that join its columns, or from single columns. `usual` is what the command line takes.

`aim` fits a model after every round and compiles it anew each time, some dozens of times. `--model-size` keeps
candidates out that would make the model larger, as the MAX_MODEL_SIZE of the paper does (80 MB; a cell is 8 bytes), and
`--iterations` are the steps of each fit (1,000 there). Both are printed with the result.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import ClassVar, cast

import numpy as np
import pandas as pd

from core.domain import Categorical, Column, Domain, Numeric
from core.geometry.kernels import Gaussian
from core.lab.published.aim import AIM
from core.lab.published.markov_model import MeasuredCliques, fitted_marginals, model_size
from core.lab.published.mst import MST
from core.privacy.budget import Budget
from core.releases.job import release
from core.releases.release import Release
from core.sketches.tables.chosen import ChosenTables
from core.sketches.tables.pair_ways import FEWEST_ASKED
from core.sketches.tables.table_axes import number_axes
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
    """The best guess of a release of the tables of all pairs."""
    return _guessed(release(Tables.of(domain, bins), frame, budget), counts)


def by_seen(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """Of the pairs that public sizes choose."""
    return _guessed(_seen(domain, frame, budget, bins), counts)


def by_chosen(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """Of as many pairs that are chosen under noise."""
    return _guessed(_chosen(domain, frame, budget, bins), counts)


def by_usual(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """Of what the command line takes where nobody says which."""
    return _guessed(usual(domain, frame, budget, bins), counts)


def usual(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int) -> Release:
    """What the command line releases where nobody says which tables: under a pure promise the records are asked."""
    way = _chosen if budget.pure and len(domain.columns) >= FEWEST_ASKED else _seen
    return way(domain, frame, budget, bins)


def _seen(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int) -> Release:
    tables = replace(Tables.of(domain, bins), tables=None)
    return release(tables, frame, budget, records=len(frame))


def _chosen(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int) -> Release:
    numbers = number_axes(domain)
    return release(ChosenTables(domain, (bins,) * numbers, (0,) * numbers), frame, budget, records=len(frame))


def _guessed(made: Release, counts: list[int]) -> Pairs:
    guess, names = made.guessed(), made.domain.names
    return {
        (one, other): guess.table(names[one], names[other])["estimate"].to_numpy().reshape(counts[one], counts[other])
        for one, other in combinations(range(len(counts)), 2)
    }


def by_mst(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """The model that fits a chosen tree."""
    made, wanted = mst(domain, frame, budget, bins), list(combinations(range(len(counts)), 2))
    marginals = made.sketch.marginals
    total = max(1.0, made.sketch.total(made.counters))
    tables = marginals.marginals(made.counters)
    return dict(zip(wanted, fitted_marginals(counts, marginals.cliques, tables, total, wanted=wanted), strict=True))


def mst(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int) -> Release:
    """A chosen tree of pairs."""
    return release(MST(domain, Gaussian(1.0), cells=bins), frame, budget)


@dataclass(frozen=True)
class SmallAIM(AIM):
    """AIM with a bound on its model and on the steps of its fits, which the command line sets."""

    largest_model: ClassVar[int] = AIM.largest_model
    iterations: ClassVar[int] = AIM.iterations


def by_aim(domain: Domain, frame: pd.DataFrame, budget: Budget, bins: int, counts: list[int]) -> Pairs:
    """The model that fits tables chosen round by round."""
    made: Release = release(SmallAIM(domain, Gaussian(1.0), cells=bins), frame, budget)
    wanted = tuple(combinations(range(len(counts)), 2))
    sketch = cast(MeasuredCliques, made.sketch)
    print(f"aim: {len(sketch.cliques)} tables in {model_size(counts, sketch.order):,} cells", flush=True)
    return dict(zip(wanted, sketch.fitted(made.counters, wanted, SmallAIM.iterations), strict=True))


METHODS: dict[str, Callable[[Domain, pd.DataFrame, Budget, int, list[int]], Pairs]] = {
    "tables": by_tables,
    "seen": by_seen,
    "chosen": by_chosen,
    "usual": by_usual,
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
    parser.add_argument("--records", type=int, help="so many of the rows, by chance that is always the same")
    parser.add_argument("--without", action="append", default=[], help="a column that is left out; repeatable")
    parser.add_argument("--releases", type=int, default=1, help="the mean of so many, with its standard error")
    parser.add_argument("--model-size", type=int, default=AIM.largest_model, help="cells, of aim")
    parser.add_argument("--iterations", type=int, default=AIM.iterations, help="of a fit, of aim")
    asked = parser.parse_args()
    SmallAIM.largest_model, SmallAIM.iterations = asked.model_size, asked.iterations
    frame = pd.read_parquet(asked.file).drop(columns=asked.without)
    if asked.records is not None:
        frame = frame.sample(asked.records, random_state=1).reset_index(drop=True)
    for name in frame.columns:
        if not pd.api.types.is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype(object).fillna("?").astype(str)
    domain, cells, counts = columns_of(frame, asked.bins)
    exact, budget = exact_pairs(cells, counts), Budget(asked.epsilon, asked.delta)
    for method in asked.method or ("tables", "mst"):
        start = time.process_time()
        off = [
            distance(METHODS[method](domain, frame, budget, asked.bins, counts), exact) for _ in range(asked.releases)
        ]
        spread = f" ± {np.std(off, ddof=1) / math.sqrt(len(off)):.4f}" if len(off) > 1 else ""
        print(f"{method}: {np.mean(off):.4f}{spread} in {time.process_time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
