"""RACE of sets: how many records are like a set of items (Coleman, Shrivastava, CCS 2021, section 6).

A record is a set: a basket, the tags of a text, the people whom someone follows. Every row of the table has one MinHash
function (`core.geometry.min_hashing`), whose collision probability is the Jaccard similarity |A and B| / |A or
B|; a record adds 1 to one counter of every row, and the counter that a query falls in counts the records that collide
with it, which is their summed similarity on average.

Different hashes share a column with probability 1/W, so that a counter also counts N/W records that are unlike the
query; with the number of records N that bias is undone: (counter - N/W) / (1 - 1/W).

The two loops of a count table of sets: pour sets in, and find the counters of queries.

Pouring goes block of rows by block of rows (`core.geometry.min_hashing`). The columns of many sets in a few
rows are worked out into a small buffer, row by row; then all of them are counted in one row of the table after the
other, so that a row of hundreds of kilobytes stays in the second-level cache meanwhile. Threads own rows, so nothing is
locked, and as whole numbers are added in the end, a table depends neither on batches nor on threads.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ..domain import Domain, Items
from ..domain.item_sets import Sets
from ..errors import RequestError
from ..geometry.kernels import Jaccard
from ..geometry.min_hashing import Blocks, MinHashes, block_columns, shortened, words_of
from ..geometry.uniforms import group_sizes
from ..privacy.budget import Neighbours, Sensitivity
from ..runtime.compiled_code import njit
from ..runtime.counter_tables import Table, blocks, take
from ..runtime.environment import over_ranges
from ..runtime.parameters import Choice, Resolved, Seed, Whole, parameter
from .grouped import CHANCE, GROUPS, HOW_MANY_ROWS, ROWS, GroupedSketch
from .mechanism_spec import MechanismSpec, PublicInputs

BUFFER, LARGE_BUFFER = 1 << 22, 1 << 24  # Columns that a thread holds, 16 MiB; more where rows cannot be split.
# Sets, and their items, that are poured at a time: many where rows are wide, as each has to be fetched for them.
FEWEST_SETS, MOST_SETS, MOST_ITEMS = 1 << 14, 1 << 17, 1 << 23
QUERIES = 256
LEAST_QUERIES = 16


@njit(nogil=True, cache=True)
def _pour(first, elements, edges, first_block, last_block, arrays, words, columns, table):
    blocks, group, start, seeds, multiplier, addend, width, thrown = arrays
    for p in range(len(edges) - 1):
        begin, end = edges[p], edges[p + 1]
        items = elements[first[begin] : first[end]]
        known = -1
        for b in range(first_block, last_block):
            g, row, rows = group[b], blocks[b], blocks[b + 1] - blocks[b]
            if g != known:
                words_of(items, seeds[g, 0], seeds[g, 1], words)
                known = g
            factors, addends = multiplier[row : row + rows], addend[row : row + rows]
            block_columns(first, words, begin, end, start[b], rows, factors, addends, width, thrown, columns)
            for t in range(rows):
                _count(columns[t], end - begin, table[row + t])


@njit(nogil=True, cache=True)
def _count(columns, sets, counters):
    for i in range(sets):
        counters[columns[i]] += np.int32(1)


@njit(nogil=True, cache=True)
def _columns(first, elements, begin, end, arrays, words, out):
    blocks, group, start, seeds, multiplier, addend, width, thrown = arrays
    items = elements[first[begin] : first[end]]
    known = -1
    for b in range(len(group)):
        g, row, rows = group[b], blocks[b], blocks[b + 1] - blocks[b]
        if g != known:
            words_of(items, seeds[g, 0], seeds[g, 1], words)
            known = g
        factors, addends = multiplier[row : row + rows], addend[row : row + rows]
        found = out[row : row + rows]
        block_columns(first, words, begin, end, start[b], rows, factors, addends, width, thrown, found)


def pour(sets: Sets, hashes: MinHashes, table: np.ndarray) -> None:
    """Count every set once in each row of ``table``, int32 (R, W)."""
    if not len(sets):
        return
    many = min(max(hashes.width // 2, FEWEST_SETS), MOST_SETS)
    blocks = hashes.blocks_of_at_most(BUFFER // many)
    tallest = int(np.diff(blocks.first).max())
    edges = _portions(sets.first, min(many, LARGE_BUFFER // tallest))
    most_items = int(np.diff(sets.first[edges]).max())

    def rows(first_block: int, last_block: int) -> None:
        words = np.empty(most_items, np.uint64)
        columns = np.empty((tallest, int(np.diff(edges).max())), np.uint32)
        _pour(sets.first, sets.elements, edges, first_block, last_block, _arrays(hashes, blocks), words, columns, table)

    over_ranges(len(blocks.group), rows)


def read(sets: Sets, hashes: MinHashes, table: np.ndarray | Table) -> np.ndarray:
    """Sums over the rows of each group of the counters that queries fall in, float64 (G, n)."""
    blocks = hashes.blocks
    group_starts = np.cumsum(blocks.group_sizes) - blocks.group_sizes
    row_starts = np.arange(len(hashes.multiplier), dtype=np.int64)[:, None] * hashes.width
    sums = np.empty((len(group_starts), len(sets)))

    def queries(start: int, stop: int) -> None:
        for begin, end in pairwise([*range(start, stop, QUERIES), stop]):
            words = np.empty(int(sets.first[end] - sets.first[begin]), np.uint64)
            columns = np.empty((len(row_starts), end - begin), np.uint32)
            _columns(sets.first, sets.elements, begin, end, _arrays(hashes, blocks), words, columns)
            counters = take(table, (columns + row_starts).reshape(-1)).reshape(columns.shape)
            sums[:, begin:end] = np.add.reduceat(counters, group_starts, axis=0)

    if len(sets):
        over_ranges(len(sets), queries, at_least=LEAST_QUERIES)
    return sums


_Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.uint64, bool]


def _arrays(hashes: MinHashes, blocks: Blocks) -> _Arrays:
    """What the compiled loops take, in their order."""
    return (
        blocks.first,
        blocks.group,
        blocks.start,
        hashes.seeds,
        hashes.multiplier,
        hashes.addend,
        np.uint64(hashes.width),
        hashes.thrown,
    )


def _portions(first: np.ndarray, sets: int) -> np.ndarray:
    """Where portions of at most so many sets begin, and at most `MOST_ITEMS` items unless a single set has more."""
    edges = [0]
    while edges[-1] < len(first) - 1:
        start = edges[-1]
        room = int(np.searchsorted(first, first[start] + MOST_ITEMS, side="right")) - 1
        edges.append(max(start + 1, min(start + sets, room)))
    return np.array(edges, dtype=np.int64)


SCHEMES = ("classic", "one-permutation")
MAX_WIDTH = 1 << 30
MAX_COUNTERS = 1 << 31  # 8 GiB of exact counters; room for 2,000 rows of a million columns.
MAX_LONGEST = 1 << 40
DEFAULT_WIDTH = 10_000
BYTES_A_ROW = 64
SET_SECONDS = 1e-8  # Of one core, for one row of a set of a dozen items.


@dataclass(frozen=True)
class MinHash(GroupedSketch):
    """A RACE sketch of sets.

    RequestError when a parameter is out of range or the records are no sets.

    Parameters
    ----------
    domain : Domain
        One column of items (`core.domain.columns.Items`), and who is protected.
    rows : int | None
        R, the number of hash functions; None leaves the choice to the forecast.
    width : int
        W, columns of a row. A counter counts N/W unlike records beside those that are like a query: this is undone, but
        not the spread that comes with it, so W should be of the order of the number of records.
    scheme : str
        "classic" gives every item a number in every row. "one-permutation" throws an item into one row of a block and
        fills only rows that got none: the same collision probability and, for short sets, the same certainty, and up to
        three times as fast where sets have hundreds of items; slower where they have few.
    longest : int | None
        Public bound on how many different items of a set count; None for no bound. A longer set keeps those with the
        least public random numbers, and so does a query. Promises do not need it (one set is one record, however long);
        it bounds time, and what one very long set can look like.
    seed : int
        Public hash seed; fresh when None. Sketches can be merged only when they share it.
    groups : int | None
        Independent groups of rows, from whose spread the intervals come; None gives one a hundred rows, from 4 to 10.
    """

    domain: Domain
    rows: Resolved[int] = parameter(ROWS, None, settled=HOW_MANY_ROWS)
    width: int = parameter(Whole("The width of a sketch", 2, MAX_WIDTH), DEFAULT_WIDTH)
    scheme: str = parameter(Choice("The scheme of a MinHash sketch", SCHEMES), "classic")
    longest: Resolved[int] = parameter(Whole("The longest set", 1, MAX_LONGEST), None)
    groups: Resolved[int] = parameter(GROUPS, None, kw_only=True)
    seed: Resolved[int] = parameter(Seed("The hash seed of a sketch"), None)
    name: ClassVar[str] = "minhash"
    described: ClassVar[str] = "MinHash sketch"
    reads_mapped: ClassVar[bool] = True
    kernel: ClassVar[Jaccard] = Jaccard()  # type: ignore[misc]  # a field of other grouped sketches
    device_loop = "sets"
    # Tables of sets are large, as rows need about as many columns as there are records.
    counter_type = np.dtype(np.int32)
    # For a set of a dozen items or so; a public bound on their number says nothing of the usual one.
    row_seconds = SET_SECONDS

    def _check(self) -> None:
        if not isinstance(self.domain, Domain) or not self.domain.holds_sets:
            raise RequestError(
                "The mechanism 'minhash' is for records that are sets, and the columns of this domain are numbers or "
                "categories: declare a column of items."
            )
        self._settle_groups()
        if self.rows is not None and self.rows * self.width > MAX_COUNTERS:
            raise RequestError(
                f"{self.rows:,} rows of {self.width:,} columns are more than {MAX_COUNTERS:,} counters, which is "
                "the most that a sketch of sets may have."
            )

    @property
    def point_kernel(self) -> Jaccard:
        return self.kernel

    @cached_property
    def hashes(self) -> MinHashes:
        rows, width = self.shape
        return MinHashes.draw(rows, self.groups, width, self.seed, self.scheme == "one-permutation")

    @property
    def shape(self) -> tuple[int, int]:
        return self._chosen_rows, self.width

    @property
    def setup_bytes(self) -> int:
        return 0 if self.rows is None else BYTES_A_ROW * self.rows

    def add(self, table: np.ndarray, points: Sets) -> None:
        pour(shortened(points, self.longest, self.seed), self.hashes, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record is one set, and a set is in exactly one cell of each row, however many items it has.

        Add or remove one: R counters change by 1, so L1 = R and L2 squared = R (Lemma 3.1 of the paper). Replace one
        set by any other: in each row a counter falls by 1 and another rises by 1 unless both sets share it, so
        L1 <= 2R and L2 squared <= 2R, reached when they share none. Shifts are -1, 0 or 1, and each row is one of R
        equal parts. A replaced record may also be left out as empty, which changes R counters only.

        On a graph a record is what one node lists, say whom a person follows: the whole list is protected, whatever
        its length, whichever of its edges differ. That others follow the person stands in their records, and is not
        protected by this.
        """
        rows = self.shape[0]
        factor = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(factor * rows, factor * rows, parts=rows, unit_shifts=True)

    def exact(self, queries: Sets, records: Sets) -> np.ndarray:
        return self.kernel.sums(*(shortened(sets, self.longest, self.seed) for sets in (queries, records)))

    def group_estimates(self, table: np.ndarray, records: float, points: Sets) -> tuple[np.ndarray, np.ndarray]:
        rows, width = self.shape
        sizes = group_sizes(rows, self.groups)
        means = read(shortened(points, self.longest, self.seed), self.hashes, table) / sizes[:, None]
        return (means - records / width) / (1.0 - 1.0 / width), sizes / rows

    def total(self, table: np.ndarray) -> float:
        """Mean over rows of the sum of the counters: each row counts every record once."""
        return sum(float(block.sum(dtype=np.float64)) for block in blocks(table)) / self.shape[0]

    def total_variance(self, counter_variance: float) -> float:
        return counter_variance * self.width / self.shape[0]

    def noise_variance(self, counter_variance: float, points: Sets | None = None) -> float | np.ndarray:
        """Each row contributes one counter, enlarged by 1/(1 - 1/W) where the bias of shared columns is undone."""
        variance = counter_variance / (self.shape[0] * (1.0 - 1.0 / self.width) ** 2)
        return variance if points is None else np.full(len(points), variance)


