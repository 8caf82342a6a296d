"""What a forecast comes to, in the words and units that suit the question.

Which columns a sum of distances would say nothing about: its error along each of them, before anything is paid.

Distances add up over columns in their own units, and so do their errors. Where one column's range is a thousand times
another's, noise that hardly matters to the sum is all that is left of the narrow column's part.
"""

import math
from dataclasses import dataclass
from typing import cast

from ...domain import Domain, Scalar, Vector
from ...formatting.numbers import percent, rounded, size, wait
from ...privacy.calibration import NoiseScale
from ...sketches.linear import LinearSketch
from ...sketches.sums_of_products import Products
from .draft import GROUP, REGRESSION, TABLE, Draft
from .forecast import Forecast
from .recommendation import correlation_error

BAND = 1.96
# How distance may be measured: what that is called, and what it finds, in words.
NORMS = {
    "l1": (
        "City blocks",
        "Differences of all columns added up. The nearest place to everyone is the median place: "
        "half of the people lie on either side of it, in every column.",
    ),
    "l2": (
        "Straight line",
        "As the crow flies. The nearest place to everyone is the place that stragglers pull at the least.",
    ),
    "squared": (
        "Squared",
        "The straight line squared, so that far people count much more. The nearest place to "
        "everyone is the mean place, the average of every column.",
    ),
}


@dataclass(frozen=True)
class Answer:
    """A typical answer of a release as a person reads it."""

    # The answer and the reach of its 95% band, rounded to what the error supports.
    figure: str
    band: str
    unit: str  # What is counted, or the unit of distance ("" where there is none).
    # The answer and its standard error in that unit.
    value: float
    error: float
    name: str  # What the answer is, as the title of an axis.

    @property
    def text(self) -> str:
        """The answer with its band, "150 ± 70 people"."""
        return f"{self.figure} ± {self.band} {self.unit}".strip()


def typical_answer(draft: Draft, seen: Forecast) -> Answer:
    """How many are close to a typical place, how far all are from it on average, or what a correlation is known to."""
    if draft.question == REGRESSION:
        error = correlation_error(cast(Products, draft.sketch), draft.noise, draft.records)
        return Answer(rounded(0.0, error), rounded(BAND * error, error), "", 0.0, error, "correlation")
    if draft.measures_closeness:
        value, error, unit, name = seen.estimate, seen.standard_error, draft.counted, "a typical answer"
    else:
        value, error = seen.density, seen.standard_error / seen.records
        unit = distance_unit(draft.compared, draft.norm)
        name = f"average distance ({unit})" if unit else "average distance"
    return Answer(rounded(value, error), rounded(BAND * error, error), unit, value, error, name)


def distance_unit(domain: Domain, norm: str | None) -> str:
    """The unit in which the distances of a domain's records come out, "" where the columns have none in common.

    Columns that are measured in shares of their ranges have ranges as their unit.
    """
    if domain.scale == "box":
        return "ranges" if norm != "squared" else "squared ranges"
    units = {column.measure for column in domain.columns if isinstance(column, (Scalar, Vector))}
    unit = units.pop() if len(units) == 1 else ""
    return f"{unit}²" if unit and norm == "squared" else unit


def forecast_sentence(draft: Draft, seen: Forecast) -> str:
    """What the figure is, below it."""
    band = "and the band that 95 of 100 releases fall into."
    if draft.question == REGRESSION:
        return (
            f"The correlation of two columns that have nothing to do with each other, {band} A stronger "
            "one is hardly the noise's. It is for values that spread over about a sixth of their bounds; tighter "
            "bounds tell more."
        )
    whose = "in one group, " if draft.question == GROUP else ""
    if not draft.measures_closeness:
        place = "a group from a typical place, " if whose else "everyone from a typical place, "
        return f"The average distance of {place}{band}"
    if draft.question == TABLE:
        empty = rounded(seen.empty_below, max(seen.noise_error, 1e-9))
        return (
            "How many are in an average cell of one column, and the band that 95 of 100 releases fall into. "
            f"Fewer than about {empty} {draft.counted} look like none."
        )
    empty = rounded(seen.empty_below, max(seen.noise_error, 1e-9))
    return f"A typical answer, {whose}{band} Below about {empty} {draft.counted} a place looks empty."


