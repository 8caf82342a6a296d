"""Tests side by side, in processes that share what was collected: `pytest -p tests.side_by_side --processes 3`.

Collecting thousands of tests, and importing all that they import, takes a processor half a minute. So it is done once,
and the process then forks; each fork takes the next file's tests when it is done with those before, and tells the first
process what became of them. What a test may see is what it sees alone: its noise follows from its name.
"""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import NoReturn

import pytest

from tests import same_noise
from tests.depth import DEEP

AT_ONCE = 40  # Tests that a process takes at a time: those of one file, or so many of it.
TOKEN = 4  # Bytes of a number in the queue.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add how many processes there are; without it tests run one after the other, as they do where none can fork."""
    parser.addoption("--processes", type=int, default=0, help="run tests in so many forks of this process")


def portions(items: list[pytest.Item]) -> list[list[int]]:
    """The places of tests that run one after the other: of one file, as what such a file prepares is prepared once.

    Those in a browser are together in quick runs, as each process that has some starts a server and a browser.
    """

    def prepared(place: int) -> Path:
        path = items[place].path
        return path if DEEP or path.parent.name != "browser" else path.parent

    found = []
    for _, places in groupby(range(len(items)), key=prepared):
        all_of_them = list(places)
        found += [all_of_them[first : first + AT_ONCE] for first in range(0, len(all_of_them), AT_ONCE)]
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run what was collected in forks, where there is more than one portion of it."""
    processes, todo = session.config.getoption("--processes"), portions(session.items)
    if session.config.option.collectonly or session.testsfailed or min(processes, len(todo)) < 2:
        return None
    queue, filled = os.pipe()  # a read of a token is whole, and goes to one process alone
    os.write(filled, b"".join(place.to_bytes(TOKEN) for place in range(len(todo))))
    os.close(filled)
    sys.stdout.flush()
    sys.stderr.flush()
    running = {}
    for _ in range(processes):
        mine, theirs = Pipe(duplex=False)
        child = os.fork()
        if not child:
            _be_a_fork(session, todo, queue, theirs)
        theirs.close()
        running[mine] = child
    try:
        _listen(session, running)
    finally:
        for child in running.values():  # none is left, unless the session is to stop
            os.kill(child, signal.SIGTERM)
            os.waitpid(child, 0)
        os.close(queue)
    return True


def _listen(session: pytest.Session, running: dict[Connection, int]) -> None:
    """Pass on what forks tell, until all have ended."""
    hook, begun, ended = session.config.hook, {}, 0
    while running:
        for one in wait(list(running)):
            try:
                what, told = one.recv()
            except EOFError:
                _, status = os.waitpid(running.pop(one), 0)
                if status:
                    raise session.Interrupted(f"a process ended by itself in {begun.get(one, 'no test')}") from None
                continue
            if what == "begun":
                begun[one] = told
            elif what == "report":
                report = hook.pytest_report_from_serializable(config=session.config, data=told)
                hook.pytest_runtest_logreport(report=report)
            else:
                ended += 1
                hook.pytest_runtest_logfinish(nodeid=told[0], location=told[1])
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
    if ended != len(session.items):
        raise session.Interrupted(f"{len(session.items) - ended} tests were not run")


class _Teller:
    """The plugin of a fork: tells the first process what became of each test."""

    def __init__(self, config: pytest.Config, to: Connection) -> None:
        self._config, self._to = config, to

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._to.send(("begun", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of its three parts is over."""
        told = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._to.send(("report", told))

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        """All of it is over."""
        self._to.send(("ended", (nodeid, location)))


def _be_a_fork(session: pytest.Session, todo: list[list[int]], queue: int, told: Connection) -> NoReturn:
    """Run portions until none is left, and end without what the first process does at its end."""
    status = 1
    try:
        same_noise.begin_here()
        capture = session.config.pluginmanager.getplugin("capturemanager")
        capture.stop_global_capturing()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is printed of results, the first process prints
        capture.start_global_capturing()
        capture.suspend_global_capture()
        session.config.pluginmanager.register(_Teller(session.config, told))
        places = _taken(todo, queue)
        place = next(places, None)
        while place is not None and not session.shouldstop:
            following = next(places, None)
            after = None if following is None else session.items[following]
            session.config.hook.pytest_runtest_protocol(item=session.items[place], nextitem=after)
            place = following
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        told.close()
        os._exit(status)


def _taken(todo: list[list[int]], queue: int) -> Iterator[int]:
    """The places of tests, portion by portion, each taken before the last test of the one before begins."""
    while token := os.read(queue, TOKEN):
        yield from todo[int.from_bytes(token)]
