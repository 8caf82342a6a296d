"""The one way in which releases are made: price, read, pay, draw noise, keep.

Whoever makes a release drives a `Job`: the function `release`, the command line, the app, an estimator. What differs
between kinds of releases lies in `core.releases.kind`; who pays in `core.releases.payment`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from ..errors import RequestError
from ..privacy.accounting import Cost
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.noise import check_drawable
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.part import Part
from ..sketches.parts import Parts
from ..sources import Source, open_source
from .bounded import Bounded, BoundsPurchase
from .centred import Centred, CentrePurchase
from .engine.building import ExactTable
from .engine.checkpoint import Checkpoints
from .engine.engine_choice import LOCAL, check_engine
from .engine.resuming import Keeping, ResumableBuilding, times_paid
from .file import copy, room_for
from .forecast.sketch_sizes import ANY_RECORDS
from .kind import Choosing, Filling, Kind, Plain, Reader, most_bytes
from .manifest import check_describable
from .payment import LedgerAccount, payer_of, saying_spent
from .purchase_plan import PurchasePlan, Purchasing
from .release import Release
from .release_store import Place, paid_name, public_name, shelf_of
from .seal import paid_for, showing
from .sizing import with_chosen_size
from .stages import Count, Known
from .wide_columns import warn_of_wide_columns


class Job:
    """One release, from what is asked for to what is kept.

    Iterate to read everything before anything is paid for: each step yields the rows read so far, and to stop in
    between costs nothing. Then `finish` pays and draws the noise, once. `run` does both.

    What is refused is refused before the price is written to the ledger; it is written before any noise is drawn; and
    room on the disk for what was paid for is taken before that.

    Parameters
    ----------
    kind : Kind | PurchasePlan[Kind]
        What is released, how, and for how much; `kind_of` finds it. Or a plan, whose first reading is for what it buys.
    payer : Payer | None
        Who pays, and keeps the release beside the ledger; None leaves adding up and keeping to the caller.
    out : Path | None
        A file to write the release to as well.
    engine : str
        Who reads; see `core.releases.engine.engine_choice`.
    keeping : Keeping | None
        Where a long first reading is written down, if anywhere.
    known : Known | None
        What was bought before it: part of what the file says and promises.
    say : Callable[[str], object]
        Tells the owner what happens.

    Attributes
    ----------
    kind : Kind
        As given, or with the seeds of the run that is continued; of a plan at first that for ordinary records.
    kept : Path | None
        Where the release is on the disk, once it is.

    Examples
    --------
    >>> job = Job(kind_of(sketch, budget), source, payer)  # doctest: +SKIP
    >>> for rows in job: show(rows)  # doctest: +SKIP
    >>> made = job.finish()  # doctest: +SKIP
    """

    def __init__(
        self,
        kind: Kind | PurchasePlan[Kind],
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
        self._purchasing: Purchasing[Kind] | None = None
        if isinstance(kind, PurchasePlan):
            self._purchasing = Purchasing(kind, source, payer, noise_source)
            if payer is not None:
                payer.file = paid_name(payer.dataset)
            kind = kind.forecast().made
        self.kind = kind
        self.kept: Path | None = None
        self._payer, self._out, self._noise_source, self._say = payer, out, noise_source, say
        self._known = known
        self._reader = Reader(source, engine, keeping, say)
        self._first: Filling | None = None

    @property
    def kept_reading(self) -> bool:
        """Whether what was read so far is on the disk, so that the same job can go on there."""
        return isinstance(self._first, ResumableBuilding) and self._first.kept

    def begin(self) -> int:
        """Price it, and refuse what can be refused before reading.

        Returns
        -------
        int
            The row from which the reading goes on: 0, or where an earlier run of the same job was stopped.

        Raises
        ------
        RequestError
            When it cannot be made, or was paid for in the run that is continued.
        BudgetError
            When the budget does not allow it.
        """
        if self._first is None:
            check_engine(self._reader.engine)
            _priced(self.kind)
            if self._payer is not None:
                if not self.kind.sketch.chooses:  # whatever no file can hold is not paid for
                    check_describable(self.kind.sketch)
                self._payer.check(self.kind.cost)
            self._first = self.kind.first(self._reader)
            if isinstance(self._first, ResumableBuilding) and isinstance(self.kind, Plain):
                self.kind = replace(self.kind, sketch=self._first.sketch)
        return self._first.rows if isinstance(self._first, ResumableBuilding) else 0

    def __iter__(self) -> Iterator[int]:
        if self._purchasing is not None:
            yield from self._purchasing
            if self._purchasing.buys:
                return
            self._settle()
        self.begin()
        if self._first is not None:
            for rows in self._first:
                self._reader.rows = rows
                yield rows

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
            self._purchasing = None
            self.kind, self._known = settled.made, settled.known

    def finish(self, progress: Callable[[int], object] = lambda rows: None) -> Release:
        """Pay, draw the noise, and keep the release; RuntimeError when not everything was read, or the second time.

        Raises
        ------
        BudgetError
            When the ledger refuses; nothing was spent.
        """
        if self._purchasing is not None:
            with saying_spent(self._payer):
                self._settle(progress)
                return self.run(progress)
        exact = self._exact()
        self.kind.check(int(self.kind.table.records_in(exact.records)))
        self._reader.progress = progress
        made = None
        try:
            with self._place() as place:
                held = paid_for(exact, self.kind.cost, self._spend)
                made = showing(self.kind.noised(held, self._reader, self._noise_source), self._known)
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

    @contextmanager
    def _place(self) -> Iterator[Place | None]:
        """Room for what is about to be paid for: beside the ledger, or where the file is to be when there is none."""
        if self._payer is None or not (self._noise_source is None or self._noise_source.private):
            yield None  # a teaching release can be made again
            return
        size = most_bytes(self.kind)
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


def kind_of(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float | None = None,
    *,
    bounds: BoundsPurchase | None = None,
    centre: CentrePurchase | None = None,
    gaussian_only: bool = False,
) -> Kind:
    """How a sketch is released; its size is chosen by the forecast when it has none.

    Parameters
    ----------
    sketch, budget : LinearSketch | Adaptive, Budget
        What is released, and the promise of everything together.
    records : float | None
        A public number of records, for choosing the size of the table.
    bounds : BoundsPurchase | None
        Bounds to be bought with a share of the budget.
    centre : CentrePurchase | None
        A centre to be bought with a share of the budget.
    gaussian_only : bool
        Whether no noise may be pure, by what was bought before it.
    """
    if bounds is not None and centre is not None:
        raise RequestError("Bounds and a centre cannot be bought in one release.")
    sketch = with_chosen_size(sketch, budget, records)
    if sketch.chooses:
        if bounds is not None or centre is not None:
            raise RequestError(
                f"Nothing can be bought in a release of {sketch.name!r} that chooses under its own promise: buy bounds "
                "before it, by themselves."
            )
        return _priced(Choosing(sketch, budget))
    if sketch.parts and (bounds is not None or centre is not None):
        raise RequestError("Bounds and centres are bought for a release of one question, not of several parts.")
    if bounds is not None:
        return _priced(Bounded(sketch, bounds, budget))
    return _priced(
        Plain(sketch, budget, gaussian_only=gaussian_only) if centre is None else Centred(sketch, centre, budget)
    )


def _priced(kind: Kind) -> Kind:
    """The same; RequestError when the promise cannot be kept or its noise cannot be drawn."""
    _ = kind.cost
    check_drawable(*kind.noises)
    return kind


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
    bounds : BoundsPurchase | None
        Bounds to be bought with a share of the budget; see `core.releases.bounded`.
    centre : CentrePurchase | None
        A centre to be bought with a share of the budget; see `core.releases.centred`.
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

    Raises
    ------
    RequestError
        When the request or the data cannot be used; nothing was spent. Also when the call that is continued had spent
        already; remove the folder to make the release anew.
    BudgetError
        When the data set's budget does not allow it; nothing was spent.
    """
    if isinstance(sketch, Iterable):
        sketch = Parts.of(sketch)
    sketch.check_budget(budget)
    warn_of_wide_columns(sketch)
    source, payer = open_source(data), payer_of(ledger, dataset, budget, sketch.domain.unit)

    needs_count = records is None and not sketch.sized and sketch.needs_records
    if needs_count and checkpoints is not None:
        raise RequestError("Checkpoints need a number of records (records=...), as a count that is bought is new.")

    def made(known: Known) -> Kind:
        return kind_of(sketch, known.left, known.records, bounds=bounds, centre=centre)

    known = Known(budget, records or (1.0 if sketch.sized else ANY_RECORDS))
    plan = PurchasePlan([Count(sketch.domain)] if needs_count else [], known, made)
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
