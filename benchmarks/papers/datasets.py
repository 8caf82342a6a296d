"""The papers' data sets as public data: from a folder where they are there, otherwise made up or from a near relation.

Bounds and bandwidths are those that the papers state, or general knowledge about the columns. Exact sums of large data
take a while, so they are kept in a file beside the records.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn.datasets import make_blobs

from core.domain import Domain, Numeric
from core.geometry.kernels import Euclidean
from core.lab.comparison_trials import PublicData, exact_sums, of_points
from core.releases.forecast.recommendation import Closeness, Distances

from ..labelled_data import data_sets
from .work import Settings, Work

QUERIES = 2000
"""Held out, as in the RACE paper."""
SMALL = 2_000
SALARIES = Domain.of(salary=(0, 250_000))
SALARY_SPAN = (10_000.0, 250_000.0)
"""Where the RACE paper compares the functions (section 5.2)."""
PAID_IN = 2014
WIDE = 54
LINE = Domain.of(x=(0, 1))
LINE_RECORDS, LINE_QUERIES = 1_000, 41


@dataclass(frozen=True)
class Points:
    """Public points in natural units, where they come from, and the question that is asked."""

    source: str
    domain: Domain
    question: Closeness | Distances
    values: np.ndarray
    span: tuple[float, float] | None = None


def public_data(work: Work, settings: Settings) -> PublicData:
    """The data that a piece of work is about, with the exact sums.

    Names: sf, nyc, skin, eight, wide; wide/K after a public projection to K dimensions; line, points drawn anew for
    every repetition.
    """
    if work.data == "line":
        return _line(work.repetition + (1 << 20 if work.tuning else 0))
    name, _, dimensions = work.data.partition("/")
    data = _stored(name, settings)
    data = _projected(data, int(dimensions)) if dimensions else data
    if work.share == 1.0:
        return data
    return replace(data, records=np.asfortranarray(data.records[: max(50, int(work.share * len(data.records)))]))


@lru_cache(maxsize=2)
def points(name: str, folder: Path | None) -> Points:
    """The points of a data set by its name."""
    return {"sf": _sf, "nyc": _nyc, "skin": _skin, "eight": _eight, "wide": _wide}[name](folder)


@lru_cache(maxsize=2)
def _stored(name: str, settings: Settings) -> PublicData:
    """With exact sums from a file, where they were found before."""
    found = points(name, settings.data)
    encoded = found.domain.encode_queries(found.values.clip(*_natural(found.domain)), found.question.kernel.metric)
    size = {"records": SMALL, "queries": 100} if settings.quick else {"records": None, "queries": QUERIES}
    # Sums over one record are thrown away; those over all are in the file.
    facts = repr((found.domain, found.question, size, QUERIES, found.span)).encode() + encoded.tobytes()
    file = settings.out / "exact" / f"{name}-{hashlib.sha256(facts).hexdigest()[:16]}.npz"
    if not file.exists():
        made = of_points(found.source, found.domain, found.question, encoded, span=found.span, **size)
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(f".{hashlib.sha256(str(id(made)).encode()).hexdigest()[:8]}.npz")
        arrays = {key: value for key, value in vars(made).items() if isinstance(value, np.ndarray)}
        np.savez(unfinished, left_out=made.left_out, **arrays)
        unfinished.replace(file)
    with np.load(file) as kept:
        arrays = {key: np.asfortranarray(kept[key]) for key in kept.files if key != "left_out"}
        left_out = int(kept["left_out"])
    arrays = {"grid": None, "grid_truth": None} | arrays
    return PublicData(found.source, found.domain, found.question, left_out=left_out, **arrays)


def _natural(domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    low, high = zip(*((column.low, column.high) for column in domain.columns), strict=True)
    return np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)


@lru_cache(maxsize=4)
def _projected(data: PublicData, dimensions: int) -> PublicData:
    """On random directions that everyone knows, which keep distances on average; the truth stays what it was."""
    source = data.domain.dimensions
    directions = np.random.default_rng(dimensions).normal(size=(source, dimensions)) / dimensions**0.5
    low, high = data.domain.bounds(data.metric)
    middle = (low + high) / 2
    # Three quarters of the longest axis is farther than nearly every record lies from the middle.
    reach = float(0.75 * np.max(high - low))
    domain = Domain.of(**{f"p{place}": (-reach, reach) for place in range(dimensions)})
    moved = (
        np.asfortranarray(((part - middle) @ directions).clip(-reach, reach)) for part in (data.records, data.queries)
    )
    records, queries = moved
    return replace(data, domain=domain, records=records, queries=queries)


def _line(draw: int) -> PublicData:
    """1000 uniform points and 41 even questions (ICLR 2024, section 11.1)."""
    question = Distances("l1")
    records = np.random.default_rng(draw).random((LINE_RECORDS, 1))
    queries = np.linspace(0.0, 1.0, LINE_QUERIES)[:, None]
    truth = exact_sums(LINE, question, queries, records)
    return PublicData("uniform points", LINE, question, records, queries, truth, queries, truth, 0)


def _frame(folder: Path | None, name: str) -> pd.DataFrame | None:
    path = None if folder is None else folder / f"{name}.parquet"
    return pd.read_parquet(path) if path is not None and path.is_file() else None


def _sf(folder: Path | None) -> Points:
    frame = _frame(folder, "sf_pay")
    if frame is None:
        return _nyc(folder, seed=1, source="made-up salaries in place of San Francisco's")
    values = frame.loc[frame["year"] == PAID_IN, "total_pay_usd"].to_numpy(np.float64)[:, None]
    source = f"San Francisco, total pay in {PAID_IN} (the paper has 2018, 29 thousand)"
    return Points(source, SALARIES, Closeness(Euclidean(5000)), values, SALARY_SPAN)


def _nyc(folder: Path | None, seed: int = 0, source: str = "") -> Points:
    """Made up in the likeness of New York's: grades of pay that thousands share, and a broad rest; 25 thousand."""
    rng = np.random.default_rng(seed)
    grades, sizes = rng.uniform(35_000, 130_000, 25), rng.dirichlet(np.full(25, 0.4))
    on_grade = rng.choice(grades, 17_000, p=sizes) + rng.normal(0, 150, 17_000)
    values = np.concatenate([on_grade, rng.lognormal(np.log(70_000), 0.45, 8_000)])[:, None]
    source = source or "made-up salaries like New York's: two in three on one of 25 grades of pay"
    return Points(source, SALARIES, Closeness(Euclidean(5000)), values, SALARY_SPAN)


