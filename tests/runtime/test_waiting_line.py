"""Visitors wait for each other, and nobody gains by standing in the line several times."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.runtime.waiting_line import FairLine

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
