"""The program: `python -m core` in a checkout, `frostglass` once installed."""

import logging
import os
import sys
from io import TextIOWrapper

from .cli.commands import app
from .runtime.environment import THREADS


def main() -> None:
    """Run the command line, and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without Greek letters still gets a sentence
            stream.reconfigure(errors="backslashreplace")
    # No command has loaded NumPy yet. Matrices are thin here: threads that wait for each other at each of them took two
    # thirds of the processors while a model was trained.
    os.environ.setdefault(THREADS, "1")
    _say_when_loops_are_compiled()
    app()


def _say_when_loops_are_compiled() -> None:
    """On standard error: it explains a wait of seconds, and standard output is the answer's alone."""
    compiling = logging.getLogger(f"{__package__}.runtime.compiled_code")
    compiling.addHandler(logging.StreamHandler())
    compiling.setLevel(logging.INFO)


if __name__ == "__main__":
    main()
