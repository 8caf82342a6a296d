"""What a log says of a fault of the program, and which problems are too little memory instead of a fault.

Of a fault a log has the type and where it happened, and none of its words. The message of an exception may quote what
was being read, as those of parsers, of NumPy and of databases do; a log is kept, copied and read by people who may not
see the data. So a server's log has the types of the exceptions that led to each other and the lines of code that they
passed, which is what is needed to find a fault.
"""

import errno
import logging
import os
import threading
import traceback
from collections.abc import Callable
from functools import cache
from typing import Any

# The environment variable that is 1 where faults are shown with their words, which may hold values of the data.
DEBUG = "FROSTGLASS_DEBUG"


def told(fault: BaseException) -> str:
    """A fault in words that hold no value: types and places, of what it came from as well."""
    lines, met = [], set[int]()
    one: BaseException | None = fault
    while one is not None and id(one) not in met:
        met.add(id(one))
        places = traceback.extract_tb(one.__traceback__)
        lines.append(type(one).__qualname__ + "".join(f"\n  {at.filename}:{at.lineno} in {at.name}" for at in places))
        one = one.__cause__ or one.__context__
    return "\nwhile handling ".join(lines)


@cache
def keep_values_out_of_logs() -> None:
    """From now on no log of this process, and no thread that ends in a fault, repeats what an exception says.

    It holds for every library's log, Streamlit's and the server's, as it is done where a record of a log is made. Does
    nothing where `DEBUG` is 1.
    """
    if os.environ.get(DEBUG) == "1":
        return
    logging.setLogRecordFactory(_silent(logging.getLogRecordFactory()))
    threading.excepthook = _ended


def _silent(make: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    """A maker of records whose exceptions, be they to be shown whole or put into the sentence, are told as above."""

    def made(*arguments: Any, **more: Any) -> logging.LogRecord:
        record = make(*arguments, **more)
        record.msg = _plain(record.msg)
        if isinstance(record.args, tuple):
            record.args = tuple(_plain(value) for value in record.args)
        elif record.args:
            record.args = {name: _plain(value) for name, value in record.args.items()}
        if record.exc_info and isinstance(record.exc_info[1], BaseException):
            # A text that is there already is written as it is, instead of the exception's own.
            record.exc_text, record.exc_info = told(record.exc_info[1]), None
        return record

    return made


def _plain(value: Any) -> Any:
    return type(value).__qualname__ if isinstance(value, BaseException) else value


def _ended(ending: threading.ExceptHookArgs) -> None:
    """Say how a thread ended; Python's own hook would print the message."""
    if ending.exc_value is None or isinstance(ending.exc_value, SystemExit):
        return
    name = "a thread" if ending.thread is None else ending.thread.name
    logging.getLogger(__name__).error("A fault of the program ended %s", name, exc_info=ending.exc_value)


TOO_LITTLE = "There is not enough memory for this; ask for fewer rows or a smaller width."


def lacks_memory(problem: BaseException) -> bool:
    """Whether a problem is that the system gives no more memory; mapping a file says so by an error of its own.

    Examples
    --------
    >>> lacks_memory(MemoryError()), lacks_memory(OSError(errno.ENOMEM, "no room")), lacks_memory(OSError("cut short"))
    (True, True, False)
    """
    return isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno == errno.ENOMEM)
