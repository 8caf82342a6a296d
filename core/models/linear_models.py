"""Linear models as they are released: of classes, by scores and probabilities, and of numbers; and opening their files.

A model that tells classes apart, as it is released: scores, and the probabilities that they stand for.

A model that predicts a number, as it is released, with how far its coefficients may be off where theory says so.

Opening model files of every kind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri, softmax

from ..analysis.product_sums import Term
from ..domain import Numeric, Scalar
from ..errors import ReleaseFileError, RequestError
from ..formatting.numbers import significant
from ..runtime import archives
from ..runtime.parameters import check_number, exact_fields
from ..sketches.answers import check_level
from .model_file import FIELDS, REACH, ModelFile, later_fields, shortened
from .training_task import MAX_COORDINATES, MOST_WAVES, Task

CALIBRATED = "calibrated on public records"  # The detail that says on how many.
KINDS = ("logistic", "multinomial", "one-vs-rest", "svm")


@dataclass(frozen=True, eq=False)
class LinearModel(ModelFile):
    """Classes from scores.

    The kinds are "logistic" (one row, log odds of the second class), "multinomial" (a row a class, log odds up to a
    constant), "one-vs-rest" (a row a class, each log odds against the others), and "svm" (margins).
    """

    kinds = KINDS

    @staticmethod
    def check_task(task: Task) -> None:
        task.check_classes()

    @staticmethod
    def rows_of(task: Task) -> set[int]:
        return {task.rows, len(task.categories)}

    @property
    def categories(self) -> tuple[str, ...]:
        """The classes, in the public order."""
        return self.task.categories

    @property
    def subject(self) -> str:
        return f"{self.task.label} ({', '.join(self.categories)})"

    @property
    def same_for_all(self) -> bool:
        """Whether no column moves any score."""
        return not self.rows[:, 1:].any()

    def about(self) -> list[str]:
        if self.same_for_all:
            largest = self.categories[int(self.shares(self.intercepts[None])[0].argmax())]
            return [f"It gives everyone the same answer, {largest}: the largest class, as far as noise lets one tell."]
        records = self.details.get(CALIBRATED)
        return [f"Its probabilities were made to fit {records} public records."] if records else []

    def coefficients(self) -> pd.DataFrame:
        """Rows of column, category ("" for numbers) and, for each class that has a row, the score's change.

        A number's is for one of its own unit, and the first row, of no column, is the intercept: the score where all
        numbers are 0 and there is no category. Of models with curves, knots and categories are told from the mean of
        their column's.
        """
        terms = self.task.terms
        values = np.column_stack((self.intercepts, self.slopes))
        table = pd.DataFrame(
            {
                "column": ["", *(term.name if not term.category else term.column for term in terms)],
                "category": ["", *(term.category for term in terms)],
            }
        )
        named = self.categories[1:] if len(self.rows) == 1 else self.categories
        return table.join(pd.DataFrame(values.T, columns=list(named)))

    def probabilities(self, queries: object) -> np.ndarray:
        """Of the classes, float64 (n, K). Margins of an svm are read as log odds, which they are not quite."""
        return self.shares(self.decision(queries))

    def shares(self, scores: np.ndarray) -> np.ndarray:
        """The probabilities that scores stand for."""
        if scores.shape[1] == 1:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        if self.kind == "multinomial":
            return softmax(scores, axis=1)
        return softmax(np.log(np.maximum(expit(scores), np.finfo(float).tiny)), axis=1)

    def codes(self, queries: object) -> np.ndarray:
        """The place of the likeliest class in the list, int64 (n,)."""
        scores = self.decision(queries)
        return (scores[:, 0] > 0).astype(np.int64) if scores.shape[1] == 1 else scores.argmax(axis=1)

    def predict(self, queries: object) -> pd.DataFrame:
        """The likeliest class of each query, and the probability of every one."""
        found = self.probabilities(queries)
        names = np.array(self.categories, dtype=object)
        return pd.DataFrame({"predicted": names[found.argmax(axis=1)]}).join(
            pd.DataFrame(found, columns=[f"probability of {name}" for name in names])
        )


# A score is what is predicted, as a share of its bounds, or the logarithm of it, in its own unit.
NUMBER_MODEL_KINDS = ("number", "count")
LEVEL = 0.95
ENDS = {"low": -1.0, "high": 1.0}
MOST_IN_FILE = 256  # Coefficients up to which a file says how the noise of each hangs together with that of every other
FACTORS = (
    "Its coefficients are of a logarithm: columns multiply what is expected, and one of 0.1 makes it a tenth larger."
)
NO_BANDS = (
    "It has no bands: how far its noise moved a coefficient or a prediction depends on sums of the records that are "
    "not released, or that noise hides."
)


@dataclass(frozen=True, eq=False)
class NumberModel(ModelFile):
    """A number from a score: middle + half · score, or e^score of a count; inside the public bounds.

    Attributes
    ----------
    errors : np.ndarray | None
        Deviations that the noise gives the coefficients of coordinates between -1 and 1, that of the 1 in front first,
        float64 (d + 1,); None where no theory says them.
    residual : float | None
        How far a record typically is from what is predicted, root mean square, between 0 and 2 as targets lie between
        -1 and 1; None where nothing was released that says so.
    covariance : np.ndarray | None
        Of the same coefficients by noise, float64 (d + 1, d + 1); None where no theory says it, or there are more than
        `MOST_IN_FILE`.
    """

    errors: np.ndarray | None = None
    residual: float | None = None
    covariance: np.ndarray | None = None
    # How far a record typically is from the mean of all, in the same unit; None where nothing released says it.
    of_mean: float | None = None
    kinds = NUMBER_MODEL_KINDS

    @staticmethod
    def check_task(task: Task) -> None:
        task.check_number()

    @staticmethod
    def rows_of(task: Task) -> set[int]:
        return {1}

    @property
    def goal(self) -> Term:
        """What is predicted."""
        return self.task.goal

    @property
    def to_natural(self) -> float:
        return 1.0 if self.counts else self.goal.half

    @property
    def bands(self) -> np.ndarray | None:
        if self.errors is None:
            return super().bands
        return np.asarray(REACH * self.errors[None, 1:] / np.array([term.half for term in self.task.terms]))

    @property
    def counts(self) -> bool:
        """Whether columns multiply what is predicted: coefficients are of its logarithm then."""
        return self.kind == "count"

    @property
    def subject(self) -> str:
        return self.task.label

    @property
    def named(self) -> str:
        """What is predicted, with its unit."""
        unit = getattr(self.task.target, "unit", "")
        return f"{self.task.label} ({unit})" if unit else self.task.label

    @property
    def moved(self) -> str:
        """What coefficients move."""
        return f"the logarithm of {self.named}" if self.counts else self.named

    @property
    def residual_deviation(self) -> float | None:
        """How far a record typically is from its prediction, in the column's own unit."""
        return None if self.residual is None else self.goal.half * self.residual

    def about(self) -> list[str]:
        bands = [*([FACTORS] if self.counts else []), *([] if self.bands is not None else [NO_BANDS])]
        if self.residual_deviation is None:
            return bands
        return [f"A record is typically {self.off_in_words(3)}.", *bands]

    def off_in_words(self, digits: int = 2) -> str:
        """How far off predictions typically are, beside always guessing the mean; "" where nothing says it."""
        if self.residual_deviation is None:
            return ""
        unit, half = getattr(self.task.target, "measure", ""), self.goal.half
        said = f"{significant(self.residual_deviation, digits)} {unit}".rstrip() + " off"
        if self.of_mean is None:
            return said
        return f"{said}, where always guessing the mean would be {significant(half * self.of_mean, digits)} off"

    def coefficients(self) -> pd.DataFrame:
        """Rows of column, category ("" for numbers), estimate, low and high, in the columns' own units, and `carries`.

        The first row, of no column, is the intercept: what is predicted where all numbers are 0 and there is no
        category. Of counts all are of the logarithm. Ends hold with 95% what the same method would give without noise;
        nothing where no theory says them.
        `carries` is by how much the prediction changes from one end of the column's bounds to the other, or between no
        category and this one.
        """
        terms, half = self.task.terms, self.to_natural
        middle = 0.0 if self.counts else self.goal.middle
        estimate = np.append(middle + half * self.intercepts[0], half * self.slopes[0])
        whole = [0.0, *(1.0 if term.category else 2.0 * term.half for term in terms)]
        reach = np.full(len(estimate), np.nan)
        if self.bands is not None:
            reach[1:] = half * self.bands[0]
        return pd.DataFrame(
            {
                "column": ["", *(term.name if not term.category else term.column for term in terms)],
                "category": ["", *(term.category for term in terms)],
                "estimate": estimate,
                "low": estimate - reach,
                "high": estimate + reach,
                "carries": estimate * whole,
            }
        )

    def numbers(self, queries: object) -> np.ndarray:
        """Predictions at n queries in natural units, float64 (n,), inside the public bounds."""
        return self.numbers_of(self.decision(queries))

    def numbers_of(self, scores: np.ndarray) -> np.ndarray:
        """What scores (n, 1) stand for."""
        if self.counts:
            high = self.goal.middle + self.goal.half
            return np.asarray(np.exp(np.minimum(scores[:, 0], math.log(high))))
        return self.goal.middle + self.goal.half * np.clip(scores[:, 0], -1.0, 1.0)

    def predict(self, queries: object, level: float = LEVEL) -> pd.DataFrame:
        """What is predicted of each query, as its column is read: a date where dates are predicted.

        What is expected of whole numbers is a mean, and not rounded to one of them.

        `queries`: A frame, table or mapping with the columns it is predicted from. `level`: Probability with which
        `low` and `high` hold what the same method would predict without noise; there are none where no theory says how
        far noise moved the prediction. How far records are off is `residual`.
        """
        column, scores = cast(Scalar, self.task.target), self.decision(queries)
        shifts: dict[str, np.ndarray | float] = {"predicted": 0.0}
        if self.covariance is not None:
            off = _reach(level) * self._score_errors(queries)[:, None]
            shifts |= {name: way * off for name, way in ENDS.items()}
        numbers = {name: self.numbers_of(scores + shift) for name, shift in shifts.items()}
        return pd.DataFrame(
            numbers if isinstance(column, Numeric) else {k: column.present(v) for k, v in numbers.items()}
        )

    def _score_errors(self, queries: object) -> np.ndarray:
        """Deviations that noise gives the scores of queries, float64 (n,)."""
        vectors = self.task.vectors(self.features.encode_queries(queries, self.task.encoding.metric))
        vectors[:, 1:] = shortened(np.clip(vectors[:, 1:], -1.0, 1.0), self.task.radius)
        return np.sqrt(np.maximum(((vectors @ cast(np.ndarray, self.covariance)) * vectors).sum(axis=1), 0.0))

    def to_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        errors = None if self.errors is None else self.errors.tolist()
        known: dict[str, object] = {} if self.covariance is None else {"covariance": self.covariance.tolist()}
        known |= {} if self.of_mean is None else {"of_mean": self.of_mean}
        return super().to_dict() | {"errors": errors, "residual": self.residual} | known

    @classmethod
    def from_dict(cls, value: object) -> NumberModel:
        """The model that `to_dict` wrote; RequestError on anything else, as the file may come from a stranger."""
        later = later_fields(value, "covariance", "term_errors", "of_mean")
        facts = exact_fields(value, "model", (*FIELDS, "errors", "residual", *later))
        known: dict[str, Any] = cls._read(facts)
        if known["kind"] == "count" and not known["task"].is_count:
            raise RequestError("A model of counts predicts a number whose lower bound is 0.")
        errors, residual = facts["errors"], facts["residual"]
        of_mean = facts.get("of_mean")
        for one in (residual, of_mean):
            if one is not None and not 0.0 <= check_number(one, "The residual of a model") <= 2.0:
                raise RequestError("The residual of a model must lie between 0 and 2.")
        if errors is not None:
            if not isinstance(errors, list) or len(errors) != known["rows"].shape[1]:
                raise RequestError("A model has an error for every coefficient, or none at all.")
            errors = np.array([check_number(error, "An error of a coefficient") for error in errors], np.float64)
            if (errors < 0.0).any():
                raise RequestError("An error of a coefficient must be at least 0.")
        residual = None if residual is None else float(residual)
        covariance = _covariance(facts["covariance"], errors) if "covariance" in facts else None
        of_mean = None if of_mean is None else float(of_mean)
        return cls(**known, errors=errors, residual=residual, covariance=covariance, of_mean=of_mean)


