"""Pictures of a released density as SVG: nothing runs in them, nothing is fetched, and print stays crisp.

Shapes carry classes instead of colours, so that the page they stand in gives them those of its theme. What the noise
hides is hatched and never coloured, as in the app.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...analysis.density import Curve, Heatmap
from ...formatting.escapes import in_html
from ...formatting.numbers import THOUSANDS_FROM, significant
from ...formatting.phrases import shortened, shown
from ...releases.release import Release
from ..figure_axes import Axis, date_ticks
from ..hatching import HATCHED, hidden_by_noise
from ..palette import LIGHT_SHADES
from .release_pictures import axes_of, height, in_units, in_words

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 78, 690, 40, 376
SHADES = len(LIGHT_SHADES)
TICKS = 6
MOST_LABELS = 12  # Categories that are named along an axis; among more of them every second, third … one.
LONG_LABELS = 60  # Characters that labels across a picture may have together before they are slanted.


@dataclass(frozen=True)
class _Scale:
    """From values along an axis to places on the page, which may run either way."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


def picture_svg(release: Release, picture: Curve | Heatmap, identity: str) -> str:
    """A picture with axes, legend and text alternative.

    Parameters
    ----------
    picture : Curve | Heatmap
        A curve along a column of numbers or categories, or a map over two.
    identity : str
        A word of our own, different for each picture on a page.
    """
    title, axes, seen = height(release), axes_of(release, picture), in_units(release, picture)
    if isinstance(seen, Heatmap):
        least = 0.0 if release.sketch.answers == "closeness" else float(seen.estimate.min())
        drawn = _map(seen, axes, title, least, identity)
    else:
        drawn = _along(seen, axes[0], title, identity)
    return _framed(drawn, in_words(release, picture), identity)


def shares_svg(
    axis: Axis, ends: np.ndarray, share: np.ndarray, low: np.ndarray, high: np.ndarray, words: str, identity: str
) -> str:
    """Shares of the cells of a column as bars with their intervals; what cannot be told from none is hatched.

    Parameters
    ----------
    ends : np.ndarray
        Where each bar begins and ends along it, float64 (n, 2).
    share, low, high : np.ndarray
        Of each cell, float64 (n,).
    words, identity : str
        The text alternative, and a word of our own, different for each picture on a page.
    """
    return _framed(_share_bars(axis, ends, share, low, high, identity), words, identity)


def _share_bars(
    axis: Axis, ends: np.ndarray, share: np.ndarray, low: np.ndarray, high: np.ndarray, identity: str
) -> Iterator[str]:
    most = 100.0 * max(float(high.max()), 1e-6)
    heights = Axis("share in %", np.array([0.0, most]), 0.0, most)
    x, y = _Scale(axis.low, axis.high, LEFT, RIGHT), _Scale(0.0, most, BOTTOM, TOP)
    yield from _grid_lines(heights, y)
    hidden = low <= 0.0
    for place, (first, last) in enumerate(ends):
        top = y(100.0 * max(float(high[place] if hidden[place] else share[place]), 0.0))
        look = f'fill="url(#{identity}-hatch)"' if hidden[place] else 'class="bar-shape"'
        width = max(x(last) - x(first) - 0.6, 0.4)
        yield (
            f'<rect {look} x="{x(first):.1f}" y="{top:.1f}" width="{width:.1f}" height="{max(y(0.0) - top, 0):.1f}"/>'
        )
        if not hidden[place]:
            middle = x((first + last) / 2.0)
            reach = f"{y(100.0 * low[place]):.1f}V{y(min(100.0 * high[place], most)):.1f}"
            yield f'<path class="whisker" d="M{middle:.1f} {reach}"/>'
    yield f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>'
    yield from _bottom_axis(axis)
    yield from _left_axis(heights)
    yield from _hidden_legend(hidden, identity)


def _framed(drawn: Iterator[str], words: str, identity: str) -> str:
    """A picture with its text alternative and what hatches it."""
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{identity}-words">'
        f'<title id="{identity}-words">{in_html(words)}</title>'
        f'<defs><pattern id="{identity}-hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>'
        f"{''.join(drawn)}</svg>"
    )


