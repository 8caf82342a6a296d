"""How a command ends: an exit code, and one sentence on standard error when it is not 0.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import BudgetError, RequestError
from ..runtime.faults import DEBUG, TOO_LITTLE
from ..runtime.transient import sweep
from .output import say

DONE, FAULT, REQUEST, BUDGET, STOPPED, TERMINATED = 0, 1, 2, 3, 130, 143
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
    if code == STOPPED:  # what Typer makes of a KeyboardInterrupt
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
        return TERMINATED if _signal == signal.SIGTERM else STOPPED
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
