"""Counted reports of a survey that is answered by any text: a sketch, and the texts that it is asked about.

Which texts are asked is chosen by whoever reads the file, as often as they like: it costs nobody anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..checks import check_text
from ..errors import RequestError
from ..releases.release import now
from ..runtime.array_types import Floats
from ..version import SOFTWARE
from .released import LocalAnswers
from .sketches.cells import CellSketch
from .survey import MOST_CHARACTERS, OpenSurvey
from .tally import Tally


@dataclass(frozen=True, eq=False)
class SketchRelease(LocalAnswers):
    """A sketch of reports, and candidates.

    Attributes
    ----------
    survey : OpenSurvey
        The question and the sketch.
    tally : Tally
        Of all reports that fit.
    refused : int
        How many did not.
    created, software : str
        When (ISO 8601) and by which program it was made.
    candidates : tuple[str, ...]
        Public texts that are asked about; none of them is read off anybody.
    beside : tuple[str, ...]
        Others that were asked before: frequent ones are taken off the cells that they share with candidates.
    """

    format_version = 2
    ways = ("base", "base-pos")

    survey: OpenSurvey
    tally: Tally
    refused: int
    created: str
    software: str
    candidates: tuple[str, ...]
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

    def _reach(self) -> tuple[float, float]:
        return self.survey.oracle.reach

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