def _reach(level: float) -> float:
    """How many deviations an interval reaches to either side."""
    check_level(level)
    return float(ndtri(0.5 + level / 2.0))


def _covariance(value: object, errors: np.ndarray | None) -> np.ndarray:
    """A covariance out of a file, float64 (m, m), which must be one and belong to the errors beside it."""
    if errors is None or len(errors) > MOST_IN_FILE:
        raise RequestError("A model has a covariance where it has an error for each of a few coefficients.")
    if not isinstance(value, list) or not all(isinstance(row, list) and len(row) == len(errors) for row in value):
        raise RequestError("The covariance of a model has a row and a column for every coefficient.")
    found = np.array([[check_number(one, "A covariance") for one in row] for row in value], np.float64)
    if found.shape != (len(errors), len(errors)) or not np.allclose(found, found.T, rtol=1e-6, atol=0.0):
        raise RequestError("The covariance of a model must be square, and the same below its diagonal as above.")
    if not np.allclose(np.diag(found), errors**2, rtol=1e-6, atol=0.0):
        raise RequestError("The covariance of a model must hold the squares of its errors.")
    return found


Model = LinearModel | NumberModel
OPENING_KINDS: dict[str, type[LinearModel] | type[NumberModel]] = {
    kind: model for model in (LinearModel, NumberModel) for kind in model.kinds
}
MOST_BYTES = 1 << 28
# Bytes of a file: for a number with what stands before the next, and for all else but what is said of columns.
A_NUMBER, BESIDE_THE_NUMBERS = 25, 1 << 20


