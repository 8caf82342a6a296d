"""Classification under privacy: accuracy against epsilon, what is certain, and whether confidence comes true.

    python -m benchmarks.classification [FOLDER] [--draws 5] [--only NAME] [--out artefacts]

Always the heart sample; occupancy, htru2, skin and clip_food10 where FOLDER holds them as Parquet files. Every figure
is a mean over draws of hashes and noise, all of them counted; noise is seeded, as this is public data and nothing here
is a release. *Same* is how often the table before noise gives the same class, beside the mean confidence; *off* is the
mean difference of both over ten bins of confidence, weighted by places (expected calibration error), and likewise for
probabilities against true classes. References without privacy: 15 nearest neighbours and the nearest mean.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

import numpy as np
import plotly.graph_objects as go
import pyarrow as pa
from plotly.subplots import make_subplots
from rich.console import Console
from rich.table import Table
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from core.analysis.class_scores import class_scores
from core.analysis.classification import Classification, classify_points
from core.figures.class_figures import class_colour
from core.figures.palette import FAINT
from core.privacy.budget import Budget
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable, TableBuilder
from core.releases.kind import with_chosen_size
from core.releases.release import Release
from core.releases.seal import seal
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.features import Features
from core.sketches.linear import LinearSketch
from core.sketches.moments import Moments
from core.sketches.race import Race
from core.sources import open_source

from .labelled_data import Labelled, data_sets

PROMISES = (("0.1", "0"), ("0.3", "0"), ("1", "0"), ("3", "0"), ("1", "1e-6"))
BINS = 10
MOST_REFERENCE = 50_000
"""Records that the references without privacy learn from."""


@dataclass(frozen=True)
class Way:
    """A mechanism and a rule."""

    mechanism: str
    rule: str

    @property
    def name(self) -> str:
        return f"{self.mechanism}, {self.rule}"

    def suits(self, data: Labelled) -> bool:
        """Embeddings go by mean or direction; columns of different meaning by closeness or mean."""
        return self.rule == "mean" or (self.rule == "direction") == (data.kernel is None)

    def sketch(self, data: Labelled, seed: int) -> Classes:
        """With a size still to be chosen, where it has one."""
        makers = {
            "race": lambda: Race(data.domain, data.kernel, seed=seed),
            "features": lambda: Features(data.domain, data.kernel, seed=seed),
            "moments": lambda: _for_mean(data),
            "directions": lambda: Directions(data.domain),
        }
        inner: LinearSketch = makers[self.mechanism]()
        return Classes(data.whole_domain, data.label.name, inner)


def _for_mean(data: Labelled) -> Moments:
    """Weights for the mean; embeddings have length 1, which is public."""
    return Moments(data.domain, 1.0 if data.kernel is None else None).for_mean()


WAYS = (
    Way("race", "posterior"),
    Way("race", "likelihood"),
    Way("features", "posterior"),
    Way("features", "likelihood"),
    Way("moments", "mean"),
    Way("directions", "direction"),
)


def run(data: Labelled, draws: int) -> Iterator[dict]:
    """One row a promise and way: means over draws, standard errors of accuracy, and times."""
    source = open_source(pa.Table.from_pandas(data.train, preserve_index=False))
    truth = data.codes(data.test)
    for epsilon, delta in PROMISES:
        for way in WAYS:
            if not way.suits(data):
                continue
            measured = [measure(way, data, Budget(epsilon, delta), source, seed, truth) for seed in range(draws)]
            mean = {key: float(np.mean([draw[key] for draw in measured])) for key in measured[0]}
            spread = float(np.std([draw["accuracy"] for draw in measured], ddof=1) / draws**0.5) if draws > 1 else 0.0
            facts = {"data": data.name, "epsilon": float(epsilon), "delta": float(delta), "way": way.name}
            yield facts | mean | {"standard_error": spread, "draws": draws}


def measure(way: Way, data: Labelled, budget: Budget, source: object, seed: int, truth: np.ndarray) -> dict:
    """Everything about one draw of hashes and noise."""
    start = perf_counter()
    sketch = with_chosen_size(way.sketch(data, seed), budget, len(data.train))
    _ = sketch.shape  # hashes are drawn here
    drawn = perf_counter()
    building = TableBuilder(sketch, source)
    for _ in building:
        pass
    exact = building.exact
    made = seal(sketch, exact.copy(), budget, noise_source=SeededSource(seed))
    built = perf_counter()
    points = sketch.query_domain.encode_queries(data.test, sketch.metric)
    found = classify_points(made, points, way.rule)
    asked = perf_counter()
    clean = class_scores(_noiseless(made, exact), points, way.rule).value.argmax(axis=1)
    return _judged(found, clean, truth) | {
        "choose_seconds": drawn - start,
        "build_seconds": built - drawn,
        "query_microseconds": 1e6 * (asked - built) / len(points),
    }


def _noiseless(made: Release, exact: ExactTable) -> Release:
    """What nobody may have: the release without noise, with the promise's record of it."""
    return replace(made, counters=exact.table, counted=None if made.counted is None else exact.records)


