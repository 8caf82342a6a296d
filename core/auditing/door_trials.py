"""The doors that a release comes out of, on tape: Python, files of every kind, the command line, the page, estimators.

A door may let out what the mechanism behind it keeps: in what it prints, logs, names a file, keeps in an attribute or
refuses. So the same small release is made through each, and everything that comes out is compared.

*Progress is no output.* How many rows were read so far is shown to the owner while they are read, in a bar on their own
terminal, in a line every ten seconds where there is none, and on their own page (`ReleaseTask.pace`): it is exact,
nobody else sees it, and it is gone afterwards. Releases of an audit take less than ten seconds and have no terminal, so
their standard error is compared whole; of the page, all but its pace.

`everything` is all that an exact audit goes through, by the names that people type.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ..domain import Categorical, Domain, Numeric, Reading
from ..errors import RequestError
from ..geometry.kernels import KERNELS
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..releases.job import release
from ..releases.topping_up import top_up
from ..sketches.race import Race
from ..sources import open_source
from . import registry_trials
from .purchase_trials import LABELLED, MANY, NAME, POINTS, purchases, roomy, said
from .replaying import INPUT, World
from .trials import BUDGETS, Pair, Trial, mechanisms, pairs

Main = Callable[[list[str]], object]  # The command line, called with its arguments; it ends by `SystemExit` or returns.
SMALL = ("--bandwidth", "0.5", "--rows", "8", "--width", "8", "--seed", "7")
BOUNDS = ("--bounds", "x=0:10", "--bounds", "y=0:1")
NUMBERS = "x", "y"


def _race(domain: Domain = POINTS, bandwidth: float = 0.5) -> Race:
    return Race(domain, KERNELS["euclidean"](bandwidth=bandwidth), rows=8, width=8, seed=7)  # type: ignore[call-arg]


def _csv(records: pd.DataFrame, world: World) -> object:
    return world.csv(records)


def _parquet(records: pd.DataFrame, world: World) -> object:
    path = world.folder / INPUT / "records.parquet"
    pq.write_table(_arrow(records, world), path)
    return path


def _arrow(records: pd.DataFrame, world: World) -> pa.Table:
    return pa.table({name: pa.array(records[name].astype(float)) for name in records.columns})


def _arrays(records: pd.DataFrame, world: World) -> object:
    return records.to_numpy(float)


SOURCES: Mapping[str, Callable[[pd.DataFrame, World], object]] = {
    "CSV": _csv,
    "Parquet": _parquet,
    "Arrow": _arrow,
    "an array": _arrays,
}


def sources(budget: Budget) -> Iterator[Trial]:
    """The same release of records in memory and in files."""
    for name, opened in SOURCES.items():

        def made(
            records: pd.DataFrame, world: World, opened: Callable[[pd.DataFrame, World], object] = opened
        ) -> object:
            found = release(_race(), opened(records, world), budget, ledger=str(world.ledger), dataset=NAME)
            found.save(world.out / "release.npz")
            return found.manifest

        yield Trial(said(f"a release of {name}", budget), POINTS, budget, made)


# Names with letters that are no bytes of ASCII, and numbers with a comma.
EXPORTED = Domain(
    (
        Categorical("city", ("Köln", "Bonn", "Zürich")),
        Numeric("fee", 0.0, 10.0, reading=Reading(format="decimal_comma")),
    )
)


def exported(budget: Budget) -> Iterator[Trial]:
    """A file as programs export it, where whoever lives in Zürich is in Windows-1252 and all others are in UTF-8.

    The bytes of a record hang on nothing but itself, and one may have the only ones that are no UTF-8.
    """

    def made(records: pd.DataFrame, world: World) -> object:
        path = world.folder / INPUT / "records.csv"
        lines = ["city;fee", *map(_line, records["city"], records["fee"])]
        path.write_bytes(b"".join(map(_encoded, lines)))
        found = release(_race(EXPORTED, 2.0), path, budget, ledger=str(world.ledger), dataset=NAME)
        found.save(world.out / "release.npz")
        return found.manifest

    def alone() -> Iterator[Pair]:
        others = pd.DataFrame({"city": ["Köln", "Bonn"] * 4, "fee": np.arange(8.0)})
        person = pd.DataFrame({"city": ["Zürich"], "fee": [1.5]})
        beside = others.iloc[:1] if budget.neighbours == "replace_one" else others.iloc[:0]
        yield Pair("the only bad byte", pd.concat([others, beside]), pd.concat([others, person]))

    yield Trial(said("a release of an exported CSV", budget), EXPORTED, budget, made, alone)


def _line(*values: object) -> str:
    texts = ("" if value is None or value != value else str(value) for value in values)
    return ";".join('"' + text.replace(".", ",").replace('"', '""') + '"' for text in texts)


def _encoded(line: str) -> bytes:
    return f"{line}\n".encode("cp1252" if "Zürich" in line else "utf-8", "replace")


COMMANDS: Mapping[str, tuple[str, ...]] = {
    "release": SMALL,
    "release of a count": ("--bandwidth", "0.5", "--width", "8", "--seed", "7", "--mechanism", "race"),
    "release of the recommended": ("--mechanism", "auto", "--records", "4000"),
    "release of bounds": (*SMALL, "--private-bounds", "x=0:10"),
    "release of a spread": ("--mechanism", "auto", "--kernel", "gaussian", "--records", "4000", "--scale", "box"),
    "release of distances": ("--norm", "l1"),
    "release of tables": ("--mechanism", "tables", "--records", "100"),
    "release of parts": ("--part", "density:x;bandwidth=0.5;rows=8", "--part", "distance:y"),
}


def commands(main: Main, budget: Budget) -> Iterator[Trial]:
    """`release` and what else pays, as a person types it: exit code, standard output and error, and every file."""
    promise = ["--epsilon", f"{budget.epsilon:f}", "--delta", f"{budget.delta:f}", "--neighbours", budget.neighbours]
    for name, further in COMMANDS.items():
        ends = BOUNDS[2:] if "--private-bounds" in further else BOUNDS
        arguments = ["release", *ends, *further, *promise, "--out", "release.npz", "--dataset", NAME]
        yield Trial(said(f"the command {name}", budget), POINTS, budget, _typed(main, arguments, budget))
    arguments = ["quantiles", *BOUNDS, *promise, "--quantile", "0.5", "--dataset", NAME]
    yield Trial(said("the command quantiles", budget), POINTS, budget, _typed(main, arguments, budget))


def _typed(main: Main, arguments: Sequence[str], budget: Budget) -> Callable[[pd.DataFrame, World], object]:
    command, *options = arguments

    def made(records: pd.DataFrame, world: World) -> object:
        try:
            return main([command, str(world.csv(records)), *options, "--ledger", roomy(world, budget, POINTS)])
        except SystemExit as end:
            return end.code

    return made


def page(budget: Budget) -> Iterator[Trial]:
    """What the page's job makes of an order that was confirmed."""
    from ..ui.release.release_task import ReleaseRequest, ReleaseTask

    def made(records: pd.DataFrame, world: World) -> object:
        total = replace(budget, epsilon=2 * budget.epsilon, delta=2 * budget.delta)
        book = Ledger(str(world.ledger))
        making = ReleaseTask(ReleaseRequest(open_source(records), _race(), budget, book, NAME, total))
        while making.read_on():
            pass
        making.finish()
        shown = making.stage.value, making.problem, making.remark, str(making.kept), making.spent
        return shown, None if making.release is None else making.release.manifest

    yield Trial(said("the page", budget), POINTS, budget, made)


