"""Read private records once, pay, and release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..engine.checkpoint import Checkpoints
from ..engine.engines import LOCAL, building_on
from ..engine.resuming import Keeping, ResumableBuilding, times_paid
from ..errors import RequestError
from ..privacy.budget import Budget
from ..privacy.ledger.ledger import Ledger
from ..privacy.noise.randomness import Source as NoiseSource
from ..sketches.adaptive import Adaptive
from ..sketches.linear import LinearSketch
from ..sketches.plan import plan
from ..sources import open_source
from .adaptive import release_adaptive
from .payment import book_of, paid_from
from .release import Release
from .seal import seal
from .sizing import with_chosen_size


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
        A `Ledger`, or its file or URL; the user's own when None.
    dataset : str | None
        Name in the ledger. Without it nothing is recorded, and adding up is left to the caller. A name that the ledger
        does not know is registered with exactly what this release spends.
    records : int | None
        A public guess of the number of records, for choosing the size of the table.
    progress : Callable[[int], None] | None
        Called with the number of rows read so far.
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
    if isinstance(sketch, Adaptive):
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


def _keeping(folder: Path, ledger: Ledger | str | None, dataset: str | None) -> Keeping:
    """What is asked of checkpoints in a folder, for a sketch whose seeds are as they were typed."""
    checkpoints = Checkpoints(folder)
    if dataset is None:
        return Keeping(checkpoints, {}, lambda sketch: 0, any_seed=False)
    book = book_of(ledger)
    payer = {"ledger": book.where, "dataset": dataset}
    return Keeping(checkpoints, payer, lambda sketch: times_paid(book, dataset, sketch), any_seed=False)
