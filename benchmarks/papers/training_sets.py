"""What models are trained on and tested with: made-up sets, and those of the papers that are in a folder.

KDD99 and Covertype, which the S&P paper has, are likened by sets that `mixed_columns` draws with a seed: as many
columns of the same kinds, and classes of about the same shares, some of them very rare. How hard they are to tell apart
is not that of the real ones, so they compare methods with each other and with nothing published.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from core.domain import Categorical, Domain, Numeric

from ..labelled_data import data_sets, mnist
from ..trained_classifiers import adult

CLASSES, NUMBERS = "training", "regressions"
SMALL = 1_500
MADE_UP = 20_000
KDD_COLUMNS, KDD_SHARES = (38, (3, 66, 11)), (0.803, 0.197)
"""Numbers, and categories of each of the other columns; shares of attacks and of what is none."""
COVERTYPE_COLUMNS = (10, (4, 40))
COVERTYPE_SHARES = (0.488, 0.365, 0.061, 0.035, 0.030, 0.016, 0.005)


@dataclass(frozen=True)
class Labelled:
    """Records to train on and to test with, whose column `label` is predicted."""

    domain: Domain
    label: str
    train: pd.DataFrame
    test: pd.DataFrame


Read = Callable[[], tuple[Domain, pd.DataFrame]]
"""The last column of the domain is predicted."""


def names(kind: str, folder: Path | None) -> tuple[str, ...]:
    """The sets that there are."""
    return tuple(_readers(kind, folder))


@lru_cache(maxsize=2)
def labelled(kind: str, name: str, folder: Path | None, quick: bool) -> Labelled:
    """One of them, with a fifth to test with."""
    domain, frame = _readers(kind, folder)[name]()
    domain = replace(domain, outside="clamp", missing="refuse")  # so that the number of records is public
    shuffled = frame[list(domain.names)].sample(frac=1, random_state=1).reset_index(drop=True)
    shuffled = shuffled[:SMALL] if quick else shuffled
    tested = len(shuffled) // 5
    return Labelled(domain, domain.names[-1], shuffled[tested:], shuffled[:tested])


def _readers(kind: str, folder: Path | None) -> dict[str, Read]:
    found: dict[str, Read] = {
        f"made up, {columns} columns": partial(made_up, columns, 10_000, kind) for columns in (20, 200)
    }
    if kind == CLASSES:
        found["like KDD99"] = partial(mixed_columns, *KDD_COLUMNS, KDD_SHARES)
        found["like Covertype"] = partial(mixed_columns, *COVERTYPE_COLUMNS, COVERTYPE_SHARES)
        there: dict[str, tuple[str, Callable[[Path], tuple[Domain, pd.DataFrame]]]] = {
            "adult": ("adult", _incomes),
            "mnist": ("mnist", _digits),
        }
    else:
        there = {
            "airfoil": ("airfoil", airfoil),
            "pulsars, profile mean": ("htru2", partial(known, label="profile_mean")),
            "occupancy, CO₂": ("occupancy", partial(known, label="co2_ppm")),
            "occupancy, temperature": ("occupancy", partial(known, label="temperature_c")),
            "adult, age": ("adult", ages),
        }
    for name, (file, read) in there.items():
        path = None if folder is None else folder / f"{file}.parquet"
        if path is not None and path.is_file():
            found[name] = partial(read, path)
    return found


def made_up(columns: int, records: int, kind: str) -> tuple[Domain, pd.DataFrame]:
    """A border, or a slope, in a random direction, and columns that go with each other."""
    random = np.random.default_rng(columns)
    mixing = random.normal(size=(columns, columns)) / columns**0.5
    values = np.clip(random.normal(0.0, 0.3, (records, columns)) @ mixing, -1.0, 1.0)
    score = values @ random.normal(size=columns)
    frame = pd.DataFrame(values, columns=[f"x{place}" for place in range(columns)])
    numbers = tuple(Numeric(name, -1, 1) for name in frame)
    if kind == CLASSES:
        noisy = score + random.logistic(0.0, 0.1 * score.std(), records)
        return Domain((*numbers, Categorical("y", ("no", "yes")))), frame.assign(y=np.where(noisy > 0, "yes", "no"))
    noisy = np.clip(score / (4.0 * score.std()) + random.normal(0.0, 0.05, records), -1.0, 1.0)
    return Domain((*numbers, Numeric("y", -1, 1))), frame.assign(y=noisy)


def mixed_columns(
    numbers: int, categories: tuple[int, ...], shares: tuple[float, ...], records: int = MADE_UP
) -> tuple[Domain, pd.DataFrame]:
    """Classes of given shares, each with its own place in skewed numbers and its own habits in categories.

    Every second number is mostly zero, as counts are, and categories are as uneven as words.
    """
    random = np.random.default_rng(numbers)
    codes = random.choice(len(shares), size=records, p=np.array(shares) / sum(shares))
    places = random.normal(0.0, 0.5, (len(shares), numbers))
    drawn = places[codes] + random.normal(size=(records, numbers))
    values = 1.0 / (1.0 + np.exp(-drawn))
    values[:, 1::2] = np.where(drawn[:, 1::2] > 0.8, values[:, 1::2], 0.0)
    frame = pd.DataFrame(values, columns=[f"x{place}" for place in range(numbers)])
    columns: list[Numeric | Categorical] = [Numeric(name, 0, 1) for name in frame]
    for place, kinds in enumerate(categories):
        usual = -np.log(np.arange(1, kinds + 1))
        habits = usual + random.normal(0.0, 0.7, (len(shares), kinds))
        # The largest of scores with Gumbel noise has the odds of the scores.
        best = (habits[codes] + random.gumbel(size=(records, kinds))).argmax(axis=1)
        columns.append(Categorical(f"c{place}", tuple(f"k{kind}" for kind in range(kinds))))
        frame[f"c{place}"] = [f"k{kind}" for kind in best]
    label = Categorical("y", tuple(f"class {code}" for code in range(len(shares))))
    return Domain((*columns, label)), frame.assign(y=[f"class {code}" for code in codes])


def _incomes(path: Path) -> tuple[Domain, pd.DataFrame]:
    data = adult(pd.read_parquet(path))
    frame = pd.concat([data.train, data.test]).assign(income=lambda one: one["income"].astype(str))
    return data.whole_domain, frame


def ages(path: Path) -> tuple[Domain, pd.DataFrame]:
    """Adult, whose age is predicted."""
    domain, frame = _incomes(path)
    return _with_last(domain, "age"), frame


def _digits(path: Path) -> tuple[Domain, pd.DataFrame]:
    data = mnist(path)
    return data.whole_domain, pd.concat([data.train, data.test], ignore_index=True)


def airfoil(path: Path) -> tuple[Domain, pd.DataFrame]:
    """Noise of wings, between whole numbers around its values, which only a measurement of a public set may use."""
    frame = pd.read_parquet(path).astype(np.float64)
    ends = ((name, math.floor(frame[name].min()), math.ceil(frame[name].max())) for name in frame)
    domain = Domain(tuple(Numeric(name, low, max(high, low + 1)) for name, low, high in ends))
    return _with_last(domain, "sound_pressure_db"), frame


def known(path: Path, label: str) -> tuple[Domain, pd.DataFrame]:
    """The numbers of a set of classes, one of which is predicted from the others."""
    data = next(data for data in data_sets(path.parent) if data.name == path.stem)
    return _with_last(data.domain, label), pd.concat([data.train, data.test])


def _with_last(domain: Domain, name: str) -> Domain:
    columns = sorted(domain.columns, key=lambda column: column.name == name)
    return replace(domain, columns=tuple(columns))
