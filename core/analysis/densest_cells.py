"""The densest place by intersecting cells (Coleman, Shrivastava, CCS 2021, section 4; RACE on hash partitions).

Every row of a RACE sketch cuts space into cells, and its largest counter names the cell where most records are. The
cells of different rows overlap in a small region, and the densest place is thought to lie there. No search over
densities is needed, which makes this an independent check of `core.analysis.modes`.

The paper leaves open what to do when cells do not meet, as they do not where there are several modes. Here a place that
lies in as many of them as possible is searched first, rows weighted by their largest counters: with all other counters
set to zero, that weight is what the sketch itself answers. The cells that hold the place meet by construction; then
other rows are taken in falling order, and one whose cell does not meet the rest is left out.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.optimize import linprog

from ..errors import RequestError
from ..geometry.hash_cells import Columns
from ..releases.release import Release
from ..sketches.race import Race
from .answerable import Box, half_widths
from .climbing import affordable_starts, climb, first_steps, starting_points

FEWEST_ROWS = 16
MOST_NUMBERS = 64  # Coordinates of numbers that the linear programs are solved in.
NOISE_CHANCE = 0.05  # Chance that any counter of the table passes the threshold by noise alone.
ROUNDING = 1e-9  # Shares of the bounds that count as nothing: a thinner intersection is empty.


@dataclass(frozen=True)
class Intersection:
    """A place in the intersection of heavy cells."""

    # A value by column, in natural units: the centre of the largest ball that fits into the intersection, measured in
    # shares of the bounds.
    position: dict[str, object]
    # The release's answer there.
    estimate: float
    low: float
    high: float
    density: float
    rows: int  # Rows whose largest counter stands out from noise and whose cells have columns of their own.
    satisfied: int  # Those of them whose heaviest cell holds the position.
    weight: float  # Share of the rows' largest counters that the satisfied ones have, 0 to 1.


@dataclass(frozen=True)
class _Cells:
    """Heaviest cells as half-spaces ``normal . u <= bound`` in box coordinates u, from 0 to 1."""

    count: np.ndarray  # float64 (rows,), the largest counter of each row, in falling order; no row is without one.
    row: np.ndarray  # int64 (m,), the row of each half-space, in order.
    # float64 (m, coordinates) and (m,).
    normal: np.ndarray
    bound: np.ndarray

    def holding(self, unit: np.ndarray) -> np.ndarray:
        """Which rows' heaviest cells hold a place (coordinates,), bool (rows,)."""
        inside = self.normal @ unit <= self.bound + ROUNDING
        return np.bincount(self.row, weights=~inside, minlength=len(self.count)) == 0


def intersect_partitions(release: Release, level: float = 0.95) -> Intersection:
    """Find a place that lies in as many of the rows' heaviest cells as possible."""
    sketch, box = cast(Race, release.sketch), Box.of(release.sketch)
    rows, columns, counts = _heaviest_counters(release, box)
    cells = _half_spaces(sketch.columns, box, rows, columns, counts)
    heaviest = sketch.zeros()
    heaviest[rows, columns] = counts

    def weight(points: np.ndarray) -> np.ndarray:
        sums, shares = sketch.group_estimates(heaviest, 0.0, points)
        return shares @ sums

    low, high = box.bounds
    widths = half_widths(sketch)
    starts = starting_points(box, weight, widths, affordable_starts(release))
    places, weights = climb(box, weight, widths, starts, first_steps(box, widths, len(starts)))
    place = places[[weights.argmax()]]
    unit = (place[0] - low) / (high - low)
    unit[box.numeric] = _centre_of_many(cells, unit, box.numeric)
    place[0, box.numeric] = (low + unit * (high - low))[box.numeric]
    holding = cells.holding(unit)
    answers = release.answer_points(place, level)
    return Intersection(
        position=box.decode(place).to_dict("records")[0],
        estimate=float(answers.estimate[0]),
        low=float(answers.low[0]),
        high=float(answers.high[0]),
        density=float(answers.density[0]),
        rows=len(cells.count),
        satisfied=int(holding.sum()),
        weight=float(cells.count @ holding / cells.count.sum()),
    )


def can_be_intersected(release: Release) -> bool:
    """Whether there are cells to intersect, so that nobody is offered what would be refused."""
    try:
        _heaviest_counters(release, Box.of(release.sketch))
    except RequestError:
        return False
    return True