def _made(facts: PublicInputs) -> MinHash:
    width = {} if facts.width is None else {"width": facts.width}
    return MinHash(
        facts.domain,
        facts.size,
        scheme=facts.scheme,
        longest=facts.longest,
        seed=facts.seed,
        groups=facts.groups,
        **width,
    )


CARD = MechanismSpec(
    "minhash",
    "MinHash",
    "Coleman, Shrivastava 2021",
    "A random order of all items picks one item of every set, many times over, and the sets of which the same was "
    "picked are counted with noise.",
    sketch=MinHash,
    make=_made,
    rank=2,
    sets=True,
    recommended=True,
    kernel="jaccard",
    options=frozenset({"--kernel", "--rows", "--width", "--groups", "--seed", "--scheme", "--longest"}),
    size="rows",
    because=lambda sketch: (
        f"as sets have no coordinates; each of its {sketch.shape[0]:,} rows needs one counter for an answer"
    ),
    otherwise=CHANCE,
    holds=lambda sketch: f"{sketch.shape[0]:,} rows of {sketch.shape[1]:,} counters",
    example={"items": "items"},
    warm=lambda: (
        MinHash(Domain((Items("basket"),)), 4, width=8, scheme=scheme, groups=2, seed=0)
        for scheme in ("classic", "one-permutation")
    ),
)
