"""What a benchmark measures: one piece of work beside its rivals, published figures and targets, or a curve of it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from pathlib import Path

SECONDS, ERROR, BYTES = "seconds", "relative error", "bytes"
UNITS = (SECONDS, ERROR, BYTES)
"""In all of them less is better."""


class NotMeasured(Exception):
    """A benchmark cannot run here; the message says what is missing."""


@dataclass(frozen=True)
class Settings:
    """How benchmarks are run.

    Attributes
    ----------
    quick : sizes so small that everything takes seconds; targets are not judged at them.
    data : a folder of the papers' data as Parquet files, or None.
    scratch : a folder for large files.
    scale : factor on the sizes of what streams from disk.
    repetitions : how often each side of a comparison is timed; None leaves it to the benchmark.
    """

    quick: bool = False
    data: Path | None = None
    scratch: Path | None = None
    scale: float = 1.0
    repetitions: int | None = None

    def repeats(self, usual: int) -> int:
        """Repetitions of a piece of work that is usually timed so often."""
        return self.repetitions or (2 if self.quick else usual)

    def size(self, full: int, small: int) -> int:
        """A size that `quick` makes small."""
        return small if self.quick else full


@dataclass(frozen=True)
class Rival:
    """The same work by other means; `values` are all repetitions, for as many pieces as ours."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Published:
    """A figure of a paper, for one piece of the work, and the machine or programme it was measured with."""

    where: str
    value: float
    means: str = ""


@dataclass(frozen=True)
class Target:
    """What was to be reached, and what was."""

    what: str
    measured: float
    bound: float
    at_least: bool = False

    @property
    def reached(self) -> bool:
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


@dataclass(frozen=True)
class Comparison:
    """One piece of work.

    Attributes
    ----------
    work : what was done, with its sizes.
    values : all repetitions, in `unit`.
    pieces, piece : how many of what, such as queries, one repetition did; published figures are for one.
    rivals, published, targets : what it stands beside.
    limits : the part of the work that nothing can do without, alone (`benchmarks.limits`).
    facts : further figures that were measured, by name with their unit.
    """

    work: str
    values: tuple[float, ...]
    unit: str = SECONDS
    rivals: tuple[Rival, ...] = ()
    limits: tuple[Rival, ...] = ()
    published: tuple[Published, ...] = ()
    targets: tuple[Target, ...] = ()
    pieces: int = 1
    piece: str = ""
    facts: dict[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def ratio(self, rival: Rival) -> float:
        """How many times as long the rival takes: the median of the rounds in which both had their turn."""
        return ratio(rival.values, self.values)


@dataclass(frozen=True)
class Curve:
    """The same work at several sizes: `values[i]` are all repetitions at `at[i]`."""

    title: str
    axis: str
    at: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    name: str = "Frostglass"
    unit: str = SECONDS

    @property
    def medians(self) -> list[float]:
        return [statistics.median(values) for values in self.values]


def ratio(above: tuple[float, ...], below: tuple[float, ...]) -> float:
    """Of two sides of a comparison: pair by pair where both had every turn, as a busy machine slows both."""
    if len(above) == len(below):
        return statistics.median(a / b for a, b in zip(above, below, strict=True))
    return statistics.median(above) / statistics.median(below)
