"""Going on with a release later: with less noise, as if all had been spent at once, or with rows of further periods.

A release with Laplace noise whose data set has a pure total with something left is drawn as
`privacy.noise.divided_noise` says: what the rest of the total could show one day is drawn with it, and lies in a file
of its own, beside the ledger, which nobody is shown. Topping up pays first, and shows a table that follows from that
file alone: the records are not read again.

Each file is used once, and for the very release that it was drawn with: of another sketch, which a person moves less,
the same price would show more. The entry that pays names it, in the transaction that would refuse a second one
(`Ledger.spend`), and what is kept for the next time is a new file. A crash after the payment loses the price, and the
file with it; the release can be topped up still, by the average with one of independent noise.

A living release gets the rows of further periods, drawn once, in a file that grows. The first part is a release as any
other, which pays for all periods there will ever be, with its noise and weights; a file that says others, as a stranger
may write it, does not go on. A further part reads the records of its rows' periods, notes in the ledger that these are
drawn, draws the noise of the new rows, which was paid for, and puts them behind those of the file. A crash after the
note loses these periods and never privacy: they are left out of the release for ever (`lost`), and it goes on behind
them.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, cast
from zipfile import BadZipFile

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Cost, largest_pure_admitted
from ..privacy.calibration import NoiseScale
from ..privacy.composition import PureParts, event_of
from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.ledger_records import FOLLOWS
from ..privacy.noise.divided_noise import Finest, can_follow, kept_finest, less_noise
from ..privacy.noise.noise import add_noise
from ..privacy.noise.randomness import Source as NoiseSource
from ..runtime import archives
from ..runtime.counter_tables import array
from ..runtime.environment import SOFTWARE, now
from ..runtime.transient import unfinished
from ..sketches.linear import LinearSketch
from ..sketches.living import Living
from ..sketches.plan import Planned, planned_for
from ..sources import open_source
from .engine.building import ExactTable, TableBuilder
from .kind import BESIDE_THE_TABLE, Held, Kind, Plain
from .payment import LedgerAccount, check_remembered, unit_words
from .release import Release, digest_of
from .release_store import finer_name, public_name, shelf_of

WEIGHTS = ("column", "every", "band", "power", "branches", "weights")  # Of a living release's parameters.
MOST = 1 << 22  # Counters of a table for which a finer one is kept: three numbers each.


@dataclass(frozen=True)
class Later:
    """What would be shown of a table if all that its data set's total leaves were spent on it."""

    sketch: LinearSketch
    epsilon: Decimal  # Of the table that is shown now.
    shown: Planned  # Its noise.
    finest: Planned  # The noise with which it is kept.
    exact: Held  # A copy of the exact sums.
    path: Path  # Where the release is kept.

    @classmethod
    def of(cls, kind: Kind, exact: ExactTable, payer: LedgerAccount, path: Path) -> Later | None:
        """What a release leaves for later; None where its noise cannot be made less, or nothing is left of its total.

        Public facts decide. A total with a δ has none of it, as there Rényi divergences count (`divided_noise`).
        """
        if payer.prepaid is not None or payer.note.get("file") != public_name(path.name):
            return None
        if not isinstance(kind, Plain) or not kind.budget.pure or kind.sketch.asked_for == "periods":
            return None
        left = _left(payer, kind.cost)
        if left <= 0 or exact.table.size > MOST:
            return None
        try:
            finest = planned_for(kind.sketch, replace(kind.budget, epsilon=kind.budget.epsilon + left))
        except RequestError:  # more digits than a promise has
            return None
        if not _follows(_scales(kind.planned), _scales(finest)):
            return None
        return cls(kind.sketch, kind.budget.epsilon, kind.planned, finest, exact.copy().use_up(), path)

    def keep(self, made: Release) -> None:
        """Draw it, and keep it for the release that was made of the same exact sums.

        Where a counter is at an end of its type, or the disk is full, nothing is kept.
        """
        counters = array(made.counters)
        ends = np.iinfo(counters.dtype)
        if (counters == ends.min).any() or (counters == ends.max).any():
            return
        held = noisy_parts(self.sketch, self.shown, self.exact[0], _numbers(self.exact[1]))
        noisy = noisy_parts(self.sketch, self.shown, counters, _numbers(made.counted))
        scales = _scales(self.shown), _scales(self.finest)
        tables = tuple(kept_finest(*four) for four in zip(held, noisy, *scales, strict=True))
        Kept(self.path, _digest(made), self.epsilon, *scales, tables).write()