def _map(heatmap: Heatmap, axes: tuple[Axis, ...], title: str, least: float, identity: str) -> Iterator[str]:
    across, up = axes
    hidden = hidden_by_noise(heatmap)
    most = float(heatmap.estimate.max())
    share = (heatmap.estimate - least) / (most - least) if most > least else np.zeros(hidden.shape)
    shade = np.clip((SHADES * share).astype(np.int64), 0, SHADES - 1)
    for index in range(SHADES):
        yield _cells(~hidden & (shade == index), f'class="shade-{index}"')
    yield _cells(hidden, f'fill="url(#{identity}-hatch)"')
    yield f'<rect class="box" x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{BOTTOM - TOP}"/>'
    yield from _bottom_axis(across)
    yield from _left_axis(up)
    yield from _shades_legend(least, most, title)
    yield from _hidden_legend(hidden, identity)


def _cells(mask: np.ndarray, look: str) -> str:
    """One path of all cells where the mask is true, a run of them in a row as one; the first row is lowest."""
    if not mask.any():
        return ""
    height, width = (BOTTOM - TOP) / mask.shape[0], (RIGHT - LEFT) / mask.shape[1]
    parts = [
        f"M{LEFT + first * width:.2f} {BOTTOM - row * height:.2f}H{LEFT + last * width:.2f}v{-height:.2f}"
        f"H{LEFT + first * width:.2f}z"
        for row in range(len(mask))
        for first, last in _runs(mask[row])
    ]
    return f'<path {look} d="{"".join(parts)}"/>'


def _along(curve: Curve, axis: Axis, title: str, identity: str) -> Iterator[str]:
    """A curve with its band, or bars with theirs."""
    lows, highs = (curve.low, curve.high) if curve.errors_known else (curve.estimate, curve.estimate)
    least, most = min(0.0, float(lows.min())), float(highs.max())
    y = _Scale(least, most if most > least else least + 1.0, BOTTOM, TOP)
    x = _Scale(axis.low, axis.high, LEFT, RIGHT)
    heights = Axis(title, np.array([least, y.high]), least, y.high)
    yield from _grid_lines(heights, y)
    hidden = hidden_by_noise(curve)
    if axis.categories:
        yield from _bars(curve, hidden, x, y, identity)
    else:
        yield from _line(curve, axis.values, hidden, x, y, identity)
    yield f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{y(0):.1f}" y2="{y(0):.1f}"/>'
    yield from _bottom_axis(axis)
    yield from _left_axis(heights)
    yield from _hidden_legend(hidden, identity)


def _line(curve: Curve, places: np.ndarray, hidden: np.ndarray, x: _Scale, y: _Scale, identity: str) -> Iterator[str]:
    xs = [x(value) for value in places]
    lows, highs, middles = ([y(value) for value in values] for values in (curve.low, curve.high, curve.estimate))
    around = ((~hidden, 'class="band"'), (hidden, f'fill="url(#{identity}-hatch)"'))
    for mask, look in around if curve.errors_known else ():
        for first, last in _runs(mask):
            # A run reaches to its neighbours, so that no gap is left between band and hatching.
            run = slice(max(first - 1, 0) if mask is hidden else first, last + 1 if mask is hidden else last)
            ring = [*zip(xs[run], highs[run], strict=True), *reversed([*zip(xs[run], lows[run], strict=True)])]
            yield f'<path {look} d="M{_points(ring)}z"/>'
    for first, last in _runs(~hidden):
        yield f'<path class="line" d="M{_points([*zip(xs[first:last], middles[first:last], strict=True)])}"/>'


def _bars(curve: Curve, hidden: np.ndarray, x: _Scale, y: _Scale, identity: str) -> Iterator[str]:
    width = 0.65 * (x(1.0) - x(0.0))
    for place, drowned in enumerate(hidden):
        low, high, middle = float(curve.low[place]), float(curve.high[place]), float(curve.estimate[place])
        top = max(high if drowned else middle, 0.0)
        look = f'fill="url(#{identity}-hatch)"' if drowned else 'class="bar-shape"'
        yield (
            f'<rect {look} x="{x(place) - width / 2:.1f}" y="{y(top):.1f}" width="{width:.1f}" '
            f'height="{max(y(0) - y(top), 0):.1f}"/>'
        )
        if not drowned and curve.errors_known:
            yield f'<path class="whisker" d="M{x(place):.1f} {y(low):.1f}V{y(high):.1f}"/>'


