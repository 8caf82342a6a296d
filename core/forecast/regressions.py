"""What sums of products would say of how columns hang together, before anything is paid: in closed form."""

from __future__ import annotations

import math

from ..domain import Domain
from ..errors import RequestError
from ..privacy.calibration import NoiseScale
from ..sketches.products.products import Products
from ..words.phrases import count

SPREAD = 1.0 / 3.0
"""Of an ordinary column's values: a sixth of its bounds, in units of half of them."""


def sums_of_products(domain: Domain) -> Products:
    """The sums of all columns, of which any can be predicted from the others; RequestError where there is but one."""
    if len(domain.columns) < 2:
        raise RequestError("A column is predicted from others, and there is only one.")
    return Products(domain)


def correlation_error(sketch: Products, noise: NoiseScale, records: float) -> float:
    """Standard deviation that noise gives the correlation of two numbers that have nothing to do with each other.

    Of columns in the middle of their bounds the centred sum of products has the noise s of its entry, and a
    correlation is that sum over n times both spreads, so its error is s / (n spread²).
    """
    return math.sqrt(sketch.entry_variance(noise.variance)) / (records * SPREAD**2)


def reason(sketch: Products) -> str:
    """What is in the file, and what may be asked of it."""
    columns = len(sketch.domain.columns)
    return (
        f"{count(sketch.shape[0], 'sum')} of products of {columns} columns. Which column is predicted, and from which "
        "others, is chosen afterwards, as often as anyone likes: every regression is in the file."
    )
