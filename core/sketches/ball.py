"""Vectors that are no longer than a radius, as whole numbers whose exact length is no longer either.

A record's offset from a public centre is shortened to a public radius where it is longer, and written in units of
radius / 2^30, cut toward zero. Rounding could still leave a vector of such numbers a hair too long, and a sensitivity
must hold for the integers that are really summed; so their squares are added up exactly, and as long as they exceed
2^60 every entry moves one unit toward zero.

Records come either as columns, each coordinate contiguous, which suits few coordinates; or as rows, each record
contiguous, just as embeddings lie in a file, which then are read from memory once and never copied. A record adds the
same numbers either way, bit for bit: its length is a sum of squares in 32 parts, the coordinates j, j + 32, j + 64, ...
in one part, which are then added in order.

`fetch` asks for memory before it is needed, which changes nothing but how long a loop waits. A processor guesses what a
loop reads next while the loop reads on. One that goes through the same record twice stops reading new memory meanwhile,
and then waits for the next record; so it asks for that itself, a few bytes at a time.

`row_products` are inner products of long queries with a few vectors, each query read from memory once and as it lies
there. For answers alone: the sums are added up in whatever order is fast, which a table's must never be.
"""

from threading import Lock

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..runtime.compiled_code import njit
from ..runtime.environment import over_ranges
from .linear import Rows

LINE_BYTES = 64  # That come from memory together.


