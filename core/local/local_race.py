"""RACE without anyone to trust (Coleman, Shrivastava 2021, section 7.3): every person reports one noisy cell.

The paper lets each device add noise to all of its counters. Here a device picks one of the R rows, whatever its record
is, and reports its cell there, one of W, by a frequency oracle with all of ε. Row and hash functions are public, so the
report keeps what the oracle keeps: no report is more than A/B <= e^ε times likelier for one record than for another.

*Why one row.* Let v(ε) be the variance that one person adds to an oracle's estimate of a cell they are not in, and w
what it is more of a cell they are in. Say that everyone reports in t rows of their own choice, with ε/t in each. Of
each row the oracle estimates how many of its people are in the query's cell; R/t times that is a counter, and the
answer is the mean of R of them. So its variance is, with m(x) the share of rows in which x and the query meet,

    Σ_x [v(ε/t) + m(x) w(ε/t) + m(x)(1 - m(x))(R - t)/(R - 1)] / t

where the last part is that x picked these rows and not others. As v(ε) ~ 4/ε², the noise is about 4tn/ε²: least for
t = 1, and then **free of R**, as each person's ε is spent in one row however many there are. (All rows at once would be
t = R, and R times the variance.) Up to ε = 2 no t >= 2 is better for any m, which a test goes through; above, more rows
can pay only at queries that most or many of the people meet. So rows are limited by their cost alone, as under (ε, δ)
with a trusted owner, and the chance in them can be made small beside the noise.

*Which oracle.* Of those whose variance is n v + f w exactly, that of the least v for W cells, and of those as good the
one with the shortest reports (`core.local.oracle_choice`): subset selection or direct encoding for few cells,
projective geometry for many.

*The release.* R times the estimates, rounded to whole numbers, are the counters of a RACE release. A counter's standard
deviation is √(nRv) and more, so rounding is nothing beside it. Its intervals come from how far independent groups of
rows lie apart, and so hold whatever the noise is: coins, picked rows and chance in hashes together.

How good a RACE release of local reports will be, and how many rows it should have, from public facts alone.

Noise is exact: `CellReports.variance`, where the share of people that a typical query meets in a row is its average
closeness, which reference populations or a public sample tell as they do for a trusted owner
(`core.releases.forecast`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from ..domain import Domain
from ..errors import RequestError
from ..geometry.hash_cells import Columns
from ..privacy.accounting import Cost
from ..privacy.budget import Neighbours
from ..privacy.calibration import NoiseScale, round_up
from ..privacy.composition import PureParts
from ..privacy.noise.randomness import Source, SystemSource
from ..privacy.noise.responses import told
from ..privacy.record import PrivacyRecord
from ..releases.forecast.forecast import Forecast, forecast_planned
from ..releases.forecast.one_trial import checked_records
from ..releases.forecast.sketch_sizes import rows_under
from ..releases.release import Release
from ..runtime.counter_tables import Array, Integers
from ..runtime.environment import SOFTWARE, now
from ..runtime.parameters import described, exact_fields
from ..sketches.plan import Plan
from ..sketches.race import Race
from ..sketches.race_counting import read
from ..sketches.registry import sketch_from_parameters
from .oracle_choice import outlooks, recommended
from .oracles.counting import Tally
from .oracles.oracle import ORACLES, Matrix, Oracle, RowReports, by_row, oracle

# Oracles whose variance is a line in the count of a cell, whatever the counts of the others.
EXACT = ("de", "sue", "oue", "blh", "olh", "hm", "ss", "pgr")
FIELDS = ("mechanism", "parameters", "domain", "oracle")


@dataclass(frozen=True)
class CellReports(RowReports):
    """How a record is reported: one row of a sketch, and the record's cell there by an oracle."""

    sketch: Race  # Public hash functions over public bounds, of a settled number of rows.
    cells: Oracle  # What reports a cell; its values are the columns of the sketch.

    def __post_init__(self) -> None:
        if not self.sketch.has_cells:
            raise RequestError("Cells are reported of the mechanism 'race' alone, whose rows count each record once.")
        if not self.sketch.sized:
            raise RequestError("The sketch has no number of rows yet; give one, or say how many people will report.")
        if not self.sketch.count_is_public(Neighbours.REPLACE_ONE):
            raise RequestError(
                "Every person reports once, so no record may be left out: values outside the bounds are moved to them, "
                "missing ones refused, and each person has one record."
            )
        if self.cells.name not in EXACT:
            raise RequestError(f"Cells are reported by {', '.join(EXACT[:-1])} or {EXACT[-1]}, whose error is exact.")
        if self.cells.domain != cells_of(self.sketch):
            raise RequestError(
                f"The sketch has {cells_of(self.sketch):,} cells in a row, and the oracle reports "
                f"{self.cells.domain:,}."
            )
        self.check_room()

    @classmethod
    def of(cls, sketch: Race, epsilon: object, name: str = "auto", bits: int | None = None) -> CellReports:
        """Reports of a sketch, by the oracle of the least variance unless one is named.

        A device leaves nothing out: values outside the bounds are moved to them, and missing ones are refused.
        """
        sketch = replace(sketch, domain=replace(sketch.domain, outside="clamp", missing="refuse"))
        width = cells_of(sketch)
        if name != "auto":
            return cls(sketch, oracle(name, width, epsilon))
        # How many people there are changes no order of variances.
        choices = [one for one in outlooks(width, 10_000, epsilon, bits) if one.oracle.name in EXACT]
        return cls(sketch, recommended(choices).oracle)

    @property
    def epsilon(self) -> Decimal:
        """The promise to whoever reports once."""
        return self.cells.epsilon

    @property
    def rows(self) -> int:
        """R."""
        return self.sketch.shape[0]

    @property
    def inner(self) -> Oracle:
        return self.cells

    def privatise(self, points: Array, source: Source | None = None) -> Array:
        """The reports of people with these records: what their devices send.

        `points`: Records as the sketch's `encode` gives them, float64 (n, dimensions). `source`: None in any real
        report: coins are then keyed by the operating system.
        """
        drawn = SystemSource() if source is None else source
        rows = told(self.rows, len(points), drawn).astype(np.int64)
        return self.joined(rows, self.cells.privatise(self.found(points, rows), drawn))

    def found(self, points: Array, rows: Integers) -> Integers:
        """The cell of each record in the row beside it, int64 (n,)."""
        cells = np.empty(len(points), np.int64)
        order, ends = by_row(rows, self.rows)
        for row in range(self.rows):
            mine = order[ends[row] : ends[row + 1]]
            if len(mine):
                cells[mine] = _cells_in(self.sketch.columns, row, points[mine])
        return cells

    def variance(self, people: float, share: float) -> float:
        """Variance of an answer by reports alone, where this share of people's records meets the query in a row.

        As the module has it for t = 1, at its largest: when every record meets the query in the same share of rows.
        """
        other, more = self.line
        return people * (other + share * more + share * (1 - share))

    @cached_property
    def line(self) -> tuple[float, float]:
        """v and w: what one person adds to the variance of a cell they are not in, and how much more to their own."""
        at = np.zeros(self.cells.domain)
        at[0] = 1.0
        own, other = self.cells.variance(at)[:2]
        return float(other), float(own - other)

    def noise(self, people: int, share: float | None = None) -> NoiseScale:
        """What the coins of so many people leave in a counter.

        `share`: The share of all people that is in the counter's cell; the average over the cells of a row when None.
        """
        held = 1.0 / self.sketch.shape[1] if share is None else share
        variance = Fraction(self.rows * self.variance(people, held))
        return NoiseScale("local_reports", round_up(variance), epsilon=Fraction(self.epsilon))

    def plan(self, people: int, share: float | None = None) -> Plan:
        """How the promise becomes noise, for forecasts: nobody pays for it in a ledger."""
        cost = Cost((PureParts(Fraction(self.epsilon)),), self.epsilon)
        return Plan(self.noise(people, share), None, True, cost)

    def release(self, tally: Tally) -> Release:
        """What the collector hands out: a RACE release, which every task works on.

        RequestError when nobody reported.
        """
        if not tally.people:
            raise RequestError("No report fits the survey, so there is nothing to release.")
        counters = np.empty(self.sketch.shape, np.int64)
        for row in range(self.rows):
            estimated = self.cells.estimate(self.of_row(tally, row))
            counters[row] = np.rint(self.rows * estimated[: self.sketch.shape[1]])
        cost = self.plan(tally.people).cost
        privacy = PrivacyRecord(
            self.epsilon,
            Decimal(0),
            Neighbours.REPLACE_ONE,
            self.sketch.domain.unit,
            (self.noise(tally.people),),
            (),
            cost.rho,
            self.epsilon,
            Decimal(0),
        )
        return Release(self.sketch, counters, tally.people, privacy, True, now(), SOFTWARE)

    def poisoned(self, share: float, people: int) -> float:
        """How far a share of all reports could move any one answer, if those who sent them lie as one.

        A report counts in one row, whose counter moves the mean of R of them by the oracle's reach; that of a liar
        stands where an honest one would have counted between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise RequestError("A share of liars must lie between 0 and 1.")
        down, up = self.cells.reach
        return share * people * max(1.0 - down, up)

    def transition_matrix(self, points: Array) -> Matrix:
        """The probability of every report, a row a record and R times the oracle's reports, exactly."""
        cells = [self.found(points, np.full(len(points), row)) for row in range(self.rows)]
        chances = self.cells.transition_matrix()
        return [
            [chance / self.rows for row in range(self.rows) for chance in chances[cells[row][place]]]
            for place in range(len(points))
        ]

    def to_dict(self) -> dict[str, object]:
        """A value for JSON."""
        return {
            "mechanism": self.sketch.name,
            "parameters": self.sketch.parameters(),
            "domain": self.sketch.domain.to_dict(),
            "oracle": described(self.cells),
        }

    @classmethod
    def from_dict(cls, facts: object) -> CellReports:
        """What `to_dict` wrote; RequestError on anything else."""
        given = exact_fields(facts, "sketch of reports", FIELDS)
        domain = Domain.from_dict(given["domain"])
        sketch = sketch_from_parameters(given["mechanism"], domain, given["parameters"])
        if not sketch.has_cells:
            raise RequestError("Cells are reported of the mechanism 'race' alone, whose rows count each record once.")
        return cls(cast(Race, sketch), ORACLES.read(given["oracle"]))


