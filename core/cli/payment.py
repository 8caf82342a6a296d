"""Who pays for a release, and the guarantee that a command which ends early says what it has cost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import RequestError
from .endings import FAULT, Unfinished, code_of, sentence_of
from .output import say

if TYPE_CHECKING:
    from ..privacy.accounting import Cost
    from ..privacy.budget import Budget
    from ..privacy.ledger import Ledger


@dataclass
class Account:
    """The data set that pays for one release.

    Attributes
    ----------
    ledger : where it is written down.
    dataset : its name there.
    budget : what this release promises and spends; the total of a data set that the ledger does not know yet.
    unit : who is protected, in the ledger's words.
    spent : whether anything was written down by this command.
    """

    ledger: Ledger
    dataset: str
    budget: Budget
    unit: str
    spent: bool = False

    def check(self, cost: Cost) -> None:
        """Raise what `spend` would raise now; for before long work."""
        self.ledger.check(self.dataset, cost, self.budget.neighbours, self.unit)

    def spend(self, cost: Cost, note: dict) -> None:
        """Write the cost down for ever; only draw noise when this has returned."""
        if self.ledger.register_if_new(self.dataset, cost, self.budget.neighbours, self.unit):
            say(
                f"The ledger did not know the data set {self.dataset!r} and registered it with a total of "
                f"{cost.describe()}, exactly what this release spends."
            )
        self.ledger.spend(self.dataset, cost, note, neighbours=self.budget.neighbours, unit=self.unit)
        self.spent = True

    @property
    def price(self) -> str:
        """What the release costs, in words."""
        delta = "" if self.budget.pure else f", δ = {self.budget.delta:f}"
        return f"ε = {self.budget.epsilon:f}{delta} of the data set {self.dataset!r}"


@dataclass
class Bill:
    """Who pays, once that is known."""

    account: Account | None = None


@contextmanager
def billed() -> Iterator[Bill]:
    """Turn whatever stops a release into a sentence that says whether budget was spent."""
    bill = Bill()
    try:
        yield bill
    except (Exception, KeyboardInterrupt) as problem:
        sentence, account = sentence_of(problem), bill.account
        if account is not None and account.spent:
            raise Unfinished(_joined(sentence, f"{account.price} is spent all the same"), FAULT) from problem
        if "spent" not in sentence:
            sentence = _joined(sentence, "nothing was spent and no file was written")
        raise Unfinished(sentence, code_of(problem)) from problem


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off the first Ctrl-C: once budget is spent, stopping would only lose what was paid for."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = False

    def once(*_: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        say("The budget is being spent, so the release is finished first; Ctrl-C again would lose it.")

    before = signal.signal(signal.SIGINT, once)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def dataset_name(source: str) -> str:
    """A name for a data set that was given none: the file's, without its folder and format.

    A table of a database file is named after both: ``people.duckdb::visits`` gives ``people.visits``.

    Raises
    ------
    RequestError
        When the source is a pattern or has no such name.
    """
    path, _, table = source.rpartition("::") if "::" in source and not Path(source).exists() else (source, "", "")
    name = Path(path.split("?")[0]).name
    for suffix in (".gz", *Path(name.removesuffix(".gz")).suffixes[-1:]):
        name = name.removesuffix(suffix)
    name = ".".join(part for part in (name, table) if part)
    if not name or any(mark in name for mark in "*?["):
        raise RequestError("The data set needs a name of its own, as the source is not one file; say --dataset NAME.")
    return name


def _joined(sentence: str, end: str) -> str:
    return f"{sentence.rstrip().removesuffix('.')}; {end}."
