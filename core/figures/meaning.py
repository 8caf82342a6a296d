"""What a release means, in plain words: its answers, its table, what was chosen under noise, and what was left out."""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, zip_longest
from typing import cast

import numpy as np

from ..domain import Categorical, Column, Cyclic, Dates, Domain, Encoder, Items, Numeric, Ordered, Vector
from ..domain.round_columns import LONGITUDE
from ..formatting.numbers import bound, count, listed, number, percent, shown, significant, with_unit
from ..geometry.kernels import (
    Angular,
    Bandwidth,
    Euclidean,
    Exponential,
    Gaussian,
    Jaccard,
    Kernel,
    Laplacian,
    Manhattan,
    Mixture,
    Product,
    Smooth,
    SmoothL1,
    SmoothSquared,
    Stationary,
)
from ..privacy.budget import Budget, Neighbours, decimal_text
from ..privacy.composition import event_of, total_rho
from ..releases.release import Release
from ..sketches.grouped import GroupedSketch
from ..sketches.linear import LinearSketch
from ..sketches.mechanism_spec import PrivateChoice
from ..sketches.registry import card_of

LISTED_CATEGORIES = 8


def counted(domain: Domain) -> str:
    """What a kernel sum counts, in the word of the owner; sets, or people unless a column says that one has several."""
    return domain.many_records


def protected(domain: Domain) -> str:
    unit, one = domain.unit, "set" if domain.holds_sets else "record"
    if domain.gathers:
        return f"the whole list of each value of {shown(unit.column)}, however long"
    if unit.column is None:
        return f"each {one}" + (", however large" if domain.holds_sets else "")
    many = f"one {one}" if unit.records == 1 else f"up to {unit.records:,} {one}s"
    return f"each person whom the column {shown(unit.column)} tells apart ({many} each)"


def hidden(neighbours: Neighbours, domain: Domain) -> str:
    """What is hidden about whoever is protected, and what is not."""
    if domain.gathers:
        said, there = f"what the list of any one value of {shown(domain.unit.column)} holds", "there is such a list"
    elif domain.unit.column is None:
        said, there = f"what any one {'set holds' if domain.holds_sets else 'record says'}", "it is there"
    else:
        said = f"what any one person's {'sets hold' if domain.holds_sets else 'records say'}"
        there = "they are there"
    if neighbours is Neighbours.REPLACE_ONE:
        return f"{said}, but not how many {'sets' if domain.holds_sets else 'records'} there are"
    return f"{said}, and even whether {there} at all"


def one_record(domain: Domain) -> str:
    """What one record is, as sentences, and whose it is not; "" where it is a row, as anyone would think."""
    if not domain.gathers:
        return ""
    who, whom = shown(domain.unit.column), shown(domain.names[0])
    return (
        f"One record is one set: everything in {whom} that is listed under one value of {who}. Where others list that "
        f"value in their {whom}, it is part of their records and not hidden: in a graph that lists every edge both "
        "ways, only a node's own list is."
    )


def promise(epsilon: Decimal, delta: Decimal) -> str:
    """ε, and δ where there is one."""
    return f"ε = {decimal_text(epsilon)}" + (f", δ = {decimal_text(delta)}" if delta else "")


def odds(budget: Budget, domain: Domain) -> str:
    """The promise as what a guesser can gain."""
    one = "list" if domain.gathers else "person"
    if domain.unit.column is None:
        one = "set" if domain.holds_sets else "record"
    return f"A coin-flip (50%) guess about one {one} can rise to at most {percent(min(1.0, budget.odds), 3)}."


def column_values(column: Column) -> str:
    """What anyone could have in a column, by its public bounds or categories."""
    if isinstance(column, Items):
        if column.gathered:
            return "any item, one a row"
        return "any items" + ("" if column.separator is None else f", with {shown(column.separator)!r} between them")
    if isinstance(column, Categorical):
        around = ", around a circle" if isinstance(column, Cyclic) else ""
        return f"one of {len(column.categories):,}{around}: {listed(column.categories, LISTED_CATEGORIES)}"
    if isinstance(column, Ordered):
        return f"one of {len(column.categories):,}, in order: {listed(column.categories, LISTED_CATEGORIES)}"
    if isinstance(column, Dates):
        return f"{column.text(column.low)} to {column.text(column.high)}, by the {column.step}"
    said = column.unit if isinstance(column, Vector) else column.said_unit
    ends = (column.west, column.east) if getattr(column, "axis", "") == LONGITUDE else (column.low, column.high)
    bounds = f"{bound(ends[0])} to {with_unit(bound(ends[1]), shown(said))}"
    if getattr(column, "scale", ""):
        bounds += ", amounts: equal ratios count as equally far"
    if isinstance(column, Encoder):
        return f"encoded by a public map: {shown(column.summary)}"
    return f"{column.length:,} numbers, each {bounds}" if isinstance(column, Vector) else bounds


