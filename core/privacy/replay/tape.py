"""A tape of all that a release draws at random, and the same release of a neighbour with every outcome forced.

A release is a function of records and of draws. On a tape stands, for each draw in order, by which law it was drawn
(the distribution and its public parameters), the exact values that it hid, and what came out. A second tape is made of
a neighbour while every draw is given the outcome that the first one had. Then

* whatever differs in what the two leave behind came out without noise, as all noise was the same;
* the hidden values of both stand beside each other, draw by draw, and the law says what their difference costs.

Draws may depend on earlier outcomes: those are forced too, so adaptive mechanisms are covered draw by draw.

Every function that draws calls `drawn`; it costs one look at a global name where nothing is recorded. Coins that a
record tosses for itself and nobody sees, such as which records are sampled, go through `tossed`, which gives every
record of the neighbour the coins of the equal record. That is a lemma and no law: for all values of such coins, which
do not depend on the records, the two releases are compared; a mixture of private ones is private (joint convexity of
(ε, δ), of Rényi divergences and of hockey-stick divergences in the pair of distributions).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

Outcome = TypeVar("Outcome")


class Law(Protocol):
    """A distribution with its public parameters, comparable with ==, and what it tells two hidden values apart by."""

    def loss(self, hidden: Any, other: Any, outcome: Any) -> Any:
        """The `losses.Loss` of the draw, for the values that it hid of either data set."""


class Mismatch(BaseException):
    """The neighbour's release draws otherwise than the first one, which alone tells the two apart.

    Not an `Exception`, so that no code which mends or reports faults can swallow it.
    """


@dataclass(frozen=True)
class Draw:
    """One entry of a tape."""

    law: Law  # How it was drawn.
    hidden: Any  # Private values that it hides, copied.
    outcome: Any  # What came out, copied.
    payments: int  # How many prices had been written to a ledger before it.
    sampled: float = 1.0  # Probability with which a record takes part in it, by coins that nobody saw; 1 where all do.


@dataclass
class Tossed:
    """Coins of records, by what is in the record: equal records have several."""

    coins: dict[bytes, list[Any]] = field(default_factory=dict)
    lemma: str = ""


class Tape:
    """What was drawn, in order.

    `forced`: An earlier tape whose outcomes are given to every draw; None draws them.

    `draws`: All draws. `payments`: Prices (`accounting.Cost`) in the order in which they were written to a ledger.
    `strays`: What is wrong with how bits were used: a stream outside of every draw, a draw without fresh bits.
    `lemmas`: Why hidden coins may be coupled, one name for each use.
    """

    def __init__(self, forced: Tape | None = None) -> None:
        self.forced = forced
        self.draws: list[Draw] = []
        self.payments: list[Any] = []
        self.strays: list[str] = []
        self.lemmas: list[str] = []
        self._tossed: list[Tossed] = []
        self._masks: set[bytes] = set()
        self._public: list[bytes] = []
        self._left: dict[int, deque[bytes]] = {}
        for found in () if forced is None else forced._public:
            self._left.setdefault(len(found), deque()).append(found)
        self._lock = threading.RLock()
        self._depth = 0
        self._fresh = 0
        self._rate = 1.0

    def draw(self, law: Law, hidden: Any, really: Callable[[], Outcome]) -> Outcome:
        """The outcome of a draw: made and written down, or as it stands on the forced tape."""
        with self._lock:
            if self._depth:  # part of a draw whose law covers it
                return really()
            hidden, place = _copy(hidden), len(self.draws)
            if self.forced is None:
                before = self._fresh
                self._depth += 1
                try:
                    outcome = really()
                finally:
                    self._depth -= 1
                if self._fresh == before and not getattr(law, "last", False):
                    self.strays.append(f"{_name(law)} was drawn from random bits that had been used before")
            else:
                outcome = self._expected(place, law).outcome
                outcome = _copy(outcome)
            self.draws.append(Draw(law, hidden, _copy(outcome), len(self.payments), self._rate))
            self._rate = 1.0
            return outcome

    def opened(self, law: Law, really: Callable[[], object]) -> Draw:
        """A draw whose outcomes come one after the other by `step`; `really` draws what they have in common."""
        with self._lock:
            before = self._fresh
            self._depth += 1
            try:
                really()
            finally:
                self._depth -= 1
            if self.forced is not None:
                self._expected(len(self.draws), law)
            elif self._fresh == before:
                self.strays.append(f"{_name(law)} were drawn from random bits that had been used before")
            session = Draw(law, [], [], len(self.payments), self._rate)
            self.draws.append(session)
            return session

    def step(self, session: Draw, hidden: Any, really: Callable[[], Outcome]) -> Outcome:
        """One of several outcomes of a draw that goes on, such as words that one noisy threshold decides."""
        with self._lock:
            if self.forced is None:
                self._depth += 1
                try:
                    outcome = really()
                finally:
                    self._depth -= 1
            else:
                place = next(place for place, draw in enumerate(self.draws) if draw is session)
                expected = self._expected(place, session.law).outcome
                if len(session.outcome) >= len(expected):
                    raise Mismatch(f"{_name(session.law)} goes on for longer than for the neighbour")
                outcome = expected[len(session.outcome)]
            session.hidden.append(_copy(hidden))
            session.outcome.append(outcome)
            return outcome

    def toss(
        self, lemma: str, records: np.ndarray, really: Callable[[int], np.ndarray], forced: Any, rate: float
    ) -> np.ndarray:
        """Coins of every record; those of the equal record on the forced tape, `forced` for a record that has none."""
        with self._lock:
            self._rate = rate
            if self._depth:
                return really(len(records))
            place = len(self._tossed)
            self.lemmas.append(lemma)
            self._depth += 1
            try:
                coins = np.array(really(len(records)))
            finally:
                self._depth -= 1
            if self.forced is not None:
                coins = self._matched(place, lemma, records, coins, forced)
            kept = Tossed(lemma=lemma)
            for record, coin in zip(_bytes(records), coins, strict=True):
                kept.coins.setdefault(record, []).append(np.array(coin))
            self._tossed.append(kept)
            return coins

    def _matched(self, place: int, lemma: str, records: np.ndarray, coins: np.ndarray, forced: Any) -> np.ndarray:
        if self.forced is None or place >= len(self.forced._tossed) or self.forced._tossed[place].lemma != lemma:
            raise Mismatch(f"coins of records ({lemma}) are tossed for one data set and not for its neighbour")
        left = {record: list(known) for record, known in self.forced._tossed[place].coins.items()}
        new = []
        for row, record in enumerate(_bytes(records)):
            if left.get(record):
                coins[row] = left[record].pop(0)
            else:
                new.append(row)
        over = [coin for known in left.values() for coin in known]
        for row in new:  # a replaced record keeps the coins of the one whose place it takes
            if over:
                coins[row] = over.pop(0)
            elif forced is not None:
                coins[row] = forced
        return coins

    def _expected(self, place: int, law: Law) -> Draw:
        if self.forced is None or place >= len(self.forced.draws):
            raise Mismatch(f"{_name(law)} is drawn for one data set and not for its neighbour")
        expected = self.forced.draws[place]
        if expected.law != law:
            raise Mismatch(
                f"draw {place + 1} is {_name(law)} for one data set and {_name(expected.law)} for its neighbour, or "
                "has other parameters"
            )
        return expected

    def stream(self) -> None:
        """A stream of private bits was opened."""
        with self._lock:
            if not self._depth:
                self.strays.append("a stream of random bits was opened outside of every draw that has a law")

    def mask(self, secret: bytes) -> None:
        """The key stream of a secret hides a share; over a second one it would show their difference."""
        with self._lock:
            if secret in self._masks:
                self.strays.append("a mask was used for two shares")
            self._masks.add(secret)

    def bits(self, size: int, really: Callable[[int], bytes]) -> bytes:
        """Bytes of the system's randomness: private ones inside a draw; public ones, such as hash seeds, repeated."""
        if self._depth:  # without the lock: threads that help with a draw may ask, while it is waited for
            self._fresh += size
            return really(size)
        with self._lock:
            left = self._left.get(size)
            found = left.popleft() if left else really(size)
            self._public.append(found)
            return found

    def paid(self, cost: Any) -> None:
        """A price was written to a ledger, durably."""
        with self._lock:
            self.payments.append(cost)

    def given_back(self, whole: Any, less: Any) -> None:
        """A price that was written is a smaller one from now on, which has to cover what was drawn of it."""
        with self._lock:
            self.payments[self.payments.index(whole)] = less

    def finish(self) -> None:
        """See that everything that was forced was drawn; `Mismatch` where the first release drew more."""
        if self.forced is None:
            return
        for draw, first in zip(self.draws, self.forced.draws, strict=False):
            if isinstance(first.outcome, list) and len(first.outcome) > len(draw.outcome):
                raise Mismatch(f"{_name(first.law)} goes on for longer than for the neighbour")
        if len(self.draws) < len(self.forced.draws):
            law = self.forced.draws[len(self.draws)].law
            raise Mismatch(f"{_name(law)} is drawn for one data set and not for its neighbour")


