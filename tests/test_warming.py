"""Warming compiles every loop there is, in a process of its own, where no other test has compiled any."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.warming import steps, warm, warm_in_background

COVERAGE = """
import importlib, pkgutil
from numba.core.dispatcher import Dispatcher
import core
from core.warming import warm

warm()
loops = {}
for module in pkgutil.walk_packages(core.__path__, "core."):
    if not module.name.startswith(("core.ui", "core.__main__")):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Dispatcher):
                loops[value.py_func.__module__, value.py_func.__name__] = value
reached = [loop for loop in loops.values() if loop.signatures]
for loop in reached:  # what a compiled loop calls is compiled with it
    called = [loop.py_func.__globals__.get(name) for name in loop.py_func.__code__.co_names]
    reached += [other for other in called if isinstance(other, Dispatcher) and other not in reached]
print(len(loops), *(".".join(name) for name, loop in loops.items() if loop not in reached))
"""


@pytest.mark.deep
def test_no_loop_is_left_to_compile():
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", COVERAGE], cwd=root, capture_output=True, text=True, check=True)
    number, *left = done.stdout.split()
    assert int(number) > 40 and left == []


def test_steps_are_taken_in_order_and_timed():
    taken = []
    tasks = {"one": lambda: taken.append(1), "two": lambda: taken.append(2)}
    assert list(warm(tasks)) == ["one", "two"] and taken == [1, 2]
    assert list(steps())[:2] == ["RACE", "noise"]


def test_it_can_go_on_in_the_background(monkeypatch):
    taken = []
    monkeypatch.setattr("core.warming.warm", lambda: taken.append("loops"))
    thread = warm_in_background(lambda: taken.append("pages"))
    thread.join()
    assert thread.daemon and taken == ["pages", "loops"]
