"""Files that are read as copies in UTF-8 CSV: texts in other encodings, archives, spreadsheets, JSON lines, packages.

Of a text whose encoding nobody states, every valid sequence of UTF-8 is what it says, and any other byte is a letter
of Windows-1252, which has those of Latin-1. So in one file "ä" may be two bytes in one record and one in the next.

*Why not one encoding for all.* A file is in UTF-8 if no byte of it says otherwise, so by such a rule a single byte of
one record would change how the names of everyone else are read, which no noise is meant to hide. Here what a sequence
means depends on itself: a valid one begins with a byte that no other one holds in its middle, has at most four bytes,
and commas, quotes and line ends, which are below 128, belong to none. So no byte of one field has a part in how another
is read, and records that are added or taken away change no others. That a text in Windows-1252 holds two letters which
together are valid UTF-8 ("Ã¤") is rare enough; who has such a file states its encoding.

UTF-16 is told by the mark that a file begins with, or by the header's zero bytes, which are public. Of an encoding with
letters of several bytes each line is decoded by itself.
"""

import codecs
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from ..errors import RequestError
from ..runtime.environment import check_extra
from .duck import plain_sentences
from .foreign_reader import READERS
from .source import InMemory, Location

PIECE = 1 << 20
MOST_IN_MEMORY, MOST_ON_DISK = 2 << 30, 64 << 30  # Bytes of a copy of an upload, and of one of files.
SCRIPT = Path(__file__).with_name("foreign_reader.py")
EITHER = "UTF-8, else Windows-1252"  # What a text is in where nobody says another encoding.
ENCODINGS = (
    "utf-8 utf-16 utf-16-le utf-16-be windows-1252 iso-8859-1 iso-8859-15 windows-1250 iso-8859-2 windows-1251 koi8-r "
    "windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 cp437 cp850 mac-roman shift_jis gb18030 big5 "
    "euc-kr"
).split()
_CODECS = {codecs.lookup(name).name: name for name in ENCODINGS}


def checked_encoding(name: str) -> str:
    """An encoding by any of its names, as `ENCODINGS` has it; "" where none is said."""
    if not name:
        return ""
    try:
        return _CODECS[codecs.lookup(name).name]
    except (LookupError, KeyError, ValueError):
        raise RequestError(f"The encoding {name!r} is not known; there are: {', '.join(ENCODINGS)}.") from None


_WINDOWS = {
    code: ord(bytes([code]).decode("cp1252")) for code in range(128, 160) if code not in b"\x81\x8d\x8f\x90\x9d"
}


def _as_windows(error: UnicodeError) -> tuple[str, int]:
    """What bytes that are no UTF-8 say in Windows-1252."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1").translate(_WINDOWS), error.end


WINDOWS = "frostglass-windows"
codecs.register_error(WINDOWS, _as_windows)


def in_utf8(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8, of an encoding among `ENCODINGS` or, where it is "", of `EITHER`."""
    if encoding in ("", "utf-8") or encoding.startswith("utf-16"):
        wide = encoding.startswith("utf-16")
        decoder = codecs.getincrementaldecoder(encoding if wide else "utf-8-sig")("replace" if wide else WINDOWS)
        for piece in pieces:
            yield decoder.decode(piece).encode("utf-8", "replace")
        yield decoder.decode(b"", True).encode("utf-8", "replace")
        return
    rest = b""
    for piece in pieces:
        *lines, rest = (rest + piece).split(b"\n")
        yield "".join(line.decode(encoding, "replace") + "\n" for line in lines).encode("utf-8", "replace")
    yield rest.decode(encoding, "replace").encode("utf-8", "replace")