def estimators(budget: Budget) -> Iterator[Trial]:
    """What `fit` leaves in an estimator, pickled as anyone may keep it."""
    from ..estimators import (
        PrivateCentroidClassifier,
        PrivateDistanceSum,
        PrivateKernelClassifier,
        PrivateKernelDensity,
    )

    promise = {"epsilon": budget.epsilon, "delta": budget.delta, "neighbours": budget.neighbours.value, "dataset": NAME}
    given: dict[str, Any] = promise | {"bounds": [(0, 10), (0, 1)], "random_state": 7}
    race = {"kernel": "euclidean", "bandwidth": 0.5, "rows": 8}
    labels = {"classes": ["a", "b", "c"]}
    for name, kind, more in (
        ("kernel density", PrivateKernelDensity, race),
        ("kernel density of a count", PrivateKernelDensity, race | {"rows": None}),
        ("kernel density of a spread", PrivateKernelDensity, {"records": int(MANY)}),
        ("distance sum", PrivateDistanceSum, {"records": 100}),
        ("kernel classifier", PrivateKernelClassifier, race | labels),
        ("centroid classifier", PrivateCentroidClassifier, labels | {"records": 100}),
    ):
        labelled = "classes" in more

        def made(
            records: pd.DataFrame,
            world: World,
            kind: Any = kind,
            more: dict[str, Any] = more,
            labelled: bool = labelled,
        ) -> object:
            fitted = kind(**given, **more, ledger=roomy(world, budget, POINTS))
            _fit(fitted, records, labelled)
            return pickle.dumps({name: value for name, value in vars(fitted).items() if name.endswith("_")})

        domain = Domain((LABELLED if labelled else POINTS).columns, missing="refuse")
        # Once beforehand: what a process remembers of public facts would be in the first of two pickles alone.
        _fit(kind(**(given | {"dataset": None}), **more), next(pairs(domain, budget.neighbours)).data, labelled)
        yield FittedTrial(said(f"the estimator of {name}", budget), domain, budget, made)


