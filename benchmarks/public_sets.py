"""Public records to judge choices and forecasts on: scikit-learn's, made-up, a folder's and the bundled samples.

Bounds are those of sensors, colours and questionnaires or round numbers about the values, and all columns are compared
as shares of their bounds. Steps are said where the name says so. What forecasts reckon with was set with some of these
sets in view (`TUNED_ON`), so figures are for them and for the others apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets

from core.domain import Categorical, Domain, Items, Numeric
from core.domain.item_sets import Encoded, Sets
from core.sources.public_tables import samples

MOST, SAMPLED = 20_000, 8_000
"""Records of a set that are kept, and of a bundled sample."""
TUNED_ON = frozenset(
    "digits|digits, steps|wine|breast_cancer|diabetes|iris|moons|spikes|spikes, steps|opinions 5|opinions 5, steps|"
    "age and pay, steps|houses|bell of 16|heaps of 8|sheet in 100|embeddings 128|skin|pulsars|occupancy|airfoil|"
    "adult numbers, steps|even in 4|log-normal|log-normal in 5|gains in 3|linnerud".split("|")
)
"""Those by which the kinds of reference population, and what is chosen by, were chosen."""


@dataclass(frozen=True, eq=False)
class PublicSet:
    """Public records with what is publicly known about them.

    Attributes
    ----------
    name : str
        For tables.
    domain : Domain
        Columns and bounds.
    records : Any
        An array (n, columns), a frame, or `Sets`, in random order.
    """

    name: str
    domain: Domain
    records: Any

    def __len__(self) -> int:
        return len(self.records)

    def encoded(self, low: int, high: int, metric: str = "l2") -> Encoded:
        """Some of the records as sketches read them."""
        some = self.records[low:high]
        return some if isinstance(some, Sets) else self.domain.encode_queries(some, metric)

    def median_distance(self, metric: str) -> float:
        """Of two records, "l1" or "l2"."""
        points = self.encoded(0, 4000, metric)
        half = len(points) // 2
        apart = np.abs(points[:half] - points[half : 2 * half])
        distance = apart.sum(axis=1) if metric == "l1" else np.sqrt((apart**2).sum(axis=1))
        return max(float(np.median(distance)), 1e-3)


def public_sets(folder: Path | None) -> Iterator[PublicSet]:
    """All of them; those of a folder where one is named."""
    for maker in (_bundled, _made_up, _power_laws):
        yield from maker(np.random.default_rng(7))
    for name, read in FILES.items():
        path = None if folder is None else folder / f"{name}.parquet"
        if path is not None and path.is_file():
            yield from read(pd.read_parquet(path), np.random.default_rng(7))
    yield from _corners(np.random.default_rng(7))
    yield from _samples()


def of_numbers(
    name: str, points: object, low: object = None, high: object = None, steps: tuple[float, ...] = ()
) -> PublicSet:
    """A set of columns of numbers; bounds are round numbers about the values where none are given."""
    numbers = np.asarray(points, dtype=np.float64)
    numbers = np.random.default_rng(3).permutation(numbers)[:MOST]
    least, most = numbers.min(axis=0), numbers.max(axis=0)
    room = 0.1 * np.where(most > least, most - least, 1.0)
    ends = [
        np.broadcast_to(given if given is not None else about, numbers.shape[1]).astype(np.float64)
        for given, about in ((low, least - room), (high, most + room))
    ]
    each = zip(*ends, (steps * numbers.shape[1])[: numbers.shape[1]] or (0.0,) * numbers.shape[1], strict=True)
    columns = (Numeric(f"c{place}", float(a), float(b), step=step) for place, (a, b, step) in enumerate(each))
    return PublicSet(name, Domain(tuple(columns), scale="box"), np.clip(numbers, *ends))


def _bundled(random: np.random.Generator) -> Iterator[PublicSet]:
    """Scikit-learn's, repeated to some thousands of records."""
    digits = np.repeat(datasets.load_digits().data, 3, axis=0)
    yield of_numbers("digits", digits, 0, 16)
    yield of_numbers("digits, steps", digits, 0, 16, (1.0,))
    for name, times in (("wine", 20), ("breast_cancer", 8), ("diabetes", 10), ("iris", 24), ("linnerud", 150)):
        yield of_numbers(name, np.repeat(getattr(datasets, f"load_{name}")().data, times, axis=0))


