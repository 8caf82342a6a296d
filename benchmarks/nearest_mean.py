"""Nearest mean under privacy: accuracy against epsilon, and the time to build and to ask.

    python -m benchmarks.nearest_mean [EMBEDDINGS.parquet] [--draws 30] [--out FOLDER]

Without a file, scikit-learn's digits. A file has embeddings of length 1 in columns e0, e1, ..., a column `label`, and a
column `split` that says train or test. Every figure is a mean over draws of noise, projection and centre, all of them
counted; noise is seeded, as this is public data and nothing here is a release. The reference without privacy is
scikit-learn's NearestCentroid.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.parquet as pq
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid

from core.analysis.class_scores import class_sizes, direction_scores, mean_scores
from core.domain import Categorical, Domain, Vector
from core.figures.palette import AMBER, FAINT, TEAL
from core.geometry.projection import FastProjection
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.bounds_and_centre import CentrePurchase
from core.releases.job import release
from core.releases.release import Release
from core.sketches.classes import Classes
from core.sketches.directions import Directions, dimensions_for
from core.sketches.linear import LinearSketch
from core.sketches.moments import Moments
from core.sources import open_source

EPSILONS = ("0.1", "0.2", "0.3", "0.5", "1", "2", "5", "10")
DELTA = "1e-6"
PURCHASE = CentrePurchase()


@dataclass(frozen=True)
class Data:
    """Labelled vectors, split, with their public facts: bounds, and a norm that none exceeds."""

    name: str
    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    bounds: tuple[float, float]
    norm: float | None

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(str(label) for label in np.unique(self.train_labels))

    @property
    def domain(self) -> Domain:
        return Domain((Vector("vector", self.train.shape[1], *self.bounds), Categorical("label", self.classes)))

    @property
    def table(self) -> pa.Table:
        """The training part, in memory, as a file of it would be read."""
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(self.train.ravel()), self.train.shape[1])
        return pa.table({"vector": vectors, "label": [str(label) for label in self.train_labels]})

    @property
    def reference(self) -> float:
        """Accuracy of the nearest mean without privacy."""
        model = NearestCentroid().fit(self.train, self.train_labels)
        return float(np.mean(model.predict(self.test) == self.test_labels))


def digits() -> Data:
    """Scikit-learn's handwritten digits: 1,797 images of 8 x 8 pixels between 0 and 16; the last 500 of a shuffle."""
    bunch = load_digits()
    order = np.random.default_rng(0).permutation(len(bunch.data))
    points, labels = bunch.data[order], bunch.target[order]
    return Data("digits", points[:-500], labels[:-500], points[-500:], labels[-500:], (0.0, 16.0), None)


def embeddings(path: Path) -> Data:
    """A file as the module describes it."""
    table = pq.read_table(path)
    names = [name for name in table.column_names if name[0] == "e" and name[1:].isdigit()]
    points = np.column_stack([table.column(name).to_numpy().astype(np.float64) for name in names])
    labels = table.column("label").to_numpy()
    train = np.array(table.column("split").to_pylist()) == "train"
    return Data(path.stem, points[train], labels[train], points[~train], labels[~train], (-1.0, 1.0), 1.0)


@dataclass(frozen=True)
class Way:
    """One way to a private nearest mean."""

    mechanism: str
    centred: bool

    @property
    def name(self) -> str:
        return f"{self.mechanism}, {'around a bought centre' if self.centred else 'as they stand'}"

    def sketch(self, data: Data, budget: Budget, seed: int) -> LinearSketch:
        """Classes of directions, projected to as few dimensions as suit the budget, or of moments."""
        inner = data.domain.without("label")
        if self.mechanism == "moments":
            radius = None if data.norm is None else data.norm * (0.6 if self.centred else 1.0)
            return Classes(data.domain, "label", Moments(inner, radius).for_mean())
        share = 1.0 - float(PURCHASE.share) if self.centred else 1.0
        target = dimensions_for(inner.dimensions, len(data.train) / len(data.classes), budget, share)
        projection = None if target == inner.dimensions else FastProjection(inner.dimensions, target, seed)
        return Classes(data.domain, "label", Directions(inner, projection=projection))

    def made(self, data: Data, budget: Budget, source: object, seed: int) -> Release:
        """The release: from vectors in memory to noisy sums."""
        sketch, noise = self.sketch(data, budget, seed), SeededSource(seed)
        if not self.centred:
            return release(sketch, source, budget, noise_source=noise)
        purchase = CentrePurchase(PURCHASE.share, data.norm)
        return release(sketch, source, budget, centre=purchase, noise_source=noise)

    def predicted(self, made: Release, points: np.ndarray) -> np.ndarray:
        """The class of every point, by its number."""
        inner, variance = made.sketch.inner, made.privacy.counter_variance
        if self.mechanism == "moments":
            values, _ = mean_scores(inner, made.counters, class_sizes(made).number, variance, points)
        else:
            values, _ = direction_scores(inner, made.counters, variance, points)
        return values.argmax(axis=1)


