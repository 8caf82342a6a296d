"""Synthetic points from a release.

In many dimensions they are drawn by Markov chains that learn from each other. Differential evolution Markov chains (ter
Braak 2006) step along differences of other chains, so that steps have the shape of the density. Half of the chains move
while the other half stands still, which keeps each step reversible (Goodman, Weare 2010). All chains of a half take
their step together: one step is one call of the compiled reader.
"""

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import cast

import numpy as np
import pandas as pd

from ..domain import Categorical, Domain, Numeric, Ordered
from ..errors import RequestError
from ..formatting.numbers import listed, percent
from ..geometry.uniforms import PublicRandom, scrambled_sobol
from ..releases.release import Release
from ..runtime.parameters import check_integer
from ..sketches.tables.tables import Tables
from .answerable import READS, Box, check_closeness, counters_read, half_widths
from .climbing import NUMBERS_AT_ONCE, SEARCH_SEED, Height
from .population import explaining_population
from .synthetic_tables import DrawnPoints, Nearness, closeness, synthetic_table

MOST_POINTS = 1_000_000
MOST_GRID_NUMBERS = 3
MOST_CELLS = 1 << 18
FEWEST_CELLS_A_SIDE = 16
GRID_READS = 2.0 * READS  # Work of reading a grid, in counters read.


FEWEST_POINTS, POINTS_A_RECORD = 20_000, 4  # Drawn from a density beside tables, so that most cells have some.
# Dimensions from which synthetic records of a kernel sketch are no good for counting: see `not_meant_for`.
MANY_COLUMNS = 4
NOT_FOR_CONCLUSIONS = (
    "These records show the shape of the file down to its bandwidth. They are not meant for exact values, extremes or "
    "rare groups, nor for conclusions: more of them make nothing surer, and the file itself answers with intervals."
)
NOT_MEANT_FOR_TABLES = (
    "These records are not meant for conclusions: ask the file itself, whose answers have intervals. What columns have "
    "in common beyond the tables that were released is as even as these allow, and values within a cell are spread "
    "evenly."
)
NOT_MEANT_FOR_BOTH = (
    "These records are not meant for conclusions: ask the file itself, whose answers have intervals. Their counts are "
    "those of the tables, and within cells they are where the densities say, down to their bandwidth; what columns "
    "have in common beyond either is as even as these allow."
)
NOT_MEANT_FOR = (
    "These records show about where people are; they are not meant for counting or for statistics of one or two "
    "columns, which in {dimensions} dimensions may be far from the truth: release marginals for those."
)


@dataclass(frozen=True)
class Sample:
    """Synthetic points, and how far they can be trusted to be what they say."""

    points: pd.DataFrame  # Frame with the domain's columns, in natural units; the order says nothing.
    # "population", "grid" or "chain"; "cells" or "records" of sketches that tell where records are themselves, and
    # "tables" where they were counted by their columns.
    method: str
    # Of a population, how far its kernel sums are from the released ones, in standard errors of the latter; 1 or less
    # when they agree. None otherwise.
    misfit: float | None = None
    # Of chains, the largest split R-hat of any coordinate; above 1.05 or so, chains have not converged.
    r_hat: float | None = None
    # Of chains, the smallest number of independent draws that any coordinate's mean is worth.
    effective: float | None = None
    nearness: Nearness | None = None  # Of tables, how far the records' counts are from the released ones.