class _Recorder:
    """The tape that runs in this process, if any."""

    tape: Tape | None = None


def rolling() -> Tape | None:
    """The tape that is recorded at present, None nearly always."""
    return _Recorder.tape


@contextmanager
def recording(tape: Tape) -> Iterator[Tape]:
    """Write everything that is drawn in this process to a tape, one at a time."""
    if _Recorder.tape is not None:
        raise RuntimeError("One tape is recorded at a time in a process.")
    _Recorder.tape = tape
    try:
        yield tape
    finally:
        _Recorder.tape = None


def drawn(law: Law, hidden: Any, really: Callable[[], Outcome], private: bool = True) -> Outcome:
    """What a draw gives, which every function that draws asks this for.

    `law`: Its distribution, from public parameters alone. `hidden`: The private values that it hides: an array, a
    number, a tuple of them, or None. `really`: Draws. `private`: Whether the bits are private. What comes from a public
    seed hides nothing, and so is no draw: its outcome repeats by itself, and what it was to hide is compared as
    everything else is.
    """
    tape = _Recorder.tape
    return really() if tape is None or not private else tape.draw(law, hidden, really)


def tossed(
    lemma: str,
    records: np.ndarray,
    really: Callable[[int], np.ndarray],
    *,
    private: bool = True,
    forced: Any = None,
    rate: float = 1.0,
) -> np.ndarray:
    """Coins that every record tosses for itself, independent of what is in it, which nobody ever sees.

    `lemma`: Why the promise holds for all values of the coins, in a few words that an audit repeats. `records`: What
    the coins are of, a row a record; compared between neighbours, so that the order of records is none of it. `really`:
    Tosses so many: an array with a row a record. `forced`: Coins for a record that its neighbour's data set lacks; None
    leaves them as they fell. `rate`: Probability with which a record takes part in the next draw, where the promise
    counts on it.
    """
    tape = _Recorder.tape
    if tape is None or not private:
        return really(len(records))
    return tape.toss(lemma, records, really, forced, rate)


def _bytes(records: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(records)]


def _copy(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (list, tuple)):
        return type(value)(_copy(one) for one in value)
    return value


def _name(law: object) -> str:
    return str(getattr(law, "described", type(law).__name__))