WAYS = tuple(Way(mechanism, centred) for mechanism in ("directions", "moments") for centred in (True, False))


def run(data: Data, draws: int) -> Iterator[dict]:
    """One row a promise and way: accuracy with its standard error over draws, and median times."""
    points = np.asfortranarray(data.test)
    truth = np.searchsorted(data.classes, [str(label) for label in data.test_labels])
    source = open_source(data.table)
    for delta in ("0", DELTA):
        for epsilon in EPSILONS:
            budget = Budget(epsilon, delta)
            for way in WAYS:
                measured = [measure(way, data, budget, source, seed, points, truth) for seed in range(draws + 1)][1:]
                accuracy, build, query = zip(*measured, strict=True)
                yield {
                    "data": data.name,
                    "epsilon": float(epsilon),
                    "delta": float(delta),
                    "way": way.name,
                    "accuracy": float(np.mean(accuracy)),
                    "standard_error": float(np.std(accuracy, ddof=1) / draws**0.5),
                    "least": min(accuracy),
                    "build_seconds": statistics.median(build),
                    "query_seconds": statistics.median(query) / len(points),
                    "draws": draws,
                }


def measure(
    way: Way, data: Data, budget: Budget, source: object, seed: int, points: np.ndarray, truth: np.ndarray
) -> tuple[float, float, float]:
    """Accuracy, seconds to build from memory, seconds to classify all points."""
    start = perf_counter()
    made = way.made(data, budget, source, seed)
    built = perf_counter()
    predicted = way.predicted(made, points)
    return float(np.mean(predicted == truth)), built - start, perf_counter() - built


def printed(rows: list[dict], reference: float) -> Table:
    """All rows, with what is lost to privacy."""
    table = Table("promise", "way", "accuracy", "± s.e.", "worst draw", "lost", "build", "query")
    for row in rows:
        promise = f"ε = {row['epsilon']:g}" + (f", δ = {row['delta']:g}" if row["delta"] else "")
        table.add_row(
            promise,
            row["way"],
            f"{row['accuracy']:.2%}",
            f"{row['standard_error']:.2%}",
            f"{row['least']:.1%}",
            f"{reference - row['accuracy']:.2%}",
            f"{row['build_seconds'] * 1e3:.0f} ms",
            f"{row['query_seconds'] * 1e6:.1f} us",
        )
    return table


def picture(rows: list[dict], reference: float) -> go.Figure:
    """Accuracy against epsilon, pure on the left, (epsilon, delta) on the right."""
    figure = make_subplots(1, 2, subplot_titles=["pure ε", f"(ε, {DELTA})"], shared_yaxes=True)
    for place, delta in enumerate((0.0, float(DELTA)), 1):
        for way in WAYS:
            of_way = [row for row in rows if row["way"] == way.name and row["delta"] == delta]
            figure.add_scatter(
                x=[row["epsilon"] for row in of_way],
                y=[row["accuracy"] for row in of_way],
                error_y={"array": [1.96 * row["standard_error"] for row in of_way]},
                name=way.name,
                line={
                    "color": (TEAL if way.mechanism == "directions" else AMBER).shape,
                    "dash": "solid" if way.centred else "dot",
                },
                showlegend=place == 1,
                row=1,
                col=place,
            )
        figure.add_hline(reference, line={"color": FAINT.shape, "dash": "dash"}, row=1, col=place)
    figure.update_xaxes(type="log", title="ε")
    figure.update_yaxes(tickformat=".0%", range=[0, 1], col=1, title="accuracy")
    figure.update_layout(title="Nearest mean under privacy; dashed: without", template="plotly_white")
    return figure


def main() -> None:
    """Measure, print, and write table and picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", help="embeddings with labels; scikit-learn's digits when absent")
    parser.add_argument("--draws", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    options = parser.parse_args()
    data = digits() if options.file is None else embeddings(options.file)
    reference = data.reference
    rows = list(run(data, options.draws))
    options.out.mkdir(parents=True, exist_ok=True)
    facts = {"data": data.name, "reference": reference, "purchase": asdict(PURCHASE), "rows": rows}
    stem = options.out / f"nearest_mean_{data.name}"
    stem.with_suffix(".json").write_text(json.dumps(facts, indent=2, default=str) + "\n")
    picture(rows, reference).write_html(stem.with_suffix(".html"))
    console = Console(width=160)
    console.print(printed(rows, reference))
    console.print(f"Without privacy: {reference:.2%}.")


if __name__ == "__main__":
    main()
