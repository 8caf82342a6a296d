"""Sums of distances from a few places of every coordinate, and the convex function that runs through them.

F(q) = Σ|x - q| over the records' values in one coordinate, scaled to [0, 1], is convex, and a function is of this form
for weights >= 0 and values among given places exactly when it runs straight between them: then it is Σ_j w_j |q - t_j|.
What is known of F at places t_k is always such a function of weights at the t_k, as |t_k - x| is straight between two
neighbouring places and the record's weight can be moved to both. So noisy sums are read by the weights w >= 0 that fit
them best, least squares by each one's noise, and the answer is Σ w_j |q - t_j|: convex, no steeper than Σ w_j, the
number of records, and right for queries outside the bounds too.

This is what "huang-roth" releases; which places are asked is chosen in `huang_roth`.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.optimize import nnls

from ...domain import Domain
from ...errors import RequestError
from ...privacy.budget import Neighbours, Sensitivity
from ...runtime.compiled_code import njit
from ...runtime.environment import over_ranges
from ...runtime.parameters import Several, Whole, parameter
from ...sketches.answers import Answers
from ...sketches.linear import MAX_COUNTERS, LinearSketch
from .dyadic_trees import exact_l1_sums

STEPS = 128  # Of the public grid in every coordinate; places are numbered 0 to 128.
UNASKED = -1
# More would repeat some, and a stranger's file could name more than memory can fit to.
_ROW = Several("The places of a coordinate", Whole("A place that is asked", UNASKED, STEPS), 1, STEPS + 1)
# The most that a record adds to a counter: for a place t, the distance max(t, 1 - t) that can occur there.
SCALE = 1 << 31
ROOM = 4  # Counters have room for so many times the records, so that the number of records is exact; see `records_in`.


@dataclass(frozen=True)
class AskedDistances(LinearSketch):
    """Sums of distances from chosen grid places, one row of counters a coordinate.

    RequestError when the places are not what they should be.
    """

    domain: Domain
    # For every coordinate the places of the grid that are asked, -1 for a counter that nothing was asked of; all
    # coordinates have as many.
    places: tuple[tuple[int, ...], ...] = parameter(Several("The places that are asked", _ROW, 1))
    name: ClassVar[str] = "huang-roth"
    described: ClassVar[str] = "sketch of asked distances"
    answers: ClassVar[str] = "distance"
    linear_decode: ClassVar[bool] = False
    metric = "l1"
    largest_entry = SCALE * ROOM

    def _check(self) -> None:
        super()._check()
        if len(self.places) != self.domain.dimensions:
            raise RequestError("Every coordinate needs a list of places that are asked.")
        if len({len(row) for row in self.places}) > 1:
            raise RequestError("All coordinates need equally many places, at least one.")
        if len(self.places) * len(self.places[0]) > MAX_COUNTERS:
            raise RequestError(f"At most {MAX_COUNTERS:,} places can be asked: give fewer columns.")

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.places), len(self.places[0])

    @property
    def setup_bytes(self) -> int:
        return 64 * len(self.places) * len(self.places[0])

    @cached_property
    def borders(self) -> bool:
        """Whether both ends of every coordinate are asked, so that they tell the number of records."""
        return all(0 in row and STEPS in row for row in self.places)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        low, high = self.domain.bounds(self.metric)

        def counters(first: int, last: int) -> None:
            for flat in range(first, last):
                j, k = divmod(flat, table.shape[1])
                if self.places[j][k] != UNASKED:
                    table[j, k] += _sum_of_distances(
                        points[:, j], low[j], high[j] - low[j], self.places[j][k] / STEPS, _unit(self.places[j][k])
                    )

        over_ranges(table.size, counters, at_least=8)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """For any T places a coordinate, as they are paid for before they are chosen; see `places_sensitivity`."""
        return places_sensitivity(*self.shape, self.borders, neighbours)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return exact_l1_sums(queries, records)

    def weights(self, table: np.ndarray, coordinate: int) -> tuple[np.ndarray, np.ndarray]:
        """Places in [0, 1] and weights of the convex function that is read off one row of a table."""
        asked = [k for k, place in enumerate(self.places[coordinate]) if place != UNASKED]
        places = [self.places[coordinate][k] for k in asked]
        return fitted_weights(places, table[coordinate, asked])

    def answer(
        self, table: np.ndarray, records: float, points: np.ndarray, counter_variance: float, level: float
    ) -> Answers:
        """Sums over the coordinates of the convex functions; how far they are off, no theory says."""
        low, high = self.domain.bounds(self.metric)
        sums = np.zeros(len(points))
        for j, column in enumerate(points.T):
            width = high[j] - low[j]
            sums += width * distances_from(*self.weights(table, j), (column - low[j]) / width)
        return Answers.unknown(sums, records, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """Unknown: weights that cannot be negative are no linear function of the noise."""
        return math.inf if points is None else np.full(len(points), math.inf)

    def total(self, table: np.ndarray) -> float:
        """Distances from both ends sum to the range for every record; the mean over the coordinates."""
        if not self.borders:
            return super().total(table)
        ends = [table[j, row.index(0)] + float(table[j, row.index(STEPS)]) for j, row in enumerate(self.places)]
        return float(np.mean(ends)) / SCALE

    def total_variance(self, counter_variance: float) -> float:
        return 2 * counter_variance / SCALE**2 / len(self.places) if self.borders else math.inf


def every_place(domain: Domain) -> AskedDistances:
    """The sums at all places of the grid: what the exact values of any choice are taken from."""
    return AskedDistances(domain, (tuple(range(STEPS + 1)),) * domain.dimensions)


def places_sensitivity(coordinates: int, asked: int, borders: bool, neighbours: Neighbours) -> Sensitivity:
    """How far one record moves the sums at any T places a coordinate, among them both ends where `borders` says so.

    A record at x adds S|x - t| / max(t, 1 - t), from 0 to S, to the counter of the place t: at most S, so T S for T
    places, and T S^2 in the squared L2 norm. The two ends get S in all, as the distances from them sum to the range:
    with both of them T - 1 takes the place of T, reached by a record at one end where no other place is nearer to it
    than to the other end.

    Replace: every counter stays between 0 and S, so it moves by S at most, the two ends too: T S and T S^2, reached by
    a record that goes from one end to the other where all places are ends, and but for a hundredth by places next to
    them.

    Entries are cut to whole numbers, which moves no sum of two ends beyond S, as ⌊a⌋ + ⌊b⌋ <= ⌊a + b⌋.
    """
    parts = asked - 1 if borders and neighbours is Neighbours.ADD_REMOVE else asked
    return Sensitivity(coordinates * parts * SCALE, coordinates * parts * SCALE**2, parts=coordinates * parts)


def records_in(row: np.ndarray) -> int:
    """The exact number of records behind one exact row of `every_place`.

    Each adds S, S - 1 or S - 2 to the two ends together, and there are fewer than S / 2 of them (`ROOM`).
    """
    return -(-(int(row[0]) + int(row[STEPS])) // SCALE)


def reach_of(place: int) -> float:
    """The largest distance from a place of the grid, as a share of the range."""
    return max(place, STEPS - place) / STEPS


def fitted_weights(places: list[int], counters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places in [0, 1], both ends among them, and the weights >= 0 whose distances fit the counters best."""
    nodes = np.array(sorted({0, STEPS, *places})) / STEPS
    if not places:
        return nodes, np.zeros(len(nodes))
    reach = np.array([reach_of(place) for place in places])
    # Divided by the reach, all counters have noise of one size.
    model = np.abs(np.array(places)[:, None] / STEPS - nodes) / reach[:, None]
    return nodes, nnls(model, np.asarray(counters, np.float64) / SCALE)[0]


def distances_from(nodes: np.ndarray, weights: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Σ_j w_j |q - t_j|, float64 (n,)."""
    return np.abs(queries[:, None] - nodes) @ weights


def _unit(place: int) -> float:
    return SCALE / reach_of(place)


@njit(nogil=True, cache=True)
def _sum_of_distances(values, low, length, place, unit):
    """Of the records' values in one coordinate, in whole numbers; each adds at most SCALE."""
    total = np.int64(0)
    for value in values:
        share = min(max((value - low) / length, 0.0), 1.0)
        total += min(np.int64(abs(share - place) * unit), SCALE)
    return total
