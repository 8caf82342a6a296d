"""NumPy archives (.npz), read as if an enemy had made them.

An .npz file is a zip archive of .npy members, which `numpy.load(file, allow_pickle=False)` reads. What that does not do
is protect the reader: a file of a few kilobytes may declare an array that fills the memory. Here the directory of the
archive and the header of every member are checked against each other and against limits first, and an array is
allocated last. Whole numbers and one-piece texts are all that can be read; nothing is ever unpickled or evaluated.

Formats: APPNOTE.TXT 6.3.10 (zip); NumPy Enhancement Proposal 1 (npy, version 1.0).

The directory of an archive is believed only when every record of it agrees. It must end where its closing records
begin, and those where the file ends: no comment, no second archive before or behind. Archives of more than 4 GiB close
with 64-bit records too, which must say the same as the 32-bit one wherever that has room, so that no two readers of one
file can find two directories in it.

JSON is read and written without its ambiguities: no key twice, no NaN or infinity, no number beyond 64 bits.
"""

import json
import math
import mmap
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import IO, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy

from ..errors import ReleaseFileError
from .faults import lacks_memory

# Signature, this disk, the directory's disk, its members here and in all, its length, its start, comment length.
END = struct.Struct("<4s4H2LH")
END64 = struct.Struct("<4sQ2H2L4Q")  # Signature, length of the rest, versions that made and can read it, then as above.
LOCATOR64 = struct.Struct("<4sLQL")  # Signature, the disk of the 64-bit record, its start, the number of disks.
# Signature, version, flags, method, time, date, checksum, packed and plain length, lengths of name and extra field.
LOCAL = struct.Struct("<4s5H3L2H")

MAX_DIRECTORY = 4_096  # Bytes of the archive's directory: a few members with short names.
DAMAGED = "The file is not a release, or was cut short or altered on its way; fetch it again from its source."


def check_directory(file: BinaryIO, members: int) -> int:
    """Refuse what is not a plain zip archive of a few members, before `zipfile` reads a directory of any length.

    `members`: The most that the archive may have.

    Returns where the directory begins, which is where the last member ends.
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


MAX_RATIO = 1_032  # Deflate cannot pack more tightly than this (zlib's technical notes).
FREE_BYTES = 1 << 24
MAX_EXPANSION = 32  # Bytes of memory that one byte of file may ask for in a table, beyond the free ones.

PREAMBLE = npy.MAGIC_LEN + 2
# The header that NumPy writes for whole numbers and text in C order, and nothing else.
HEADER = re.compile(
    rb"\{'descr': '(\|i1|<i[248]|<U\d{1,9})', 'fortran_order': False, "
    rb"'shape': \(((?:\d{1,10}, ?)*(?:\d{1,10})?)\), \} *\n"
)
MAX_HEADER = 512
CHUNK = 1 << 20
ALIGNED = 64  # Bytes: entries that lie plainly begin at a multiple of this, a line of the processor's cache.

# What `zipfile` raises on archives that are cut short, altered or crafted.
_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)


class _Header(NamedTuple):
    """What a member says about its array: NumPy's name of the type, the shape, and where the entries begin."""

    kind: str
    shape: tuple[int, ...]
    start: int

    @property
    def is_text(self) -> bool:
        return self.kind[1] == "U"

    @property
    def entry_bytes(self) -> int:
        return int(self.kind[2:]) * (4 if self.is_text else 1)

    @property
    def entries(self) -> int:
        return math.prod(self.shape)


