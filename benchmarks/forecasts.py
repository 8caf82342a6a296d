"""What the first choice of `recommend` costs beside the best one on its list, and how true forecasts are.

    python -m benchmarks.forecasts FOLDER --out settings.csv [--cpu 600] [--releases 10] [--set digits]
    python -m benchmarks.forecasts --out settings.csv --cpu 0        # the figures of what is there

A setting is a set of public records (`benchmarks/public_sets.py`), a question and a promise: sums of three kernels at
three bandwidths (shares of the median distance of two records), or of distances, at ε = 0.1, 1 and 10, and at ε = 1
with δ = 10⁻⁶. `recommend` knows columns, bounds, steps where the name says so, and the number of records. Each
mechanism on its list is released so many times, each time with fresh public seeds and fresh noise from the operating
system, and asked at 100 records left out. Of those whose forecast is over four times the first one's, one at random is
measured.

The regret of a first choice is its mean error over that of the mechanism that is best on one half of the releases, both
judged on the other half, and both ways around: hindsight is not what chance did. Errors are root mean squares over
places of answers divided by the number of records: of shares of all records, or of mean distances.

Settings come in a random order that is always the same, so that the first of them are a fair sample; what is in the
file already is not measured again, and no new one begins when the processor seconds are used up.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np

from core.errors import RequestError
from core.geometry.kernels import KERNELS, Jaccard
from core.privacy.budget import Budget
from core.releases.engine.building import ExactTable
from core.releases.forecast.recommendation import Closeness, Distances, Question, Recommendation, recommend
from core.releases.seal import seal

from .public_sets import TUNED_ON, PublicSet, public_sets

ASKED = 100
LEFT_OUT = 4.0
"""Mechanisms whose forecast is so many times that of the first are not measured, but for one at random."""
MOST_COUNTERS = 40_000_000
KERNELS_ASKED, FACTORS, NORMS = ("gaussian", "laplacian", "exponential"), (0.15, 0.4, 1.0), ("l1", "l2", "squared")
PROMISES = ((0.1, 0.0), (1.0, 0.0), (10.0, 0.0), (1.0, 1e-6))
SIZES, FEWER = (2_000, 5_000, 15_000), (2_000, 4_000)
"""Of records; fewer under a δ, which allows many rows."""


@dataclass(frozen=True)
class Setting:
    """What is asked of which records, under which promise."""

    set: str
    question: str
    factor: float
    epsilon: float
    delta: float
    records: int


@dataclass(frozen=True)
class Row(Setting):
    """One mechanism in a setting.

    Attributes
    ----------
    place : int
        On the list of `recommend`, from 0.
    forecast : float
        Of the error, and `low` to `high` the range of the relative one.
    relative : float
        The mean relative error, at places whose answers the noise does not hide; nan where it hides all.
    covered : float
        Share of the 95% intervals that held the exact sum.
    errors : str
        Of each release.
    """

    place: int
    mechanism: str
    forecast: float
    low: float
    high: float
    relative: float
    covered: float
    seconds: float
    errors: str

    @property
    def setting(self) -> Setting:
        """Where it was measured."""
        return Setting(*(getattr(self, one.name) for one in fields(Setting)))

    @property
    def squares(self) -> np.ndarray:
        """Squared errors of all releases."""
        return np.array([float(error) ** 2 for error in self.errors.split(";")])

    @property
    def true(self) -> float:
        """Root mean square error over releases."""
        return math.sqrt(float(self.squares.mean()))


def settings(sets: Sequence[PublicSet]) -> list[Setting]:
    """All of them, in a random order that is always the same; one set after the other, so that each has its share."""
    random = np.random.default_rng(19)
    queues = []
    for public in sets:
        asked: list[tuple[str, float]] = [("jaccard", 1.0)]
        if not public.domain.holds_sets:
            asked = [*product(KERNELS_ASKED, FACTORS), *((norm, 1.0) for norm in NORMS)]
        every = [
            Setting(public.name, *question, *promise, _records(random, promise[1], public))
            for question, promise in product(asked, PROMISES)
        ]
        queues.append([every[place] for place in random.permutation(len(every))])
    longest = max(map(len, queues))
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def _records(random: np.random.Generator, delta: float, public: PublicSet) -> int:
    return int(min(random.choice(FEWER if delta else SIZES), len(public) - ASKED))


def question_of(setting: Setting, public: PublicSet) -> Question:
    """As `recommend` takes it."""
    if setting.question == "jaccard":
        return Closeness(Jaccard())
    if setting.question in NORMS:
        return Distances(setting.question)
    metric = "l1" if setting.question == "laplacian" else "l2"
    return Closeness(KERNELS[setting.question](setting.factor * public.median_distance(metric)))


def measured(setting: Setting, public: PublicSet, releases: int) -> Iterator[Row]:
    """Every mechanism of the list in a setting."""
    budget = Budget(str(setting.epsilon), "1e-6" if setting.delta else 0)
    try:
        found = recommend(public.domain, setting.records, budget, question_of(setting, public))
    except RequestError:
        return
    possible = [(place, one) for place, one in enumerate(found) if one.sketch is not None]
    least = possible[0][1].outlook.standard_error
    near = [one for one in possible if one[1].outlook.standard_error <= LEFT_OUT * least]
    far = [one for one in possible if one not in near]
    chance = np.random.default_rng(len(found) + setting.records).permutation(len(far))
    for place, one in [*near, *(far[turn] for turn in chance[:1])]:
        if math.prod(one.answering.shape) > MOST_COUNTERS:
            print(f"left out as too large: {setting} {one.name}", file=sys.stderr)
            continue
        yield released(setting, place, one, public, budget, releases)


def released(
    setting: Setting, place: int, one: Recommendation, public: PublicSet, budget: Budget, releases: int
) -> Row:
    """So many real releases of one mechanism."""
    start, sketch, seen = process_time(), one.answering, one.outlook
    queries = public.encoded(0, ASKED, sketch.metric)
    records = public.encoded(ASKED, ASKED + setting.records, sketch.metric)
    exact = sketch.exact(queries, records)
    random, table = np.random.default_rng(), None
    errors, relative, covered = [], [], []
    for _ in range(releases):
        drawn = sketch.reseeded(int(random.integers(1 << 31)))
        if table is None or drawn != sketch:  # without public random numbers all releases have the same exact table
            table = drawn.zeros()
            drawn.add(table, records)
        made = seal(drawn, ExactTable(table.copy(), len(records)), budget)
        answers = made.answer_points(queries)
        wrong = np.abs(answers.estimate - exact)
        errors.append(math.sqrt(float(np.mean(wrong**2))) / len(records))
        noise = np.sqrt(drawn.noise_variance(made.privacy.counter_variance, queries))
        told = exact > noise
        relative += [float(np.mean(wrong[told] / exact[told]))] if told.any() else []
        covered.append(float(np.mean((answers.low <= exact) & (exact <= answers.high))))
    return Row(
        **asdict(setting),
        place=place,
        mechanism=one.name,
        forecast=seen.standard_error / seen.records,
        low=seen.relative_range[0],
        high=seen.relative_range[1],
        relative=float(np.mean(relative)) if relative else math.nan,
        covered=float(np.mean(covered)),
        seconds=process_time() - start,
        errors=";".join(f"{error:.4g}" for error in errors),
    )


def regret(rows: Sequence[Row]) -> float:
    """Of the first row against the best of all, picked on one half of the releases and judged on the other."""
    squares = np.stack([row.squares for row in rows])
    half = squares.shape[1] // 2
    told, judged = squares[:, :half].mean(axis=1), squares[:, half:].mean(axis=1)
    ratios = [known[0] / known[picking.argmin()] for picking, known in ((told, judged), (judged, told))]
    return math.sqrt(math.sqrt(ratios[0] * ratios[1]))


def kept(path: Path) -> dict[Setting, list[Row]]:
    """What was measured so far."""
    found: dict[Setting, list[Row]] = defaultdict(list)
    if path.is_file():
        with path.open(newline="") as opened:
            for said in csv.DictReader(opened):
                types = {one.name: {"int": int, "float": float}.get(str(one.type), str) for one in fields(Row)}
                row = Row(**{name: types[name](value) for name, value in said.items()})
                found[row.setting].append(row)
    return found


def report(found: dict[Setting, list[Row]]) -> None:
    """The figures, and every setting that misses a target."""
    ordered = {setting: sorted(rows, key=lambda row: row.place) for setting, rows in found.items()}
    regrets = np.array([regret(rows) for rows in ordered.values()])
    chosen = np.array([len(rows) > 1 for rows in ordered.values()])
    print(
        f"{len(ordered)} settings, {chosen.sum()} with a choice: the first within 1.3 times the best in "
        f"{np.mean(regrets <= 1.3):.1%} of all and {np.mean(regrets[chosen] <= 1.3):.1%} of these, at worst "
        f"{regrets.max():.2f} times"
    )
    firsts = [rows[0] for rows in ordered.values()]
    for name, rows in (("first choices", firsts), ("all measured", [row for all in ordered.values() for row in all])):
        ratio = np.array([row.forecast / row.true for row in rows])
        told = [row for row in rows if not math.isnan(row.relative)]
        inside = np.mean([row.low <= row.relative <= row.high for row in told])
        below = np.mean([row.relative < row.low for row in told])
        print(
            f"{name}: {len(rows)} forecasts; within 25% in {np.mean((ratio >= 0.8) & (ratio <= 1.25)):.0%}, more than "
            f"twice too low {np.mean(ratio < 0.5):.1%}, too high {np.mean(ratio > 2):.1%}, thrice "
            f"{np.mean(ratio > 3):.1%} ({ratio.min():.2f} to {ratio.max():.1f}); relative error in its range "
            f"{inside:.0%} of {len(told)}, below it {below:.0%}; 95% intervals hold "
            f"{np.mean([row.covered for row in rows]):.1%}"
        )
    for (setting, rows), cost in zip(ordered.items(), regrets, strict=True):
        ratios = [row.forecast / row.true for row in rows]
        if cost > 1.3 or min(ratios) < 0.5 or ratios[0] > 3 or not 0.9 <= rows[0].covered <= 0.99:
            said = ", ".join(
                f"{row.mechanism} {row.true:.2e} ({ratio:.2f}, {row.covered:.0%})"
                for row, ratio in zip(rows, ratios, strict=True)
            )
            asked = f"{setting.question} {setting.factor:g} ε={setting.epsilon:g} δ={setting.delta:g}"
            print(f"  {setting.set}, {setting.records}, {asked}: regret {cost:.2f}; {said}")


def main() -> None:
    """Measure settings until the processor seconds are used up, and print what they come to."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", nargs="?", type=Path, help="of Parquet files")
    options.add_argument("--out", type=Path, required=True, help="a CSV file that is continued")
    options.add_argument("--cpu", type=float, default=600.0, help="processor seconds")
    options.add_argument("--releases", type=int, default=10)
    options.add_argument("--set", action="append", help="only these sets")
    options.add_argument("--begin", type=int, default=0, help="with a later setting, as many as were looked at before")
    given = options.parse_args()
    sets = {one.name: one for one in public_sets(given.folder) if not given.set or one.name in given.set}
    found, names = kept(given.out), [one.name for one in fields(Row)]
    start = process_time()
    for setting in settings(list(sets.values()))[given.begin :]:
        if process_time() - start >= given.cpu:
            break
        if setting in found or not (rows := list(measured(setting, sets[setting.set], given.releases))):
            continue
        found[setting] = rows
        begun = given.out.is_file()
        with given.out.open("a", newline="") as opened:
            writer = csv.DictWriter(opened, names)
            if not begun:
                writer.writeheader()
            writer.writerows(asdict(row) for row in rows)
    for name, some in (
        ("sets that something was tuned on", {one: rows for one, rows in found.items() if one.set in TUNED_ON}),
        ("other sets", {one: rows for one, rows in found.items() if one.set not in TUNED_ON}),
    ):
        if some:
            print(f"{name}:")
            report(some)


if __name__ == "__main__":
    main()
