"""Asking for memory before it is needed, which changes nothing but how long a loop waits.

A processor guesses what a loop reads next while the loop reads on. One that goes through the same record twice stops
reading new memory meanwhile, and then waits for the next record; so it asks for that itself, a few bytes at a time.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LINE_BYTES = 64
"""That come from memory together."""


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
