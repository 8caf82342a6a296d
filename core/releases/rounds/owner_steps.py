"""What an owner does in a round: say hello, make a share, and take masks off the sum.

*A share is made once.* Two shares of one owner in one round would have two draws of noise over the same records, for
one price. So the order is

1.  an empty file says that a share of this round is begun, and is held so that no other process makes one;
2.  the price is written to the ledger, with the digest of the round;
3.  noise is drawn, and the share, masked or encrypted where it must be, is put beside the ledger, whole or not at all;
4.  the empty file is removed; then the share is handed out.

Who comes again after a crash finds: no price: it begins anew, and nothing was drawn. A price and the begun file, but no
share: nobody ever saw a draw, so another one may be made for the price that is paid. The share: it is handed out as it
is, bit for bit. A price, and neither: the share was there and was taken away, and making another is refused.

Exact sums are in memory alone, between the last record and the noise; they are on no disk at any step.

An owner answers one request to unmask in a round, which is kept beside the ledger too: an answer to another one could
show both secrets of an owner.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from ...errors import RequestError
from ...privacy.ledger.ledger import Ledger
from ...privacy.noise.divided_noise import add_part
from ...privacy.noise.noise import add_noise
from ...privacy.noise.randomness import Source as NoiseSource
from ...runtime import archives, environment
from ...runtime.parameters import exact_fields
from ...runtime.transient import held, unfinished
from ...sources import Source, open_source
from ..engine.building import ExactTable, TableBuilder
from ..file import sync_folder
from ..payment import LedgerAccount, unit_words
from ..release_store import shelf_of
from ..seal import paid_for
from .masking import Graph, RoundSecrets, commitment
from .round_messages import Message, OwnerKey, public_of, read_message
from .round_plan import RoundPlan

HELLO, SHARE, UNMASK = "hello", "share", "unmask"
REQUEST = "frostglass-round-request"
HELD = "begun"


@dataclass(frozen=True)
class Hellos:
    """The hellos of a round, as one owner or the convenor has them."""

    by_owner: Mapping[str, Message]

    @classmethod
    def read(cls, plan: RoundPlan, written: Iterable[bytes]) -> Hellos:
        """Those of a masked round, each checked; RequestError where one is doubled or too few are there."""
        found: dict[str, Message] = {}
        for content in written:
            message = read_message(content, plan.digest, plan.owners)
            if message.kind != HELLO:
                continue
            if message.owner in found:
                raise RequestError(f"There are two hellos of the owner {message.owner!r}; leave one away.")
            cls.check(message)
            found[message.owner] = message
        if len(found) < plan.least:
            missing = [name for name in plan.owners if name not in found]
            raise RequestError(
                f"There are {len(found):,} hellos and {plan.least:,} are needed; {missing[0]!r} is among the missing."
            )
        return cls({name: found[name] for name in plan.owners if name in found})

    @staticmethod
    def check(message: Message) -> None:
        """Refuse, by the name of its owner, what is no hello."""
        facts = exact_fields(message.facts, "hello", ("mask_key", "own_mask", "parts"))
        parts = facts["parts"]
        texts = [facts["mask_key"], facts["own_mask"], *(parts.values() if isinstance(parts, dict) else [None])]
        try:
            lengths = [len(bytes.fromhex(text)) for text in texts]
        except (TypeError, ValueError):
            lengths = []
        if lengths[:2] != [32, 32]:
            raise RequestError(f"{message.described} makes no sense.")

    @property
    def digest(self) -> str:
        """Of all of them: shares that were made with others do not cancel each other's masks."""
        told = "".join(f"{name}\n{message.digest}\n" for name, message in self.by_owner.items())
        return hashlib.sha256(told.encode()).hexdigest()

    @property
    def mask_keys(self) -> dict[str, str]:
        """Public mask keys by owner."""
        return {name: message.facts["mask_key"] for name, message in self.by_owner.items()}


def my_name(plan: RoundPlan, key: OwnerKey, name: str | None = None) -> str:
    """Which owner of a round has a key; RequestError where none has, or another than is said."""
    found = next((one for one, public in plan.owners.items() if public == key.public), None)
    if found is None or name not in (None, found):
        whose = "of none of its owners" if found is None else f"that of {found!r}"
        raise RequestError(f"The round does not know this key as that of {name!r}: it is {whose}.")
    return found


def make_hello(plan: RoundPlan, key: OwnerKey) -> bytes:
    """The first message of a masked round: a public mask key, and parts of secrets for the neighbours."""
    if plan.way != "masked":
        raise RequestError("Only rounds whose shares are masked begin with hellos.")
    name, graph = my_name(plan, key), Graph.of(plan)
    mine = RoundSecrets(plan, key, name)
    facts: dict[str, Any] = {
        "mask_key": public_of(mine.mask_key),
        "own_mask": commitment(plan, mine.own_mask),
        "parts": {other: part.hex() for other, part in mine.parts(graph).items()},
    }
    return key.message(HELLO, plan.digest, name, facts)


