"""Local reports behind scikit-learn's names: devices `privatise`, and the collector learns from reports alone.

What is fitted here are reports and never records: `fit` begins anew with those it is given, `partial_fit` adds further
ones, and nobody pays, as each report is private before it arrives. Devices and collector make the same estimator from
the same public parameters.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from ..domain import Domain, Numeric
from ..errors import RequestError
from ..geometry.kernels import Kernel
from ..geometry.uniforms import PublicRandom
from ..local.heavy_hitters import Alphabet, step_for
from ..local.local_answers import FoundRelease, SketchRelease
from ..local.local_race import CellReports, sized
from ..local.local_release import LocalRelease
from ..local.oracle_choice import outlooks, recommended
from ..local.oracles.counting import Tally
from ..local.post_processing import still_valid
from ..local.survey import FINDERS, OpenSurvey, RecordSurvey, Survey, TextSurvey
from ..local.survey import sketch as local_sketch
from ..privacy.budget import Number
from ..releases.release import Release
from ..sketches.race import Race
from .private import kernel_of, without_values

QUESTION = "local reports"


class LocalEstimator(BaseEstimator):
    """What every estimator from local reports shares.

    `tally_`: The sums of all reports, where they add up. `n_reports_`, `n_refused_`: How many were counted, and how
    many no device sends.
    """

    @property
    @abstractmethod
    def survey(self) -> Survey | TextSurvey | OpenSurvey | RecordSurvey:
        """Everything public that devices and collector need; its `text` is a survey file."""

    def fit(self, reports: np.ndarray, y: object = None) -> Self:
        """Learn from these reports alone.

        `reports`: As `privatise` made them; those that no device sends are left out and counted in ``n_refused_``.
        """
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        return self.partial_fit(reports)

    def partial_fit(self, reports: np.ndarray, y: object = None) -> Self:
        """Learn from further reports: where they add up, count them."""
        one = self.survey.oracle
        self.tally_: Tally = one.aggregate(self._fitting(reports), getattr(self, "tally_", None))  # type: ignore[union-attr]
        self.n_reports_ = self.tally_.people
        return self

    def _fitting(self, reports: np.ndarray) -> np.ndarray:
        """The reports that fit, counted."""
        fits = self.survey.oracle.fits(reports)
        self.n_refused_ = getattr(self, "n_refused_", 0) + int((~fits).sum())
        return reports if fits.all() else reports[fits]


@dataclass(kw_only=True, repr=False, eq=False)
class LocalFrequencies(LocalEstimator):
    """How many people gave each answer, from randomised reports.

    Parameters
    ----------
    values : Sequence[str]
        All answers there are: public, and not read off anybody.
    epsilon : Number
        The promise to whoever reports once.
    oracle : str
        A name in `core.local.survey`, or "auto" for the one of the least error with the shortest reports.
    people : int
        About how many will report, for that choice.
    bits : int | None
        Most bits of a report, for that choice.
    post : str
        How estimates are made plausible; see `core.local.post_processing`.

    Examples
    --------
    >>> fruit = LocalFrequencies(values=["apple", "pear", "fig"], epsilon=2)
    >>> reports = fruit.privatise(["apple"] * 3_000 + ["pear"] * 1_000)
    >>> found = fruit.partial_fit(reports[:2_000]).partial_fit(reports[2_000:]).frequencies()
    >>> found["value"].tolist(), bool(found["estimate"][0] > found["estimate"][2])
    (['apple', 'pear', 'fig'], True)
    """

    values: Sequence[str]
    epsilon: Number = 1
    oracle: str = "auto"
    people: int = 10_000
    bits: int | None = None
    post: str = "base"

    @property
    def survey(self) -> Survey:
        """The question with its answers and oracle."""
        name = self.oracle
        if name == "auto":
            name = recommended(outlooks(len(self.values), self.people, self.epsilon, self.bits)).oracle.name
        return Survey.of(QUESTION, tuple(self.values), name, self.epsilon)

    def privatise(self, answers: Sequence[str]) -> np.ndarray:
        """The reports of people with these answers: what their devices send.

        RequestError when an answer is not one of the values, which is never repeated.
        """
        survey = self.survey
        places = [survey.places.get(answer, -1) for answer in answers]
        if places and min(places) < 0:
            raise RequestError("An answer is none of the values, so no report can be made of it.")
        return survey.oracle.privatise(np.array(places, np.int64))

    def frequencies(self, level: float = 0.95) -> pd.DataFrame:
        """One row an answer: value, estimate, low, high and share.

        `level`: Probability with which an interval holds the count.
        """
        return self.release().table(self.post, level)

    def estimate(self) -> np.ndarray:
        """How many people gave each answer, float64 (answers,)."""
        check_is_fitted(self)
        return self.frequencies()["estimate"].to_numpy()

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Ends of intervals that hold each count with about that probability, float64 (answers,) each."""
        check_is_fitted(self)
        low, high = self.survey.oracle.interval(self.tally_, level)
        low, high, _ = still_valid(low, high, self.n_reports_, self.post)
        return low, high

    def release(self) -> LocalRelease:
        """The counts as a file for others."""
        check_is_fitted(self)
        return LocalRelease.of(self.survey, self.tally_, self.n_refused_)


