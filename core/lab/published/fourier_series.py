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

A function plus a Gaussian process: functional Gaussian noise in a reproducing kernel Hilbert space (PFDA).

Mirshani, Reimherr, Slavkovic ("Formal privacy for functional data with Gaussian perturbations", ICML 2019), after Hall,
Rinaldo, Wasserman ("Differential privacy for functions and functional data", JMLR 2013). Let C be a covariance function
with eigenfunctions v_j and eigenvalues lambda_j, and H its Hilbert space, |f|_H^2 = sum of <f, v_j>^2 / lambda_j. A
function of the data that one person moves by at most D in H may be released with s D Z added to it, Z a Gaussian
process of covariance C, wherever s suffices for a number of sensitivity 1: any set of its values keeps the promise.

*As a linear sketch.* The numbers <f, v_j> / sqrt(lambda_j) say all of f, and of the process they make independent
standard normal numbers. So the mechanism is Gaussian noise of one scale on these numbers, whose L2 sensitivity is D; on
whole numbers it is discrete Gaussian noise, and the promise is exact. On a torus the eigenfunctions of every covariance
of the difference are waves (`torus`). Keeping the waves up to M alone is post-processing, so it costs no privacy (here
the noise is even calibrated to what is kept); it leaves out what f and the process have beyond them, which vanishes
with growing M as the sum of lambda_j is finite.

*Smoothing.* The paper's estimate minimises a squared error plus phi |f|_H^2: the coefficient of v_j is multiplied by
lambda_j / (lambda_j + phi). That takes away sensitivity and adds bias. Here f is the kernel sum, sum over records of
k(x, .), with the kernel's eigenvalues c_j, so one record has D^2 = sum of lambda_j c_j^2 / (lambda_j + phi)^2. (The
paper bounds lambda_j / (lambda_j + phi)^2 by 1 / (4 phi); the sum itself is never more, and is what the noise is for.)

With phi = 0, which is Hall, Rinaldo and Wasserman's mechanism, and noise of the kernel's own covariance, D = 1 and an
answer has the noise of one count, wherever it is asked. No other covariance does better: the noise's variance is
sum of c_j^2 / lambda_j times sum of lambda_j >= (sum of c_j)^2 (Cauchy, Schwarz).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from ...domain import Domain
from ...errors import RequestError
from ...formatting.numbers import count
from ...geometry.kernels import Gaussian, Kernel, KernelKind
from ...privacy.budget import Budget
from ...runtime.parameters import Number, Resolved, parameter
from ...sketches.linear import least_error
from ...sketches.mechanism_spec import MechanismSpec
from .torus import check_torus
from .wave_sketch import WaveSketch, orders

