"""Release files: what an owner hands out, and what anyone may open without trusting who sent it.

A release file is a NumPy archive of `manifest` (a text, JSON), `table` (the noisy counters, in the smallest type of
whole numbers that holds them) and, where the release has one, `count`. It holds what a `Release` holds and nothing
else: no count before noise, no path, no name, no date but the time of release.

Tables of more than 2^26 counters, of the mechanisms that can be asked so, have format 2 (`files.narrow` describes it):
the table lies in the file as in memory, in a type that is too narrow for a few counters, which stand apart in two
further arrays. Opened by its path, such a file is mapped: a query touches the counters that it asks for and no others.

Reading asks three questions before it gives memory to an answer: is this an archive of those arrays
(`files.archive`)? Do the manifest's parameters describe a sketch that this computer can hold? Has the table that
sketch's shape? The checksum of everything that is read is compared; that of a mapped table only when it is asked for,
as it takes reading all of it.
"""

from __future__ import annotations

import io
import math
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ..checks import check_text, exact_fields
from ..domain import Domain
from ..errors import ReleaseFileError, RequestError
from ..machine.files import aligned, narrow, npz, strict_json
from ..machine.files.archive import FREE_BYTES, Archive
from ..machine.tables import array
from ..privacy.record import PrivacyRecord
from ..sketches.linear import LinearSketch
from ..sketches.registry import MECHANISMS, sketch_from_parameters
from .release import Release

FORMAT = "frostglass-release"
FORMAT_VERSION = 1
LARGE_FORMAT_VERSION = 2
LARGE = 1 << 26
"""Counters; the table of a larger release is written to be mapped, where its sketch reads such tables."""
FIELDS = (
    "format",
    "format_version",
    "mechanism",
    "parameters",
    "domain",
    "privacy",
    "private",
    "created",
    "software",
)
ARRAYS = ("manifest", "table", "count")
LARGE_ARRAYS = (*ARRAYS, *narrow.LISTED)
MAX_MANIFEST = 8_000_000
"""Characters of a manifest; a domain's names and categories take a million at most."""
MEMORY = 2 << 30
"""Bytes that opening a file may take unless the reader says otherwise."""


def save(release: Release, path: str | Path, teaching: bool = False, large: int = LARGE) -> None:
    """Write a release to a file that is either whole or not there at all.

    Parameters
    ----------
    release : Release
        Any release.
    path : str | Path
        Where to; an older file of that name is replaced in one step.
    teaching : bool
        Must be True for a release made with seeded noise, which protects nobody. The file says so.
    large : int
        Counters; a table that has more is written to be mapped.

    Raises
    ------
    RequestError
        When the release is not private and not meant for teaching, or the file cannot be written.
    """
    write = _writer(release, teaching, large)
    path = _checked_path(path)
    unfinished = path.with_name(f".{secrets.token_hex(8)}.unfinished")
    try:
        with unfinished.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        _sync_folder(path.parent)
    except OSError as problem:
        raise RequestError(
            f"The release cannot be written to {str(path)!r}: {problem.strerror or problem}; no file was left there."
        ) from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def to_bytes(release: Release, teaching: bool = False, large: int = LARGE) -> bytes:
    """The contents of the file that `save` writes; the same release gives the same bytes."""
    write = _writer(release, teaching, large)
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def load(source: str | Path | bytes | BinaryIO, memory: int = MEMORY, verify: bool = False) -> Release:
    """Open a release file; a stranger's is safe to open.

    Parameters
    ----------
    source : str | Path | bytes | BinaryIO
        Path, contents, or a binary file that can seek. A large release is mapped from its path, and read into memory
        from the others.
    memory : int
        Bytes that opening it may take; a larger release needs a larger number here. What is mapped takes none.
    verify : bool
        Whether to read a mapped table to its end and compare its checksum. Everything else is compared anyway.

    Raises
    ------
    ReleaseFileError
        When the contents are not a release that this version knows, contradict each other, or need too much memory.
    RequestError
        When there is no such file, or it cannot be read.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _read(io.BytesIO(source), memory, False, verify)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return _read(source, memory, False, verify)
    path = _checked_path(source)
    try:
        with path.open("rb") as file:
            return _read(file, memory, True, verify)
    except OSError as problem:
        raise RequestError(f"The file {str(path)!r} cannot be read: {problem.strerror or problem}.") from None


def _checked_path(path: object) -> Path:
    if not isinstance(path, (str, Path)) or not Path(path).name or "\0" in str(path):
        raise RequestError("A release is saved to a path, and opened from a path, from bytes, or from a binary file.")
    return Path(path)


def _writer(release: Release, teaching: bool, large: int) -> Callable[[BinaryIO], None]:
    """What writes the contents of a release's file; all that may be refused is refused here."""
    if not release.private and not teaching:
        raise RequestError(
            "This release was made with noise that can be repeated, so it protects nobody and is not saved as a "
            "release; it can be saved as a teaching file, which says so."
        )
    facts = manifest_of(release, large)
    manifest = strict_json.dumps(facts)
    if len(manifest) > MAX_MANIFEST:
        raise RequestError(
            f"The public facts of the release take {len(manifest):,} characters, and a file may have {MAX_MANIFEST:,}."
        )
    text = np.array(manifest, dtype=f"<U{len(manifest)}")
    count = {} if release.count is None else {"count": np.array(release.count, dtype="<i8")}
    if facts["format_version"] == LARGE_FORMAT_VERSION:
        small = {"manifest": text} | count
        return lambda file: aligned.write(file, chain(small.items(), narrow.arrays(release.table)))
    arrays = {"manifest": text, "table": npz.smallest_integers(array(release.table))} | count
    # Noise of variance 4 is worth two bits a counter or more, so such a table never packs further than a reader allows.
    packed = 8 * release.table.size <= FREE_BYTES or release.privacy.counter_variance >= 4.0
    return lambda file: npz.write(file, arrays, packed=packed)


