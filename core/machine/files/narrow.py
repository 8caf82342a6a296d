"""Large tables in files: the narrowest type that holds all counters but a few, and the few apart.

`table` holds every counter in a type of whole numbers that is narrower than some of them need; where a counter does not
fit, it holds the least value of its type. `beyond_at` lists those places in rising order (the table read as one line),
and `beyond` the counters that belong there, both int64. With NumPy alone:

    file = numpy.load("large.npz")
    table = file["table"].astype(numpy.int64)
    table.flat[file["beyond_at"]] = file["beyond"]

Noise of scale 2,000 has 13.4 bits of entropy a counter, which nothing packs further; int16 spends 16 on it, and lets
any counter be read without reading the ones before it. Nothing but the noisy counters decides about the type.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...errors import ReleaseFileError
from ..tables import Narrow, Table, pieces
from .aligned import Entries
from .archive import CHUNK, Archive

KINDS = tuple(np.dtype(kind) for kind in ("|i1", "<i2", "<i4", "<i8"))
FEWEST = 256
"""One counter in so many may stand apart, which then cost a sixteenth of a byte a counter at most."""
LISTED = ("beyond_at", "beyond")
ARRAYS = ("table", *LISTED)


def narrowest(table: np.ndarray | Table) -> np.dtype:
    """The narrowest type in which no more than one counter in 256 stands apart."""
    apart = dict.fromkeys(KINDS[:-1], 0)
    for piece in pieces(table):
        for kind in list(apart):
            apart[kind] += int(np.count_nonzero(_is_apart(piece, kind)))
            if apart[kind] > table.size // FEWEST:
                del apart[kind]
    return next(iter(apart), KINDS[-1])


def arrays(table: np.ndarray | Table) -> Iterator[tuple[str, np.ndarray | Entries]]:
    """The arrays of a table, in the order in which they are written; the table is read twice, piece by piece."""
    kind = narrowest(table)
    places: list[np.ndarray] = []
    counters: list[np.ndarray] = []

    def narrowed() -> Iterator[np.ndarray]:
        start = 0
        for piece in pieces(table):
            apart = np.flatnonzero(_is_apart(piece, kind))
            places.append(apart + start)
            counters.append(piece[apart])
            narrow = piece.astype(kind)
            narrow[apart] = np.iinfo(kind).min
            yield narrow
            start += len(piece)

    yield "table", Entries(kind, table.shape, narrowed())
    for name, listed in zip(LISTED, (places, counters), strict=True):
        yield name, np.concatenate(listed).astype("<i8", copy=False)


def memory(archive: Archive, mapped: bool) -> int:
    """Bytes of memory that reading the table takes: its lists, and its counters or, where they are mapped, one row.

    Raises
    ------
    ReleaseFileError
        When the arrays are not those of a table that lies plainly in the file, judged by their headers.
    """
    for name in ARRAYS:
        if not archive.lies_plainly(name):
            raise ReleaseFileError(f"The {name} of the file does not lie in it as that of a large release does.")
    shapes = [archive.shape(name) for name in LISTED]
    if len(shapes[0]) != 1 or shapes[0] != shapes[1] or any(archive.kind(name) != "<i8" for name in LISTED):
        raise ReleaseFileError("The lists of counters that stand apart do not belong together.")
    row = 8 * archive.shape("table")[-1] if archive.shape("table") else 0
    lists = sum(archive.stored_bytes(name) for name in LISTED)
    return lists + (row if mapped else max(row, archive.stored_bytes("table")))


def read(archive: Archive, mapped: bool) -> Narrow:
    """The table of an archive, mapped or in memory; `memory` says how much is allocated here.

    The lists are read, and their checksums compared; so are those of the counters unless they are mapped.

    Raises
    ------
    ReleaseFileError
        When the lists are not what `arrays` writes.
    """
    counters, fetch = archive.mapped("table") if mapped else (archive.stored("table"), None)
    beyond_at, beyond = (archive.stored(name) for name in LISTED)
    table = Narrow(counters, beyond_at, beyond, fetch)
    places = table.beyond_at
    if len(places) and not (places[0] >= 0 and places[-1] < table.size and (places[:-1] < places[1:]).all()):
        raise ReleaseFileError("The places of counters that stand apart do not rise, or lie outside the table.")
    if not _is_apart(table.beyond, counters.dtype).all():
        raise ReleaseFileError("A counter of the file stands apart that would fit in with the others.")
    return table


def verify(archive: Archive, table: Narrow) -> None:
    """Read all of a mapped table: compare its checksum, and see that the counters marked are those listed.

    Raises
    ------
    ReleaseFileError
        When the file was altered, or contradicts itself.
    """
    archive.check("table")
    marked, mark = 0, np.iinfo(table.counters.dtype).min
    flat = table.counters.reshape(-1)
    for start in range(0, table.size, CHUNK):
        marked += int(np.count_nonzero(flat[start : start + CHUNK] == mark))
    if marked != len(table.beyond_at) or (flat[table.beyond_at] != mark).any():
        raise ReleaseFileError("The counters that are marked as standing apart are not those that do.")


def _is_apart(counters: np.ndarray, kind: np.dtype) -> np.ndarray:
    """Which counters do not fit a type whose least value is a mark, bool."""
    ends = np.iinfo(kind)
    return (counters <= ends.min) | (counters > ends.max)