class Archive:
    """An .npz file that is open for reading.

    ReleaseFileError when the file is not an archive of such arrays; nothing but its directory and headers has been
    read.

    `names`: Arrays that may be inside.
    """

    def __init__(self, file: BinaryIO, names: Collection[str]):
        self._file, self._end = file, check_directory(file, len(names))
        try:
            self._zip = zipfile.ZipFile(file)
        except _DAMAGE as problem:
            raise _refused(problem) from None
        members = self._zip.infolist()
        for member in members:
            _check_member(member, names)
        self._members = {member.filename.removesuffix(".npy"): member for member in members}
        if len(self._members) < len(members):
            raise ReleaseFileError("The file holds two arrays of the same name, so it is not a release.")
        self._headers = {name: self._header(member) for name, member in self._members.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of an array, from its header alone; ReleaseFileError when it is not there."""
        return self._found(name).shape

    def kind(self, name: str) -> str:
        """NumPy's name of the type of an array, from its header alone."""
        return self._found(name).kind

    def text(self, name: str, longest: int) -> str:
        """The text in an array of no dimensions, of at most ``longest`` characters."""
        header = self._found(name)
        if header.shape != () or not header.is_text:
            raise ReleaseFileError(f"The {name} of the file is not a text.")
        if header.entry_bytes > 4 * longest:
            raise ReleaseFileError(f"The {name} of the file is longer than {longest:,} characters, the most it may be.")
        try:
            return b"".join(self._entries(name)).decode("utf-32-le").rstrip("\0")
        except UnicodeDecodeError:
            raise ReleaseFileError(f"The {name} of the file is not a text.") from None

    def memory(self, name: str) -> int:
        """Bytes that an array of whole numbers takes as int64."""
        header = self._found(name)
        if header.is_text:
            raise ReleaseFileError(f"The {name} of the file does not hold whole numbers.")
        needed = 8 * header.entries
        if needed > FREE_BYTES + MAX_EXPANSION * self._members[name].compress_size:
            raise ReleaseFileError(
                f"The {name} of the file would unpack to {needed:,} bytes of memory, far more than a file of its "
                "length needs, so it is not read."
            )
        return needed

    def integers(self, name: str) -> np.ndarray:
        """An array of whole numbers as int64; what `memory` says is allocated here."""
        self.memory(name)
        return self._filled(name, np.dtype(np.int64))

    def lies_plainly(self, name: str) -> bool:
        """Whether an array of whole numbers lies in the file as in memory: not packed, in step, over no other one."""
        header, member = self._found(name), self._members[name]
        if header.is_text or member.compress_type != zipfile.ZIP_STORED:
            return False
        return self._entries_at(name) % ALIGNED == 0

    def stored_bytes(self, name: str) -> int:
        """Bytes of the entries of an array in their own type."""
        header = self._found(name)
        return header.entries * header.entry_bytes

    def stored(self, name: str) -> np.ndarray:
        """An array that `lies_plainly`, in its own type; what `stored_bytes` says is allocated here."""
        return self._filled(name, np.dtype(self._found(name).kind))

    def mapped(self, name: str) -> tuple[np.ndarray, Callable[[np.ndarray], None] | None]:
        """The same, read where it lies in the file, which must be one of the system's; checksums are not compared.

        Beside it comes what tells the system which entries (flat places) are about to be read, where the system takes
        such advice: a disk brings many pages at once sooner than one after the other.

        The file may be renamed, replaced or deleted meanwhile; whoever cuts the very file short while it is read ends
        the program, as with any mapped file.
        """
        header, start = self._found(name), self._entries_at(name)
        try:
            whole = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
            entries = np.frombuffer(whole, header.kind, header.entries, offset=start)
        except (OSError, ValueError) as problem:
            raise _refused(problem) from None

        def fetch(places: np.ndarray) -> None:
            for page in np.unique((start + places * header.entry_bytes) // mmap.PAGESIZE).tolist():
                whole.madvise(mmap.MADV_WILLNEED, page * mmap.PAGESIZE, mmap.PAGESIZE)

        return entries.reshape(header.shape), fetch if hasattr(whole, "madvise") else None

    def check(self, name: str) -> None:
        """Read a member to its end and compare its checksum; ReleaseFileError when it was altered."""
        for _ in self._entries(name):
            pass

    def _entries_at(self, name: str) -> int:
        """Where in the file the entries of a member that is not packed begin.

        The local header before them may be of any length, so the members are laid end to end first: each must end
        before the next one begins, and the last one before the directory.
        """
        begins = sorted(self._members.values(), key=lambda member: member.header_offset)
        ends = [*(member.header_offset for member in begins[1:]), self._end]
        for member, end in zip(begins, ends, strict=True):
            self._file.seek(member.header_offset)
            local = self._file.read(LOCAL.size)
            if len(local) != LOCAL.size:
                raise ReleaseFileError(DAMAGED)
            magic, _, flags, method, *_, name_length, extra_length = LOCAL.unpack(local)
            start = member.header_offset + LOCAL.size + name_length + extra_length
            if magic != b"PK\x03\x04" or flags != member.flag_bits or method != member.compress_type:
                raise ReleaseFileError(DAMAGED)
            if start + member.compress_size > end:
                raise ReleaseFileError("Two arrays of the file lie over each other, so it is not a release.")
            if member is self._members[name]:
                found = int(start) + self._headers[name].start
        return found

    def _filled(self, name: str, kind: np.dtype) -> np.ndarray:
        header = self._headers[name]
        values = np.empty(header.entries, dtype=kind)
        filled = 0
        for chunk in self._entries(name):
            part = np.frombuffer(chunk, dtype=header.kind)
            values[filled : filled + len(part)] = part
            filled += len(part)
        return values.reshape(header.shape)

    def _found(self, name: str) -> _Header:
        if name not in self._headers:
            raise ReleaseFileError(f"The file holds no {name}, which it should, so it is not a whole release.")
        return self._headers[name]

    def _open(self, member: zipfile.ZipInfo) -> IO[bytes]:
        try:
            return self._zip.open(member)
        except _DAMAGE as problem:
            raise _refused(problem) from None

    def _header(self, member: zipfile.ZipInfo) -> _Header:
        """The header of a member, which together with its entries must fill the member exactly."""
        with self._open(member) as stream:
            preamble = _read(stream, PREAMBLE)
            length = int.from_bytes(preamble[npy.MAGIC_LEN :], "little")
            described = None
            if preamble.startswith(npy.magic(1, 0)) and length <= MAX_HEADER:
                described = HEADER.fullmatch(_read(stream, length))
        if described is None:
            raise ReleaseFileError("The file holds an array that is not of whole numbers or text as NumPy writes them.")
        shape = tuple(int(size) for size in re.findall(rb"\d+", described[2]))
        header = _Header(described[1].decode(), shape, PREAMBLE + length)
        if header.start + header.entries * header.entry_bytes != member.file_size:
            raise ReleaseFileError("An array of the file has another length than its shape says.")
        return header

    def _entries(self, name: str) -> Iterator[bytes]:
        """The entries of an array, in pieces of whole entries; with the last one the checksum of all is checked."""
        member, header = self._members[name], self._headers[name]
        with self._open(member) as stream:
            _read(stream, header.start)
            left = member.file_size - header.start
            while left:
                yield _read(stream, min(CHUNK, left))
                left -= min(CHUNK, left)


def _read(stream: IO[bytes], count: int) -> bytes:
    try:
        data = stream.read(count)
    except _DAMAGE as problem:
        raise _refused(problem) from None
    if len(data) != count:
        raise ReleaseFileError(DAMAGED)
    return data


def _refused(problem: Exception) -> Exception:
    """What to say of an archive that cannot be read: that it is damaged, unless it is memory that is missing."""
    return MemoryError() if lacks_memory(problem) else ReleaseFileError(DAMAGED)


def _check_member(member: zipfile.ZipInfo, names: Collection[str]) -> None:
    if member.filename not in {f"{name}.npy" for name in names}:
        raise ReleaseFileError("The file holds something that no release has, so it is not read any further.")
    if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ReleaseFileError("The file is encrypted, or packed in a way that no release is.")
    if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
        raise ReleaseFileError(DAMAGED)
    if member.file_size > MAX_RATIO * member.compress_size:
        raise ReleaseFileError("The file says that it unpacks to more than any file of its length can.")


LARGEST_INTEGER = (1 << 63) - 1


def dumps(value: object) -> str:
    """The shortest text of a value, the same every time; ValueError for NaN and infinity."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def loads(text: str) -> object:
    """The value that a text stands for."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_small_integer,
        )
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is there twice")
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError("a number is not finite")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("a number is not finite")
    return value


def _small_integer(digits: str) -> int:
    if len(digits) > 20 or abs(value := int(digits)) > LARGEST_INTEGER:
        raise ValueError("a whole number does not fit into 64 bits")
    return value
