"""Release files: what an owner hands out, and what anyone may open without trusting who sent it.

A release file is a NumPy archive of `manifest` (a text, JSON), `table` (the noisy counters, in the smallest type of
whole numbers that holds them) and, where the release has one, `count`. It holds what a `Release` holds and nothing
else: no count before noise, no path, no name, no date but the time of release.

Tables of more than 2^26 counters, of mechanisms that can be asked so, have format 2 (see `runtime.archive_writing`):
the table lies in the file as in memory, in a type that is too narrow for a few counters, which stand apart in two
further arrays. Opened by its path, such a file is mapped: a query touches the counters that it asks for and no others.

Releases of several parts have format 3: a `table_1`, `table_2` and so on for the parts in the order of the manifest,
each of its own shape, and all their numbers of records in one `count`. Tables that were estimated from local reports
have format 4: that of format 1, with noise that states what each report keeps.

Reading asks three questions before it gives memory to an answer: is this an archive of those arrays
(`files.archive`)? Do the manifest's parameters describe a sketch that this computer can hold? Has the table that
sketch's shape? The checksum of everything that is read is compared; that of a mapped table only when it is asked for,
as it takes reading all of it.
"""

import io
import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..errors import ReleaseFileError, RequestError
from ..privacy.record import MAX_TABLES
from ..runtime import archive_writing, archives
from ..runtime.archives import FREE_BYTES, Archive
from ..runtime.counter_tables import Narrow, Table, array
from ..runtime.faults import lacks_memory
from ..runtime.transient import unfinished
from ..sketches.linear import LinearSketch
from .manifest import (
    FORMAT_VERSION,
    LARGE_FORMAT_VERSION,
    LOCAL_FORMAT_VERSION,
    MAX_MANIFEST,
    PARTS_FORMAT_VERSION,
    Manifest,
    check_length,
    described_sketch,
    parse,
)

# The numbers of a release: its table, and its number of records where that is released apart.
Arrays = tuple["np.ndarray | Table", "int | np.ndarray | None"]
STRANGE = "The file holds something that no release of its format has."
LARGE = 1 << 26  # Counters; the table of a larger release is written to be mapped, where its sketch reads such tables.
ARRAYS = ("manifest", "table", "count")
LARGE_ARRAYS = (*ARRAYS, *archive_writing.LISTED)
PARTS_ARRAYS = tuple(f"table_{number}" for number in range(1, MAX_TABLES + 1))
MEMORY = 2 << 30  # Bytes that opening a file may take unless the reader says otherwise.


def save(path: str | Path, manifest: Manifest, arrays: Arrays, teaching: bool, large: int) -> None:
    """Write a release to a file that is either whole or not there at all; see `Release.save`."""
    _put(path, writer(manifest, arrays, teaching, large))


def copy(kept: Path, path: str | Path) -> None:
    """Write the contents of one release file to another place, as `save` does."""

    def write(file: BinaryIO) -> None:
        with kept.open("rb") as original:
            shutil.copyfileobj(original, file)

    _put(path, write)


def _put(path: str | Path, write: Callable[[BinaryIO], None]) -> None:
    path = _checked_path(path)
    try:
        with unfinished(path) as file:
            write(file)
        sync_folder(path.parent)
    except OSError as problem:
        raise RequestError(
            f"The release cannot be written to {str(path)!r}: {problem.strerror or problem}; no file was left there."
        ) from None


@contextmanager
def room_for(what: str, path: Path, size: int) -> Iterator[BinaryIO]:
    """A file to write to, of at most so many bytes, which nothing else on the disk can take meanwhile.

    It is at its path when the room is left, and nowhere on a failure.
    """
    with ExitStack() as taken:
        try:
            file = taken.enter_context(unfinished(path, size))
        except OSError as problem:
            raise RequestError(
                f"There is no room for the {what}, of at most {size:,} bytes, in {str(path.parent)!r}: "
                f"{problem.strerror or problem}."
            ) from None
        yield file


def to_bytes(manifest: Manifest, arrays: Arrays, teaching: bool, large: int) -> bytes:
    """The contents of the file that `save` writes."""
    write = writer(manifest, arrays, teaching, large)
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def read(source: str | Path | bytes | BinaryIO, memory: int, verify: bool) -> tuple[Manifest, Arrays]:
    """What is in a release file; see `core.releases.release.load`."""
    try:
        return _opened(source, memory, verify)
    except MemoryError:
        raise RequestError(
            "There is not enough memory on this computer to open the release, which says nothing against the file: "
            "close other programs, or open it on a larger computer."
        ) from None


def _opened(source: str | Path | bytes | BinaryIO, memory: int, verify: bool) -> tuple[Manifest, Arrays]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _read(io.BytesIO(source), memory, False, verify)
    if not isinstance(source, (str, Path)) and hasattr(source, "read") and hasattr(source, "seek"):
        return _read(source, memory, False, verify)
    path = _checked_path(source)
    try:
        with path.open("rb") as file:
            return _read(file, memory, True, verify)
    except OSError as problem:
        if lacks_memory(problem):
            raise MemoryError from None
        raise RequestError(f"The file {str(path)!r} cannot be read: {problem.strerror or problem}.") from None


def _checked_path(path: object) -> Path:
    if not isinstance(path, (str, Path)) or not Path(path).name or "\0" in str(path):
        raise RequestError("A release is saved to a path, and opened from a path, from bytes, or from a binary file.")
    return Path(path)


