"""Random features: sums of cosines and sines at random frequencies, whose products with a query's are kernel sums.

k(x, y) is the mean of cos(w.(x - y)) = cos(w.x) cos(w.y) + sin(w.x) sin(w.y) over the kernel's random frequencies w
(Rahimi, Recht 2007). The table keeps, for each of R frequencies, the sums of cos(w.x) and sin(w.x) over all records.

Beyond the usual construction: cos and sin are integers from a public table with a proven bound, and a random phase a
row makes any such table unbiased (`waves`); of the two tables one is best for Laplace noise and one for Gaussian;
frequencies are drawn in low-discrepancy groups and orthogonal blocks (`core.geometry.frequencies`); smooth
kernels get a random scale a row instead of a structure for each term of a sum.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.frequencies import (
    Frequencies,
    Structured,
    check_kernel,
    check_structure,
    draw_frequencies,
    draw_structured,
    drawing_bytes,
    padded,
    structured_bytes,
)
from ..geometry.kernels import KERNEL, Gaussian, Kernel
from ..geometry.uniforms import group_sizes
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..runtime.parameters import Choice, Resolved, Seed, parameter
from . import phases
from .grouped import CHANCE, GROUPS, HOW_MANY_ROWS, ROW_SETUP_SECONDS, ROWS, ROWS_TRIED, GroupedSketch, mean_of_rows
from .mechanism_spec import KERNEL_OPTIONS, PROJECTION_OPTIONS, MechanismSpec, PublicInputs
from .phases import Waves, waves
from .projected import Projected, enough_dimensions, on_fewer, only_many

TRANSFORMS = ("dense", "fast")
WAVES = ("circle", "quadrant")
# Of one core, for one row of structured frequencies, and for each layer of its transform.
FAST_SECONDS, LAYER_SECONDS = 1e-9, 1e-9
# Fast frequencies have up to 1.3 times the sampling error of as many dense ones, so that they are taken where they buy
# 1.5 times as many rows; where noise grows with the rows these are no use, and only time that is hard to bear counts.
FASTER, FASTER_BY_FAR = 1.5, 6.0
# For which waves are compared where the number of rows is not known yet; from some dozens on that says which.
USUAL_ROWS = 1000


@dataclass(frozen=True)
class Features(GroupedSketch):
    """Random features of public parameters.

    RequestError when a parameter is out of range or the kernel has no random features.

    Parameters
    ----------
    domain : Domain
        The public facts about the records.
    kernel : Kernel
        Gaussian, exponential, laplacian, smooth, smooth-squared or smooth-l1, or a product or mixture of them.
    rows : int | None
        R, the number of frequencies; None leaves the choice to the forecast.
    seed : int
        Public seed; fresh when None. Sketches can be merged only when they share it.
    groups : int | None
        Independent groups of rows, from whose spread the intervals come; None gives one a hundred rows, from 4 to 10.
    transform : str
        "dense" multiplies by every frequency, O(R d) a record; "fast" takes O(R log d), for many dimensions and kernels
        of the Euclidean distance, at 10 to 30% more sampling error there and no bias.
    wave : str
        What a record adds to a row: "quadrant", one signed count, has 0.62 of the other's noise variance under pure
        epsilon; "circle", cos and sin in fixed point, has less noise under (epsilon, delta) and a little less sampling
        error.
    """

    domain: Domain
    kernel: Kernel = parameter(KERNEL)
    rows: Resolved[int] = parameter(ROWS, None, settled=HOW_MANY_ROWS)
    groups: Resolved[int] = parameter(GROUPS, None, kw_only=True)
    transform: str = parameter(Choice("The transform of random features", TRANSFORMS), "dense", kw_only=True)
    wave: str = parameter(Choice("The wave of random features", WAVES), "quadrant", kw_only=True)
    seed: Resolved[int] = parameter(Seed("The seed of the frequencies"), None)
    name: ClassVar[str] = "features"
    takes_circles: ClassVar[bool] = True
    described: ClassVar[str] = "random feature sketch"

    @property
    def device_loop(self) -> str:
        """Dense frequencies alone: a record's phases by fast ones hang together."""
        return "waves" if self.transform == "dense" else ""

    def _check(self) -> None:
        super()._check()
        (check_structure if self.transform == "fast" else check_kernel)(self.kernel)
        self._settle_groups()

    @cached_property
    def frequencies(self) -> Frequencies | Structured:
        """Frequencies and phases, made from the seed when first needed.

        RequestError when a point inside the bounds may be so far off that floating point cannot tell its phase.
        """
        draw = draw_structured if self.transform == "fast" else draw_frequencies
        drawn = draw(self.kernel, self.domain.widths, self._chosen_rows, self.groups, self.seed)
        farthest = np.maximum(*map(np.abs, self.domain.bounds(self.metric)))
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused
            if isinstance(drawn, Structured):
                # Two transforms of sums of D terms each bound every number on the way.
                turns = padded(len(farthest)) * (drawn.lengths.max() + 1.0) * (farthest * drawn.units).sum()
            else:
                turns = (np.abs(drawn.waves) @ farthest).max()
        if not turns < phases.CERTAIN:
            raise RequestError(
                "The bounds reach too many bandwidths from zero for floating point to tell a record's phase; use a "
                "wider bandwidth or another unit."
            )
        return drawn

    @cached_property
    def entries(self) -> Waves:
        """The public table of integers that phases are turned into."""
        return waves(self.wave)

    @property
    def shape(self) -> tuple[int, int]:
        return self._chosen_rows, 2

    @property
    def setup_bytes(self) -> int:
        if self.rows is None:
            return 0
        if self.transform == "fast":
            return structured_bytes(self.domain.dimensions, self.rows, self.groups)
        return drawing_bytes(self.kernel, self.domain.dimensions, self.rows)

    @property
    def largest_entry(self) -> int:
        return self.entries.largest

    @property
    def row_seconds(self) -> float:
        if self.transform == "dense":
            return super().row_seconds
        return FAST_SECONDS + LAYER_SECONDS * math.log2(padded(self.domain.dimensions))

    @property
    def setup_seconds(self) -> float:
        return super().setup_seconds if self.transform == "dense" else ROW_SETUP_SECONDS * self._chosen_rows

    def add(self, table: np.ndarray, points: np.ndarray) -> None:
        drawn = self.frequencies
        if isinstance(drawn, Structured):
            phases.fast_pour(points, drawn, self.entries, table)
        else:
            phases.pour(points, drawn, self.entries, table)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """A record adds one entry (c, s) of the public table `entries` to every row.

        Add or remove one: row by row, at most the largest |c| + |s| in L1 and the largest c^2 + s^2 in L2 squared, both
        taken over all entries: 1 and 1 for the quadrants, where exactly one counter of a row moves by exactly 1;
        floor(sqrt(2) A) and A^2 for the circle. Replace one: the difference of two entries, at most twice and four
        times that by the triangle inequality; reached in both, as an entry's opposite is an entry too. Rows are R equal
        parts. A replaced record may also be left out, which moves the table by one record only.
        """
        rows = self._chosen_rows
        l1, l2_squared = self.entries.l1, self.entries.l2_squared
        if neighbours is Neighbours.REPLACE_ONE:
            l1, l2_squared = 2 * l1, 4 * l2_squared
        return Sensitivity(l1 * rows, l2_squared * rows, parts=rows, unit_shifts=l1 == 1)

    def group_estimates(self, table: np.ndarray, records: float, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drawn, delay = self.frequencies, self.entries.delay
        if isinstance(drawn, Structured):
            sums = phases.fast_read(points, drawn, delay, table, self.group_of_row)
        else:
            sums = phases.read(points, drawn, delay, table, self.group_of_row)
        sizes = group_sizes(self._chosen_rows, self.groups)
        return sums / (self.entries.gain * sizes[:, None]), sizes / self._chosen_rows

    def crowding(
        self, table: np.ndarray, records: float, counter_variance: float, people: np.ndarray
    ) -> tuple[float, float]:
        """The squared length of a row is n^2 times the average cosine of two records' phases; see `waves` for the gain.

        Of quadrants it is a little more: their corners are waves of three and more times the frequency.
        """
        squares = np.sum(np.square(table, dtype=np.float64), axis=1) - 2.0 * counter_variance
        return mean_of_rows(squares / (records * self.entries.gain) ** 2)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        """A row's two counters are weighed with the cosine and sine of one phase, whose squares add up to 1."""
        variance = counter_variance / (self._chosen_rows * self.entries.gain**2)
        return variance if points is None else np.full(len(points), variance)


def _made(facts: PublicInputs) -> Features | Projected:
    """The wave that has the least noise under the budget, and the fast transform where it pays."""
    return min((_made_with(wave, facts) for wave in WAVES), key=lambda sketch: _noise(sketch, facts.budget))


def _noise(sketch: Features | Projected, budget: Budget) -> float:
    """Variance of an answer's noise; the wave matters more than the number of rows."""
    sized = sketch if sketch.sized else sketch.with_rows(USUAL_ROWS)
    return float(sized.noise_variance(sized.counter_noise(budget).variance))


def _made_with(wave: str, facts: PublicInputs) -> Features | Projected:
    domain, kernel = facts.domain, facts.closeness
    if facts.project is not None:
        return Projected.of(
            domain,
            kernel,
            Features,
            facts.project,
            kind=facts.projection,
            radius=facts.radius,
            seed=facts.seed,
            wave=wave,
            rows=facts.size,
            groups=facts.groups,
        )
    dense = Features(domain, kernel, facts.size, seed=facts.seed, groups=facts.groups, wave=wave)
    if not _has_structure(kernel):
        return dense
    fast = replace(dense, transform="fast")
    enough = FASTER_BY_FAR if facts.budget.pure else FASTER
    return fast if enough * fast.row_seconds < dense.row_seconds else dense


def _has_structure(kernel: Kernel) -> bool:
    try:
        check_structure(kernel)
    except RequestError:
        return False
    return True


CARD = MechanismSpec(
    "features",
    "Random features",
    "Wagner et al. 2023",
    "Random waves are laid over the space, and their heights at all records are added up with noise.",
    sketch=Features,
    make=_made,
    rank=3,
    recommended=True,
    called="random features",
    several=True,
    plainly="Random waves (random features)",
    options=KERNEL_OPTIONS | PROJECTION_OPTIONS | {"--rows", "--groups", "--seed"},
    size="rows",
    sizes=ROWS_TRIED,
    because=lambda sketch: (
        f"as its {sketch.shape[0]:,} waves need two counters each for an answer, whatever the number of columns"
    ),
    otherwise=CHANCE,
    holds=lambda sketch: f"{sketch.shape[0]:,} pairs of counters, one a random wave",
    warm=lambda: (
        Features(Domain.of(x=(0, 1), y=(0, 1)), Gaussian(1.0), rows=4, groups=2, seed=0, transform=transform)
        for transform in ("dense", "fast")
    ),
)
PROJECTED_CARD = MechanismSpec(
    "projected features",
    "Random features of projected points",
    "Backurs et al. 2024",
    "The same as random features after the records are projected on fewer random directions.",
    make=lambda facts: _made(on_fewer(facts)),
    rank=6,
    command=False,
    recommended=True,
    example={"vector": 1_000},
    called="random features of projected points",
    several=True,
    plainly="Random waves in fewer directions (projected random features)",
    size="rows",
    sizes=ROWS_TRIED,
    limit=only_many("Random features of projected points"),
    because=enough_dimensions,
    otherwise=CHANCE,
)
