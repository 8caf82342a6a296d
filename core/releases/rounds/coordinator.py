"""A round by network: the coordinator keeps the messages of a round as files in a folder, and says what comes next.

It is the convenor of a round by files with a door: the messages are the same, byte for byte, and so is what the
convenor can do with them. What it learns beside them is when an owner's computer called and from which address. How
long an owner's records took to read would tell about how many there are, so `live.join` reads them before it first
calls.

All it knows lies in its folder, each file there whole or not at all:

    1-NAME.hello, .share, .unmask          what owners sent, by their places in the plan, and names as in an address
    hello.closed, share.closed             whose messages count, written when no more of them are taken
    release.npz                            the release

So a coordinator that was killed goes on where it was. What is closed stays closed: every owner is told the same hellos
and the same request, however often and after whatever crash, as an owner answers one request alone.

A stage is closed when everybody's message is there; or, when `wait` seconds have passed since the least number of them
was there. It is looked at whenever somebody asks, so nothing runs in between.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from threading import RLock
from time import time
from typing import cast
from urllib.parse import quote

from ...errors import RequestError
from ...runtime import archives
from ...runtime.transient import unfinished
from ..file import sync_folder
from .convenor_steps import Arrived, NotYet, check_answer, check_share, put_round_together
from .masking import PART_BYTES, Graph
from .owner_steps import HELLO, SHARE, UNMASK, Hellos
from .round_messages import Message, OwnerKey, read_message
from .round_plan import RoundPlan

CLOSED, RELEASE = ".closed", "release.npz"
HEADER_ROOM = 1 << 16  # Bytes of a message beside what grows with the round.


def place_of(plan: RoundPlan, folder: Path, owner: str, kind: str) -> Path:
    """Where what is an owner's lies."""
    return folder / f"{list(plan.owners).index(owner) + 1}-{quote(owner, safe='')[:60]}.{kind}"


class Stage(StrEnum):
    """What a round waits for."""

    HELLO = HELLO
    SHARE = SHARE
    UNMASK = UNMASK
    DONE = "done"
    FAILED = "failed"