def sample(release: Release, n: int, seed: int = 0, *, sharpen: bool = True, lattice: bool = True) -> Sample:
    """Draw synthetic points from a release, at no cost in privacy.

    What is released is not the population but the population smoothed by the kernel, with noise. There are two honest
    things to draw from.

    With ``sharpen``, a population whose own kernel sums agree with the released ones within their error: the kernel is
    undone as far as the noise lets one see. Shape finer than a bandwidth is mostly invented, and with many columns the
    search may miss parts; ``misfit`` says how well it went. Where a release tells how many records each cell of a grid
    has, there is nothing to undo: a cell is drawn by its count, zero where noise made it negative, and a point uniform
    in the cell. Where it is made of synthetic records, they are drawn from.

    Without, the released estimate itself, as if it were a density: zero where it is below zero, and zero outside the
    bounds. These points spread wider than the population did, by the kernel; with the p-stable kernels (Euclidean,
    Manhattan), whose tails fall like 1/c, most of them lie far from any record as soon as there are two columns or
    more. In up to three columns of numbers the estimate is read on a grid and drawn from exactly, a point uniform in
    its cell; above that, by Markov chains that start all over the bounds.

    Of a release of several parts, one of which is tables, records have the counts of the tables, and within cells and
    between columns that no table has together the shape of the parts that are densities.

    In 4 dimensions or more neither is meant for counting: a smoothed density says little about single columns, and of
    8-d and 10-d releases the one- and two-column marginals of such records were off by .24 and .37 in total variation
    where a mechanism of marginals had .013 and .075. See `not_meant_for`.

    `release`: Any release of closeness or of tables, or of both; to sharpen, of a sketch with a kernel. `seed`: The
    same seed gives the same points with the same version of NumPy. `lattice`: Whether a population may be explained by
    the places of a lattice. That has the shape of full places better and the share of nearly empty ones worse, which
    whoever looks for anomalies asks for.
    """
    check_integer(n, "The number of points", 1, MOST_POINTS)
    check_integer(seed, "The seed", 0, (1 << 63) - 1)
    random = np.random.default_rng(seed)
    if release.parts:
        return _of_parts(release, n, random, sharpen, lattice)
    if release.sketch.asked_for == "tables":
        records, nearness = synthetic_table(release, n, random)
        return Sample(as_declared(records, release.domain), "tables", nearness=nearness)
    check_closeness(release, "population to draw")
    drawn = _drawn(release, n, random, sharpen, lattice)
    return replace(drawn, points=as_declared(drawn.points, release.domain))


def _of_parts(release: Release, n: int, random: np.random.Generator, sharpen: bool, lattice: bool) -> Sample:
    """Records with the counts of the one part that is tables, and within cells as parts of closeness say."""
    tables, densities = drawn_together(release)
    points = min(MOST_POINTS, max(FEWEST_POINTS, POINTS_A_RECORD * n))
    finer = []
    for name, part in densities.items():
        drawn = _drawn(part, points, random, sharpen, lattice)
        finer.append(DrawnPoints.of(name, drawn.points, part.domain, cast(Tables, tables.sketch)))
    records, nearness = synthetic_table(tables, n, random, finer)
    near = [closeness(name, part, records) for name, part in densities.items()]
    records = as_declared(records, release.domain)
    found = tuple(one for one in near if one is not None)
    return Sample(records, "tables", nearness=replace(nearness, closeness=found))


def drawn_together(release: Release) -> tuple[Release, dict[str, Release]]:
    """The parts that records can be drawn from together: the tables, and densities by name."""
    tables = [part for part in release.parts.values() if part.sketch.asked_for == "tables"]
    if len(tables) != 1:
        names = ", ".join(map(repr, release.parts))
        raise RequestError(f"Records are drawn from parts together where one of them is tables; name one of {names}.")
    densities = {
        name: part
        for name, part in release.parts.items()
        if part.sketch.asked_for != "tables"
        and part.sketch.answers == "closeness"
        and not part.sketch.count_shape
        and not part.domain.holds_sets
    }
    return tables[0], densities


