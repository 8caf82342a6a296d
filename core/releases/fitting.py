"""Whether records fit what their owner declared, before the price of a table is paid for nothing.

A list of words that nobody has, or bounds in another unit, makes a file of nothing at the full price. So a hundredth of
epsilon counts, for each column, the records whose first fault is there, and those without a fault (`Domain.faults`);
where surely less than a quarter fit, nothing more is spent. All that is decided follows from the noisy counts.

**Sensitivity.** A record's faults follow from the record alone, so it is in one cell: L1 = L2 = 1. A replaced one
leaves a cell for another, L1 = L2^2 = 2; m records of one person move the cells m times as far.

**When it is bought**: where an owner wrote the declaration by hand, and the total has room for it as an entry of its
own, as a warning that is paid for with the release warns of nothing. Columns that were found out of the records fit
them. Whoever asks for the same again means it: the ledger knows that this declaration was counted of the data set, so
it is not bought again, and the release is made, in the rest of the promise where nothing was spent since.

**How sure it is.** Where all records fit, it refuses no more than one release in two hundred, however few they are.
Where none does, it refuses from about 4.2 sqrt(9 + d) / (epsilon / 100) records in d columns on, one time in two, and
from one and a half times as many hardly ever fails to: 2,100 of fifteen columns at epsilon = 1.
"""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from typing import Any, ClassVar

import numpy as np

from ..domain import Column, Domain
from ..errors import RequestError
from ..formatting.numbers import rounded
from ..privacy.budget import Neighbours, Sensitivity
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime import archives
from ..sources import Source
from .stages import Known, Offer, Progress, Stage

SHARE = Fraction(1, 100)  # Of epsilon.
# A release of less than this share of the records is refused, where it is less by so many standard deviations.
HARDLY, SURELY = 0.25, 3.0


@dataclass(frozen=True)
class Fitting(Stage):
    """How many records fit what was declared, for a hundredth of epsilon; refuses what hardly any would be in.

    Bought where an owner wrote the declaration by hand. It is of no use where columns were found out of the records or
    bounds are bought, as these fit; and sets have no lists to miss.
    """

    of: Domain  # What was declared.
    say: Callable[[str], object] = field(default=lambda words: None, compare=False)  # Tells the owner what was counted.
    name: ClassVar[str] = "fitting"
    learns: ClassVar[str] = "how many records fit what is declared"
    warns: ClassVar[bool] = True

    def parameters(self) -> dict[str, Any]:
        """By which the very same declaration is known again."""
        written = archives.dumps(self.of.to_dict())
        return {"columns": list(self.of.fields), "declared": sha256(written.encode()).hexdigest()[:16]}

    def offered(self, known: Known) -> Offer | None:
        if self.of.holds_sets:
            return None
        moved = 1 if known.left.neighbours is Neighbours.ADD_REMOVE else 2
        each = Sensitivity(moved, moved, unit_shifts=True).scaled(self.of.unit.records)
        return Offer.of(self.name, each, Fraction(known.left.epsilon) * SHARE, known.left)

    def read(self, known: Known, source: Source, noise_source: NoiseSource | None) -> Generator[int, None, np.ndarray]:
        """The records of each column's first fault, and of none at the end."""
        cells, rows = np.zeros(len(self.of.columns) + 1, np.int64), 0
        for batch in source.batches(self.of):
            cells += np.bincount(self.of.faults(batch), minlength=len(cells))
            rows += batch.num_rows
            yield rows
        return cells

    def drawn(
        self,
        exact: Any,
        known: Known,
        offer: Offer,
        source: Source,
        noise_source: NoiseSource | None,
        progress: Progress,
    ) -> tuple[int, ...]:
        if offer.noise is None:
            raise RuntimeError("Counts of records that fit are never public.")
        noisy = add_noise(exact, offer.noise, noise_source)
        exact[...] = 0
        return tuple(noisy.tolist())

    def learnt(self, known: Known, offer: Offer, noisy: tuple[int, ...]) -> Iterator[Known]:
        (*lost, fit), error = noisy, 0.0 if offer.noise is None else math.sqrt(offer.noise.variance)
        weight = 1.0 / HARDLY - 1.0
        # Noise alone says nothing of others: of hundred columns it made more records fit than there were.
        others = sum(lost) > SURELY * error * math.sqrt(len(lost))
        whole = f" of {_about(sum(noisy), error * math.sqrt(len(noisy)))}" if others else ""
        about = f"about {_about(fit, error)}{whole} records fit what is declared"
        # Zero where HARDLY of all fit.
        if weight * fit - sum(lost) < -SURELY * error * math.hypot(weight, math.sqrt(len(lost))):
            raise RequestError(
                f"Only {about}{self._blame(lost, error, 1)}; correct it, or ask for the same again to go on"
            )
        self.say(
            f"First, for ε = {0 if offer.cost is None else offer.cost.epsilon:f}: {about}{self._blame(lost, error)}."
        )
        yield known

    def _blame(self, lost: Sequence[int], error: float, most: int = 4) -> str:
        """Which columns the others fail first, the worst ones, and how many each, as far as noise lets see."""
        # The largest of many is that far from 0 by noise alone once in a hundred times at most.
        least = max(SURELY, math.log(50.0 * len(lost)) / math.sqrt(2.0)) * error
        worst = [place for place in np.argsort(lost)[::-1] if lost[place] >= least][:most]
        said = [f"{_about(lost[place], error)} {self._failed(self.of.columns[place])}" for place in worst]
        return f", as {' and '.join(said)}" if said else ""

    @staticmethod
    def _failed(column: Column) -> str:
        what = "list" if hasattr(column, "categories") else "bounds or step" if getattr(column, "step", 0) else "bounds"
        return f"have no value within the {what} of {column.name!r}"


def _about(noisy: float, error: float) -> str:
    """A noisy number of records as people read it."""
    return rounded(max(0.0, noisy), error)
