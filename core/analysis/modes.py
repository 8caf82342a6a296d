"""Modes of a released density: where people gather, and which of these places are more than noise.

A search that looks for high places finds those that noise made high. So the release is split into independent groups,
groups of its rows or parts of its noise (`uncertainty`): some of them find hills and the passes between them, and the
others, which know nothing of the search, judge whether a hill really rises above its pass. Heights of hill and pass are
compared within each group, so that error common to both cancels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtr

from ..errors import RequestError
from ..releases.release import Release
from ..runtime.parameters import check_integer
from .answerable import Box, check_closeness, half_widths, noise_alone, reach_together, stands_out
from .climbing import (
    Height,
    affordable_starts,
    climb,
    close_to,
    first_steps,
    highest_saddles,
    starting_points,
    tabulated,
)
from .uncertainty import Splitting

MOST_STARTS = 4096
MOST_MODES = 1000
# Share of the groups of rows that search; the others judge. Of eight groups three search, and five judge.
SEARCHING_SHARE = 3.0 / 8.0
JUDGED_A_MODE = 2  # Hills that are judged, for each mode that is asked for.


@dataclass(frozen=True)
class Mode:
    """A place with no denser place beside it: none a step away in a number, none in another category."""

    position: dict[str, object]  # A value by column, in natural units.
    # Kernel sum there and its interval, from all rows. As the place was chosen for being high, the estimate leans
    # upward, by less than its standard error where the mode is significant.
    estimate: float
    low: float
    high: float
    density: float
    # Height above the highest pass that leads to a higher mode, in kernel sum; for the highest mode, above zero. From
    # the rows that did not search, at the places that the search found.
    prominence: float
    prominence_error: float  # Standard error of the prominence.
    # Whether the prominence is above zero beyond noise, and the mode stands out from the noise of all places together,
    # as what a picture does not hatch. The chance that an answer calls any mode significant whose exact kernel sum is
    # no higher than that of its pass is at most 1 - level.
    significant: bool

    @property
    def prominence_ratio(self) -> float:
        """Prominence in standard errors."""
        return self.prominence / self.prominence_error


def find_modes(release: Release, count: int = 10, starts: int | None = None, level: float = 0.95) -> tuple[Mode, ...]:
    """Local maxima of the estimated density: the significant ones first, the densest of them first.

    Multi-start compass search. Hills within a half-width of the kernel of each other are one, and so are hills with no
    valley between them that is deeper than its standard error.

    Of a release with bands for a population (`for_population`) the interval of a mode is for it, and what is
    significant is for the records alone: those who search and those who judge share the luck of the draw, which makes
    hills too.

    `release`: Any release of closeness; of a grouped sketch, with at least two independent groups of rows. `count`:
    Most modes to return; the most prominent are kept. `starts`: Places to search from; as many as take a few seconds,
    at most 128, when None. `level`: One minus the chance that a bump of noise is called significant, all modes
    together.
    """
    check_integer(count, "The number of modes", 1, MOST_MODES)
    starts = affordable_starts(release) if starts is None else starts
    check_integer(starts, "The number of starting points", 1, MOST_STARTS)
    if not 0.0 < level < 1.0:
        raise RequestError("The level of a test must lie strictly between 0 and 1, such as 0.95.")
    check_closeness(release, "modes")
    box, widths, splitting = Box.of(release.sketch), half_widths(release.sketch), Splitting(release)
    groups = len(splitting.estimates(np.asfortranarray(box.bounds[0][None, :]))[1])
    if groups < 2:
        raise RequestError("Modes need a release with two independent groups of rows or more, to tell them from noise.")
    searching = np.arange(groups) < max(1, int(groups * SEARCHING_SHARE))
    hills, passes = _search(splitting, box, widths, searching, starts, JUDGED_A_MODE * count)
    judged = _judge(splitting, ~searching, hills, passes, 1.0 - level)
    everyone = _answer_of(release)
    tops, heights = climb(box, everyone, widths, judged.hills, np.full((len(judged.hills), len(widths)), 0.5))
    if len(tops):
        answers = release.answer_points(tops, level)
        sure = (answers.low > 0.0) & _stands_out(release, answers.estimate, answers.standard_error, level)
        judged = replace(judged, significant=judged.significant & sure)
    kept = _apart(box, widths, tops, np.arange(len(tops)) - len(tops) * judged.significant)[:count]
    kept = kept[np.lexsort((-heights[kept], ~judged.significant[kept]))]
    return _described(release, box, tops[kept], judged.only(kept), level)


@dataclass(frozen=True)
class _Judged:
    """Hills (n, dimensions) in the order they were tested, with prominence, its standard error and a verdict, (n,)."""

    hills: np.ndarray
    prominence: np.ndarray
    error: np.ndarray
    significant: np.ndarray

    def only(self, chosen: np.ndarray) -> _Judged:
        return _Judged(*(array[chosen] for array in vars(self).values()))


def _judge(
    splitting: Splitting, judging: np.ndarray, hills: np.ndarray, passes: np.ndarray, false_alarm: float
) -> _Judged:
    """Test the hills by groups that did not search; those that hardly rise above their pass are left out.

    Parts of noise that was split have nothing in common where it was Gaussian. Parts of Laplace's are uncorrelated and
    no more: one large draw lifts all of them, those that search and those that judge, and their spread does not show
    it. So there a hill has to stand out from the known noise of all places together besides.
    """
    prominence, error = _contrast(splitting, judging, hills, passes)
    significant = _significant(prominence, error, int(judging.sum()) - 1, false_alarm)
    if not splitting.grouped:
        noise = np.sqrt(splitting.noise_variance * _noise_kept(splitting.release, hills, passes))
        significant &= _stands_out(splitting.release, prominence, noise, 1.0 - false_alarm)
    return _Judged(hills, prominence, error, significant).only(significant | (prominence > error))


def _significant(prominence: np.ndarray, error: np.ndarray, degrees: int, false_alarm: float) -> np.ndarray:
    """Which hills rise above their pass, with at most the given chance that any of them does so by noise alone.

    The fallback procedure (Wiens 2003; Wiens, Dmitrienko 2005): each hill is tested at half the level left, and what a
    hill won is passed on to the next. The order must not depend on the numbers tested; it comes from the search, the
    most promising hill first.
    """
    significant = np.zeros(len(prominence), dtype=bool)
    if not degrees:
        return significant
    chances = stdtr(degrees, -prominence / np.maximum(error, 1e-300))
    passed_on = 0.0
    for place, chance in enumerate(chances):
        available = passed_on + false_alarm * 0.5 ** (place + 1)
        significant[place] = chance <= available
        passed_on = available if significant[place] else 0.0
    return significant


def _answer_of(release: Release) -> Height:

    def height(points: np.ndarray) -> np.ndarray:
        return release.estimates_at(points)

    return height


def _mean_of(splitting: Splitting, chosen: np.ndarray) -> Height:
    """The estimate that some of the groups give by themselves."""

    def height(points: np.ndarray) -> np.ndarray:
        return splitting.mean(points, chosen)

    return height


def _contrast(
    splitting: Splitting, chosen: np.ndarray, hills: np.ndarray, passes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far hills rise above passes by the chosen groups, and the standard error of that; a pass of NaN is zero.

    The spread of a few groups may come out small by chance, but never is the error smaller than what noise alone gives.
    """
    none = np.isnan(passes).any(axis=1)
    release = splitting.release
    estimates, weights = splitting.estimates(np.concatenate([hills, np.where(none[:, None], hills, passes)]))
    high, low = np.split(estimates[chosen], 2, axis=1)
    share = weights[chosen].sum()
    weights = weights[chosen] / share
    rise = high - np.where(none, 0.0, low)
    mean = weights @ rise
    noise = splitting.noise_variance / share
    floor = noise * np.where(none, 1.0, _noise_kept(release, hills, passes))
    degrees = len(weights) - 1
    spread = weights @ (rise - mean) ** 2 / degrees if degrees else np.inf
    return mean, np.sqrt(np.maximum(spread, floor))


