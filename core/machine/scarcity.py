"""Too little memory, which is not the fault of a file: whoever opens it elsewhere may well read it."""

from __future__ import annotations

import errno

TOO_LITTLE = "There is not enough memory for this; ask for fewer rows or a smaller width."


def lacks_memory(problem: BaseException) -> bool:
    """Whether a problem is that the system gives no more memory; mapping a file says so by an error of its own.

    Examples
    --------
    >>> lacks_memory(MemoryError()), lacks_memory(OSError(errno.ENOMEM, "no room")), lacks_memory(OSError("cut short"))
    (True, True, False)
    """
    return isinstance(problem, MemoryError) or (isinstance(problem, OSError) and problem.errno == errno.ENOMEM)