@dataclass(kw_only=True, repr=False, eq=False)
class LocalFrequentTexts(LocalEstimator):
    """The texts that most people have, found from randomised reports without any list of texts.

    Parameters
    ----------
    alphabet : str
        The characters of texts.
    length : int
        How many of a text count.
    epsilon : Number
        The promise to whoever reports once.
    search : str
        "pem", "treehist" or "sfp".
    step : int | None
        Characters by which the search goes on; None for the best by the alphabet.
    random_state : int
        Public seed of the keys.

    Attributes
    ----------
    reports_ : np.ndarray
        All reports so far.

    Examples
    --------
    >>> words = LocalFrequentTexts(alphabet="abc", length=3, epsilon=4, step=1)
    >>> found = words.fit(words.privatise(["abc"] * 4_000 + ["cab"] * 1_000)).find(top=1)
    >>> found["value"].tolist()
    ['abc']
    """

    alphabet: str = "abcdefghijklmnopqrstuvwxyz"
    length: int = 6
    epsilon: Number = 1
    search: str = "pem"
    step: int | None = None
    random_state: int = 0

    @property
    def survey(self) -> TextSurvey:
        """The question with its alphabet and search."""
        if self.search not in FINDERS:
            raise RequestError(f"Texts are searched for by {' or '.join(FINDERS)}.")
        kind: Any = FINDERS[self.search]
        texts = Alphabet(self.alphabet, self.length, self.random_state)
        return TextSurvey(QUESTION, kind(texts, self.epsilon, step_for(texts) if self.step is None else self.step))

    def privatise(self, texts: Sequence[str]) -> np.ndarray:
        """The reports of people with these texts: what their devices send."""
        return self.survey.oracle.privatise(texts)

    def partial_fit(self, reports: np.ndarray, y: object = None) -> Self:
        """Keep further reports."""
        fitting = self._fitting(reports)
        before: list[np.ndarray] = [vars(self)["reports_"]] if hasattr(self, "reports_") else []
        self.reports_: np.ndarray = np.concatenate([*before, fitting])
        self.n_reports_ = len(self.reports_)
        return self

    def find(self, top: int | None = None, level: float = 0.95) -> pd.DataFrame:
        """The most frequent texts: value, estimate, low and high.

        `top`: So many, noise or not; None for those that stand out of the noise. RequestError where none does. `level`:
        Probability with which an interval holds a count.
        """
        check_is_fitted(self)
        return FoundRelease.of(self.survey, self.reports_, self.n_refused_, top, level).found


