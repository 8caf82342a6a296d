"""When two values are the same one: the rule by which categories, items and ids of people are matched.

*A number is the text of its digits, and texts are compared letter for letter.* So 1, 1.0 and the decimal 1.00 are "1",
whatever type a column took on in an export, and neither "01" nor "1.0", written as text, is. True and false are "true"
and "false".

A floating-point number has digits only where it is whole and below the size at which whole numbers begin to share one:
2**53 in double precision, 2**24 in single and 2**11 in half. A program that holds whole numbers as floating point, as
pandas does with a column as soon as one person's number is missing, gives neighbours beyond that size the same number.
People would become one: what is kept of one of them would hang on the records of all, and no noise is made for that.
Such a number is refused, and so is one that is not whole, which names nobody.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import RequestError

SHARED_FROM = {pa.float16(): 2**11, pa.float32(): 2**24, pa.float64(): 2**53}
"""The least size at which two whole numbers are one floating-point number."""
NO_DIGITS = (
    "a number that is not whole, or a floating-point number so large that different whole numbers become one; keep "
    "such a column as whole numbers (in pandas the type 'Int64', where some are missing) or as text"
)
_WIDEST = pa.decimal256(76, 0)


def is_number(kind: pa.DataType) -> bool:
    """Whether the values of an Arrow type are numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def whole_numbers(numbers: pa.Array, what: str) -> pa.Array:
    """Numbers as integers or, where they were decimals, as text of their digits; NaN is a missing value.

    Parameters
    ----------
    numbers : pa.Array
        Of any type that `is_number`.
    what : str
        How a refusal names them, such as "The column 'tags'".

    Raises
    ------
    RequestError
        When one has no digits.
    """
    if pa.types.is_integer(numbers.type):
        return numbers
    if pa.types.is_decimal(numbers.type):
        try:
            return pc.cast(pc.cast(numbers, _WIDEST), pa.large_string())
        except pa.ArrowInvalid:
            raise without_digits(what) from None
    values = numbers.to_numpy(zero_copy_only=False)  # null becomes NaN
    missing = np.isnan(values)
    if not (missing | ((np.abs(values) < SHARED_FROM[numbers.type]) & (np.floor(values) == values))).all():
        raise without_digits(what)
    return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def without_digits(what: str) -> RequestError:
    """The refusal of a number that has no digits."""
    return RequestError(f"{what} holds {NO_DIGITS}.")
