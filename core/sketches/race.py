"""RACE: repeated arrays of count estimators (Coleman, Shrivastava, CCS 2021, algorithms 1 and 2).

Each of R rows has one hash function whose collision probability is the kernel. A record adds 1 to one counter of every
row; the counter that a query falls in counts the records that collide with it, which is the kernel sum on average.

Beyond the paper: rows are drawn in low-discrepancy groups (`core.geometry.uniforms`), rows whose cells fit into
W columns are stored without rehashing (`core.geometry.hash_cells`), and where they do not fit the bias is
undone.

Of a table that is mapped from a file and no array in memory, only the counters that queries fall in are touched.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..domain import Domain, Vector
from ..errors import RequestError
from ..geometry.hash_cells import Columns, columns
from ..geometry.hash_families import atomic_hashes, check_kernel, draw_hashes, drawing_bytes
from ..geometry.kernels import KERNEL, Euclidean, Kernel
from ..geometry.uniforms import group_sizes
from ..privacy.budget import Neighbours, Sensitivity
from ..runtime.counter_tables import Floats, Table, blocks, take
from ..runtime.parameters import Resolved, Seed, Whole, parameter
from .grouped import CHANCE, GROUPS, HOW_MANY_ROWS, ROWS, ROWS_TRIED, GroupedSketch, mean_of_rows
from .mechanism_spec import KERNEL_OPTIONS, PROJECTION_OPTIONS, MechanismSpec, PublicInputs
from .projected import Projected, enough_dimensions, on_fewer, only_many
from .race_counting import pour, read

PLACES = 1 << 20  # Counters that are looked up at a time.


def read_mapped(
    points: np.ndarray, columns: Columns, table: Table, group_of_row: np.ndarray, background: float
) -> np.ndarray:
    """What `counting.read` gives for the same counters in an array, bit for bit; the parameters are the same."""
    rows, width = table.shape
    out = np.zeros((int(group_of_row.max()) + 1, len(points)))
    gain = columns.gain[:, None]
    crowd = np.where(columns.rehashed, background, 0.0)[:, None]
    step = max(1, PLACES // rows)
    for start in range(0, len(points), step):
        column = _columns_of(points[start : start + step], columns, gain)
        inside = column >= 0
        places = np.arange(rows)[:, None] * width + column
        counters = np.zeros(column.shape)
        counters[inside] = take(table, places[inside])
        np.add.at(out[:, start : start + step], group_of_row, np.where(inside, (counters - crowd) * gain, 0.0))
    return out


def _columns_of(points: np.ndarray, columns: Columns, gain: np.ndarray) -> np.ndarray:
    """The column that each query falls in, int64 (R, n); -1 where no record inside the bounds can be.

    They are read off a table whose every row counts 1, 2, 3 and so on: one row in memory, shown R times.
    """
    rows, width = len(columns.rehashed), columns.width
    counting = np.broadcast_to(np.arange(1, width + 1), (rows, width))
    return np.rint(read(points, columns, counting, np.arange(rows), 0.0) / gain).astype(np.int64) - 1


MAX_WIDTH = 1 << 31
MAX_COUNTERS = 1 << 30  # 4 GiB in memory.
WIDE_COUNTERS = 1 << 26  # Counters up to which a table has 64 bits for each; larger ones have 32.

HASH_SECONDS = 4.3e-10  # Of one core, for a further hash of a row.


LEAST_HELD = 0.003  # A counter with fewer of all records than this says little about how many records meet.


@dataclass(frozen=True)
class Race(GroupedSketch):
    """A RACE sketch of public parameters.

    RequestError when a parameter is out of range or the kernel does not fit the domain.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    kernel : Kernel
        Any kernel of `core.geometry.kernels`.
    rows : int | None
        R, the number of hash functions; None leaves the choice to the forecast.
    width : int
        W, the most columns a row may have; the table is narrower when no row needs them all.
    seed : int
        Public hash seed; fresh when None. Sketches can be merged only when they share it.
    groups : int | None
        Independent groups of rows, from whose spread the intervals come; None gives one a hundred rows, from 4 to 10:
        more groups make intervals shorter for their coverage, fewer make the rows cover more evenly.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    rows: Resolved[int] = parameter(ROWS, None, settled=HOW_MANY_ROWS)
    width: int = parameter(Whole("The width of a sketch", 2, MAX_WIDTH), 1000)
    groups: Resolved[int] = parameter(GROUPS, None, kw_only=True)
    seed: Resolved[int] = parameter(Seed("The hash seed of a sketch"), None)
    name: ClassVar[str] = "race"
    takes_circles: ClassVar[bool] = True
    has_cells: ClassVar[bool] = True
    described: ClassVar[str] = "RACE sketch"
    reads_mapped: ClassVar[bool] = True
    device_loop = "cells"

    def _check(self) -> None:
        super()._check()
        check_kernel(self.kernel)
        self._settle_groups()
        if self.rows is not None and self.rows * self.width > MAX_COUNTERS:
            raise RequestError(
                f"{self.rows:,} rows of {self.width:,} columns are more than {MAX_COUNTERS:,} counters, "
                "which is the most that a sketch may have."
            )

    @cached_property
    def columns(self) -> Columns:
        low, high = self.domain.bounds(self.metric)
        hashes = draw_hashes(self.kernel, self.domain.widths, self._chosen_rows, self.groups, self.seed)
        return columns(hashes, low, high, self.width, self.seed)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.columns.rehashed), self.columns.width

    @property
    def counter_type(self) -> np.dtype:
        """int32 for the largest tables, whose memory matters more than records beyond 2^31."""
        return np.dtype(np.int64 if self._chosen_rows * self.width <= WIDE_COUNTERS else np.int32)

    @property
    def setup_bytes(self) -> int:
        return 0 if self.rows is None else drawing_bytes(self.kernel, self.domain.dimensions, self.rows)

    @property
    def row_seconds(self) -> float:
        """Every hash of a row beyond the first has to be made a part of its column."""
        return super().row_seconds + HASH_SECONDS * (atomic_hashes(self.kernel, self.domain.dimensions) - 1)

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        pour(points, self.columns, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record is in exactly one cell of each row.

        Add or remove one: R counters change by 1, so L1 = R and L2 squared = R (Lemma 3.1 of the paper). Replace one:
        in each row a counter falls by 1 and another rises by 1 unless both records share it, so L1 <= 2R and L2
        squared <= 2R, reached when they share none. Shifts are -1, 0 or 1, and each row is one of R equal parts. A
        replaced record may also be left out as missing or outside the bounds, which changes R counters only.
        """
        rows = self._chosen_rows
        factor = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(factor * rows, factor * rows, parts=rows, unit_shifts=True)

    def group_estimates(
        self, table: np.ndarray | Table, records: float, points: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        sums = self._sums(table, records, points, self.group_of_row)
        sizes = group_sizes(self.shape[0], self.groups)
        return sums / sizes[:, None], sizes / self.shape[0]

    def median_of_means(
        self, table: np.ndarray | Table, records: float, points: np.ndarray, delta: float
    ) -> np.ndarray:
        """Median of k = 8 ln(1/delta) means of consecutive rows, float64 (n,) (the paper's algorithm 2, Theorem 3.3).

        It is within 16 sqrt(f~/epsilon ln(1/delta)) of the kernel sum with probability 1 - delta for every single
        query, whatever the tails; the mean is closer on average. Rows of one group depend on each other, which the
        theorem does not allow for: ask a sketch with as many groups as means when the guarantee itself matters.
        RequestError when delta is not in (0, 1) or there are fewer rows than means.
        """
        if not 0.0 < delta < 1.0:
            raise RequestError("The failure probability of a median of means must lie strictly between 0 and 1.")
        means = max(1, int(np.ceil(8.0 * np.log(1.0 / delta))))
        if means > self.shape[0]:
            raise RequestError(f"A median of {means} means needs as many rows, and this sketch has {self.shape[0]}.")
        sizes = group_sizes(self.shape[0], means)
        sums = self._sums(table, records, points, np.repeat(np.arange(means), sizes))
        return np.median(sums / sizes[:, None], axis=0)

    def _sums(
        self, table: np.ndarray | Table, records: float, points: np.ndarray, group_of_row: np.ndarray
    ) -> np.ndarray:
        """Sums over the rows of each group of the counters that each query falls in, float64 (groups, n)."""
        baseline = records / self.shape[1]
        if isinstance(table, np.ndarray):
            return read(points, self.columns, table, group_of_row, baseline)
        return read_mapped(points, self.columns, table, group_of_row, baseline)

    def total(self, table: np.ndarray | Table) -> float:
        """Mean over rows of the sum of the counters that a record can reach: each row counts every record once."""
        sums: list[float] = []
        place = np.arange(self.shape[1])
        for block in blocks(table):
            reachable = place < self.columns.reachable[len(sums) : len(sums) + len(block)][:, None]
            of_rows: Floats = np.sum(block, axis=1, where=reachable, dtype=np.float64)
            sums.extend(of_rows)
        return float(np.mean(sums))

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance * float(self.columns.reachable.sum()) / self.shape[0] ** 2

    def crowding(
        self, table: np.ndarray | Table, records: float, counter_variance: float, people: np.ndarray
    ) -> tuple[float, float]:
        """Two records meet in a row as often as they are close: squared counters add up to n^2 times that.

        Counters that hold next to nobody add next to nothing but their noise, and are left out.
        """
        alike = self.zeros()
        self.add(alike, people)
        held = alike > LEAST_HELD * len(people)
        squares: list[float] = []
        for block in blocks(table):
            place = len(squares)
            told = np.where(
                held[place : place + len(block)], np.square(block, dtype=np.float64) - counter_variance, 0.0
            )
            squares.extend(told.sum(axis=1))
        chance = np.where(self.columns.rehashed, 1.0 / self.shape[1], 0.0)
        return mean_of_rows((np.array(squares) / records**2 - chance) / (1.0 - chance))

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """Each row contributes one counter, enlarged by 1/(1 - 1/W) where the rehashing bias is undone."""
        variance = counter_variance * float(np.mean(self.columns.gain**2)) / self.shape[0]
        return variance if points is None else np.full(len(points), variance)


def _made(facts: PublicInputs) -> Race | Projected:
    """Refuses a kernel that is not the collision probability of a hash."""
    check_kernel(facts.closeness)
    size: dict[str, Any] = {"rows": facts.size, "groups": facts.groups} | (
        {} if facts.width is None else {"width": facts.width}
    )
    if facts.project is not None:
        return Projected.of(
            facts.domain,
            facts.closeness,
            Race,
            facts.project,
            kind=facts.projection,
            radius=facts.radius,
            seed=facts.seed,
            **size,
        )
    return Race(facts.domain, facts.closeness, seed=facts.seed, **size)


CARD = MechanismSpec(
    "race",
    "RACE",
    "Coleman, Shrivastava 2021",
    "Random lines cut the space into cells, many times over, and the records in every cell are counted with noise.",
    sketch=Race,
    make=_made,
    rank=1,
    recommended=True,
    of_sets="minhash",
    plainly="Random cells (RACE)",
    kernel="euclidean",
    options=KERNEL_OPTIONS | PROJECTION_OPTIONS | {"--rows", "--width", "--groups", "--seed"},
    size="rows",
    sizes=ROWS_TRIED,
    because=lambda sketch: (
        f"as each of its {sketch.shape[0]:,} rows needs one counter for an answer, whatever the number of columns"
    ),
    otherwise=CHANCE,
    holds=lambda sketch: f"{sketch.shape[0]:,} rows of {sketch.shape[1]:,} counters",
    warm=lambda: (Race(Domain.of(x=(0, 1), y=(0, 1)), Euclidean(1.0), rows=4, groups=2, seed=0),),
)
PROJECTED_CARD = MechanismSpec(
    "projected race",
    "RACE on projected points",
    "Backurs et al. 2024",
    "The same as RACE after the records are projected on fewer random directions.",
    make=lambda facts: _made(on_fewer(facts)),
    rank=5,
    command=False,
    recommended=True,
    kernel="euclidean",
    example={"vector": 1_000},
    plainly="Random cells in fewer directions (projected RACE)",
    size="rows",
    sizes=ROWS_TRIED,
    limit=only_many("RACE on projected points"),
    because=enough_dimensions,
    otherwise=CHANCE,
    warm=lambda: (
        Projected.of(Domain((Vector("v", 80, 0, 1),)), Euclidean(1.0), Race, 8, radius=9.0, rows=4, groups=2, seed=0),
    ),
)
