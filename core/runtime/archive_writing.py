"""NumPy archives (.npz), written the same way every time: the same arrays give the same bytes on any machine.

Large arrays lie in them as they lie in memory, written as a stream, to be mapped: members are stored, not deflated, and
the extra field of each pads its header so that the entries begin at a multiple of 64 bytes. To `numpy.load` it is an
archive like any other.

Large tables have the narrowest type that holds all counters but a few, and the few stand apart: `table` holds every
counter in a type of whole numbers that is narrower than some of them need; where a counter does not fit, it holds the
least value of its type. `beyond_at` lists those places in rising order (the table read as one line), and `beyond` the
counters that belong there, both int64. With NumPy alone:

    file = numpy.load("large.npz")
    table = file["table"].astype(numpy.int64)
    table.flat[file["beyond_at"]] = file["beyond"]

Noise of scale 2,000 has 13.4 bits of entropy a counter, which nothing packs further; int16 spends 16 on it, and lets
any counter be read without reading the ones before it. Nothing but the noisy counters decides about the type.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ..errors import ReleaseFileError
from .archives import ALIGNED, CHUNK, LOCAL, MAX_HEADER, Archive
from .counter_tables import Narrow, Table, pieces


def write_archive(file: BinaryIO, arrays: dict[str, np.ndarray], *, packed: bool = True) -> None:
    """Write arrays of whole numbers or text as an .npz file, the same bytes for the same arrays.

    `packed`: Whether to deflate; the reader refuses what unpacks to far more than the length of the file.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            member = plain_member(name, zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED)
            long = array.nbytes + MAX_HEADER > zipfile.ZIP64_LIMIT
            with archive.open(member, "w", force_zip64=long) as stream:
                if packed and array.dtype.kind == "i":
                    # No public option of `zipfile` leads to zlib's strategies; a test sees that this one is followed.
                    stream._compressor = noise_compressor()  # type: ignore[attr-defined]  # private, as said above
                npy.write_array(stream, array, version=(1, 0), allow_pickle=False)


def noise_compressor() -> zlib._Compress:
    """What packs whole numbers with noise: common bytes get short codes, and runs of one byte a shorter one.

    Noise has nothing else to find. Searching for longer repeats took 3 to 8 times as long for nothing: of noise with
    standard deviation 530 in 16 bits 22 MB a second and 81.6% of the size, and 91 MB and 80.8% without.
    """
    return zlib.compressobj(zlib.Z_BEST_SPEED, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)


def plain_member(name: str, method: int) -> zipfile.ZipInfo:
    """A member of an archive, of a fixed date, system and permissions: nothing of the machine that writes it."""
    member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
    member.create_system, member.external_attr, member.compress_type = 3, 0o644 << 16, method
    return member


def smallest_integers(table: np.ndarray) -> np.ndarray:
    """The same whole numbers in C order and the smallest little-endian type that holds them all."""
    least, most = int(table.min()), int(table.max())
    for kind in ("|i1", "<i2", "<i4"):
        if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max:
            return np.ascontiguousarray(table, dtype=kind)
    return np.ascontiguousarray(table, dtype="<i8")


PADDING = 0xD935  # The extra field that Android's zipalign made known: the alignment, then zeros.
ZIP64_EXTRA = struct.calcsize("<HHQQ")  # Bytes by which a local header grows when the member has 64-bit lengths.


class Entries(NamedTuple):
    """An array that is written piece by piece, so that it need not be in memory."""

    kind: np.dtype  # Little-endian type of whole numbers.
    shape: tuple[int, ...]  # Of the array, which is in C order.
    pieces: Iterator[np.ndarray]  # Its entries in order, as arrays of that type.


def write_aligned(file: BinaryIO, arrays: Iterable[tuple[str, np.ndarray | Entries]]) -> None:
    """Write named arrays, in order, each when it comes; the same arrays give the same bytes.

    `file`: Binary, empty and seekable. `arrays`: Whole numbers or text in C order, by name; later ones may be computed
    while earlier ones are written.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays:
            if isinstance(array, np.ndarray):
                array = Entries(array.dtype, array.shape, iter([array]))
            _write_member(archive, file, name, array)


def _write_member(archive: zipfile.ZipFile, file: BinaryIO, name: str, array: Entries) -> None:
    member = plain_member(name, zipfile.ZIP_STORED)
    long = math.prod(array.shape) * array.kind.itemsize + MAX_HEADER > zipfile.ZIP64_LIMIT
    header = LOCAL.size + len(member.filename) + long * ZIP64_EXTRA + struct.calcsize("<3H")
    # NumPy pads its own header to a multiple of 64 bytes, so what stands before it has to be one too.
    pad = -(file.tell() + header) % ALIGNED
    member.extra = struct.pack(f"<3H{pad}x", PADDING, 2 + pad, ALIGNED)
    with archive.open(member, "w", force_zip64=long) as stream:
        shape = {"descr": npy.dtype_to_descr(array.kind), "fortran_order": False, "shape": array.shape}
        npy.write_array_header_1_0(stream, shape)
        for piece in array.pieces:
            stream.write(piece.reshape(-1).view(np.uint8).data if piece.size else b"")


KINDS = tuple(np.dtype(kind) for kind in ("|i1", "<i2", "<i4", "<i8"))
FEWEST = 256  # One counter in so many may stand apart, which then cost a sixteenth of a byte a counter at most.
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
    """Bytes of memory that reading the table takes: its lists, and its counters or, where they are mapped, one row."""
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
    """Read all of a mapped table: compare its checksum, and see that the counters marked are those listed."""
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