def _samples() -> Iterator[PublicSet]:
    """The bundled samples, with bounds that hold for anyone; nothing that forecasts reckon with was set by them."""
    for one in samples():
        if not one.domain.holds_sets:
            read = pd.read_parquet if one.path.suffix == ".parquet" else pd.read_csv
            kept = read(one.path)[list(one.domain.names)].dropna()
            some = kept.sample(min(len(kept), SAMPLED), random_state=1)
            yield PublicSet(one.name, one.domain, some.reset_index(drop=True))


def _made_up(random: np.random.Generator) -> Iterator[PublicSet]:
    """Spikes, few distinct values, heaps, sheets and many columns."""
    n = 8000
    yield of_numbers("moons", datasets.make_moons(n, noise=0.08, random_state=1)[0], -2, 3)
    spike = np.where(random.random(n) < 0.3, 40.0, np.round(random.gamma(3, 10, n))).clip(0, 200)[:, None]
    yield of_numbers("spikes", spike, 0, 200)
    yield of_numbers("spikes, steps", spike, 0, 200, (1.0,))
    for columns in (5, 64):
        answers = np.round(random.normal(3, 1, (n, columns)) + random.normal(0, 0.7, (n, 1))).clip(1, 5)
        yield of_numbers(f"opinions {columns}", answers, 1, 5)
        yield of_numbers(f"opinions {columns}, steps", answers, 1, 5, (1.0,))
    pay = np.round(np.exp(random.normal(10.3, 0.7, n)), -2).clip(0, 2e5)
    yield of_numbers("age and pay, steps", np.column_stack((random.integers(18, 90, n), pay)), 0, [120, 2e5], (1, 100))
    yield of_numbers("log-normal", np.exp(random.normal(0, 1, (n, 1))), 0, 60)
    yield of_numbers("houses", houses(random, n), [0, 0, 0, 0, 0, 0, 32, -125], [16, 60, 20, 5, 8000, 8, 42, -114])
    yield of_numbers("bell of 16", random.normal(0, 1, (n, 16)), -6, 6)
    heaps = random.normal(0, 3, (10, 8))[random.integers(0, 10, n)]
    yield of_numbers("heaps of 8", heaps + random.normal(0, 0.4, (n, 8)), -12, 12)
    yield of_numbers("even in 4", random.random((n, 4)), 0, 1)
    turn = random.random((n, 2)) * [4 * np.pi, 2]
    roll = np.column_stack((turn[:, 0] * np.cos(turn[:, 0]), turn[:, 1], turn[:, 0] * np.sin(turn[:, 0])))
    yield of_numbers("roll in 32", roll @ random.normal(0, 1, (3, 32)) / 4 + random.normal(0, 0.02, (n, 32)), -15, 15)
    flat = random.normal(0, 1, (n, 3)) @ random.normal(0, 1, (3, 100)) + random.normal(0, 0.05, (n, 100))
    yield of_numbers("sheet in 100", flat, -10, 10)
    hundred = random.normal(0.5, 0.12, (n, 100)) + 0.15 * random.integers(0, 2, (n, 1))
    yield of_numbers("two groups in 100", hundred, 0, 1)
    words = random.normal(0, 1, (10, 128))[random.integers(0, 10, n)] + random.normal(0, 1.2, (n, 128))
    yield of_numbers("embeddings 128", words / np.linalg.norm(words, axis=1, keepdims=True), -1, 1)


def _corners(random: np.random.Generator) -> Iterator[PublicSet]:
    """Records in a small corner of their bounds, some with nothing in most columns."""
    yield of_numbers("log-normal in 5", np.exp(random.normal(0, 1, (8000, 5))), 0, 60)
    gains = np.where(random.random((8000, 2)) < 0.06, np.exp(random.normal(8.5, 1, (8000, 2))), 0.0).round()
    yield of_numbers("gains in 3", np.column_stack((gains, random.normal(40, 12, 8000).round())), 0, [1e5, 1e5, 99])


def houses(random: np.random.Generator, n: int = 4000) -> np.ndarray:
    """Districts like those of a well-known census file: skewed, with ages up to 52, in two towns and between."""
    income = np.exp(random.normal(1.25, 0.45, n)).clip(0.5, 15)
    age = np.round(random.normal(29, 13, n)).clip(1, 52)
    rooms = (4 + 0.3 * income + random.normal(0, 0.9, n)).clip(1, 20)
    people = np.exp(random.normal(7.0, 0.75, n)).clip(3, 8000)
    town = random.integers(0, 3, n)
    north = np.where(town == 0, 34.0, np.where(town == 1, 37.7, random.uniform(33, 41, n)))
    places = north + random.normal(0, 0.3, n), -83.5 - north + random.normal(0, 0.5, n)
    beds, home = (1.05 + random.normal(0, 0.1, n)).clip(0, 5), (2.8 + random.normal(0, 0.6, n)).clip(1, 8)
    columns = (income, age, rooms, beds, people, home, places[0].clip(32, 42), places[1].clip(-125, -114))
    return np.column_stack(columns)