def cells_of(sketch: Race) -> int:
    """How many values a cell has, as an oracle needs: the columns, and two where a single one holds everybody."""
    return max(sketch.shape[1], 2)


def _cells_in(columns: Columns, row: int, points: Array) -> Integers:
    """The cells of points in one row: what a query reads off a table in which every counter says where it is."""
    one = _only(columns, row)
    places = np.arange(columns.width, dtype=np.int64)[np.newaxis]
    told = read(points, one, places, np.zeros(1, np.int64), 0.0)[0]
    if one.rehashed[0]:  # such rows are read 1/(1 - 1/W) times as large
        told *= 1.0 - 1.0 / columns.width
    cells: Integers = np.rint(told).astype(np.int64)
    return cells


def _only(columns: Columns, row: int) -> Columns:
    """One row of a sketch's columns."""
    first, last = columns.first_hash[row], columns.first_hash[row + 1]
    mine = columns.hashes.select(np.arange(first, last))
    return Columns(
        replace(mine, rows=1, row=np.zeros(last - first, np.int64)),
        np.array([0, last - first]),
        columns.cells[first:last],
        columns.multiplier[first:last],
        columns.addend[row : row + 1],
        columns.reachable[row : row + 1],
        columns.rehashed[row : row + 1],
        columns.width,
    )


