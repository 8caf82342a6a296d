"""Filling a table on many processes or machines: shares of the records are sketched where they are, and tables added.

A table is a sum of integers over records, so the sum of the tables of all shares is the table of all records, bit for
bit, whoever fills them and in whatever order they are added. Noise is drawn once, at the end, where the release is
made, and not here.

Nothing is lost or counted twice when a worker dies. Every share and every sum is a task with a key of its own in this
run. A share's table is a function of the share and the sketch, a sum's one of the two tables it adds, and neither
changes what it is given. Each key but the last is read by exactly one sum, so in the tree of sums every share is a leaf
once. The scheduler may run a task again when its result died with a worker, or even twice at once; but a sum takes one
result a key, and as all results of a key are equal, it does not matter which. Keys begin with a random number that is
new in every run, so no result of an earlier run is ever taken for one of this.

The cluster is one of processes on this machine, made for one command, or one that others have started. Whoever can
reach a scheduler can run programs on its workers and read the exact tables that they hold. So the cluster that is made
here is closed to everyone else, other users of this machine included: it listens on 127.0.0.1 alone, every connection
is encrypted and shows a certificate that exists in the memory of these processes only, and nothing of it is shown over
HTTP. A cluster of others must be encrypted where it leaves a machine, and must keep its tables off disks.
"""

from __future__ import annotations

import ipaddress
import logging
import pkgutil
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import pyarrow as pa

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import listed
from ...runtime.environment import cores, one_core
from ...runtime.transient import private_folder
from ...sketches.linear import LinearSketch
from .building import ExactTable, TableBuilder, check_room
from .resuming import Recipe

if TYPE_CHECKING:  # Dask need not be installed, and who explores a released file never needs what reads private data
    from distributed import Client, Future, LocalCluster, Security, Worker

    from ...sources.source import Part, Source

SHARES_A_THREAD = 4
"""Enough for workers of unequal speed to end together, and for little to be done again when one dies."""
NEWS_SECONDS = 0.5
"""Between two words on how far a share is."""
ANSWER_SECONDS = 30
"""For a scheduler to answer, and for the first worker to be there."""
PROGRAM = __name__.partition(".")[0]  # As workers have to import it: "core" in a checkout, else its installed name.
MOST_NAMED = 5  # Computers that a refusal names.
OWN = {
    # Tables before noise are not written to disk, and no page shows what the workers do.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.admin.event-loop-monitor-interval": "1h",
}


@contextmanager
def connected(address: str | None) -> Iterator[Client]:
    """A client of the scheduler at an address, or of a cluster of this machine's own, for as long as the context lasts.

    RequestError when no scheduler or no worker answers, or the connection is one that others could listen to.
    """
    if address is None:
        with _own_cluster() as cluster, _client(cluster.scheduler_address, cluster.security) as client:
            yield client
    else:
        check_closed(_with_protocol(address))
        with _client(_with_protocol(address), None) as client:
            yield client


def check_closed(address: str) -> None:
    """Refuse an address whose connections leave the machine without encryption.

    `address`: With its protocol, such as tls://10.0.0.7:8786.
    """
    protocol, _, place = address.partition("://")
    if protocol in ("tls", "wss", "inproc", "ucxs") or _is_this_machine(place.rpartition(":")[0]):
        return
    raise RequestError(
        f"The connection {protocol}:// to the cluster is not encrypted, and what travels on it are exact tables: start "
        "scheduler and workers with TLS and give an address that begins with tls://, or use a tunnel to 127.0.0.1."
    )


def check_worker(worker: Worker) -> None:
    """Refuse a worker that would show exact tables to a network or write them to a disk.

    RequestError when its connections are not encrypted, or it may spill.
    """
    for address in (worker.address, worker.scheduler.address):
        check_closed(address)
    if not isinstance(worker.data, dict):
        raise RequestError(
            "A worker may write exact tables to its disk when memory is short; start the workers with the settings "
            "distributed.worker.memory.target and distributed.worker.memory.spill at False."
        )


