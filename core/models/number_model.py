"""A model that predicts a number, as it is released, with how far its coefficients may be off where theory says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..checks import check_number, exact_fields
from ..domain import Scalar
from ..errors import RequestError
from ..tasks.regression.sums import Term, terms_of
from ..words.numbers import significant
from .model_file import FIELDS, ModelFile
from .records import Task

KINDS = ("number",)
REACH = float(ndtri(0.975))


@dataclass(frozen=True, eq=False)
class NumberModel(ModelFile):
    """A number from a score: middle + half · score, inside the public bounds.

    Attributes
    ----------
    errors : np.ndarray | None
        Deviations that the noise gives the coefficients of coordinates between -1 and 1, that of the 1 in front first,
        float64 (d + 1,); None where no theory says them.
    residual : float | None
        How far a record typically is from what is predicted, root mean square, between 0 and 2 as targets lie between
        -1 and 1; None where nothing was released that says so.
    """

    errors: np.ndarray | None = None
    residual: float | None = None
    kinds = KINDS

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
    def subject(self) -> str:
        return self.task.label

    @property
    def named(self) -> str:
        """What is predicted, with its unit."""
        unit = getattr(self.task.target, "unit", "")
        return f"{self.task.label} ({unit})" if unit else self.task.label

    @property
    def residual_deviation(self) -> float | None:
        """How far a record typically is from its prediction, in the column's own unit."""
        return None if self.residual is None else self.goal.half * self.residual

    def about(self) -> list[str]:
        if self.residual_deviation is None:
            return []
        unit = getattr(self.task.target, "measure", "")
        return [f"A record is typically {significant(self.residual_deviation, 3)} {unit}".rstrip() + " off."]

    def coefficients(self) -> pd.DataFrame:
        """Rows of column, category ("" for numbers), estimate, low and high, in the columns' own units, and `carries`.

        The first row, of no column, is the intercept: what is predicted where all numbers are 0 and there is no
        category. Ends hold with 95% what the same method would give without noise; nothing where no theory says them.
        `carries` is by how much the prediction changes from one end of the column's bounds to the other, or between no
        category and this one.
        """
        terms = terms_of(self.features)
        half = self.goal.half
        estimate = np.append(self.goal.middle + half * self.intercepts[0], half * self.slopes[0])
        whole = [0.0, *(1.0 if term.category else 2.0 * term.half for term in terms)]
        errors = np.full(len(estimate), np.nan)
        if self.errors is not None:
            errors[1:] = half * self.errors[1:] / np.array([term.half for term in terms])
        return pd.DataFrame(
            {
                "column": ["", *(term.name if not term.category else term.column for term in terms)],
                "category": ["", *(term.category for term in terms)],
                "estimate": estimate,
                "low": estimate - REACH * errors,
                "high": estimate + REACH * errors,
                "carries": estimate * whole,
            }
        )

    def numbers(self, queries: object) -> np.ndarray:
        """Predictions at n queries in natural units, float64 (n,), inside the public bounds."""
        return self.numbers_of(self.decision(queries))

    def numbers_of(self, scores: np.ndarray) -> np.ndarray:
        """What scores (n, 1) stand for."""
        return self.goal.middle + self.goal.half * np.clip(scores[:, 0], -1.0, 1.0)

    def predict(self, queries: object) -> pd.DataFrame:
        """What is predicted of each query, as its column is read: a date where dates are predicted."""
        column = cast(Scalar, self.task.target)
        return pd.DataFrame({"predicted": column.present(self.numbers(queries))})

    def to_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        errors = None if self.errors is None else self.errors.tolist()
        return super().to_dict() | {"errors": errors, "residual": self.residual}

    @classmethod
    def from_dict(cls, value: object) -> NumberModel:
        """The model that `to_dict` wrote; RequestError on anything else, as the file may come from a stranger."""
        facts = exact_fields(value, "model", (*FIELDS, "errors", "residual"))
        known: dict[str, Any] = cls._read(facts)
        errors, residual = facts["errors"], facts["residual"]
        if residual is not None and not 0.0 <= check_number(residual, "The residual of a model") <= 2.0:
            raise RequestError("The residual of a model must lie between 0 and 2.")
        if errors is not None:
            if not isinstance(errors, list) or len(errors) != known["rows"].shape[1]:
                raise RequestError("A model has an error for every coefficient, or none at all.")
            errors = np.array([check_number(error, "An error of a coefficient") for error in errors], np.float64)
            if (errors < 0.0).any():
                raise RequestError("An error of a coefficient must be at least 0.")
        return cls(**known, errors=errors, residual=None if residual is None else float(residual))
