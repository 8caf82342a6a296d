"""One promise shared out equally among several mechanisms that each keep a promise of their own.

Pure promises add up, so each gets an equal part of epsilon. Under a delta that would waste most of it: what adds up
is ρ, and so each gets the same delta and an epsilon between an equal part and the one whose ρ is an equal part: the
largest one tried with which an accountant (`accounting.keeps_promise`) finds that all of them together keep the
promise. However it is found, what is returned has been checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from ..errors import RequestError
from .accounting import Cost, keeps_promise
from .budget import Budget, decimal_below
from .zcdp import largest_rho

PARTS = (Fraction(1), Fraction(97, 100), Fraction(9, 10), Fraction(3, 4))
"""Of the largest share, one after the other; each is planned and priced, which may take a second."""

Planned = TypeVar("Planned")


def shared_equally(
    budget: Budget, number: int, planned: Callable[[Budget], list[tuple[Cost, Planned]]]
) -> tuple[Cost, list[Planned]]:
    """What mechanisms of equal promises cost together, and each of them as planned.

    Parameters
    ----------
    budget : Budget
        The promise of all of them.
    number : int
        How many there are.
    planned : Callable[[Budget], list[tuple[Cost, Planned]]]
        Price and plan of each under a promise of its own.

    Raises
    ------
    RequestError
        When so many do not fit the promise, or from ``planned``.
    """
    even, largest = Fraction(budget.epsilon) / number, _largest(budget, number)
    for epsilon in (*(largest * part for part in PARTS if largest * part > even), even, even / 2):
        made = planned(replace(budget, epsilon=decimal_below(epsilon)))
        events = tuple(event for cost, _ in made for event in cost.events)
        if keeps_promise(events, budget.epsilon, budget.delta):
            return Cost(events, budget.epsilon, budget.delta), [plan for _, plan in made]
    raise RequestError(f"{number} mechanisms do not fit one promise of epsilon = {budget.epsilon:f}; make fewer.")


def largest_share(budget: Budget, number: int) -> Budget:
    """About what each of several mechanisms will have, for forecasts: how much it is, the pricing of all will tell."""
    return replace(budget, epsilon=decimal_below(_largest(budget, number)))


def _largest(budget: Budget, number: int) -> Fraction:
    """The share that is tried first: the part of ρ, and never less than an equal part of epsilon."""
    whole = Fraction(budget.epsilon)
    if budget.pure or number == 1:
        return whole / number
    wanted = largest_rho(float(whole), float(budget.delta)) / number
    least, most = float(whole) / number, float(whole)
    while most / least > 1.001:
        middle = math.sqrt(least * most)
        least, most = (least, middle) if largest_rho(middle, float(budget.delta)) > wanted else (middle, most)
    return Fraction(least)