def make_share(
    plan: RoundPlan,
    data: object,
    key: OwnerKey,
    *,
    ledger: Ledger | str | None = None,
    dataset: str,
    hellos: Iterable[bytes] = (),
    progress: Callable[[int], object] = lambda rows: None,
    noise_source: NoiseSource | None = None,
    account: LedgerAccount | None = None,
    **reading: Any,
) -> bytes:
    """Read the owner's records, pay, and make the one share of them that this round has.

    Parameters
    ----------
    data : object
        Whatever `core.sources.open_source` opens, or the exact table of it.
    key : OwnerKey
        The owner's.
    ledger, dataset : Ledger | str | None, str
        Who pays; the user's own ledger when None.
    hellos : Iterable[bytes]
        Messages of all owners, where shares are masked.
    account : LedgerAccount | None
        Who pays, where that is made already.

    Raises
    ------
    RequestError
        When the round or the records cannot be used, or the share was made before and has been taken away.
    BudgetError
        When the budget does not allow it; nothing was spent.
    """
    name = my_name(plan, key)
    payer = account or payer_of_round(plan, ledger, dataset)
    kept = _kept(plan, payer.ledger, name, SHARE)
    heard = Hellos.read(plan, hellos) if plan.way == "masked" else None
    if heard is not None and name not in heard.by_owner:
        raise RequestError(f"The hello of the owner {name!r} itself is not among the hellos.")
    with _begun(kept):
        if kept.exists():
            return kept.read_bytes()
        paid, begun = _is_paid(plan, payer, name), _begun_file(kept)
        if paid and not begun.stat().st_size:
            raise RequestError(
                f"The share of {name!r} was made and paid for, and has been taken away from {str(kept.parent)!r}; "
                "another one would show the same records under a second draw of noise, so it takes another round."
            )
        if plan.is_late(environment.utc().isoformat()):
            raise RequestError(f"The round closed at {plan.closes}, and shares that are made later are not taken.")
        if not paid:
            payer.check(plan.cost)
        exact = data if isinstance(data, ExactTable) else exact_of(plan, data, progress, **reading)
        _write_begun(begun)
        spend = None if paid else lambda cost: payer.spend(cost, plan.sketch)
        payer.note = payer.note | {"round": plan.digest, "owner": name}
        table, records = paid_for(exact, plan.cost, spend)
        numbers = plan.flat(table, records)
        table[...] = 0
        written = _written(plan, key, name, _noisy(plan, numbers, noise_source), heard)
        _keep(kept, written)
    return written


def kept_hello(plan: RoundPlan, key: OwnerKey, ledger: Ledger) -> bytes:
    """An owner's hello, made once and kept beside the ledger, as shares made with different ones do not add up."""
    kept = _kept(plan, ledger, my_name(plan, key), HELLO)
    if not kept.is_file():
        _keep(kept, make_hello(plan, key))
    return kept.read_bytes()


def kept_share(plan: RoundPlan, key: OwnerKey, ledger: Ledger) -> bytes | None:
    """The share that an owner has made in a round, as it lies beside the ledger; None where there is none."""
    kept = _kept(plan, ledger, my_name(plan, key), SHARE)
    if not kept.is_file():
        return None
    _begun_file(kept).unlink(missing_ok=True)  # once it is handed out, none is drawn again though it be taken away
    return kept.read_bytes()


def payer_of_round(plan: RoundPlan, ledger: Ledger | str | None, dataset: str) -> LedgerAccount:
    """Who pays for a share."""
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return LedgerAccount(book, dataset, plan.budget, unit_words(plan.sketch.domain.unit))


def exact_of(plan: RoundPlan, data: object, progress: Callable[[int], object], **reading: Any) -> ExactTable:
    """The sums of an owner's records, before noise: private."""
    source = data if isinstance(data, Source) else open_source(data, **reading)
    building = TableBuilder(plan.sketch, source)
    for rows in building:
        progress(rows)
    return building.exact


def _noisy(plan: RoundPlan, numbers: np.ndarray, noise_source: NoiseSource | None) -> np.ndarray:
    """The numbers of a share with all of the noise or a part of it, written over the exact ones."""
    start = 0
    shapes = [part.shape for part in plan.sketch.split(np.zeros(plan.sketch.shape, np.int8))]
    for place, (size, scale) in enumerate(plan.segments):
        piece = numbers[start : start + size]
        start += size
        if scale is None:  # a number of records that is public
            continue
        if plan.way == "full":
            piece = piece.reshape(shapes[place]) if place < len(shapes) else piece
            add_noise(piece, scale, noise_source, piece)
        else:
            add_part(piece, scale, plan.honest, noise_source, piece)
    return numbers


def _written(plan: RoundPlan, key: OwnerKey, name: str, numbers: np.ndarray, heard: Hellos | None) -> bytes:
    """The share as it leaves the owner: in the open where it has all noise, else encrypted or masked."""
    facts: dict[str, Any] = {"heard": "" if heard is None else heard.digest}
    if heard is not None:
        masked = RoundSecrets(plan, key, name).mask(numbers, Graph.of(plan), heard.mask_keys)
        return key.message(SHARE, plan.digest, name, facts, masked.tobytes())
    content = numbers.astype("<i8").tobytes()
    if plan.convenor is not None:
        content = key.encrypt(content, plan.convenor, plan.digest, SHARE)
    return key.message(SHARE, plan.digest, name, facts, content)