def _points(points: list[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    """Where runs of true values begin and where they have ended."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return [(int(first), int(last)) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _bottom_axis(axis: Axis) -> Iterator[str]:
    x = _Scale(axis.low, axis.high, LEFT, RIGHT)
    labels = _labels(axis)
    slanted = sum(len(label) for _, label in labels) > LONG_LABELS and bool(axis.categories)
    for place, label in labels:
        look = 'text-anchor="middle"'
        if slanted:
            look = f'text-anchor="end" transform="rotate(-28 {x(place):.1f} {BOTTOM + 14})"'
        yield f'<text class="tick" x="{x(place):.1f}" y="{BOTTOM + 18}" {look}>{label}</text>'
    yield (
        f'<text class="title" x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{in_html(shortened(shown(axis.title)))}</text>"
    )


def _left_axis(axis: Axis) -> Iterator[str]:
    y = _Scale(axis.low, axis.high, BOTTOM, TOP)
    for place, label in _labels(axis):
        label = shortened(label) if not axis.categories else label
        yield f'<text class="tick" x="{LEFT - 8}" y="{y(place) + 4:.1f}" text-anchor="end">{label}</text>'
    yield f'<text class="title" x="8" y="22">{in_html(shortened(shown(axis.title)))}</text>'


def _grid_lines(axis: Axis, y: _Scale) -> Iterator[str]:
    for place, _ in _labels(axis):
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y(place):.1f}" y2="{y(place):.1f}"/>'


def _labels(axis: Axis) -> list[tuple[float, str]]:
    """Places along an axis and what is written there, escaped."""
    if axis.categories:
        stride = -(-len(axis.categories) // MOST_LABELS)
        return [
            (float(place), in_html(_short(shown(category))))
            for place, category in enumerate(axis.categories)
            if place % stride == 0
        ]
    if axis.dates is not None:
        return [(place, in_html(text)) for place, text in date_ticks(axis.dates)]
    ticks = _ticks(axis.low, axis.high)
    return list(zip(ticks, _numbers(ticks), strict=True))


def _short(label: str) -> str:
    return label if len(label) <= 11 else label[:10].rstrip() + "…"


def _ticks(low: float, high: float) -> list[float]:
    """About six round numbers between two bounds: multiples of 1, 2 or 5 times a power of ten."""
    raw = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    steps = (power, 2 * power, 5 * power, 10 * power)
    chosen = next(place for place, step in enumerate(steps) if step >= raw * (1 - 1e-9))
    ticks = _multiples(steps[chosen], low, high)
    # From 2 to 5 is a long way: where only two multiples of 5 fit, at most seven of 2 do.
    return ticks if len(ticks) > 2 else _multiples(steps[chosen - 1], low, high)


def _multiples(step: float, low: float, high: float) -> list[float]:
    return [index * step for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _numbers(ticks: list[float]) -> list[str]:
    """Ticks in figures, all with the same number of places."""
    largest = max((abs(tick) for tick in ticks), default=0.0)
    step = ticks[1] - ticks[0] if len(ticks) > 1 else largest or 1.0
    if largest >= 1e7 or step < 1e-4:
        digits = max(4, math.ceil(math.log10(max(largest / step, 1.0))) + 1)
        return [f"{tick:.{digits}g}" for tick in ticks]
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    separator = "," if largest >= THOUSANDS_FROM else ""
    return [f"{tick + 0.0:{separator}.{places}f}".replace("-", "\N{MINUS SIGN}") for tick in ticks]


def _shades_legend(least: float, most: float, title: str) -> Iterator[str]:
    if most <= least:
        return
    start, width = RIGHT - 11 * SHADES - 60, 11
    yield f'<text class="tick" x="{start - 8}" y="22" text-anchor="end">{title}: {significant(least, 3)}</text>'
    for index in range(SHADES):
        yield f'<rect class="shade-{index}" x="{start + width * index}" y="11" width="{width}" height="13"/>'
    yield f'<text class="tick" x="{start + width * SHADES + 8}" y="22">{significant(most, 3)}</text>'


def _hidden_legend(hidden: np.ndarray, identity: str) -> Iterator[str]:
    if hidden.any():
        yield f'<rect fill="url(#{identity}-hatch)" x="{LEFT}" y="{HEIGHT - 19}" width="22" height="13"/>'
        yield f'<text class="tick" x="{LEFT + 28}" y="{HEIGHT - 8}">{HATCHED}</text>'
