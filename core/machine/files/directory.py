"""Where the directory of a zip archive lies, believed only when every record of it agrees.

The directory must end where its closing records begin, and those where the file ends: no comment, no second archive
before or behind. Archives of more than 4 GiB close with 64-bit records too, which must say the same as the 32-bit one
wherever that has room, so that no two readers of one file can find two directories in it.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

from ...errors import ReleaseFileError

END = struct.Struct("<4s4H2LH")
"""Signature, this disk, the directory's disk, its members here and in all, its length, its start, comment length."""
END64 = struct.Struct("<4sQ2H2L4Q")
"""Signature, length of the rest, versions that made and can read it, then as above."""
LOCATOR64 = struct.Struct("<4sLQL")
"""Signature, the disk of the 64-bit record, its start, the number of disks."""
LOCAL = struct.Struct("<4s5H3L2H")
"""Signature, version, flags, method, time, date, checksum, packed and plain length, lengths of name and extra field."""

MAX_DIRECTORY = 4_096
"""Bytes of the archive's directory: a few members with short names."""
DAMAGED = "The file is not a release, or was cut short or altered on its way; fetch it again from its source."


def check_directory(file: BinaryIO, members: int) -> int:
    """Refuse what is not a plain zip archive of a few members, before `zipfile` reads a directory of any length.

    Parameters
    ----------
    file : BinaryIO
        Binary and seekable.
    members : int
        The most that the archive may have.

    Returns
    -------
    int
        Where the directory begins, which is where the last member ends.

    Raises
    ------
    ReleaseFileError
        When the file is anything else.
    """
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END.size - LOCATOR64.size - END64.size))
        tail = file.read(END.size + LOCATOR64.size + END64.size)
    except (OSError, ValueError):
        raise ReleaseFileError("The file cannot be read from its end, which a release file has to be.") from None
    if not isinstance(tail, bytes) or len(tail) < END.size:
        raise ReleaseFileError(DAMAGED)
    start: int
    magic, disk, first_disk, here, total, length, start, comment = END.unpack(tail[-END.size :])
    end = size - END.size
    if magic != b"PK\x05\x06" or disk or first_disk or comment or here != total:
        raise ReleaseFileError(DAMAGED)
    if tail[: -END.size].endswith(_locator(end)):
        end -= LOCATOR64.size + END64.size
        total, length, start = _in_64_bits(tail[: END64.size], (total, length, start))
    elif tail[-END.size - LOCATOR64.size :].startswith(b"PK\x06\x07"):
        raise ReleaseFileError(DAMAGED)
    if start + length != end:
        raise ReleaseFileError(DAMAGED)
    if total > members or length > MAX_DIRECTORY:
        raise ReleaseFileError("The file holds more than a release has, so it is not read any further.")
    return start


def _locator(end: int) -> bytes:
    """The only 64-bit locator that may stand before the closing record: of a record that ends where it begins."""
    return LOCATOR64.pack(b"PK\x06\x07", 0, max(0, end - LOCATOR64.size - END64.size), 1)


def _in_64_bits(record: bytes, stated: tuple[int, int, int]) -> tuple[int, int, int]:
    """Members, length and start of the directory by a 64-bit record, which the 32-bit one states as far as it can."""
    magic, rest, _, _, disk, first_disk, here, total, length, start = END64.unpack(record)
    if magic != b"PK\x06\x06" or rest != END64.size - 12 or disk or first_disk or here != total:
        raise ReleaseFileError(DAMAGED)
    if stated != (min(total, 0xFFFF), min(length, 0xFFFFFFFF), min(start, 0xFFFFFFFF)):
        raise ReleaseFileError(DAMAGED)
    return total, length, start
