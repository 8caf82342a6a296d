"""Several people explore a bundled release at once: how long each click takes, and what it costs the server.

    python -m benchmarks.sessions [--sessions 10] [--clicks 6] [--pause 2] [--release visits] [--stay 0]
    python -m benchmarks.sessions --sessions 50 --pause 15       # a class or an office: a click each 10 to 20 seconds
    python -m benchmarks.sessions --beside ../earlier            # another checkout in the same run, and the ratios

It opens `frostglass app` in a process of its own, with an empty folder for data. Each session is a socket that says
what a browser says: it opens *Explore* with the release, then in turn asks at another place, which runs a part of the
page, and puts another column across, which runs all of it; it keeps large messages and says so, follows the page's
address, and fetches the pictures that an answer names. Nothing is drawn, so it is the server that is measured and not
browsers; what a page answers in the browser is left out. Clients share this computer's processors with it; the load
before and after, and what clients took themselves, is said as well. Bytes are those that came over the connection,
compressed where the server does that, on 127.0.0.1 alone. Processor seconds and memory of the server are read where
Linux keeps them. With `--stay`, it says what memory the server holds so many seconds after all pages were closed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from urllib.request import urlopen

import numpy as np
from platformdirs import user_cache_path
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.sync.client import ClientConnection, connect

PICTURE = re.compile(rb"/media/[0-9a-f]+\.[a-z0-9]+")
PART, WHOLE = "number_input", "selectbox"
"""Streamlit's names of the first controls of the page: one runs a part of it, the other all of it."""
SHARES = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Of the range of a number: where it is moved to."""
HERE = Path(__file__).resolve().parents[1]
AGE = 2
"""Runs of a whole page after which a browser forgets a large message that was not shown again."""
WAIT = 120
"""Seconds that a click may take."""


@dataclass
class Clicks:
    """What came of clicks: seconds until all was there, and bytes."""

    seconds: list[float] = field(default_factory=list)
    size: list[int] = field(default_factory=list)


@dataclass
class Control:
    """A number or a choice, as a page drew it last: where it may be moved, and which part of the page that runs."""

    fragment: str
    places: list[WidgetState]


class Line(socket.socket):
    """A connection that counts what comes."""

    came = 0

    def recv(self, size: int, flags: int = 0) -> bytes:
        """What has come."""
        data = super().recv(size, flags)
        self.came += len(data)
        return data


class Visitor:
    """One page in one browser, as its socket says it.

    Parameters
    ----------
    port : int
        Of the app.
    release : str
        Name of a bundled release.
    """

    def __init__(self, port: int, release: str) -> None:
        self._port, self._home, self._query = port, f"127.0.0.1:{port}", f"release={release}"
        self._line = Line()
        self._seen: set[bytes] = set()
        self._kept: dict[str, int] = {}
        self._runs = 0
        self._states: dict[str, WidgetState] = {}
        self._controls: dict[str, Control] = {}
        self.opened = Clicks()
        self.moved = {PART: Clicks(), WHOLE: Clicks()}

    @contextmanager
    def connected(self):
        """The socket, until the end of the block."""
        self._line = Line()
        self._line.connect(("127.0.0.1", self._port))
        with connect(
            f"ws://{self._home}/_stcore/stream",
            sock=self._line,
            origin=f"http://{self._home}",
            subprotocols=["streamlit", "none"],
            max_size=None,
            ping_interval=None,  # a server that stands still is waited for
        ) as connection:
            yield connection

    def open(self, connection: ClientConnection) -> None:
        """Open the page."""
        self._run(connection, "", self.opened)

    @property
    def kinds(self) -> list[str]:
        """What the page has that the server is asked by; a page that answers in the browser has nothing of it."""
        return [kind for kind in (PART, WHOLE) if kind in self._controls]

    def click(self, connection: ClientConnection, kind: str, chance: random.Random) -> None:
        """Move the first control of a kind to another place."""
        if kind not in self._controls:
            raise RuntimeError(f"The page of this release has no {kind}.")
        control = self._controls[kind]
        place = chance.choice([place for place in control.places if place != self._states.get(place.id)])
        self._states[place.id] = place
        self._run(connection, control.fragment, self.moved[kind])

    def _run(self, connection: ClientConnection, fragment: str, clicks: Clicks) -> None:
        message = BackMsg()
        asked = message.rerun_script
        asked.page_name, asked.query_string, asked.fragment_id = "explore", self._query, fragment
        asked.widget_states.widgets.extend(self._states.values())
        asked.cached_message_hashes.extend(self._kept)
        if not fragment:
            self._controls.clear()
        start, before, size = perf_counter(), self._line.came, 0
        connection.send(message.SerializeToString())
        pictures: set[bytes] = set()
        while True:
            raw = connection.recv(timeout=WAIT)
            pictures |= set(PICTURE.findall(raw)) - self._seen
            said = ForwardMsg.FromString(raw)
            if said.metadata.cacheable or said.ref_hash:
                self._kept[said.ref_hash or said.hash] = self._runs
            kind = said.WhichOneof("type")
            if kind == "delta":
                self._note(said)
            elif kind == "page_info_changed":
                self._query = said.page_info_changed.query_string
            elif kind == "script_finished":
                break
        for picture in pictures:
            with urlopen(f"http://{self._home}{picture.decode()}", timeout=WAIT) as answer:
                size += len(answer.read())
        self._seen |= pictures
        self._runs += not fragment
        self._kept = {one: run for one, run in self._kept.items() if self._runs - run <= AGE}
        clicks.seconds.append(perf_counter() - start)
        clicks.size.append(size + self._line.came - before)

    def _note(self, said: ForwardMsg) -> None:
        """Remember the controls that are drawn."""
        element = said.delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError("The page shows a fault of the program.")
        if kind == PART:
            number = element.number_input
            places = [WidgetState(id=number.id) for _ in SHARES]
            for place, share in zip(places, SHARES, strict=True):
                place.double_value = number.min + share * (number.max - number.min)
        elif kind == WHOLE and len(element.selectbox.options) > 1:
            places = [WidgetState(id=element.selectbox.id) for _ in element.selectbox.options]
            for place, option in zip(places, element.selectbox.options, strict=True):
                place.string_value = option
            self._states.setdefault(element.selectbox.id, places[element.selectbox.default])
        else:
            return
        self._controls.setdefault(kind, Control(said.delta.fragment_id, places))


@contextmanager
def app(port: int, program: Path = HERE):
    """The app, in a process of its own with folders of its own; of this checkout or of another one."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"HOME": folder, "XDG_DATA_HOME": folder, "XDG_CACHE_HOME": str(user_cache_path())}
        command = [sys.executable, "-m", "core", "app", "--headless", "--port", str(port)]
        quiet = subprocess.DEVNULL
        server = subprocess.Popen(command, env=environment, cwd=program, stdout=quiet, stderr=quiet)
        try:
            _wait_for(port)
            yield server
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:  # it waits for threads, which need not end
                server.kill()
                server.wait()


