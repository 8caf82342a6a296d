"""Which part of a released file a picture shows."""

from __future__ import annotations

from dataclasses import dataclass

from ..releases.release import Release


@dataclass(frozen=True)
class View:
    """What a picture shows: one or two columns, and the others that are held at a value; the rest is averaged over.

    A picture of distances averages over nothing: what is not held otherwise is held at the nearest place.
    """

    columns: tuple[str, ...]
    held: tuple[tuple[str, object], ...] = ()

    def averages(self, release: Release) -> bool:
        """Whether any column of the release is neither drawn nor held."""
        return len(self.columns) + len(self.held) < len(release.domain.columns)
