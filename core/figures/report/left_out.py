"""Which pairs of columns a release of tables does not hold, and why, for whoever has the file."""

from __future__ import annotations

from itertools import combinations

from ...releases.release import Release
from ...words.phrases import count
from .choices import choice


def left_out(release: Release) -> list[tuple[str, str]]:
    """The pairs of columns that were not counted together, in the order of the columns.

    Parameters
    ----------
    release : Release
        Of tables.
    """
    reading = release.asked().reading
    names = [axis.name for axis in reading.layout.axes]
    measured = reading.noise.by_columns
    return [
        (names[one], names[other]) for one, other in combinations(range(len(names)), 2) if (one, other) not in measured
    ]


def left_out_in_words(release: Release) -> str:
    """How many pairs were not counted, and why, in a sentence or two; "" where all were."""
    columns, missing = len(release.asked().axes), len(left_out(release))
    every = columns * (columns - 1) // 2
    if not missing:
        return ""
    held = f"{every - missing:,} of {count(every, 'pair')} of columns"
    if missing == every:
        return "No two columns were measured together. That was settled by public facts before any record was read."
    if choice(release) is not None:
        return (
            f"{held} were counted together: those that go together most, as far as noise let that be seen, chosen "
            f"under the promise. The other {missing:,} are left out, as all together the noise would have hidden them."
        )
    return (
        f"{held} were counted together, settled by public facts before any record was read. The other {missing:,} are "
        "left out: the more are counted, the noisier is each."
    )