def is_utf8(pieces: Iterable[bytes]) -> bool:
    """Whether all of a text is valid."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in pieces:
            decoder.decode(piece)
        decoder.decode(b"", True)
    except UnicodeDecodeError:
        return False
    return True


UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def is_wide(head: bytes) -> bool:
    """Whether the first line is UTF-16 without a mark: letters that are each followed by a zero byte."""
    line = re.split(rb"[\r\n]", head)[0][:200]
    return len(line) > 3 and not any(line[1::2]) and all(line[0::2])


def is_central(head: bytes, header: int | None) -> bool:
    """Whether the line of names has Polish or other letters of Windows-1250 in words: in Windows-1252 they are signs.

    A sign at the beginning or the end of a word, as in "¿cuánto?" and "m³", is one.
    """
    lines = [] if header == 0 else re.split(rb"\r\n|\r|\n", head)[(header or 1) - 1 :][:1]
    sign = r"[^\W\d_][¹³£¥¼¾¯¿][^\W\d_A-Z]"
    return any(not is_utf8([line]) and re.search(sign, line.decode("utf-8", WINDOWS)) for line in lines)


def pieces_of(path: str, zipped: bool = False) -> Iterator[bytes]:
    """The content of a file, unpacked where it is packed by gzip."""
    with gzip.open(path) if zipped else Path(path).open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


Copying = Callable[[str], Iterator[Iterable[bytes]]]  # From the path of a file to the content of each copy of it.


class Copies:
    """Copies of files, made when they are first opened and kept until nobody has the source any more.

    Of what is in memory they are files in memory, and of files on a disk files in the folder for temporary ones that
    have lost their names, so that nothing of them is left however the process ends.
    """

    def __init__(self, of: Location, copying: Copying) -> None:
        self.of, self._copying = of, copying
        self._files: list[IO[bytes]] = []
        self._made: dict | None = None

    @property
    def label(self) -> str:
        """How messages name the files."""
        return self.of.label

    def fingerprint(self) -> dict | None:
        """That of the files themselves."""
        return self.of.fingerprint()

    @contextmanager
    def opened(self) -> Iterator[tuple[str, ...]]:
        """Paths of the copies."""
        before = self.of.fingerprint()
        if not self._files or before != self._made:
            with self.of.opened() as paths, plain_sentences(self.label):
                self._files = [self._copy(pieces) for path in paths for pieces in self._copying(path)]
            self._made = before
        if not self._files:
            raise RequestError(f"There is no table in {self.label}.")
        yield tuple(
            file.name if isinstance(file.name, str) else f"/proc/self/fd/{file.fileno()}" for file in self._files
        )

    def _copy(self, pieces: Iterable[bytes]) -> IO[bytes]:
        in_memory = isinstance(self.of, InMemory) or (isinstance(self.of, Copies) and isinstance(self.of.of, InMemory))
        most = MOST_IN_MEMORY if in_memory else min(MOST_ON_DISK, shutil.disk_usage(tempfile.gettempdir()).free // 2)
        file, size = _new_file(in_memory), 0
        for piece in pieces:
            size += len(piece)
            if size > most:
                raise RequestError(
                    f"A table in {self.label} is larger than {most / (1 << 30):,.1f} GiB once it is unpacked, which is "
                    "the most that is kept: save it as Parquet, or as CSV in UTF-8, which are read without a copy."
                )
            file.write(piece)
        file.flush()
        return file


def _new_file(in_memory: bool) -> IO[bytes]:
    """A file without a name where the system has such, else one that is removed when it is closed."""
    if not Path("/proc/self/fd").is_dir():
        return tempfile.NamedTemporaryFile(prefix="frostglass-")
    if in_memory and hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("copy"), "wb")
    return tempfile.TemporaryFile()


def recoding(encoding: str, zipped: bool) -> Copying:
    """Copies of texts in UTF-8."""
    return lambda path: iter([in_utf8(pieces_of(path, zipped), encoding)])


def members(ends: Sequence[str]) -> Copying:
    """The files of a ZIP archive whose names end so, in the order of their names."""

    def copies(path: str) -> Iterator[Iterable[bytes]]:
        with _zip(path) as archive:
            for name in members_of(archive, ends):
                with archive.open(name) as member:
                    yield iter(lambda: member.read(PIECE), b"")

    return copies


def members_of(archive: zipfile.ZipFile, ends: Sequence[str]) -> list[str]:
    """Names of the tables in an archive; what systems put beside them is none."""
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    seen = (name for name in names if not name.startswith("__MACOSX/") and not Path(name).name.startswith("."))
    return sorted(name for name in seen if name.lower().endswith(tuple(ends)))


@contextmanager
def _zip(path: str) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):  # RuntimeError: a password is asked for
        raise RequestError("A ZIP archive is damaged, protected, or packed in a way that is not read.") from None


def tables_in_zip(location: Location, ends: Sequence[str]) -> list[str]:
    """Names of the tables in ZIP archives."""
    with location.opened() as paths:
        found: list[str] = []
        for path in paths:
            with _zip(path) as archive:
                found += members_of(archive, ends)
    return found


MOST_KEYS_IN = 1_000  # First records of JSON lines whose keys are the columns.


@dataclass
class JsonLines:
    """A record a line, as an object of JSON, or all of them in one list; what is no text is what JSON writes of it.

    `names`: Of the columns; () for those that the first records have.
    """

    zipped: bool
    names: tuple[str, ...] = ()
    alike: bool = True  # Whether those have the same names in the same order, once they were read, or these are said.

    def __call__(self, path: str) -> Iterator[Iterable[bytes]]:
        names = self.names
        if not names:
            every = dict.fromkeys(tuple(record) for record in islice(_records(path, self.zipped), MOST_KEYS_IN))
            names = tuple(dict.fromkeys(key for keys in every for key in keys))
            self.alike &= len(every) < 2
        yield self._rows(path, names)

    def _rows(self, path: str, names: Sequence[str]) -> Iterator[bytes]:
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(names)
        for record in _records(path, self.zipped):
            writer.writerow([_json_text(record.get(name)) for name in names])
            if out.tell() > PIECE:
                yield out.getvalue().encode("utf-8", "replace")
                out.seek(0)
                out.truncate()
        yield out.getvalue().encode("utf-8", "replace")


def _json_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _records(path: str, zipped: bool) -> Iterator[dict]:
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
    text = io.TextIOWrapper(io.BufferedReader(_Joined(in_utf8(pieces_of(path, zipped), ""))), "utf-8", newline="\n")
    first = text.readline()
    lines = enumerate((line for lines in ([first], text) for line in lines), 1)
    if first.lstrip().startswith("["):
        lines = enumerate([first + text.read()], 1)
    for number, line in lines:
        if not line.strip():
            continue
        try:
            found = decoder.decode(line)
        except (ValueError, RecursionError):
            found = None
        for record in found if isinstance(found, list) else [found]:
            if not isinstance(record, dict):
                raise RequestError(
                    f"Line {number:,} is no record: every one must be an object of JSON, {{name: value}}."
                )
            yield record


class _Joined(io.RawIOBase):
    """Pieces of bytes as a file that is read from its beginning to its end."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # of the types that are given
        while not self.rest:
            piece = next(self.pieces, None)
            if piece is None:
                return 0
            self.rest = piece
        size = min(len(buffer), len(self.rest))
        buffer[:size], self.rest = self.rest[:size], self.rest[size:]
        return size