def _noise_kept(release: Release, hills: np.ndarray, passes: np.ndarray) -> np.ndarray:
    """Variance of a difference of two estimates by noise alone, in variances of one estimate, (n,); 1 to a pass of NaN.

    Two places share a share k of their counters, k the kernel between them, and the noise of those cancels: 2 (1 - k).
    """
    kernel = getattr(release.sketch, "point_kernel", None)
    pairs = zip(hills, passes, strict=True)
    close = [0.0 if kernel is None else kernel.evaluate(a[None, :], b[None, :])[0, 0] for a, b in pairs]
    return np.where(np.isnan(passes).any(axis=1), 1.0, 2.0 * (1.0 - np.array(close)))


def _stands_out(release: Release, height: np.ndarray, error: np.ndarray, level: float) -> np.ndarray:
    """Which heights stand out from the noise of all places together, bool (n,)."""
    together = reach_together(release.sketch, release.privacy.noise, level)
    return stands_out(height, error, together, noise_alone(release))


def _search(
    splitting: Splitting, box: Box, widths: np.ndarray, searching: np.ndarray, starts: int, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """The most prominent hills by the searching groups, and the places of their passes; both (k, dimensions)."""
    height = _mean_of(splitting, searching)
    if splitting.release.sketch.by_axis:
        height = tabulated(box, height, widths)
    points = starting_points(box, height, widths, starts)
    points, heights = climb(box, height, widths, points, first_steps(box, widths, len(points)))
    apart = _apart(box, widths, points, -heights)
    points, heights = points[apart], heights[apart]
    noise = _contrast(splitting, searching, points, np.full(points.shape, np.nan))[1]
    noise = np.where(np.isfinite(noise), noise, 0.0)
    passes = highest_saddles(box, height, widths, points, heights, worth_bending=float(np.median(noise)))
    prominence, error = _contrast(splitting, searching, points, passes.place)
    error = np.where(np.isfinite(error), error, 0.0)
    real = np.flatnonzero((prominence > error) | np.isinf(passes.height))
    # A standard error from so few groups is unsteady by itself: half of it is taken from the typical one.
    steady = np.sqrt(error**2 + np.median(error[real]) ** 2)
    real = real[np.argsort(-(prominence / np.maximum(steady, 1e-300))[real], kind="stable")][:most]
    return points[real], passes.place[real]


def _apart(box: Box, widths: np.ndarray, points: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Indices of points, the lowest rank first, without those close to an earlier one."""
    remaining = np.argsort(rank, kind="stable")
    kept = []
    while len(remaining):
        kept.append(remaining[0])
        remaining = remaining[~close_to(box, points[remaining], points[remaining[0]], widths)]
    return np.array(kept, dtype=np.int64)


def _described(release: Release, box: Box, tops: np.ndarray, judged: _Judged, level: float) -> tuple[Mode, ...]:
    """Modes at the highest places near the judged hills, with the answers of all rows there."""
    if not len(tops):
        return ()
    answers = release.answer_points(tops, level)
    return tuple(
        Mode(
            position=position,
            estimate=float(answers.estimate[i]),
            low=float(answers.low[i]),
            high=float(answers.high[i]),
            density=float(answers.density[i]),
            prominence=float(judged.prominence[i]),
            prominence_error=float(judged.error[i]),
            significant=bool(judged.significant[i]),
        )
        for i, position in enumerate(box.decode(tops).to_dict("records"))
    )
