"""From a sketch and a promise to how it is released: its size, its plan, how often it is read, and where noise goes.

`core.releases.job` drives them all alike: price, read, pay, draw noise, keep.

A mechanism that chooses before it measures has one promise, and one entry in the ledger for all of it: everything is
calibrated from public facts and written there before the first choice. A crash in between loses budget, never privacy.
Who fills a table, this process or a Dask cluster, changes no bit of it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np

from ..domain.domain import Widths, unlike_widths
from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale
from ..privacy.noise.noise import check_drawable, has_room
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime import archives
from ..runtime.environment import check_extra
from ..sketches.adaptive import Adaptive, AdaptivePlan
from ..sketches.linear import LinearSketch
from ..sketches.parts import Parts
from ..sketches.plan import Plan, Planned, planned_for
from ..sketches.registry import card_of
from ..sources import Source
from .engine.building import ExactTable, TableBuilder
from .engine.resuming import Keeping, ResumableBuilding
from .forecast.forecast_shares import settle
from .forecast.sketch_sizes import choose_size
from .purchase_plan import PurchasePlan
from .release import Release
from .seal import noised, promise, sealed
from .stages import Known, Stage

if TYPE_CHECKING:
    from .engine.cluster import ClusterBuilding

LOCAL = "local"


def check_engine(engine: object) -> str | None:
    """The address of the scheduler that an engine names: empty for a cluster of this machine, None for no cluster.

    RequestError when there is no such engine, or Dask is not installed.
    """
    name, colon, address = engine.partition(":") if isinstance(engine, str) else ("", "", "")
    if engine == LOCAL:
        return None
    if name != "dask" or bool(colon) != bool(address):
        raise RequestError(
            "The engine must be local (this process), dask (processes on this computer) or dask:ADDRESS (a Dask "
            "scheduler), such as dask:tls://10.0.0.7:8786."
        )
    check_extra("distributed", "cluster", "A Dask cluster")
    return address


def building_on(
    engine: str,
    sketch: LinearSketch,
    source: Source,
    keeping: Keeping | None = None,
    say: Callable[[str], object] = lambda words: None,
) -> TableBuilder | ResumableBuilding | ClusterBuilding:
    """What fills the table of a sketch with the records of a source, when it is iterated over.

    RequestError when there is no such engine, or what is to be continued was paid for already.

    `engine`: "local", "dask" or "dask:ADDRESS"; see `docs/scale.md`. `sketch`, `source`: Of a settled size, and the
    private records. `keeping`: Where this process writes down how far it is, if anywhere; on a cluster, where every
    share is read anew when its worker dies, nothing is. `say`: Tells the owner about that.
    """
    address = check_engine(engine)
    if address is None:
        return TableBuilder(sketch, source) if keeping is None else ResumableBuilding(sketch, source, keeping, say)
    from .engine.cluster import ClusterBuilding

    return ClusterBuilding(sketch, source, address or None)


BESIDE_THE_TABLE = 1 << 20  # Bytes that the rest of a file takes at most, beside its counters and its manifest.
Held = tuple[np.ndarray, "int | np.ndarray"]  # Exact sums and number of records, handed over by `ExactTable.use_up`.


class Filling(Protocol):
    """One reading of the source; iterate to do the work, each step yields the rows read so far."""

    def __iter__(self) -> Iterator[int]: ...

    @property
    def exact(self) -> ExactTable:
        """What was summed; only after the last step."""


@dataclass
class Reader:
    """Reads a source as often as a release needs."""

    source: Source  # The private records.
    engine: str = LOCAL  # Who reads them; see `building_on`.
    keeping: Keeping | None = None  # Where the first reading is written down, if anywhere.
    say: Callable[[str], object] = lambda words: None  # Tells the owner about that.
    progress: Callable[[int], object] = lambda rows: None  # Called with the rows read so far, in all readings together.
    rows: int = 0  # Rows that were read.

    def filling(self, sketch: LinearSketch) -> Filling:
        """The first reading of the source, into the table of a sketch; it has not begun."""
        return building_on(self.engine, sketch, self.source, self.keeping, self.say)

    def read(self, sketch: LinearSketch) -> Held:
        """The exact table of a sketch, by one further reading, handed over to who draws its noise."""
        before, building = self.rows, building_on(self.engine, sketch, self.source)
        for rows in building:
            self.rows = before + rows
            self.progress(self.rows)
        return building.exact.use_up()


class Kind(Protocol):
    """One kind of release, of one sketch under one budget. Everything here but `noised` follows from public facts.

    `sketch`: What is released, of a settled size; the ledger's note names it. `budget`: The promise of everything
    together.
    """

    @property
    def sketch(self) -> LinearSketch | Adaptive: ...

    @property
    def budget(self) -> Budget: ...

    @property
    def cost(self) -> Cost:
        """Of everything; the ledger gets it as one entry. RequestError when the promise cannot be kept."""

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """All noise that will be drawn, and None where there is none."""

    @property
    def table(self) -> LinearSketch:
        """A sketch of the size of the released table, as far as it is known before anything is read."""

    def first(self, reader: Reader) -> Filling:
        """The reading before anything is paid for. Whatever has to be refused comes out in it."""

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """Draw all noise, and read again where that is needed. Called once, after `cost` was written to the ledger."""


def most_bytes(kind: Kind) -> int:
    """Bytes that the file of a release takes at most, from public facts."""
    sketch = kind.table
    widest = all(noise is None or has_room(np.dtype(sketch.counter_type), noise) for noise in kind.noises)
    counter = np.dtype(sketch.counter_type).itemsize if widest else 8
    table = counter * math.prod(sketch.shape) + 8 * math.prod(sketch.count_shape)
    facts = archives.dumps([sketch.parameters(), sketch.domain.to_dict()])
    return table + table // 500 + 4 * len(facts) + BESIDE_THE_TABLE  # four bytes a character, and packing may add a bit


@dataclass(frozen=True)
class Plain:
    """A linear sketch, or several side by side, under a budget."""

    # Of a settled size, and the promise.
    sketch: LinearSketch
    budget: Budget
    gaussian_only: bool = False  # Whether no noise may be pure, by what was bought before it.
    plan: Planned | None = None  # How the budget becomes noise, where that was fixed together with something before it.

    @cached_property
    def planned(self) -> Planned:
        """How the budget becomes noise."""
        if self.plan is not None:
            return self.plan
        return planned_for(self.sketch, self.budget, gaussian_only=self.gaussian_only)

    @property
    def cost(self) -> Cost:
        """The price."""
        return self.planned.cost

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of the table, and of a count of records; or of all parts and their counts."""
        return *self.planned.noises, *self.planned.count_noises

    @property
    def table(self) -> LinearSketch:
        """What is released."""
        return self.sketch

    def first(self, reader: Reader) -> Filling:
        """The one reading."""
        return reader.filling(self.sketch)

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """The table with its noise."""
        return noised(self.sketch, held, self.planned, self.budget, noise_source)


