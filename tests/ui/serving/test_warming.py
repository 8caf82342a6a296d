"""Warming compiles every loop there is, in a process of its own, where no other test has compiled any."""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from time import sleep

import pytest

from core.ui.serving import warming
from core.ui.serving.warming import main, steps, warm, warm_beside

COVERAGE = """
import importlib, pkgutil
from numba.core.dispatcher import Dispatcher
import core
from core.ui.serving.warming import warm

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


@pytest.mark.thorough
def test_no_loop_is_left_to_compile():
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", COVERAGE], cwd=root, capture_output=True, text=True, check=True)
    number, *left = done.stdout.split()
    assert int(number) > 40 and left == []


def test_steps_are_taken_in_order_and_timed():
    taken = []
    tasks = {"one": lambda: taken.append(1), "two": lambda: taken.append(2)}
    assert list(warm(tasks)) == ["one", "two"] and taken == [1, 2]
    assert list(steps())[:3] == ["forecasts", "RACE", "noise"]


def test_beside_pages_it_goes_on_step_by_step_once_no_other_process_compiles(monkeypatch):
    taken = []

    def turn():
        taken.append("turn")
        return nullcontext()

    monkeypatch.setattr(warming, "compiling_all", turn)
    monkeypatch.setattr(warming, "steps", lambda: {"loops": lambda: taken.append("loops")})

    def pieces(*names):
        for name in names:
            taken.append(name)
            yield

    warm_beside(lambda: pieces("pages"), lambda: pieces("forecast", "map"), lambda: taken.append("way"))
    assert taken == ["pages", "way", "turn", "forecast", "way", "map", "way", "way", "loops"]


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Ten steps, each of which leaves a line with the process that took it, and the file that marks all as done."""
    lines, mark = tmp_path / "lines", tmp_path / "mark"

    def step(name):
        with lines.open("a") as file:
            file.write(f"{name} {os.getpid()}\n")

    tasks = {str(number): lambda name=number: step(name) for number in range(10)}
    monkeypatch.setattr(warming, "steps", lambda: tasks)
    monkeypatch.setattr(warming, "mark_of_all", lambda: mark)
    monkeypatch.setattr(sys, "argv", ["warming"])
    return lines, mark


@pytest.mark.parametrize("processes", [1, 2])
def test_every_step_is_taken_once_and_never_again(few, processes, monkeypatch, capsys):
    lines, mark = few
    monkeypatch.setattr(warming, "cores", lambda: processes)
    main()
    assert sorted(line.split()[0] for line in lines.read_text().splitlines()) == sorted(map(str, range(10)))
    assert mark.exists() and "All loops are compiled" in capsys.readouterr().err
    main()
    assert len(lines.read_text().splitlines()) == 10 and capsys.readouterr().err == ""


def test_what_failed_in_the_other_process_is_not_marked_as_done(few, monkeypatch, tmp_path):
    _, mark = few
    ours, begun = os.getpid(), tmp_path / "begun"

    def fails_elsewhere():
        if os.getpid() != ours:
            begun.touch()
            raise ValueError
        while not begun.exists():
            sleep(0.01)

    monkeypatch.setattr(warming, "steps", lambda: dict.fromkeys("abc", fails_elsewhere))
    monkeypatch.setattr(warming, "cores", lambda: 2)
    main()
    assert not mark.exists()


def test_beside_an_app_it_gives_way_and_ends_with_it(few, monkeypatch, capsys):
    _, mark = few
    given_way, asking = [], iter([1, 1, 2, 2])
    monkeypatch.setattr(sys, "argv", ["warming", "--beside"])
    monkeypatch.setattr(warming, "cores", lambda: 1)
    monkeypatch.setattr(warming.signal, "signal", lambda *call: None)
    monkeypatch.setattr(warming.os, "nice", given_way.append)
    monkeypatch.setattr(warming.os, "getppid", lambda: next(asking))
    main()
    assert given_way == [19] and not mark.exists()
    assert capsys.readouterr().err == f"{warming.BESIDE}\n"
