"""Projective geometry response (Feldman, Nelson, Nguyen, Talwar 2022).

Values and reports are both points of the projective space of dimension t - 1 over the field of q elements, q prime:
lines through the origin of t coordinates, of which there are K = (q^t - 1)/(q - 1). The points y with <x, y> = 0 speak
for x and have weight A, all others weight B. Every x has s = (q^(t-1) - 1)/(q - 1) of them, so the total is the same
for all and no ratio is above A/B. Two of these hyperplanes share r = (q^(t-2) - 1)/(q - 1) points, so with T = sA + (K
- s)B,

    p = sA/T,    q = (rA + (s - r)B)/T.

A share of about 1/q of all points speaks for a value, as if a hash function to q cells had none of the collisions of
chance: the variance is that of optimal local hashing to q cells, for ⌈log₂ K⌉ bits. The field and t are those of the
least variance with at most four bits more than a value has.

Counts of all hyperplanes come from one Fourier transform over the coordinates: give every multiple of y but zero the
count of y; then Σ_v g(v) ω^<x, v> = Σ_y g(y) (q [<x, y> = 0] - 1) = q C_x - n.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.fft

from ...errors import RequestError
from ...machine.array_types import Array, Integers
from ...machine.compiled_code import njit
from ...parameters import Settled, Whole, parameter
from ...privacy.noise.randomness import Stream
from ...privacy.noise.responses import UNIT
from ..tally import Tally
from .counting import count_numbers
from .oracle import Matrix, Pure, bits_for, picked

SPARE_BITS = 4
LARGEST_GRID = 1 << 26
"""Places of the transform: 1 GiB."""


@dataclass(frozen=True)
class ProjectiveGeometry(Pure):
    """A report is a point.

    Attributes
    ----------
    field, coordinates : int
        q, a prime, and t; by their variance where they are not said.
    """

    name = "pgr"
    title = "projective geometry response"
    paper = "Feldman, Nelson, Nguyen, Talwar 2022"

    field: Settled[int] = parameter(Whole("The field", 2, LARGEST_GRID), None, settled="its field")
    coordinates: Settled[int] = parameter(Whole("The number of coordinates", 2, 26), None, settled="its coordinates")

    def _check(self) -> None:
        if (self.field is None) != (self.coordinates is None):
            raise RequestError("The field and the number of coordinates are given together or not at all.")
        if self.field is None:
            choices = list(_choices(self.domain, float(self.odds)))
            if not choices:
                raise RequestError(f"A domain of {self.domain:,} values is too large for a transform in memory.")
            field, coordinates = min(choices, key=lambda one: self._variance_of(*one))
            self._settle(field=field, coordinates=coordinates)
        if not _is_prime(self.field) or self.field**self.coordinates > LARGEST_GRID:
            raise RequestError("The field of a projective geometry must be a prime whose points fit into memory.")
        if points(self.field, self.coordinates) < self.domain:
            raise RequestError(f"The geometry has fewer points than the {self.domain:,} values.")

    def _chances_of(self, field: int, coordinates: int) -> tuple[Fraction, Fraction]:
        every, own, shared = (points(field, coordinates - less) for less in range(3))
        total = own * self.surplus + every * UNIT
        heavy = self.surplus + UNIT
        return Fraction(own * heavy, total), Fraction(shared * self.surplus + own * UNIT, total)

    def _variance_of(self, field: int, coordinates: int) -> Fraction:
        p, q = self._chances_of(field, coordinates)
        return q * (1 - q) / (p - q) ** 2

    @cached_property
    def chances(self) -> tuple[Fraction, Fraction]:
        return self._chances_of(self.field, self.coordinates)

    @property
    def outcomes(self) -> int:
        return points(self.field, self.coordinates)

    @property
    def bits(self) -> int:
        return bits_for(self.outcomes)

    @property
    def table_shape(self) -> tuple[int, ...]:
        return (self.outcomes,)

    def _reports(self, values: Integers, stream: Stream) -> Array:
        speaking = points(self.field, self.coordinates - 1)
        place, anything = picked(speaking, self.outcomes, self.surplus, len(values), stream)
        reports = np.empty(len(values), np.int64)
        _orthogonal(values, place, anything, self.field, self.coordinates, reports)
        return reports.astype(self.report_type)

    def _add(self, table: Integers, reports: Array) -> None:
        count_numbers(reports, table)

    def supports(self, tally: Tally) -> Integers:
        grid = np.zeros(self.field**self.coordinates)
        _spread(tally.table, self.field, self.coordinates, grid)
        turned = scipy.fft.fftn(grid.reshape((self.field,) * self.coordinates), workers=-1).real.reshape(-1)
        at = np.empty(self.domain, np.int64)
        _places(self.field, self.coordinates, at)
        counts: Integers = np.rint((turned[at] + tally.people) / self.field).astype(np.int64)
        return counts

    def work(self, people: float) -> tuple[float, float]:
        return 2e-7, 2e-9 * people + 1e-7 * self.field**self.coordinates

    def transition_matrix(self) -> Matrix:
        total = points(self.field, self.coordinates - 1) * self.surplus + self.outcomes * UNIT
        every = [_coordinates(place, self.field, self.coordinates) for place in range(self.outcomes)]
        return [
            [Fraction(self.surplus * (int(every[value] @ y) % self.field == 0) + UNIT, total) for y in every]
            for value in range(self.domain)
        ]


def points(field: int, coordinates: int) -> int:
    """How many points the projective space of so many coordinates has."""
    return (int(field**coordinates) - 1) // (field - 1)


def _choices(domain: int, odds: float) -> list[tuple[int, int]]:
    """For every number of coordinates, the primes on both sides of E + 1 for which points are many and few enough.

    The variance, that of hashing to q cells, falls up to q = E + 1 and rises from there on.
    """
    most = 1 << (bits_for(domain) + SPARE_BITS)
    found: list[tuple[int, int]] = []
    for coordinates in range(2, 27):
        least = _least(coordinates, domain)
        above = min(_least(coordinates, most + 1), int(LARGEST_GRID ** (1 / coordinates)) + 1)
        middle = int(min(max(odds + 1, least), above - 1))
        lower = next((field for field in range(middle, least - 1, -1) if _is_prime(field)), above)
        fields = {lower, _next_prime(max(middle, least) + (lower == middle))}
        found += [(field, coordinates) for field in sorted(fields) if field < above]
    return [(field, coordinates) for field, coordinates in found if field**coordinates <= LARGEST_GRID]


def _least(coordinates: int, count: int) -> int:
    """The least field, prime or not, whose space of so many coordinates has that many points, by halving."""
    low, high = 2, count
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if points(middle, coordinates) >= count else (middle + 1, high)
    return low


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % factor for factor in range(2, int(number**0.5) + 1))


def _next_prime(number: int) -> int:
    while not _is_prime(number):
        number += 1
    return number


@njit(nogil=True, cache=True)
def _coordinates(place: int, field: int, coordinates: int) -> np.ndarray:
    """The coordinates of a point by its place, int64 (t,): those that begin with 1 first, then those with 0, 1 …"""
    vector = np.zeros(coordinates, np.int64)
    lead, count = 0, field ** (coordinates - 1)
    while place >= count:
        place -= count
        count //= field
        lead += 1
    vector[lead] = 1
    for i in range(coordinates - 1, lead, -1):
        vector[i] = place % field
        place //= field
    return vector


@njit(nogil=True, cache=True)
def _place(vector: np.ndarray, field: int) -> int:
    """The place of the point that a vector stands for, whatever its length."""
    lead = 0
    while vector[lead] == 0:
        lead += 1
    inverse, power, exponent = 1, vector[lead], field - 2  # a^(q-2) = 1/a, by Fermat
    while exponent:
        if exponent & 1:
            inverse = inverse * power % field
        power = power * power % field
        exponent >>= 1
    place, before, count = 0, 0, field ** (vector.size - 1)
    for _ in range(lead):
        before += count
        count //= field
    for i in range(lead + 1, vector.size):
        place = place * field + vector[i] * inverse % field
    return before + place


@njit(nogil=True, cache=True)
def _orthogonal(
    values: Integers, places: Integers, anything: Integers, field: int, coordinates: int, reports: Integers
) -> None:
    """Reported points: for a place, that point of the hyperplane of the value.

    All coordinates but that of the value's leading 1 are a point of one dimension less, by its place; that one makes
    the product zero.
    """
    y = np.empty(coordinates, np.int64)
    for i in range(values.size):
        if places[i] < 0:
            reports[i] = anything[i]
            continue
        x = _coordinates(values[i], field, coordinates)
        free = _coordinates(places[i], field, coordinates - 1)
        lead = 0
        while x[lead] == 0:
            lead += 1
        product, at = 0, 0
        for j in range(coordinates):
            if j != lead:
                y[j] = free[at]
                product += x[j] * free[at]
                at += 1
        y[lead] = -product % field
        reports[i] = _place(y, field)


@njit(nogil=True, cache=True)
def _spread(table: Integers, field: int, coordinates: int, grid: np.ndarray) -> None:
    """Give every multiple of a point but zero its count."""
    for place in range(table.size):
        if table[place]:
            vector = _coordinates(place, field, coordinates)
            for factor in range(1, field):
                at = 0
                for i in range(coordinates):
                    at = at * field + vector[i] * factor % field
                grid[at] = table[place]


@njit(nogil=True, cache=True)
def _places(field: int, coordinates: int, at: Integers) -> None:
    """Where the first points lie on the grid."""
    for place in range(at.size):
        vector, here = _coordinates(place, field, coordinates), 0
        for i in range(coordinates):
            here = here * field + vector[i]
        at[place] = here
