"""Trials of everything that is registered: methods of training and the chosen classifier, and local reports.

A method that is registered (`core.models.training`) is a trial by that alone. What is compared is the model's file, the
ledger, and all that is said on the way. Every oracle, sketch, search, survey and the poll's store is tried through the
doors that devices use.

In the local model each person's report is a draw of its own, and neighbours differ in one person's value. Whatever else
a report has, the row, group, cohort or hash function, is drawn before the value is looked at, and so must be the same
for both; what speaks for the value keeps exactly the odds of its weights (`core.privacy.replay.laws`). Reports of all
other people are there too, as a device that looked at others would be found by that.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from ..domain import Domain
from ..domain.categorical import Categorical
from ..domain.numeric import Numeric
from ..errors import RequestError
from ..geometry.kernels import KERNELS
from ..local.heavy_hitters import Alphabet
from ..local.local_race import EXACT, CellReports
from ..local.local_release import write_again, write_kept, write_reports
from ..local.oracles.local_hashing import FastHashing
from ..local.oracles.oracle import ORACLES, oracle
from ..local.oracles.rappor import Rappor
from ..local.poll_store import ASKED_BY_BROWSERS, Polls
from ..local.survey import FINDERS, SKETCHES, AnySurvey, OpenSurvey, RecordSurvey, Survey, TextSurvey, sketch
from ..local.text_searches import PrivTrie
from ..models.classifier_choice import choose_classifier
from ..models.linear_models import LinearModel
from ..models.training import METHODS, NUMBER_METHODS, Trainer, train, trainer_of
from ..privacy.budget import EACH_RECORD, Budget, Neighbours, PrivacyUnit
from ..releases.payment import payer_of
from ..sketches.race import Race
from ..sources import open_source
from .replaying import Release, World
from .trials import BUDGETS, UNKNOWN, Pair, Trial, pairs

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
        # Scores are compared by what is released, so few records are planned for; counts are bought for many alone.
        planned = round(ENOUGH) if getattr(trainer, "counted", False) else RECORDS
        paid: dict[str, Any] = {"ledger": str(world.ledger), "dataset": "made up"}
        model = train(records, LABEL, domain, budget, method, records=planned, curves=curves, waves=waves, **paid)
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


EPSILONS = ("0.5", "3")
VALUE = "value"
SEED = 7
# Of any characters: none, one, the longest, what nobody expects, what a spreadsheet takes for a formula.
TEXTS = ("", "a", "d" * 40, "\N{GRINNING FACE} of nobody's list", "=1+1", "a")
WORDS = ("", "a", "d" * 40, "abcd", "ddd", "a")  # Of the letters a to d.
DEVICES = 3  # Who report beside the one whose value differs.


@dataclass(frozen=True)
class LocalTrial(Trial):
    """A trial whose neighbours differ in the value of one person, who stands where they stood."""

    values: tuple[Any, ...] = ()  # Hostile values: the first, the last, and whatever is odd.

    def pairs(self) -> Iterator[Pair]:
        """Every value beside every other, in the middle of people who have the first and the last."""
        others = [self.values[0], self.values[-1], self.values[0]][:DEVICES]
        for one, other in permutations(dict.fromkeys(self.values), 2):
            first, second = (
                pd.DataFrame({VALUE: pd.Series([*others[:2], value, *others[2:]])}) for value in (one, other)
            )
            yield Pair("somebody's value is another", first, second)


def local_trial(name: str, epsilon: object, values: Sequence[Any], made: Release) -> LocalTrial:
    """A trial that nobody pays for."""
    budget = Budget(Decimal(str(epsilon)), 0, Neighbours.REPLACE_ONE)
    return LocalTrial(f"{name}, ε = {epsilon}", Domain.of(value=(0, 1)), budget, made, paid=False, values=tuple(values))


def _in_a_file(survey: AnySurvey, read: Callable[[pd.Series], Any]) -> Release:
    """Reports as `local privatise` writes them, and what the collector counts."""

    def made(records: pd.DataFrame, world: World) -> object:
        with (world.out / "reports.parquet").open("wb") as file:
            return write_reports(survey, [read(records[VALUE])], file)

    return made


def _places(values: pd.Series) -> np.ndarray:
    return values.to_numpy(np.int64)


def oracles(epsilons: Sequence[str] = EPSILONS) -> Iterator[LocalTrial]:
    """Every registered oracle, in domains of few values and of more than a word has bits."""
    for name in ORACLES:
        for epsilon in epsilons:
            for size in (3, 70):
                one = oracle(name, size, epsilon)
                if isinstance(one, FastHashing):
                    one = replace(one, seed=SEED)
                survey = Survey("How many?", tuple(f"answer {place}" for place in range(size)), one)
                yield local_trial(
                    f"{name} of {size} values", epsilon, (0, size // 2, size - 1), _in_a_file(survey, _places)
                )


def sketches(epsilons: Sequence[str] = EPSILONS) -> Iterator[LocalTrial]:
    """Every registered sketch of texts; of cells, by every oracle that may report them."""
    for epsilon in epsilons:
        for name, kind in SKETCHES.items():
            ways: list[dict[str, object]] = [{"cohorts": 4, "width": 70, "hashes": 2}]
            if not issubclass(kind, Rappor):
                ways = [{"rows": 3, "width": 8, "oracle": each} for each in ORACLES]
            for way in ways:
                survey = OpenSurvey("Which?", sketch(name, epsilon, seed=SEED, **way))
                made = _in_a_file(survey, survey.keys)
                yield local_trial(f"{name} {way.get('oracle', '')}".strip(), epsilon, TEXTS, made)


def repeated(epsilons: Sequence[str] = EPSILONS, times: int = 3) -> Iterator[LocalTrial]:
    """What devices keep for ever, and several reports of it: one promise for all together."""
    for epsilon in epsilons:
        one = Rappor(Decimal(epsilon), SEED, 70, 2, 4, 0.75, 0.25)
        survey = OpenSurvey("Which?", one)

        def made(records: pd.DataFrame, world: World, survey: OpenSurvey = survey) -> object:
            kept = world.out / "kept.parquet"
            with kept.open("wb") as file:
                write_kept(survey, [survey.keys(records[VALUE].tolist())], file)
            for time in range(times):
                with (world.out / f"reports {time}.parquet").open("wb") as file:
                    write_again(survey, kept, file)
            return None

        yield local_trial("rappor, kept and sent again", epsilon, TEXTS, made)


def searches(epsilons: Sequence[str] = EPSILONS) -> Iterator[LocalTrial]:
    """Every search for frequent texts, and the one that asks in rounds."""
    for epsilon in epsilons:
        for length in (4, 20):  # keys as they are, and hashed
            alphabet = Alphabet("abcd", length, SEED)
            for name, kind in FINDERS.items():
                survey = TextSurvey("Which?", kind(alphabet, Decimal(epsilon), 2))
                made = _in_a_file(survey, lambda texts: texts.tolist())
                yield local_trial(f"{name} of {length} letters", epsilon, WORDS, made)
            yield local_trial(f"privtrie of {length} letters", epsilon, WORDS, _in_rounds(PrivTrie(alphabet, epsilon)))  # type: ignore[arg-type]


def _in_rounds(search: PrivTrie) -> Release:
    """A search that asks four devices one after the other, each once."""

    def made(records: pd.DataFrame, world: World) -> object:
        codes, asked = search.alphabet.codes(records[VALUE].tolist()), [0]

        def ask(length: int, people: int) -> np.ndarray:
            mine = codes[asked[0] : asked[0] + people]
            asked[0] += len(mine)
            return search.report(mine, length)

        people = 10 * len(codes) * search.alphabet.length
        return search.find(ask, people).to_dict("list")

    return made


def records_reported(epsilons: Sequence[str] = EPSILONS) -> Iterator[LocalTrial]:
    """Records by the cells of a RACE sketch, by every oracle whose error is exact."""
    domain = Domain.of(value=(0, 1))
    for epsilon in epsilons:
        for name in EXACT:
            race = Race(domain, KERNELS["euclidean"](bandwidth=0.25), rows=4, width=8, seed=SEED)  # type: ignore[call-arg]
            one = CellReports.of(race, epsilon, name)
            survey = RecordSurvey("Where?", one)

            def read(values: pd.Series, one: CellReports = one) -> np.ndarray:
                return values.to_numpy(float)[:, np.newaxis]

            yield local_trial(f"race by {name}", epsilon, (0.0, 0.4, 1.0), _in_a_file(survey, read))


def polled(epsilons: Sequence[str] = EPSILONS) -> Iterator[LocalTrial]:
    """What the server of a poll keeps of the reports that browsers send, counts and hands out."""
    for epsilon in epsilons:
        for name in ASKED_BY_BROWSERS:
            survey = Survey.of("Which?", [f"answer {place}" for place in range(5)], name, epsilon)

            def made(records: pd.DataFrame, world: World, survey: Survey = survey) -> object:
                polls = Polls(world.folder / "home" / "polls.sqlite")
                poll = polls.make(survey)
                for place, report in enumerate(survey.oracle.privatise(_places(records[VALUE]))):
                    polls.take(poll.id, f"browser-{place}", np.atleast_1d(report).tolist())
                polls.export(poll.id, world.out / "reports.parquet")
                counted = polls.counted(poll.id)
                return None if counted is None else counted.table().to_dict("list")

            yield local_trial(f"a poll by {name}", epsilon, (0, 2, 4), made)


def reports(epsilons: Sequence[str] = EPSILONS) -> Iterator[LocalTrial]:
    """Everything that is reported locally."""
    for each in (oracles, sketches, repeated, searches, records_reported, polled):
        yield from each(epsilons)
