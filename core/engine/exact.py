"""The exact table of all records, between the last record and the noise.

Noise is written over the exact sums, so that a table of 1e9 counters need not be in memory twice, and so that no exact
sum outlives its release. An `Exact` is used up by that: a second release from it would add noise to noise and call it
a release of the records.
"""

from __future__ import annotations

from threading import Lock

import numpy as np


class Exact:
    """A table before noise, and how many records it counts: private, both of them.

    It owns the table from here on: the array that was given holds noisy counters once a release was made of it.

    Parameters
    ----------
    table : np.ndarray
        Of the sketch's shape and `counter_type`, in C order and writable.
    records : int | np.ndarray
        Records that were kept, of the sketch's `count_shape`; those left out by the domain's rules are not counted.

    Raises
    ------
    TypeError
        When noise cannot be written over such a table.
    """

    def __init__(self, table: np.ndarray, records: int | np.ndarray):
        if table.dtype not in (np.int64, np.int32) or not (table.flags.c_contiguous and table.flags.writeable):
            raise TypeError("An exact table is a writable array of int64 or int32 in C order.")
        self._held: tuple[np.ndarray, int | np.ndarray] | None = (table, records)
        self._handing_over = Lock()

    @property
    def table(self) -> np.ndarray:
        """The exact counters; RuntimeError once they are used up."""
        return self._unused()[0]

    @property
    def records(self) -> int | np.ndarray:
        """The exact number of records; RuntimeError once it is used up."""
        return self._unused()[1]

    def copy(self) -> Exact:
        """The same numbers once more, for who makes several releases of them and pays for each."""
        table, records = self._unused()
        return Exact(table.copy(), np.copy(records) if isinstance(records, np.ndarray) else records)

    def use_up(self) -> tuple[np.ndarray, int | np.ndarray]:
        """Table and number of records, handed over to who adds the noise; they can be had this way once."""
        with self._handing_over:
            held, self._held = self._unused(), None
        return held

    def give_back(self, held: tuple[np.ndarray, int | np.ndarray]) -> None:
        """Undo `use_up`, for who could not pay and has drawn no noise."""
        self._held = held

    def _unused(self) -> tuple[np.ndarray, int | np.ndarray]:
        if self._held is None:
            raise RuntimeError(
                "A release was made of this exact table already, and its counters hold noise: seal a copy() of it "
                "first where several releases are made, each of which has its price."
            )
        return self._held
