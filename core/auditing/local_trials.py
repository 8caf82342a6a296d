"""Local reports on tape: every oracle, sketch, search, survey and the poll's store, through the doors that devices use.

In the local model each person's report is a draw of its own, and neighbours differ in one person's value. Whatever else
a report has, the row, group, cohort or hash function, is drawn before the value is looked at, and so must be the same
for both; what speaks for the value keeps exactly the odds of its weights (`core.privacy.replay.laws`). Reports of all
other people are there too, as a device that looked at others would be found by that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from ..domain import Domain
from ..geometry.kernels import KERNELS
from ..local.heavy_hitters import Alphabet
from ..local.local_race import EXACT, CellReports
from ..local.oracles.local_hashing import FastHashing
from ..local.oracles.oracle import ORACLES, oracle
from ..local.poll.poll_store import ASKED_BY_BROWSERS, Polls
from ..local.reports import write_again, write_kept, write_reports
from ..local.sketches.rappor import Rappor
from ..local.survey import FINDERS, SKETCHES, AnySurvey, OpenSurvey, RecordSurvey, Survey, TextSurvey, sketch
from ..local.text_searches import PrivTrie
from ..privacy.budget import Budget
from ..privacy.neighbours import Neighbours
from ..sketches.hashed.race import Race
from .hostile import Pair
from .replaying import Release, World
from .trials import Trial

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
