"""A population on a lattice whose kernel sums are those of a release: everywhere, and not where places were tried.

In few columns of numbers a lattice as fine as the kernel covers the whole box. Sums of a stationary kernel over it are
convolutions, which Fourier transforms work out for all its places at once (Silverman 1982, algorithm AS 176), so that
it may have many more places than a matrix of closeness between them. Nothing between its places is left unexplained,
as it is where some thousand places are spread over a map whose kernel is narrow.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.fft import irfftn, rfftn

from ..geometry.kernels import Kernel, Stationary
from ..releases.release import Release
from ..sketches.answers import Answers
from .box import Box

MOST_CELLS = 1 << 16
STEPS = 100
LEAST_WEIGHT = 1e-3
"""Share of the highest density that every place begins with, as a weight of zero would stay so."""
MOST_DIMENSIONS = 2
"""In three and more a lattice that can be afforded is coarser than what places close in on."""
LEAST_SHIFT = 0.02
"""Share of the highest density that is added to both sides, at least; the less, the faster the steps."""


def root_error(release: Release, answers: Answers) -> float:
    """Root mean square standard error of densities that a release gave."""
    if answers.degrees:
        return float(np.sqrt(np.mean(answers.standard_error**2))) / release.records
    return float(release.sketch.noise_variance(release.privacy.counter_variance)) ** 0.5 / release.records


def lattice_population(
    release: Release, kernel: Kernel, box: Box, widths: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
    """Places of a lattice, their weights, how far apart they are and the misfit left.

    Weights move by multiplicative steps until the sums agree with the release within its error, as in
    `core.tasks.population`.

    Parameters
    ----------
    release : Release
        Of a sketch with a kernel.
    kernel : Kernel
        Of encoded points.
    box : Box
        What the records lie in.
    widths : np.ndarray
        Half widths of the kernel, float64 (coordinates of numbers,); places are at most so far apart.

    Returns
    -------
    tuple[np.ndarray, np.ndarray, np.ndarray, float] | None
        Places (m, d), weights (m,) that add up to 1, pitch (d,), and the misfit in standard errors. None where there is
        no such lattice: with categories, in more than two dimensions, a kernel of more than differences, too many
        cells, or nothing but noise.
    """
    low, high = box.bounds
    if box.blocks or len(low) > MOST_DIMENSIONS or not isinstance(kernel, Stationary):
        return None
    cells = np.ceil((high - low) / widths)
    if math.prod(cells.tolist()) > MOST_CELLS:
        return None
    shape = tuple(int(count) for count in cells)
    pitch = (high - low) / cells
    along = [(np.arange(count) + 0.5) * step for count, step in zip(shape, pitch, strict=True)]
    places = low + _mesh(along)
    answers = release.answer_points(places)
    density = answers.density.reshape(shape)
    if density.max() <= 0:
        return None
    error = root_error(release, answers)
    smoothed = Smoothing(kernel, shape, pitch)
    shift = max(LEAST_SHIFT * density.max(), -2.0 * density.min())
    # Begun at the density itself, few steps are left to go, and none to take people away from where nobody is.
    weights = np.maximum(density, 0.0) + LEAST_WEIGHT * density.max()
    weights /= weights.sum()
    for step in range(STEPS + 1):
        explained = smoothed(weights)
        misfit = float(np.sqrt(np.mean((explained - density) ** 2))) / error
        if misfit <= 1.0 or step == STEPS:
            break
        # A transform rounds to a little below zero where nobody is; the sums themselves are never negative.
        weights *= (density + shift) / (np.maximum(explained, 0.0) + shift * weights.sum())
    return places, weights.ravel() / weights.sum(), pitch, misfit


class Smoothing:
    """Kernel sums of weights on a lattice, at all its places.

    Parameters
    ----------
    kernel : Kernel
        A stationary one.
    shape : tuple[int, ...]
        Places along each axis.
    pitch : np.ndarray
        How far apart they are, float64 (d,).
    """

    def __init__(self, kernel: Kernel, shape: tuple[int, ...], pitch: np.ndarray) -> None:
        # Twice as long on every axis, so that what leaves on one side does not come back on the other.
        self.shape, self.padded = shape, [2 * count for count in shape]
        steps = [np.concatenate([np.arange(count), np.arange(-count, 0)]) for count in shape]
        offsets = _mesh([along * step for along, step in zip(steps, pitch, strict=True)])
        closeness = kernel.evaluate(np.zeros((1, len(shape))), offsets)
        self.transform = rfftn(closeness.reshape(self.padded))

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """The sums, float64 of the lattice's shape."""
        sums = irfftn(rfftn(weights, self.padded) * self.transform, self.padded)
        return sums[tuple(slice(count) for count in self.shape)]


def _mesh(axes: list[np.ndarray]) -> np.ndarray:
    """All places of a lattice in the order of an array of its shape, float64 (m, d)."""
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
