"""What a collector hands out, of whatever survey: answers with their bands, and a file of them.

What a collector hands out, of whatever survey: answers with their bands, and a file of them.

The file is a NumPy archive of `manifest` (JSON) and, where there is one, `table` (whole numbers), as released sketches
are. All in it is made of reports that were private when they were sent, so it costs nobody anything more.

Counted reports of a survey that is answered by any text: a sketch, and the texts that it is asked about.

Which texts are asked is chosen by whoever reads the file, as often as they like: it costs nobody anything.

Frequent texts that were found among reports, with their bands: what a search hands out instead of the reports.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..errors import RequestError
from ..releases.file import sync_folder
from ..runtime import archive_writing, archives
from ..runtime.counter_tables import Array, Floats
from ..runtime.environment import SOFTWARE, now
from ..runtime.parameters import check_choice, check_number, check_text
from ..runtime.transient import unfinished
from ..sketches.answers import level_of_each
from .oracles.cell_sketches import CellSketch
from .oracles.counting import Tally
from .post_processing import processed, still_valid
from .survey import MOST_CHARACTERS, OpenSurvey, TextSurvey

FORMAT = "frostglass-local"


class LocalAnswers(ABC):
    """Reports of a survey, summed up."""

    format_version: ClassVar[int]
    ways: ClassVar[tuple[str, ...]]  # How estimates may be made plausible.

    survey: Any  # The question and how it was answered.
    refused: int  # How many reports no device sends.
    # When (ISO 8601) and by which program it was made.
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

        `post`: How estimates are made plausible, one of `ways`; see `core.local.post_processing`. `level`: Probability
        with which an interval holds the count.
        """
        check_choice(post, "Post-processing of these answers", self.ways)
        values, estimate, low, high = self._answers(level)
        error = (high - low) / (2.0 * ndtri(0.5 + level / 2.0))
        low, high, _ = still_valid(low, high, self.people, post)
        estimate = processed(estimate, self.people, post, error)
        columns = {"value": values, "estimate": estimate, "low": low, "high": high}
        return pd.DataFrame(columns | {"share": estimate / self.people})

    @abstractmethod
    def _answers(self, level: float) -> tuple[Sequence[str], np.ndarray, np.ndarray, np.ndarray]:
        """Values, estimates without bias, and ends of their intervals."""

    def poisoned(self, share: float) -> tuple[float, float]:
        """How far a share of all reports could move any one answer, down and up, if those who sent them lie as one.

        A report moves an estimate by no more than its reach, whatever it says; that of a liar stands where an honest
        one would have counted between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise RequestError("A share of liars must lie between 0 and 1.")
        down, up = self.survey.oracle.reach
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
        text = archives.dumps(
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


@dataclass(frozen=True, eq=False)
class SketchRelease(LocalAnswers):
    """A sketch of reports, and candidates."""

    format_version = 2
    ways = ("base", "base-pos")

    survey: OpenSurvey  # The question and the sketch.
    tally: Tally  # Of all reports that fit.
    refused: int  # How many did not.
    # When (ISO 8601) and by which program it was made.
    created: str
    software: str
    candidates: tuple[str, ...]  # Public texts that are asked about; none of them is read off anybody.
    # Others that were asked before: frequent ones are taken off the cells that they share with candidates.
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.candidates, Sequence) or isinstance(self.candidates, str):
            raise RequestError("The candidates of a sketch must be a list of texts.")
        for text in self.candidates:
            check_text(text, "A candidate")
        if not self.candidates:
            raise RequestError("A sketch is asked about one text or more.")
        most = self.survey.oracle.most_candidates
        if len(self.candidates) + len(self.beside) > most or sum(map(len, self.candidates)) > MOST_CHARACTERS:
            raise RequestError(
                f"This sketch takes {most:,} texts at a time at most, of {MOST_CHARACTERS:,} characters in all."
            )
        object.__setattr__(self, "candidates", tuple(dict.fromkeys(self.candidates)))

    @classmethod
    def of(cls, survey: OpenSurvey, tally: Tally, refused: int, candidates: Iterable[str]) -> SketchRelease:
        """A release that is made now."""
        if not tally.people:
            raise RequestError("No report fits the survey, so there is nothing to release.")
        return cls(survey, tally, refused, now(), SOFTWARE, tuple(candidates))

    def asked(self, candidates: Iterable[str]) -> SketchRelease:
        """The same sketch, asked about other texts, beside those of the file."""
        return replace(self, candidates=tuple(candidates), beside=(*self.candidates, *self.beside))

    @property
    def people(self) -> int:
        return self.tally.people

    @property
    def title(self) -> str:
        return self.survey.oracle.oracle_title

    def _answers(self, level: float) -> tuple[Sequence[str], Floats, Floats, Floats]:
        every = tuple(dict.fromkeys((*self.candidates, *self.beside)))
        asked = len(self.candidates)
        found = self.survey.oracle.answer(self.tally, self.survey.keys(every), level)
        estimate, low, high = (part[:asked] for part in found)
        return self.candidates, estimate, low, high

    def alone(self, how: str) -> pd.DataFrame:
        """Estimates by the cells of each candidate alone, put together so: value, estimate and share."""
        one = self.survey.oracle
        if not isinstance(one, CellSketch):
            raise RequestError("The sketch 'rappor' has no rows of cells that could be put together so.")
        estimate = one.alone(self.tally, self.survey.keys(self.candidates), how)
        return pd.DataFrame({"value": self.candidates, "estimate": estimate, "share": estimate / self.people})

    @property
    def counters(self) -> np.ndarray:
        return self.tally.table

    def _facts(self) -> dict[str, Any]:
        return {"candidates": list(self.candidates)}

    def __add__(self, other: SketchRelease) -> SketchRelease:
        if self.survey != other.survey:
            raise RequestError("Two counts can be merged only when both are of the same survey.")
        both = (*self.candidates, *other.candidates)
        return SketchRelease.of(self.survey, self.tally + other.tally, self.refused + other.refused, both)


COLUMNS = ("value", "estimate", "low", "high")
MOST_FOUND = 10_000


TOP = 20  # Texts that are looked for where nobody says how many.


def told_from(found: pd.DataFrame, level: float) -> pd.Series:
    """From which counts on texts are told from none, if all intervals that are looked for had to hold at once."""
    wider = float(ndtri(0.5 + level_of_each(level, TOP) / 2.0) / ndtri(0.5 + level / 2.0))
    return wider * (found.estimate - found.low)


@dataclass(frozen=True, eq=False)
class FoundRelease(LocalAnswers):
    """Texts with estimates and the ends of their intervals."""

    format_version = 2
    ways = ("base", "base-pos")

    survey: TextSurvey  # The question, the alphabet and the search.
    searched: int  # How many reports were searched.
    refused: int  # How many others no device sends.
    # When (ISO 8601) and by which program it was made.
    created: str
    software: str
    level: float  # Probability with which an interval holds a count.
    found: pd.DataFrame  # value, estimate, low and high, the most frequent text first.

    def __post_init__(self) -> None:
        if not 0 < check_number(self.level, "The level of intervals") < 1:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        if not len(self.found):
            raise RequestError(
                "The noise hides all texts, so there is nothing to release: it takes more people, or a larger epsilon."
            )
        self.survey.oracle.alphabet.codes(self.found["value"].tolist())

    @classmethod
    def of(
        cls, survey: TextSurvey, reports: Array, refused: int, top: int | None = None, level: float = 0.95
    ) -> FoundRelease:
        """Search reports that fit, and keep what is found.

        Without `top`, of the 20 strongest those that noise does not explain: whose counts would be above zero if all of
        the 20 intervals had to hold at once. With it, that many, and some may be noise alone.
        """
        if not len(reports):
            raise RequestError("No report fits the survey, so there is nothing to release.")
        found = survey.oracle.find(reports, TOP if top is None else top, level)
        if top is None:
            found = found[found.estimate > told_from(found, level)].reset_index(drop=True)
        return cls(survey, len(reports), refused, now(), SOFTWARE, level, found)

    @property
    def needed(self) -> float:
        """About how many people a text needs to be told from noise, by the errors of those that were found."""
        return float(told_from(self.found, self.level).median())

    @staticmethod
    def listed(rows: object) -> pd.DataFrame:
        """What a file says was found; RequestError where it cannot be."""
        if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_FOUND:
            raise RequestError(f"Found texts must be a list of 1 to {MOST_FOUND:,}.")
        for row in rows:
            if not isinstance(row, list) or len(row) != len(COLUMNS) or not isinstance(row[0], str):
                raise RequestError("A found text must stand with its estimate and the ends of its interval.")
            if any("\ud800" <= sign <= "\udfff" for sign in row[0]):  # halves of signs, which no text can be made of
                raise RequestError("A found text must be text.")
            estimate, low, high = (check_number(number, "An estimate") for number in row[1:])
            if not low <= estimate <= high:
                raise RequestError("An estimate must lie in its interval.")
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(COLUMNS[1:], np.float64))

    @property
    def people(self) -> int:
        return self.searched

    @property
    def title(self) -> str:
        return f"the {self.survey.oracle.title}"

    def _answers(self, level: float) -> tuple[Sequence[str], Floats, Floats, Floats]:
        if level != self.level:
            raise RequestError(
                f"Intervals of found texts hold with probability {self.level:g}, as their search was asked to; search "
                "the reports again for another."
            )
        estimate, low, high = (self.found[name].to_numpy(np.float64) for name in COLUMNS[1:])
        return self.found["value"].tolist(), estimate, low, high

    def _facts(self) -> dict[str, Any]:
        return {"level": self.level, "found": self.found[list(COLUMNS)].to_numpy().tolist()}