def model_of(facts: object) -> Model:
    """The model that `to_dict` wrote; RequestError where it is none."""
    kind = facts.get("kind") if isinstance(facts, dict) else None
    if not isinstance(kind, str) or kind not in OPENING_KINDS:
        raise RequestError("It is of no kind that is known here.")
    return OPENING_KINDS[kind].from_dict(facts)


def most_bytes(task: Task, halvings: int = 0) -> int:
    """Bytes of a model's file at most, with so many curves and any waves: room is taken before it is paid for."""
    width = min(MAX_COORDINATES, (task.width << halvings) + 2 * MOST_WAVES) + 1
    numbers = width * (max(1, len(task.categories)) + 1) + min(width, MOST_IN_FILE) ** 2
    return A_NUMBER * numbers + 4 * len(archives.dumps(task.domain.to_dict())) + BESIDE_THE_NUMBERS


def load_model(source: str | Path | bytes) -> Model:
    """Open a model file; a stranger's is safe to open.

    Raises
    ------
    ReleaseFileError
        When the contents are not a model that this version knows.
    """
    try:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
    except OSError as problem:
        raise RequestError(f"There is no model that can be read: {problem.strerror or problem}.") from None
    if len(content) > MOST_BYTES:
        raise ReleaseFileError("This file is too large for a model.")
    try:
        return model_of(archives.loads(content.decode()))
    except RequestError as problem:
        raise ReleaseFileError(f"This is not a model that this version can read: {problem}") from None
    except ValueError:
        raise ReleaseFileError("This is not a model that this version can read: it is no JSON of that kind.") from None
