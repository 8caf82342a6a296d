"""What trust is worth: the same question at the same ε with an owner who adds noise once, and with nobody to trust.

An owner's noise is as large for a million people as for ten, so the error of a share falls as 1/n; that of local
reports comes from everyone's coins and falls as 1/√n. So for the same error local reports need about as many people as
the square of what an owner needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from ..privacy.budget import Budget
from ..privacy.calibration import NoiseScale, calibrate
from ..privacy.neighbours import Sensitivity
from ..releases.forecast.forecast import forecast
from ..sketches.hashed.race import Race
from .choosing import Outlook
from .race import CellReports
from .race_forecast import forecast_reports, sized


@dataclass(frozen=True)
class Trust:
    """Errors of a share, as standard deviations, and who needs how many people.

    Attributes
    ----------
    epsilon : float
        The promise of both.
    people : int
        How many take part.
    owner, local : float
        Error with an owner, and with local reports.
    needed : float
        How many people local reports need for the owner's error.
    """

    epsilon: float
    people: int
    owner: float
    local: float
    needed: float


def of_counts(local: Outlook) -> Trust:
    """For a question with a list of answers: counts with discrete Laplace noise, against an oracle's estimates.

    One person moves one of the owner's counts by one (add or remove), so each has noise of scale 1/ε.
    """
    one = local.oracle
    quiet = math.sqrt(owner_noise(one.epsilon).variance)
    each = local.error / math.sqrt(local.people)  # of √n people
    return Trust(
        float(one.epsilon),
        local.people,
        quiet / local.people,
        local.error / local.people,
        (each * local.people / quiet) ** 2,
    )


def owner_noise(epsilon: Decimal) -> NoiseScale:
    """The noise of an owner's counts."""
    return calibrate(Sensitivity(1, 1, unit_shifts=True), Fraction(epsilon))


def of_density(
    sketch: Race, epsilon: Decimal, people: int, density: float | None = None, sample: object = None
) -> Trust:
    """For the closeness of records: a RACE release of an owner, against one of local reports, each of its best size.

    For the people that are needed, the noise of local reports alone counts: further rows cost them none, and take the
    chance in rows away.
    """
    open_size = replace(sketch, rows=None, groups=None)
    owner = forecast(open_size, Budget(epsilon), people, density, sample)
    reports = CellReports.of(sized(open_size, epsilon, people, "auto", density, sample), epsilon)
    local = forecast_reports(reports, people, density, sample)
    return Trust(
        float(reports.epsilon),
        people,
        owner.promised_error,
        local.promised_error,
        people * (local.promised_noise / owner.promised_error) ** 2,
    )
