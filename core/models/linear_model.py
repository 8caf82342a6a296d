"""A model that tells classes apart, as it is released: scores, and the probabilities that they stand for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from ..analysis.product_sums import terms_of
from .model_file import ModelFile
from .records import Task

CALIBRATED = "calibrated on public records"
"""The detail that says on how many."""
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
        numbers are 0 and there is no category.
        """
        terms = terms_of(self.features)
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