AMPLITUDE = 1 << 24  # A cosine is cut to a multiple of 2^-24: far below what the noise of one record leaves of it.


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
        return self.kernel_coefficients

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the highest frequency of the least expected error of a typical answer, from public facts alone."""
        if self.sized:
            return self
        sizes = (replace(self, highest=order) for order in orders(self.domain.dimensions))
        return least_error(sizes, lambda sized: sized.expected_error(budget, records), give_up=4.0)


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


# A record's L2 norm: cutting toward zero takes less than 1 from each of thousands of numbers.
FUNCTIONAL_NOISE_AMPLITUDE = 1 << 30
PENALTIES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)  # Tried where none is given; the paper's experiments have 0.01.
ENOUGH = 1.01  # Of sizes whose expected squared errors are that close to the least, the smallest table is chosen.


@dataclass(frozen=True)
class FunctionalNoise(WaveSketch):
    """Kernel sums plus a Gaussian process, as its coefficients in the covariance's eigenbasis.

    `domain`, `kernel`, `highest`: As in `WaveSketch`; more frequencies only take away bias. `period`: As in
    `WaveSketch`.
    """

    # Phi, for eigenvalues of functions on the box that is one unit long and wide, as in the paper; None leaves the
    # choice to `sized_for`, and 0 is no smoothing.
    penalty: Resolved[float] = parameter(
        Number("The penalty of functional noise", 0.0, 1e6, "and 0 is no smoothing"), None, settled="its penalty"
    )
    # Of the Gaussian process, a kernel of the difference; None is the kernel's own, which is best.
    covariance: Kernel | None = parameter(KernelKind("The covariance", Kernel), None)
    name: ClassVar[str] = "pfda"
    described: ClassVar[str] = "release with functional noise"
    gaussian_only: ClassVar[bool] = True
    mistaken: ClassVar[float] = 0.0001  # longer periods and more frequencies cost time here and no noise

    def _check(self) -> None:
        super()._check()
        if self.covariance is not None:
            check_torus(self.domain, self.covariance, self.described)
            if self.covariance.metric != self.metric:
                raise RequestError("Covariance and kernel must measure categories and distances in one metric.")

    def check_budget(self, budget: Budget) -> None:
        if budget.pure:
            raise RequestError(
                "Functional noise is Gaussian and keeps no promise with delta 0: give a delta, such as 1e-6."
            )

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """lambda_m of the covariance for m = 0 to M in each coordinate, float64 (M + 1,) * d, which add up to C(x, x).

        A covariance that is cut off at the torus's ends may have a few that are below zero by a hair: they are 0, and
        waves without noise are not released.
        """
        covariance = self.kernel if self.covariance is None else self.covariance
        spectrum = self.torus_of(covariance).spectrum
        return np.maximum(spectrum[(slice(self.order + 1),) * self.domain.dimensions], 0.0)

    @cached_property
    def weights(self) -> np.ndarray:
        if self.penalty is None:
            raise RequestError("There is no penalty yet; give one, or let `sized_for` choose it.")
        eigenvalues = self.eigenvalues
        beyond = eigenvalues + self.penalty
        return self.kernel_coefficients * np.divide(
            eigenvalues, beyond, out=np.zeros(beyond.shape), where=eigenvalues > 0
        )

    @cached_property
    def amplitudes(self) -> np.ndarray:
        """A record's coefficients over the roots of the eigenvalues, in units of its norm in H over 2^30.

        On a torus of size 1 the eigenfunctions are 1, sqrt(2) cos(m.x) and sqrt(2) sin(m.x). Waves of which a record
        has less than one such unit are not released, so that their noise is spared too.
        """
        roots = np.sqrt(self.eigenvalues)
        each = np.abs(np.divide(self.weights, roots, out=np.zeros(roots.shape), where=roots > 0))
        each *= math.sqrt(2.0)
        each.flat[0] /= math.sqrt(2.0)
        halves = self._by_wave(each)
        return (FUNCTIONAL_NOISE_AMPLITUDE * each / math.sqrt(float((halves**2).sum()))).astype(np.int64)

    def sized_for(self, budget: Budget, records: float) -> Self:
        """With the least expected error of a typical answer, and of frequencies no more than that takes."""
        if self.sized:
            return self
        self.check_budget(budget)
        tried = [
            replace(self, highest=highest, penalty=penalty)
            for highest in ([self.highest] if self.highest else orders(self.domain.dimensions))
            for penalty in (PENALTIES if self.penalty is None else [self.penalty])
        ]
        return least_error(tried, lambda sized: sized.expected_error(budget, records), enough=ENOUGH)

    def total_variance(self, counter_variance: float) -> float:
        return super().total_variance(counter_variance) if self.amplitudes.flat[0] else math.inf


FUNCTIONAL_NOISE_CARD = MechanismSpec(
    "pfda",
    "Functional noise",
    "Mirshani et al. 2019",
    "The exact curve gets one smooth random curve on top, whose waves are as strong as the curve's own can be.",
    sketch=FunctionalNoise,
    make=lambda facts: FunctionalNoise(facts.domain, facts.closeness, facts.size),
    rank=25,
    size="highest frequency a coordinate",
    sizes=(16, 64, 256, 1024, 4096),
    most_dimensions=3,
    needs_delta=True,
    holds=lambda sketch: f"{count(sketch.shape[0], 'sum')} of waves",
)
