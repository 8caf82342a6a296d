"""Who pays for a release, and the guarantee that a command which ends early says what it has cost.

What stopped releases have left on the disk is listed and removed by `checkpoints`, and `release` has options about it.

How a command ends: an exit code, and one sentence on standard error when it is not 0.

0    done
1    a fault of the program, or an audit that found a broken promise
2    the request cannot be met as it was made
3    the privacy budget does not allow it
130  stopped from the keyboard
143  ended by the system (SIGTERM)
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option
from typer.core import TyperGroup

from ..errors import BudgetError, RequestError
from ..formatting.numbers import count, listed
from ..runtime.faults import DEBUG, TOO_LITTLE
from ..runtime.transient import sweep
from .output import check_there, print_json, print_table, say
from .shared_options import PAYER, CommandGroup, DataOptions, LedgerOptions

if TYPE_CHECKING:
    from ..releases.engine.checkpoint import Checkpoint, Checkpoints
    from ..releases.engine.resuming import Keeping
    from ..releases.payment import LedgerAccount

DONE, FAULT, REQUEST, BUDGET, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
DatasetOption = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="The data set in the ledger; without it, the name of SOURCE. A data set that the ledger does not know is "
        "registered with exactly what this spends.",
        rich_help_panel=PAYER,
    ),
]
_signal: int | None = None  # The signal that ends the command, as the exception for it is the same for all.


class Unfinished(Exception):
    """A command that could not finish, with everything there is to say about it."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


class Commands(TyperGroup):
    """A group of commands that ends in one of the ways above and never in a traceback."""

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command; leaves the program unless ``standalone_mode`` is False."""
        if not standalone_mode:
            return super().main(*args, **options | {"standalone_mode": False})
        with _terminable():
            sweep()
            sys.exit(_ended(lambda: super(Commands, self).main(*args, **options | {"standalone_mode": False})))


def _ended(command: Callable[[], Any]) -> int:
    try:
        code = command() or DONE
    except Exception as problem:
        if os.environ.get(DEBUG) == "1":
            traceback.print_exc()
        sentence, code = sentence_of(problem), code_of(problem)
        say(sentence)
        return code
    if code == INTERRUPTED:  # what Typer makes of a KeyboardInterrupt
        say(sentence_of(KeyboardInterrupt()))
        return code_of(KeyboardInterrupt())
    return code


def interrupt(number: int, _: object = None) -> None:
    """Handle a signal: end the command where it stands, with the exit code of the signal."""
    global _signal
    _signal = number
    raise KeyboardInterrupt


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does, so that nothing private is left behind."""
    global _signal
    _signal = None
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def code_of(problem: BaseException) -> int:
    """The exit code that a problem ends in."""
    if isinstance(problem, Unfinished):
        return problem.code
    if isinstance(problem, KeyboardInterrupt):
        return TERMINATED if _signal == signal.SIGTERM else INTERRUPTED
    if isinstance(problem, BudgetError):
        return BUDGET
    return REQUEST if isinstance(problem, (RequestError, typer.TyperException)) else FAULT


def sentence_of(problem: BaseException) -> str:
    """What a person is told; an unforeseen exception is not quoted, as it may hold a value of the data."""
    if isinstance(problem, (Unfinished, RequestError)):
        return str(problem)
    if isinstance(problem, KeyboardInterrupt):
        ended = "Ended by the system" if _signal == signal.SIGTERM else "Stopped"
        return f"{ended} before it was done."
    if isinstance(problem, typer.TyperException):
        words = " ".join(problem.format_message().split()).removesuffix(".").replace(": Value error, ", ": ")
        context = getattr(problem, "ctx", None)
        return f"{words} (see '{context.command_path} --help')." if context else f"{words}."
    if isinstance(problem, MemoryError):
        return TOO_LITTLE
    return (
        f"A fault of the program ({type(problem).__name__}) stopped this; please report it with what is shown when the "
        f"environment variable {DEBUG} is 1, which may hold values of the data."
    )


@dataclass
class Bill:
    """Who pays, once that is known."""

    payer: LedgerAccount | None = None

    @property
    def spent(self) -> bool | None:
        """Whether anything was spent, or None while it is being written down."""
        if self.payer is None:
            return False
        return None if self.payer.spent is None else bool(self.payer.gone)

    @property
    def only_first(self) -> bool:
        """Whether no more was spent than on what is bought first."""
        return self.payer is not None and self.payer.spent is False

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
        if self.payer is not None and self.payer.before and self.only_first:
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
            code = code_of(problem) if bill.only_first or code_of(problem) == TERMINATED else FAULT
            raise Unfinished(_joined(sentence, fate.format(bill.price)), code) from problem
        if "spent" not in sentence:
            sentence = _joined(sentence, "nothing was spent and no file was written")
        raise Unfinished(sentence, code_of(problem)) from problem


def check_source_there(source: str | None) -> str | None:
    """The name of private records; refused at once, and at no cost, where it plainly is a file that is not there."""
    if source is None:  # of a command that can do without
        return None
    with billed():
        return check_there(source)


SourceArgument = Annotated[
    str, Argument(metavar="SOURCE", help="Private records, as those of `release`.", callback=check_source_there)
]