def unmask(
    plan: RoundPlan, key: OwnerKey, request: str, hellos: Iterable[bytes], *, ledger: Ledger | str | None = None
) -> bytes:
    """The answer of one owner to what the convenor asks when shares are in.

    Parameters
    ----------
    request : str
        What `ask_to_unmask` wrote.
    ledger : Ledger | str | None
        Beside which the one answer of this round is kept.

    Raises
    ------
    RequestError
        When too few shares came, or another request of this round was answered before.
    """
    name, heard = my_name(plan, key), Hellos.read(plan, hellos)
    came = read_request(plan, request, heard)
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    kept = _kept(plan, book, name, UNMASK)
    with _begun(kept):
        if kept.exists():
            written = kept.read_bytes()
            before = read_message(written, plan.digest, plan.owners).facts
            if (before["came"], before["heard"]) != (sorted(came), heard.digest):
                raise RequestError(
                    f"{name!r} has answered another request of this round, which named other shares; both answers "
                    "together could show what one owner added, so there is no second one."
                )
            return written
        graph, mine = Graph.of(plan), RoundSecrets(plan, key, name)
        parts = {
            other: mine.part_of(other, _part_for(heard.by_owner[other], name), other in came)
            for other in graph.neighbours(name)
            if other in heard.by_owner
        }
        facts = {"came": sorted(came), "heard": heard.digest, "parts": parts}
        written = key.message(UNMASK, plan.digest, name, facts)
        _keep(kept, written)
    return written


def _part_for(hello: Message, name: str) -> str:
    part = hello.facts["parts"].get(name)
    if not isinstance(part, str):
        raise RequestError(f"{hello.described} has nothing for {name!r}, its neighbour.")
    return part


def read_request(plan: RoundPlan, text: str, heard: Hellos) -> set[str]:
    """Whose shares came, as a request says; RequestError where it is none of this round, or they are too few."""
    try:
        facts = exact_fields(archives.loads(text), "request", ("format", "round", "heard", "came"))
        came = facts["came"]
        if facts["format"] != REQUEST or not isinstance(came, list) or not all(isinstance(one, str) for one in came):
            raise ValueError("no request")
    except (ValueError, RequestError):
        raise RequestError("The file is no request to unmask the sum of a round.") from None
    if facts["round"] != plan.digest:
        raise RequestError("The request is of another round.")
    if facts["heard"] != heard.digest:
        raise RequestError("The request was made with other hellos than these, so the convenor or somebody else errs.")
    unknown = [name for name in came if name not in heard.by_owner]
    if unknown or len(set(came)) < len(came):
        raise RequestError("The request names shares twice, or of owners who never said hello.")
    if len(came) < plan.least:
        raise RequestError(
            f"The request would open a sum of {len(came):,} shares, and the plan says at least {plan.least:,}, so that "
            "the noise of the honest ones is enough."
        )
    return set(came)


def _is_paid(plan: RoundPlan, payer: LedgerAccount, name: str) -> bool:
    """Whether the ledger has this round's price."""
    if payer.dataset not in payer.ledger.names():
        return False
    notes = [entry.note for entry in payer.ledger.entries(payer.dataset)]
    return any((note.get("round"), note.get("owner")) == (plan.digest, name) for note in notes)


def _kept(plan: RoundPlan, ledger: Ledger, name: str, what: str) -> Path:
    """Where what an owner makes in a round is kept: beside its ledger."""
    folder = shelf_of(ledger).folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder / f"round-{plan.digest[:32]}-{quote(name, safe='')[:60]}.{what}"


def _begun_file(kept: Path) -> Path:
    """What says that a share, or an answer, is begun: each has its own, which the other does not end."""
    return kept.with_name(f"{kept.name}.{HELD}")


def _write_begun(path: Path) -> None:
    """Say on the disk that a price may be paid and a share not be there yet."""
    with path.open("wb") as file:
        file.write(b"begun\n")
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


@contextmanager
def _begun(kept: Path) -> Iterator[None]:
    """Hold what is made, so that two processes do not make it at once; what is there after a crash stays until done."""
    begun = _begun_file(kept)
    with held(begun) as mine:
        if not mine:
            raise RequestError("Another process is making this very file at the moment.")
        try:
            yield
        except BaseException:
            if begun.stat().st_size == 0:  # nothing was paid for
                begun.unlink()
            raise
        begun.unlink(missing_ok=True)


def _keep(path: Path, written: bytes) -> None:
    try:
        with unfinished(path, len(written)) as file:
            file.write(written)
        sync_folder(path.parent)
    except OSError as problem:
        raise RequestError(f"{path.name!r} cannot be kept in {str(path.parent)!r}: {problem.strerror}.") from None
