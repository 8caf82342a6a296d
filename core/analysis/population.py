"""A population whose kernel sums are those of a release: the kernel undone, as far as noise allows.

A released density is the population smoothed by the kernel, and kernels with long tails smooth it beyond recognition:
most of a density that falls like 1/c lies far from every record. A population p with weights w on many places z instead
explains the release when  sum_j w_j k(z_i, z_j) = density(z_i)  everywhere, which is the weighted set of places
closest to the released kernel mean in the kernel's own distance (Balog, Tolstikhin, Schölkopf 2018).

Weights are found by multiplicative steps, which keep them positive (Lee, Seung 2001), and which stop as soon as the
sums agree with the release within its own error (Morozov's principle): what is finer than that is noise. Places are
those of a lattice where one can cover the bounds, and otherwise drawn anew around the
heavy ones, closer and closer.

In few columns of numbers a lattice as fine as the kernel covers the whole box. Sums of a stationary kernel over it are
convolutions, which Fourier transforms work out for all its places at once (Silverman 1982, algorithm AS 176), so that
it may have many more places than a matrix of closeness between them. Nothing between its places is left unexplained,
as it is where some thousand places are spread over a map whose kernel is narrow.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfftn, rfftn

from ..errors import RequestError
from ..geometry.kernels import Kernel, Stationary
from ..geometry.uniforms import PublicRandom, scrambled_sobol
from ..releases.release import Release
from ..sketches.answers import Answers
from .answerable import Box, half_widths
from .climbing import SEARCH_SEED, affordable_starts, climb, first_steps, starting_points

MOST_CELLS = 1 << 16
LEAST_WEIGHT = 1e-3  # Share of the highest density that every place begins with, as a weight of zero would stay so.
# In three dimensions or more, a lattice that can be afforded is coarser than what drawn places close in on.
MOST_DIMENSIONS = 2


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
    `core.analysis.population`.

    `widths`: Half widths of the kernel, float64 (coordinates of numbers,); places are at most so far apart.

    Returns places (m, d), weights (m,) that add up to 1, pitch (d,), and the misfit in standard errors. None where
    there is no such lattice: with categories, in more than two dimensions, a kernel of more than differences, too many
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

    `pitch`: How far apart they are, float64 (d,).
    """

    def __init__(self, kernel: Kernel, shape: tuple[int, ...], pitch: np.ndarray) -> None:
        # Twice as long on every axis, so that what leaves on one side does not come back on the other.
        self.shape, self.padded = shape, [2 * count for count in shape]
        steps = [np.concatenate([np.arange(count), np.arange(-count, 0)]) for count in shape]
        offsets = _mesh([along * step for along, step in zip(steps, pitch, strict=True)])
        closeness = kernel.evaluate(np.zeros((1, len(shape))), offsets)
        self.transform = rfftn(closeness.reshape(self.padded))

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Kernel sums of the weights, float64 of the lattice's shape."""
        sums = irfftn(rfftn(weights, self.padded) * self.transform, self.padded)
        return sums[tuple(slice(count) for count in self.shape)]


def _mesh(axes: list[np.ndarray]) -> np.ndarray:
    """All places of a lattice in the order of an array of its shape, float64 (m, d)."""
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)


PLACES = 2048  # Places that carry weight at a time: their kernel matrix is 16 MiB.
KEPT = PLACES // 4  # Heaviest places that stay from round to round.
ROUNDS = 6
STEPS = 100
ASKED_FOR_ERROR = 8  # One place in so many is asked for its error, of which only the mean is used.
CHECK_EVERY = 10
SPREAD = 4.0  # New places lie up to this factor nearer or farther than the round's own scale.
LEAST_SHIFT = 0.02
CATEGORY_CHANGES = 0.2  # Share of new places that move to another category, in each column.


@dataclass(frozen=True)
class Population:
    """Weighted places that explain a release."""

    places: np.ndarray  # float64 (m, dimensions), encoded.
    weights: np.ndarray  # float64 (m,), they add up to 1.
    scale: np.ndarray  # float64 (coordinates of numbers,), how far apart neighbouring places are.
    # Root mean square difference between the population's kernel sums and the released ones at the places, in root mean
    # square standard errors of the latter: 1 or less when they agree.
    misfit: float

    def draw(self, box: Box, n: int, random: np.random.Generator) -> np.ndarray:
        """n encoded points: a place by its weight, moved a little so that no two points are the same."""
        chosen = random.choice(len(self.places), n, p=self.weights)
        return _scattered(box, self.places[chosen], self.scale, random)


