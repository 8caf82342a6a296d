"""One vector of independent normal numbers, known to as many digits as anyone asks for.

As `l2_vector`, for promises that are proven for real vectors of Gaussian noise inside an equation: an entry is σ times
a standard normal number whose digits are tossed when they are wanted, and `bounds` says between which two numbers it
lies.
"""

from fractions import Fraction

from .bernoulli import WORD_BITS
from .normal import PLACES, standard_normals
from .randomness import Stream
from .rounded_l2 import expansions


class NormalVector:
    """A draw of noise, of which digits are tossed on demand.

    Parameters
    ----------
    deviation : Fraction
        σ, above 0.
    size : int
        The number of entries.
    stream : Stream
        Where digits come from, now and later.
    """

    def __init__(self, deviation: Fraction, size: int, stream: Stream):
        numbers = standard_normals(size, stream)
        self._deviation, self._stream = Fraction(deviation), stream
        self._sizes = expansions(numbers, 0, size, PLACES)
        self._negative = numbers.negative.tolist()

    def bounds(self, extra: int) -> tuple[list[Fraction], list[Fraction]]:
        """Return least and greatest values of the entries, from 64 `extra` more digits of every number.

        Bounds of more digits lie within those of fewer.
        """
        places = PLACES + WORD_BITS * extra
        low, high = [], []
        for size, negative in zip(self._sizes, self._negative, strict=True):
            digits = size.leading(places, self._stream)
            least, most = (self._deviation * Fraction(end, 1 << places) for end in (digits, digits + 1))
            low.append(-most if negative else least)
            high.append(-least if negative else most)
        return low, high
