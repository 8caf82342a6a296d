"""Ranges cover everything once, however many threads there are, and nobody waits for ever."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from core.runtime import environment
from core.runtime.environment import FairLine, cores, one_core, one_thread, over_ranges


@pytest.fixture
def four_cores(monkeypatch):
    process = environment.cores
    monkeypatch.setattr(environment, "cores", lambda: 1 if getattr(environment._this_thread, "alone", False) else 4)
    environment._others.cache_clear()
    yield
    monkeypatch.setattr(environment, "cores", process)
    environment._others.cache_clear()


@pytest.mark.parametrize("count", [0, 1, 3, 4, 1000])
def test_every_item_is_in_one_range(count, four_cores):
    seen = np.zeros(count, dtype=int)
    who = set()

    def work(start, stop):
        who.add(threading.current_thread())
        seen[start:stop] += 1

    over_ranges(count, work)
    assert (seen == 1).all()
    assert threading.current_thread() in who


def test_ranges_within_ranges_and_many_callers_at_once(four_cores):
    seen = np.zeros((8, 8, 100), dtype=int)

    def outer(caller):
        over_ranges(8, lambda a, b: [inner(caller, row) for row in range(a, b)])

    def inner(caller, row):
        over_ranges(100, lambda a, b: seen[caller, row].__setitem__(slice(a, b), seen[caller, row, a:b] + 1))

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(outer, range(8)))
    assert (seen == 1).all()


def test_all_ranges_end_before_an_error_is_raised(four_cores):
    ended = []

    def work(start, stop):
        if start == 0:
            raise ValueError("the caller's own")
        threading.Event().wait(0.05)
        ended.append(start)
        if start == 3:
            raise KeyError("another's")

    with pytest.raises(ValueError, match="own"):
        over_ranges(4, work)
    assert sorted(ended) == [1, 2, 3]
    with pytest.raises(KeyError):
        over_ranges(4, lambda start, stop: work(start or 1, stop))


def test_one_core_is_one_range(four_cores):
    ranges = []
    with one_core():
        over_ranges(100, lambda *bounds: ranges.append(bounds))
    assert ranges == [(0, 100)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_process_has_threads_of_its_own(four_cores):
    over_ranges(4, lambda *_: None)
    child = os.fork()
    if child == 0:
        seen = np.zeros(100, dtype=int)
        over_ranges(100, lambda a, b: seen.__setitem__(slice(a, b), 1))
        os._exit(0 if seen.all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_cores_are_those_of_the_process():
    assert 1 <= cores() <= (os.cpu_count() or 1)


def threads_of_small_matrices() -> set[int]:
    np.linalg.inv(np.eye(2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_there_is_one_inside_and_as_many_as_before_outside():
    with threadpool_limits(2, "blas"):
        with one_thread():
            with one_thread():
                assert threads_of_small_matrices() == {1}
            assert threads_of_small_matrices() == {1}
        assert threads_of_small_matrices() == {2}
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert threads_of_small_matrices() == {2}


LONG = 60


class Crowd:
    """Visitors who work in threads, each until they are let go."""

    def __init__(self, places):
        self.line = FairLine(places)
        self.working, self.most = [], 0
        self.changed = threading.Condition()
        self.threads = []

    def come(self, whose, name):
        """Somebody comes, and works or waits when this returns."""
        here, never = threading.Event(), threading.Event()

        def wait():
            here.set()
            never.wait(0.001)

        def work():
            with self.line.taken(whose, wait), self.changed:
                self.working.append(name)
                self.most = max(self.most, len(self.working))
                self.changed.notify_all()
                here.set()
                self.changed.wait_for(lambda: name not in self.working, LONG)

        self.threads.append(threading.Thread(target=work, daemon=True))
        self.threads[-1].start()
        assert here.wait(LONG)

    def works(self, *names):
        """Wait until exactly these work."""
        with self.changed:
            assert self.changed.wait_for(lambda: set(self.working) == set(names), LONG), self.working

    def done(self, name):
        """Let somebody go."""
        with self.changed:
            self.working.remove(name)
            self.changed.notify_all()

    def end(self):
        """Wait until everybody has gone."""
        for thread in self.threads:
            thread.join(LONG)
            assert not thread.is_alive()


def test_many_pages_of_one_visitor_keep_another_waiting_for_one_of_them():
    crowd = Crowd(1)
    for page in ("a1", "a2", "a3"):
        crowd.come("ann", page)
    crowd.works("a1")
    crowd.come("bob", "b1")
    for now, then in (("a1", "b1"), ("b1", "a2"), ("a2", "a3")):
        crowd.done(now)
        crowd.works(then)
    crowd.done("a3")
    crowd.end()
    assert crowd.most == 1


def test_nobody_works_twice_at_once():
    crowd = Crowd(2)
    for page in ("a1", "a2"):
        crowd.come("ann", page)
    crowd.works("a1")
    crowd.come("bob", "b1")
    crowd.works("a1", "b1")
    crowd.come("cem", "c1")
    crowd.done("a1")
    crowd.works("b1", "c1")
    crowd.done("b1")
    crowd.works("c1", "a2")
    crowd.done("c1")
    crowd.done("a2")
    crowd.end()
    assert crowd.most == 2


def test_who_leaves_while_waiting_and_who_fails_free_their_place():
    line = FairLine(1)

    def leave():
        raise TimeoutError

    def come(whose):
        with pytest.raises(TimeoutError), line.taken(whose, leave):
            raise AssertionError("there is no place")

    with line.taken("ann", leave), ThreadPoolExecutor(1) as elsewhere:
        for whose in ("ann", "bob"):
            elsewhere.submit(come, whose).result()
        with line.taken("ann", leave):  # within its own turn
            pass
    with pytest.raises(ValueError), line.taken("bob", leave):
        raise ValueError
    for whose in ("ann", "bob"):
        with line.taken(whose, leave):
            pass
