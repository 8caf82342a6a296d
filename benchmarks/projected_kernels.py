"""Kernel sums of embeddings against the projected dimension: error, construction time and query time.

    python -m benchmarks.projected_kernels [--embeddings FILE] [--mnist FILE] [--draws 10] [--out FOLDER]

The experiment of Backurs et al., ICLR 2024, section 11.2: a Gaussian kernel, the training points of one class as the
private records, the test points of that class as queries, random features with and without a projection before them.
Data that is not given or absent is left out; scikit-learn's digits are always there. An embeddings file has columns e0,
e1, ..., `label` and `split`; the MNIST file `image` (784 bytes), `label` and `split`. Every figure is a mean over draws
of projection, frequencies and noise, all of them counted; noise is seeded, as this is public data.
"""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np
import plotly.graph_objects as go
import pyarrow.parquet as pq
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from core.domain import Domain, Vector
from core.figures.palette import AMBER, TEAL
from core.geometry.kernels import Gaussian
from core.privacy.budget import Neighbours
from core.privacy.calibration import NoiseScale, calibrate
from core.privacy.noise.noise import add_noise
from core.privacy.noise.randomness import SeededSource
from core.sketches.features import Features
from core.sketches.grouped import GroupedSketch
from core.sketches.projected import Projected

DIMENSIONS = (8, 16, 32, 64, 128, 256, 512)
ROWS = 400
EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
QUERIES = 200


@dataclass(frozen=True)
class Data:
    """One class of a labelled set, with the public facts about it: bounds, and a bandwidth."""

    name: str
    records: np.ndarray
    queries: np.ndarray
    bounds: tuple[float, float]
    radius: float | None
    bandwidth: float

    @property
    def domain(self) -> Domain:
        return Domain((Vector("vector", self.records.shape[1], *self.bounds),))


@dataclass(frozen=True)
class Row:
    """What was measured for one data set and one number of dimensions; errors are mean relative errors."""

    data: str
    records: int
    source: int
    projection: str
    dimensions: int
    error_without_noise: float
    error: float
    coverage: float
    build_seconds: float
    query_seconds: float