@dataclass(frozen=True)
class Kept:
    """What lies beside a ledger for one release."""

    release: Path  # Where the release is, or was.
    of: str  # Digest of its numbers, and of what their noise follows from.
    epsilon: Decimal  # Of its table, without what else was bought before it.
    # Of every table and count, the scale of what is shown and of what is kept.
    shown: tuple[Fraction, ...]
    finest: tuple[Fraction, ...]
    tables: tuple[Finest, ...]

    @property
    def path(self) -> Path:
        """Its file."""
        return self.release.with_name(finer_name(self.release.name))

    @property
    def mark(self) -> str:
        """What the ledger calls it."""
        return self.path.stem

    def allows(self, planned: Planned) -> bool:
        """Whether noise of a plan can follow from it."""
        scales = _scales(planned)
        return _follows(self.shown, scales) and all(a >= b for a, b in zip(scales, self.finest, strict=True))

    def write(self) -> None:
        """Put it on the disk, for its owner alone; nothing where that is not to be."""
        if not _follows(self.shown, self.finest):
            return
        facts: dict[str, object] = {"of": self.of, "epsilon": str(self.epsilon)}
        facts |= {"shown": [str(one) for one in self.shown], "finest": [str(one) for one in self.finest]}
        arrays: dict[str, Any] = {
            f"{place}-{name}": _packed(getattr(table, name))
            for place, table in enumerate(self.tables)
            for name in NAMES
        }
        with suppress(OSError), unfinished(self.path) as file:
            Path(file.name).chmod(0o600)
            np.savez(file, facts=np.array(archives.dumps(facts)), **arrays)

    @classmethod
    def read(cls, path: Path, release: Path) -> Kept | None:
        """What `write` wrote; None where there is nothing that can be read."""
        with suppress(OSError, EOFError, BadZipFile, ValueError, KeyError, TypeError, ArithmeticError):
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as found:
                facts: Any = archives.loads(str(found["facts"]))
                shown, finest = (tuple(map(Fraction, facts[name])) for name in ("shown", "finest"))
                tables = tuple(
                    Finest(*(_unpacked(found[f"{place}-{name}"]) for name in NAMES)) for place in range(len(shown))
                )
            return cls(release, facts["of"], Decimal(facts["epsilon"]), shown, finest, tables)
        return None

    def pay_and_show(self, begun: Release, planned: Planned, more: Decimal, payer: LedgerAccount) -> Release:
        """The release with the noise of a plan, once ε = `more` is paid for it.

        BudgetError or RequestError when the ledger refuses; nothing was spent.

        `begun`: The release as it was, but for what it says of its promise and of how it was made.
        """
        cost = Cost((PureParts(Fraction(more)),), more)
        payer.check(cost)
        size = 2 * len(begun.to_bytes(teaching=True)) + (1 << 20)
        with shelf_of(payer.ledger).room(payer.dataset, size) as place:
            payer.note = payer.note | {"file": public_name(place.path.name), FOLLOWS: self.mark}
            payer.spend(cost, begun.sketch)
            counters, numbers = np.array(array(begun.counters)), _numbers(begun.counted)
            tables = []
            parts = noisy_parts(begun.sketch, planned, counters, numbers)
            scales = zip(self.shown, _scales(planned), self.finest, strict=True)
            for part, kept, (first, wanted, finest) in zip(parts, self.tables, scales, strict=True):
                shown, left = less_noise(kept, first, wanted, finest)
                ends = np.iinfo(part.dtype)
                part[...] = np.clip(shown, ends.min, ends.max)
                tables.append(left)
            shape = begun.sketch.count_shape
            counted = numbers.reshape(shape) if shape else int(numbers[0]) if len(numbers) else None
            made = replace(begun, counters=counters, counted=None if begun.counted is None else counted)
            further = self.epsilon + more, _scales(planned), self.finest, tuple(tables)
            Kept(place.path, _digest(made), *further).write()
            place.put(made)
        self.path.unlink(missing_ok=True)
        return made


