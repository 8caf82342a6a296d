"""From the end: the smallest promise under which a release is as exact as its owner needs, or why there is none.

An owner knows what they need ("± 2% of all", "groups of 50 must be seen") rather than an ε. The forecast says what any
promise would give, sizes and shares included, and errors fall as ε grows; so the smallest ε whose forecast is good
enough is found by halving an interval. Everything is public: nothing is read, and nothing is spent.

An error is the standard deviation of a typical answer, as everywhere: two of three answers are nearer, and 95 of 100
within twice of it. As a forecast is one of records that nobody has seen, it has to stay a little below what is wanted
(`CAREFUL`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from ...errors import RequestError
from ...formatting.numbers import count, percent, rounded, significant
from ...privacy.budget import Budget, Neighbours, Number, decimal_text
from ...sketches.adaptive import Adaptive
from ...sketches.linear import LinearSketch
from ...sketches.parts import Parts
from ...sketches.plan import Plan, plan
from ...sketches.tables.chosen import ChosenTables
from ...sketches.tables.tables import Tables
from .forecast import Forecast, forecast
from .forecast_shares import forecast_parts
from .one_trial import checked_records
from .whole_table import cell_error, expected

CAREFUL, AT_WORST = 1.15, 0.9
"""How far above its forecast an error may lie; and, of distances, above that of the worst of public populations: the
noise of a distance near the bounds is up to twice that in their middle, and where records lie nobody may look. In 51
settings of public tables (`benchmarks.from_the_end`, seeds 2 to 4) two errors were larger."""
LEAST, MOST = 0.001, 10.0
"""Promises that are tried: below, hardly any release is of use; above, hardly any promise."""
CLOSE = 1.01
"""Epsilons within this factor are one."""
BELOW = (0.85, 0.7, 0.5)
"""Shares of a promise that are tried once one was found."""
MOST_PEOPLE = 1_000.0
"""How many times the records are tried, to say how many would do."""
ALLOWED = 1e-6
"""The δ that is tried where a pure promise cannot do it."""

Seen = Callable[[Budget, float], Sequence[Forecast]]
"""What to expect under a promise of so many records: of every part of a release."""


def careful_error(one: Forecast) -> float:
    """What the error of a typical answer hardly ever lies above, whatever the records are like."""
    usual = CAREFUL * one.standard_error
    return max(usual, AT_WORST * one.worst_error) if one.answers == "distance" else usual


@dataclass(frozen=True)
class Goal:
    """How exact a release has to be: at least one of the three."""

    # The largest error of an answer as a share of all records, or of a distance as one of the average distance that the
    # forecast supposes: how far apart records really lie, nobody may look at.
    share: float | None = None
    people: float | None = None  # The same as a number of records.
    visible: float | None = None  # A group of so many records must be told from none (95%, one-sided).

    def __post_init__(self) -> None:
        said = [value for value in (self.share, self.people, self.visible) if value is not None]
        if not said:
            raise RequestError("Say how exact the release has to be: an error, or the smallest group to be seen.")
        if any(not (math.isfinite(value) and value > 0.0) for value in said) or (self.share or 0.0) >= 1.0:
            raise RequestError("An error is a share between 0 and 100%, or a number of people above 0.")

    @classmethod
    def of(cls, error: str | float | None = None, visible: float | None = None) -> Goal:
        """From what people type: "2%", a share below 1, or a number of people from 1 on.

        RequestError when it is neither, or nothing is said.
        """
        if error is None:
            return cls(visible=visible)
        text = str(error).strip().removeprefix("±").strip()
        try:
            value = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            raise RequestError("An error is a share such as 2%, or a number of people such as 50.") from None
        return cls(value, None, visible) if text.endswith("%") or value < 1.0 else cls(None, value, visible)

    def shortfall(self, seen: Sequence[Forecast]) -> float:
        """How many times too large the errors of a forecast are; up to 1 it is good enough."""
        return max(ratio for one in seen for ratio in self._ratios(one))

    def _ratios(self, one: Forecast) -> list[float]:
        usual, found = careful_error(one), []
        if self.share is not None:
            relative = usual / (one.estimate if one.answers == "distance" else one.records)
            found.append(relative / self.share)
        if self.people is not None:
            found.append(usual / self.people)
        if self.visible is not None:
            found.append(one.empty_below / self.visible)
        return found

    @property
    def words(self) -> str:
        """What is wanted, as it goes on after "for"."""
        wanted = []
        if self.share is not None:
            wanted.append(f"an error of {percent(self.share, 3)}")
        if self.people is not None:
            wanted.append(f"an error of {significant(self.people, 3)} people")
        if self.visible is not None:
            wanted.append(f"seeing groups of {significant(self.visible, 3)}")
        return " and ".join(wanted)


@dataclass(frozen=True)
class Solution:
    """The smallest promise that does it."""

    budget: Budget
    seen: tuple[Forecast, ...]  # What to expect under it, of every part.
    sentence: str


def budget_for(
    sketch: LinearSketch | Adaptive | Parts | Seen,
    *,
    records: float | None,
    error: str | float | None = None,
    visible: float | None = None,
    delta: Number = 0,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> Solution:
    """The smallest ε under which a release is as exact as it has to be.

    Parameters
    ----------
    sketch : LinearSketch | Adaptive | Parts | Seen
        The mechanism, with or without a size, which then follows from each promise that is tried; or a function that
        says what to expect under a promise of so many records.
    records : float | None
        How many there are at least, as anybody may know.
    error : str | float | None
        The largest error of an answer: "2%" of all records (of a distance, of it), or a number of people.
    visible : float | None
        The smallest group of people that must be told from none.
    delta : Number
        Of the promise; 0 is a pure one.
    neighbours : Neighbours | str
        What is hidden.
    density, sample, set_size : float | None, object, float | None
        Public guesses of how the records lie; see `forecast`.

    Raises
    ------
    RequestError
        In one sentence that says what would do, when no promise up to ε = 10 does.
    """
    goal, known = Goal.of(error, visible), checked_records(records)

    def of_sketch(budget: Budget, many: float) -> Sequence[Forecast]:
        return seen_of(cast("LinearSketch | Adaptive", sketch), budget, many, density, sample, set_size)

    seen = sketch if callable(sketch) else of_sketch
    return _solved(goal, seen, known, delta, Neighbours(neighbours))


def seen_of(
    sketch: LinearSketch | Adaptive,
    budget: Budget,
    records: float,
    density: float | None = None,
    sample: object = None,
    set_size: float | None = None,
) -> tuple[Forecast, ...]:
    """What to expect of every part of a release; of tables, of a cell of those that are known worst."""
    if sketch.parts:
        return tuple(forecast_parts(cast(Parts, sketch), budget, records, density, sample, set_size).values())
    if sketch.asked_for != "tables":
        return (forecast(sketch, budget, records, density, sample, set_size),)
    sized = sketch.sized_for(budget, records)
    made, planned = _tables_alike(sized, budget)
    sizes = {len(table) for table in made.layout.tables} | {1}
    kinds = [[one for one in made.layout.residuals if len(one) == size] for size in sizes]
    worst = max(cell_error(made, planned.noise.variance, tables)[0] for tables in kinds if tables)
    one = expected(made, planned, records)
    return (replace(one, errors=(worst,), standard_error=worst, noise_error=worst, empty_below=1.645 * worst),)


def _tables_alike(sized: LinearSketch | Adaptive, budget: Budget) -> tuple[Tables, Plan]:
    """Tables with their noise; where pairs are chosen under noise first, such as are as many and as noisy."""
    if not sized.chooses:
        made = cast(Tables, sized)
        return made, plan(made, budget)
    chosen = sized.plan(budget)
    alike = cast(ChosenTables, sized).alike_under(budget)
    return alike, Plan(chosen.noises[-1], chosen.count_noise, chosen.counts, chosen.cost)


def _solved(goal: Goal, seen: Seen, records: float, delta: Number, neighbours: Neighbours) -> Solution:
    def shortfall(epsilon: float, many: float = records, slack: Number = delta) -> float:
        return goal.shortfall(seen(Budget(_rounded_up(epsilon), slack, neighbours), many))

    if shortfall(MOST) > 1.0:
        raise RequestError(_impossible(goal, shortfall, records, delta))
    epsilon = _least(shortfall, LEAST, MOST)
    # Sizes follow from the promise too, and errors jump where they do: a smaller one than the first may do as well.
    while lower := next((part for part in BELOW if epsilon * part > LEAST and shortfall(epsilon * part) <= 1.0), None):
        epsilon = _least(shortfall, LEAST, epsilon * lower)
    budget = Budget(_rounded_up(epsilon), delta, neighbours)
    found = tuple(seen(budget, records))
    return Solution(budget, found, _said(goal, budget, found, records))


def _least(shortfall: Callable[[float], float], low: float, high: float) -> float:
    """A promise that does it, with one just below that does not, where ``high`` does it."""
    while high > CLOSE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if shortfall(middle) <= 1.0 else (middle, high)
    return high


def _rounded_up(epsilon: float) -> float:
    """To three digits, as no forecast has more."""
    digits = 2 - math.floor(math.log10(epsilon))
    return min(MOST, round(math.ceil(epsilon * 10**digits - 1e-9) / 10**digits, max(digits, 0)))


def _said(goal: Goal, budget: Budget, seen: Sequence[Forecast], records: float) -> str:
    """What was found, as a sentence."""
    promise = f"ε = {decimal_text(budget.epsilon)}" + (f", δ = {decimal_text(budget.delta)}" if budget.delta else "")
    worst = max(seen, key=lambda one: goal.shortfall([one]))
    return (
        f"With {records:,.0f} records, {promise} is the smallest promise for {goal.words}: expected is an error of "
        f"{worst.error_words} (one standard deviation), and groups from {rounded(worst.empty_below, 1.0)} on are seen."
    )


def _impossible(goal: Goal, shortfall: Callable[..., float], records: float, delta: Number) -> str:
    """Why no promise does it, and what would, in a sentence."""
    ways = []
    many = _people(shortfall, records, delta)
    if many is not None:
        ways.append(f"about {significant(many, 2)} records")
    if not Budget(1, delta).delta and shortfall(MOST, records, ALLOWED) <= 1.0:
        ways.append(f"a δ of {decimal_text(Budget(1, ALLOWED).delta)}")
    ways.append("fewer or coarser columns")
    reached = shortfall(MOST)
    return (
        f"No promise up to ε = {MOST:g} is enough for {goal.words} with {count(round(records), 'record')}, as it would "
        f"be missed {significant(reached, 2)} times over even then; {' or '.join(ways)} would do."
    )


def _people(shortfall: Callable[..., float], records: float, delta: Number) -> float | None:
    """How many records would do under the largest promise; None where no number of them would."""
    if shortfall(MOST, MOST_PEOPLE * records, delta) > 1.0:
        return None
    low, high = 1.0, MOST_PEOPLE
    while high > 1.05 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if shortfall(MOST, middle * records, delta) <= 1.0 else (middle, high)
    return high * records


def epsilon_of_harm(before: float, after: float) -> float:
    """The largest ε under which nobody's guess about one person rises from one chance to more than another.

    Whoever gives a statement about a person the chance p before, gives it at most e^ε p / (1 + (e^ε - 1) p) once they
    have seen the release, whatever else they know: the odds p / (1 - p) rise by the factor e^ε at most (Wood and others
    2018, section IV). A promise with δ may fail with that probability beside it.

    Parameters
    ----------
    before, after : float
        Chances strictly between 0 and 1, the second the larger one.

    Raises
    ------
    RequestError
        When they are not.
    """
    if not 0.0 < before < after < 1.0:
        raise RequestError("Harm is said by two chances between 0 and 100%, the first the smaller one, such as 1%:3%.")
    return math.floor(1e3 * (math.log(after / (1.0 - after)) - math.log(before / (1.0 - before)))) / 1e3
