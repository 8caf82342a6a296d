"""The one way in which releases are made: price, read, pay, draw noise, keep.

Whoever makes a release drives a `Job`: the function `release`, the command line, the app, an estimator. What differs
between kinds of releases lies in `core.releases.kind`; who pays in `core.releases.payment`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.part import Part
from ..sketches.parts import Parts
from ..sources import FileReading, Source, open_source
from .bounds_and_centre import BoundsPurchase, CentrePurchase
from .engine.building import ExactTable
from .engine.checkpoint import Checkpoints
from .engine.resuming import Keeping, ResumableBuilding, times_paid
from .file import copy, room_for
from .fitting import Fitting
from .forecast.sketch_sizes import ANY_RECORDS
from .found import paid_before
from .going_on import Later
from .kind import (
    LOCAL,
    Filling,
    Kind,
    Plain,
    Reader,
    TablePlan,
    check_engine,
    kind_of,
    most_bytes,
    priced,
    warn_of_wide_columns,
)
from .manifest import check_describable
from .payment import LedgerAccount, payer_of, saying_spent
from .purchase_plan import PurchasePlan, Purchasing
from .release import Release
from .release_store import Place, paid_name, public_name, shelf_of
from .seal import paid_for, promised_with, showing
from .stages import Count, Known

Asked = Kind | PurchasePlan[Any]  # What is released, or what is bought first and then made.


class Job:
    """One release, from what is asked for to what is kept.

    Iterate to read everything before anything is paid for: each step yields the rows read so far, and to stop in
    between costs nothing. Then `finish` pays and draws the noise, once. `run` does both.

    What is refused is refused before the price is written to the ledger; it is written before any noise is drawn; and
    room on the disk for what was paid for is taken before that.

    `kind`: What is released, how, and for how much; `kind_of` finds it. Or a plan, whose first reading is for what it
    buys. `payer`: Who pays, and keeps the release beside the ledger; None leaves adding up and keeping to the caller.
    `out`: A file to write the release to as well. `engine`: Who reads; see `core.releases.kind`. `keeping`: Where a
    long first reading is written down, if anywhere. `known`: What was bought before it: part of what the file says and
    promises. `say`: Tells the owner what happens.

    Its `kind` is as given, or with the seeds of the run that is continued; of a plan first that for ordinary records.
    `readings`: How often the source is read at most, as far as that is known. `kept`: Where the release is on the disk,
    once it is.

    Examples
    --------
    >>> job = Job(kind_of(sketch, budget), source, payer)  # doctest: +SKIP
    >>> for rows in job: show(rows)  # doctest: +SKIP
    >>> made = job.finish()  # doctest: +SKIP
    """

    def __init__(
        self,
        kind: Asked,
        source: Source,
        payer: LedgerAccount | None = None,
        *,
        out: Path | None = None,
        engine: str = LOCAL,
        keeping: Keeping | None = None,
        known: Known | None = None,
        noise_source: NoiseSource | None = None,
        say: Callable[[str], object] = lambda words: None,
    ):
        self.readings = 1
        self._purchasing: Purchasing[Any] | None = None
        self._taken, self._secured = ExitStack(), False
        self._place_taken: Place | None = None
        self._total = _Total()
        self._reader = Reader(source, engine, keeping, say)
        self._first: Filling | None = None
        self.kept: Path | None = None
        self._payer, self._out, self._noise_source, self._say = payer, out, noise_source, say
        self._known = known
        self.kind = self._begun(kind)

    def _begun(self, kind: Asked) -> Kind:
        """What is made, as far as is known; of a plan its purchases are begun, and what a plan makes may be a plan."""
        self._purchasing = None
        if isinstance(kind, PurchasePlan):
            if self._payer is not None:
                self._payer.file = self._payer.file or paid_name(self._payer.dataset)
            self._purchasing = Purchasing(kind, self._reader.source, self._payer, self._noise_source, self._secure)
            self.readings = len(kind.stages) + 1
        while isinstance(kind, PurchasePlan):
            kind = kind.forecast().made
        return kind

    @property
    def kept_reading(self) -> bool:
        """Whether what was read so far is on the disk, so that the same job can go on there."""
        return isinstance(self._first, ResumableBuilding) and self._first.kept

    def begin(self) -> int:
        """Price it, and refuse what can be refused before reading.

        RequestError when it cannot be made, or was paid for in the run that is continued. BudgetError when the budget
        does not allow it.

        Returns
        -------
        int
            The row from which the reading goes on: 0, or where an earlier run of the same job was stopped.
        """
        check_engine(self._reader.engine)
        if self._first is None and self._purchasing is None:
            self.kind = priced(_with_room(self.kind, self._payer))
            if self._known is not None:
                promised_with(self.kind.budget, self._known.costs)  # what no file can promise is not made either
            if self._payer is not None:
                if not self.kind.sketch.chooses:  # whatever no file can hold is not paid for
                    check_describable(self.kind.sketch)
                self._payer.check(self.kind.cost)
            self._first = self.kind.first(self._reader)
            if isinstance(self._first, ResumableBuilding) and isinstance(self.kind, Plain):
                self.kind = replace(self.kind, sketch=self._first.sketch)
        return self._first.rows if isinstance(self._first, ResumableBuilding) else 0

    def __iter__(self) -> Iterator[int]:
        while self._purchasing is not None:
            self._total(0)
            yield from map(self._total, self._purchasing)
            if self._purchasing.buys:
                return
            self._settle()
        self.begin()
        if self._first is not None:
            self._total(0)
            for rows in self._first:
                self._reader.rows = rows
                yield self._total(rows)

    def check_read(self) -> None:
        """RuntimeError while not everything was read, as half a table must never be released."""
        if self._purchasing is not None:
            self._purchasing.check_read()
        else:
            self._exact()

    def _exact(self) -> ExactTable:
        if self._first is None:
            raise RuntimeError("The table is not finished: iterate over the job to its end first.")
        return self._first.exact

    def _settle(self, progress: Callable[[int], object] = lambda rows: None) -> None:
        """Buy what decides what is released, if anything is left to buy."""
        if self._purchasing is not None:
            settled = self._purchasing.finish(progress)
            known, before = settled.known, self._known
            if before is not None:
                known = replace(
                    known,
                    bought=(*before.bought, *known.bought),
                    reserve=known.reserve or before.reserve,
                    found=known.found or before.found,
                )
            self.kind, self._known = self._begun(settled.made), known

    def finish(self, progress: Callable[[int], object] = lambda rows: None) -> Release:
        """Pay, draw the noise, and keep the release; RuntimeError when not everything was read, or the second time.

        BudgetError when the ledger refuses; nothing was spent.
        """
        with ExitStack() as self._taken:
            return self._finished(progress)

    def _show(self, rows: int, progress: Callable[[int], object]) -> None:
        total = self._total(rows)
        if rows:
            progress(total)

    def _finished(self, progress: Callable[[int], object]) -> Release:
        if self._purchasing is not None:
            with saying_spent(self._payer):
                self._settle(lambda rows: self._show(rows, progress))
                for rows in self:
                    progress(rows)
                return self._finished(progress)
        exact = self._exact()
        self._reader.progress = lambda rows: progress(self._total(rows))
        made = None
        try:
            with self._taken.pop_all() if self._secured else ExitStack() as room:
                place = self._place_taken if self._secured else room.enter_context(self._place(self.kind))
                later = Later.of(self.kind, exact, self._payer, place.path) if self._payer and place else None
                held = paid_for(exact, self.kind.cost, self._spend)
                made = showing(self.kind.noised(held, self._reader, self._noise_source), self._known, self.kind.cost)
                made = place.dated(made) if place else made
                if later is not None:
                    later.keep(made)
                if place is not None:
                    place.put(made)
            self.kept = None if place is None else place.path
        except (OSError, RequestError) as problem:
            if made is None:
                raise
            self._say(f"The release could not be kept beside the ledger: {problem}")
        self._hand_out(made)
        if isinstance(self._first, ResumableBuilding):
            self._first.forget()
        return made

    def run(self, progress: Callable[[int], object] | None = None) -> Release:
        """Read everything, then `finish`."""
        show = progress or (lambda rows: None)
        for rows in self:
            show(rows)
        return self.finish(show)

    def _spend(self, cost: Cost) -> None:
        if self._payer is not None:
            self._payer.spend(cost, self.kind.sketch)

    def _secure(self, table: Kind) -> None:
        """Find room for a table that is about to be paid for together with what is bought before it."""
        if not table.sketch.chooses:
            check_describable(table.sketch)
        self._place_taken, self._secured = self._taken.enter_context(self._place(table)), True

    @contextmanager
    def _place(self, kind: Kind) -> Iterator[Place | None]:
        """Room for what is about to be paid for: beside the ledger, or where the file is to be when there is none."""
        if self._payer is None or not (self._noise_source is None or self._noise_source.private):
            yield None  # a teaching release can be made again
            return
        size = most_bytes(kind)
        with ExitStack() as taken:
            try:
                place = taken.enter_context(
                    shelf_of(self._payer.ledger).room(self._payer.dataset, size, self._payer.file)
                )
                self._payer.note = self._payer.note | {"file": public_name(place.path.name)}
            except RequestError as problem:
                if self._out is None:
                    raise
                self._say(f"{problem} It is kept in {str(self._out)!r} alone.")
                place = Place(self._out, taken.enter_context(room_for("release", self._out, size)))
            yield place

    def _hand_out(self, made: Release) -> None:
        """Write the release to the file that was asked for; where that fails, say where it is kept."""
        if self._out is None or self.kept == self._out:
            return
        if self.kept is None:
            made.save(self._out, teaching=not made.private)
            return
        try:
            copy(self.kept, self._out)
        except RequestError as problem:
            raise RequestError(f"{problem} The release itself is kept: {str(self.kept)!r}.") from None


def _with_room(kind: Kind, payer: LedgerAccount | None) -> Kind:
    """What is released, with Gaussian noise where the ledger has room for no other: see `Reserve.later`."""
    if payer is None or not isinstance(kind, Plain) or kind.plan is not None or payer.has_room_for(kind.cost):
        return kind
    gaussian = replace(kind, gaussian_only=True)
    return gaussian if not kind.budget.pure and payer.has_room_for(gaussian.cost) else kind


class _Total:
    """Rows read in all readings together, of which each begins at 0."""

    def __init__(self) -> None:
        self._before = self._last = 0

    def __call__(self, rows: int) -> int:
        if rows < self._last:
            self._before += self._last
        self._last = rows
        return self._before + rows


def release(
    sketch: LinearSketch | Adaptive | Sequence[Part | LinearSketch],
    data: object,
    budget: Budget,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    records: float | None = None,
    bounds: BoundsPurchase | None = None,
    centre: CentrePurchase | None = None,
    progress: Callable[[int], object] | None = None,
    noise_source: NoiseSource | None = None,
    engine: str = LOCAL,
    checkpoints: str | Path | None = None,
    check: bool = False,
    paid: str = "",
    **reading: Unpack[FileReading],
) -> Release:
    """Read the data, spend the budget, and return a private release.

    Parameters
    ----------
    sketch : LinearSketch | Adaptive | Sequence[Part | LinearSketch]
        For example `Race(domain, kernel)`; its size is chosen by the forecast when it has none. A list of sketches, or
        of a `Part` for each with a name and a weight, is released together: one reading, one promise, one file.
    data : object
        Whatever `core.sources.open_source` opens: a path, a frame, an array.
    budget : Budget
        The promise.
    ledger : Ledger | str | None
        A `Ledger`, or its file or URL; the user's own when None.
    dataset : str | None
        Name in the ledger, beside which the release is kept then. Without it nothing is recorded or kept, and adding up
        is left to the caller. A name that the ledger does not know is registered with exactly what this release spends.
    records : float | None
        How many records there are at least, as anybody may know, for choosing the size of the table. Where it is
        needed and left out, a count is bought first; see `core.releases.purchase_plan`. Tables suppose 10,000 instead.
    bounds, centre : BoundsPurchase | None, CentrePurchase | None
        Bounds or a centre to be bought with a share of the budget; see `core.releases.bounds_and_centre`.
    progress : Callable[[int], object] | None
        Called with the number of rows read so far, in all readings together.
    noise_source : NoiseSource | None
        None; see `core.releases.seal.seal`.
    engine : str
        Who fills the table: "local", this process; "dask", several on this computer; "dask:ADDRESS", a cluster.
    checkpoints : str | Path | None
        A folder of this release's own, in which a reading of more than a minute is written down, readable by its owner
        alone, until the noise is drawn. The same call goes on there after its process was killed; the sketch needs a
        seed of its own for that, as one that is drawn anew makes another table. None writes nothing down.
    check : bool
        Whether a hundredth of epsilon first counts the records that fit the domain: `core.releases.fitting`.
    paid : str
        What finding out the columns has cost, as `Declaration.paid` says it; the file promises that, too.
    **reading : FileReading
        How a file is read that does not say it itself: ``encoding``, ``sep``, ``header``, ``names``, ``sheet``.

    Raises
    ------
    RequestError, BudgetError
        When the request or the data cannot be used, or the budget does not allow it; nothing was spent. Also when the
        call that is continued had spent already; remove the folder to make the release anew.
    """
    sketch = Parts.of(sketch) if isinstance(sketch, Iterable) else sketch
    sketch.check_budget(budget)
    warn_of_wide_columns(sketch)
    source, payer = open_source(data, **reading), payer_of(ledger, dataset, budget, sketch.domain.unit)
    needs_count = records is None and not sketch.sized and sketch.needs_records
    if needs_count and checkpoints is not None:
        raise RequestError("Checkpoints need a number of records (records=...), as a count that is bought is new.")

    def made(known: Known) -> Kind | TablePlan:
        return kind_of(sketch, known.left, known.records, bounds=bounds, centre=centre)

    costs, within = paid_before(paid)
    known = Known.having_paid(budget, costs, records or (1.0 if sketch.sized else ANY_RECORDS), within)
    stages = [*([Fitting(sketch.domain)] if check else []), *([Count(sketch.domain)] if needs_count else [])]
    plan = PurchasePlan(stages, known, made)
    keeping = None if checkpoints is None else _keeping(Path(checkpoints), payer)
    job = Job(plan, source, payer, engine=engine, keeping=keeping, noise_source=noise_source)
    if checkpoints is not None and not isinstance(job.kind, Plain):
        raise RequestError(f"Checkpoints are for tables filled in one go, and {sketch.name!r} is not: leave them.")
    return job.run(progress)


def _keeping(folder: Path, payer: LedgerAccount | None) -> Keeping:
    """What is asked of checkpoints in a folder, for a sketch whose seeds are as they were typed."""
    checkpoints = Checkpoints(folder)
    if payer is None:
        return Keeping(checkpoints, {}, lambda sketch: 0, any_seed=False)
    ledger, dataset = payer.ledger, payer.dataset
    identity = {"ledger": ledger.where, "dataset": dataset}
    return Keeping(checkpoints, identity, lambda sketch: times_paid(ledger, dataset, sketch), any_seed=False)
