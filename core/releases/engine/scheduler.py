"""Reaching a Dask cluster: one of processes on this machine, made for one command, or one that others have started.

Whoever can reach a scheduler can run programs on its workers and read the exact tables that they hold. So the cluster
that is made here is closed to everyone else, other users of this machine included: it listens on 127.0.0.1 alone, every
connection is encrypted and shows a certificate that exists in the memory of these processes only, and nothing of it is
shown over HTTP. A cluster of others must be encrypted where it leaves a machine, and must keep its tables off disks.
"""

from __future__ import annotations

import ipaddress
import logging
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...errors import RequestError
from ...formatting.numbers import listed
from ...runtime.environment import cores
from ...runtime.transient import private_folder

if TYPE_CHECKING:  # this much can be imported where Dask is not installed
    from distributed import Client, LocalCluster, Security, Worker

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
