"""Trials of everything that is trained: each method of the registries and the chosen classifier, by their doors.

A method that is registered (`core.models.training`) is a trial by that alone. What is compared is the model's file, the
ledger, and all that is said on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from ..domain import Domain
from ..domain.categorical import Categorical
from ..domain.numeric import Numeric
from ..errors import RequestError
from ..models.contest.choice import choose_classifier
from ..models.linear_models import LinearModel
from ..models.training import METHODS, NUMBER_METHODS, Trainer, train, trainer_of
from ..privacy.budget import Budget
from ..privacy.neighbours import EACH_RECORD, Neighbours, PrivacyUnit
from ..releases.payment import payer_of
from ..sources import open_source
from .hostile import UNKNOWN, Pair, pairs
from .replaying import World
from .trials import BUDGETS, Trial

LABEL = "label"
RECORDS = 12  # For which methods are planned: as many as hostile data sets have.
FEATURES = (Numeric("first", 0.0, 1.0), Numeric("second", -5.0, 5.0))
CROWD, CROWDED = 200, 0.875  # How many, and where within all bounds: inside of them, so that nothing about them is cut.
UNITS = (EACH_RECORD, PrivacyUnit("person", 2))
CHOSEN = "chosen classifier"
ENOUGH = 400.0  # Records that a choice is told of, so that more than one classifier is worth making.


@dataclass(frozen=True)
class TrainingTrial(Trial):
    """The training of a model, tried on hostile pairs that are about what is predicted, too."""

    def pairs(self) -> Iterator[Pair]:
        """Those of `Trial`, without records that the domain refuses: whoever says so wants to be told of them."""
        for pair in super().pairs():
            if not self.domain.missing == "refuse" or not _refused(pair):
                yield pair


def _refused(pair: Pair) -> bool:
    return any(
        bool(frame.isna().any(axis=None)) or UNKNOWN in frame.to_numpy() for frame in (pair.data, pair.neighbour)
    )


def domain_of(classes: int, unit: PrivacyUnit = EACH_RECORD, *, every: bool = False) -> Domain:
    """Columns to predict so many classes from, or a count where there are none.

    `classes`: How many. `unit`: Who is hidden. `every`: Whether a record that says too little is refused and none is
    left out, so that their number is public.
    """
    names = tuple(f"class {place}" for place in range(classes))
    target = Categorical(LABEL, names) if classes else Numeric(LABEL, 0.0, 10.0)
    return Domain((target, *FEATURES), unit=unit, missing="refuse" if every else "drop")


def alone_in_a_class(domain: Domain, neighbours: Neighbours) -> Iterator[Pair]:
    """Pairs in which all others are of one class, or at one end of what is predicted, and somebody is not."""
    for pair in pairs(domain, neighbours):
        same = domain.categories_of(LABEL)[0] if isinstance(domain.columns[0], Categorical) else 0.0
        frames = [frame.copy() for frame in (pair.data, pair.neighbour)]
        common = min(map(len, frames)) - domain.unit.records
        for frame in frames:
            frame.loc[: max(common, 0) - 1, LABEL] = same
        yield Pair(f"{pair.about}, and nobody else of that class", *frames)
        return


def against_a_crowd(domain: Domain, neighbours: Neighbours) -> Pair:
    """Many records alike, and somebody who says the opposite in every way: where choices and slopes are moved most."""
    for pair in pairs(domain, neighbours):
        if "at the lower corner" in pair.about:
            break
    theirs, nobody = pair.neighbour.iloc[-domain.unit.records :], pair.neighbour.iloc[:0]
    row = {LABEL: theirs[LABEL].iloc[0]} | {
        column.name: column.low + CROWDED * (column.high - column.low) for column in FEATURES
    }
    row[LABEL] = domain.categories_of(LABEL)[-1] if isinstance(domain.columns[0], Categorical) else 10.0
    crowd = pd.DataFrame([row] * CROWD, columns=list(domain.fields))
    if domain.unit.column is not None:
        crowd[domain.unit.column] = [f"person {place}" for place in range(CROWD)]
    first = nobody if neighbours is Neighbours.ADD_REMOVE else crowd.iloc[:1]
    frames = [pd.concat([crowd, more], ignore_index=True) if len(more) else crowd for more in (first, theirs)]
    return Pair("somebody against a crowd", *frames)


def of_method(method: str, budget: Budget, domain: Domain) -> Trial:
    """The training of a method by its name, paid for in a ledger and kept in a file.

    Two classes are told apart by straight lines; more of them, and numbers, by curves and waves where a method bends.

    RequestError when it cannot keep such a promise.
    """
    trainer = trainer_of(method, domain, LABEL)
    check_promise(trainer, budget)
    curves, waves = (1, 2) if trainer.bends and len(trainer.categories) != 2 else (0, 0)

    def made(records: pd.DataFrame, world: World) -> object:
        # Scores are compared by what is released, so few records are planned for.
        paid: dict[str, Any] = {"ledger": str(world.ledger), "dataset": "made up"}
        model = train(records, LABEL, domain, budget, method, records=RECORDS, curves=curves, waves=waves, **paid)
        model.save(world.out / "model.json")
        return model.rows

    return TrainingTrial(_named(method, budget, domain), domain, budget, made, _alone(domain, budget))


def check_promise(trainer: Trainer, budget: Budget) -> None:
    """RequestError where a trainer cannot keep a promise."""
    trainer.cost(budget)
    trainer._planned(budget)


def of_choice(budget: Budget, domain: Domain, records: float | None = ENOUGH) -> Trial:
    """The classifier that is chosen among several, with what is bought before it."""

    def made(frame: pd.DataFrame, world: World) -> object:
        payer = payer_of(str(world.ledger), "made up", budget, domain.unit)
        file = choose_classifier(open_source(frame), domain, LABEL, budget, payer, records)
        if isinstance(file, LinearModel):
            file.save(world.out / "model.json")
        else:
            file.save(world.out / "release.npz")
        return None

    return TrainingTrial(_named(CHOSEN, budget, domain), domain, budget, made, _alone(domain, budget))


def _alone(domain: Domain, budget: Budget) -> Callable[[], Iterable[Pair]]:
    def worst() -> Iterator[Pair]:
        yield from alone_in_a_class(domain, budget.neighbours)
        if domain.unit.column is None:
            yield against_a_crowd(domain, budget.neighbours)

    return worst


def _named(what: str, budget: Budget, domain: Domain) -> str:
    said = [what, str(budget.neighbours), "δ" if budget.delta else "pure"]
    said += [f"{domain.unit.records} records a person"] if domain.unit.column else []
    return ", ".join(
        [*said, f"{len(domain.categories_of(LABEL))} classes"] if _classes(domain) else [*said, "a number"]
    )


def _classes(domain: Domain) -> bool:
    return isinstance(domain.columns[0], Categorical)


def trainings(budgets: Iterable[Budget] = BUDGETS, units: Iterable[PrivacyUnit] = UNITS) -> Iterator[Trial]:
    """Every registered method and the choice, under every promise and for everybody whom it can hide."""
    budgets = tuple(budgets)
    for unit in units:
        for known, sizes in ((METHODS, (2, 3)), (NUMBER_METHODS, (0,))):
            for method in known:
                for classes in sizes:
                    yield from _of_all(method, budgets, classes, unit)
    for budget in budgets:
        yield of_choice(budget, domain_of(2))


def _of_all(method: str, budgets: Iterable[Budget], classes: int, unit: PrivacyUnit) -> Iterator[Trial]:
    """One method under every promise, where records may be left out, or else where none may be."""
    for budget in budgets:
        for every in (False, True):
            try:
                yield of_method(method, budget, domain_of(classes, unit, every=every and unit.column is None))
            except RequestError:
                continue
            break


def quick(trials: Iterable[Trial]) -> Iterator[Trial]:
    """One trial of every method, the first under each relation, for tests that run at every change."""
    seen: set[tuple[str, str]] = set()
    for trial in trials:
        key = trial.name.split(",")[0] + str(_classes(trial.domain)), str(trial.budget.neighbours)
        if key not in seen:
            seen.add(key)
            yield replace(trial)
