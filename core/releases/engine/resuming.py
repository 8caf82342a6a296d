"""Long readings that go on where their process was killed, without counting a record twice or paying twice unnoticed.

The order of events, for a command that is given again after its process died at any moment:

1.  Before anything is read: F, the fingerprint of the files; P, how many releases of this very sketch (its seeds
included, which are random) the ledger knows. 2.  Batches are read in the order of the files and added, one after the
other. Between two of them the table holds the records of the first r rows and no others, as `TableBuilder` says. Only
then, a minute or more after the last time, a checkpoint is written: table, r, seeds, F, P. It takes the place of the
one before in one step. 3.  After the last batch: the price is written to the ledger, in one transaction. 4.  The noise
is drawn and the release file written, in one step. 5.  The checkpoint is removed.

No record is counted twice or left out. What is on the disk is one whole state, and the reading goes on after row r of
files with the same fingerprint F, read in the same order by the same program: the sum of the first r rows, and then of
all others. A table is a sum of integers, so it is the same, bit for bit, as that of an undisturbed reading. Where F,
the program or its libraries are not the same, or anything is odd about the checkpoint, the reading starts at row 0.

Nothing is paid twice unnoticed. A process that died in step 2 had paid nothing. One that died between 3 and 5 has left
a checkpoint with P, and the ledger knows more than P releases of this sketch by now; then the command is refused, with
a sentence that says so, until its owner asks for a new beginning. (Its noise must not be drawn again on the first
payment: somebody may have seen the first release.) One that died within step 3 has paid or not, and the ledger knows.

A selection by person is drawn at random, and half of one draw and half of another would be no selection; such readings
start again. Readings that take less than a minute are never written down.

What travels to a worker in place of a sketch: its name and its public parameters, seeds included, and no arrays.

The hashes of a thousand rows take megabytes and are made again from a seed in a moment, so a worker makes them itself,
once. It makes the same ones only if it is the same program on the same libraries, which it checks first: a table that
two programs fill differently would be no sketch of anything, and its sensitivity would be nobody's.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from ...domain import Domain
from ...errors import RequestError
from ...privacy.ledger.ledger import Ledger
from ...runtime.environment import LIBRARY, VERSION
from ...sketches.linear import LinearSketch
from ...sketches.registry import sketch_from_parameters
from .building import Begun, ExactTable, TableBuilder
from .checkpoint import Checkpoint, Checkpoints, DamagedCheckpoint

if TYPE_CHECKING:
    from ...sources import Source

LIBRARIES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "duckdb")
"""They read records and calculate with them."""


@dataclass(frozen=True)
class Recipe:
    """A sketch as text, and the surroundings in which its tables mean the same."""

    mechanism: str  # The name of the sketch in the registry.
    facts: str  # Domain and parameters as JSON, which keeps every number bit for bit.
    # What decides the bits of a table, by name, where the recipe was written.
    surroundings: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, sketch: LinearSketch) -> Self:
        """The recipe of a sketch of a settled size."""
        facts = {"domain": sketch.domain.to_dict(), "parameters": sketch.parameters()}
        return cls(sketch.name, json.dumps(facts, allow_nan=False), surroundings())

    def sketch(self) -> LinearSketch:
        """The sketch, made once a process.

        RequestError when this process is another program than the one that wrote the recipe, or runs on other
        libraries.
        """
        for (name, here), (_, there) in zip(surroundings(), self.surroundings, strict=True):
            if here != there:
                raise RequestError(
                    f"A worker runs {name} {here} and this computer {there}: they must be the same, as tables that "
                    "are filled differently cannot be added."
                )
        return _made(self.mechanism, self.facts)


@lru_cache(maxsize=4)
def _made(mechanism: str, facts: str) -> LinearSketch:
    described = json.loads(facts)
    return sketch_from_parameters(mechanism, Domain.from_dict(described["domain"]), described["parameters"])


@cache
def surroundings() -> tuple[tuple[str, str], ...]:
    """Name and version of everything that decides the bits of a table in this process."""
    own = (("Frostglass", f"{VERSION} ({_digest()})"), ("Python", platform.python_version()))
    return (
        *own,
        *((name, version(name)) for name in LIBRARIES if find_spec(name)),
        ("processors of the kind", platform.machine()),
    )


def _digest() -> str:
    """Twelve digits that tell this program from any other, as a version number is forgotten easily.

    Of the whole library: how a value is read, what it is moved to and how a record is hashed decide a table as well.
    """
    text = hashlib.sha256()
    for file in sorted(file for file in LIBRARY.rglob("*") if file.suffix in (".py", ".cu", ".json")):
        text.update(file.relative_to(LIBRARY).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return text.hexdigest()[:12]


SECONDS = 60.0
"""Between two checkpoints, and before the first."""
LARGEST_SHARE = 0.02
"""Of the time that may go into writing them; large tables are written less often."""


@dataclass(frozen=True)
class Keeping:
    """What is asked of checkpoints."""

    checkpoints: Checkpoints
    payer: dict[str, Any]  # What pays for the release, for JSON: the ledger and the name of the data set in it.
    paid: Callable[[LinearSketch], int]  # How many releases of a sketch the payer has paid for.
    # Whether the sketch's seeds were drawn for this run, so that those of the checkpoint may take their place.
    any_seed: bool = True
    fresh: bool = False  # Start anew, and remove what an earlier run has left.


class ResumableBuilding:
    """The filling of one table, with the interface of `TableBuilder`, whose state is written down from time to time.

    RequestError when the release that the checkpoint was for was paid already.

    `keeping`: Where the state is written and what it is compared with. `say`: Tells the owner what happens.

    `sketch`: The public map, whose seeds are those of the checkpoint where the building goes on from one.
    """

    def __init__(
        self, sketch: LinearSketch, source: Source, keeping: Keeping, say: Callable[[str], object] = lambda words: None
    ):
        self.source, self._keeping, self._say = source, keeping, say
        self._fingerprint = source.fingerprint() if source.keeps_order(sketch.domain) else None
        self._checkpoint = _described(sketch, self._fingerprint, keeping) if self._fingerprint is not None else None
        self.sketch, begun = self._found(sketch)
        self._continued = begun is not None
        self._told = begun is not None
        self._building = TableBuilder(self.sketch, source, begun)

    def __iter__(self) -> Iterator[int]:
        due = monotonic() + SECONDS
        try:
            for rows in self._building:
                if monotonic() >= due:
                    due = self._write()
                yield rows
            if self._continued and self.source.fingerprint() != self._fingerprint:
                raise RequestError(f"What is in {self.source.label} has changed while it was read; start again.")
        except RequestError:
            self.forget()  # the same rows would be refused again
            raise

    @property
    def rows(self) -> int:
        """Rows of the source that are in the table; 0 where they were gathered into sets, whose rows nobody counted."""
        return 0 if self.sketch.domain.gathers else self._building.begun.rows

    @property
    def exact(self) -> ExactTable:
        """The finished table; see `TableBuilder.exact`."""
        return self._building.exact

    @property
    def kept(self) -> bool:
        """Whether there is something on the disk from which the same command would go on."""
        return self._checkpoint is not None and self._keeping.checkpoints.holds(self._checkpoint.name)

    def forget(self) -> None:
        """Remove the checkpoint; to be called as soon as the release is saved."""
        if self._checkpoint is not None:
            self._keeping.checkpoints.remove(self._checkpoint.name)

    def _write(self) -> float:
        """Write the state down, and say when it is to be done again."""
        began = monotonic()
        if self._checkpoint is None:
            return float("inf")
        try:
            self._keeping.checkpoints.write(self._checkpoint, self._building.begun)
        except OSError as problem:
            self._say(f"What was read so far cannot be kept ({problem.strerror or problem}); the reading goes on.")
            return float("inf")
        if not self._told:
            self._told = True
            self._say(
                f"What was read so far is kept in {str(self._keeping.checkpoints.folder)!r}, for you alone, until the "
                "release is written."
            )
        now = monotonic()
        return now + max(SECONDS, (now - began) / LARGEST_SHARE)

    def _found(self, sketch: LinearSketch) -> tuple[LinearSketch, Begun | None]:
        """The sketch to go on with and where it stood, or the sketch as it is and None."""
        if self._checkpoint is None:
            return sketch, None
        if self._keeping.fresh:
            self.forget()
            return sketch, None
        checkpoints = self._keeping.checkpoints
        try:
            found = checkpoints.find(self._checkpoint.name)
            if found is None:
                return sketch, None
            same, why = self._continues(sketch, found, self._checkpoint)
            if same is None:
                self._start_anew(why)
                return sketch, None
            if self._keeping.paid(same) > found.paid:
                raise RequestError(
                    "The run that was stopped had its budget spent already, and may have saved its release before it "
                    "ended: look for that first. To make it anew, at the same price once more, say --fresh."
                )
            begun = checkpoints.begun(found, same)
        except DamagedCheckpoint:
            self._start_anew("what was kept of the run that was stopped is damaged, or others could have changed it")
            return sketch, None
        self._checkpoint = found
        what = "sets" if sketch.domain.gathers else "rows"
        self._say(f"Continuing after {found.rows:,} {what} (stopped {_ago(found.age)} ago).")
        return same, begun

    def _continues(self, sketch: LinearSketch, found: Checkpoint, mine: Checkpoint) -> tuple[LinearSketch | None, str]:
        """The sketch that the checkpoint is of, if it can be gone on with; else None and why not."""
        if found.identity != mine.identity:
            raise DamagedCheckpoint("It is of another release.")
        for what, why in (("files", "the data has"), ("program", "the program or a library has")):
            if found.sameness.get(what) != mine.sameness[what]:
                return None, f"{why} changed since the run that was stopped"
        if found.parameters == mine.parameters:
            return sketch, ""
        if not self._keeping.any_seed:
            return None, "the run that was stopped had another seed"
        try:
            same = sketch_from_parameters(sketch.name, sketch.domain, found.parameters)
        except RequestError:
            raise DamagedCheckpoint("It is of no sketch.") from None
        if without_seeds(same.parameters()) != without_seeds(mine.parameters):
            raise DamagedCheckpoint("It is of another sketch.")
        return same, ""

    def _start_anew(self, why: str) -> None:
        self.forget()
        self._say(f"Starting from the beginning, as {why}.")


def _described(sketch: LinearSketch, fingerprint: dict[str, Any], keeping: Keeping) -> Checkpoint:
    """The checkpoint of a building that has not begun."""
    parameters = sketch.parameters()
    identity = {
        "files": [path for path, *_ in fingerprint["files"]],
        "payer": keeping.payer,
        "mechanism": sketch.name,
        "domain": sketch.domain.to_dict(),
        "parameters": without_seeds(parameters),
    }
    sameness = {"files": fingerprint, "program": [list(fact) for fact in surroundings()]}
    # As it will come back from a file, where pairs are lists.
    facts = json.loads(json.dumps({"identity": identity, "sameness": sameness, "parameters": parameters}))
    return Checkpoint(**facts, paid=keeping.paid(sketch))


def times_paid(ledger: Ledger, dataset: str, sketch: LinearSketch) -> int:
    """How many releases of this very sketch, seeds included, a ledger knows of a data set."""
    known = ledger.known(dataset)
    note = json.loads(json.dumps({"mechanism": sketch.name, "parameters": sketch.parameters()}))
    return sum(note.items() <= entry.note.items() for entry in (known.releases if known else ()))


def without_seeds(parameters: object) -> object:
    """Public parameters less the seeds in them, at whatever depth."""
    if isinstance(parameters, dict):
        return {name: without_seeds(value) for name, value in parameters.items() if name != "seed"}
    return [without_seeds(value) for value in parameters] if isinstance(parameters, (list, tuple)) else parameters


def _ago(seconds: float) -> str:
    """A time in words."""
    for length, unit in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length:
            count = int(seconds // length)
            return f"{count} {unit}{'s' if count > 1 else ''}"
    return "less than a minute"