def writer(manifest: Manifest, arrays: Arrays, teaching: bool, large: int) -> Callable[[BinaryIO], None]:
    """What writes the contents of a release's file; all that may be refused is refused here."""
    if not manifest.private and not teaching:
        raise RequestError(
            "This release was made with noise that can be repeated, so it protects nobody and is not saved as a "
            "release; it can be saved as a teaching file, which says so."
        )
    table, released = arrays
    facts = facts_of(manifest, table.size, large)
    text = archives.dumps(facts)
    check_length(text)
    written = {"manifest": np.array(text, dtype=f"<U{len(text)}")}
    count = {} if released is None else {"count": np.array(released, dtype="<i8")}
    if facts["format_version"] == LARGE_FORMAT_VERSION:
        small = written | count
        return lambda file: archive_writing.write_aligned(file, chain(small.items(), archive_writing.arrays(table)))
    names = PARTS_ARRAYS if manifest.sketch.parts else ("table",)
    tables = zip(names, manifest.sketch.split(array(table)), strict=False)
    written |= {name: archive_writing.smallest_integers(one) for name, one in tables} | count
    # Noise of variance 4 is worth two bits a counter or more, so such a table never packs further than a reader allows.
    packed = 8 * table.size <= FREE_BYTES or all(noise.variance >= 4.0 for noise in manifest.privacy.noise)
    return lambda file: archive_writing.write_archive(file, written, packed=packed)


def facts_of(manifest: Manifest, counters: int, large: int = LARGE) -> dict[str, object]:
    """The manifest of a table of so many counters, as its file states it."""
    if manifest.sketch.parts:
        return manifest.to_dict(PARTS_FORMAT_VERSION)
    if manifest.privacy.local:
        return manifest.to_dict(LOCAL_FORMAT_VERSION)
    is_large = manifest.sketch.reads_mapped and counters > large
    return manifest.to_dict(LARGE_FORMAT_VERSION if is_large else FORMAT_VERSION)


def sync_folder(folder: Path) -> None:
    """Make the new name of a file last through a power cut, where the system knows how."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(file: BinaryIO, memory: int, mapped: bool, verify: bool) -> tuple[Manifest, Arrays]:
    archive = Archive(file, (*LARGE_ARRAYS, *PARTS_ARRAYS))
    facts = parse(archive.text("manifest", MAX_MANIFEST))
    is_large = facts["format_version"] == LARGE_FORMAT_VERSION
    if not is_large and any(name in archive for name in archive_writing.LISTED):
        raise ReleaseFileError(STRANGE)
    try:
        sketch = described_sketch(facts)
        if is_large and not sketch.reads_mapped:
            raise ReleaseFileError("The file has the format of large releases, which its mechanism does not have.")
        names = PARTS_ARRAYS[: len(sketch.parts)] or ("table",)
        if any(name in archive for name in ("table", *PARTS_ARRAYS) if name not in names):
            raise ReleaseFileError(STRANGE)
        needed = archive_writing.memory(archive, mapped) if is_large else sum(archive.memory(name) for name in names)
        needed += sketch.setup_bytes
        if needed > memory:
            raise ReleaseFileError(
                f"The release would take {needed:,} bytes of memory to open and {memory:,} are allowed, so that no "
                "file can exhaust this computer; allow more if you trust where it comes from."
            )
        shapes = [part.sketch.shape for part in sketch.parts] or [sketch.shape]
        if [archive.shape(name) for name in names] != shapes:
            raise ReleaseFileError("The table of the file has another shape than its parameters say.")
        manifest = Manifest.from_dict(facts, sketch)
        count = _count(archive, manifest)
        table = archive_writing.read(archive, mapped) if is_large else _tables(archive, sketch, names)
        if verify and isinstance(table, Narrow):
            archive_writing.verify(archive, table)
    except ReleaseFileError:
        raise
    except RequestError as problem:
        raise ReleaseFileError(f"The file does not describe a release that can be used. {problem}") from None
    return manifest, (table, count)


def _tables(archive: Archive, sketch: LinearSketch, names: Sequence[str]) -> np.ndarray:
    """The table of the file, or those of its parts side by side."""
    if not sketch.parts:
        return archive.integers(names[0])
    return np.concatenate([archive.integers(name).reshape(-1) for name in names])


def _count(archive: Archive, manifest: Manifest) -> int | np.ndarray | None:
    """The released number of records, hidden by noise or public; None where it is read off the table.

    One class of a release with classes has none where they had none, though the number of all records was public.
    """
    sketch, privacy = manifest.sketch, manifest.privacy
    noisy, public = bool(privacy.count_noise), sketch.count_is_public(privacy.neighbours)
    if sketch.parts and privacy.counts != len(sketch.count_sensitivities(privacy.neighbours)):
        raise ReleaseFileError("The file's counts of records do not all have the noise that would hide them.")
    if "count" not in archive:
        if noisy or (public and not math.isfinite(sketch.total_variance(1.0))):
            raise ReleaseFileError("The file's count of records is missing.")
        return None
    if not (noisy or public):
        raise ReleaseFileError("The file's count of records is there without noise that would hide it.")
    if archive.shape("count") != sketch.count_shape:
        raise ReleaseFileError("The file does not hold as many counts of records as its parameters say.")
    count = archive.integers("count")
    return count if sketch.count_shape else int(count)