def _judged(found: Classification, clean: np.ndarray, truth: np.ndarray) -> dict:
    right, same = found.codes == truth, found.codes == clean
    hits = np.eye(len(found.classes))[truth]
    return {
        "accuracy": right.mean(),
        "without_noise": (clean == truth).mean(),
        "certain": found.certain.mean(),
        "right_where_certain": right[found.certain].mean() if found.certain.any() else 1.0,
        "confidence": found.confidence.mean(),
        "same": same.mean(),
        "confidence_off": calibration_error(found.confidence, same),
        "probability_off": calibration_error(
            found.probabilities.max(axis=1), found.probabilities.argmax(axis=1) == truth
        ),
        "brier": ((found.probabilities - hits) ** 2).sum(axis=1).mean(),
    }


def calibration_error(said: np.ndarray, came_true: np.ndarray) -> float:
    """Mean distance of what was said and how often it came true, over bins of what was said, weighted by their size."""
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    parts = [(bins == one) for one in range(BINS)]
    return float(sum(abs(said[part].mean() - came_true[part].mean()) * part.mean() for part in parts if part.any()))


def references(data: Labelled) -> dict[str, float]:
    """Accuracies of scikit-learn without privacy, on the same encoded points."""
    train, test = (data.domain.encode_queries(frame) for frame in (data.train[:MOST_REFERENCE], data.test))
    labels, truth = data.codes(data.train[:MOST_REFERENCE]), data.codes(data.test)
    models = {"15 neighbours": KNeighborsClassifier(15), "nearest mean": NearestCentroid()}
    return {name: float((model.fit(train, labels).predict(test) == truth).mean()) for name, model in models.items()}


def printed(rows: list[dict]) -> Table:
    """All rows of one data set."""
    heads = (
        "promise",
        "way",
        "accuracy",
        "± s.e.",
        "no noise",
        "certain",
        "right there",
        "confidence",
        "same",
        "off",
        "prob. off",
        "Brier",
        "build",
        "query",
    )
    table = Table(*heads)
    for row in rows:
        promise = f"ε = {row['epsilon']:g}" + (f", δ = {row['delta']:g}" if row["delta"] else "")
        shares = ("accuracy", "standard_error", "without_noise", "certain", "right_where_certain", "confidence", "same")
        table.add_row(
            promise,
            row["way"],
            *(f"{row[key]:.1%}" for key in shares),
            f"{row['confidence_off']:.3f}",
            f"{row['probability_off']:.3f}",
            f"{row['brier']:.3f}",
            f"{row['build_seconds'] * 1e3:,.0f} ms",
            f"{row['query_microseconds']:,.0f} us",
        )
    return table


def picture(results: list[dict]) -> go.Figure:
    """Accuracy against pure epsilon, a panel a data set; dashed lines are without privacy."""
    figure = make_subplots(1, len(results), subplot_titles=[result["data"] for result in results])
    for place, result in enumerate(results, 1):
        for number, way in enumerate(WAYS):
            rows = [row for row in result["rows"] if row["way"] == way.name and not row["delta"]]
            figure.add_scatter(
                x=[row["epsilon"] for row in rows],
                y=[row["accuracy"] for row in rows],
                error_y={"array": [1.96 * row["standard_error"] for row in rows]},
                line={"color": class_colour(number)},
                name=way.name,
                legendgroup=way.name,
                showlegend=place == 1 or (way.rule == "direction" and bool(rows)),
                row=1,
                col=place,
            )
        for value in result["references"].values():
            figure.add_hline(value, line={"color": FAINT.shape, "dash": "dash"}, row=1, col=place)
    figure.update_xaxes(type="log", title="ε").update_yaxes(tickformat=".0%")
    return figure.update_layout(title="Accuracy of private classification", template="plotly_white")


def main() -> None:
    """Measure, print, and write table and picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder", type=Path, nargs="?", help="a folder of Parquet files; the heart sample alone when absent"
    )
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--only", help="one data set")
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    options = parser.parse_args()
    console, results = Console(width=190), []
    for data in data_sets(options.folder):
        if options.only in (None, data.name):
            found = {"data": data.name, "references": references(data), "rows": list(run(data, options.draws))}
            results.append(found)
            console.print(f"{data.name}: {len(data.train):,} records, {len(data.test):,} places;", found["references"])
            console.print(printed(found["rows"]))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "classification.json").write_text(json.dumps(results, indent=2) + "\n")
    picture(results).write_html(options.out / "classification.html")


if __name__ == "__main__":
    main()
