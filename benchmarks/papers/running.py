"""Doing work in processes of one thread each, as many as memory allows, with a limit on the time of each piece."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import FrameType

import numpy as np

from core.errors import RequestError
from core.runtime.environment import one_core

from .store import Store
from .work import DONE, LONG, REFUSED, Experiment, Record, Settings, Work

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
FORETOLD_FROM = (1 / 32, 1 / 16)
"""Shares of the records with which work that takes too long is tried, to say how long all of them would take."""
MEMORY_SHARE = 0.7
"""Of what is free now, for all processes together."""


class TooLong(BaseException):
    """The time of a piece of work is over; no `Exception`, so that nothing on the way takes it for its own."""


def run(
    experiment: Experiment, settings: Settings, store: Store, workers: int, told: Callable[[int, int], object]
) -> list[Record]:
    """Everything that an experiment has to do, less what the store has already.

    Parameters
    ----------
    told : called with how much is done and how much there is, after every piece.
    """
    works = _first(experiment, settings)
    records: list[Record] = []
    while works:
        for record in _all_of(experiment, works, settings, store, workers):
            records.append(record)
            told(len(records), len(records) + len(works) - 1)
            works = [work for work in works if work != record.work]
        done = {record.work for record in records}
        works = [work for work in experiment.then(settings, records) if work not in done]
    return records


def _first(experiment: Experiment, settings: Settings) -> list[Work]:
    return [work for work in experiment.first(settings) if settings.has(work.data)]


def known(experiment: Experiment, settings: Settings, store: Store) -> list[Record]:
    """What the store has of an experiment, without doing anything."""
    found = [record for work in _first(experiment, settings) if (record := store.get(work)) is not None]
    follow = (store.get(work) for work in experiment.then(settings, found))
    return found + [record for record in follow if record is not None]


def _all_of(
    experiment: Experiment, works: Sequence[Work], settings: Settings, store: Store, workers: int
) -> Iterator[Record]:
    """The records of some work, as they come; a pool that breaks is begun anew."""
    todo = []
    for work in works:
        known = store.get(work)
        if known is None:
            todo.append(work)
        else:
            yield known
    long: dict[tuple, Record] = {}
    while todo:
        try:
            for record in _pooled(experiment, todo, settings, store, workers, long):
                todo.remove(record.work)
                yield record
        except BrokenProcessPool:
            ended = [known for work in todo if (known := store.get(work)) is not None]
            for record in ended:
                todo.remove(record.work)
                yield record
            workers = 1  # whoever needs so much memory shall have it alone


def _pooled(
    experiment: Experiment,
    works: Sequence[Work],
    settings: Settings,
    store: Store,
    workers: int,
    long: dict[tuple, Record],
) -> Iterator[Record]:
    processes = min(workers, most_processes(experiment.memory))
    waiting = iter(list(works))
    running: dict[Future, Work] = {}
    with _pool(processes) as pool:
        try:
            while True:
                while len(running) < processes and (work := next(waiting, None)) is not None:
                    if (alike := long.get(_setting(work))) is not None:
                        yield _kept(store, replace(alike, work=work))
                        continue
                    store.begin([work])
                    running[pool.submit(done, experiment.name, work, settings)] = work
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    record = future.result()
                    del running[future]
                    if record.outcome == LONG:
                        long[_setting(record.work)] = record
                    yield _kept(store, record)
        except (KeyboardInterrupt, GeneratorExit):
            store.put_back(running.values())
            raise


def _setting(work: Work) -> tuple:
    """What takes as long at every draw and every epsilon."""
    return work.data, work.method, work.size, work.delta


def _kept(store: Store, record: Record) -> Record:
    store.put(record)
    return record


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes begun from nothing, which read these variables before they load a library of threads."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=_end_with_the_parent)
    try:
        yield pool
    except BaseException:
        # The program waits for what is under way before it ends, which may take minutes.
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)


def _end_with_the_parent() -> None:
    """A process that waits for work of a parent that was killed would wait for ever."""

    def watch() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def most_processes(memory: int) -> int:
    """Processes that each need so many bytes and fit in what is free now; at least one."""
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):  # not everywhere
        return 1
    return max(1, int(MEMORY_SHARE * free / memory))


def done(name: str, work: Work, settings: Settings) -> Record:
    """Do one piece of work in this process, on one core, and say what came of it."""
    from .catalogue import EXPERIMENTS

    experiment = EXPERIMENTS[name]
    limit = settings.seconds * experiment.trials
    try:
        experiment.prepare(work, settings)
        with suppress(TooLong), one_core(), at_most(limit):
            return Record(work, DONE, experiment.measure(work, settings))
        # Code that was compiled on the way, once for ever, may have taken the time.
        with one_core(), at_most(limit):
            return Record(work, DONE, experiment.measure(work, settings))
    except RequestError as problem:
        return Record(work, REFUSED, reason=str(problem))
    except MemoryError:
        return Record(work, REFUSED, reason="There is not enough memory for it.")
    except TooLong:
        found = {"limit": limit} | foretold(experiment.measure, work, settings)
        return Record(work, LONG, found)


def foretold(measure: Callable[[Work, Settings], dict], work: Work, settings: Settings) -> dict:
    """How long work would take that was not finished, on the straight line through two small parts of the records.

    Nothing where even those take too long, or take no longer for more records.
    """
    seconds = []
    try:
        for share in FORETOLD_FROM:
            with one_core(), at_most(settings.seconds / 2):
                seconds.append(measure(replace(work, share=share), settings)["seconds_build"])
    except (TooLong, RequestError, KeyError, MemoryError):
        return {}
    slope, start = np.polyfit(FORETOLD_FROM, seconds, 1)
    return {"foretold": float(slope + start)} if slope > 0 else {}


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TooLong` here after so many seconds; where compiled code runs, as soon as it returns."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
