"""Many processes spend from one ledger on PostgreSQL while its server is killed: what is lost, and how fast it is.

    python -m benchmarks.shared_ledger [--processes 24] [--attempts 10000] [--sets 8] [--total 5] [--kills 2]

It starts a PostgreSQL of its own in an empty folder (`/usr/lib/postgresql`, as Debian has it), with nothing that makes
a commit less durable. Every process opens the ledger anew for each attempt, as a page does, and tries to spend ε = 0.01
of a data set at random, as often as is its share and without a pause; more is asked for than there is. The server is
killed as by a crash, with all that serve its connections, and started again. In the end, every entry that was confirmed
has to be there, no data set may have spent more than its total, and what is there and was not confirmed can be no more
than the attempts whose answers were lost.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from core.errors import BudgetError, RequestError
from core.privacy.accounting import Cost, PureParts
from core.privacy.ledger.ledger import Ledger

ROOT = Path(__file__).resolve().parents[1]
PRICE = Decimal("0.01")
TARGET = 0.2
"""Seconds within which 95 of 100 attempts have their answer."""


class Server:
    """PostgreSQL in a folder of its own, which may be killed and comes back.

    Parameters
    ----------
    programs : Path
        The folder of `initdb` and `postgres`.
    options : str
        More for `initdb`.
    """

    def __init__(self, programs: Path, *options: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self._programs = programs
        self._user: dict[str, Any] = {"user": "nobody"} if os.geteuid() == 0 else {}  # it refuses to run as root
        if self._user:
            shutil.chown(self.folder, "nobody")
        self._quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.folder}
        usual = ["-A", "trust", "-U", "tester", "-E", "UTF8", *options]
        self._run(subprocess.run, "initdb", *usual, check=True)
        self.start()

    @property
    def address(self) -> str:
        """Of the ledger in it."""
        return f"postgresql://tester@/postgres?host={self.folder}"

    def start(self) -> None:
        """Start it, which takes a moment."""
        more = ["-k", str(self.folder), "-c", "listen_addresses=", "-c", "max_connections=100"]
        self.process = self._run(subprocess.Popen, "postgres", *more)

    def kill(self) -> None:
        """End it as a crash does, with all that serve its connections."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(60)

    def ledger(self) -> Ledger:
        """The ledger, once the server has come up."""
        for _ in range(600):
            try:
                return Ledger(self.address)
            except RequestError:
                time.sleep(0.1)
        raise RuntimeError("PostgreSQL did not come up.")

    def _run(self, how: Any, program: str, *options: str, **more: Any) -> Any:
        command = [self._programs / program, "-D", self.folder / "data", *options]
        return how(command, **self._quiet, **self._user, **more)


def programs() -> Path | None:
    """Where the newest PostgreSQL of this computer is."""
    return max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda place: int(place.parent.name), default=None)


@contextmanager
def server(*options: str) -> Iterator[Server]:
    """A server until the end of the block."""
    place = programs()
    if place is None:
        raise RuntimeError("No PostgreSQL is installed.")
    made = Server(place, *options)
    try:
        yield made
    finally:
        made.kill()
        shutil.rmtree(made.folder)


@dataclass
class Outcome:
    """What came of all attempts.

    Attributes
    ----------
    paid : list[tuple[str, str]]
        Data set and entry of each that was confirmed.
    refused : list[str]
        Data sets that had no budget left for one.
    lost : int
        Attempts that had no answer, as the server was gone.
    seconds : list[float]
        That each took that had an answer.
    """

    paid: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    lost: int = 0
    seconds: list[float] = field(default_factory=list)

    def faults(self, ledger: Ledger) -> list[str]:
        """What the ledger has wrong now, in words; empty where nothing is lost and nothing overspent."""
        found = []
        kept = {(name, entry.id) for name in ledger.names() for entry in ledger.entries(name)}
        if len(set(self.paid)) < len(self.paid) or not set(self.paid) <= kept:
            found.append("an entry that was confirmed is not there, or twice")
        if len(kept) - len(self.paid) > self.lost:
            found.append("there are more entries than attempts whose answer was lost")
        for name in ledger.names():
            status = ledger.status(name)
            spent = len(status.releases) * PRICE
            if spent > status.epsilon or spent + status.left != status.epsilon:
                found.append(f"{name} has spent more than its total, or its sum is wrong")
            if name in self.refused and status.left >= PRICE:
                found.append(f"{name} refused what it had")
        ledger.log.verify()
        return found


