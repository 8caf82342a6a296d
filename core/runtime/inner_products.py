"""Inner products of many records with many rows of coefficients, as fast as the processor multiplies.

What a row makes of a record is one chain of fused multiply-adds over the coordinates in order,

    s = offset;  s = fma(a_0, x_0, s);  s = fma(a_1, x_1, s);  ...  s = fma(a_(d-1), x_(d-1), s),

and nothing else, wherever the record stands. A tile keeps the sums of a few rows and some dozens of records in vector
registers, one lane a record, while it walks along the coordinates; every number that is loaded is used several times.

Why a record's sum depends on that record and the row alone, bit for bit:

* A fused multiply-add is one operation of IEEE 754: the exact a x + s, rounded once. The loop below asks the compiler
  for it by name, without leave to reorder anything, so every processor gives the same bits; one that lacks it calls the
  C library's function, which is exact as well, and slow.
* A lane never sees another lane. Blocks are padded with zeros, so that records at the edge of a batch run through the
  same instructions; rows that do not fill a tile go one by one through the same chain.
* Where the coordinates are cut into panels, the chain is put down in memory and taken up again, which rounds nothing.

So neither the size of tiles and panels, nor batches, nor threads can move a bit, and the tile may suit the processor.
A matrix product of a numerical library promises none of this.
"""

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiled_code import njit
from .environment import over_ranges

# Terms from which a hash or a frequency is worth a tile. It is part of what a released file means, as a chain of fused
# operations rounds in other places than one of products and sums: never change it.
MANY = 16
_WIDE_VECTORS = llvm.get_host_cpu_features().get("avx512f", False)
# 24 of 32 vector registers hold sums, or 12 of 16; the others what is multiplied.
_LANES, _VECTORS, _ROWS = (8, 4, 6) if _WIDE_VECTORS else (4, 2, 6)
TILE = _LANES * _VECTORS
DEPTH = 512  # Coordinates of a panel; six rows of so many coefficients stay in a first-level cache.
PANEL = 1 << 15  # Numbers in a panel: a quarter of a megabyte, which a second-level cache holds.
_SIZE, _VECTOR = ir.IntType(64), ir.VectorType(ir.DoubleType(), _LANES)


def records_at_once(dimensions: int) -> int:
    """Records of a panel: a multiple of every tile's width."""
    return min(1024, max(64, PANEL // min(dimensions, DEPTH) // 32 * 32))


def _chains(rows: int):
    """A compiled tile of so many rows: sums[r, :TILE] continued over the terms of a panel."""

    @intrinsic
    def tile(typing, coefficients, first, stride, panel, column, terms, sums, row):
        signature = types.void(coefficients, first, stride, panel, column, terms, sums, row)

        def generate(context, builder, signature, arguments):
            arrays = [
                context.make_array(signature.args[place])(context, builder, arguments[place]) for place in (0, 3, 6)
            ]
            coefficients, panel, sums = (array.data for array in arrays)
            panel_stride, sums_stride = (
                builder.sdiv(builder.extract_value(array.strides, 0), ir.Constant(_SIZE, 8)) for array in arrays[1:]
            )
            _, first, stride, _, column, terms, _, row = arguments
            heads = [
                builder.gep(coefficients, [builder.add(first, builder.mul(stride, ir.Constant(_SIZE, r)))])
                for r in range(rows)
            ]
            places = [
                [
                    _vector_at(
                        builder,
                        sums,
                        builder.add(
                            builder.mul(builder.add(row, ir.Constant(_SIZE, r)), sums_stride),
                            builder.add(column, ir.Constant(_SIZE, v * _LANES)),
                        ),
                    )
                    for v in range(_VECTORS)
                ]
                for r in range(rows)
            ]
            before = [[builder.load(place, align=8) for place in line] for line in places]
            entry, body, done = (builder.block, builder.append_basic_block("term"), builder.append_basic_block("done"))
            builder.branch(body)

            builder.position_at_end(body)
            j = builder.phi(_SIZE)
            chains = [[builder.phi(_VECTOR) for _ in range(_VECTORS)] for _ in range(rows)]
            start = builder.add(builder.mul(j, panel_stride), column)
            x = [
                builder.load(_vector_at(builder, panel, builder.add(start, ir.Constant(_SIZE, v * _LANES))), align=8)
                for v in range(_VECTORS)
            ]
            after = []
            for head, line in zip(heads, chains, strict=True):
                a = _in_every_lane(builder, builder.load(builder.gep(head, [j])))
                after.append([builder.call(_fma(builder), [a, x[v], line[v]]) for v in range(_VECTORS)])
            following = builder.add(j, ir.Constant(_SIZE, 1))
            for block, step, values in ((entry, ir.Constant(_SIZE, 0), before), (body, following, after)):
                j.add_incoming(step, block)
                for line, sources in zip(chains, values, strict=True):
                    for chain, source in zip(line, sources, strict=True):
                        chain.add_incoming(source, block)
            builder.cbranch(builder.icmp_signed("<", following, terms), body, done)

            builder.position_at_end(done)
            for line, values in zip(places, after, strict=True):
                for place, value in zip(line, values, strict=True):
                    builder.store(value, place, align=8)
            return context.get_dummy_value()

        return signature, generate

    return tile


def _vector_at(builder, pointer, place):
    return builder.bitcast(builder.gep(pointer, [place]), _VECTOR.as_pointer())


def _in_every_lane(builder, number):
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), _LANES), None))


