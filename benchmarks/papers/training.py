"""The tables of Iyengar et al. (S&P 2019), and the regressions of AdaSSP (Wang 2018): trained models against epsilon.

Classes are predicted by every method of `core.models.training`, and by approximate minima perturbation with its
published constants; one record is replaced, and δ = 1/n² of the training records, as in the paper. Numbers are
predicted by every method for them, and by AdaSSP with its three releases calibrated exactly. Nothing is tuned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from core.domain import Categorical, Domain, Numeric, Vector
from core.models.amp import ApproximateMinima
from core.models.records import Task
from core.models.training import METHODS, NUMBER_METHODS, trainer_of
from core.privacy.budget import Budget
from core.privacy.calibration import calibrate_gaussian
from core.privacy.neighbours import Neighbours, Sensitivity
from core.privacy.noise.randomness import SeededSource
from core.privacy.unit_shifts import gaussian_delta
from core.sources import open_source

from ..trained_classifiers import adult
from .pictures import Claim, Picture, Section, lines_figure, of_repetitions
from .work import DONE, EPSILONS, Record, Settings, Work

CLASSES, NUMBERS = "training", "regressions"
PUBLISHED, ADASSP = "amp-published", "adassp"
PAPER_AT = {"adult": ("0.1", 0.793), "mnist": ("1", 0.719)}
"""Where the paper has a figure for its own method, and which."""
SMALL = 1_500
FINE = 1 << 20
MEMORY = 3 << 30
FAILURE = 0.05


@dataclass(frozen=True)
class Labelled:
    """Records to train on and to test with, whose column `label` is predicted."""

    domain: Domain
    label: str
    train: pd.DataFrame
    test: pd.DataFrame


def _split(domain: Domain, frame: pd.DataFrame, quick: bool) -> Labelled:
    """A fifth to test with; the last column of the domain is predicted."""
    domain = replace(domain, outside="clamp", missing="refuse")  # so that the number of records is public
    shuffled = frame[list(domain.names)].sample(frac=1, random_state=1).reset_index(drop=True)
    shuffled = shuffled[:SMALL] if quick else shuffled
    tested = len(shuffled) // 5
    return Labelled(domain, domain.names[-1], shuffled[tested:], shuffled[:tested])


def _made_up(columns: int, records: int, kind: str) -> tuple[Domain, pd.DataFrame]:
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


def _mnist(path: Path) -> tuple[Domain, pd.DataFrame]:
    table = pq.read_table(path)
    images = [np.frombuffer(one, np.uint8).astype(np.float64) for one in table["image"].to_pylist()]
    digits = tuple(str(digit) for digit in range(10))
    domain = Domain((Vector("image", len(images[0]), 0, 255), Categorical("label", digits)))
    return domain, pd.DataFrame({"image": images, "label": [str(one) for one in table["label"].to_pylist()]})


@lru_cache(maxsize=2)
def sets(kind: str, folder: Path | None, quick: bool) -> dict[str, Labelled]:
    """What there is by name: two that are made up always, and those of the papers that are in the folder."""
    found = {f"made up, {columns} columns": _split(*_made_up(columns, 10_000, kind), quick) for columns in (20, 200)}

    def there(name: str) -> Path | None:
        path = None if folder is None else folder / f"{name}.parquet"
        return path if path is not None and path.is_file() else None

    if kind == CLASSES:
        if path := there("adult"):
            data = adult(pd.read_parquet(path))
            frame = pd.concat([data.train, data.test]).assign(income=lambda one: one["income"].astype(str))
            found["adult"] = _split(data.whole_domain, frame, quick)
        if path := there("mnist"):
            domain, frame = _mnist(path)
            found["mnist"] = _split(domain, frame, quick)
    elif path := there("airfoil"):
        frame = pd.read_parquet(path).astype(np.float64)
        frame = frame[[*frame.columns.drop("sound_pressure_db"), "sound_pressure_db"]]
        ends = ((name, math.floor(frame[name].min()), math.ceil(frame[name].max())) for name in frame)
        domain = Domain(tuple(Numeric(name, low, max(high, low + 1)) for name, low, high in ends))
        found["airfoil"] = _split(domain, frame, quick)
    return found


def methods(kind: str) -> tuple[str, ...]:
    """Keys of all that take part."""
    return (*METHODS, PUBLISHED) if kind == CLASSES else (*NUMBER_METHODS, ADASSP)


def first(kind: str, settings: Settings) -> list[Work]:
    """Every method at every promise; the δ is that of the records, and 10⁻⁶ where numbers are predicted."""
    return list(_first(kind, settings))


def _first(kind: str, settings: Settings) -> Iterator[Work]:
    for name, data in sets(kind, settings.data, settings.quick).items():
        delta = f"{1.0 / len(data.train) ** 2:.3g}" if kind == CLASSES else "1e-6"
        for method in methods(kind):
            for epsilon in settings.epsilons(EPSILONS):
                for repetition in range(settings.repetitions):
                    yield Work(kind, name, method, None, epsilon, delta, repetition, False, settings.quick)


def measure(work: Work, settings: Settings) -> dict:
    """The share that is right of the test part, or the mean squared error as a share of that of the mean."""
    data = sets(work.experiment, settings.data, work.quick)[work.data]
    data = replace(data, train=data.train[: max(50, int(work.share * len(data.train)))])
    relation = Neighbours.REPLACE_ONE if work.experiment == CLASSES else Neighbours.ADD_REMOVE
    budget = Budget(work.epsilon, work.delta, relation)
    if work.method == ADASSP:
        return {"value": _adassp(data, budget, work.repetition)}
    trainer = (
        ApproximateMinima(data.domain, data.label, constants="published")
        if work.method == PUBLISHED
        else trainer_of(work.method, data.domain, data.label)
    )
    model = trainer.fit(open_source(data.train), budget, noise_source=SeededSource(work.repetition))
    points = np.concatenate([data.domain.encode(batch) for batch in open_source(data.test).batches(data.domain)])
    score = trainer.score(model, points)
    return {"value": score if work.experiment == CLASSES else 1.0 - score}


def _adassp(data: Labelled, budget: Budget, seed: int) -> float:
    """AdaSSP, each of three releases with √3 times the noise of one, in floating point as nothing here is released."""
    task = Task(data.domain, data.label)
    parts = []
    for frame in (data.train, data.test):
        points = np.concatenate([data.domain.encode(batch) for batch in open_source(frame).batches(data.domain)])
        units, goals = task.encoded(points, FINE)
        parts.append((units / FINE, goals / FINE))
    (train, wanted), (test, truth) = parts
    unit = Sensitivity(1 << 20, 1 << 40)
    exact = calibrate_gaussian(unit, Fraction(budget.epsilon), Fraction(budget.delta)).variance
    noise, size = math.sqrt(3.0 * exact) / (1 << 20), train.shape[1]
    reach, random = 1.0 + task.reach**2, np.random.default_rng(seed)
    least = np.linalg.eigvalsh(train.T @ train)[0] + reach * noise * (random.normal() - 1.64)
    ridge = max(0.0, reach * noise * math.sqrt(size * math.log(2 * size**2 / FAILURE)) - max(0.0, least))
    symmetric = np.triu(random.normal(size=(size, size)))
    symmetric += np.triu(symmetric, 1).T
    products = train.T @ train + reach * noise * symmetric + ridge * np.eye(size)
    weights = np.linalg.solve(products, train.T @ wanted + math.sqrt(reach) * noise * random.normal(size=size))
    return float(np.mean((np.clip(test @ weights, -1.0, 1.0) - truth) ** 2) / truth.var())


def section(kind: str, settings: Settings, records: list[Record]) -> Section:
    """A panel a set, and what of the papers came out."""
    panels, means = {}, {}
    for name in dict.fromkeys(record.work.data for record in records):
        lines = []
        for method in methods(kind):
            found: dict[float, list[float]] = {}
            for one in records:
                if (one.outcome, one.work.data, one.work.method) == (DONE, name, method):
                    found.setdefault(float(one.work.epsilon), []).append(one.found["value"])
            if found:
                lines.append(of_repetitions(method, method, found))
                means[name, method] = {place: float(np.mean(values)) for place, values in found.items()}
        panels[name] = lines
    y = "right" if kind == CLASSES else "squared error, of that of the mean"
    figure = lines_figure(panels, {key: key for key in methods(kind)}, "ε", y, log_y=False)
    caption = "On held-out records; bands hold 80% of the repetitions. A method without a curve takes too long."
    names = ", ".join(sets(kind, settings.data, settings.quick))
    wanting = "Adult, MNIST, KDD99 and Covertype" if kind == CLASSES else "the UCI sets"
    about = f"Of the paper's sets ({wanting}) those in the folder take part; there are: {names}. Nothing is tuned."
    title, source = (
        ("Training under a promise", "Practical private convex optimisation (S&P 2019), tables 3 and 4")
        if kind == CLASSES
        else ("Numbers predicted under a promise", "AdaSSP (UAI 2018), table 2")
    )
    claims = _of_classes(means) if kind == CLASSES else _of_numbers(means)
    return Section(title, source, (about,), tuple(claims), (Picture(caption, figure),))


def _of_classes(means: dict[tuple[str, str], dict[float, float]]) -> Iterator[Claim]:
    for name, (epsilon, published) in PAPER_AT.items():
        at = {
            method: found[float(epsilon)]
            for (of, method), found in means.items()
            if of == name and float(epsilon) in found
        }
        if at:
            best = max(at, key=lambda method: at[method])
            said = f"{best} gets {at[best]:.1%} here, untuned; all: " + ", ".join(f"{k} {v:.1%}" for k, v in at.items())
            yield Claim(f"The paper's method gets {published:.1%} of {name} at ε = {epsilon}.", None, f"{said}.")
    spent = 0.99 * (1.0 - _share(1.0))
    yield Claim(
        "The paper's SVM keeps ε = 1.",
        False,
        "Its hinge of width 0.1 curves by 5 L², and its constants reckon with L², so it spends five times its part "
        f"for the change of volume: ε = {1.0 + 4.0 * spent:.2f}.",
    )


def _share(epsilon: float) -> float:
    """φ of the hyper-parameter-free method."""
    return max(min(0.88671 + 0.0186607 / epsilon**0.372906, 0.99), 1.0 - 1.0 / epsilon + 0.001)


def _of_numbers(means: dict[tuple[str, str], dict[float, float]]) -> Iterator[Claim]:
    for name in dict.fromkeys(of for of, _ in means):
        rival = means.get((name, ADASSP), {})
        best = {
            place: min(means[name, key][place] for key in NUMBER_METHODS if place in means.get((name, key), {}))
            for place in rival
        }
        if best:
            said = "; ".join(f"ε = {place:g}: {best[place]:.3f} against {rival[place]:.3f}" for place in sorted(best))
            holds = all(best[place] > rival[place] for place in best)
            yield Claim(
                f"AdaSSP does best ({name}).", holds, f"The best of ours beside AdaSSP, exactly calibrated. {said}."
            )
    noise = math.sqrt(math.log(4.0 / 1e-6))
    yield Claim(
        "Sufficient statistics with noise √log(4/δ)/ε keep (1, 10⁻⁶).",
        False,
        f"Two sums with such noise keep δ = {gaussian_delta(1.0, math.sqrt(2.0) / noise):.1e}.",
    )


def prepare_of(kind: str) -> Callable[[Work, Settings], object]:
    """Reads what a piece of work is about, outside its time."""
    return lambda work, settings: sets(kind, settings.data, work.quick)