def kept_for(release: Release, ledger: Ledger, dataset: str) -> Kept | None:
    """What lies beside a ledger for a release of a data set, and was not used yet; None where nothing does."""
    if dataset not in ledger.names() or ledger.dataset(dataset).delta:
        return None
    notes, digest = [entry.note for entry in ledger.entries(dataset)], _digest(release)
    used = {note.get(FOLLOWS) for note in notes}
    folder = shelf_of(ledger).folder
    for note in reversed(notes):
        path = folder / finer_name(str(note.get("file")))
        kept = None if path.stem in used or not path.is_file() else Kept.read(path, folder / str(note["file"]))
        if kept is not None and kept.of == digest:
            return kept
    return None


def _digest(release: Release) -> str:
    """SHA-256 of the numbers of a release, its sketch and its promise."""
    sketch = release.sketch
    facts = [sketch.name, sketch.parameters(), sketch.domain.to_dict(), release.privacy.to_dict(), digest_of(release)]
    return sha256(archives.dumps(facts).encode()).hexdigest()


def noisy_parts(sketch: LinearSketch, planned: Planned, table: np.ndarray, numbers: np.ndarray) -> list[np.ndarray]:
    """The tables of a release and its numbers of records, each that has noise of its own, as views."""
    counts = zip(sketch.split_count(numbers), planned.count_noises, strict=True) if planned.count_noises else ()
    return [*sketch.split(table), *(one for one, noise in counts if noise is not None)]


def _scales(planned: Planned) -> tuple[Fraction, ...]:
    """Of all Laplace noise, in the order of `noisy_parts`; none where any noise is of another kind."""
    noises: list[NoiseScale] = [*planned.noises, *(noise for noise in planned.count_noises if noise is not None)]
    plain = all(noise.distribution == "discrete_laplace" for noise in noises)
    return tuple(noise.parameter for noise in noises) if plain else ()


def _follows(shown: tuple[Fraction, ...], finer: tuple[Fraction, ...]) -> bool:
    return 0 < len(shown) == len(finer) and all(can_follow(*two) for two in zip(shown, finer, strict=True))


def _left(payer: LedgerAccount, cost: Cost) -> Decimal:
    """What a release leaves of a pure total; 0 of one with a δ."""
    known = payer.ledger.known(payer.dataset)
    total = known or payer.total
    if total is None or total.delta:
        return Decimal(0)
    before = [] if known is None else [entry.cost for entry in known.releases]
    return largest_pure_admitted([*before, cost], total.epsilon, total.delta)


def _numbers(count: int | np.ndarray | None) -> np.ndarray:
    return np.array([] if count is None else count, np.int64).reshape(-1)


NAMES = tuple(each.name for each in fields(Finest))


