"""Releases: from an exact table to a noisy one, and what the noisy one answers for ever.

The order in `seal` is the heart of the matter: calibrate from public facts, write the cost to the ledger, and only then
draw noise. A crash in between loses budget, never privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from ..engine.checkpoint import Checkpoints
from ..engine.engines import LOCAL, building_on
from ..engine.exact import Exact
from ..engine.resuming import Keeping, ResumableBuilding, times_paid
from ..errors import RequestError
from ..machine.tables import Table, added, same, sum_of_slabs
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.noise import add_noise, check_drawable, has_room
from ..privacy.noise.randomness import Source as NoiseSource
from ..privacy.record import PrivacyRecord
from ..sketches.adaptive import Adaptive
from ..sketches.classes import Classes
from ..sketches.linear import Answers, LinearSketch
from ..sketches.plan import Plan, plan
from ..version import SOFTWARE


@dataclass(frozen=True)
class Release:
    """A noisy table with everything public that is needed to ask it anything.

    Attributes
    ----------
    sketch : LinearSketch
        The linear sketch: mechanism, parameters and domain.
    table : np.ndarray | Table
        The noisy counters, as released: int64, int32 where the sketch's `counter_type` is, or mapped from a file.
    count : int | np.ndarray | None
        The noisy number of records released apart, one a class where the sketch has classes (int64, of its
        `count_shape`); exact when `count_is_public`; None when read off the table.
    privacy : PrivacyRecord
        The promise.
    private : bool
        False for anything made with seeded noise, for teaching and tests only.
    created : str
        Time of release, ISO 8601, UTC.
    software : str
        Name and version of the program that made it.
    """

    sketch: LinearSketch
    table: np.ndarray | Table
    count: int | np.ndarray | None
    privacy: PrivacyRecord
    private: bool
    created: str
    software: str

    @property
    def domain(self):
        """The public facts about the records."""
        return self.sketch.domain

    @property
    def count_is_public(self) -> bool:
        """Whether the number of records is a public fact: a neighbour replaces a record, and none can be left out."""
        return self.count is not None and not self.privacy.count_noise

    @cached_property
    def counts(self) -> float | np.ndarray:
        """Numbers of records as well as the release knows them, of the sketch's `count_shape`; each at least 1."""
        known = self.sketch.total(self.table) if self.count is None else self.count
        return np.maximum(1.0, known) if self.sketch.count_shape else max(1.0, float(known))

    @cached_property
    def records(self) -> float:
        """Number of all records, as well as the release knows it; at least 1, as densities are divided by it."""
        return float(np.sum(self.counts))

    @property
    def count_error(self) -> float:
        """Standard deviation of each of `counts`."""
        if self.count is not None:
            return self.privacy.count_variance**0.5
        return self.sketch.total_variance(self.privacy.counter_variance) ** 0.5

    @property
    def records_error(self) -> float:
        """Standard deviation of `records`."""
        return self.count_error * math.prod(self.sketch.count_shape) ** 0.5

    @property
    def records_source(self) -> str:
        """Where `records` comes from, in words."""
        if self.count_is_public:
            return "public, as the promise hides what a record says and not how many there are"
        return "a count of its own" if self.count is not None else "the table itself"

    def answer(self, queries: object, level: float = 0.95) -> Answers:
        """Sums over all records, with intervals and averages, at n queries in natural units.

        Parameters
        ----------
        queries : object
            Array (n, columns) when all columns are numeric; otherwise a frame, Arrow table or mapping by name. The
            columns are those of the sketch's `query_domain`.
        level : float
            Probability with which the interval holds the exact kernel sum.

        Raises
        ------
        RequestError
            When a query cannot be read, or the level is not between 0 and 1.
        """
        return self.answer_points(self.sketch.query_domain.encode_queries(queries, self.sketch.metric), level)

    def answer_points(self, points: np.ndarray, level: float = 0.95) -> Answers:
        """The same for encoded points, float64 (n, dimensions)."""
        return self.sketch.answer(self.table, self.counts, points, self.privacy.counter_variance, level)

    def estimate(self, queries: object) -> np.ndarray:
        """Sums over all records, float64 (n,): how many records' worth of closeness there is, or how far all are."""
        return self.answer(queries).estimate

    def interval(self, queries: object, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends, float64 (n,) each, of intervals for the exact sums."""
        answers = self.answer(queries, level)
        return answers.low, answers.high

    def density(self, queries: object) -> np.ndarray:
        """Sums divided by the number of records, float64 (n,): average closeness, or average distance."""
        return self.answer(queries).density

    def of_class(self, which: str | int) -> Release:
        """The records of one class, as a release of their own under the same promise: every task works on it.

        Parameters
        ----------
        which : str | int
            The name of a class, or its place in the public list.

        Raises
        ------
        RequestError
            When the release has no classes, or not this one.
        """
        if not isinstance(self.sketch, Classes):
            raise RequestError("The release tells no classes apart: it was made without a column of classes.")
        place = self.sketch.index_of(which)
        count = None if self.count is None else int(self.count[place])
        return replace(self, sketch=self.sketch.inner, table=self.table[place], count=count)

    def of_everyone(self) -> Release:
        """The records of all classes together, as a release of one population: itself where there are no classes.

        All slabs share the public random numbers of one sketch, so their sum is that sketch of all records, under the
        noise of all of them.
        """
        if not isinstance(self.sketch, Classes):
            return self
        classes = len(self.sketch.categories)
        noise, count_noise = self.privacy.noise * classes, self.privacy.count_noise * classes
        privacy = replace(self.privacy, noise=noise, count_noise=count_noise)
        count = None if self.count is None else int(self.count.sum())
        return replace(self, sketch=self.sketch.inner, table=sum_of_slabs(self.table), count=count, privacy=privacy)

    def save(self, path: str | Path, teaching: bool = False) -> None:
        """Write the release to a file; see `core.releases.file.save`."""
        from .file import save  # files are made of releases, not the other way round

        save(self, path, teaching)

    def to_bytes(self, teaching: bool = False) -> bytes:
        """The contents of the release's file; see `core.releases.file.to_bytes`."""
        from .file import to_bytes

        return to_bytes(self, teaching)

    def merged(self, other: Release) -> Release:
        """The release of both tables added: the same public parameters, seed included, are needed.

        Raises
        ------
        RequestError
            When parameters or promises differ.
        """
        if (type(self.sketch), self.domain, self.sketch.parameters()) != (
            type(other.sketch),
            other.domain,
            other.sketch.parameters(),
        ):
            raise RequestError(
                "Two releases can be merged only when mechanism, domain and all public parameters, hash seed included, "
                "are the same (kernel, rows, width and so on); make the second one with the first one's."
            )
        if same(self.table, other.table):
            raise RequestError(
                "These are the same release: added to itself it would count everyone twice, noise included, and its "
                "intervals would be too short."
            )
        privacy = self.privacy.merged(other.privacy)
        if (self.count is None) != (other.count is None):
            raise RequestError("Two releases can be merged only when both or neither have a count of records.")
        return Release(
            self.sketch,
            added(self.table, other.table),
            None if self.count is None else self.count + other.count,
            privacy,
            self.private and other.private,
            _now(),
            SOFTWARE,
        )


def seal(
    sketch: LinearSketch,
    exact: Exact,
    budget: Budget,
    spend: Callable[[Cost], object] | None = None,
    noise_source: NoiseSource | None = None,
    planned: Plan | None = None,
) -> Release:
    """Spend the budget, then draw the noise, once.

    The noise is written over the exact table, which it uses up: hand in ``exact.copy()`` where it is needed again.

    Parameters
    ----------
    sketch, exact : LinearSketch, Exact
        The public map, and the sums of all records under it.
    budget : Budget
        The promise.
    spend : Callable[[Cost], object] | None
        Writes the cost to a ledger, durably, or raises; called before any noise exists.
    noise_source : NoiseSource | None
        None in any real release: the operating system's randomness. A seeded source makes a release that is marked as
        not private.
    planned : Plan | None
        The plan, when it was made before the sketch was known to its last detail; made here otherwise.

    Raises
    ------
    RuntimeError
        When the exact table is used up already; nothing was spent.
    """
    planned = plan(sketch, budget) if planned is None else planned
    check_drawable(planned.noise, planned.count_noise)
    # Taken before it is paid for, so that nobody else can pay for the same table meanwhile.
    table, records = held = exact.use_up()
    if spend is not None:
        try:
            spend(planned.cost)
        except BaseException:
            exact.give_back(held)
            raise
    table = _with_noise(table, planned.noise, noise_source)
    count = None
    if planned.counts:
        count = np.asarray(records, dtype=np.int64).reshape(sketch.count_shape)
        if planned.count_noise is not None:
            # A vector, as noise is drawn for tables and one number is not one.
            count = add_noise(count.reshape(-1), planned.count_noise, noise_source).reshape(sketch.count_shape)
        count = count if sketch.count_shape else int(count)
    return sealed(sketch, table, count, planned, budget, noise_source)


def sealed(
    sketch: LinearSketch,
    table: np.ndarray,
    count: int | np.ndarray | None,
    planned: Plan,
    budget: Budget,
    noise_source: NoiseSource | None,
) -> Release:
    """The release of a table and a count that have their noise, under the promise of all that was paid for."""
    privacy = PrivacyRecord(
        budget.epsilon,
        budget.delta,
        budget.neighbours,
        sketch.domain.unit,
        (planned.noise,),
        () if planned.count_noise is None else (planned.count_noise,),
        planned.cost.rho,
        budget.epsilon,
        budget.delta,
    )
    return Release(sketch, table, count, privacy, noise_source is None or noise_source.private, _now(), SOFTWARE)


def _with_noise(table: np.ndarray, scale: NoiseScale, source: NoiseSource | None) -> np.ndarray:
    """A table with noise in the place of the exact one, or in wider counters where the noise needs them.

    Either way the exact counters are gone afterwards.
    """
    if has_room(table.dtype, scale):
        return add_noise(table, scale, source, table)
    noisy = add_noise(table, scale, source)
    table[...] = 0
    return noisy


def release(
    sketch: LinearSketch | Adaptive,
    data: object,
    budget: Budget,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    records: int | None = None,
    progress: Callable[[int], None] | None = None,
    noise_source: NoiseSource | None = None,
    engine: str = LOCAL,
    checkpoints: str | Path | None = None,
) -> Release:
    """Read the data once, spend the budget, and return a private release.

    Parameters
    ----------
    sketch : LinearSketch | Adaptive
        For example `Race(domain, kernel)`; its size is chosen by the forecast when it has none. A mechanism that
        chooses before it measures (`Adaptive`) is released by `core.releases.adaptive`.
    data : object
        Whatever `core.sources.open_source` opens: a path, a frame, an array.
    budget : Budget
        The promise.
    ledger : Ledger | str | None
        a `Ledger`, or its file or URL; the user's own when None.
    dataset : str | None
        Name in the ledger. Without it nothing is recorded, and adding up is left to the caller. A name that the ledger
        does not know is registered with exactly what this release spends.
    records : int | None
        A public guess of the number of records, for choosing the size of the table.
    progress : Callable[[int], None] | None
        Called with the number of rows read so far.
    noise_source : NoiseSource | None
        None; see `seal`.
    engine : str
        Who fills the table: "local", this process; "dask", several on this computer; "dask:ADDRESS", a cluster.
    checkpoints : str | Path | None
        A folder of this release's own, in which a reading of more than a minute is written down, readable by its owner
        alone, until the noise is drawn. The same call goes on there after its process was killed; the sketch needs a
        seed of its own for that, as one that is drawn anew makes another table. None writes nothing down.

    Raises
    ------
    RequestError
        When the request or the data cannot be used; nothing was spent. Also when the call that is continued had spent
        already; remove the folder to make the release anew.
    BudgetError
        When the data set's budget does not allow it; nothing was spent.
    """
    from ..sources import open_source  # who explores a released file never needs what reads private data

    if isinstance(sketch, Adaptive):
        from .adaptive import release_adaptive  # it ends as any release does, in `sealed`

        if checkpoints is not None:
            raise RequestError(f"Checkpoints are for tables filled in one go, and {sketch.name!r} is not: leave them.")
        paying = {"ledger": ledger, "dataset": dataset, "records": records}
        return release_adaptive(
            sketch, data, budget, **paying, progress=progress, noise_source=noise_source, engine=engine
        )
    sketch = with_chosen_size(sketch, budget, records)
    planned = plan(sketch, budget)
    spend = paid_from(ledger, dataset, sketch, planned.cost, budget)
    keeping = None if checkpoints is None else _keeping(Path(checkpoints), ledger, dataset)
    building = building_on(engine, sketch, open_source(data), keeping)
    for rows in building:
        if progress is not None:
            progress(rows)
    made = seal(sketch, building.exact, budget, spend, noise_source)
    if isinstance(building, ResumableBuilding):
        building.forget()
    return made


def paid_from(
    ledger: Ledger | str | None, dataset: str | None, sketch: LinearSketch | Adaptive, cost: Cost, budget: Budget
) -> Callable[[Cost], object] | None:
    """What writes the cost of a release to a data set's ledger; None without a data set.

    Raises
    ------
    BudgetError
        When the budget is too small already, before any data is read; what is returned decides for good.
    """
    if dataset is None:
        return None
    book = _book(ledger)
    unit = unit_words(sketch.domain.unit)
    book.check(dataset, cost, budget.neighbours, unit)

    def spend(cost: Cost) -> None:
        book.register_if_new(dataset, cost, budget.neighbours, unit)
        note = {"mechanism": sketch.name, "parameters": sketch.parameters()}
        book.spend(dataset, cost, note, neighbours=budget.neighbours, unit=unit)

    return spend


def _keeping(folder: Path, ledger: Ledger | str | None, dataset: str | None) -> Keeping:
    """What is asked of checkpoints in a folder, for a sketch whose seeds are as they were typed."""
    checkpoints = Checkpoints(folder)
    if dataset is None:
        return Keeping(checkpoints, {}, lambda sketch: 0, any_seed=False)
    book = _book(ledger)
    payer = {"ledger": book.where, "dataset": dataset}
    return Keeping(checkpoints, payer, lambda sketch: times_paid(book, dataset, sketch), any_seed=False)


def _book(ledger: Ledger | str | None) -> Ledger:
    return ledger if isinstance(ledger, Ledger) else Ledger(ledger)


def with_chosen_size(sketch: LinearSketch | Adaptive, budget: Budget, records: int | None) -> LinearSketch | Adaptive:
    """The sketch with a size: its own, or the best one by forecast."""
    if sketch.sized:
        return sketch
    from ..forecast.forecast import checked_records, choose_size

    if isinstance(sketch, Adaptive):
        return sketch.sized_for(budget, checked_records(records))
    return choose_size(sketch, budget, records)


def unit_words(unit) -> str:
    """How the ledger names who is protected."""
    return "record" if unit.column is None else f"{unit.column}:{unit.records}"


def _now() -> str:
    return datetime.now(UTC).replace(microsecond=0).isoformat()
