"""Files in the folder of a shelf: which of them are public files, told by what they say and not by their names."""

from __future__ import annotations

from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path

from ..errors import RequestError
from ..runtime import strict_json
from ..runtime.archives import Archive
from .file import LARGE_ARRAYS, PARTS_ARRAYS
from .manifest import MAX_MANIFEST

ARCHIVED, WRITTEN = ".npz", ".json"
DESCRIBED = ".txt"
"""The ending of the text that describes a file."""
FORMATS = ("frostglass-release", "frostglass-local")
MODEL = "frostglass-model"
MOST_BYTES = 100 << 20
"""Of a file that is looked at; larger ones are opened by their path."""


def is_public_file(path: Path) -> bool:
    """Whether there is a file of a public kind under a name that people can read; what it holds is checked when opened.

    Links are none, as they would show what lies elsewhere.
    """
    if path.suffix not in (ARCHIVED, WRITTEN) or not path.name.isprintable():
        return False
    try:
        facts = path.lstat()
        if path.is_symlink() or not path.is_file() or facts.st_size == 0:
            return False
    except OSError:
        return False
    return _says_public(path, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=4_096)
def _says_public(path: Path, size: int, changed: int) -> bool:
    """Whether a file says that it is of a public kind; it is looked at anew once it has changed."""
    try:
        with path.open("rb") as file:
            if path.suffix == WRITTEN:
                return size <= MOST_BYTES and _format(file.read().decode()) == MODEL
            archive = Archive(file, (*LARGE_ARRAYS, *PARTS_ARRAYS))
            return _format(archive.text("manifest", MAX_MANIFEST)) in FORMATS
    except (OSError, ValueError, RequestError):
        return False


def _format(text: str) -> object:
    facts = strict_json.loads(text)
    return facts.get("format") if isinstance(facts, dict) else None


def digest_of(path: Path) -> str:
    """SHA-256 of a file, which is read anew once it has changed; "" where it cannot be read."""
    try:
        facts = path.stat()
        return _digest(path, facts.st_size, facts.st_mtime_ns)
    except OSError:
        return ""


@lru_cache(maxsize=4_096)
def _digest(path: Path, size: int, changed: int) -> str:
    with path.open("rb") as file:
        return file_digest(file, sha256).hexdigest()


def described(path: Path) -> str:
    """The text beside a file, on one line; "" where there is none that people can read."""
    try:
        text = path.with_suffix(DESCRIBED)
        if text.is_symlink() or text.stat().st_size > 10_000:
            return ""
        words = " ".join(text.read_text(encoding="utf-8").split())
    except (OSError, ValueError):
        return ""
    return words if words.isprintable() else ""
