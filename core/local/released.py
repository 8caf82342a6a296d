"""What a collector hands out, of whatever survey: answers with their bands, and a file of them.

The file is a NumPy archive of `manifest` (JSON) and, where there is one, `table` (whole numbers), as released sketches
are. All in it is made of reports that were private when they were sent, so it costs nobody anything more.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import pandas as pd

from ..checks import check_choice
from ..errors import RequestError
from ..releases.file import sync_folder
from ..runtime import archive_writing, strict_json
from ..runtime.transient import unfinished
from .post_processing import processed, still_valid

FORMAT = "frostglass-local"


class LocalAnswers(ABC):
    """Reports of a survey, summed up.

    Attributes
    ----------
    survey : Survey | OpenSurvey | TextSurvey
        The question and how it was answered.
    refused : int
        How many reports no device sends.
    created, software : str
        When (ISO 8601) and by which program it was made.
    """

    format_version: ClassVar[int]
    ways: ClassVar[tuple[str, ...]]
    """How estimates may be made plausible."""

    survey: Any
    refused: int
    created: str
    software: str

    @property
    @abstractmethod
    def people(self) -> int:
        """How many reports were counted."""

    @property
    def question(self) -> str:
        """As people read it."""
        return str(self.survey.question)

    @property
    def epsilon(self) -> Decimal:
        """The promise to whoever reported."""
        found: Decimal = self.survey.oracle.epsilon
        return found

    @property
    @abstractmethod
    def title(self) -> str:
        """How answers were randomised, as people read it."""

    def table(self, post: str = "base", level: float = 0.95) -> pd.DataFrame:
        """One row an answer: value, estimate, low, high and the share of all reports.

        Parameters
        ----------
        post : str
            How estimates are made plausible, one of `ways`; see `core.local.post_processing`.
        level : float
            Probability with which an interval holds the count.
        """
        check_choice(post, "Post-processing of these answers", self.ways)
        values, estimate, low, high = self._answers(level)
        low, high, _ = still_valid(low, high, self.people, post)
        estimate = processed(estimate, self.people, post)
        columns = {"value": values, "estimate": estimate, "low": low, "high": high}
        return pd.DataFrame(columns | {"share": estimate / self.people})

    @abstractmethod
    def _answers(self, level: float) -> tuple[Sequence[str], np.ndarray, np.ndarray, np.ndarray]:
        """Values, estimates without bias, and ends of their intervals."""

    @abstractmethod
    def _reach(self) -> tuple[float, float]:
        """By how much one report, whatever it says, lowers and raises any one estimate at most."""

    def poisoned(self, share: float) -> tuple[float, float]:
        """How far a share of all reports could move any one answer, down and up, if those who sent them lie as one.

        A report moves an estimate by no more than its reach, whatever it says; that of a liar stands where an honest
        one would have counted between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise RequestError("A share of liars must lie between 0 and 1.")
        down, up = self._reach()
        liars = share * self.people
        return liars * (1.0 - down), liars * up

    def save(self, path: str | Path) -> None:
        """Write it to a file that is either whole or not there at all."""
        place = Path(path)
        try:
            with unfinished(place) as file:
                self._write(file)
            sync_folder(place.parent)
        except OSError as problem:
            raise RequestError(f"The file {str(path)!r} cannot be written: {problem.strerror or problem}.") from None

    def to_bytes(self) -> bytes:
        """The contents of the file."""
        file = io.BytesIO()
        self._write(file)
        return file.getvalue()

    @property
    def counters(self) -> np.ndarray | None:
        """Whole numbers that are written beside the manifest."""
        return None

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """What the manifest says that other kinds of answers have not."""

    def _write(self, file: BinaryIO) -> None:
        text = strict_json.dumps(
            {
                "format": FORMAT,
                "format_version": self.format_version,
                "survey": self.survey.to_dict(),
                "people": self.people,
                "refused": self.refused,
                "created": self.created,
                "software": self.software,
                **self._facts(),
            }
        )
        arrays = {"manifest": np.array(text, dtype=f"<U{len(text)}")}
        if self.counters is not None:
            arrays["table"] = archive_writing.smallest_integers(self.counters)
        archive_writing.write_archive(file, arrays)
