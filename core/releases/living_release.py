"""Going on with a living release: the rows of further periods, drawn once, in a file that grows.

The first part is a release as any other, which pays for all periods there will ever be. A further part reads the
records of the periods that its rows are of, notes in the ledger that these periods are drawn, draws the noise of the
new rows, which was paid for, and puts them behind those of the file. A crash after the note loses these periods and
never privacy: they are left out of the release for ever (`lost`), and it goes on behind them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..errors import RequestError
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime.environment import SOFTWARE
from ..sketches.living import Living
from ..sources import open_source
from .engine.building import ExactTable, TableBuilder
from .kind import BESIDE_THE_TABLE
from .payment import check_remembered
from .release import Release, now
from .release_store import public_name, shelf_of


def go_on(
    release: Release,
    data: object,
    until: str | int,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    lost: bool = False,
    progress: Callable[[int], object] = lambda rows: None,
    noise_source: NoiseSource | None = None,
) -> Release:
    """The same living release with further periods.

    Parameters
    ----------
    release : Release
        As far as it has come.
    data : object
        The records of all periods since the beginning, or of as many as rows go back (`Living.band`), whatever
        `core.sources.open_source` opens. Those of the periods that are released already must be what they were.
    until : str | int
        The last period that is over now, by its name or by its number from 1 on.
    ledger, dataset : Ledger | str | None, str | None
        Where it was paid for. Without a data set nothing keeps the same period from being drawn twice but the caller.
    lost : bool
        Whether periods that the ledger says were drawn, and that the file does not have, are given up.
    progress : Callable[[int], object]
        Called with the number of rows read so far.
    noise_source : NoiseSource | None
        None; see `core.releases.seal.seal`.

    Raises
    ------
    RequestError
        When it cannot go on so; nothing was drawn.
    """
    if release.sketch.asked_for != "periods":
        raise RequestError("Only a living release can go on; this one was made all at once.")
    if release.privacy.releases > 1:
        raise RequestError("A merged release cannot go on: go on with each of those that it was merged of.")
    living = cast(Living, release.sketch)
    book = None if dataset is None else ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    before, seed = living.released, str(living.parameters()["seed"])
    if book is not None and dataset is not None:
        check_remembered(book, dataset)
        drawn = book.drawn(dataset, seed)
        if drawn > before and not lost:
            raise RequestError(
                f"The ledger says that {drawn:,} periods of this release were drawn, and the file has {before:,}: open "
                "the newer file; or, if the program was stopped before it could keep them, give them up as lost."
            )
        if drawn > before:
            living = replace(living, released=drawn, lost=(*living.lost, *range(before, drawn)))
        before = max(before, drawn)
    last = living.place_of(until) + 1
    if last <= before:
        raise RequestError(
            f"The period {living.names[last - 1]!r} is in the release already, which goes on with "
            f"{'nothing' if before == living.periods else living.names[before]!r}."
        )
    further = replace(living.further(last), begun=cast(Living, release.sketch).released)
    building = TableBuilder(further, open_source(data))
    for rows in building:
        progress(rows)
    size = 2 * len(release.to_bytes(teaching=True)) + 8 * further.zeros().size + BESIDE_THE_TABLE
    with ExitStack() as room:
        kept = None if book is None or dataset is None else _kept(book, dataset, release)
        place = None if kept is None or book is None else room.enter_context(shelf_of(book).room("", size, kept))
        if book is not None and dataset is not None:
            book.go_on(dataset, seed, before, last)
        made = _with_rows(release, replace(further, begun=0), building.exact, noise_source)
        if place is not None and made.private:
            place.put(made)
    return made


def _kept(book: Ledger, dataset: str, release: Release) -> str | None:
    """The name under which the ledger's shelf has this release as far as it has come; None where it has it no more."""
    seed = release.manifest.sketch.parameters()["seed"]
    names = {entry.note.get("file") for entry in book.entries(dataset) if _facts(entry.note).get("seed") == seed}
    return next((one.name for one in shelf_of(book).entries() if public_name(one.name) in names), None)


def _facts(note: dict[str, Any]) -> dict[str, Any]:
    facts = note.get("parameters")
    return facts if isinstance(facts, dict) else {}


def _with_rows(release: Release, sketch: Living, exact: ExactTable, noise_source: NoiseSource | None) -> Release:
    """The release with the exact rows behind its own, whose noise is drawn here."""
    table, count = exact.use_up()
    counts = np.array(count, dtype=np.int64)
    add_noise(table, release.privacy.noise[0], noise_source, table)
    for scale in release.privacy.count_noise[:1]:
        add_noise(counts, scale, noise_source, counts)
    return Release(
        sketch,
        np.concatenate([np.asarray(release.counters), table]),
        None if release.counted is None else np.concatenate([cast(np.ndarray, release.counted), counts]),
        release.privacy,
        release.private and (noise_source is None or noise_source.private),
        now(),
        SOFTWARE,
        release.counted_before,
        release.finding,
    )
