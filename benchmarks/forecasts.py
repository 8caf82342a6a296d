"""Forecasts from public facts beside true errors, and what the first choice of `recommend` costs against the best one.

    python -m benchmarks.forecasts [--epsilon 1] [--set digits] [--draws 1] [--all]

Public data alone: scikit-learn's, and made-up sets with spikes, few distinct values, heaps, and up to 128 columns. A
setting is a set, a kernel, a bandwidth (a share of the median distance), and a promise, pure or with a slack of one
in a million. Without --all each set is asked with two of the six pairs of a kernel and a bandwidth, in turns. The
forecast knows columns, bounds, steps where the name says so, and the number of records. The true error of a mechanism
is that of its sums at 150 records left out: the variance of its noise, which is exact, and the squared error of the
same sketch without noise, with fresh public seeds, averaged over draws. The regret of a choice is its error over the
least one on its own list.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from time import process_time

import numpy as np
from sklearn import datasets

from core.domain import Domain, Numeric
from core.errors import RequestError
from core.forecast.recommendation import Closeness, Recommendation, recommend
from core.geometry.kernels import KERNELS
from core.privacy.budget import Budget
from core.sketches.plan import plan

ASKED = 150
KERNELS_TRIED, FACTORS = ("gaussian", "laplacian", "exponential"), (0.15, 0.5)
MOST_COUNTERS = 30_000_000
ROW = "{:20} {:12} {:>5} {:>5} {:22} {:>9} {:>9} {:>6} {:>7} {:>6}"
MEAN_TO_RMS = math.sqrt(2.0 / math.pi)


@dataclass(frozen=True)
class PublicSet:
    """Public records with public bounds: float64 (n, d), (d,) and (d,), and the steps of its columns, if any."""

    name: str
    points: np.ndarray
    low: np.ndarray
    high: np.ndarray
    steps: tuple[float, ...] = ()

    @property
    def domain(self) -> Domain:
        """Its columns."""
        steps = self.steps or (0.0,) * len(self.low)
        facts = enumerate(zip(self.low, self.high, steps, strict=True))
        return Domain(
            tuple(Numeric(f"c{place}", float(low), float(high), step=step) for place, (low, high, step) in facts)
        )

    def bandwidth(self, kernel: str, factor: float) -> tuple[float, ...]:
        """A share of the median distance of two records, in boxes of the bounds, one a column."""
        random = np.random.default_rng(7)
        unit = (self.points - self.low) / (self.high - self.low)
        apart = np.abs(np.diff(unit[random.integers(0, len(unit), (2000, 2))], axis=1)[:, 0])
        distance = apart.sum(axis=1) if kernel == "laplacian" else np.sqrt((apart**2).sum(axis=1))
        return tuple((max(float(np.median(distance)), 1e-3) * factor * (self.high - self.low)).tolist())


def public_sets() -> Iterator[PublicSet]:
    """Scikit-learn's sets, each repeated to some thousands of records, and made-up ones."""
    random = np.random.default_rng(7)

    def of(name: str, points: object, low: object = None, high: object = None) -> PublicSet:
        points = np.asarray(points, dtype=np.float64)
        least = points.min(axis=0) if low is None else np.broadcast_to(low, points.shape[1]).astype(np.float64)
        most = points.max(axis=0) if high is None else np.broadcast_to(high, points.shape[1]).astype(np.float64)
        return PublicSet(name, points, least, np.where(most > least, most, least + 1.0))

    def in_steps(public: PublicSet, *steps: float) -> Iterator[PublicSet]:
        yield public
        yield replace(public, name=f"{public.name}, steps", steps=steps * (len(public.low) // len(steps)))

    yield from in_steps(of("digits", datasets.load_digits().data, 0, 16), 1.0)
    for name, times in (("wine", 10), ("breast_cancer", 4), ("diabetes", 5), ("iris", 14)):
        yield of(name, np.repeat(getattr(datasets, f"load_{name}")().data, times, axis=0))
    yield of("moons", datasets.make_moons(4000, noise=0.08, random_state=1)[0], -2, 3)
    spike = np.where(random.random(4000) < 0.3, 40.0, np.round(random.gamma(3, 10, 4000)))
    yield from in_steps(of("spikes", spike.clip(0, 200)[:, None], 0, 200), 1.0)
    opinions = np.round(random.normal(3, 1, (4000, 5)) + random.normal(0, 0.7, (4000, 1)))
    yield from in_steps(of("opinions", opinions.clip(1, 5), 1, 5), 1.0)
    pay = np.round(np.exp(random.normal(10.3, 0.7, 4000)), -2).clip(0, 2e5)
    yield from in_steps(
        of("age and pay", np.column_stack((random.integers(18, 90, 4000), pay)), [0, 0], [120, 2e5]), 1.0, 100.0
    )
    yield of("houses", houses(random), [0, 0, 0, 0, 0, 0, 32, -125], [16, 60, 20, 5, 8000, 8, 42, -114])
    yield of("bell of 16", random.normal(0, 1, (4000, 16)), -6, 6)
    heaps = random.normal(0, 3, (10, 8))[random.integers(0, 10, 4000)]
    yield of("heaps of 8", heaps + random.normal(0, 0.4, (4000, 8)), -12, 12)
    flat = random.normal(0, 1, (4000, 3)) @ random.normal(0, 1, (3, 100)) + random.normal(0, 0.05, (4000, 100))
    yield of("sheet in 100", flat, -10, 10)
    words = random.normal(0, 1, (10, 128))[random.integers(0, 10, 4000)] + random.normal(0, 1.2, (4000, 128))
    yield of("embeddings", words / np.linalg.norm(words, axis=1, keepdims=True), -1, 1)


def houses(random: np.random.Generator) -> np.ndarray:
    """Districts like those of a well-known census file: skewed, with ages up to 52, in two towns and between."""
    income = np.exp(random.normal(1.25, 0.45, 4000)).clip(0.5, 15)
    age = np.round(random.normal(29, 13, 4000)).clip(1, 52)
    rooms = (4 + 0.3 * income + random.normal(0, 0.9, 4000)).clip(1, 20)
    people = np.exp(random.normal(7.0, 0.75, 4000)).clip(3, 8000)
    town = random.integers(0, 3, 4000)
    north = np.where(town == 0, 34.0, np.where(town == 1, 37.7, random.uniform(33, 41, 4000)))
    places = north + random.normal(0, 0.3, 4000), -83.5 - north + random.normal(0, 0.5, 4000)
    beds, home = (1.05 + random.normal(0, 0.1, 4000)).clip(0, 5), (2.8 + random.normal(0, 0.6, 4000)).clip(1, 8)
    columns = (income, age, rooms, beds, people, home, places[0].clip(32, 42), places[1].clip(-125, -114))
    return np.column_stack(columns)


@dataclass(frozen=True)
class Seen:
    """A mechanism's forecast beside what is true; errors of averages.

    Attributes
    ----------
    name : str
        Of the mechanism.
    forecast, true : float
        Root mean square errors.
    inside : bool
        Whether the true relative error lies in the range that was forecast, where the noise does not hide answers.
    """

    name: str
    forecast: float
    true: float
    inside: bool


def seen(one: Recommendation, budget: Budget, public: PublicSet, draws: int) -> Seen | None:
    """The forecast of one recommendation beside the truth; None where it cannot answer, or would take all memory."""
    sketch = one.sketch
    if sketch is None or math.prod(sketch.shape) > MOST_COUNTERS:
        return None
    order = np.random.default_rng(1).permutation(len(public.points))
    points = public.domain.encode_queries(public.points[order], sketch.metric)
    queries, records = np.asfortranarray(points[:ASKED]), np.asfortranarray(points[ASKED:])
    exact = sketch.exact(queries, records)
    squared = sketch.noise_variance(plan(sketch, budget).noise.variance, queries)
    noise = math.sqrt(float(np.mean(squared)))
    for seed in range(draws):
        drawn = sketch.reseeded(100 + seed)
        table = drawn.zeros()
        drawn.add(table, records)
        squared = squared + (drawn.answer(table, len(records), queries, 0.0, 0.95).estimate - exact) ** 2 / draws
    told = exact > noise
    relative = MEAN_TO_RMS * float(np.mean(np.sqrt(squared[told]) / exact[told])) if told.any() else None
    low, high = one.forecast.relative_range
    true = math.sqrt(float(np.mean(squared))) / len(records)
    inside = relative is None or low <= relative <= high
    return Seen(one.name, one.forecast.standard_error / one.forecast.records, true, inside)


def main() -> None:
    """Print a row a setting, and what they come to."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--epsilon", default="1")
    options.add_argument("--set", action="append", help="only these sets")
    options.add_argument("--draws", type=int, default=1, help="of public seeds")
    options.add_argument("--all", action="store_true", help="every kernel with every bandwidth on every set")
    given = options.parse_args()
    print(ROW.format("set", "kernel", "width", "δ", "first choice", "forecast", "true", "ratio", "regret", "CPU s"))
    firsts: list[Seen] = []
    everything: list[Seen] = []
    regrets: list[float] = []
    pairs = list(product(KERNELS_TRIED, FACTORS))
    for place, public in enumerate(public_sets()):
        if given.set and public.name not in given.set:
            continue
        in_turn = pairs if given.all else [pairs[place % len(pairs)], pairs[(place + 3) % len(pairs)]]
        for (kernel, factor), delta in product(in_turn, (0, "1e-6")):
            question = Closeness(KERNELS[kernel](public.bandwidth(kernel, factor)))
            budget, start = Budget(given.epsilon, delta), process_time()
            try:
                found = recommend(public.domain, len(public.points) - ASKED, budget, question)
            except RequestError:
                continue
            spent = process_time() - start
            rows = [row for one in found if (row := seen(one, budget, public, given.draws)) is not None]
            first, regret = rows[0], rows[0].true / min(row.true for row in rows)
            firsts.append(first)
            everything += rows
            regrets.append(regret)
            errors = (f"{first.forecast:.2e}", f"{first.true:.2e}", f"{first.forecast / first.true:.2f}")
            said = (public.name, kernel, f"{factor:g}", str(delta), first.name, *errors, f"{regret:.2f}")
            print(ROW.format(*said, f"{spent:.1f}"), flush=True)
    for name, rows in (("first choices", firsts), ("everything offered", everything)):
        ratios = np.array([row.forecast / row.true for row in rows])
        print(
            f"{name}: {len(rows)} forecasts; within a quarter {np.mean((ratios > 0.8) & (ratios < 1.25)):.0%}; more "
            f"than twice too low {np.mean(ratios < 0.5):.1%}, too high {np.mean(ratios > 2):.1%}; "
            f"relative error inside its range {np.mean([row.inside for row in rows]):.0%}"
        )
    print(f"regret: {np.mean(np.array(regrets) <= 1.3):.0%} within 1.3, largest {max(regrets):.2f}")


if __name__ == "__main__":
    main()
