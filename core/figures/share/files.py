"""Any file that may be handed out, opened by what is in it: a release, counted local reports, or a model."""

from __future__ import annotations

from ...local.release import is_local, load_local
from ...local.released import LocalAnswers
from ...models.opening import Model, load_model
from ...releases.release import Release, load

PublicFile = Release | LocalAnswers | Model
ARCHIVE = b"PK"
"""How an archive begins; a model is JSON."""


def read_public(data: bytes) -> PublicFile:
    """Open a file of any of these kinds; a stranger's is safe to open.

    Raises
    ------
    ReleaseFileError
        When it is damaged or something else.
    """
    if data[:1] == b"{":
        return load_model(data)
    return load_local(data) if is_local(data) else load(data)


def ending(data: bytes) -> str:
    """The ending of the name of a file with such contents."""
    return ".npz" if data.startswith(ARCHIVE) else ".json"