@intrinsic
def fetch(typing, array, row, column):
    """Have array[row, column], which must exist, brought to the first-level cache, and don't wait for it."""

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        entries = context.make_array(kind)(context, builder, arguments[0])
        entry = cgutils.get_item_pointer(context, builder, kind, entries, arguments[1:])
        number, address = ir.IntType(32), ir.IntType(8).as_pointer()
        prefetch = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [address, number, number, number]), "llvm.prefetch.p0"
        )
        to_read, to_keep, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(prefetch, [builder.bitcast(entry, address), to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(array, row, column), generate


PRECISION = 30
# Units in a radius. A million records cut by half a unit each are a thousandth of a radius: far below any noise.
UNITS = 1 << PRECISION
# Between them squares neither overflow nor underflow; an offset that is shorter counts as none.
LONGEST, SHORTEST = 1e100, 1e-100
BLOCK = 64  # Records at a time: 512 coordinates of them fill a quarter of a megabyte, which a second-level cache holds.
PARTS = 32  # Of a squared length. A release says nothing about it, but it is the same for records in any layout.
STRETCH = 256  # Coordinates between two looks at how much of the next record to ask for.
ALONE = 1 << 18  # Coordinates that one thread adds in less time than a second one takes to start.


@njit(nogil=True, cache=True)
def _add_vectors(points, centre, radius, first, last, sums, squares):
    """sums (d,) += vectors in units; squares (n,) = their exact squared lengths, for records first to last."""
    d = points.shape[0]
    most = UNITS * UNITS
    vectors = np.empty((d, BLOCK), np.int64)
    parts = np.empty((min(d, PARTS), BLOCK))
    lengths = np.empty(BLOCK)
    for start in range(first, last, BLOCK):
        length = min(BLOCK, last - start)
        parts[:] = 0.0
        for j in range(d):
            x, part = points[j, start : start + length], parts[j % PARTS]
            for i in range(length):
                offset = x[i] - centre[j]
                part[i] += offset * offset
        lengths[:] = 0.0
        for part in parts:
            for i in range(length):
                lengths[i] += part[i]
        for i in range(length):
            distance = np.sqrt(lengths[i])
            longest = max(distance, radius)
            lengths[i] = UNITS / longest if distance > SHORTEST else 0.0
        total = np.zeros(BLOCK, np.int64)
        for j in range(d):
            x = points[j, start : start + length]
            row = vectors[j]
            for i in range(length):
                units = np.int64(min(max((x[i] - centre[j]) * lengths[i], -float(UNITS)), float(UNITS)))
                row[i] = units
                total[i] += units * units
        for i in range(length):
            while total[i] > most:
                total[i] = 0
                for j in range(d):
                    units = vectors[j, i]
                    units -= np.sign(units)
                    vectors[j, i] = units
                    total[i] += units * units
            squares[start + i] = total[i]
        for j in range(d):
            row = vectors[j]
            moved = np.int64(0)
            for i in range(length):
                moved += row[i]
            sums[j] += moved


@njit(nogil=True, cache=True)
def _add_rows(rows, order, slabs, centre, radius, first, last, sums, squares):
    """The same for the records order[first:last] that lie in rows (n, d); sums (slabs, d) begin with the first's.

    The two walks along a record ask for the next one, half of it each.
    """
    d = rows.shape[1]
    parts = np.empty(PARTS)
    whole = d - d % PARTS
    half = whole // 2
    line = LINE_BYTES // rows.itemsize
    for place in range(first, last):
        i, following = order[place], order[min(place + 1, last - 1)]
        x = rows[i]
        parts[:] = 0.0
        for j in range(0, whole, PARTS):
            fetch(rows, following, j // 2)
            if line < PARTS // 2:
                fetch(rows, following, j // 2 + line)
            for k in range(PARTS):
                offset = x[j + k] - centre[j + k]
                parts[k] += offset * offset
        for j in range(whole, d):
            offset = x[j] - centre[j]
            parts[j - whole] += offset * offset
        distance = 0.0
        for part in parts:
            distance += part
        distance = np.sqrt(distance)
        factor = UNITS / max(distance, radius) if distance > SHORTEST else 0.0
        total = np.int64(0)
        moved = sums[slabs[i] - slabs[order[first]]]
        for start in range(0, d, STRETCH):
            for j in range(half + start // 2, min(half + (start + STRETCH) // 2, d), line):
                fetch(rows, following, j)
            # Written out here: as a function of its own the compiler makes it a third slower.
            stop = min(start + STRETCH, d)
            near, origin, sums_here = x[start:stop], centre[start:stop], moved[start:stop]
            for j in range(len(near)):
                units = np.int64(np.int32(min(max((near[j] - origin[j]) * factor, -float(UNITS)), float(UNITS))))
                total += units * units
                sums_here[j] += units
        squares[i] = total if total <= UNITS * UNITS else _shorten(x, centre, factor, moved)


@njit(nogil=True, cache=True)
def _shorten(x, centre, factor, moved):
    """Of a vector that rounding has left too long and that ``moved`` has, take off what is too much; what is left."""
    vector = np.empty(len(x), np.int64)
    for j in range(len(x)):
        vector[j] = np.int64(np.int32(min(max((x[j] - centre[j]) * factor, -float(UNITS)), float(UNITS))))
    moved -= vector
    while (vector * vector).sum() > UNITS * UNITS:
        vector -= np.sign(vector)
    moved += vector
    return (vector * vector).sum()


def add_rows(rows: Rows, centre: np.ndarray, radius: float, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `add_vectors` does, for records that lie in rows and go to different slabs of a table.

    Returns the exact squared length of what each record added, and the records slab by slab; int64 (n,) each. `centre`,
    `radius`: as for `add_vectors`. `sums`: int64 (slabs, d), changed in place.
    """
    slabs, coordinates = rows.slabs, rows.coordinates
    order = np.argsort(slabs, kind="stable")
    squares = np.zeros(len(rows), np.int64)
    gathering = Lock()

    def records(first: int, last: int) -> None:
        if first == last:
            return
        least, most = slabs[order[first]], slabs[order[last - 1]]
        own = np.zeros((most - least + 1, coordinates.shape[1]), np.int64)
        _add_rows(coordinates, order, slabs, centre, radius, first, last, own, squares)
        with gathering:
            sums[least : most + 1] += own

    over_ranges(len(rows), records, at_least=records_alone(coordinates.shape[1]))
    return squares, order


def add_vectors(points: np.ndarray, centre: np.ndarray, radius: float, sums: np.ndarray) -> np.ndarray:
    """Add every record's offset from the centre, no longer than the radius, to ``sums`` in units of radius / 2^30.

    Returns int64 (n,), the exact squared length of what each record added, at most 2^60. `points`: float64 (n, d), each
    coordinate contiguous (Fortran order). `centre`: float64 (d,). `radius`: above `SHORTEST`; or 0, which stretches or
    shortens every offset to the length of 2^30 units. `sums`: int64 (d,), changed in place.
    """
    coordinates = np.ascontiguousarray(points.T)
    squares = np.zeros(coordinates.shape[1], np.int64)
    gathering = Lock()

    def records(first: int, last: int) -> None:
        own = np.zeros(len(sums), np.int64)
        _add_vectors(coordinates, centre, radius, first, last, own, squares)
        # Sums of whole numbers are exact in any order.
        with gathering:
            np.add(sums, own, out=sums)

    over_ranges(coordinates.shape[1], records, at_least=records_alone(len(coordinates)))
    return squares


def records_alone(dimensions: int) -> int:
    """Fewest records of so many coordinates that are worth a thread of their own."""
    return max(BLOCK, ALONE // dimensions)


TOGETHER = 4  # Queries that a number of a vector is multiplied with when it is loaded.
PRODUCT_STRETCH = 512  # Coordinates at a time: those of the queries and of a few vectors fit into a first-level cache.


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _row_products(rows, origin, vectors, first, last, products, squares):
    d = rows.shape[1]
    offsets = np.zeros((TOGETHER, PRODUCT_STRETCH))
    products[first:last] = 0.0
    squares[first:last] = 0.0
    for start in range(first, last, TOGETHER):
        size = min(TOGETHER, last - start)
        for j0 in range(0, d, PRODUCT_STRETCH):
            length = min(PRODUCT_STRETCH, d - j0)
            near = origin[j0 : j0 + length]
            for i in range(size):
                row, offset, square = rows[start + i, j0 : j0 + length], offsets[i], 0.0
                for j in range(length):
                    x = row[j] - near[j]
                    offset[j] = x
                    square += x * x
                squares[start + i] += square
            x0, x1, x2, x3 = offsets[0, :length], offsets[1, :length], offsets[2, :length], offsets[3, :length]
            for k in range(len(vectors)):
                vector = vectors[k, j0 : j0 + length]
                s0 = s1 = s2 = s3 = 0.0
                for j in range(length):
                    v = vector[j]
                    s0 += x0[j] * v
                    s1 += x1[j] * v
                    s2 += x2[j] * v
                    s3 += x3[j] * v
                sums = (s0, s1, s2, s3)
                for i in range(size):
                    products[start + i, k] += sums[i]


def row_products(rows: np.ndarray, origin: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inner products of queries with vectors, and squared lengths of the queries, all seen from a point.

    Returns float64 (n, K) and (n,), which are not finite where a query is not. As exact as any sum of d products of
    double precision: within d 2^-53 of the sum of their absolute values. `rows`: float32 or float64 (n, d). Fastest in
    C order, which saves a copy. `origin`: float64 (d,), taken off the queries and not the vectors. `vectors`: float64
    (K, d).
    """
    rows = np.require(rows, requirements=["C", "A"]).view()
    rows.flags.writeable = False  # of one type with mapped files, so that nothing is compiled for them
    vectors = np.ascontiguousarray(vectors)
    products, squares = np.empty((len(rows), len(vectors))), np.empty(len(rows))

    def queries(first: int, last: int) -> None:
        _row_products(rows, origin, vectors, first, last, products, squares)

    over_ranges(len(rows), queries, at_least=records_alone(rows.shape[1]))
    return products, squares