def explaining_population(release: Release, random: np.random.Generator, lattice: bool = True) -> Population:
    """Find a population whose kernel sums are those of the release.

    `lattice`: Whether they may be those of a lattice, where one can cover the bounds.
    """
    kernel = getattr(release.sketch, "point_kernel", None)
    if kernel is None:
        raise RequestError("Only a release with a kernel can be sharpened; draw from its density as it is instead.")
    box, widths = Box.of(release.sketch), half_widths(release.sketch)
    covered = lattice_population(release, kernel, box, widths) if lattice else None
    if covered is not None:
        places, weights, pitch, misfit = covered
        return Population(places, weights, pitch / 2.0, misfit)  # half a pitch blurs the lattice and little else
    places = _first_places(release, box, widths, random)
    for level in range(ROUNDS):
        scale = widths * 2.0 ** (1 - level)
        weights, misfit = _weights(release, kernel, places)
        if level == ROUNDS - 1:
            break
        heavy = np.argsort(-weights, kind="stable")[:KEPT]
        around = places[random.choice(len(places), PLACES - KEPT, p=weights)]
        spread = SPREAD ** random.uniform(-1.0, 1.0, (len(around), 1))
        fresh = _recategorised(box, _scattered(box, around, spread * scale, random), random)
        places = np.concatenate([places[heavy], fresh])
    return Population(places, weights, scale, misfit)


def _first_places(release: Release, box: Box, widths: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Places to begin with: half spread evenly over the bounds, half around hilltops at all distances."""

    def height(points: np.ndarray) -> np.ndarray:
        return release.estimates_at(points)

    even = box.uniform(scrambled_sobol(PLACES // 2, box.uniforms_needed(), PublicRandom(SEARCH_SEED)))
    starts = starting_points(box, height, widths, affordable_starts(release))
    tops, _ = climb(box, height, widths, starts, first_steps(box, widths, len(starts)))
    around = tops[random.integers(len(tops), size=PLACES // 2)]
    low, high = box.bounds
    farthest = np.maximum(1.0, (high - low)[box.numeric] / 4.0 / widths)
    scale = widths * farthest ** random.random((len(around), 1))
    return np.concatenate([even, _recategorised(box, _scattered(box, around, scale, random), random)])


def _weights(release: Release, kernel: Kernel, places: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the places that agree with the release, (m,), and the misfit left.

    The density may be estimated below zero, where multiplicative steps do not work. Adding a constant to kernel and
    density alike makes both positive and asks for weights that add up to 1 besides.
    """
    density = (release.estimates_at(places) / max(release.records, 1.0)).astype(np.float32)
    error = root_error(release, release.answer_points(places[::ASKED_FOR_ERROR]))
    shift = np.float32(max(LEAST_SHIFT, -2.0 * density.min()))
    # Single precision: the release knows no more than that, and the matrix is read a hundred times.
    closeness = kernel.evaluate(places, places).astype(np.float32)
    weights = np.full(len(places), 1.0 / len(places), dtype=np.float32)
    for step in range(STEPS + 1):
        explained = closeness @ weights
        if step % CHECK_EVERY == 0 and (step == STEPS or np.sqrt(np.mean((explained - density) ** 2)) <= error):
            break
        weights *= (density + shift) / (explained + shift * weights.sum())
    misfit = float(np.sqrt(np.mean((explained - density) ** 2))) / error
    exact = weights.astype(np.float64)
    return exact / exact.sum(), misfit


def _scattered(box: Box, places: np.ndarray, scale: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The places moved by normal numbers of the given scale, folded back at the bounds; categories stay."""
    points = places.copy()
    moved = points[:, box.numeric] + scale * random.standard_normal((len(places), len(box.numeric)))
    points[:, box.numeric] = box.folded(moved)
    return points


def _recategorised(box: Box, points: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The points, some of them moved to a random category, in place."""
    for block in box.blocks:
        box.raise_some(points, block, random.random(len(points)) < CATEGORY_CHANGES, random)
    return points
