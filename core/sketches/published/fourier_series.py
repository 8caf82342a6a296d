"""The orthogonal series estimator: noisy Fourier coefficients of the data, times those of the kernel.

Hall, Rinaldo, Wasserman ("Differential privacy for functions and functional data", 2013) and Wasserman, Zhou ("A
statistical framework for differential privacy", 2010) release densities this way, and the RACE paper (Coleman,
Shrivastava, CCS 2021, section 5.1) compares with it as "spectral approximation": the sums of cos(m.x) and sin(m.x) for
all frequencies up to M, each with noise, and f(q) the sum of them times c_m, the kernel's own coefficients.

Here and there: the papers put the data on [0, 1] and let its two ends touch, so that the largest salary counts as close
to the least; here the period is longer than the bounds where that matters (`torus`). They add Laplace noise to every
coefficient; the same table keeps the same promise with one noise vector for all of it, whose standard deviation is 0.78
of that (`WaveSketch.record_sensitivity`). More frequencies take away bias, as what is beyond them is missed, and add
noise, as the budget is shared by more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ...domain import Domain
from ...formatting.phrases import count
from ...geometry.kernels import Gaussian
from ...privacy.budget import Budget
from ..mechanism_spec import MechanismSpec
from .wave_sketch import WaveSketch, orders

AMPLITUDE = 1 << 24
"""A cosine is cut to a multiple of 2^-24: far below what the noise of one record leaves of it."""


@dataclass(frozen=True)
class FourierSeries(WaveSketch):
    """Kernel sums from the noisy Fourier coefficients of the records; parameters as in `WaveSketch`."""

    name: ClassVar[str] = "fourier-series"
    described: ClassVar[str] = "Fourier series"
    mistaken: ClassVar[float] = 0.001

    @cached_property
    def amplitudes(self) -> np.ndarray:
        """All equal, as in the papers."""
        return np.full((self.order + 1,) * self.domain.dimensions, AMPLITUDE, dtype=np.int64)

    @cached_property
    def weights(self) -> np.ndarray:
        """The kernel's own coefficients."""
        return self.kernel_coefficients

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the highest frequency of the least expected error of a typical answer, from public facts alone."""
        if self.sized:
            return self
        best, least = self, math.inf
        for order in orders(self.domain.dimensions):
            sized = replace(self, highest=order)
            error = sized.expected_error(budget, records)
            if error < least:
                best, least = sized, error
            if error > 4.0 * least:
                break
        return best


CARD = MechanismSpec(
    "fourier-series",
    "Fourier series",
    "Hall et al. 2013",
    "The people are described by waves, slow ones to quick ones; each wave's strength gets noise, and the sum of them "
    "all draws the curve.",
    sketch=FourierSeries,
    make=lambda facts: FourierSeries(facts.domain, facts.closeness, facts.size),
    rank=23,
    size="highest frequency a coordinate",
    sizes=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
    most_dimensions=3,
    holds=lambda sketch: f"{count(sketch.shape[0], 'sum')} of waves",
    warm=lambda: (FourierSeries(Domain.of(x=(0, 1), y=(0, 1)), Gaussian(1.0), 2),),
)