@dataclass(kw_only=True, repr=False, eq=False)
class LocalKernelDensity(LocalEstimator):
    """Average closeness of everyone to a point, from randomised reports of RACE cells (CCS 2021, section 7.3).

    Parameters
    ----------
    epsilon : Number
        The promise to whoever reports once.
    bounds : Sequence[tuple[float, float]]
        Public bounds of each feature; values outside are moved to them.
    kernel : str | Kernel
        A kernel of RACE by name, such as "euclidean" or "laplacian", or one of `core.geometry.kernels`.
    bandwidth : float | tuple[float, ...] | None
        Distance at which closeness fades.
    rows : int | None
        R; None has the forecast choose it for so many people.
    people : int
        About how many will report, for that choice.
    oracle : str
        How a cell is reported; "auto" takes the one of the least error.
    random_state : int
        Public seed of the hash functions, the same for devices and collector.

    Attributes
    ----------
    release_ : Release
        What the reports make, which every task works on.

    Examples
    --------
    >>> import numpy as np
    >>> density = LocalKernelDensity(epsilon=2, bandwidth=1.0, bounds=[(-5, 5), (-5, 5)], rows=50)
    >>> points = np.random.default_rng(0).normal(size=(5_000, 2))
    >>> scores = density.fit(density.privatise(points)).score_samples([[0, 0], [4.5, 4.5]])
    >>> bool(scores[0] > scores[1])
    True
    """

    epsilon: Number = 1
    bounds: Sequence[tuple[float, float]]
    kernel: str | Kernel = "euclidean"
    bandwidth: float | tuple[float, ...] | None = None
    rows: int | None = None
    people: int = 10_000
    oracle: str = "auto"
    random_state: int = 0

    @property
    def survey(self) -> RecordSurvey:
        """The question with its columns and sketch."""
        bounds = tuple((float(low), float(high)) for low, high in self.bounds)
        kernel = kernel_of(self.kernel, self.bandwidth)
        made = _cell_reports(bounds, kernel, self.rows, self.random_state, self.epsilon, self.people, self.oracle)
        return RecordSurvey(QUESTION, made)

    def privatise(self, X: object) -> np.ndarray:
        """The reports of people with these features: what their devices send."""
        with without_values():
            one, points = self.survey.oracle, check_array(X, dtype=np.float64)
        names = one.sketch.domain.names
        if points.shape[1] != len(names):
            raise RequestError(f"There are bounds for {len(names):,} features, and records have {points.shape[1]:,}.")
        batch = pa.RecordBatch.from_arrays([pa.array(column) for column in points.T], names=list(names))
        return one.privatise(one.sketch.encode(batch))

    def partial_fit(self, reports: np.ndarray, y: object = None) -> Self:
        """Count further reports."""
        super().partial_fit(reports)
        self.release_: Release = self.survey.oracle.release(self.tally_)
        return self

    def score_samples(self, X: object) -> np.ndarray:
        """Logarithm of the average closeness at each point, float64 (n,).

        Where the noise leaves no closeness above zero, that of the least one could see: half a record's worth.
        """
        check_is_fitted(self)
        return np.log(np.maximum(self.release_.density(check_array(X, dtype=np.float64)), 0.5 / self.n_reports_))

    def kernel_sum(self, X: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Kernel sums at each point with intervals: estimates, lower and upper ends, float64 (n,) each."""
        check_is_fitted(self)
        answers = self.release_.answer(check_array(X, dtype=np.float64), level)
        return answers.estimate, answers.low, answers.high


@lru_cache(maxsize=16)
def _cell_reports(
    bounds: tuple[tuple[float, float], ...],
    kernel: Kernel,
    rows: int | None,
    random_state: int,
    epsilon: Number,
    people: int,
    oracle: str,
) -> CellReports:
    """How records are reported; kept, as choosing the number of rows takes seconds."""
    seed = PublicRandom(random_state, 0).words(2).tolist()
    columns = tuple(Numeric(f"x{place}", low, high) for place, (low, high) in enumerate(bounds))
    sketch = Race(Domain(columns), kernel, rows=rows, seed=seed[0] << 64 | seed[1])
    return CellReports.of(sized(sketch, epsilon, people, oracle), epsilon, oracle)


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

    def frequencies(self, candidates: Sequence[str], level: float = 0.95) -> pd.DataFrame:
        """One row a candidate: value, estimate, low, high and share.

        `candidates`: Public texts, whichever one wants to know of. `level`: Probability with which an interval holds
        the count.
        """
        return self.release(candidates).table(level=level)

    def release(self, candidates: Sequence[str]) -> SketchRelease:
        """The counts as a file for others, who may ask about further texts.

        `candidates`: What the file is asked about at first.
        """
        check_is_fitted(self)
        return SketchRelease.of(self.survey, self.tally_, self.n_refused_, candidates)
