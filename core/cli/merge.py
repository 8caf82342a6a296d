"""`merge`: one release out of several that share their public parameters."""

from __future__ import annotations

import os
from functools import reduce
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from ..errors import RequestError
from .output import check_writable, say


def merge(
    releases: Annotated[
        list[Path],
        Argument(
            metavar="RELEASE RELEASE...",
            help="Two release files or more, of different people, made with the same public "
            "parameters (see release --like).",
            show_default=False,
        ),
    ],
    out: Annotated[Path, Option(metavar="FILE", help="The release file to write.")],
    overwrite: Annotated[bool, Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Add up releases: the result answers for all their records together, and costs no privacy."""
    from ..releases.release import load
    from ..words.numbers import rounded

    if len(releases) < 2:
        raise RequestError("Merging needs two release files or more.")
    check_writable(out, overwrite)
    merged = reduce(lambda total, path: total.merged(load(path)), releases[1:], load(releases[0]))
    merged.save(out, teaching=not merged.private)
    about = rounded(merged.records, merged.records_error)
    _write_down(releases, out)
    say(f"Wrote {out}: {merged.privacy.releases:,} releases, about {about} records together.")


def _write_down(releases: list[Path], out: Path) -> None:
    """Have the log say so, where this user has a ledger; whoever merges the releases of others need not have one."""
    from ..privacy.ledger.ledger import Ledger
    from ..privacy.ledger.log import Did
    from ..privacy.ledger.store import default_place

    where = os.environ.get("FROSTGLASS_LEDGER") or str(default_place())
    if "://" in where or Path(where).expanduser().exists():
        book = Ledger(where, os.environ.get("FROSTGLASS_WITNESS", ""))
        book.log.write(book.who, Did.MERGED, {"files": [path.name for path in releases], "file": out.name})