def _heaviest_counters(release: Release, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that have cells of their own and a counter above noise; its column and value; the largest counter first."""
    if not release.sketch.has_cells:
        raise RequestError("Only RACE releases have cells to intersect; find modes by search instead.")
    if len(box.numeric) > MOST_NUMBERS:
        raise RequestError(
            f"Cells are intersected in at most {MOST_NUMBERS} numbers, as they need linear programs; find modes by "
            "search instead."
        )
    columns = cast(Race, release.sketch).columns
    own = ~columns.rehashed
    if own.sum() < FEWEST_ROWS:
        raise RequestError(
            f"Only {own.sum():,} rows of this release kept cells of their own, and {FEWEST_ROWS} are needed, as a "
            "counter of the others adds up cells from all over; find modes by search instead."
        )
    reachable = np.arange(columns.width) < columns.reachable[:, None]
    counters = np.where(reachable, release.counters, np.iinfo(np.int64).min)
    column, count = counters.argmax(axis=1), counters.max(axis=1)
    # Largest of m noise values: P(noise > t) <= exp(-sqrt(2) t / sd) / 2 for Laplace noise, and less for Gaussian.
    deviation = release.privacy.counter_variance**0.5
    threshold = deviation * np.log(columns.reachable[own].sum() / (2.0 * NOISE_CHANCE)) / np.sqrt(2.0)
    rows = np.flatnonzero(own & (count > threshold))
    if not len(rows):
        raise RequestError("Noise is larger than the counters of every row, so no cell stands out to be intersected.")
    rows = rows[np.argsort(-count[rows], kind="stable")]
    return rows, column[rows], count[rows]


def _half_spaces(columns: Columns, box: Box, rows: np.ndarray, column: np.ndarray, count: np.ndarray) -> _Cells:
    """Cells written as half-spaces; the digits of a column number, in mixed radix, are the cells of its hashes."""
    hashes = columns.hashes
    low, high = box.bounds
    half_spaces: list[tuple[int, np.ndarray, float]] = []
    for rank, (r, key) in enumerate(zip(rows, column, strict=True)):
        for h in range(columns.first_hash[r], columns.first_hash[r + 1]):
            cell = (int(key) // int(columns.multiplier[h])) % int(columns.cells[h])
            terms = slice(hashes.first_term[h], hashes.first_term[h + 1])
            a = np.zeros(box.domain.dimensions)
            a[hashes.coordinate[terms]] = hashes.coefficient[terms]
            least = -(a @ low + hashes.offset[h])  # a.x + b = normal . u - least
            normal = a * (high - low)
            if cell > 0 or not hashes.side[h]:
                half_spaces.append((rank, -normal, -(cell + least)))
            if cell == 0 or not hashes.side[h]:
                half_spaces.append((rank, normal, cell + 1.0 + least))
    row, normals, bounds = (np.array(values) for values in zip(*half_spaces, strict=True))
    return _Cells(count.astype(np.float64), row, normals, bounds)


def _centre_of_many(cells: _Cells, unit: np.ndarray, numeric: np.ndarray) -> np.ndarray:
    """Centre (numbers,) of the cells that hold a place and of all others that meet them; its categories are fixed."""
    if not len(numeric):
        return np.empty(0)
    fixed = unit.copy()
    fixed[numeric] = 0.0
    normal, bound = cells.normal[:, numeric], cells.bound - cells.normal @ fixed
    holding = cells.holding(unit)
    taken = holding[cells.row]
    centre = _centre(normal[taken], bound[taken])
    if centre is None:
        return unit[numeric]
    # The cells meet in a small region: a half-space that misses its bounding box is out of the question, and one that
    # holds all of the box adds nothing to the linear programs.
    low, high = _bounding_box(normal[taken], bound[taken])
    least, most = _range_over(normal, low, high)
    possible = np.bincount(cells.row, weights=least > bound) == 0
    taken &= most > bound
    firsts = np.searchsorted(cells.row, np.arange(len(cells.count) + 1))
    for rank in np.flatnonzero(possible & ~holding):
        here = slice(firsts[rank], firsts[rank + 1])
        taken[here] = True
        if (normal[here] @ centre <= bound[here]).all():
            continue
        found = _centre(normal[taken], bound[taken])
        if found is None:
            taken[here] = False
        else:
            centre = found
    return centre


def _range_over(normal: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest normal . u over a box, (m,) each."""
    return np.minimum(normal * low, normal * high).sum(axis=1), np.maximum(normal * low, normal * high).sum(axis=1)


def _bounding_box(normal: np.ndarray, bound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest coordinates inside the half-spaces and the unit box, widened by rounding."""
    axes = np.eye(normal.shape[1])
    ends = [linprog(end, normal, bound, bounds=(0.0, 1.0)).fun for end in np.vstack([axes, -axes])]
    low, high = np.split(np.array(ends, dtype=np.float64), 2)
    return low - ROUNDING, -high + ROUNDING


def _centre(normal: np.ndarray, bound: np.ndarray) -> np.ndarray | None:
    """Centre of the largest ball inside the half-spaces and the unit box; None when there is none."""
    numbers = normal.shape[1]
    lengths = np.linalg.norm(normal, axis=1)
    box = np.vstack([np.eye(numbers), -np.eye(numbers)])
    solved = linprog(
        np.append(np.zeros(numbers), -1.0),
        np.column_stack([np.vstack([normal, box]), np.append(lengths, np.ones(2 * numbers))]),
        np.concatenate([bound, np.ones(numbers), np.zeros(numbers)]),
        bounds=[(0.0, 1.0)] * numbers + [(0.0, None)],
    )
    return solved.x[:-1] if solved.status == 0 and solved.x[-1] > ROUNDING else None