class FittedTrial(Trial):
    """A fit, of at least one record: scikit-learn's conventions ask an estimator to refuse an array of none."""

    def pairs(self) -> Iterator[Pair]:
        """All that have somebody on either side."""
        yield from (pair for pair in super().pairs() if len(pair.data) and len(pair.neighbour))


def _fit(fitted: Any, records: pd.DataFrame, labelled: bool) -> None:
    points = np.clip(records[list(NUMBERS)].to_numpy(float), [0, 0], [10, 1])
    if labelled:
        fitted.fit(points, records["class"].to_numpy(object))
    else:
        fitted.fit(points)


def topped_up(budget: Budget) -> Iterator[Trial]:
    """A pure release that is topped up twice, out of what was kept with it: in part, and then wholly."""
    first, *more = (budget.epsilon * part / 10 for part in (3, 2, 5))

    def made(records: pd.DataFrame, world: World) -> object:
        book = Ledger(str(world.ledger))
        book.register(NAME, budget.epsilon, budget.delta, budget.neighbours)
        found = release(_race(), records, replace(budget, epsilon=first), ledger=book, dataset=NAME)
        found.save(world.out / "first.npz")
        for place, epsilon in enumerate(more):
            found = top_up(found, records, epsilon, ledger=book, dataset=NAME)
            found.save(world.out / f"topped up {place}.npz")
        return found.manifest

    if budget.pure:
        yield Trial(said("topping up", budget), POINTS, budget, made)


def doors(main: Main | None, budgets: Sequence[Budget] = BUDGETS) -> Iterator[Trial]:
    """Every door; the command line where it is given, as it lies above an audit."""
    for budget in budgets:
        yield from sources(budget)
        yield from exported(budget)
        yield from page(budget)
        yield from estimators(budget)
        yield from topped_up(budget)
        if main is not None:
            yield from commands(main, budget)


def everything(budget: Budget, main: Main | None = None) -> Iterator[Trial]:
    """Every mechanism, purchase, door, trainer and local report, under one promise.

    `budget`: The promise; local reports have its ε, as nobody else's coins are trusted with a δ. `main`: The command
    line, to be audited as a door; left out when None.
    """
    yield from mechanisms([budget])
    yield from purchases([budget])
    yield from doors(main, [budget])
    yield from registry_trials.trainings([budget])
    yield from registry_trials.reports([str(budget.epsilon)])


def of_trainer(method: str, budget: Budget) -> list[Trial]:
    """The trainings by one method; RequestError where there is none, or none that can keep the promise."""
    found = list(registry_trials.trainings([budget]))
    return _named("chosen" if method == "choose" else method, found, "method of training")


def of_local(name: str, budget: Budget) -> list[Trial]:
    """The reports of one oracle, sketch or search; RequestError where there is none."""
    return _named(name, list(registry_trials.reports([str(budget.epsilon)])), "kind of local report")


def _named(name: str, found: Sequence[Trial], what: str) -> list[Trial]:
    words = [trial.name.replace(",", " ").split()[0] for trial in found]
    kept = [trial for trial, word in zip(found, words, strict=True) if word == name]
    if not kept:
        raise RequestError(
            f"There is no {what} {name!r} that keeps such a promise; there are: {', '.join(dict.fromkeys(words))}."
        )
    return kept
