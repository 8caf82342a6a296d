"""How good a RACE release of local reports will be, and how many rows it should have, from public facts alone.

Noise is exact: `CellReports.variance`, where the share of people that a typical query meets in a row is its average
closeness, which reference populations or a public sample tell as they do for a trusted owner
(`core.releases.forecast`).
"""

from __future__ import annotations

from fractions import Fraction

from ..privacy.calibration import NoiseScale, round_up
from ..releases.forecast.forecast import Forecast, forecast_planned
from ..releases.forecast.guesses import checked_records
from ..releases.forecast.sketch_sizes import rows_under
from ..sketches.hashed.race import Race
from .race import CellReports, cells_of

MOST_ROWS = 10_000
"""Rows that reports are spread over unless more are asked for: beyond, chance in rows is small beside any noise."""


def sized(
    sketch: Race,
    epsilon: object,
    people: float,
    name: str = "auto",
    density: float | None = None,
    sample: object = None,
) -> Race:
    """The sketch with its rows, or as many as are worth their cost: each has more noise, and all together the same.

    Parameters
    ----------
    sketch : Race
        With or without a number of rows.
    epsilon, name : object, str
        The local promise, and the oracle or "auto".
    people : float
        How many will report.
    density, sample : float | None, object
        As for `core.releases.forecast.forecast.forecast`.
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

    Parameters
    ----------
    one : CellReports
        How records are reported.
    people : float
        How many report.
    density, sample : float | None, object
        As for `core.releases.forecast.forecast.forecast`.
    """
    number = int(checked_records(people))
    typical = forecast_planned(one.sketch, one.plan(number), number, density, sample).density
    return forecast_planned(one.sketch, one.plan(number, typical), number, density, sample)