# Rows that reports are spread over unless more are asked for: beyond, chance in rows is small beside any noise.
MOST_ROWS = 10_000


def sized(
    sketch: Race,
    epsilon: object,
    people: float,
    name: str = "auto",
    density: float | None = None,
    sample: object = None,
) -> Race:
    """The sketch with its rows, or as many as are worth their cost: each has more noise, and all together the same.

    `sketch`: With or without a number of rows. `epsilon`, `name`: The local promise, and the oracle or "auto".
    `people`: How many will report.
    """
    if sketch.sized:
        return sketch
    tried = sketch.with_rows(128)
    one = CellReports.of(tried, epsilon, name)
    each = Fraction(one.variance(checked_records(people), 1.0 / cells_of(tried)))

    def noise(rows: int) -> NoiseScale:
        return NoiseScale("local_reports", round_up(rows * each), epsilon=Fraction(one.epsilon))

    return sketch.with_rows(min(rows_under(sketch, noise, people, density, sample).rows, MOST_ROWS))


def forecast_reports(one: CellReports, people: float, density: float | None = None, sample: object = None) -> Forecast:
    """What to expect of a release of so many reports.

    `one`: How records are reported.
    """
    number = int(checked_records(people))
    typical = forecast_planned(one.sketch, one.plan(number), number, density, sample).density
    return forecast_planned(one.sketch, one.plan(number, typical), number, density, sample)
