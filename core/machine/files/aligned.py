"""Archives whose arrays lie in them as they lie in memory: written as a stream, to be mapped.

Members are stored, not deflated, and the extra field of each pads its header so that the entries begin at a multiple of
64 bytes. To `numpy.load` it is an archive like any other.
"""

from __future__ import annotations

import math
import struct
import zipfile
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from .archive import ALIGNED, MAX_HEADER
from .directory import LOCAL
from .npz import plain_member

PADDING = 0xD935
"""The extra field that Android's zipalign made known: the alignment, then zeros."""
ZIP64_EXTRA = struct.calcsize("<HHQQ")
"""Bytes by which a local header grows when the member has 64-bit lengths."""


class Entries(NamedTuple):
    """An array that is written piece by piece, so that it need not be in memory.

    Attributes
    ----------
    kind : np.dtype
        Little-endian type of whole numbers.
    shape : tuple[int, ...]
        Of the array, which is in C order.
    pieces : Iterator[np.ndarray]
        Its entries in order, as arrays of that type.
    """

    kind: np.dtype
    shape: tuple[int, ...]
    pieces: Iterator[np.ndarray]


def write(file: BinaryIO, arrays: Iterable[tuple[str, np.ndarray | Entries]]) -> None:
    """Write named arrays, in order, each when it comes; the same arrays give the same bytes.

    Parameters
    ----------
    file : BinaryIO
        Binary, empty and seekable.
    arrays : Iterable[tuple[str, np.ndarray | Entries]]
        Whole numbers or text in C order, by name; later ones may be computed while earlier ones are written.
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
