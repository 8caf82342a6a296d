"""Labelled data sets to classify: what is publicly known about each, and where its rows are.

Bounds and label lists are those of sensors, colours and unit vectors, or as the data sets' authors state them; none is
read off the rows. The heart sample comes with the repository; the others are Parquet files in a folder that is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from core.domain import Categorical, Domain, Numeric, Vector
from core.geometry.kernels import Kernel, Laplacian
from core.sources.public_tables import sample

MOST_TESTED = 4_000


@dataclass(frozen=True)
class Labelled:
    """A data set, shuffled and split.

    Attributes
    ----------
    domain : of the records without their class.
    label : the classes.
    kernel : for densities; None for embeddings, which are compared by their directions.
    train, test : rows.
    """

    name: str
    domain: Domain
    label: Categorical
    kernel: Kernel | None
    train: pd.DataFrame
    test: pd.DataFrame

    @property
    def whole_domain(self) -> Domain:
        """The domain of records with their class."""
        return replace(self.domain, columns=(*self.domain.columns, self.label))

    def codes(self, frame: pd.DataFrame) -> np.ndarray:
        """The numbers of the true classes, int64 (n,)."""
        return np.array([self.label.categories.index(str(value)) for value in frame[self.label.name]])


def data_sets(folder: Path | None) -> Iterator[Labelled]:
    """The heart sample, and what of the others is in the folder."""
    heart = sample("heart")
    yield _split("heart sample", heart.domain, heart.label, heart.kernel, pd.read_parquet(heart.path))
    for name, read in (("occupancy", _occupancy), ("htru2", _htru2), ("skin", _skin), ("clip_food10", _embeddings)):
        path = None if folder is None else folder / f"{name}.parquet"
        if path is not None and path.is_file():
            yield read(name, pd.read_parquet(path))


def _occupancy(name: str, frame: pd.DataFrame) -> Labelled:
    columns = (
        Numeric("temperature_c", 10, 40),
        Numeric("rel_humidity_pct", 0, 100),
        Numeric("light_lux", 0, 2000),
        Numeric("co2_ppm", 300, 3000),
        Numeric("humidity_ratio", 0, 0.02),
    )
    return _split(name, Domain(columns, scale="box"), Categorical("occupied", ("0", "1")), Laplacian(0.05), frame)


def _htru2(name: str, frame: pd.DataFrame) -> Labelled:
    bounds = ((0, 255), (0, 128), (-2, 10), (-2, 100), (0, 255), (0, 128), (-4, 40), (-4, 1300))
    names = [column for column in frame.columns if column != "is_pulsar"]
    columns = tuple(Numeric(column, *pair) for column, pair in zip(names, bounds, strict=True))
    return _split(name, Domain(columns, scale="box"), Categorical("is_pulsar", ("0", "1")), Laplacian(0.1), frame)


def _skin(name: str, frame: pd.DataFrame) -> Labelled:
    domain = Domain(tuple(Numeric(colour, 0, 255) for colour in "BGR"))
    return _split(name, domain, Categorical("is_skin", ("0", "1")), Laplacian(20.0), frame)


def _embeddings(name: str, frame: pd.DataFrame) -> Labelled:
    names = [column for column in frame.columns if column[0] == "e" and column[1:].isdigit()]
    vectors = frame[names].to_numpy(np.float64)
    rows = pd.DataFrame({"vector": list(vectors), "class": frame["class_name"].astype(str)})
    label = Categorical("class", tuple(sorted(set(rows["class"]))))
    train = (frame["split"] == "train").to_numpy()
    domain = Domain((Vector("vector", len(names), -1, 1),))
    return Labelled(name, domain, label, None, rows[train].reset_index(drop=True), rows[~train].reset_index(drop=True))


def mnist(path: Path) -> Labelled:
    """Images of digits, by the published split."""
    table = pq.read_table(path)
    images = [np.frombuffer(one, np.uint8).astype(np.float64) for one in table["image"].to_pylist()]
    label = Categorical("label", tuple(str(digit) for digit in range(10)))
    frame = pd.DataFrame({"image": images, "label": [str(one) for one in table["label"].to_pylist()]})
    train = np.array(table["split"].to_pylist()) == "train"
    domain = Domain((Vector("image", len(images[0]), 0, 255),))
    return Labelled("mnist", domain, label, None, frame[train], frame[~train].reset_index(drop=True))


def _split(name: str, domain: Domain, label: Categorical, kernel: Kernel, frame: pd.DataFrame) -> Labelled:
    """A quarter of the rows to test with, but not more than suffice."""
    shuffled = frame[[*domain.names, label.name]].sample(frac=1, random_state=1).reset_index(drop=True)
    tested = min(len(shuffled) // 4, MOST_TESTED)
    test, train = shuffled[:tested], shuffled[tested:].reset_index(drop=True)
    return Labelled(name, domain, label, kernel, train, test)
