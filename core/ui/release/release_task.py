"""One release, from the owner's word to the file. Nothing in here knows Streamlit.

A page is run again at every click, and a click may come twice; so what must happen once is held here and not in the
page. An order is confirmed at most once; a confirmed order is read in the background, in steps that can be stopped at
no cost; and its noise is drawn at most once, after the ledger has written the price down, whatever happens around it.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, cast

from ...errors import RequestError
from ...privacy.budget import Budget
from ...releases.engine.building import Pace
from ...releases.job import Job
from ...releases.kind import Choosing, Plain
from ...releases.payment import LedgerAccount, unit_words
from ...releases.purchase_plan import PurchasePlan
from ...releases.release import Release
from ...releases.seal import promised_with
from ...releases.stages import Known
from ...runtime.environment import Attendance, Line
from ...runtime.faults import TOO_LITTLE
from ...sketches.adaptive import Adaptive

if TYPE_CHECKING:
    from ...privacy.accounting import Cost
    from ...privacy.ledger.ledger import Ledger
    from ...releases.found import Discovered
    from ...releases.payment import Purchase
    from ...sketches.linear import LinearSketch
    from ...sources import Source

LOOK_AGAIN = 0.5
"""Seconds until it is looked again whether an owner who was away is back."""
UNREADABLE = "The data could not be read because of a fault of the program."


@dataclass(frozen=True)
class ReleaseRequest:
    """A release that an owner asks for, complete and unchangeable: what is confirmed is what is made."""

    # What is released, and under which promise.
    source: Source
    sketch: LinearSketch | Adaptive
    budget: Budget
    # Where the price is written down.
    ledger: Ledger
    dataset: str
    # What to promise for a data set that the ledger does not know yet, or None for one that it knows.
    total: Budget | None = None
    note: dict = field(default_factory=dict)  # Public facts that the ledger keeps with the price.
    sample: str | None = None  # Name of the bundled sample that is released, or None for anyone's own data.
    # What the bounds in the sketch's domain have cost; paid already, and part of what the file promises.
    bought: tuple[Cost, ...] = ()
    within: Budget | None = None  # The promise of which that was the first part, where there is one.
    found: Purchase | None = None  # What the file says was found out before it.
    # What is bought first, out of the budget, and settles the sketch: `sketch` is that of ordinary records then.
    first: PurchasePlan[Plain] | None = None
    ticket: str = field(default_factory=lambda: secrets.token_hex(16))  # Tells this order from every other.

    @cached_property
    def kind(self) -> Plain | Choosing:
        """How it is released."""
        if self.sketch.chooses:
            return Choosing(self.sketch, self.budget)
        if self.first is not None:
            return self.first.forecast().made
        return Plain(self.sketch, self.budget, gaussian_only=self.within is not None)

    @property
    def cost(self) -> Cost:
        """The price of everything."""
        return self.kind.cost if self.first is None else self.first.cost

    @property
    def promised(self) -> Budget:
        """What the file promises: the price, and that of what it shows; RequestError when no file can."""
        return promised_with(self.budget, self.bought, self.within, self.cost)

    def payer(self) -> LedgerAccount:
        """Who pays; for one release, as it remembers whether it has."""
        unit = unit_words(self.sketch.domain.unit)
        return LedgerAccount(self.ledger, self.dataset, self.budget, unit, self.total, self.note)

    def job(self, payer: LedgerAccount, say: Callable[[str], object]) -> Job:
        """What makes it."""
        # All that a file keeps of what was found is what `kept` says, which an earlier visit's purchase says, too.
        found = cast("Discovered | None", self.found)
        known = Known.having_paid(self.budget, self.bought, 1.0, self.within, found)
        if self.first is not None:  # a plan knows itself what was paid before it
            known = None if found is None else Known(self.budget, 1.0, found=found)
        return Job(self.first or self.kind, self.source, payer, known=known, say=say)


class Stage(StrEnum):
    """Where a release in the making stands."""

    READING = "reading"
    SEALING = "sealing"
    MADE = "made"
    STOPPED = "stopped"
    FAILED = "failed"


class ReleaseTask:
    """A confirmed order on its way to a release.

    The work is done by a thread of the server, as a run of the page ends with the next click or visit elsewhere.
    Stopping never waits for it: what is being read is let go of as soon as the batch under way is done.

    `order`: What is made. `stage`: How far it is. `pace`: Rows read so far, and how fast; private, for the owner's
    eyes. `release`: The result, once made. `kept`: Where it is kept beside the ledger, once it is. `remark`: What there
    is to say about the keeping, in one sentence. `problem`: Why there is none, in one sentence, once failed.
    `left_alone`: Whether it was stopped because nobody was there to get the result. `ahead`: How many other releases
    have to be made first.
    """

    def __init__(self, order: ReleaseRequest):
        self.order = order
        self.stage = Stage.READING
        self.pace = Pace()
        self.release: Release | None = None
        self.kept: Path | None = None
        self.remark = ""
        self.problem: str | None = None
        self.left_alone = False
        self.ahead = 0
        self._payer = order.payer()
        self._job: Job | None = order.job(self._payer, self._hear)
        self._steps: Iterator[int] = iter(self._job)
        self._stage_lock, self._reading_lock = Lock(), Lock()
        self._over = Event()
        self._worker: Thread | None = None

    @property
    def spent(self) -> bool:
        """Whether the price has been written down."""
        return bool(self._payer.gone)

    @property
    def running(self) -> bool:
        """Whether there is still something to wait for."""
        return self.stage in (Stage.READING, Stage.SEALING)

    def start(self, attendance: Attendance | None = None, line: Line | None = None) -> None:
        """Begin to work in the background; once, however often it is called.

        `attendance`: Tells whether the owner is there; None takes it for granted. `line`: Where to wait for others'
        releases first; None waits for nobody.
        """
        with self._stage_lock:
            if self._worker is None and self.stage is Stage.READING:
                work = (attendance or Attendance(lambda: True), line)
                self._worker = Thread(target=self._in_turn, args=work, name="frostglass-release", daemon=True)
                self._worker.start()

    def wait(self, seconds: float) -> bool:
        """Wait until there is nothing to wait for any more, at most so long; whether that is so."""
        return self._over.wait(seconds)

    def _in_turn(self, attendance: Attendance, line: Line | None) -> None:
        """Make it when it is its turn, unless it was stopped or nobody is there any more."""
        if line is None:
            self._make(attendance)
            return
        with line.joined() as place:
            while self.stage is Stage.READING and (ahead := line.ahead(place)):
                self.ahead = ahead
                if attendance.ended:
                    self._leave()
                self._over.wait(LOOK_AGAIN)
            self.ahead = 0
            if self.stage is Stage.READING:
                self._make(attendance)

    def _make(self, attendance: Attendance) -> None:
        """Read everything, then pay and draw the noise; neither goes on for nobody.

        Someone who is away for a moment may come back, so reading goes on for a while, and what it came to is kept;
        but the price is paid only while somebody is there to get what it is paid for.
        """
        self._count_rows()
        while self.read_on():
            if attendance.ended:
                self._leave()
        while not attendance.present and not self._over.wait(LOOK_AGAIN):
            if attendance.ended:
                self._leave()
        self.finish()

    def _count_rows(self) -> None:
        try:
            self.pace = Pace(self.order.source.rows_total())
        except RequestError:
            pass  # reading finds it as well, and says what is wrong
        except BaseException as fault:
            self._fail(_said_of(fault, UNREADABLE))
            raise

    def _leave(self) -> None:
        self.left_alone = True
        self.stop()

    def read_on(self) -> bool:
        """Read the next batch of records; False when there is nothing more to read."""
        with self._reading_lock:
            steps = self._steps
            if self.stage is not Stage.READING:
                return False
            try:
                self.pace.mark(next(steps))
            except StopIteration:
                return False
            except RequestError as error:
                self._fail(str(error))
                return False
            except BaseException as fault:
                self._fail(_said_of(fault, UNREADABLE))
                raise
            return True

    def stop(self) -> None:
        """Stop while nothing is spent; without effect once the noise is being drawn, as the price is paid then."""
        with self._stage_lock:
            if self.stage is Stage.READING:
                self._end(Stage.STOPPED)

    def finish(self) -> None:
        """Pay, then draw the noise; it does so in the first call after all records were read, and in no other."""
        with self._reading_lock, self._stage_lock:
            if self.stage is not Stage.READING:
                return
            job = self._job
            job.check_read()
            self.stage = Stage.SEALING
            self._forget()
        try:
            self.release, self.kept = job.finish(), job.kept
            self._end(Stage.MADE)
        except RequestError as error:
            self._fail(str(error))
        except BaseException as fault:
            self._fail(_said_of(fault, "The release could not be made because of a fault of the program."))
            raise

    def _hear(self, words: str) -> None:
        self.remark = words

    def _fail(self, problem: str) -> None:
        price = f"ε = {self._payer.gone:f} is spent" if self.spent else "nothing was spent"
        with self._stage_lock:
            if self.running:  # and not stopped meanwhile, which then is all there is to say
                self.problem = problem if "spent" in problem else f"{problem.removesuffix('.')}; {price}."
                self._end(Stage.FAILED)

    def _end(self, stage: Stage) -> None:
        self.stage = stage
        self._forget()
        self._over.set()

    def _forget(self) -> None:
        """Let go of the exact table as soon as it is not needed."""
        self._job = None
        self._steps = iter(())


def _said_of(fault: BaseException, words: str) -> str:
    return TOO_LITTLE if isinstance(fault, MemoryError) else words


@dataclass
class ReleaseSession:
    """Where one visitor's release stands: an order waiting for a yes, one in the making, or a result."""

    asked: ReleaseRequest | None = None  # The order that waits.
    making: ReleaseTask | None = None  # The one in the making, or made.
    seen: bool = False  # Whether the owner has seen what became of it.
    # Samples whose exact answers were looked at; a release made after that says so.
    looked: set[str] = field(default_factory=set)

    def ask(self, order: ReleaseRequest) -> ReleaseRequest:
        """Lay an order before the owner; an earlier one that was not confirmed is forgotten."""
        self.asked = order
        return order

    def confirm(self, ticket: str) -> None:
        """Start the order that was asked for; a ticket counts once, so a second click on the same button is nothing."""
        if self.asked is not None and self.asked.ticket == ticket:
            order, self.asked = self.asked, None
            self.making, self.seen = ReleaseTask(order), False

    def decline(self) -> None:
        """Forget the order that was asked for."""
        self.asked = None

    def clear(self) -> None:
        """Make room for the next release; one in the making is stopped first."""
        if self.making is not None:
            self.making.stop()
        if self.making is not None and self.making.stage is not Stage.SEALING:
            self.making = None