def summary(draft: Draft, seen: Forecast) -> str:
    """The forecast in a few words."""
    answer = typical_answer(draft, seen).text
    if draft.question == REGRESSION:
        return f"The correlation of two columns that have nothing to do with each other will be {answer}."
    if not draft.measures_closeness:
        whose = "of a group " if draft.question == GROUP else ""
        return f"The average distance {whose}from a typical place will be {answer}."
    if draft.question == TABLE:
        return f"A count in an average cell of a column will be {answer}."
    whose = "in one group " if draft.question == GROUP else ""
    return f"A typical answer {whose}will be {answer}."


def error_definition(seen: Forecast) -> str:
    """The typical error as it is promised, and what it comes to beside a typical answer.

    Of closeness both are the one standard deviation in the figure above it, as a share of all records and of the
    typical answer, so that whoever divides the numbers that are shown finds the numbers that are said.
    """
    if seen.answers == "distance":
        return f"Typical error: {seen.error_words}, one standard deviation of an answer."
    return (
        f"Typical error: {seen.error_words}, one standard deviation of an answer. That is "
        f"{percent(seen.standard_error / seen.estimate)} of a typical answer."
    )


# What may speak against more rows, by the name that `core.releases.forecast.sketch_sizes.Rows` gives it.
COSTS = {
    "time": "making the file would take more than a minute",
    "file": "the file would be larger than 32 MB",
    "query": "an answer would take more than a thousandth of a second",
    "memory": "opening the file would take more than a gigabyte of memory",
    "limit": "no sketch may have more",
}


def size_limit(stopped_by: str) -> str:
    """Which cost limits the size of the table; empty where more rows would not help anyway."""
    cost = COSTS.get(stopped_by)
    return "" if cost is None else f"More rows would be more exact, but {cost}."


def size_and_time(seen: Forecast) -> str:
    """How large the file is and how long it takes, in words."""
    return f"{size(seen.file_bytes)}, {wait(seen.seconds)}"


# A column is drowned when distances along it are known no better than to this share of its range, and those along
# another column so many times better.
DROWNED, TIMES = 0.02, 10.0


def column_errors(sketch: LinearSketch, noise: NoiseScale, records: float) -> dict[str, float]:
    """Standard deviation of the average distance along each column alone, as a share of the column's range.

    Returns them by the columns' names, in their order; empty where distances along columns are not told apart.

    `sketch`: of a settled size. `noise`: of its counters. `records`: how many there are at least.
    """
    one, share = sketch.one_answer
    deviations = [math.sqrt(noise.variance * gain) for gain in one.column_gains]
    return {name: sd / (records * share) for name, sd in zip(one.domain.names, deviations, strict=False)}


def drowned_columns(errors: dict[str, float]) -> str:
    """A sentence about columns whose own distances the noise hides while it leaves another's clear; "" without any."""
    least = min(errors.values(), default=0.0)
    hidden = {name: error for name, error in errors.items() if error > max(DROWNED, TIMES * least)}
    if not hidden:
        return ""
    worst = max(hidden, key=hidden.__getitem__)
    clear = min(errors, key=errors.__getitem__)
    others = "" if len(hidden) == 1 else f" ({len(hidden) - 1} more {'is' if len(hidden) == 2 else 'are'} hidden too)"
    return (
        f"Along {worst!r} alone the average distance would be off by {percent(min(hidden[worst], 9.99))} of its "
        f"bounds, along {clear!r} by {percent(errors[clear])}{others}: measured in shares of their bounds, all "
        "columns are known alike."
    )