def _drawn(release: Release, n: int, random: np.random.Generator, sharpen: bool, lattice: bool) -> Sample:
    """Points from a release of closeness."""
    box = Box.of(release.sketch)
    if sharpen and release.sketch.drawn_from != "population":
        sketch = release.sketch
        drawn = sketch.drawn(release.counters, release.counts, release.privacy.counter_variance, n, random)
        return Sample(box.decode(drawn), sketch.drawn_from)
    if sharpen:
        population = explaining_population(release, random, lattice)
        return Sample(box.decode(population.draw(box, n, random)), "population", misfit=population.misfit)
    combinations = math.prod(box.choices)
    cells = min(MOST_CELLS, int(GRID_READS / counters_read(release, 1.0)))
    side = int((cells / combinations) ** (1.0 / max(1, len(box.numeric))))
    if len(box.numeric) <= MOST_GRID_NUMBERS and side >= FEWEST_CELLS_A_SIDE:
        return Sample(box.decode(_from_grid(release, box, side, n, random)), "grid")
    kept = max(FEWEST_KEPT, -(-n // CHAINS))
    chains = run_chains(box, _height(release), half_widths(release.sketch), kept, random)
    states = chains.states.reshape(-1, release.domain.dimensions)
    drawn = states[random.choice(len(states), n, replace=False)]
    return Sample(box.decode(drawn), "chain", r_hat=chains.r_hat, effective=chains.effective)


def not_meant_for(release: Release, drawn: Sample) -> str | None:
    """What points drawn from a release are not meant for, in a sentence; None where nothing is to be said."""
    dimensions = release.domain.dimensions
    if drawn.method in ("cells", "records"):
        return None
    if drawn.nearness is not None:
        return NOT_MEANT_FOR_BOTH if drawn.nearness.closeness else NOT_MEANT_FOR_TABLES
    if dimensions < MANY_COLUMNS:
        return NOT_FOR_CONCLUSIONS
    return NOT_MEANT_FOR.format(dimensions=dimensions)


def as_declared(records: pd.DataFrame, domain: Domain) -> pd.DataFrame:
    """Records with the types of the columns: whole numbers whole, dates dates, and missing values missing.

    A category of missing values becomes a missing value, which reads back as that category.
    """
    columns: dict[str, object] = {}
    for column in domain.columns:
        values = records[column.name]
        if isinstance(column, Numeric) and column.step and not column.step % 1.0 and not column.low % 1.0:
            values = np.rint(values.to_numpy(dtype=np.float64))
            values = pd.array(values, "Int64") if column.missing_category else values.astype(np.int64)
        elif isinstance(column, (Categorical, Ordered)) and column.missing_category:
            values = pd.Series(values).astype("category").cat.remove_categories([column.missing_category])
        columns[column.name] = values
    return pd.DataFrame(columns)


def nearness_words(near: Nearness) -> str:
    """How far records are from the tables that they were made from, in a sentence or two."""
    several = "" if not near.several else f"those of columns together by {percent(near.several)}, "
    densities = "".join(
        f"Their closeness is off by {percent(one.off)} from the part {one.part!r}, which noise alone moves by "
        f"{percent(one.error)}. "
        for one in near.closeness
    )
    return (
        f"Counts of single columns in these records are off by {percent(near.single)} of the records on average, "
        f"{several}and the farthest table ({listed(near.where)}) by {percent(near.worst)}, from the file's best guess. "
        f"{densities}How far the file itself is from the people, its intervals say."
    )


def _height(release: Release):
    def height(points: np.ndarray) -> np.ndarray:
        return release.estimates_at(points)

    return height


def _from_grid(release: Release, box: Box, side: int, n: int, random: np.random.Generator) -> np.ndarray:
    """Encoded points (n, dimensions): a cell by its estimate, categories enumerated, then a place in the cell."""
    low, high = box.bounds
    numbers = len(box.numeric)
    pitch = (high - low)[box.numeric] / side
    lattice = np.indices((side,) * numbers).reshape(numbers, -1).T
    one = np.zeros((len(lattice), release.domain.dimensions), order="F")
    one[:, box.numeric] = low[box.numeric] + (lattice + 0.5) * pitch
    cells = []
    for codes in product(*map(range, box.choices)):
        here = one.copy(order="F")
        for block, code in zip(box.blocks, codes, strict=True):
            box.raise_category(here, block, code)
        cells.append(here)
    centres = np.concatenate(cells)
    weights = np.maximum(_height(release)(centres), 0.0)
    if not weights.any():
        raise RequestError("The estimated density is nowhere above zero, as noise drowns it, so nothing can be drawn.")
    points = centres[random.choice(len(centres), n, p=weights / weights.sum())]
    points[:, box.numeric] += (random.random((n, numbers)) - 0.5) * pitch
    return points


CHAINS = 256
BURN_IN = 200
THINNING = 5
FEWEST_KEPT = 64  # Kept states a chain, at least: fewer say nothing about convergence.
TRIALS = 1 << 14
LONG_JUMPS = 0.1  # Share of steps by a whole difference of two chains, which leads from mode to mode.
SHORT_STEP = 0.1  # Size, in half-widths of the kernel, of the random part that lets chains reach every place.
# Shares of the coordinates that a step moves, one of them chosen at random for each step.
COORDINATES_MOVED = (0.25, 0.5, 1.0)
CATEGORY_CHANGES = 0.3


@dataclass(frozen=True)
class Chains:
    """States of all chains after the burn-in."""

    states: np.ndarray  # float64 (kept, chains, dimensions), encoded.
    r_hat: float  # Largest split R-hat of any coordinate (Gelman et al. 2013, section 11.4); near 1 when chains agree.
    effective: float  # Smallest effective number of independent draws of any coordinate.


def run_chains(box: Box, density: Height, widths: np.ndarray, kept: int, random: np.random.Generator) -> Chains:
    """Draw states from a density; negative estimates count as zero.

    `density`: Estimated kernel sums at encoded points, up to any factor.
    """
    points = _starts(box, density, random)
    heights = density(points)
    halves = np.arange(CHAINS) < CHAINS // 2
    states = np.empty((kept, *points.shape))
    for step in range(BURN_IN + kept * THINNING):
        for half in (halves, ~halves):
            proposed = _proposals(box, points[half], points[~half], widths, random)
            reached = density(proposed)
            accepted = random.random(len(proposed)) * heights[half] < reached
            places = np.flatnonzero(half)[accepted]
            points[places], heights[places] = proposed[accepted], reached[accepted]
        if step >= BURN_IN and (step - BURN_IN) % THINNING == 0:
            states[(step - BURN_IN) // THINNING] = points
    return Chains(states, *_diagnostics(states))


def _starts(box: Box, density: Height, random: np.random.Generator) -> np.ndarray:
    """Evenly spread points, taken as often as the density there says."""
    count = max(CHAINS, min(TRIALS, NUMBERS_AT_ONCE // box.domain.dimensions))
    trials = box.uniform(scrambled_sobol(count, box.uniforms_needed(), PublicRandom(SEARCH_SEED)))
    weights = np.maximum(density(trials), 0.0)
    if not weights.any():
        raise RequestError("The estimated density is nowhere above zero, as noise drowns it, so nothing can be drawn.")
    return trials[random.choice(count, CHAINS, p=weights / weights.sum())]


def _proposals(
    box: Box, points: np.ndarray, others: np.ndarray, widths: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Where each point might go, (n, dimensions); going there and coming back are equally likely."""
    n, numbers = len(points), len(box.numeric)
    share = random.choice(COORDINATES_MOVED, n)[:, None]
    moving = random.random((n, numbers)) < share
    jump = np.where(random.random((n, 1)) < LONG_JUMPS, 1.0, 2.38 / np.sqrt(2.0 * np.maximum(1, numbers * share)))
    first = random.integers(len(others), size=n)
    second = (first + random.integers(1, len(others), size=n)) % len(others)
    difference = (others[first] - others[second])[:, box.numeric]
    step = jump * difference + SHORT_STEP * widths * random.standard_normal((n, numbers))
    proposed = points.copy()
    proposed[:, box.numeric] = box.folded(points[:, box.numeric] + np.where(moving, step, 0.0))
    for block in box.blocks:
        box.raise_some(proposed, block, random.random(n) < CATEGORY_CHANGES, random)
    return proposed


def _diagnostics(states: np.ndarray) -> tuple[float, float]:
    """Largest split R-hat and smallest effective sample size (Gelman et al. 2013, sections 11.4 and 11.5)."""
    kept, chains, _ = states.shape
    length = kept // 2
    halves = np.concatenate([states[:length], states[length : 2 * length]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = length * halves.mean(axis=0).var(axis=0, ddof=1)
    varying = within > 0
    if not varying.any():
        return 1.0, float(kept * chains)
    total = (length - 1) / length * within + between / length
    r_hat = np.sqrt(total[varying] / within[varying])
    effective = [_effective(halves[:, :, c], total[c]) for c in np.flatnonzero(varying)]
    return float(r_hat.max()), float(min(effective))


def _effective(series: np.ndarray, variance: float) -> float:
    """Effective number of draws of series (length, chains); autocorrelations from variograms, summed until odd."""
    length, chains = series.shape
    correlation_sum, lag = 0.0, 1
    while lag + 1 < length:
        pair = sum(1.0 - ((series[at:] - series[:-at]) ** 2).mean() / (2.0 * variance) for at in (lag, lag + 1))
        if pair < 0.0:
            break
        correlation_sum += pair
        lag += 2
    return min(length * chains / (1.0 + 2.0 * correlation_sum), float(length * chains))
