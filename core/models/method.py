"""What every way to train a model does, in the order that its promise rests on: refuse, read, pay, then draw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.noise.randomness import SystemSource
from ..sources import Source
from .linear_model import LinearModel
from .records import Task

Model = TypeVar("Model")


class Fitted(ABC, Generic[Model]):
    """A way to make a model of records under a promise: subclasses say what it costs, reads and draws.

    Attributes
    ----------
    name, described : str
        What programs and people call it.
    """

    name: ClassVar[str]
    described: ClassVar[str]

    @abstractmethod
    def cost(self, budget: Budget) -> Cost:
        """What a fit costs; RequestError when the promise is none that the theorem keeps."""

    @abstractmethod
    def _planned(self, budget: Budget) -> Any:
        """Noise and whatever else is public, before anything is read or spent; RequestError where there is none."""

    @abstractmethod
    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        """All records as whole-number vectors, int64 (n, m), and the places of their classes, int64 (n,)."""

    @abstractmethod
    def _trained(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, plan: Any, noise_source: NoiseSource
    ) -> Model:
        """The model; what is random about it comes from the source of noise. It was paid for."""

    def fit(
        self,
        source: Source,
        budget: Budget,
        *,
        spend: Callable[[Cost], object] | None = None,
        noise_source: NoiseSource | None = None,
    ) -> Model:
        """Read the records, spend the budget, draw the noise and train.

        Parameters
        ----------
        source : Source
            The private records.
        budget : Budget
            The promise.
        spend : Callable[[Cost], object] | None
            Writes the cost to a ledger, durably, or raises; called before any noise exists.
        noise_source : NoiseSource | None
            None in any real fit; a seeded source makes a model that is marked as not private.

        Raises
        ------
        RequestError, BudgetError
            When the request or the data cannot be used, or from ``spend``; nothing was released.
        """
        cost, plan = self.cost(budget), self._planned(budget)
        units, codes = self._read(source)
        if spend is not None:
            spend(cost)
        return self._trained(units, codes, budget, plan, SystemSource() if noise_source is None else noise_source)


@dataclass(frozen=True)
class Method(Task, Fitted[LinearModel]):
    """A way to train a linear model that predicts classes: one file each, beside this one.

    Attributes
    ----------
    theorem : str
        Why the promise is kept, in a sentence for the file.
    unit : int
        What 1 counts where records are read.
    """

    theorem: ClassVar[str]
    unit: ClassVar[int]

    def _check(self) -> None:
        super()._check()
        self.check_classes()

    @abstractmethod
    def _beside(self, plan: Any, share: Fraction) -> Any:
        """A plan whose noise is to so many fewer records what the given one's is to all of them."""

    def rehearsed(
        self, units: np.ndarray, codes: np.ndarray, budget: Budget, share: Fraction, noise_source: NoiseSource
    ) -> LinearModel:
        """A model of public records that stand for more of them: never private, never a release.

        Its noise is shorter than the promise asks of these records. So it is marked as not private whatever the source
        of noise was: its card names no promise, and it is written for teaching alone.

        Parameters
        ----------
        units, codes : np.ndarray, np.ndarray
            The public records, as `_read` gives them.
        budget : Budget
            The promise that is rehearsed.
        share : Fraction
            How many public records there are for each one that they stand for.
        noise_source : NoiseSource
            A seeded one, or the system's where many must be independent.
        """
        model = self._trained(units, codes, budget, self._beside(self._planned(budget), share), noise_source)
        return replace(model, private=False)

    def _read(self, source: Source) -> tuple[np.ndarray, np.ndarray]:
        return self.gather(source, self.unit)

    def parameters(self) -> dict:
        """All public parameters but the domain, for JSON."""
        return self.written()

    def _model(
        self,
        kind: str,
        scale: float,
        rows: np.ndarray,
        budget: Budget,
        details: dict[str, str],
        noise_source: NoiseSource,
        described: str = "",
    ) -> LinearModel:
        """The file of what was trained, which knows the task and not the method's own parameters."""
        task = Task(self.domain, self.label, self.radius)
        said = described or self.described
        return LinearModel(task, kind, scale, rows, budget, said, self.theorem, details, noise_source.private)


def signed_problems(vectors: np.ndarray, codes: np.ndarray, problems: int) -> Iterator[np.ndarray]:
    """Records times 1 or -1, one array for each class against the rest; of two classes the second's alone."""
    for problem in range(problems):
        of_class = codes == (1 if problems == 1 else problem)
        yield np.where(of_class[:, None], vectors, -vectors)


def against_the_rest(problems: int) -> str:
    """The kind of a model that was trained so."""
    return "logistic" if problems == 1 else "one-vs-rest"
