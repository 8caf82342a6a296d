"""One piece of work: a method at one setting, one promise and one draw; and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import core

from .pictures import Section

DONE, LONG, REFUSED, ENDED = "done", "too long", "refused", "ended"
"""What can come of a piece of work; "ended" when it took its process with it, for want of memory as a rule."""

EPSILONS = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10")
QUICK_EPSILONS = ("0.1", "1")


@dataclass(frozen=True)
class Settings:
    """How the experiments are run.

    Attributes
    ----------
    data : a folder of the papers' data as Parquet files, or None for made-up data.
    out : where the records, the exact sums and the report are kept.
    quick : sizes so small that an experiment takes seconds.
    repetitions : reported draws of every method.
    methods : the only ones that take part; all when empty.
    seconds : most that one piece of work may take.
    promises : the only epsilons, as they are written; those of each experiment when empty.
    sets : the only data sets; all of each experiment when empty.
    """

    data: Path | None
    out: Path
    quick: bool = False
    repetitions: int = 10
    methods: tuple[str, ...] = ()
    seconds: float = 120.0
    promises: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()

    @property
    def tuning(self) -> int:
        """Draws on which each setting is tried."""
        return min(self.repetitions, 1 if self.quick else 3)

    def epsilons(self, usual: tuple[str, ...]) -> tuple[str, ...]:
        """Promises of an experiment that usually has these."""
        return self.promises or (QUICK_EPSILONS if self.quick else usual)

    def takes(self, method: str) -> bool:
        """Whether a method takes part."""
        return not self.methods or method in self.methods

    def has(self, data: str) -> bool:
        """Whether a data set takes part."""
        return not self.sets or data in self.sets


@dataclass(frozen=True)
class Work:
    """A method at one setting on one data set; numbers of the promise as they are written.

    Attributes
    ----------
    share : part of the records that it is done with; below 1 only to foretell how long all of them would take.
    """

    experiment: str
    data: str
    method: str
    size: int | None
    epsilon: str
    delta: str
    repetition: int
    tuning: bool = False
    quick: bool = False
    share: float = 1.0

    def key(self) -> str:
        """The same for the same work under the same version of the program."""
        return json.dumps([code_version(), *asdict(self).values()])


@dataclass(frozen=True)
class Record:
    """What came of a piece of work.

    Attributes
    ----------
    outcome : one of the four above.
    found : figures by name, of what is done; of what took too long, `limit` and perhaps `foretold`, in seconds.
    reason : why it was refused.
    """

    work: Work
    outcome: str
    found: dict = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper.

    Attributes
    ----------
    name : on the command line.
    title : for people.
    memory : bytes that a process needs for it, about.
    first : the work that needs no other.
    then : work that follows from what was found so far, such as sizes that were chosen; asked again until it has none.
    prepare : reads what a piece of work is about, exact sums included, in the same process and outside its time.
    measure : does one piece of work, in a process of its own.
    section : what is reported.
    trials : how many trials one piece of work is, each of which may take the usual time.
    """

    name: str
    title: str
    memory: int
    first: Callable[[Settings], list[Work]]
    then: Callable[[Settings, list[Record]], list[Work]]
    prepare: Callable[[Work, Settings], object]
    measure: Callable[[Work, Settings], dict]
    section: Callable[[Settings, list[Record]], Section]
    trials: int = 1


@cache
def code_version() -> str:
    """Twelve digits that change with every line of the library and of these experiments."""
    digest = hashlib.sha256()
    for folder in (Path(core.__file__).parent, Path(__file__).parent):
        for file in sorted(folder.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
