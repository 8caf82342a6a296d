"""How a comparison is worked on: a thread tries what is asked for while the page is looked at, and remembers it.

Every step is tried on one core and one at a time for all visitors, so that other pages find the rest of the computer
free; visitors who compare at the same time take turns.

What was measured once on the bundled samples is kept beside them, so that their curves are there at once, as a
comparison takes minutes of a processor. Its noise and its hashes come from seeds that belong to each trial, so who
tries a step again gets the same errors, and only times differ from one computer to another. Nothing here
knows Streamlit.
"""

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from pathlib import Path
from threading import Lock, Thread
from time import thread_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import RequestError
from ..runtime.environment import Attendance, one_core
from ..runtime.faults import told
from ..runtime.transient import unfinished
from ..sources.public_tables import FOLDER
from .comparison_plan import Advice, Outcome, Plan, Step, Trial, Value

MOST_COMPARED = 12  # Comparisons (of one data set and one question) that are remembered; the one used longest ago goes.
MOST_STEPS = 6_000  # Steps of one comparison that are remembered; then it begins anew.
FAULT = "It could not be tried because of a fault of the program."


def nothing(identity: str) -> dict[Step, Outcome]:
    """What is known of a comparison that nobody has made yet."""
    return {}


class Results:
    """What came of the steps of several comparisons, by the identity of the comparison. Any thread may ask it."""

    def __init__(self, before: Callable[[str], dict[Step, Outcome]] = nothing) -> None:
        self._known: OrderedDict[str, dict[Step, Outcome]] = OrderedDict()
        self._before = before
        self._lock = Lock()

    def of(self, identity: str) -> dict[Step, Outcome]:
        """What is known of one comparison; a copy."""
        with self._lock:
            return dict(self._known[identity] if identity in self._known else self._begun(identity))

    def _begun(self, identity: str) -> dict[Step, Outcome]:
        """The outcomes that were known before of a comparison that is new here."""
        before = self._before(identity)
        if before:
            self._remember(identity, before)
        return before

    def _remember(self, identity: str, known: dict[Step, Outcome]) -> None:
        self._known[identity] = known
        self._known.move_to_end(identity)
        while len(self._known) > MOST_COMPARED:
            self._known.popitem(last=False)

    def keep(self, identity: str, step: Step, outcome: Outcome) -> None:
        """Remember what came of a step."""
        with self._lock:
            known = self._known[identity] if identity in self._known else self._begun(identity)
            self._remember(identity, known)
            if len(known) >= MOST_STEPS:
                known.clear()
            known[step] = outcome


@dataclass
class Turns:
    """Shared by all visitors of a server: what is known, and whose turn it is to use a core."""

    results: Results = field(default_factory=Results)
    turn: Lock = field(default_factory=Lock)


@dataclass(frozen=True)
class Task:
    """What one visitor compares now."""

    identity: str  # Of the data and the question; equal ones have equal outcomes.
    plan: Plan
    work: Callable[[Step], Value]


class Bench:
    """Where one visitor's comparison is worked on.

    `stopped`: Whether the visitor stopped it; it goes on with the next `aim` for something else, or with `go_on`.
    """

    def __init__(self, turns: Turns, attendance: Attendance, results: Results | None = None):
        self.turns = turns
        self.results = turns.results if results is None else results
        self.stopped = False
        self.doing: Step | None = None
        self._attendance = attendance
        self._task: Task | None = None
        self._lock = Lock()
        self._worker: Thread | None = None

    @property
    def running(self) -> bool:
        """Whether there is still something to wait for."""
        return self._worker is not None

    def known(self, identity: str) -> dict[Step, Outcome]:
        """What is known of a comparison."""
        return self.results.of(identity)

    def aim(self, task: Task) -> None:
        """Work on a task from now on, in place of any other; what is known of it already is not tried again."""
        with self._lock:
            if self._task is None or (task.identity, task.plan) != (self._task.identity, self._task.plan):
                self.stopped = False
            self._task = task
            self._start()

    def go_on(self) -> None:
        """Go on with what was stopped."""
        with self._lock:
            self.stopped = False
            self._start()

    def stop(self) -> None:
        """Try nothing further; the step under way ends, and what is known stays."""
        self.stopped = True

    def _start(self) -> None:
        if self._worker is None and not self.stopped and self._next() is not None:
            self._worker = Thread(target=self._try_on, name="frostglass-comparison", daemon=True)
            self._worker.start()

    def _next(self) -> Step | None:
        task = self._task
        return None if task is None else task.plan.next_step(self.results.of(task.identity))

    def _try_on(self) -> None:
        try:
            with one_core():
                while (due := self._due()) is not None:
                    task, step = due
                    with self.turns.turn:
                        self.doing = step
                        self.results.keep(task.identity, step, tried(task.work, step))
        except BaseException:  # a page that waits for a worker that is no more would wait for ever
            self._worker = None
            raise

    def _due(self) -> tuple[Task, Step] | None:
        """What to try next; None, and no worker any more, when nothing is left or nobody wants it."""
        with self._lock:
            step = None if self.stopped or self._attendance.ended else self._next()
            if step is None or self._task is None:
                self._worker = self.doing = None
                return None
            return self._task, step