def main() -> None:
    """Measure, print a table, and write JSON and a picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embeddings", type=Path)
    parser.add_argument("--mnist", type=Path)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    arguments = parser.parse_args()

    rows = [row for data in data_sets(arguments.embeddings, arguments.mnist) for row in measure(data, arguments.draws)]
    Console(width=140).print(as_table(rows))
    arguments.out.mkdir(parents=True, exist_ok=True)
    facts = {"rows": ROWS, "epsilon": str(EPSILON), "delta": str(DELTA), "draws": arguments.draws}
    (arguments.out / "projected_kernels.json").write_text(
        json.dumps(facts | {"measured": [asdict(row) for row in rows]}, indent=2) + "\n"
    )
    picture(rows).write_html(arguments.out / "projected_kernels.html", include_plotlyjs=True)


def data_sets(embeddings: Path | None, mnist: Path | None) -> list[Data]:
    """The data sets that are there."""
    digits, labels = load_digits(return_X_y=True)
    ones = digits[labels == 1] / 16.0
    found = [one_class("digits, ones", ones[60:], ones[:60], (0.0, 1.0), None)]
    if embeddings is not None and embeddings.exists():
        table = pq.read_table(embeddings).to_pandas()
        table = table[table["label"] == table["label"].iloc[0]]
        vectors = table.filter(regex=r"^e\d+$").to_numpy(dtype=np.float64)
        train = (table["split"] == "train").to_numpy()
        found.append(one_class("embeddings, one class", vectors[train], vectors[~train], (-1.0, 1.0), 1.0))
    if mnist is not None and mnist.exists():
        table = pq.read_table(mnist, filters=[("label", "=", 3)]).to_pandas()
        images = np.stack([np.frombuffer(image, dtype=np.uint8) for image in table["image"]]) / 255.0
        train = (table["split"] == "train").to_numpy()
        found.append(one_class("MNIST pixels, threes", images[train], images[~train], (0.0, 1.0), None))
    return found


def one_class(
    name: str, records: np.ndarray, queries: np.ndarray, bounds: tuple[float, float], radius: float | None
) -> Data:
    """The data, its bandwidth the median distance between two queries."""
    queries = np.asfortranarray(queries[:QUERIES])
    distances = np.sqrt(((queries[:50, None] - queries[None, :50]) ** 2).sum(axis=2))
    return Data(name, np.asfortranarray(records), queries, bounds, radius, float(np.median(distances[distances > 0])))


def measure(data: Data, draws: int) -> list[Row]:
    """One row without a projection, and one for every kind and number of dimensions."""
    kernel = Gaussian(data.bandwidth)
    exact = kernel.evaluate(data.queries, data.records).sum(axis=1)
    source = data.records.shape[1]

    def plain(seed: int) -> GroupedSketch:
        return Features(data.domain, kernel, rows=ROWS, seed=seed)

    rows = [_row(data, "none", source, plain, exact, draws)]
    for dimensions in (k for k in DIMENSIONS if k < source):
        for kind in ("fast", "gaussian"):

            def projected(seed: int, kind: str = kind, dimensions: int = dimensions) -> GroupedSketch:
                return Projected.of(
                    data.domain, kernel, Features, dimensions, kind=kind, radius=data.radius, rows=ROWS, seed=seed
                )

            rows.append(_row(data, kind, dimensions, projected, exact, draws))
    return rows


def _row(data: Data, kind: str, dimensions: int, sketch_of, exact: np.ndarray, draws: int) -> Row:
    clean, noisy, covered, builds, asks = [], [], [], [], []
    for seed in range(draws + 1):
        start = perf_counter()
        sketch = sketch_of(seed)
        table = sketch.zeros()
        sketch.add(table, data.records)
        build = perf_counter() - start
        noise = calibrate(sketch.sensitivity(Neighbours.ADD_REMOVE), EPSILON, DELTA)
        start = perf_counter()
        answers = sketch.answer(table, len(data.records), data.queries, 0.0, 0.95)
        ask = perf_counter() - start
        if seed == draws:  # one draw only compiles and warms up
            continue
        clean.append(float(np.mean(np.abs(answers.estimate / exact - 1.0))))
        error, coverage = _noisy(sketch, table, noise, data, exact, seed)
        noisy.append(error)
        covered.append(coverage)
        builds.append(build)
        asks.append(ask)
    mean, median = statistics.mean, statistics.median
    return Row(
        data.name,
        len(data.records),
        data.records.shape[1],
        kind,
        dimensions,
        mean(clean),
        mean(noisy),
        mean(covered),
        median(builds),
        median(asks),
    )


def _noisy(
    sketch: GroupedSketch, table: np.ndarray, noise: NoiseScale, data: Data, exact: np.ndarray, seed: int
) -> tuple[float, float]:
    """Mean relative error and coverage of 95% intervals with noise."""
    released = add_noise(table, noise, SeededSource(seed))
    answers = sketch.answer(released, len(data.records), data.queries, noise.variance, 0.95)
    error = float(np.mean(np.abs(answers.estimate / exact - 1.0)))
    return error, float(np.mean((answers.low <= exact) & (exact <= answers.high)))


def as_table(rows: list[Row]) -> Table:
    """The figures as text."""
    table = Table(
        "data", "records", "projection", "dimensions", "error, no noise", "error", "covered", "build", "query"
    )
    for row in rows:
        table.add_row(
            row.data,
            f"{row.records:,}",
            row.projection,
            f"{row.dimensions:,}",
            f"{row.error_without_noise:.2%}",
            f"{row.error:.2%}",
            f"{row.coverage:.1%}",
            f"{1e3 * row.build_seconds:.1f} ms",
            f"{1e3 * row.query_seconds:.1f} ms",
        )
    return table


def picture(rows: list[Row]) -> go.Figure:
    """Error, construction and query time against the dimension, one row of panels a data set."""
    names = list(dict.fromkeys(row.data for row in rows))
    titles = [f"{name}: {what}" for name in names for what in ("relative error", "construction, ms", "query, ms")]
    figure = make_subplots(rows=len(names), cols=3, subplot_titles=titles)
    for line, name in enumerate(names, start=1):
        for kind, colour in (("fast", TEAL), ("gaussian", AMBER)):
            points = sorted(
                (row for row in rows if row.data == name and row.projection in (kind, "none")),
                key=lambda row: row.dimensions,
            )
            measures = (
                [row.error for row in points],
                [1e3 * row.build_seconds for row in points],
                [1e3 * row.query_seconds for row in points],
            )
            for column, values in enumerate(measures, start=1):
                figure.add_scatter(
                    x=[row.dimensions for row in points],
                    y=values,
                    name=f"{kind} projection",
                    line_color=colour.shape,
                    showlegend=line == column == 1,
                    row=line,
                    col=column,
                )
    figure.update_xaxes(type="log", title_text="dimensions (the last: no projection)")
    figure.update_yaxes(rangemode="tozero")
    figure.update_layout(height=340 * len(names), template="plotly_white")
    return figure


if __name__ == "__main__":
    main()