class TablePlan(PurchasePlan[Plain]):
    """A stage and the table that follows it, whose noise is fixed with that of the stage: one entry pays for both.

    `stage`: Offers the table beforehand, and draws it as it is in view of what was learnt. `budget`: The promise of
    both together.
    """

    def __init__(self, stage: Stage, budget: Budget) -> None:
        def made(known: Known) -> Plain:
            bought = known.of(stage.name)
            if bought is None or not isinstance(bought.noisy, Plain):
                raise RuntimeError("A table is planned before the stage that settles it.")
            return bought.noisy

        super().__init__([stage], Known(budget, 1.0), made)
        self.budget = budget

    @cached_property
    def _ordinarily(self) -> Plain:
        return self.forecast().made

    @property
    def sketch(self) -> LinearSketch:
        """What is released, but for what is learnt."""
        return self._ordinarily.sketch

    table = sketch

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of the stage, of the table, and of a count of records."""
        return *(bought.noise for bought in self.forecast().known.bought), *self._ordinarily.noises


@dataclass(frozen=True)
class Choosing:
    """A mechanism that chooses before it measures, under a budget.

    Whatever has to be refused comes out in the first reading, before anything is spent. A mechanism that needs further
    readings makes them afterwards; should the source fail then, the budget is lost, and nothing was released.
    """

    # For example `PrivBayes(domain, kernel)`, of a settled size, and the promise, which covers the choices too.
    sketch: Adaptive
    budget: Budget

    @cached_property
    def planned(self) -> AdaptivePlan:
        """The price of every choice and table."""
        return self.sketch.plan(self.budget)

    @property
    def cost(self) -> Cost:
        """Of all choices and tables."""
        return self.planned.cost

    @property
    def noises(self) -> tuple[NoiseScale | None, ...]:
        """Of every table that is measured, and of a count of records."""
        return (*self.planned.noises, self.planned.count_noise)

    @property
    def table(self) -> LinearSketch:
        """What is read first, as what is released is not chosen yet."""
        return self.sketch.first

    def first(self, reader: Reader) -> Filling:
        """What the mechanism looks at before anything else."""
        return reader.filling(self.sketch.first)

    def noised(self, held: Held, reader: Reader, noise_source: NoiseSource | None) -> Release:
        """Choose and measure; what is chosen is part of the release."""
        planned, first = self.planned, self.sketch.first
        table, _ = held

        def read(sketch: LinearSketch) -> np.ndarray:
            return table if sketch == first else reader.read(sketch)[0]

        made = self.sketch.run(read, planned, noise_source)
        if made.noise not in planned.noises:
            raise RuntimeError(f"The table of {self.sketch.name!r} has another noise than was paid for.")
        noised = Plan(made.noise, planned.count_noise, planned.counts, planned.cost)
        promised = promise(made.sketch, noised, self.budget)
        return sealed(made.sketch, made.table, made.count, promised, noise_source, bool(planned.choices))


def with_chosen_size(sketch: LinearSketch | Adaptive, budget: Budget, records: float | None) -> LinearSketch | Adaptive:
    """The sketch with a size: its own, or the best one by forecast; and of several parts, with a share for each."""
    if sketch.parts:
        return settle(cast(Parts, sketch), budget, records)
    if sketch.sized:
        return sketch
    return choose_size(sketch, budget, records)


class PaidTogether(Protocol):
    """What may be bought with the table that follows it, under one promise."""

    def stage(self, sketch: LinearSketch, budget: Budget) -> Stage:
        """The purchase as a stage before the table of a sketch."""


def kind_of(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    *,
    bounds: PaidTogether | None = None,
    centre: PaidTogether | None = None,
    gaussian_only: bool = False,
) -> Kind | TablePlan:
    """How a sketch is released; its size is chosen by the forecast when it has none.

    `sketch`, `budget`: What is released, and the promise of everything together. `records`: A public number of records,
    for choosing the size of the table. `bounds`, `centre`: What is to be bought with a share of the budget, if
    anything. `gaussian_only`: Whether no noise may be pure, by what was bought before it.
    """
    bought = [one for one in (bounds, centre) if one is not None]
    if len(bought) > 1:
        raise RequestError("Bounds and a centre cannot be bought in one release.")
    sketch = with_chosen_size(sketch, budget, records)
    if sketch.chooses and bought:
        raise RequestError(
            f"Nothing can be bought in a release of {sketch.name!r} that chooses under its own promise: buy bounds "
            "before it, by themselves."
        )
    if sketch.chooses:
        return priced(Choosing(sketch, budget))
    if sketch.parts and bought:
        raise RequestError("Bounds and centres are bought for a release of one question, not of several parts.")
    if bought:
        return priced(TablePlan(bought[0].stage(sketch, budget), budget))
    return priced(Plain(sketch, budget, gaussian_only=gaussian_only))


Priced = TypeVar("Priced", bound=Kind | TablePlan)


def priced(kind: Priced) -> Priced:
    """The same; RequestError when the promise cannot be kept or its noise cannot be drawn."""
    _ = kind.cost
    check_drawable(*kind.noises)
    return kind


# What follows from distances between records; counts in cells and products of columns know none.
SUMMED = ("closeness", "distance")


def wide_column(sketch: LinearSketch | Adaptive) -> Widths | None:
    """The columns of which one drowns the other in a sketch, or in a part of it.

    None where none does, or its kernel has a bandwidth for each.
    """
    if sketch.parts:
        return next(filter(None, (wide_column(part.sketch) for part in sketch.parts)), None)
    one, _ = sketch.one_answer
    widths = unlike_widths(one.domain)
    apart = isinstance(getattr(getattr(one, "kernel", None), "bandwidth", None), tuple)
    return None if widths is None or apart or card_of(one).answers not in SUMMED else widths


def warn_of_wide_columns(sketch: LinearSketch | Adaptive) -> None:
    """Say it to whoever calls from Python."""
    widths = wide_column(sketch)
    if widths is not None:
        warnings.warn(
            f"The range of {widths.widest!r} is {widths.times:,.3g} times that of {widths.narrowest!r}, so nearly all "
            f"distance is along it, and noise that suits it drowns {widths.narrowest!r}; a Domain with scale='box' "
            "compares each column as a share of its bounds.",
            stacklevel=3,
        )
