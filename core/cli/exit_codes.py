"""How a command ends: an exit code, and one sentence on standard error when it is not 0.

0    done
1    a fault of the program, or an audit that found a broken promise
2    the request cannot be met as it was made
3    the privacy budget does not allow it
130  stopped from the keyboard
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup

from ..errors import BudgetError, RequestError
from .output import say

DONE, FAULT, REQUEST, BUDGET, STOPPED = 0, 1, 2, 3, 130
DEBUG = "FROSTGLASS_DEBUG"


class Unfinished(Exception):
    """A command that could not finish, with everything there is to say about it.

    Parameters
    ----------
    sentence : str
        For a person.
    code : int
        Of the exit.
    """

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code


class Commands(TyperGroup):
    """A group of commands that ends in one of the ways above and never in a traceback."""

    def main(self, *args: Any, standalone_mode: bool = True, **options: Any) -> Any:
        """Run a command; leaves the program unless ``standalone_mode`` is False."""
        if not standalone_mode:
            return super().main(*args, standalone_mode=False, **options)
        sys.exit(_ended(lambda: super(Commands, self).main(*args, standalone_mode=False, **options)))


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
        say("Stopped before it was done.")
    return code


def code_of(problem: BaseException) -> int:
    """The exit code that a problem ends in."""
    if isinstance(problem, Unfinished):
        return problem.code
    if isinstance(problem, KeyboardInterrupt):
        return STOPPED
    if isinstance(problem, BudgetError):
        return BUDGET
    return REQUEST if isinstance(problem, (RequestError, typer.TyperException)) else FAULT


def sentence_of(problem: BaseException) -> str:
    """What a person is told; an unforeseen exception is not quoted, as it may hold a value of the data."""
    if isinstance(problem, (Unfinished, RequestError)):
        return str(problem)
    if isinstance(problem, KeyboardInterrupt):
        return "Stopped before it was done."
    if isinstance(problem, typer.TyperException):
        words = " ".join(problem.format_message().split()).removesuffix(".").replace(": Value error, ", ": ")
        context = getattr(problem, "ctx", None)
        return f"{words} (see '{context.command_path} --help')." if context else f"{words}."
    if isinstance(problem, MemoryError):
        return "There is not enough memory for this; ask for fewer rows or a smaller width."
    return (
        f"A fault of the program ({type(problem).__name__}) stopped this; please report it with what is shown when the "
        f"environment variable {DEBUG} is 1, which may hold values of the data."
    )