@dataclass
class Foreign:
    """Copies of spreadsheets, or of the files of statistics packages, which a process of its own reads.

    `kind`: "sheet", or a key of `foreign_reader.READERS`. `sheet`: The sheet to read, "" for the first and "*" for all
    of them under one header. `first`: In which row, of those that are not empty, the names stand; 0 for in none.
    """

    label: str
    kind: str
    sheet: str = ""
    first: int = 1
    sheets: tuple[str, ...] = ()  # Those that there are, once it was read.
    wider: bool = False  # Whether cells beside the last name were left out.

    def __call__(self, path: str) -> Iterator[Iterable[bytes]]:
        package = "python_calamine" if self.kind == "sheet" else "pyreadstat"
        check_extra(package, "files", f"Reading {self.label}")
        yield self._read(path)

    def _read(self, path: str) -> Iterator[bytes]:
        command = [sys.executable, "-P", str(SCRIPT), self.kind, self.sheet, str(self.first)]
        with Path(path).open("rb") as file, tempfile.TemporaryFile() as told:
            process = subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=told)
            assert process.stdout is not None
            try:
                while piece := process.stdout.read(PIECE):
                    yield piece
                process.wait()
            finally:
                process.kill()
                process.stdout.close()
                process.wait()
            told.seek(0)
            facts = _facts(told.read(PIECE))
        self.sheets, self.wider = tuple(map(str, facts.get("sheets", ()))), bool(facts.get("wider"))
        if process.returncode:
            raise RequestError(self._refusal(str(facts.get("problem", "memory"))))

    def _refusal(self, problem: str) -> str:
        listed = ", ".join(self.sheets[:20])
        return {
            "sheet": f"There is no sheet {self.sheet!r} in {self.label}; its sheets are: {listed}.",
            "different": f"The sheets of {self.label} have different names of columns: name one sheet of {listed}.",
            "password": f"What is in {self.label} is protected by a password: save it without one.",
            "memory": f"Reading {self.label} takes more memory or time than one file may: save it as CSV, or in parts.",
        }.get(problem, f"What is in {self.label} cannot be read: damaged, or not in the format that the name says.")


def _facts(told: bytes) -> dict:
    facts: dict = {}
    for line in told.splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        facts |= found if isinstance(found, dict) else {}
    return facts


KINDS = {f".{kind}": kind for kind in READERS} | {".zsav": "sav"}
KINDS |= dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), "sheet")
