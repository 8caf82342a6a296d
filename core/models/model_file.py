"""What every model file holds: whole-number coefficients, and the promise that they keep. JSON, and no code."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from scipy.special import ndtri

from ..domain import Domain
from ..errors import RequestError
from ..formatting.numbers import count, shown
from ..privacy.budget import Budget, Neighbours, decimal_text
from ..runtime import archives
from ..runtime.environment import SOFTWARE
from ..runtime.parameters import check_choice, check_number, exact_fields
from ..runtime.transient import unfinished
from .training_task import Task

FORMAT, FORMAT_VERSION = "frostglass-model", 1
BITS = 20  # Coefficients are whole multiples of 2^-20 times the model's scale.
# What stands in its card of waves.
WAVES = (
    "Beside what each column adds it has {:,} waves, cosines and sines of weighted sums of all columns at public "
    "random weights, for what columns say only together; a curve or a coefficient is the mean over all other columns."
)
PRODUCTS = "Beside what each column adds it has the products of each two numbers, for what they say only together."
DIRECTIONS = "monotonic_cst"  # The detail that says which columns were declared to raise (1) or lower (-1) it.
DIRECTED = "Its owner declared what only raises it (1) and what only lowers it (-1), and so do its curves: {}."
HIDDEN = {
    Neighbours.ADD_REMOVE: "whether anyone is among the records",
    Neighbours.REPLACE_ONE: "what anyone's record says",
}
FIELDS = ("format", "format_version", "domain", "task", "kind", "scale", "rows", "privacy", "private", "software")
LARGEST = 1 << 62
# The detail of a model whose records were walked in an order that was drawn in secret; earlier versions took one that
# anyone knows.
HIDDEN_ORDER = {"order": "hidden"}
IN_AN_ORDER = "stochastic gradient descent over a permutation"  # The method that needs it.
KNOWN_ORDER = "It was made by a version whose promise did not hold where the order of records depends on their values."
TEACHING = "A teaching file: its noise protects nobody."


# An interval of 95% in deviations.
REACH = float(ndtri(0.975))


@dataclass(frozen=True, eq=False)
class Curve:
    """What one column adds to a score, knot by knot, told from the mean of its knots."""

    column: str
    places: np.ndarray  # The knots in the column's own unit, float64 (k,), and as they are written.
    texts: tuple[str, ...]
    values: np.ndarray  # float64 (k,).
    reach: np.ndarray | None  # How far the ends of bands are from the values; None where nothing says it.

    @property
    def carries(self) -> float:
        """From its lowest value to its highest."""
        return float(np.ptp(self.values))

    @property
    def sure(self) -> bool:
        """Whether noise alone does not explain that it is no level line: no level lies in all its bands."""
        return self.reach is None or float((self.values - self.reach).max()) > float((self.values + self.reach).min())


@dataclass(frozen=True, eq=False)
class ModelFile(ABC):
    """Coefficients that anyone may use for ever, under one promise."""

    task: Task  # What is predicted from what: public.
    kind: str  # How scores become answers; each subclass lists its own.
    scale: float  # A score is scale · 2^-20 · <row, z>.
    rows: np.ndarray  # int64 (rows, d + 1), that of the 1 in front first.
    budget: Budget  # The promise.
    # How the model was trained, and why that keeps the promise.
    method: str
    theorem: str
    details: Mapping[str, str] = field(default_factory=dict)  # Exact numbers of the noise and of the training, as text.
    private: bool = True  # False for what protects nobody: its noise was seeded, or shorter than the promise asks.
    software: str = SOFTWARE
    # Deviations that noise gives `slopes`, float64 (rows, terms); None where nothing says them, as in older files.
    term_errors: np.ndarray | None = None
    kinds: ClassVar[tuple[str, ...]] = ()

    @property
    def features(self) -> Domain:
        """The columns that a query has."""
        return self.task.features

    @cached_property
    def weights(self) -> np.ndarray:
        """Of coordinates between -1 and 1, float64 (rows, d + 1)."""
        return self.rows * (self.scale * 2.0**-BITS)

    @cached_property
    def slopes(self) -> np.ndarray:
        """Of the task's terms: coordinates in the columns' own units, and knots of curves, float64 (rows, terms)."""
        return self.weights[:, 1:] @ self.task.reading[0].T

    @cached_property
    def intercepts(self) -> np.ndarray:
        """Float64 (rows,)."""
        return self.weights[:, 0] + self.weights[:, 1:] @ self.task.reading[1]

    @property
    def to_natural(self) -> float:
        """What a score of 1 is in the unit of what is predicted."""
        return 1.0

    @property
    def bands(self) -> np.ndarray | None:
        """How far ends that hold with 95% what there would be without noise reach to either side of `slopes`."""
        return None if self.term_errors is None else REACH * self.term_errors

    def curves(self, row: int) -> list[Curve]:
        """The curves of one row of scores, in the unit of what is predicted, those that move it most first."""
        found, bands = [], self.bands
        for name, (terms, places) in self.task.curves_of.items():
            texts = tuple(self.task.terms[term].category for term in terms)
            reach = None if bands is None else bands[row, terms] * self.to_natural
            found.append(Curve(name, places, texts, self.slopes[row, terms] * self.to_natural, reach))
        return sorted(found, key=lambda curve: -curve.carries)

    def decision(self, queries: object) -> np.ndarray:
        """Scores at n queries in natural units, float64 (n, rows)."""
        encoding = self.task.encoding
        return self.decision_points(self.features.encode_queries(queries, encoding.metric))

    def decision_points(self, points: np.ndarray) -> np.ndarray:
        """The same of queries that are encoded as `features` says."""
        vectors = self.task.vectors(points)
        vectors[:, 1:] = shortened(np.clip(vectors[:, 1:], -1.0, 1.0), self.task.radius)
        return vectors @ self.weights.T

    @property
    @abstractmethod
    def subject(self) -> str:
        """What it predicts, for its card."""

    @abstractmethod
    def predict(self, queries: object) -> pd.DataFrame:
        """What it says of n queries in natural units, a row each."""

    @abstractmethod
    def coefficients(self) -> pd.DataFrame:
        """Rows of column, category ("" for numbers) and coefficients in the columns' own units, the intercept first."""

    @staticmethod
    @abstractmethod
    def check_task(task: Task) -> None:
        """RequestError unless such a model predicts what the task says."""

    @staticmethod
    @abstractmethod
    def rows_of(task: Task) -> set[int]:
        """How many rows of coefficients there may be."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What must be said of its promise wherever it is opened: nothing of most."""
        known = self.method.startswith(IN_AN_ORDER) and not HIDDEN_ORDER.items() <= self.details.items()
        return (*(() if self.private else (TEACHING,)), *((KNOWN_ORDER,) if known else ()))

    def card(self) -> list[str]:
        """The model card: sentences on what it is, from what, and what it must not be used for."""
        budget, by, hides = self.budget, f"by {self.method}", HIDDEN[self.budget.neighbours]
        unit = self.task.domain.unit
        if unit.column is not None:
            hides += f", each told by {shown(unit.column)} and with at most {count(unit.records, 'record')}"
        promise = f"ε = {decimal_text(budget.epsilon)}" + (
            f", δ = {decimal_text(budget.delta)}" if budget.delta else ""
        )
        kept = (
            [
                " ".join((f"It was trained {by} under {promise}, which hides {hides}.", *self.warnings)),
                f"It holds {self.rows.size:,} coefficients and no record.",
                self.theorem,
            ]
            if self.private
            else [f"It was trained {by} for teaching: its noise hides nobody, and it keeps no promise."]
        )
        return [
            f"It predicts {self.subject} from {', '.join(self.features.names)}.",
            *kept,
            *self.about(),
            *([WAVES.format(self.task.waves)] if self.task.waves else []),
            *([PRODUCTS] if self.task.products else []),
            *([DIRECTED.format(self.details[DIRECTIONS])] if DIRECTIONS in self.details else []),
            "Its coefficients have noise: what a single one says of a column may be the noise's.",
            "Queries outside the public bounds are judged as if they were on them.",
            "It says how records like these tend to be, and must not alone decide about a person.",
        ]

    def about(self) -> list[str]:
        """What its card says of how good it is."""
        return []

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
        } | ({} if self.term_errors is None else {"term_errors": self.term_errors.tolist()})

    @classmethod
    def from_dict(cls, value: object) -> Self:
        """The model that `to_dict` wrote; RequestError on anything else, as the file may come from a stranger."""
        return cls(**cls._read(exact_fields(value, "model", (*FIELDS, *later_fields(value, "term_errors")))))

    @classmethod
    def _read(cls, facts: dict[str, Any]) -> dict[str, Any]:
        """Arguments of the class by name, checked."""
        if (facts["format"], facts["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise RequestError("This is no model of a version that can be read here.")
        promised = ("epsilon", "delta", "neighbours", "method", "theorem", "details")
        promise = exact_fields(facts["privacy"], "promise of a model", promised)
        task = Task(Domain.from_dict(facts["domain"]), **Task.read(facts["task"]))
        cls.check_task(task)
        check_choice(facts["kind"], "The kind of a model", cls.kinds)
        scale = check_number(facts["scale"], "The scale of a model")
        details, software = promise["details"], facts["software"]
        texts = (promise["method"], promise["theorem"], software)
        if not isinstance(details, dict) or not all(isinstance(text, str) for text in (*texts, *details.values())):
            raise RequestError("The promise of a model must be written in texts.")
        if not isinstance(facts["private"], bool) or not 0.0 < scale < 1e100:
            raise RequestError("A model must say whether it is private, and have a scale above 0.")
        rows = _checked_rows(facts["rows"], task, cls.rows_of(task))
        return {
            "task": task,
            "kind": facts["kind"],
            "scale": scale,
            "rows": rows,
            "term_errors": _checked_errors(facts["term_errors"], len(rows), task) if "term_errors" in facts else None,
            "budget": Budget(promise["epsilon"], promise["delta"], promise["neighbours"]),
            "method": promise["method"],
            "theorem": promise["theorem"],
            "details": details,
            "private": facts["private"],
            "software": software,
        }

    def to_bytes(self, teaching: bool = False) -> bytes:
        """The contents of a file: JSON, which holds no code.

        RequestError when the model's noise protects nobody and it is not meant for teaching.
        """
        if not (self.private or teaching):
            raise RequestError("This model's noise was seeded or made short, which protects nobody: it is not written.")
        return archives.dumps(self.to_dict()).encode()

    def save(self, path: str | Path, teaching: bool = False) -> None:
        """Write the model to a file that is either whole or not there at all; RequestError where it cannot be."""
        content = self.to_bytes(teaching)
        try:
            with unfinished(Path(path)) as file:
                file.write(content)
        except OSError as problem:
            raise RequestError(f"The model cannot be written: {problem.strerror or problem}.") from None


def later_fields(value: object, *names: str) -> tuple[str, ...]:
    """Those fields that a file has, of those that earlier versions did not write."""
    return tuple(name for name in names if isinstance(value, dict) and name in value)


def shortened(features: np.ndarray, radius: float) -> np.ndarray:
    """Features (n, d) no longer than the radius."""
    lengths = np.sqrt((features**2).sum(axis=1, keepdims=True))
    return features * np.minimum(1.0, radius / np.maximum(lengths, 1e-300))


def _checked_rows(rows: object, task: Task, counts: set[int]) -> np.ndarray:
    width = task.width + 1
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == width for row in rows):
        raise RequestError("A model has a coefficient for every coordinate of its columns.")
    if len(rows) not in counts:
        raise RequestError("A model has a row of coefficients for every class, or one for two or for a number.")
    if not all(type(value) is int and abs(value) <= LARGEST for row in rows for value in row):
        raise RequestError("The coefficients of a model are whole numbers of 63 bits at most.")
    return np.array(rows, np.int64)


def _checked_errors(value: object, rows: int, task: Task) -> np.ndarray:
    terms = len(task.terms)
    if not isinstance(value, list) or len(value) != rows:
        raise RequestError("A model has a row of errors for every row of coefficients.")
    if not all(isinstance(row, list) and len(row) == terms for row in value):
        raise RequestError("A model has an error for every term of its columns.")
    found = np.array([[check_number(one, "An error of a term") for one in row] for row in value], np.float64)
    if (found < 0.0).any():
        raise RequestError("An error of a term must be at least 0.")
    return found.reshape(rows, terms)
