"""Smooth kernels on real data: a random scale a row, and hashes, against the paper's sum of exponentials.

    python -m benchmarks.smooth_kernels FOLDER [--draws 12] [--out FOLDER]

FOLDER holds Parquet files by the names below (UCI data sets of the papers; absent ones are skipped). Every mechanism
gets the same budget, the same records and the same number of rows, and then the number of rows that its own forecast
chooses. Errors are mean |answer - exact| / exact over queries that are records, and over all draws of seed and noise.
Noise is seeded: this is public data, and nothing here is a release.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pyarrow.parquet as pq
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table

from core.domain import Domain, Numeric, Vector
from core.figures.palette import AMBER, FAINT, TEAL
from core.geometry.kernels import Kernel, Smooth, SmoothL1, SmoothSquared, of_coordinates
from core.lab.published.exponential_sum import ExponentialSum
from core.privacy.budget import Budget
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.releases.forecast.sketch_sizes import sized_rows
from core.sketches.features import Features
from core.sketches.grouped import GroupedSketch
from core.sketches.plan import plan
from core.sketches.race import Race

ROWS, QUERIES, LARGEST = 1000, 200, 20_000
FEW_DIMENSIONS = 16
"""Above, a forecast for every mechanism and budget takes minutes."""
BUDGETS = {"0.1": Budget(0.1), "1": Budget(1), "(1, 1e-6)": Budget(1, "1e-6")}


@dataclass(frozen=True)
class Data:
    """A data set with its public facts: bounds from what its sensors and forms can say, and a unit a column."""

    file: str
    bounds: dict[str, tuple[float, float]]
    units: tuple[float, ...]

    def records(self, folder: Path) -> np.ndarray | None:
        """All records, shuffled, at most `LARGEST`; None where the file is absent."""
        path = folder / f"{self.file}.parquet"
        if not path.exists():
            return None
        table = pq.read_table(path)
        names = list(self.bounds) or [name for name in table.column_names if name[0] == "e" and name[1:].isdigit()]
        points = np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in names])
        return np.random.default_rng(0).permutation(points)[:LARGEST]

    @property
    def domain(self) -> Domain:
        """Columns with their bounds; embeddings are one column of unit vectors."""
        if not self.bounds:
            return Domain((Vector("embedding", 512, -1.0, 1.0),))
        return Domain(tuple(Numeric(name, *pair) for name, pair in self.bounds.items()))


DATA = {
    "pulsars (8-d)": Data(
        "htru2",
        {
            "profile_mean": (0, 200),
            "profile_std": (0, 100),
            "profile_skewness": (-2, 10),
            "profile_excess_kurtosis": (-2, 70),
            "dmsnr_mean": (0, 250),
            "dmsnr_std": (0, 120),
            "dmsnr_skewness": (-4, 40),
            "dmsnr_excess_kurtosis": (-2, 1200),
        },
        (25, 7, 1, 6, 30, 20, 4.5, 100),
    ),
    "colours (3-d)": Data("skin", {"B": (0, 255), "G": (0, 255), "R": (0, 255)}, (64, 64, 64)),
    "rooms (5-d)": Data(
        "occupancy",
        {
            "temperature_c": (10, 30),
            "rel_humidity_pct": (0, 60),
            "light_lux": (0, 2000),
            "co2_ppm": (300, 2500),
            "humidity_ratio": (0, 0.01),
        },
        (1, 5, 200, 300, 0.001),
    ),
    "census (5-d)": Data(
        "adult",
        {
            "age": (16, 90),
            "education_num": (1, 16),
            "capital_gain": (0, 100_000),
            "capital_loss": (0, 5000),
            "hours_per_week": (0, 100),
        },
        (14, 2.5, 7500, 400, 12),
    ),
    "embeddings (512-d)": Data("clip_food10", {}, (0.5,)),
}


def sketches(domain: Domain, kernel: Kernel) -> Iterator[tuple[str, GroupedSketch]]:
    """What is compared, by name."""
    yield "paper: sum of exponentials", ExponentialSum(domain, kernel, seed=0)
    yield "random scale, circle", Features(domain, kernel, seed=0, wave="circle")
    yield "random scale, quadrants", Features(domain, kernel, seed=0)
    if not isinstance(kernel, SmoothSquared):
        yield "RACE", Race(domain, kernel, seed=0)


def kernels(data: Data) -> Iterator[Kernel]:
    """The three smooth kernels, with the data's units as bandwidths; L1 distances are longer by the root of d."""
    for kind in (Smooth, SmoothSquared, SmoothL1):
        factor = len(data.units) ** 0.5 if kind is SmoothL1 and data.bounds else 1.0
        bandwidth = tuple(unit * factor for unit in data.units)
        yield kind(bandwidth if data.bounds else bandwidth[0] * (16.0 if kind is SmoothL1 else 1.0))