def _power_laws(random: np.random.Generator) -> Iterator[PublicSet]:
    """Sets whose sizes and items fall like powers."""
    for name, shape, popular, n in (("short sets", 1.5, 2.0, 8000), ("long sets", 1.1, 3.5, 4000)):
        sizes = (3.0 * (1.0 + random.pareto(shape, n))).clip(1, 600).astype(np.int64)
        items = (2.0 * n * random.random(int(sizes.sum())) ** popular).astype(np.uint64)
        yield PublicSet(name, Domain((Items("items"),)), Sets.of_sizes(sizes, items))


def _skin(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    yield of_numbers("skin", frame[["B", "G", "R"]], 0, 255)
    yield of_numbers("skin, steps", frame[["B", "G", "R"]], 0, 255, (1.0,))


def _pulsars(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    low, high = [0, 0, -2, -2, 0, 0, -4, -4], [255, 128, 10, 100, 255, 128, 40, 1300]
    yield of_numbers("pulsars", frame.drop(columns="is_pulsar"), low, high)


def _occupancy(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    columns = ["temperature_c", "rel_humidity_pct", "light_lux", "co2_ppm", "humidity_ratio"]
    yield of_numbers("occupancy", frame[columns], [10, 0, 0, 300, 0], [40, 100, 2000, 3000, 0.02])


def _airfoil(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    low, high = [0, 0, 0, 0, 0, 90], [25_000, 25, 0.4, 100, 0.1, 150]
    yield of_numbers("airfoil", np.repeat(frame.to_numpy(), 2, axis=0), low, high)


def _pay(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    yield of_numbers("pay", frame[["total_pay_usd"]], 0, 600_000)
    yield of_numbers("pay, steps", frame[["total_pay_usd"]], 0, 600_000, (10.0,))


def _adult(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    columns = ["age", "education_num", "hours_per_week", "capital_gain", "capital_loss"]
    high = [100, 16, 99, 100_000, 5000]
    yield of_numbers("adult numbers, steps", frame[columns], 0, high, (1.0,))
    mixed = frame[["age", "hours_per_week", "sex", "race", "education"]].sample(MOST, random_state=1)
    texts = (Categorical(name, tuple(sorted(frame[name].unique()))) for name in ("sex", "race", "education"))
    numbers = (Numeric("age", 0, 100), Numeric("hours_per_week", 0, 99))
    domain = Domain((*numbers, *texts), scale="box", category_distance=0.3)
    yield PublicSet("adult mixed", domain, mixed.reset_index(drop=True))


def _images(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    some = np.frombuffer(b"".join(frame["image"].iloc[:6000]), dtype=np.uint8).reshape(-1, 28, 28)
    small = some[:, 2:26, 2:26].reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4)).reshape(len(some), 64)
    yield of_numbers("handwriting 64", small, 0, 255)


def _embeddings(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    whole = frame[[name for name in frame.columns if name[0] == "e" and name[1:].isdigit()]].to_numpy()
    yield of_numbers("embeddings 512", whole, -1, 1)


def _sentences(frame: pd.DataFrame, random: np.random.Generator) -> Iterator[PublicSet]:
    tokens = np.unique(frame["token"].to_numpy(), return_inverse=True)[1].astype(np.uint64)
    sizes = random.geometric(1 / 25, 9000)
    sizes = sizes[np.cumsum(sizes) <= len(tokens)]
    yield PublicSet("pieces of a novel", Domain((Items("words"),)), Sets.of_sizes(sizes, tokens[: sizes.sum()]))


FILES: dict[str, Callable[[pd.DataFrame, np.random.Generator], Iterator[PublicSet]]] = {
    "skin": _skin,
    "htru2": _pulsars,
    "occupancy": _occupancy,
    "airfoil": _airfoil,
    "sf_pay": _pay,
    "adult": _adult,
    "mnist": _images,
    "clip_food10": _embeddings,
    "moby_dick_tokens": _sentences,
}