def _fma(builder):
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    return cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{_LANES}f64")


_several_rows, _one_row = _chains(_ROWS), _chains(1)


@njit(nogil=True, cache=True)
def inner_products(points, start, length, coefficients, first, rows, panel, sums):
    """Continue sums[r, i] by the chain of row r and record start + i, for all rows and i < length.

    `points`: float64 (d, n), C order, d >= 1. `start`, `length`: The records, at most as many as the panel has columns.
    `coefficients`: float64, flat; row r begins at first + r d. `panel`: float64 (at most DEPTH, `records_at_once`), C
    order, to be written over. `sums`: float64 (at least rows, as many columns), C order; offsets when it comes, and
    beyond the length anything.
    """
    d = points.shape[0]
    depth = panel.shape[0]
    padded = (length + TILE - 1) // TILE * TILE
    whole = rows - rows % _ROWS
    for j0 in range(0, d, depth):
        terms = min(depth, d - j0)
        for j in range(terms):
            x = points[j0 + j, start : start + length]
            lanes = panel[j]
            for i in range(length):
                lanes[i] = x[i]
            lanes[length:padded] = 0.0
        for r in range(0, whole, _ROWS):
            for i in range(0, padded, TILE):
                _several_rows(coefficients, first + r * d + j0, d, panel, i, terms, sums, r)
        for r in range(whole, rows):
            for i in range(0, padded, TILE):
                _one_row(coefficients, first + r * d + j0, d, panel, i, terms, sums, r)


ROWS = 256  # Of the matrix at a time: sums of 64 records in so many rows fill an eighth of a megabyte.


@njit(nogil=True, cache=True)
def _multiply(points, matrix, block, first, last, out):
    """out[:, first:last] = matrix @ points[:, first:last]."""
    k, d = matrix.shape
    coefficients = matrix.reshape(-1)
    panel = np.empty((min(d, DEPTH), block))
    sums = np.empty((min(k, ROWS), block))
    for start in range(first, last, block):
        length = min(block, last - start)
        for r in range(0, k, ROWS):
            rows = min(ROWS, k - r)
            sums[:rows] = 0.0
            inner_products(points, start, length, coefficients, r * d, rows, panel, sums)
            for row in range(rows):
                out[r + row, start : start + length] = sums[row, :length]


def images(matrix: np.ndarray, coordinates: np.ndarray) -> np.ndarray:
    """What a matrix (k, d) makes of points, each record bit for bit by itself: float64 (n, k) in Fortran order.

    `matrix`: float64 (k, d), C order. `coordinates`: float64 (d, n), C order, one row a coordinate.
    """
    d, n = coordinates.shape
    block = records_at_once(d)
    out = np.empty((len(matrix), n))

    def records(start: int, stop: int) -> None:
        _multiply(coordinates, matrix, block, start, stop, out)

    over_ranges(n, records, at_least=block)
    return out.T


@intrinsic
def _above(typing, a, b):
    def generate(context, builder, signature, arguments):
        product = builder.mul(*(builder.zext(one, ir.IntType(128)) for one in arguments))
        return builder.trunc(builder.lshr(product, product.type(64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@njit(nogil=True, cache=True)
def upper_half(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return ⌊ab / 2^64⌋ for uint64 a and b: one instruction of most processors."""
    return _above(a, b)  # type: ignore[no-any-return]  # of Numba no type is known
