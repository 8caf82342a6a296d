"""One noise vector with density proportional to exp(-|z|/b) on R^m, known to as many digits as anyone asks for.

The noise of objective perturbation (Chaudhuri, Monteleoni, Sarwate 2011) goes into an equation and not onto a table, so
it cannot be rounded when it is drawn: its promise is proven for real vectors. Here the vector stays real. Its entries
are Z_i = ± b|G'||G_i| as in `rounded_l2`, for normal numbers whose digits are tossed when they are wanted, and `bounds`
says between which two numbers an entry lies. Whoever computes with all numbers between the bounds, and asks for more
digits until every one of them gives the same released value, releases what the real vector gives.
"""

from fractions import Fraction

from .normal import PLACES, standard_normals
from .randomness import Stream
from .rounded_l2 import Length, expansions


class L2Vector:
    """A draw of noise, of which digits are tossed on demand.

    Parameters
    ----------
    scale : Fraction
        b, above 0.
    size : int
        m, the number of entries.
    stream : Stream
        Where digits come from, now and later.
    places : int
        Digits after the point that every normal number starts with.
    """

    def __init__(self, scale: Fraction, size: int, stream: Stream, places: int = PLACES):
        radius, numbers = (standard_normals(count, stream, places) for count in (size + 1, size))
        self._length = Length(Fraction(scale), expansions(radius, 0, size + 1, places), places, stream)
        self._directions = expansions(numbers, 0, size, places)
        self._negative = numbers.negative.tolist()

    def bounds(self, extra: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return least and greatest values of the entries, from 64 `extra` more digits of every number involved.

        Bounds of more digits lie within those of fewer.
        """
        low, high = [], []
        for direction, negative in zip(self._directions, self._negative, strict=True):
            least, most, places = self._length.product(direction, extra)
            if negative:
                least, most = -most, -least
            low.append(Fraction(least, 1 << places))
            high.append(Fraction(most, 1 << places))
        return low, high
