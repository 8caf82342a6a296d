"""Which columns a mechanism takes: those with coordinates, and circles only where it sees that their ends meet."""

from __future__ import annotations

from ..domain import Domain
from ..errors import RequestError
from ..geometry.kernels import Jaccard, Kernel, of_straight_lines


def check_points(domain: object, kernel: Kernel | None = None) -> None:
    """Refuse records that are sets, and the kernel of sets: whatever needs coordinates checks this when it is made.

    Raises
    ------
    RequestError
        One sentence that says what has sets.
    """
    if not isinstance(domain, Domain):
        raise RequestError("A sketch is made of a domain: what is publicly known of the columns.")
    domain.check_coordinates()
    if isinstance(kernel, Jaccard):
        raise RequestError(
            "The kernel 'jaccard' compares sets, and the columns of this domain hold none: declare a column of items."
        )


def check_circles(domain: Domain, mechanism: str, takes: bool, kernel: Kernel | None = None) -> None:
    """Refuse columns whose values lie on a circle where the mechanism, or its kernel, cannot see them so.

    Parameters
    ----------
    domain, mechanism : Domain, str
        What is declared, and the mechanism's name.
    takes : bool
        Whether the mechanism takes them: by their coordinates alone, or value by value.
    kernel : Kernel | None
        Its kernel, if any; one of the straight-line distance sees a circle in the plane.

    Raises
    ------
    RequestError
        One sentence that says what can be done instead.
    """
    if not domain.circles or (takes and (kernel is None or of_straight_lines(kernel))):
        return
    which = f"The column {domain.circles[0]!r} is a circle, where the last value is next to the first"
    if not takes or kernel is None:
        raise RequestError(
            f"{which}, and the mechanism {mechanism!r} does not bend its columns: declare it as categories, or use "
            "tables, histogram, race or features."
        )
    raise RequestError(
        f"{which}, so it needs a kernel of the straight-line distance, such as gaussian, and {kernel.name!r} is none."
    )
