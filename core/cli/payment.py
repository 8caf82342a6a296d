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
from .exit_codes import FAULT, TERMINATED, Unfinished, code_of, interrupt, sentence_of
from .output import say

if TYPE_CHECKING:
    from ..releases.payment import Payer


@dataclass
class Bill:
    """Who pays, once that is known."""

    payer: Payer | None = None

    @property
    def spent(self) -> bool | None:
        """Whether anything was spent, or None while it is being written down."""
        if self.payer is None:
            return False
        return None if self.payer.spent is None else bool(self.payer.gone)

    @property
    def promise(self) -> str:
        """What is promised, and so what the release costs, in words."""
        if self.payer is None:
            raise ValueError("Nobody is known to pay yet.")
        budget = self.payer.budget
        return f"ε = {budget.epsilon:f}" + ("" if budget.pure else f", δ = {budget.delta:f}")

    @property
    def price(self) -> str:
        """The same, and who pays; only what is bought first where no more was spent."""
        promise = self.promise
        if self.payer is not None and self.payer.before and self.payer.spent is False:
            promise = f"ε = {self.payer.before:f}"
        return promise if self.payer is None else f"{promise} of the data set {self.payer.dataset!r}"


@contextmanager
def billed() -> Iterator[Bill]:
    """Turn whatever stops a release into a sentence that says whether budget was spent.

    Once it is being spent, the first Ctrl-C or SIGTERM is put off: stopping then would only lose what was paid for.
    """
    bill = Bill()
    try:
        with _patient(bill):
            yield bill
    except (Exception, KeyboardInterrupt) as problem:
        sentence = sentence_of(problem)
        if bill.spent is not False:
            fate = "{} is spent all the same" if bill.spent else "the ledger knows whether {} is spent"
            code = TERMINATED if code_of(problem) == TERMINATED else FAULT
            raise Unfinished(_joined(sentence, fate.format(bill.price)), code) from problem
        if "spent" not in sentence:
            sentence = _joined(sentence, "nothing was spent and no file was written")
        raise Unfinished(sentence, code_of(problem)) from problem


@contextmanager
def _patient(bill: Bill) -> Iterator[None]:
    """Let a first Ctrl-C or SIGTERM wait for the end when budget is being spent, or was."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    asked = False

    def interrupted(number: int, _: object) -> None:
        nonlocal asked
        if asked or bill.spent is False:
            interrupt(number)
        asked = True
        say("The budget is being spent, so the release is finished first; to stop it again would lose it.")

    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