def manifest_of(release: Release, large: int = LARGE) -> dict:
    """Everything public about a release but its numbers, as a value for JSON."""
    if MECHANISMS.get(release.sketch.name) is not type(release.sketch):
        raise RequestError(f"A release of the mechanism {release.sketch.name!r} has no file format.")
    is_large = release.sketch.reads_mapped and release.table.size > large
    return {
        "format": FORMAT,
        "format_version": LARGE_FORMAT_VERSION if is_large else FORMAT_VERSION,
        "mechanism": release.sketch.name,
        "parameters": release.sketch.parameters(),
        "domain": release.domain.to_dict(),
        "privacy": release.privacy.to_dict(),
        "private": release.private,
        "created": release.created,
        "software": release.software,
    }


def _sync_folder(folder: Path) -> None:
    """Make the new name of a file last through a power cut, where the system knows how."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _read(file: BinaryIO, memory: int, mapped: bool, verify: bool) -> Release:
    archive = Archive(file, LARGE_ARRAYS)
    manifest = _manifest(archive.text("manifest", MAX_MANIFEST))
    is_large = manifest["format_version"] == LARGE_FORMAT_VERSION
    if not is_large and any(name in archive for name in narrow.LISTED):
        raise ReleaseFileError("The file holds something that no release of its format has.")
    try:
        domain = Domain.from_dict(manifest["domain"])
        sketch = sketch_from_parameters(manifest["mechanism"], domain, manifest["parameters"])
        if is_large and not sketch.reads_mapped:
            raise ReleaseFileError("The file has the format of large releases, which its mechanism does not have.")
        needed = narrow.memory(archive, mapped) if is_large else archive.memory("table")
        needed += sketch.setup_bytes
        if needed > memory:
            raise ReleaseFileError(
                f"The release would take {needed:,} bytes of memory to open and {memory:,} are allowed, so that no "
                "file can exhaust this computer; allow more if you trust where it comes from."
            )
        if archive.shape("table") != sketch.shape:
            raise ReleaseFileError("The table of the file has another shape than its parameters say.")
        privacy = PrivacyRecord.from_dict(manifest["privacy"])
        if privacy.unit != domain.unit:
            raise ReleaseFileError("The promise of the file protects another unit than its columns say.")
        relation = privacy.neighbours
        if not privacy.is_kept(sketch.sensitivity(relation), sketch.count_sensitivity(relation)):
            raise ReleaseFileError("The noise that the file states does not keep the promise that it states.")
        count = _count(archive, privacy, sketch)
        private, created, software = _origin(manifest)
        table = narrow.read(archive, mapped) if is_large else archive.integers("table")
        if is_large and verify:
            narrow.verify(archive, table)
    except ReleaseFileError:
        raise
    except RequestError as problem:
        raise ReleaseFileError(f"The file does not describe a release that can be used. {problem}") from None
    return Release(sketch, table, count, privacy, private, created, software)


def _manifest(text: str) -> dict:
    try:
        manifest = strict_json.loads(text)
    except ValueError:
        raise ReleaseFileError("The manifest of the file is not JSON of the kind that a release has.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ReleaseFileError("The file is an archive of NumPy arrays, but not a release.")
    version = manifest.get("format_version")
    if type(version) is int and version > LARGE_FORMAT_VERSION:
        raise ReleaseFileError(
            f"The release was made by a newer version of Frostglass, in format {version}, and this one reads formats "
            f"up to {LARGE_FORMAT_VERSION}; install the newer version to open it."
        )
    if type(version) is not int or version not in (FORMAT_VERSION, LARGE_FORMAT_VERSION):
        raise ReleaseFileError("The file states no version of the release format that was ever made.")
    try:
        return exact_fields(manifest, "release", FIELDS)
    except RequestError as problem:
        raise ReleaseFileError(str(problem)) from None


def _count(archive: Archive, privacy: PrivacyRecord, sketch: LinearSketch) -> int | np.ndarray | None:
    """The released number of records: hidden by noise, or public, or None where it is read off the table.

    One class of a release with classes has none where they had none, though the number of all records was public.
    """
    noisy, public = bool(privacy.count_noise), sketch.count_is_public(privacy.neighbours)
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


def _origin(manifest: dict) -> tuple[bool, str, str]:
    """Whether the release is private, when it was made, and by which software."""
    private, created, software = manifest["private"], manifest["created"], manifest["software"]
    if type(private) is not bool:
        raise ReleaseFileError("The file does not say whether its release is private.")
    check_text(software, "The name of the software")
    check_text(created, "The time of release")
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise ReleaseFileError("The time of release in the file is not a time with its zone in ISO 8601.")
    return private, created, software