def tried(work: Callable[[Step], Value], step: Step) -> Outcome:
    """What became of a step: its value or why there is none, and the processor seconds of this thread."""
    start = thread_time()  # of this thread alone, so that a busy computer makes no method look slow
    value: Value | None = None
    problem: str | None = None
    try:
        value = work(step)
    except RequestError as error:
        problem = str(error)
    except Exception as fault:  # one method must not end the comparison of the others; the log says which, and where
        logging.getLogger(__name__).error("Comparing %s failed: %s", step.method, told(fault))
        problem = FAULT
    return Outcome(value, problem, thread_time() - start)


COMPARISONS = FOLDER / "comparisons"  # The folder with a file of outcomes for each bundled sample.
MOST_DRAWS = 3  # Releases of a method whose functions are kept; they are most of a file.
FINE = 1000  # Functions are kept to a thousandth of their largest value, more than a picture shows.
_OF_STEP = tuple(field.name for field in fields(Step))
# Names of a trial's measurements, which are kept beside the facts of its step.
_MEASURED = (
    "relative_error",
    "upper_error",
    "l2_error",
    "seconds_build",
    "seconds_noise",
    "seconds_query",
    "file_bytes",
)
_TYPES = pa.schema(
    [
        ("comparison", pa.dictionary(pa.int8(), pa.string())),
        ("method", pa.dictionary(pa.int8(), pa.string())),
        ("epsilon", pa.dictionary(pa.int8(), pa.string())),
        ("delta", pa.dictionary(pa.int8(), pa.string())),
        ("size", pa.int64()),
        ("repetition", pa.int16()),
        *((name, pa.bool_()) for name in ("tuning", "drawn", "sizing", "advising")),
        ("problem", pa.string()),
        ("seconds", pa.float32()),
        *((name, pa.float32()) for name in _MEASURED[:-1]),
        ("file_bytes", pa.int64()),
        ("sizes", pa.list_(pa.int64())),
        ("advised", pa.string()),
        ("reason", pa.string()),
        ("functions", pa.list_(pa.int16())),
        ("draws", pa.int8()),
        ("unit", pa.float64()),
    ]
)


def keep(path: Path, comparisons: Mapping[str, Mapping[Step, Outcome]]) -> None:
    """Write what is known of several comparisons of one sample, by their identities."""
    rows = [
        {"comparison": identity} | _row(step, outcome)
        for identity, known in comparisons.items()
        for step, outcome in known.items()
    ]
    path.parent.mkdir(exist_ok=True)
    with unfinished(path) as file:  # what is there stays whole when this is stopped
        pq.write_table(pa.Table.from_pylist(rows, schema=_TYPES), file, compression="zstd", compression_level=19)


def bundled(identity: str) -> dict[Step, Outcome]:
    """What is kept of a comparison, which begins with the name of its sample; nothing where nothing is."""
    path = COMPARISONS / f"{identity.split(' ', 1)[0]}.parquet"
    if not path.is_file():
        return {}
    rows = pq.read_table(path, filters=[("comparison", "==", identity)]).to_pylist()
    return {step: outcome for step, outcome in map(_outcome, rows)}


def _row(step: Step, outcome: Outcome) -> dict[str, object]:
    row = asdict(step) | {"problem": outcome.problem, "seconds": outcome.seconds}
    row |= {"epsilon": str(step.epsilon), "delta": str(step.delta)}
    value = outcome.value
    if isinstance(value, Trial):
        return row | {name: getattr(value, name) for name in _MEASURED}
    if isinstance(value, Advice):
        return row | {"advised": value.method, "reason": value.reason}
    if isinstance(value, np.ndarray):
        kept = value[:MOST_DRAWS]
        unit = float(np.abs(kept).max()) / FINE or math.ulp(0.0)
        return row | {"functions": np.rint(kept / unit).astype(np.int16).ravel(), "draws": len(kept), "unit": unit}
    return row | {"sizes": value}


def _outcome(row: dict) -> tuple[Step, Outcome]:
    facts = {name: row[name] for name in _OF_STEP}
    step = Step(**facts | {"epsilon": Decimal(row["epsilon"]), "delta": Decimal(row["delta"])})
    return step, Outcome(_value(step, row), row["problem"], row["seconds"])


def _value(step: Step, row: dict) -> Trial | Advice | np.ndarray | tuple[int | None, ...] | None:
    if row["problem"] is not None:
        return None
    if step.sizing:
        return tuple(row["sizes"])
    if step.advising:
        return Advice(row["advised"], row["reason"])
    if step.drawn:
        return np.reshape(row["functions"], (row["draws"], -1)) * row["unit"]
    measured = {name: row[name] for name in _MEASURED}
    of_step = step.method, step.size, float(step.epsilon), float(step.delta), step.repetition, step.tuning
    return Trial(*of_step, **measured)