@contextmanager
def _patient(bill: Bill) -> Iterator[None]:
    """Let a first Ctrl-C or SIGTERM wait for the end when budget is being spent, or was."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    asked = False

    def interrupted(number: int, _: object) -> None:
        nonlocal asked
        if asked or bill.spent is False or bill.only_first:
            interrupt(number)
        asked = True
        say("The budget is being spent, so the release is finished first; to stop it again would lose it.")

    before = {number: signal.signal(number, interrupted) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def check_sample(data: DataOptions, source: str, otherwise: str = "") -> None:
    """Refuse the private file where a public one is to say bounds."""
    if data.bounds_from_sample is not None and data.bounds_from_sample.resolve() == Path(source).resolve():
        raise RequestError(
            "--bounds-from-sample names the private file itself, whose bounds would give people away; name a public "
            f"one{otherwise}."
        )


def dataset_name(source: str, known: Collection[str]) -> str:
    """A name for a data set that was given none, as the app gives it; RequestError where the source has none.

    `known`: data sets of the ledger.
    """
    from ..privacy.ledger.ledger_records import named_after

    name = named_after(source, known)
    if name is None:
        raise RequestError("The data set needs a name of its own, as the source is not one file; say --dataset NAME.")
    return name


def named_after_source(source: str, books: LedgerOptions, columns: list[str]) -> str:
    """The data set that is named after a source, with a word about those that it may be a renamed copy of."""
    from ..releases.payment import with_columns

    known = books.names()
    name = dataset_name(source, known)
    say(f"No --dataset was named, so the budget is that of the data set {name!r}, after the source.")
    if known and name not in known and (others := with_columns(books.open(), columns)):
        said = listed([repr(one) for one in others], 3, "or")
        say(f"Of the same columns was released before: if its people are those of {said}, name that, as --dataset.")
    return name


def warn_of_total(payer: LedgerAccount, total: str, what: str) -> None:
    """Say of a data set that was registered by the way that this was all it will ever have, where it was."""
    if not payer.registered:
        return
    others = [name for name in payer.ledger.names() if name != payer.dataset]
    twice = (
        f" If its people are in {listed([repr(one) for one in others], 3)} too, they have two budgets now."
        if others
        else ""
    )
    rest = "nothing" if payer.budget.pure else "hardly anything"  # with a δ prices add up to less than their sum
    say(
        f"Warning: the ledger did not know the data set {payer.dataset!r} and registered it with a total of {total}, "
        f"exactly what {what}, so {rest} is left for another.{twice}"
    )


def _joined(sentence: str, end: str) -> str:
    return f"{sentence.rstrip().removesuffix('.')}; {end}."


STOPPED = "A reading that is stopped"
commands = CommandGroup(
    help="See and remove what releases that were stopped have left on the disk: tables before noise, to go on from."
)


@dataclass(frozen=True)
class CheckpointOptions:
    """Whether a long reading is written down, so that the same command goes on after its process was killed."""

    no_checkpoint: Annotated[
        bool,
        Option(
            "--no-checkpoint",
            help="Keep nothing on the disk. Without this, a reading of more than a minute is written "
            "down beside the ledger, readable by you alone, until the release is saved.",
            rich_help_panel=STOPPED,
        ),
    ] = False
    fresh: Annotated[
        bool,
        Option(
            "--fresh",
            help="Start from the beginning, where the same command was stopped before.",
            rich_help_panel=STOPPED,
        ),
    ] = False

    def keeping(self, payer: LedgerAccount, any_seed: bool) -> Keeping | None:
        """What is asked of checkpoints of a release that a data set pays for; None when there are to be none."""
        from ..releases.engine.checkpoint import Checkpoints
        from ..releases.engine.resuming import Keeping, times_paid

        if self.no_checkpoint:
            return None
        return Keeping(
            Checkpoints.beside(payer.ledger.where),
            {"ledger": payer.ledger.where, "dataset": payer.dataset},
            lambda sketch: times_paid(payer.ledger, payer.dataset, sketch),
            any_seed=any_seed,
            fresh=self.fresh,
        )


@commands.command("list")
def list_checkpoints(payer: LedgerOptions, json: Annotated[bool, Option("--json", help="Print JSON.")] = False) -> None:
    """List what stopped releases have left."""
    found = _folder(payer).all()
    if json:
        print_json([{"name": name} | ({} if kept is None else _facts(kept)) for name, kept in found])
    elif not found:
        say("There are no checkpoints.")
    else:
        heads = ("checkpoint", "data set", "mechanism", "rows read", "written (UTC)")
        print_table(heads, [(name, *_cells(kept)) for name, kept in found])


@commands.command()
def remove(
    payer: LedgerOptions,
    names: Annotated[
        list[str] | None,
        Argument(metavar="[CHECKPOINT]...", help="Names that 'checkpoints list' shows; without one, all of them."),
    ] = None,
) -> None:
    """Remove what stopped releases have left; they start from the beginning then."""
    folder = _folder(payer)
    known = [name for name, _ in folder.all()]
    for name in names or ():
        if name not in known:
            raise RequestError(f"There is no checkpoint {name!r} in {str(folder.folder)!r}.")
    chosen = known if names is None else names
    for name in chosen:
        folder.remove(name)
    say(f"Removed {count(len(chosen), 'checkpoint')}.")


def _folder(payer: LedgerOptions) -> Checkpoints:
    from ..releases.engine.checkpoint import Checkpoints

    return Checkpoints.beside(payer.open().where)


def _facts(kept: Checkpoint) -> dict[str, object]:
    return {
        "dataset": kept.identity.get("payer", {}).get("dataset"),
        "mechanism": kept.identity.get("mechanism"),
        "files": kept.identity.get("files"),
        "rows": kept.rows,
        "written": kept.written,
    }


def _cells(kept: Checkpoint | None) -> tuple[str, ...]:
    if kept is None:
        return ("damaged", "", "", "")
    facts = _facts(kept)
    return str(facts["dataset"]), str(facts["mechanism"]), f"{kept.rows:,}", kept.written[:16].replace("T", " ")
