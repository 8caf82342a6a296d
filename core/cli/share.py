"""`share`: one HTML file of a release, which people ask in a browser without Python and without a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from .output import check_writable, say, spinner


def share(
    file: Annotated[
        Path,
        Argument(metavar="FILE", help="A release, a model, or counted local reports.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        Option("--out", "-o", metavar="OUT.html", help="Where to; without it, beside the file, under its name."),
    ] = None,
) -> None:
    """Make one HTML file in which anyone can look at a release, ask it and take it along, with no network.

    Whoever has it needs a browser and nothing else: it holds the file itself, what it promises, and a script that
    decodes it. It is as public as the file.
    """
    from ..errors import RequestError
    from ..figures.share.shared_page import read_public, share_html
    from ..machine.transient import unfinished
    from ..words.numbers import size

    try:
        data = file.read_bytes()
    except OSError as problem:
        raise RequestError(f"The file {str(file)!r} cannot be read: {problem.strerror or problem}.") from None
    place = file.with_suffix(".html") if out is None else out
    check_writable(place)
    with spinner("Drawing"):
        page = share_html(read_public(data), data, file.name).encode()
    try:
        with unfinished(place) as written:
            written.write(page)
    except OSError as problem:
        raise RequestError(f"The page cannot be written: {problem.strerror or problem}.") from None
    say(f"{place} holds {file.name} and all that is needed to ask it, {size(len(page))}.")