def left_out(domain: Domain, keeps_gaps: bool = False) -> str:
    """What was done with records that do not fit; ``keeps_gaps`` as of the sketch."""
    return f"{_left_out(domain, keeps_gaps)}{_off_the_list(domain)}"


def _off_the_list(domain: Domain) -> str:
    """What was done with values that are on no public list, which may leave out many in silence; "" without lists."""
    lists = [column for column in domain.columns if type(column) in (Categorical, Ordered)]  # a date's part has all
    counted = {column.name: column.unknown_category or column.missing_category for column in lists}
    lost = [shown(name) for name, label in counted.items() if not label]
    said = "".join(
        f" A value of {shown(name)} that is not on its public list counts as {shown(label)}."
        for name, label in list(counted.items())[:LISTED_CATEGORIES]
        if label
    )
    if lost:
        done = "left out" if domain.outside == "drop" or domain.missing == "drop" else "not accepted"
        names = listed(lost, LISTED_CATEGORIES, "or")
        said += f" Records whose value of {names} is not on its public list were {done}"
        said += ", so that the number of records is that of those that fit." if done == "left out" else "."
    return said


def _left_out(domain: Domain, keeps_gaps: bool) -> str:
    if domain.holds_sets:
        empty = "Empty sets" + (" and rows that miss a value" if domain.gathers else "")
        return f"{empty} were {'left out' if domain.missing == 'drop' else 'not accepted'}."
    outside = "left out" if domain.outside == "drop" else "moved to the nearest bound"
    missing = "left out" if domain.missing == "drop" else "not accepted"
    others = [column.name for column in domain.columns if not has_category_of_missing(column, keeps_gaps)]
    if not others:
        return f"Values outside the bounds were {outside}; those who miss a value are counted as a group of their own."
    names = listed([shown(name) for name in others], LISTED_CATEGORIES, "or")
    of = f" of {names}" if len(others) < len(domain.columns) else ""
    return f"Values outside the bounds were {outside}; records that miss a value{of} were {missing}."


def has_category_of_missing(column: Column, keeps_gaps: bool) -> bool:
    """Whether a column counts those who miss a value: numbers and dates where the sketch has a cell for them."""
    return bool(getattr(column, "missing_category", "")) and (keeps_gaps or not isinstance(column, (Numeric, Dates)))


SHARES = "; distances are in shares of each column's bounds"


def one_class(sketch: LinearSketch) -> LinearSketch:
    """The sketch that answers are read off: that of one class, where there are classes."""
    return sketch.one_answer[0]


def asked(sketch: LinearSketch) -> str:
    """What is summed, as a word that begins a sentence: "Closeness" or "Distance"."""
    return sketch.answers.capitalize()


def measured(sketch: LinearSketch) -> str:
    """How closeness or distance is measured; fits after "is measured by"."""
    sketch = one_class(sketch)
    measure = card_of(sketch).measure
    if sketch.answers == "distance":
        said = measure(sketch) if measure else "the differences of all columns, added up"
        return said + (SHARES if sketch.domain.scale == "box" else "")
    return measure(sketch) if measure else closeness(cast(GroupedSketch, sketch).kernel, sketch.domain)


def closeness(kernel: Kernel, domain: Domain) -> str:
    return _kernel(kernel) + (SHARES if domain.scale == "box" else "")


def table(sketch: LinearSketch) -> str:
    """The size of a table, as it goes on after "it holds"."""
    return card_of(sketch).holds(sketch)


def clipped(sketch: LinearSketch) -> str:
    """What was done with records that are too far or too long, as a sentence; "" where every record counts as it is."""
    sketch = one_class(sketch)
    longest = getattr(sketch, "longest", None)
    if longest is not None:
        return f"Of a set with more than {longest:,} different items, a random choice of {longest:,} counts."
    radius = getattr(sketch, "radius", None)
    if radius is None or radius >= _farthest(sketch) * (1.0 - 1e-9):
        return ""
    return f"Records farther than {significant(radius, 4)} from the centre were moved to that distance from it."


def _farthest(sketch: LinearSketch) -> float:
    """Distance of the farthest corner of the bounds from the centre."""
    low, high = sketch.domain.bounds(sketch.metric)
    centre = getattr(sketch, "origin", (low + high) / 2.0)
    if isinstance(getattr(sketch, "kernel", None), Angular):
        centre = np.zeros_like(low)
    return float(np.sqrt((np.maximum(np.abs(low - centre), np.abs(high - centre)) ** 2).sum()))


def noise_in_answer(release: Release, deviation: float) -> str:
    """How far noise alone moves an answer, as a sentence."""
    if not math.isfinite(deviation):
        return "No formula says how far noise alone moves an answer: the answers follow from choices made under noise."
    if release.sketch.answers == "closeness":
        tables = release.sketch.asked_for == "tables"
        answer = "the count in an average cell of one column" if tables else "an answer"
        return f"Noise alone moves {answer} by about {significant(deviation, 2)} {counted(release.domain)}."
    mean = deviation / float(np.mean(release.counts))
    total, each = significant(deviation, 2), significant(mean, 2)
    return f"Noise alone moves a sum of distances by about {total}, which is {each} in the average distance."