def attempt(server: Server, processes: int, attempts: int, sets: int, total: Decimal, kills: int) -> Outcome:
    """Let processes spend, and kill the server so many times while they do; what came of it."""
    ledger = server.ledger()
    for number in range(sets):
        ledger.register(f"set {number}", total)
    each = -(-attempts // processes)
    command = [sys.executable, "-m", __spec__.name, "--spend", server.address, "--sets", str(sets)]
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "answers").open("ab") as told:
        # All append to one file, a line in one piece each.
        spenders = [
            subprocess.Popen(
                [*command, "--attempts", str(each), "--seed", str(seed)],
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=told,
            )
            for seed in range(processes)
        ]
        while Path(told.name).read_bytes().count(b"\n") < processes and all(one.poll() is None for one in spenders):
            time.sleep(0.2)  # starting Python takes seconds of a processor, which are no part of an attempt
        for spender in spenders:
            cast(BinaryIO, spender.stdin).close()
        for kill in range(kills):
            while Path(told.name).read_bytes().count(b"\n") < each * processes * (kill + 1) // (kills + 1):
                if all(spender.poll() is not None for spender in spenders):
                    break
                time.sleep(0.2)
            server.kill()
            time.sleep(1)
            server.start()
        codes = [spender.wait() for spender in spenders]
        answers = [json.loads(line) for line in Path(told.name).read_bytes().splitlines() if line]
    if any(codes) or len(answers) != each * processes:
        raise RuntimeError("A process ended before it was done.")
    return _outcome(answers)


def _outcome(answers: list[dict[str, Any]]) -> Outcome:
    came = Outcome()
    for answer in answers:
        came.seconds += [answer["seconds"]] if answer["set"] else []
        came.lost += not answer["set"]
        if answer["entry"]:
            came.paid.append((answer["set"], answer["entry"]))
        elif answer["set"]:
            came.refused.append(answer["set"])
    return came


def spend(where: str, attempts: int, sets: int, seed: int) -> None:
    """Be one of the processes: an empty line when it is ready, and a line of JSON for each attempt once input ends."""
    os.write(sys.stdout.fileno(), b"\n")
    sys.stdin.read()
    cost, pick = Cost((PureParts(Fraction(PRICE)),), PRICE), random.Random(seed)
    for _ in range(attempts):
        name, entry, start = f"set {pick.randrange(sets)}", None, time.perf_counter()
        try:
            entry = Ledger(where).spend(name, cost, {"mechanism": "race"})
        except BudgetError:
            pass
        except RequestError:
            name = ""
            time.sleep(0.05)
        answer = json.dumps({"set": name, "entry": entry, "seconds": time.perf_counter() - start})
        os.write(sys.stdout.fileno(), f"{answer}\n".encode())  # in one piece, whatever Python buffers


def main() -> None:
    """Measure, and say what came of it beside what it should be."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shared_ledger", description=__doc__)
    parser.add_argument("--processes", type=int, default=24)
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument("--total", type=Decimal, default=Decimal(5), help="ε of each data set")
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--spend", default="", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.spend:
        spend(chosen.spend, chosen.attempts, chosen.sets, chosen.seed)
        return
    load, start = os.getloadavg()[0], time.perf_counter()
    with server() as postgres:
        came = attempt(postgres, chosen.processes, chosen.attempts, chosen.sets, chosen.total, chosen.kills)
        took = time.perf_counter() - start
        faults = came.faults(postgres.ledger())
    half, most = np.quantile(came.seconds, [0.5, 0.95])
    print(f"{chosen.attempts:,} attempts from {chosen.processes} processes in {took:.0f} s, the server killed")
    print(f"{chosen.kills} times; load {load:.1f} before and {os.getloadavg()[0]:.1f} after.")
    print(f"{len(came.paid):,} paid, {len(came.refused):,} refused, {came.lost:,} without an answer.")
    print(f"An answer took {half:.3f} s for half and {most:.3f} s for 95 of 100 (at most {TARGET} s is the aim).")
    print("Faults: " + ("; ".join(faults) or "none lost, none overspent") + ".")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
