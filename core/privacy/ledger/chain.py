"""Links of a chain of records: a record that was changed, moved or removed no longer fits to the one behind it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ...runtime import environment


def link_of(previous: str, fields: Mapping[str, Any]) -> str:
    """The SHA-256 of the link before and a record's own fields."""
    # default=str: a damaged file may hold any type in any column, and must give another link rather than an error.
    text = json.dumps([previous, fields], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def canonical(record: Mapping[str, Any]) -> str:
    """Return the one text of a JSON object; ValueError or TypeError for what JSON cannot hold."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def moment() -> str:
    """Now, as records have it: UTC to the second."""
    return environment.utc().isoformat(timespec="seconds")