def kernel_sums(domain: Domain, kernel: Kernel, queries: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The exact sums, float64 (queries,)."""
    closeness = of_coordinates(kernel, tuple(column.width for column in domain.columns))
    return closeness.evaluate(queries, points).sum(axis=1)


def errors(
    sketch: GroupedSketch, points: np.ndarray, queries: np.ndarray, exact: np.ndarray, budgets: list[Budget], draws: int
) -> np.ndarray:
    """Mean relative errors, float64 (draws, 1 + budgets): of sampling alone, then with the noise of each budget."""
    found = np.zeros((draws, 1 + len(budgets)))
    for draw in range(draws):
        drawn = sketch.with_rows(sketch.rows, seed=draw + 1)
        table = drawn.zeros()
        drawn.add(table, points)
        noisy = [add_noise(table, plan(drawn, budget).noise, SeededSource(draw)) for budget in budgets]
        for column, one in enumerate([table, *noisy]):
            estimates, weights = drawn.group_estimates(one, len(points), queries)
            found[draw, column] = np.mean(np.abs(weights @ estimates - exact) / exact)
    return found


def run(folder: Path, draws: int) -> list[dict]:
    """One row for each data set, kernel, mechanism and budget."""
    rows = []
    for name, data in DATA.items():
        records = data.records(folder)
        if records is None:
            continue
        print(name, flush=True)
        domain = data.domain
        for kernel in kernels(data):
            points = domain.encode_queries(records, kernel.metric)
            queries = np.asfortranarray(points[:QUERIES])
            exact = kernel_sums(domain, kernel, queries, points)
            for mechanism, sketch in sketches(domain, kernel):
                same = {"data": name, "kernel": kernel.name, "mechanism": mechanism, "records": len(points)}
                fixed = errors(sketch.with_rows(ROWS), points, queries, exact, list(BUDGETS.values()), draws)
                fixed = fixed.mean(axis=0)
                for (budget, promise), error in zip(BUDGETS.items(), fixed[1:], strict=True):
                    chosen, best = ROWS, error
                    if domain.dimensions <= FEW_DIMENSIONS:
                        chosen = sized_rows(sketch, promise, len(points)).rows
                        best = errors(sketch.with_rows(chosen), points, queries, exact, [promise], draws)[:, 1].mean()
                    rows.append(
                        same
                        | {
                            "budget": budget,
                            "rows": ROWS,
                            "sampling": round(float(fixed[0]), 5),
                            "error": round(float(error), 5),
                            "chosen_rows": chosen,
                            "chosen_error": round(float(best), 5),
                        }
                    )
    return rows


def printed(rows: list[dict]) -> Table:
    """A table with the paper's error over each mechanism's, at equal budget and rows."""
    table = Table(
        "data", "kernel", "budget", "mechanism", "sampling", f"R = {ROWS}", "paper / this", "R chosen", "error"
    )
    rivals = {(row["data"], row["kernel"], row["budget"]): row for row in rows if row["mechanism"].startswith("paper")}
    for row in sorted(rows, key=lambda row: (row["data"], row["kernel"], row["budget"])):
        rival = rivals[row["data"], row["kernel"], row["budget"]]
        table.add_row(
            row["data"],
            row["kernel"],
            row["budget"],
            row["mechanism"],
            f"{row['sampling']:.4f}",
            f"{row['error']:.4f}",
            f"{rival['error'] / row['error']:.2f} x",
            str(row["chosen_rows"]),
            f"{row['chosen_error']:.4f}",
        )
    return table


COLOURS = {
    "paper: sum of exponentials": AMBER.shape,
    "random scale, circle": FAINT.shape,
    "random scale, quadrants": TEAL.shape,
    "RACE": "#3856A6",
}


def picture(rows: list[dict]) -> go.Figure:
    """Errors at equal rows: a column a kernel, a row a budget, a group of bars a data set."""
    kernels, budgets = (list(dict.fromkeys(row[key] for row in rows)) for key in ("kernel", "budget"))
    titles = [f"{kernel}, ε = {budget}" for budget in budgets for kernel in kernels]
    figure = make_subplots(len(budgets), len(kernels), subplot_titles=titles, vertical_spacing=0.12, shared_xaxes=True)
    for row, budget in enumerate(budgets, 1):
        for column, kernel in enumerate(kernels, 1):
            for mechanism, colour in COLOURS.items():
                key = (mechanism, kernel, budget)
                mine = [one for one in rows if (one["mechanism"], one["kernel"], one["budget"]) == key]
                bar = go.Bar(
                    x=[one["data"].partition(" ")[0] for one in mine],
                    y=[one["error"] for one in mine],
                    name=mechanism,
                    legendgroup=mechanism,
                    marker={"color": colour},
                    showlegend=row == column == 1,
                )
                figure.add_trace(bar, row, column)
        figure.update_yaxes(title="mean relative error", row=row, col=1)
    figure.update_yaxes(type="log", nticks=4)
    legend = {"orientation": "h", "y": -0.08}
    return figure.update_layout(title=f"Smooth kernels at equal budget and {ROWS} rows", height=760, legend=legend)


def main() -> None:
    """Measure, print, and write smooth_kernels.json and .html."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path, help="where the Parquet files are")
    options.add_argument("--draws", type=int, default=12, help="draws of seed and noise for every figure")
    options.add_argument("--out", type=Path, default=Path(__file__).parent, help="where to write results")
    chosen = options.parse_args()
    rows = run(chosen.folder, chosen.draws)
    if not rows:
        options.exit(2, f"None of {', '.join(f'{data.file}.parquet' for data in DATA.values())} is there.\n")
    Console(width=160).print(printed(rows))
    (chosen.out / "smooth_kernels.json").write_text(json.dumps(rows, indent=2) + "\n")
    picture(rows).write_html(chosen.out / "smooth_kernels.html", include_plotlyjs=True)


if __name__ == "__main__":
    main()
