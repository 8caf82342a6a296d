"""The program: `python -m core` in a checkout, `frostglass` once installed."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from .cli.commands import app


def main() -> None:
    """Run the command line, and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without Greek letters still gets a sentence
            stream.reconfigure(errors="backslashreplace")
    app()


if __name__ == "__main__":
    main()
