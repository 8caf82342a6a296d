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

Counts of all hyperplanes come from Fourier transforms over one coordinate fewer. Points that begin with 1 are all of an
affine space, y = (1, z), and <x, y> = 0 says x_1 + <x', z> = 0 for x = (x_1, x'): by the slice theorem, the transform
of their counts along the line of x' is that of how many have each <x', z>. The other points are a geometry of one
coordinate fewer, and counted likewise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.fft

from ...errors import RequestError
from ...privacy.noise.randomness import Source, Stream
from ...privacy.noise.responses import UNIT
from ...runtime.compiled_code import njit
from ...runtime.counter_tables import Array, Integers
from ...runtime.parameters import Resolved, Whole, parameter
from .counting import Tally
from .oracle import Matrix, NumberedReports, Pure, bits_for, weighed

SPARE_BITS = 4
# Points that a file may ask for, and that are chosen, for which counting takes 2 GiB.
LARGEST_FIELD, MOST_POINTS, MOST_CHOSEN = 1 << 26, 1 << 27, 1 << 25


@dataclass(frozen=True)
class ProjectiveGeometry(NumberedReports, Pure):
    """A report is a point."""

    name = "pgr"
    title = "projective geometry response"
    paper = "Feldman, Nelson, Nguyen, Talwar 2022"

    # q, a prime, and t; by their variance where they are not said.
    field: Resolved[int] = parameter(Whole("The field", 2, LARGEST_FIELD), None, settled="its field")
    coordinates: Resolved[int] = parameter(Whole("The number of coordinates", 2, 26), None, settled="its coordinates")

    def _check(self) -> None:
        if (self.field is None) != (self.coordinates is None):
            raise RequestError("The field and the number of coordinates are given together or not at all.")
        if self.field is None:
            choices = list(_choices(self.domain, float(self.odds)))
            if not choices:
                raise RequestError(f"A domain of {self.domain:,} values is too large for a transform in memory.")
            field, coordinates = min(choices, key=lambda one: self._variance_of(*one))
            self._settle(field=field, coordinates=coordinates)
        if not _is_prime(self.field) or points(self.field, self.coordinates) > MOST_POINTS:
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
    def table_shape(self) -> tuple[int, ...]:
        return (self.outcomes,)

    def _reports(self, values: Integers, source: Source) -> Array:
        def report(place: Integers, anything: Integers, stream: Stream) -> Array:
            reports = np.empty(len(values), np.int64)
            _orthogonal(values, place, anything, self.field, self.coordinates, reports)
            return reports.astype(self.report_type)

        speaking = points(self.field, self.coordinates - 1)
        return weighed(values, speaking, self.outcomes, self.surplus, source, report)

    def supports(self, tally: Tally) -> Integers:
        counts: Integers = _hyperplanes(tally.table, self.field, self.coordinates)[: self.domain]
        return counts

    def work(self, people: float) -> tuple[float, float]:
        return 2e-7, 2e-9 * people + 2e-7 * self.outcomes

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
        above = _least(coordinates, min(most, MOST_CHOSEN) + 1)
        if above <= least:
            continue
        middle = int(min(max(odds + 1, least), above - 1))
        lower = next((field for field in range(middle, least - 1, -1) if _is_prime(field)), above)
        fields = {lower, _next_prime(max(middle, least) + (lower == middle))}
        found += [(field, coordinates) for field in sorted(fields) if field < above]
    return found


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


def _hyperplanes(table: Integers, field: int, coordinates: int) -> Integers:
    """How many of the counted points lie in the hyperplane of each point, in their order: int64 (K,)."""
    if coordinates == 1:
        return np.zeros(1, np.int64)  # (1) is not orthogonal to itself
    affine = field ** (coordinates - 1)
    rest = table[affine:]
    within = _hyperplanes(rest, field, coordinates - 1)
    turned = scipy.fft.fftn(table[:affine].reshape((field,) * (coordinates - 1)).astype(np.float64), workers=-1)
    lines = np.empty((len(rest), field), np.int64)
    _lines(field, coordinates - 1, lines)
    # With ω^(-<z, x>) of the transform, values along a line give how many have each <x', z>.
    each = np.rint(scipy.fft.ifft(turned.reshape(-1)[lines], axis=1, workers=-1).real).astype(np.int64)
    counts = np.empty(len(table), np.int64)
    counts[affine:] = each[:, 0] + within
    counts[0] = rest.sum()  # of (1, 0, …, 0), those that begin with 0
    for factor in range(1, field):
        counts[lines[:, factor]] = each[:, field - pow(factor, -1, field)] + within
    return counts


@njit(nogil=True, cache=True)
def _lines(field: int, coordinates: int, lines: Integers) -> None:
    """Where the multiples of each point lie on the grid of all vectors, by their factors."""
    for place in range(len(lines)):
        vector = _coordinates(place, field, coordinates)
        for factor in range(field):
            at = 0
            for i in range(coordinates):
                at = at * field + vector[i] * factor % field
            lines[place, factor] = at
