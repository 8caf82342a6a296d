"""What a contest is: a question on a set, who may answer it, and what their answers are worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from core import Budget

from .fetched_sets import FetchedSet


class Told(NamedTuple):
    """What had been said of a draw, beside what came."""

    over: float  # Its error over the one that was promised, both root mean square.
    inside: float  # Share of exact answers inside the intervals of 95%.


Draw = Callable[[Budget, int], "tuple[float, Told | None]"]
"""The error of one draw, and how true what was said of it."""


@dataclass(frozen=True)
class Round:
    """A contest on one set.

    Attributes
    ----------
    ours : Mapping[str, Draw]
        What is made in this process: our own and published rivals that live here; the first is ours.
    given : dict[str, np.ndarray]
        What processes of other libraries get.
    facts : dict[str, object]
        The public facts for them.
    error : Callable[[np.ndarray], float]
        Of what they answer.
    """

    ours: Mapping[str, Draw]
    given: dict[str, np.ndarray] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    error: Callable[[np.ndarray], float] = lambda answer: float("nan")


@dataclass(frozen=True)
class Contest:
    """A question, with those who can answer it.

    Attributes
    ----------
    name, measure : str
        What it is called, and what an error is.
    round : Callable[[FetchedSet], Round | None]
        The contest on a set.
    rivals : dict[str, str]
        Of other environments: the rival's name there, and its environment.
    pure, loose : frozenset[str]
        Rivals that keep an epsilon alone, and those that need a delta.
    without : frozenset[str]
        What keeps no promise: how far the truth itself would be.
    slow : frozenset[str]
        Who takes minutes for a draw, and is asked only where that is wanted.
    deltas : bool
        Whether a delta can be promised at all.
    """

    name: str
    measure: str
    round: Callable[[FetchedSet], Round | None]
    rivals: dict[str, str] = field(default_factory=dict)
    pure: frozenset[str] = frozenset()
    loose: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()
    slow: frozenset[str] = frozenset()
    deltas: bool = True