def _skin(folder: Path | None) -> Points:
    frame, domain = _frame(folder, "skin"), Domain.of(B=(0, 255), G=(0, 255), R=(0, 255))
    if frame is not None:
        values = frame[["B", "G", "R"]].to_numpy(np.float64)
        return Points("UCI skin colours", domain, Closeness(Euclidean(5)), values)
    rng = np.random.default_rng(2)
    centres = np.array([[90, 120, 190], [160, 160, 160], [40, 40, 40]])[rng.choice(3, 241_000, p=[0.25, 0.5, 0.25])]
    values = centres + rng.normal(0, 25, (241_000, 1)) + rng.normal(0, 6, (241_000, 3))
    return Points("made-up colours in place of the UCI skin set", domain, Closeness(Euclidean(5)), values)


def _eight(folder: Path | None) -> Points:
    """codrna where it is there, with bounds that are read off, as it is public; then HTRU2; then something made up."""
    frame = _frame(folder, "codrna")
    if frame is not None:
        numbers = frame.select_dtypes("number").iloc[:, -8:]
        ends = zip(numbers.min(), numbers.max(), strict=True)
        domain = Domain(tuple(Numeric(n, *pair) for n, pair in zip(numbers, ends, strict=True)), scale="box")
        return Points("codrna", domain, Closeness(Euclidean(0.5)), numbers.to_numpy(np.float64))
    for data in data_sets(folder):
        if data.name == "htru2":
            values = pd.concat([data.train, data.test])[list(data.domain.names)].to_numpy(np.float64)
            return Points("HTRU2 pulsars, in place of codrna", data.domain, Closeness(Euclidean(0.5)), values)
    values, _ = make_blobs(57_000, 8, centers=6, cluster_std=0.08, center_box=(0.2, 0.8), random_state=3)
    domain = Domain.of(**{f"c{place}": (0, 1) for place in range(8)})
    return Points("made-up clusters in place of codrna", domain, Closeness(Euclidean(0.5)), values)


def _wide(folder: Path | None) -> Points:
    """covtype where it is there; else MNIST on 54 random directions; then something made up."""
    frame = _frame(folder, "covtype")
    if frame is not None:
        numbers = frame.select_dtypes("number").iloc[:, :WIDE]
        ends = zip(numbers.min(), numbers.max() + (numbers.max() == numbers.min()), strict=True)
        domain = Domain(tuple(Numeric(n, *pair) for n, pair in zip(numbers, ends, strict=True)))
        return Points("covtype", domain, Closeness(Euclidean(20)), numbers.to_numpy(np.float64))
    domain = Domain.of(**{f"c{place}": (-8, 8) for place in range(WIDE)})
    path = None if folder is None else folder / "mnist.parquet"
    if path is not None and path.is_file():
        images = np.stack([np.frombuffer(one, np.uint8) for one in pq.read_table(path)["image"].to_pylist()]) / 255.0
        directions = np.random.default_rng(WIDE).normal(size=(images.shape[1], WIDE)) / WIDE**0.5
        source = f"MNIST on {WIDE} random directions, in place of covtype"
        return Points(source, domain, Closeness(Euclidean(10)), (images - images.mean()) @ directions)
    values, _ = make_blobs(100_000, WIDE, centers=10, cluster_std=0.6, center_box=(-2, 2), random_state=4)
    return Points("made-up clusters in place of covtype", domain, Closeness(Euclidean(10)), values)
