"""Where everyone is on average, or each class: the place with the least sum of squared distances, read off moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
import pandas as pd

from ..domain import Domain
from ..errors import RequestError
from ..releases.release import Release
from ..sketches.distances.moments import Moments


@dataclass(frozen=True)
class Means:
    """Released means.

    Attributes
    ----------
    classes : tuple[str, ...]
        The K classes, or none where the release has none and there is one mean.
    domain : Domain
        Of the means.
    points : np.ndarray
        float64 (K, d), encoded and inside the bounds.
    standard_error : np.ndarray
        float64 (K, d), of every coordinate, from the noise in the sum and in the number of records.
    """

    classes: tuple[str, ...]
    domain: Domain
    points: np.ndarray
    standard_error: np.ndarray

    @property
    def natural(self) -> pd.DataFrame:
        """The means in the columns' own units; a category is the likeliest one."""
        return self.domain.decode_points(self.points)


def means(release: Release) -> Means:
    """The mean of all records, or one a class.

    The error of a quotient S / n, to first order: (v + (S/n)^2 w) / n^2 with v and w the variances of sum and number.

    Parameters
    ----------
    release : Release
        Of moments, or of classes of moments.

    Raises
    ------
    RequestError
        When the release is of another mechanism.
    """
    classes = release.sketch.classes
    sketch = cast(Moments, release.sketch.one_answer[0])
    if not sketch.has_means:
        raise RequestError(f"A mean is read off moments, and this release is of the mechanism {sketch.name!r}.")
    tables = release.counters if classes else release.counters[None]
    numbers = np.atleast_1d(release.counts)
    variance = sketch.sum_variance(release.privacy.counter_variance)
    points = np.array([sketch.mean(table, number) for table, number in zip(tables, numbers, strict=True)])
    offsets = points - sketch.origin
    error = np.sqrt(variance + offsets**2 * release.count_error**2) / numbers[:, None]
    return Means(classes, sketch.domain, points, error)
