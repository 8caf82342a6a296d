"""Counts of any texts from randomised reports of a sketch, behind scikit-learn's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..geometry.uniforms import PublicRandom
from ..local.local_answers import SketchRelease
from ..local.survey import OpenSurvey
from ..local.survey import sketch as local_sketch
from ..privacy.budget import Number
from .local_reports import QUESTION, LocalEstimator


@dataclass(kw_only=True, repr=False, eq=False)
class LocalTextCounts(LocalEstimator):
    """How many people gave any text, from randomised reports; nobody needs a list of texts until they ask.

    Parameters
    ----------
    sketch : str
        "count-min", "cms", "hcms", "count-sketch" or "rappor".
    epsilon : Number
        The promise to whoever reports.
    settings : dict[str, object] | None
        Further parameters of the sketch, such as ``{"rows": 16, "width": 512}``.
    random_state : int
        Public seed of the hash functions, the same for devices and collector.

    Attributes
    ----------
    tally_ : Tally
        The sums of all reports.
    n_reports_, n_refused_ : int
        How many were counted, and how many no device sends.

    Examples
    --------
    >>> towns = LocalTextCounts(epsilon=4, settings={"rows": 4, "width": 64})
    >>> reports = towns.privatise(["Ulm"] * 3_000 + ["Paris"] * 1_000)
    >>> found = towns.fit(reports).frequencies(["Ulm", "Rome"])
    >>> bool(found["low"][0] > found["high"][1])
    True
    """

    sketch: str = "count-min"
    epsilon: Number = 1
    settings: dict[str, object] | None = None
    random_state: int = 0

    @property
    def survey(self) -> OpenSurvey:
        """The question with its sketch."""
        high, low = PublicRandom(self.random_state, 0).words(2).tolist()
        return OpenSurvey(
            QUESTION, local_sketch(self.sketch, self.epsilon, seed=high << 64 | low, **(self.settings or {}))
        )

    def privatise(self, texts: Sequence[str]) -> np.ndarray:
        """The reports of people with these texts: what their devices send."""
        survey = self.survey
        return survey.oracle.privatise(survey.keys(texts))

    def partial_fit(self, reports: np.ndarray, y: object = None) -> LocalTextCounts:
        """Count further reports."""
        return self._add(reports)

    def frequencies(self, candidates: Sequence[str], level: float = 0.95) -> pd.DataFrame:
        """One row a candidate: value, estimate, low, high and share.

        Parameters
        ----------
        candidates : Sequence[str]
            Public texts, whichever one wants to know of.
        level : float
            Probability with which an interval holds the count.
        """
        return self.release(candidates).table(level=level)

    def release(self, candidates: Sequence[str]) -> SketchRelease:
        """The counts as a file for others, who may ask about further texts.

        Parameters
        ----------
        candidates : Sequence[str]
            What the file is asked about at first.
        """
        check_is_fitted(self)
        return SketchRelease.of(self.survey, self.tally_, self.n_refused_, candidates)
