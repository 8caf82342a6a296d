"""A model as it is released: rows of whole-number coefficients, and the promise that they keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from ..checks import check_choice, check_number, exact_fields
from ..domain import Domain
from ..errors import ReleaseFileError, RequestError
from ..machine.files import strict_json
from ..machine.files.transient import unfinished
from ..privacy.budget import Budget, decimal_text
from ..privacy.neighbours import Neighbours
from ..tasks.regression.sums import terms_of
from ..version import SOFTWARE
from .records import Task

FORMAT, FORMAT_VERSION = "frostglass-model", 1
BITS = 20
"""Coefficients are whole multiples of 2^-20 times the model's scale."""
KINDS = ("logistic", "multinomial", "one-vs-rest", "svm")
HIDDEN = {
    Neighbours.ADD_REMOVE: "whether anyone is among the records",
    Neighbours.REPLACE_ONE: "what anyone's record says",
}
FIELDS = ("format", "format_version", "domain", "task", "kind", "scale", "rows", "privacy", "private", "software")
LARGEST = 1 << 62
MOST_BYTES = 1 << 28


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Coefficients that anyone may use for ever, under one promise.

    Attributes
    ----------
    task : Task
        What is predicted from what: public.
    kind : str
        How scores become classes: "logistic" (one row, log odds of the second class), "multinomial" (a row a class, log
        odds up to a constant), "one-vs-rest" (a row a class, each log odds against the others), "svm" (margins).
    scale : float
        A score is scale · 2^-20 · <row, z>.
    rows : np.ndarray
        int64 (rows, d + 1), that of the 1 in front first.
    budget : Budget
        The promise.
    method, theorem : str
        How the model was trained, and why that keeps the promise.
    details : Mapping[str, str]
        Exact numbers of the noise and of the training, as text.
    private : bool
        False for what protects nobody: its noise was seeded, or shorter than the promise asks.
    """

    task: Task
    kind: str
    scale: float
    rows: np.ndarray
    budget: Budget
    method: str
    theorem: str
    details: Mapping[str, str] = field(default_factory=dict)
    private: bool = True
    software: str = SOFTWARE

    @property
    def features(self) -> Domain:
        """The columns that a query has."""
        return self.task.features

    @property
    def categories(self) -> tuple[str, ...]:
        """The classes, in the public order."""
        return self.task.categories

    @cached_property
    def _weights(self) -> np.ndarray:
        """Of coordinates between -1 and 1, float64 (rows, d + 1)."""
        return self.rows * (self.scale * 2.0**-BITS)

    @cached_property
    def slopes(self) -> np.ndarray:
        """Of coordinates in the columns' own units, float64 (rows, d)."""
        return self._weights[:, 1:] / np.array([term.half for term in terms_of(self.features)])

    @cached_property
    def intercepts(self) -> np.ndarray:
        """Float64 (rows,)."""
        return self._weights[:, 0] - self.slopes @ np.array([term.middle for term in terms_of(self.features)])

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

    def decision(self, queries: object) -> np.ndarray:
        """Scores at n queries in natural units, float64 (n, rows)."""
        encoding = self.task.encoding
        return self.decision_points(self.features.encode_queries(queries, encoding.metric))

    def decision_points(self, points: np.ndarray) -> np.ndarray:
        """The same of queries that are encoded as `features` says."""
        vectors = self.task.encoding.vectors(points)
        vectors[:, 1:] = shortened(np.clip(vectors[:, 1:], -1.0, 1.0), self.task.radius)
        return vectors @ self._weights.T

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

    def card(self) -> list[str]:
        """The model card: sentences on what it is, from what, and what it must not be used for."""
        budget = self.budget
        promise = f"ε = {decimal_text(budget.epsilon)}" + (
            f", δ = {decimal_text(budget.delta)}" if budget.delta else ""
        )
        kept = (
            [
                f"It was trained by {self.method} under {promise}, which hides {HIDDEN[budget.neighbours]}.",
                f"It holds {self.rows.size:,} coefficients and no record.",
                self.theorem,
            ]
            if self.private
            else [f"It was trained by {self.method} for teaching: its noise hides nobody, and it keeps no promise."]
        )
        return [
            f"It predicts {self.task.label} ({', '.join(self.categories)}) from {', '.join(self.features.names)}.",
            *kept,
            "Its coefficients have noise: what a single one says of a column may be the noise's.",
            "Queries outside the public bounds are judged as if they were on them.",
            "It says how records like these tend to be, and must not alone decide about a person.",
        ]

    def to_dict(self) -> dict[str, object]:
        """Everything, for JSON."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "domain": self.task.domain.to_dict(),
            "task": self.task.written(),
            "kind": self.kind,
            "scale": self.scale,
            "rows": self.rows.tolist(),
            "privacy": {
                "epsilon": decimal_text(self.budget.epsilon),
                "delta": decimal_text(self.budget.delta),
                "neighbours": str(self.budget.neighbours),
                "method": self.method,
                "theorem": self.theorem,
                "details": dict(self.details),
            },
            "private": self.private,
            "software": self.software,
        }

    @classmethod
    def from_dict(cls, value: object) -> LinearModel:
        """The model that `to_dict` wrote; RequestError on anything else, as the file may come from a stranger."""
        facts = exact_fields(value, "model", FIELDS)
        if (facts["format"], facts["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise RequestError("This is no model of a version that can be read here.")
        promised = ("epsilon", "delta", "neighbours", "method", "theorem", "details")
        promise = exact_fields(facts["privacy"], "promise of a model", promised)
        task = Task(Domain.from_dict(facts["domain"]), **Task.read(facts["task"]))
        task.check_classes()
        check_choice(facts["kind"], "The kind of a model", KINDS)
        scale = check_number(facts["scale"], "The scale of a model")
        texts = (promise["method"], promise["theorem"], facts["software"])
        details = promise["details"]
        if not isinstance(details, dict) or not all(isinstance(text, str) for text in (*texts, *details.values())):
            raise RequestError("The promise of a model must be written in texts.")
        if not isinstance(facts["private"], bool) or not 0.0 < scale < 1e100:
            raise RequestError("A model must say whether it is private, and have a scale above 0.")
        budget = Budget(promise["epsilon"], promise["delta"], promise["neighbours"])
        rows = _checked_rows(facts["rows"], task)
        private, software = facts["private"], facts["software"]
        return cls(task, facts["kind"], scale, rows, budget, texts[0], texts[1], details, private, software)

    def to_bytes(self, teaching: bool = False) -> bytes:
        """The contents of a file: JSON, which holds no code.

        Raises
        ------
        RequestError
            When the model's noise protects nobody and it is not meant for teaching.
        """
        if not (self.private or teaching):
            raise RequestError("This model's noise was seeded or made short, which protects nobody: it is not written.")
        return strict_json.dumps(self.to_dict()).encode()

    def save(self, path: str | Path, teaching: bool = False) -> None:
        """Write the model to a file that is either whole or not there at all; RequestError where it cannot be."""
        content = self.to_bytes(teaching)
        try:
            with unfinished(Path(path)) as file:
                file.write(content)
        except OSError as problem:
            raise RequestError(f"The model cannot be written: {problem.strerror or problem}.") from None


def load_model(source: str | Path | bytes) -> LinearModel:
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
        return LinearModel.from_dict(strict_json.loads(content.decode()))
    except RequestError as problem:
        raise ReleaseFileError(f"This is not a model that this version can read: {problem}") from None
    except ValueError:
        raise ReleaseFileError("This is not a model that this version can read: it is no JSON of that kind.") from None


def shortened(features: np.ndarray, radius: float) -> np.ndarray:
    """Features (n, d) no longer than the radius."""
    lengths = np.sqrt((features**2).sum(axis=1, keepdims=True))
    return features * np.minimum(1.0, radius / np.maximum(lengths, 1e-300))


def _checked_rows(rows: object, task: Task) -> np.ndarray:
    width = task.features.dimensions + 1
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == width for row in rows):
        raise RequestError("A model has a coefficient for every coordinate of its columns.")
    if len(rows) not in {1 if len(task.categories) == 2 else len(task.categories), len(task.categories)}:
        raise RequestError("A model has a row of coefficients for every class, or one for two.")
    if not all(type(value) is int and abs(value) <= LARGEST for row in rows for value in row):
        raise RequestError("The coefficients of a model are whole numbers of 63 bits at most.")
    return np.array(rows, np.int64)
