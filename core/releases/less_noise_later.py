"""What is kept beside a ledger so that a pure release may have less noise later, as if all had been spent at once.

A release with Laplace noise whose data set has a pure total with something left is drawn as `privacy.noise.finer_noise`
says: what the rest of the total could show one day is drawn with it, and lies in a file of its own, which nobody is
shown. Topping up pays first, and shows a table that follows from that file alone: the records are not read again.

Each file is used once. The entry that pays names it, in the transaction that would refuse a second one
(`Ledger.spend`), and what is kept for the next time is a new file. A crash after the payment loses the price, and the
file with it; the release can be topped up still, by the average with one of independent noise.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import RequestError
from ..privacy.accounting import Cost, largest_pure_admitted
from ..privacy.calibration import NoiseScale
from ..privacy.composition import PureParts
from ..privacy.ledger.ledger import Ledger
from ..privacy.ledger.ledger_records import FOLLOWS
from ..privacy.noise.finer_noise import Finest, can_follow, kept_finest, less_noise
from ..runtime import archives
from ..runtime.counter_tables import array
from ..runtime.transient import unfinished
from ..sketches.linear import LinearSketch
from ..sketches.plan import Planned, planned_for
from .engine.building import ExactTable
from .kind import Held, Kind, Plain
from .payment import LedgerAccount
from .release import Release, digest_of
from .release_store import Place, finer_name, public_name, shelf_of

MOST = 1 << 22  # Counters of a table for which a finer one is kept: three numbers each.


def keeping(
    kind: Kind, exact: ExactTable, payer: LedgerAccount | None, place: Place | None
) -> Callable[[Release], object]:
    """What keeps something for a release of exact sums once it is made; settled before it is paid for."""
    later = None if place is None or payer is None else Later.of(kind, exact, payer, place.path)
    return (lambda made: None) if later is None else later.keep


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

        Public facts decide. A total with a δ has none of it, as there Rényi divergences count (`finer_noise`).
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
        Kept(self.path, digest_of(made), self.epsilon, *scales, tables).write()


@dataclass(frozen=True)
class Kept:
    """What lies beside a ledger for one release."""

    release: Path  # Where the release is, or was.
    of: str  # Digest of its counters.
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
            Kept(place.path, digest_of(made), *further).write()
            place.put(made)
        self.path.unlink(missing_ok=True)
        return made


def kept_for(release: Release, ledger: Ledger, dataset: str) -> Kept | None:
    """What lies beside a ledger for a release of a data set, and was not used yet; None where nothing does."""
    if dataset not in ledger.names() or ledger.dataset(dataset).delta:
        return None
    notes, digest = [entry.note for entry in ledger.entries(dataset)], digest_of(release)
    used = {note.get(FOLLOWS) for note in notes}
    folder = shelf_of(ledger).folder
    for note in reversed(notes):
        path = folder / finer_name(str(note.get("file")))
        kept = None if path.stem in used or not path.is_file() else Kept.read(path, folder / str(note["file"]))
        if kept is not None and kept.of == digest:
            return kept
    return None


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
    known = payer.ledger.status(payer.dataset) if payer.dataset in payer.ledger.names() else None
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