@contextmanager
def _own_cluster() -> Iterator[LocalCluster]:
    """A worker process a core, and a folder of theirs that only this user may enter and that is removed at the end."""
    import dask
    from distributed import LocalCluster, Security

    with private_folder() as folder, dask.config.set(OWN):
        try:
            cluster = LocalCluster(
                n_workers=cores(),
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                protocol="tls://",
                security=Security.temporary(),
                dashboard_address=None,
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0", "dashboard": False},
                local_directory=str(folder),
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
        except (OSError, RuntimeError, TimeoutError):
            raise RequestError(
                "The processes of a cluster on this machine could not be started; use --engine local."
            ) from None
        with cluster:
            yield cluster


@contextmanager
def _client(address: str, security: Security | None) -> Iterator[Client]:
    from distributed import Client

    try:
        client = Client(address, security=security, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError, RuntimeError):
        raise RequestError(
            f"No Dask scheduler answers at {address!r} within {ANSWER_SECONDS} seconds: see that it runs, that this "
            "computer may reach it, and that both have the same versions and certificates."
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            raise RequestError("The Dask scheduler has no workers; start at least one.") from None
        if security is None:
            _check_program(client)
        yield client


def _check_program(client: Client) -> None:
    """Refuse computers whose Dask was started where it cannot import this program, by their names.

    A `dask worker` finds what is installed, and does not look into the folder that it was started in: of a checkout it
    knows nothing until PYTHONPATH says so. They are asked by a function of Python's own, which all of them have.
    """
    asked = f"{PROGRAM}:__name__"
    lacking = [
        where
        for where, answer in client.run(pkgutil.resolve_name, asked, on_error="return").items()
        if answer != PROGRAM
    ]
    try:
        client.run_on_scheduler(pkgutil.resolve_name, asked)
    except ImportError:
        lacking.append("the scheduler")
    if lacking:
        raise RequestError(
            f"The program cannot be imported as {PROGRAM!r} by {listed(lacking, MOST_NAMED)}: install the same version "
            "there, or start Dask there with the environment variable PYTHONPATH set to the folder of the checkout."
        )


def _with_protocol(address: str) -> str:
    """Dask's own default is the protocol that everyone can listen to."""
    return address if "://" in address else f"tls://{address}"


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True)
class Share:
    """Consecutive parts of a source, which one task reads as if they were a source."""

    parts: tuple[Part, ...]
    # Path and bytes of each file, where they are known. A copy on a worker that is older than the others could have a
    # record again that another share has; one of the same age has the same size.
    sizes: tuple[tuple[str, int], ...] = ()

    def fingerprint(self) -> None:
        """Whether files have changed is seen once, for all shares."""

    def batches(self, domain: Domain, rows: int) -> Iterator[pa.RecordBatch]:
        """The batches of the parts, in order; RequestError when a file is not the one that was divided."""
        for path, size in self.sizes:
            file = Path(path)
            if not file.is_file() or file.stat().st_size != size:
                raise RequestError(
                    f"The file {file.name!r} is not there, or not the same, on a worker: all computers of a cluster "
                    "must read the same files by the same paths."
                )
        for part in self.parts:
            yield from part.batches(domain.read, rows)


@dataclass(frozen=True)
class Tally:
    """The exact table of some shares, the records in it, and the rows that were read for it."""

    table: np.ndarray
    records: int | np.ndarray
    rows: int


class ClusterFault(Exception):
    """A fault of the program on a worker; it names the kind of fault alone, as messages may hold values of the data."""


class ClusterBuilding:
    """The filling of one table by a Dask cluster, with the interface of `TableBuilder`.

    Iterate to do the work; each step yields the number of rows read so far, and comes several times a second whether or
    not there is news, so that a caller can stop at any time. Stopping early leaves nothing behind.

    `sketch`: Any mechanism that a release file may name. `source`: One whose records can be divided; workers open its
    files by the same paths. `address`: Of the scheduler, as Dask writes it; None for processes on this machine, made
    for this building alone.
    """

    def __init__(self, sketch: LinearSketch, source: Source, address: str | None = None):
        self.sketch = sketch
        self.source = source
        self.address = address
        self._exact: ExactTable | None = None

    def __iter__(self) -> Iterator[int]:
        before = self.source.fingerprint()
        parts = self.source.parts(self.sketch.domain)
        if not parts:
            raise RequestError(
                f"The records of {self.source.label} cannot be divided among workers, as they lie in memory or in a "
                "database, are chosen by person, or have to be sorted first; use --engine local."
            )
        recipe = Recipe.of(self.sketch)
        with connected(self.address) as client, _one_sentence():
            wanted = SHARES_A_THREAD * sum(client.nthreads().values())
            shares = [_sized(share, before) for share in _shares(parts, wanted)]
            with _News(client) as news:
                total = _planted(client, recipe, shares, news.topic)
                done = threading.Event()
                total.add_done_callback(lambda _: done.set())
                yield 0  # however soon it is done, the caller may look, or stop, while workers are at it
                while not done.wait(NEWS_SECONDS / 2):
                    yield news.rows
            tally = total.result()
        if self.source.fingerprint() != before:
            raise RequestError(f"The files of {self.source.label} have changed while they were read; start again.")
        # Noise is added in place, and what came over a network may lie in memory that must not be written to.
        self._exact = ExactTable(np.require(tally.table, requirements=["C", "W"]), tally.records)
        yield tally.rows

    @property
    def exact(self) -> ExactTable:
        """The finished table; only at the end, as part of a table must never be released by mistake."""
        if self._exact is None:
            raise RuntimeError("The table is not finished: iterate over the building to its end first.")
        return self._exact


def _shares(parts: tuple[Part, ...], wanted: int) -> list[Share]:
    """The parts, in order, as at most so many shares of about as many parts each."""
    wanted = min(max(wanted, 1), len(parts))  # workers may have left again
    edges = [len(parts) * number // wanted for number in range(wanted + 1)]
    return [Share(parts[edges[number] : edges[number + 1]]) for number in range(wanted)]


def _sized(share: Share, fingerprint: dict[str, Any] | None) -> Share:
    """The share with the sizes of its files, as the fingerprint of the source says them."""
    sizes = {path: size for path, size, *_ in fingerprint["files"]} if fingerprint is not None else {}
    files = dict.fromkeys(file for part in share.parts for file in part.files if file in sizes)
    return Share(share.parts, tuple((file, sizes[file]) for file in files))


def _planted(client: Client, recipe: Recipe, shares: list[Share], run: str) -> Future:
    """The root of a tree whose leaves are the shares and whose inner nodes each add two tables.

    A sum goes before any share that waits, so that few tables are held at a time. Only the root is kept here: every
    other table is forgotten by the cluster as soon as it was added.
    """
    level = [
        client.submit(sketched, recipe, share, run, number, key=f"{run}-share-{number}")
        for number, share in enumerate(shares)
    ]
    height = 0
    while len(level) > 1:
        height += 1
        pairs = [level[start : start + 2] for start in range(0, len(level), 2)]
        level = [
            client.submit(added, recipe, *pair, key=f"{run}-sum-{height}-{place}", priority=height)
            if len(pair) == 2
            else pair[0]
            for place, pair in enumerate(pairs)
        ]
    return level[0]


def _said_plainly(task: Callable[..., Tally]) -> Callable[..., Tally]:
    """A task that fails with one sentence, or with the kind of its fault, and carries nothing else with it.

    Dask sends an exception with all that came before it, and a message of a library may hold a value of the data. So
    the exception that leaves a worker is a new one, and it is raised where no other is being handled.
    """

    @wraps(task)
    def plainly(*arguments: object) -> Tally:
        try:
            return task(*arguments)
        except RequestError as refusal:
            problem: Exception = RequestError(str(refusal))
        except MemoryError:
            problem = RequestError(
                "A worker has not enough memory for its tables; start fewer workers on each computer, or use --engine "
                "local."
            )
        except Exception as fault:
            problem = ClusterFault(type(fault).__name__)
        raise problem

    return plainly


@_said_plainly
def sketched(recipe: Recipe, share: Share, run: str, number: int) -> Tally:
    """On a worker: the table of one share, on the core that the task was given."""
    from distributed import get_worker

    worker = get_worker()
    check_worker(worker)
    building, rows, told = TableBuilder(recipe.sketch(), cast("Source", share)), 0, monotonic()
    with one_core():
        for rows in building:
            if monotonic() - told >= NEWS_SECONDS:
                worker.log_event(run, [number, rows])
                told = monotonic()
    worker.log_event(run, [number, rows])
    exact = building.exact
    return Tally(exact.table, exact.records, rows)


@_said_plainly
def added(recipe: Recipe, one: Tally, other: Tally) -> Tally:
    """On a worker: the sum of two tables, in a new one, as either may be needed again when a worker dies."""
    records = one.records + other.records
    check_room(recipe.sketch(), int(recipe.sketch().records_in(records)))
    return Tally(one.table + other.table, records, one.rows + other.rows)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """What can go wrong with a cluster, as one sentence."""
    from distributed import KilledWorker

    try:
        yield
    except KilledWorker:
        raise RequestError(
            "Several workers died at the same share of the records, most likely for want of memory; start fewer "
            "workers on each computer, or use --engine local."
        ) from None
    except (ModuleNotFoundError, RuntimeError) as problem:
        if isinstance(problem, RuntimeError) and "deserialization" not in str(problem):
            raise
        raise RequestError(
            "The scheduler or a worker does not have the program; install the same version of it wherever they run."
        ) from None
    except (CancelledError, OSError):
        raise RequestError("The connection to the Dask scheduler was lost, so the table is not finished.") from None


class _News:
    """Rows that the tasks of one run say they have read; a share that begins again is heard of when it is further."""

    def __init__(self, client: Client):
        self._client = client
        self._rows: dict[int, int] = {}
        self.topic = f"frostglass-{secrets.token_hex(8)}"
        """New in every run, as the keys of its tasks begin with it too."""

    def __enter__(self) -> Self:
        self._client.subscribe_topic(self.topic, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._client.status == "running":
            self._client.unsubscribe_topic(self.topic)

    def _hear(self, event: tuple[float, list[int]]) -> None:
        number, rows = event[1]
        self._rows[number] = max(rows, self._rows.get(number, 0))

    @property
    def rows(self) -> int:
        """Rows of all shares together."""
        return sum(list(self._rows.values()))