def _wait_for(port: int) -> None:
    for _ in range(300):
        try:
            with urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("The app did not begin within a minute.")


def spent(process: int) -> float:
    """Processor seconds of a process so far."""
    numbers = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def memory(process: int) -> float:
    """Megabytes of memory that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Cost:
    """What clicks cost the server: processor seconds and bytes of each, and its memory in megabytes.

    ``memory`` is that before the sessions, with all of them open, and some time after they were closed.
    """

    seconds: float
    size: float
    memory: tuple[float, float, float]


def explore(visitors: list[Visitor], clicks: int, pause: float, mark: threading.Barrier) -> None:
    """All visitors at once: open, wait for each other at both marks, click with pauses of their own."""

    def visit(number: int) -> None:
        chance = random.Random(number)  # which place a control is moved to, and when, is nobody's secret
        visitor = visitors[number]
        try:
            with visitor.connected() as connection:
                visitor.open(connection)
                mark.wait()
                time.sleep(chance.uniform(0, pause))  # nobody begins with the others
                for click in range(clicks if visitor.kinds else 0):
                    visitor.click(connection, visitor.kinds[click % len(visitor.kinds)], chance)
                    time.sleep(chance.uniform(2 / 3 * pause, 4 / 3 * pause))
                mark.wait()
        except BaseException:
            mark.abort()
            raise

    with ThreadPoolExecutor(len(visitors)) as all_at_once:
        list(all_at_once.map(visit, range(len(visitors))))


def measured(program: Path, asked: argparse.Namespace) -> Cost:
    """What sessions cost the app of a checkout; how long they wait is printed."""
    with app(asked.port, program) as server:
        first = Visitor(asked.port, asked.release)
        with first.connected() as connection:  # compiles and loads what every server does once
            first.open(connection)
            for kind in first.kinds:
                first.click(connection, kind, random.Random(0))
        _rest(server.pid)
        visitors = [Visitor(asked.port, asked.release) for _ in range(asked.sessions)]
        figures: list[tuple[float, float, float]] = []
        mark = threading.Barrier(
            asked.sessions, lambda: figures.append((spent(server.pid), process_time(), memory(server.pid)))
        )
        begin = memory(server.pid)
        explore(visitors, asked.clicks, asked.pause, mark)
        (before, ours_before, _), (after, ours_after, held) = figures
        time.sleep(asked.stay)
        left = memory(server.pid)
    runs = asked.sessions * asked.clicks
    _said("Opening Explore", [visitor.opened for visitor in visitors])
    _said("Asking elsewhere (a part of the page)", [visitor.moved[PART] for visitor in visitors])
    _said("Another column (all of the page)", [visitor.moved[WHOLE] for visitor in visitors])
    size = sum(sum(clicks.size) for visitor in visitors for clicks in visitor.moved.values()) / runs / 1e6
    ours, theirs = (after - before) / runs, (ours_after - ours_before) / runs
    print(f"A click: server {ours:.3f} processor seconds, clients {theirs:.3f}; {size:.3f} MB")
    print(
        f"Memory: {begin:.0f} MB before, {held:.0f} MB with all open, {left:.0f} MB {asked.stay:.0f} s after the last"
    )
    return Cost(ours, size, (begin, held, left))


def _rest(process: int) -> None:
    """Wait until a server does nothing by itself any more: it compiles at first, which is no part of a click."""
    before = -1.0
    while spent(process) - before > 0.05:
        before = spent(process)
        time.sleep(2.0)


def _said(name: str, clicks: list[Clicks]) -> None:
    seconds = [value for one in clicks for value in one.seconds]
    if not seconds:
        print(f"{name}: nothing on this page asks the server for it")
        return
    size = [value for one in clicks for value in one.size]
    half, most = np.quantile(seconds, [0.5, 0.95])
    print(f"{name}: {len(seconds)} runs, p50 {half:.2f} s, p95 {most:.2f} s, {np.mean(size) / 1e6:.3f} MB each")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--clicks", type=int, default=6)
    parser.add_argument(
        "--pause", type=float, default=2.0, help="seconds between two clicks of one: a third more or less"
    )
    parser.add_argument("--release", default="visits")
    parser.add_argument("--stay", type=float, default=0.0, help="seconds until memory is looked at again")
    parser.add_argument("--beside", type=Path, help="folder of another checkout")
    parser.add_argument("--port", type=int, default=8599)
    asked = parser.parse_args()
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    ours = measured(HERE, asked)
    if asked.beside is not None:
        print(f"The same of {asked.beside}:")
        theirs = measured(asked.beside, asked)
        seconds, size = theirs.seconds / ours.seconds, theirs.size / ours.size
        print(f"It takes {seconds:.1f} times the processor seconds a click, and {size:.1f} times the bytes.")
    print(f"Load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
