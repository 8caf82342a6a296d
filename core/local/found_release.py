"""Frequent texts that were found among reports, with their bands: what a search hands out instead of the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..checks import check_number
from ..errors import RequestError
from ..releases.release import now
from ..runtime.array_types import Array, Floats
from ..version import SOFTWARE
from .released import LocalAnswers
from .survey import TextSurvey

COLUMNS = ("value", "estimate", "low", "high")
MOST_FOUND = 10_000


@dataclass(frozen=True, eq=False)
class FoundRelease(LocalAnswers):
    """Texts with estimates and the ends of their intervals.

    Attributes
    ----------
    survey : TextSurvey
        The question, the alphabet and the search.
    searched : int
        How many reports were searched.
    refused : int
        How many others no device sends.
    created, software : str
        When (ISO 8601) and by which program it was made.
    level : float
        Probability with which an interval holds a count.
    found : pd.DataFrame
        value, estimate, low and high, the most frequent text first.
    """

    format_version = 2
    ways = ("base", "base-pos")

    survey: TextSurvey
    searched: int
    refused: int
    created: str
    software: str
    level: float
    found: pd.DataFrame

    def __post_init__(self) -> None:
        if not 0 < check_number(self.level, "The level of intervals") < 1:
            raise RequestError("The level of an interval must lie strictly between 0 and 1, such as 0.95.")
        if not len(self.found):
            raise RequestError(
                "The noise hides all texts, so there is nothing to release: it takes more people, or a larger epsilon."
            )
        self.survey.oracle.alphabet.codes(self.found["value"].tolist())

    @classmethod
    def of(cls, survey: TextSurvey, reports: Array, refused: int, top: int = 20, level: float = 0.95) -> FoundRelease:
        """Search reports that fit, and keep what is found."""
        if not len(reports):
            raise RequestError("No report fits the survey, so there is nothing to release.")
        found = survey.oracle.find(reports, top, level)
        return cls(survey, len(reports), refused, now(), SOFTWARE, level, found)

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

    def _reach(self) -> tuple[float, float]:
        return self.survey.oracle.reach

    def _facts(self) -> dict[str, Any]:
        return {"level": self.level, "found": self.found[list(COLUMNS)].to_numpy().tolist()}
