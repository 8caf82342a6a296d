"""The paper's experiment on distance queries: relative error of one-dimensional L1 sums against epsilon.

    python -m benchmarks.distance_sums [--repeats 200] [--out FOLDER]

1000 points between known bounds 0 and 1, 41 queries spread evenly over them, pure epsilon, one record added or removed.
Errors are mean |answer - exact| / exact over the queries, and over all repeats: each draws new points and new noise,
and all of them count. Noise is seeded: the points are made up, and nothing here is a release.

Huang and Roth (SODA 2014), the paper's baseline, is not run: with the constants that it publishes it answers 0
everywhere at these budgets, a relative error of 1 (figure 1 of the paper shows the same).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table

from core.domain import Domain
from core.figures.palette import AMBER, FAINT, TEAL
from core.geometry.distance_profiles import Power, gram_of_queries
from core.geometry.distance_strategy import Strategy
from core.lab.published.dyadic_trees import CountsAndSums, IntervalTree
from core.privacy.budget import Budget
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.sketches.distance import Distance
from core.sketches.linear import LinearSketch
from core.sketches.plan import plan

RECORDS = 1000
QUERIES = np.linspace(0.0, 1.0, 41)[:, None]
EPSILONS = ("0.1", "0.5", "1", "5")
LINE = Domain.of(x=(0, 1))
SPIKES = (0.11, 0.37, 0.5, 0.83)
POPULATIONS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "uniform": lambda rng: rng.random(RECORDS),
    "clustered": lambda rng: rng.normal(*np.array([(0.2, 0.03), (0.7, 0.05)])[rng.integers(0, 2, RECORDS)].T),
    "skewed": lambda rng: rng.beta(1, 8, RECORDS),
    "log-normal": lambda rng: rng.lognormal(-2.5, 0.8, RECORDS),
    "four spikes": lambda rng: rng.choice(SPIKES, RECORDS),
}
HAAR_LEVELS = 6
LOOKS = {
    "paper, alpha = 0.1": {"color": AMBER.shape, "dash": "solid"},
    "paper, alpha = 0.5": {"color": AMBER.shape, "dash": "dot"},
    "counts and sums": {"color": FAINT.shape, "dash": "dash"},
    "Haar, fitted shares": {"color": FAINT.shape, "dash": "solid"},
    "fitted measurements": {"color": TEAL.shape, "dash": "solid"},
}


def sketches() -> Iterator[tuple[str, LinearSketch]]:
    """What is compared, by name."""
    yield "paper, alpha = 0.1", IntervalTree(LINE, 0.1)
    yield "paper, alpha = 0.5", IntervalTree(LINE, 0.5)
    yield "counts and sums", CountsAndSums(LINE)
    yield "Haar, fitted shares", Distance(LINE, strategy=haar(HAAR_LEVELS), weights=(1,))
    yield "fitted measurements", Distance(LINE)


def haar(levels: int) -> Strategy:
    """The count and the Haar details of 2^levels nodes, with the best share of the budget for each level.

    With V_l the summed variance of an answer from the details of level l at weight 1, of which a record touches one,
    the least of the sum of V_l / w_l^2 for a sum of weights of 1 is at weights in proportion to V_l^(1/3).
    """
    size = 1 << levels
    places, rows, level_of_row = np.arange(size), [np.ones(size)], [0]
    for level in range(levels):
        width = size >> level
        for start in range(0, size, width):
            inside = (places >= start) & (places < start + width)
            rows.append(np.where(inside, np.where(places < start + width // 2, -1.0, 1.0), 0.0))
            level_of_row.append(level + 1)
    matrix = np.array(rows)
    estimator = np.linalg.inv(matrix)
    each = np.einsum("im,ij,jm->m", estimator, gram_of_queries(Power(1.0), size - 1), estimator)
    weights = np.bincount(level_of_row, weights=each) ** (1.0 / 3.0)
    whole = np.rint(matrix * (4096 * weights / weights.sum())[level_of_row][:, None]).astype(int)
    return Strategy(tuple(map(tuple, whole.tolist())))


def measure(sketch: LinearSketch, budget: Budget, population: Callable, repeats: int) -> dict:
    """The mean relative error with its standard error, the coverage of 95% intervals, and the error without noise."""
    errors, silent, covered = repeated(sketch, budget, population, repeats)
    return {
        "error": float(np.mean(errors)),
        "standard_error": float(np.std(errors) / repeats**0.5),
        "without_noise": float(np.mean(silent)),
        "coverage": float(np.mean(covered)),
    }


def repeated(
    sketch: LinearSketch, budget: Budget, population: Callable, repeats: int
) -> tuple[list[float], list[float], list[float]]:
    """Of every repeat: mean relative error, that without noise, and the share of exact sums inside their intervals."""
    sized = sketch.sized_for(budget, RECORDS)
    noise = plan(sized, budget).noise
    rng, source = np.random.default_rng(1), SeededSource(1)
    errors, silent, covered = [], [], []
    for _ in range(repeats):
        records = np.asfortranarray(population(rng).clip(0.0, 1.0)[:, None])
        exact = sized.exact(QUERIES, records)
        table = sized.zeros()
        sized.add(table, records)
        without = sized.answer(table, RECORDS, QUERIES, 0.0, 0.95)
        answers = sized.answer(add_noise(table, noise, source), RECORDS, QUERIES, noise.variance, 0.95)
        errors.append(np.mean(np.abs(answers.estimate / exact - 1.0)))
        silent.append(np.mean(np.abs(without.estimate / exact - 1.0)))
        covered.append(np.mean((answers.low <= exact) & (exact <= answers.high)))
    return errors, silent, covered


def run(repeats: int) -> list[dict]:
    """One row a population, mechanism and epsilon."""
    rows = []
    for kind, population in POPULATIONS.items():
        for name, sketch in sketches():
            for epsilon in EPSILONS:
                found = measure(sketch, Budget(epsilon), population, repeats)
                rows.append({"points": kind, "mechanism": name, "epsilon": float(epsilon)} | found)
    return rows


def table(rows: list[dict]) -> Table:
    """Errors by epsilon, and how often intervals hold the exact sum at epsilon 1."""
    shown = Table("points", "mechanism", *(f"epsilon {epsilon}" for epsilon in EPSILONS), "coverage at 1")
    for kind in POPULATIONS:
        for name in LOOKS:
            own = {row["epsilon"]: row for row in rows if (row["points"], row["mechanism"]) == (kind, name)}
            errors = (f"{own[float(epsilon)]['error']:.4f}" for epsilon in EPSILONS)
            shown.add_row(kind, name, *errors, f"{own[1.0]['coverage']:.1%}")
    return shown


def figure(rows: list[dict]) -> go.Figure:
    """Mean relative error against epsilon, one panel a population, both axes logarithmic."""
    drawn = make_subplots(1, len(POPULATIONS), subplot_titles=list(POPULATIONS), shared_yaxes=True)
    for column, kind in enumerate(POPULATIONS, start=1):
        for name, look in LOOKS.items():
            own = [row for row in rows if (row["points"], row["mechanism"]) == (kind, name)]
            line = go.Scatter(
                x=[row["epsilon"] for row in own],
                y=[row["error"] for row in own],
                name=name,
                line=look,
                mode="lines+markers",
                legendgroup=name,
                showlegend=column == 1,
            )
            drawn.add_trace(line, row=1, col=column)
    drawn.update_xaxes(type="log", title="epsilon")
    drawn.update_yaxes(type="log")
    drawn.update_yaxes(title="mean relative error", col=1)
    return drawn.update_layout(title=f"Sums of distances of {RECORDS:,} points", template="plotly_white")


def main() -> None:
    """Print the table, and write distance_sums.json and .html."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repeats", type=int, default=200)
    arguments.add_argument("--out", type=Path, default=Path(__file__).parent, help="where to write results")
    chosen = arguments.parse_args()
    rows = run(chosen.repeats)
    Console(width=130).print(table(rows))
    (chosen.out / "distance_sums.json").write_text(json.dumps(rows, indent=2) + "\n")
    figure(rows).write_html(chosen.out / "distance_sums.html", include_plotlyjs=True)


if __name__ == "__main__":
    main()
