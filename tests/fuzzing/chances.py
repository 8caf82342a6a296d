"""Choices made by bytes, so that whoever searches for crashes, by chance or by coverage, only has to invent bytes."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

NUMBERS = (0, 1, -1, 2, 3, 16, 255, 2**31, 2**53 + 1, 2**62, -(2**63), 2**63, 10**30, 0.5, -0.0, 1e-300, 1e300, 1.5e308)
TEXTS = (
    "",
    "0",
    "1",
    "-1",
    "1/2",
    "1/0",
    "NaN",
    "Infinity",
    "1e999999999",
    "0." + "1" * 40,
    "²",
    "\0",
    "\ud800",
    "x" * 3000,
)
OTHERS = (None, True, False, [], {}, [[]], [None], {"": ""}, float("nan"), float("inf"))


class Chances:
    """A stream of bytes; where it has ended, every choice is the first one.

    Parameters
    ----------
    data : bytes
        What decides.
    """

    def __init__(self, data: bytes):
        self._data, self._place = data, 0

    def below(self, limit: int) -> int:
        """A whole number from 0 on, below a limit of at most 2¹⁶."""
        taken = self._data[self._place : self._place + 2]
        self._place += 2
        return int.from_bytes(taken, "little") % limit

    def one_of(self, options: Sequence[Any]) -> Any:
        """One of some things."""
        return options[self.below(len(options))]

    def text(self) -> str:
        """A short text of any characters."""
        length = self.below(24)
        taken = self._data[self._place : self._place + length]
        self._place += length
        return taken.decode("utf-8", "surrogateescape" if length % 2 else "replace")

    def anything(self, depth: int = 2) -> Any:
        """A value that JSON could hold."""
        kind = self.below(6)
        if kind == 0:
            return self.text()
        if kind == 1 and depth:
            return [self.anything(depth - 1) for _ in range(self.below(4))]
        if kind == 2 and depth:
            return {self.text(): self.anything(depth - 1) for _ in range(self.below(4))}
        return copy.deepcopy(self.one_of((NUMBERS, TEXTS, OTHERS)[kind % 3]))  # it may be altered in turn

    def altered(self, value: Any) -> Any:
        """A JSON value with up to three parts changed, removed, doubled, or swapped for another of its parts."""
        for _ in range(1 + self.below(3)):
            every = ways(value)
            if not every:
                return self.anything()
            *way, last = self.one_of(every)
            place = part_at(value, way)
            action = self.below(5)
            if action == 0:
                del place[last]
            elif action == 1:
                place[last] = copy.deepcopy(part_at(value, self.one_of(every)))
            elif action == 2 and isinstance(place, list):
                place.insert(last, copy.deepcopy(place[last]))
            elif action == 2:
                place[self.text()] = copy.deepcopy(place[last])
            else:
                place[last] = self.anything()
        return value


def ways(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every part of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way] * bool(way) + [place for key, part in inside for place in ways(part, (*way, key))]


def part_at(value: Any, way: Sequence[Any]) -> Any:
    """The part that a way leads to."""
    for step in way:
        value = value[step]
    return value