@dataclass
class Coordinator:
    """The coordinator of one round.

    `plan`: Of the round. `folder`: Where it keeps everything; the same one again after a crash. `wait`: Seconds that
    others are waited for, once as many messages as the plan needs are there. `key`: The convenor's, where shares are
    encrypted for it; without it the shares are left for `combine sum`.
    """

    plan: RoundPlan
    folder: Path
    wait: float = 0.0
    key: OwnerKey | None = None
    problem: str = ""  # Why the round cannot be put together; for the convenor.
    _lock: RLock = field(default_factory=RLock, repr=False)
    _tried: int = -1  # Answers with which the sum could not be unmasked yet.
    _arrived: Arrived | None = None
    _hellos: Hellos | None = None

    def __post_init__(self) -> None:
        if self.key is not None and self.key.public != self.plan.convenor:
            raise RequestError("The shares of this round are not encrypted for this key.")

    def stage(self) -> Stage:
        """What the round waits for now, after closing what is complete."""
        with self._lock:
            if (self.folder / RELEASE).exists():
                return Stage.DONE
            if self.problem:
                return Stage.FAILED
            masked = self.plan.way == "masked"
            if masked and not self._closes(HELLO, list(self.plan.owners)):
                return Stage.HELLO
            if not self._closes(SHARE, self._counted(HELLO) if masked else list(self.plan.owners)):
                return Stage.SHARE
            waits = Stage.UNMASK if masked else Stage.SHARE
            came = self._counted(SHARE)
            answers = sum(self._place(name, UNMASK).exists() for name in came) if masked else 0
            if masked and (answers == self._tried or not self._complete(UNMASK, came)):
                return waits
            self._tried = answers
            if self.plan.way == "shared" and self.key is None:
                return waits
            return self._put_together(waits)

    def take(self, owner: str, kind: str, content: bytes) -> None:
        """Keep a message of an owner; the same one again changes nothing.

        RequestError when it is none of this round, or comes when its like are not taken any more, or when another one
        came before.
        """
        with self._lock:
            message = read_message(content, self.plan.digest, self.plan.owners)
            if (message.owner, message.kind) != (owner, kind):
                raise RequestError(f"{message.described} came in place of a {kind} of {owner!r}.")
            place = self._place(owner, kind)
            if place.exists():
                if place.read_bytes() != content:
                    raise RequestError(f"Another {kind} of {owner!r} came before, and one owner counts once.")
                return
            if self.stage() != kind or (self.folder / f"{kind}{CLOSED}").exists():
                raise RequestError(f"The round does not take a {kind} now, so it goes on without that of {owner!r}.")
            self._check(message)
            self._write(place, content)

    def most_bytes(self, kind: str) -> int:
        """How long a message of a kind can be."""
        owners = len(self.plan.text) * 2  # Every name, escaped.
        if kind == SHARE:
            return HEADER_ROOM + self.plan.share_bytes
        return HEADER_ROOM + owners + Graph.of(self.plan).degree * 4 * PART_BYTES

    def hellos(self) -> list[bytes]:
        """Of all owners who said hello in time, in the order of the plan."""
        return [self._place(name, HELLO).read_bytes() for name in self._counted(HELLO)]

    def request(self) -> str:
        """What is asked of everyone whose share came."""
        return self._all_arrived().request

    def release(self) -> bytes:
        """The file of the release."""
        return (self.folder / RELEASE).read_bytes()

    def _check(self, message: Message) -> None:
        """Refuse at once what would spoil the sum, when only its owner is held up by that."""
        masked = self.plan.way == "masked"
        if message.kind == HELLO:
            Hellos.check(message)
        elif message.kind == SHARE:
            check_share(self.plan, message, self._heard() if masked else None)
        else:
            if message.owner not in self._counted(SHARE):
                raise RequestError(f"The share of {message.owner!r} did not come, so nothing is asked of it.")
            check_answer(self._all_arrived(), message)

    def _closes(self, kind: str, expected: list[str]) -> bool:
        """Whether no more messages of a kind are taken; written down when that becomes so."""
        place = self.folder / f"{kind}{CLOSED}"
        if place.exists():
            return True
        if not self._complete(kind, expected):
            return False
        names = [name for name in expected if self._place(name, kind).exists()]
        self._write(place, archives.dumps(names).encode())
        return True

    def _complete(self, kind: str, expected: list[str]) -> bool:
        """Whether everybody's message is there, or the least number of them, and others were waited for."""
        there = [place.stat().st_mtime for name in expected if (place := self._place(name, kind)).exists()]
        if len(there) == len(expected):
            return True
        least = Graph.of(self.plan).threshold if kind == UNMASK else self.plan.least
        return len(there) >= least and time() >= sorted(there)[least - 1] + self.wait

    def _put_together(self, waits: Stage) -> Stage:
        try:
            made = put_round_together(self.plan, self._messages(), self.key)
        except NotYet:
            return waits
        except RequestError as problem:
            self.problem = str(problem)
            return Stage.FAILED
        self._write(self.folder / RELEASE, made.to_bytes())
        return Stage.DONE

    def _messages(self) -> list[bytes]:
        """All that counts."""
        came = self._counted(SHARE)
        places = [self._place(name, kind) for name in came for kind in (SHARE, UNMASK)]
        heard = self.hellos() if self.plan.way == "masked" else []
        return [*heard, *(place.read_bytes() for place in places if place.exists())]

    def _all_arrived(self) -> Arrived:
        """Hellos and shares, each checked once in the life of this process."""
        with self._lock:
            if self._arrived is None:
                shares = [self._place(name, SHARE).read_bytes() for name in self._counted(SHARE)]
                self._arrived = Arrived.of(self.plan, [*self.hellos(), *shares])
            return self._arrived

    def _heard(self) -> Hellos:
        if self._hellos is None:
            self._hellos = Hellos.read(self.plan, self.hellos())
        return self._hellos

    def _counted(self, kind: str) -> list[str]:
        """Whose messages of a kind count."""
        return cast(list[str], archives.loads((self.folder / f"{kind}{CLOSED}").read_text(encoding="utf-8")))

    def _place(self, owner: str, kind: str) -> Path:
        return place_of(self.plan, self.folder, owner, kind)

    def _write(self, place: Path, content: bytes) -> None:
        try:
            with unfinished(place, len(content)) as file:
                file.write(content)
            sync_folder(self.folder)
        except OSError as problem:
            raise RequestError(f"{place.name!r} cannot be kept in {str(self.folder)!r}: {problem.strerror}.") from None