def _packed(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers for a file; those that may be longer than 64 bits as text."""
    return numbers.astype(str) if numbers.dtype == object else numbers


def _unpacked(numbers: np.ndarray) -> np.ndarray:
    if numbers.dtype.kind != "U":
        return numbers
    whole = np.empty(numbers.shape, object)
    whole[...] = np.vectorize(int, otypes=[object])(numbers)
    return whole


def go_on(
    release: Release,
    data: object,
    until: str | int,
    *,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    lost: bool = False,
    progress: Callable[[int], object] = lambda rows: None,
    noise_source: NoiseSource | None = None,
) -> Release:
    """The same living release with further periods.

    Parameters
    ----------
    release : Release
        As far as it has come.
    data : object
        The records of all periods since the beginning, or, where no persons are told apart, of as many as rows go back
        (`Living.band`), whatever `core.sources.open_source` opens. Those of the periods that are released already must
        be what they were.
    until : str | int
        The last period that is over now, by its name or by its number from 1 on.
    ledger, dataset : Ledger | str | None, str | None
        Where it was paid for. Without a data set nothing keeps the same period from being drawn twice but the caller.
    lost : bool
        Whether periods that the ledger says were drawn, and that the file does not have, are given up.
    progress : Callable[[int], object]
        Called with the number of rows read so far.
    noise_source : NoiseSource | None
        None; see `core.releases.seal.seal`.

    Raises
    ------
    RequestError
        When it cannot go on so; nothing was drawn.
    """
    if release.sketch.asked_for != "periods":
        raise RequestError("Only a living release can go on; this one was made all at once.")
    if release.privacy.releases > 1:
        raise RequestError("A merged release cannot go on: go on with each of those that it was merged of.")
    living = cast(Living, release.sketch)
    book = None if dataset is None else ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    before, seed = living.released, str(living.parameters()["seed"])
    if book is not None and dataset is not None:
        check_remembered(book, dataset)
        drawn = book.drawn(dataset, seed)
        _check_paid(book, dataset, release)
        if drawn > before and not lost:
            raise RequestError(
                f"The ledger says that {drawn:,} periods of this release were drawn, and the file has {before:,}: open "
                "the newer file; or, if the program was stopped before it could keep them, give them up as lost."
            )
        if drawn > before:
            living = replace(living, released=drawn, lost=(*living.lost, *range(before, drawn)))
        before = max(before, drawn)
    last = living.place_of(until) + 1
    if last <= before:
        raise RequestError(
            f"The period {living.names[last - 1]!r} is in the release already, which goes on with "
            f"{'nothing' if before == living.periods else living.names[before]!r}."
        )
    further = replace(living.further(last), begun=cast(Living, release.sketch).released)
    building = TableBuilder(further, open_source(data))
    for rows in building:
        progress(rows)
    size = 2 * len(release.to_bytes(teaching=True)) + 8 * further.zeros().size + BESIDE_THE_TABLE
    with ExitStack() as room:
        kept = None if book is None or dataset is None else _kept(book, dataset, release)
        place = None if kept is None or book is None else room.enter_context(shelf_of(book).room("", size, kept))
        if book is not None and dataset is not None:
            book.go_on(dataset, seed, before, last)
        made = _with_rows(release, replace(further, begun=0), building.exact, noise_source)
        if place is not None and made.private:
            place.put(made)
    return made


def _check_paid(book: Ledger, dataset: str, release: Release) -> None:
    """Refuse a file with other noise or other periods than were paid for; one without an entry the ledger refuses.

    Rows of one person then add up as was proven, whatever the tables of single periods are.
    """
    sketch, privacy, known = cast(Living, release.sketch), release.privacy, book.dataset(dataset)
    moved = zip(sketch.sensitivities(privacy.neighbours), privacy.noise, strict=True)
    counts = zip(sketch.count_sensitivities(privacy.neighbours), privacy.count_noise, strict=False)
    drawn = Counter(event_of(*one) for one in chain(moved, counts))
    same = (known.neighbours, known.unit) == (privacy.neighbours, unit_words(sketch.domain.unit))
    same &= release.counted is None or bool(privacy.count_noise) or sketch.count_is_public(privacy.neighbours)
    own = sketch.parameters() | sketch.noted
    for entry in book.entries(dataset):
        noted = _facts(entry.note) | {name: entry.note[name] for name in sketch.noted if name in entry.note}
        if entry.note.get("mechanism") != sketch.name or noted.get("seed") != own["seed"]:
            continue
        alike = all(own[name] == noted[name] for name in (*WEIGHTS, *sketch.noted) if name in noted)
        if not (same and alike and drawn <= Counter(entry.cost.events)):
            raise RequestError(
                f"The file says other noise or other periods than the data set {dataset!r} has paid for, so it does "
                "not go on: take the one beside the ledger."
            )


def _kept(book: Ledger, dataset: str, release: Release) -> str | None:
    """The name under which the ledger's shelf has this release as far as it has come; None where it has it no more."""
    seed = release.manifest.sketch.parameters()["seed"]
    names = {entry.note.get("file") for entry in book.entries(dataset) if _facts(entry.note).get("seed") == seed}
    return next((one.name for one in shelf_of(book).entries() if public_name(one.name) in names), None)


def _facts(note: dict[str, Any]) -> dict[str, Any]:
    facts = note.get("parameters")
    return facts if isinstance(facts, dict) else {}


def _with_rows(release: Release, sketch: Living, exact: ExactTable, noise_source: NoiseSource | None) -> Release:
    """The release with the exact rows behind its own, whose noise is drawn here."""
    table, count = exact.use_up()
    counts = np.array(count, dtype=np.int64)
    add_noise(table, release.privacy.noise[0], noise_source, table)
    for scale in release.privacy.count_noise[:1]:
        add_noise(counts, scale, noise_source, counts)
    return Release(
        sketch,
        np.concatenate([np.asarray(release.counters), table]),
        None if release.counted is None else np.concatenate([cast(np.ndarray, release.counted), counts]),
        release.privacy,
        release.private and (noise_source is None or noise_source.private),
        now(),
        SOFTWARE,
        release.counted_before,
        release.finding,
    )