def classes(sketch: LinearSketch) -> str:
    """The public list of classes, as a sentence; "" where there are none."""
    if not sketch.classes:
        return ""
    return (
        f"It answers for each class of the column {shown(sketch.class_column)} by itself: "
        f"{listed([shown(category) for category in sketch.classes], 8)}."
    )


def _kernel(kernel: Kernel) -> str:
    if isinstance(kernel, Product):
        return "the product of " + _enumerated([_kernel(part) for part in kernel.parts])
    if isinstance(kernel, Mixture):
        parts = zip(kernel.weights, kernel.parts, strict=True)
        return "a mixture of " + _enumerated([f"{percent(weight, 3)} {_kernel(part)}" for weight, part in parts])
    if isinstance(kernel, Jaccard):
        return "the Jaccard similarity of two sets, which is the share of all their items that both have"
    power = f", to the power {kernel.power}" if isinstance(kernel, (Angular, Stationary)) and kernel.power > 1 else ""
    if isinstance(kernel, Angular):
        return f"the angular kernel, which falls with the angle between two records seen from the origin{power}"
    return f"{_FALLS[type(kernel)]} over a bandwidth of {_bandwidth(cast(Stationary, kernel).bandwidth)}{power}"


_STRAIGHT, _SUM = "straight-line distance", "the sum of the columns' distances"
_FALLS: dict[type[Kernel], str] = {
    Euclidean: f"the Euclidean kernel, which falls with {_STRAIGHT}",
    Manhattan: f"the Manhattan kernel, which falls with {_SUM}",
    Laplacian: f"the Laplacian kernel, which falls exponentially with {_SUM}",
    Gaussian: f"the Gaussian kernel, which falls like a bell curve with {_STRAIGHT}",
    Exponential: f"the exponential kernel, which falls exponentially with {_STRAIGHT}",
    Smooth: f"the smooth kernel 1/(1 + z), which falls slowly with {_STRAIGHT} z",
    SmoothSquared: f"the smooth kernel 1/(1 + z²), which falls slowly with the square of {_STRAIGHT} z",
    SmoothL1: f"the smooth kernel 1/(1 + z), which falls slowly with z, {_SUM},",
}


def _enumerated(parts: Sequence[str]) -> str:
    return "; and ".join(parts)


def _bandwidth(bandwidth: Bandwidth) -> str:
    return listed([number(each) for each in bandwidth]) if isinstance(bandwidth, tuple) else number(bandwidth)


def choice(release: Release) -> PrivateChoice | None:
    """What was privately chosen, and paid for; None where nothing was.

    A release made like another one has that one's choices, at no cost, and two columns leave a tree nothing to choose.
    Of files that do not say it, it is read off what they spent, though they may have bought something else with that.
    """
    found = card_of(release.sketch).choice
    if found is None or not found.made(release.sketch):
        return None
    if release.chose is not None:
        return found if release.chose else None
    return found if release.privacy.rho > _rho_of_noise(release) else None


def _rho_of_noise(release: Release) -> Fraction:
    """What the noise of the table and of the number of records costs in ρ; the largest of merged parts."""
    sketch, privacy = release.sketch, release.privacy
    table, count = sketch.sensitivity(privacy.neighbours), sketch.count_sensitivity(privacy.neighbours)
    parts = zip_longest(privacy.noise, privacy.count_noise)
    return max(
        total_rho([event_of(table, noise), *([] if counted is None else [event_of(count, counted)])])
        for noise, counted in parts
    )


def pairs_left_out(release: Release) -> list[tuple[str, str]]:
    """The pairs of columns that were not counted together, in the order of the columns."""
    reading = release.asked().reading
    names = [axis.name for axis in reading.layout.axes]
    measured = reading.noise.by_columns
    return [
        (names[one], names[other]) for one, other in combinations(range(len(names)), 2) if (one, other) not in measured
    ]


def left_out_in_words(release: Release) -> str:
    """How many pairs were not counted, and why, in a sentence or two; "" where all were."""
    columns, missing = len(release.asked().axes), len(pairs_left_out(release))
    every = columns * (columns - 1) // 2
    if not missing:
        return ""
    held = f"{every - missing:,} of {count(every, 'pair')} of columns"
    if missing == every:
        return "No two columns were measured together. That was settled by public facts before any record was read."
    if choice(release) is not None:
        return (
            f"{held} were counted together: those that go together most, as far as noise let that be seen, chosen "
            f"under the promise. The other {missing:,} are left out, as all together the noise would have hidden them."
        )
    return (
        f"{held} were counted together, settled by public facts before any record was read. The other {missing:,} are "
        "left out: the more are counted, the noisier is each."
    )
