"""The drawings of the app, as SVG that takes its colours from the style sheet: the hero, and how it works.

The points are no data: they are a fixed low-discrepancy sequence bent into a few clouds.
"""

from __future__ import annotations

from statistics import NormalDist

PANE_X = 560
WIDTH, HEIGHT = 1120, 300
CLOUDS = (  # centre x, centre y, spread x, spread y, points
    (210, 170, 74, 50, 46),
    (455, 112, 92, 36, 74),
    (640, 176, 86, 42, 96),
    (890, 110, 74, 34, 84),
    (930, 214, 52, 22, 34),
)


def _halton(index: int, base: int) -> float:
    """The index-th number of van der Corput's sequence in (0, 1)."""
    value, share = 0.0, 1.0
    while index:
        index, digit = divmod(index, base)
        share /= base
        value += digit * share
    return value


def _cloud(x: float, y: float, spread_x: float, spread_y: float, points: int) -> list[tuple[float, float]]:
    """Points of a Gaussian cloud, evenly scattered."""
    bell = NormalDist()
    return [
        (x + spread_x * bell.inv_cdf(_halton(i, 2)), y + spread_y * bell.inv_cdf(_halton(i, 3)))
        for i in range(1, points + 1)
    ]


def _circles(points: list[tuple[float, float]], radius: float) -> str:
    return "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius:g}"/>' for x, y in points)


def hero() -> str:
    """People as amber points; behind the pane, the same people as a soft teal shape."""
    points = [point for cloud in CLOUDS for point in _cloud(*cloud)]
    seen = [(x, y) for x, y in points if x < PANE_X - 6]
    behind = [(x, y) for x, y in points if x > PANE_X - 60]
    return f"""
    <div class="fg-hero"><svg opacity="0" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"
      aria-label="Amber points, one a person. Behind a pane of frosted glass only their shape is left, in teal.">
    <defs><clipPath id="fg-glass"><rect x="{PANE_X}" y="8" width="{WIDTH - PANE_X - 8}" height="{HEIGHT - 16}" rx="10"/>
    </clipPath><filter id="fg-frost" x="-20%" y="-40%" width="140%" height="180%"><feGaussianBlur stdDeviation="15"/>
    </filter></defs>
    <g class="fg-dot">{_circles(seen, 3.6)}</g>
    <rect class="fg-pane" x="{PANE_X}" y="8" width="{WIDTH - PANE_X - 8}" height="{HEIGHT - 16}" rx="10"/>
    <g clip-path="url(#fg-glass)"><g class="fg-cloud" filter="url(#fg-frost)">{_circles(behind, 11)}</g></g>
    </svg></div>"""


_STEP_POINTS = _cloud(78, 92, 26, 22, 20) + _cloud(168, 52, 24, 16, 15)
_CUTS = ((-10, 40, 250, 78), (-10, 108, 250, 22), (56, -10, 88, 160), (124, -10, 118, 160), (176, -10, 206, 160))


def _cells_step() -> str:
    cuts = "".join(f'<line x1="{a}" y1="{b}" x2="{c}" y2="{d}"/>' for a, b, c, d in _CUTS)
    return f'<g class="fg-line">{cuts}</g><g class="fg-dot">{_circles(_STEP_POINTS, 3.4)}</g>'


_TABLE = ((2, 0, 3, 9, -1, 1), (0, 7, 4, 12, 5, 0), (3, 14, 11, 2, -2, 1), (-1, 6, 8, 0, 1, 2))


def _table_step() -> str:
    cells = []
    for row, counts in enumerate(_TABLE):
        for column, count in enumerate(counts):
            x, y = 4 + 39 * column, 3 + 36 * row
            cells.append(
                f'<rect class="fg-cell" x="{x}" y="{y}" width="36" height="33" rx="4" '
                f'opacity="{0.06 + 0.05 * max(count, 0):.2f}"/>'
                f'<text class="fg-digit" x="{x + 18}" y="{y + 20}">{str(count).replace("-", "−")}</text>'
            )
    return "".join(cells)


def _shape_step() -> str:
    return (
        '<defs><filter id="fg-soft" x="-30%" y="-30%" width="160%" height="160%"><feGaussianBlur stdDeviation="9"/>'
        f'</filter></defs><g class="fg-cloud" filter="url(#fg-soft)">{_circles(_STEP_POINTS, 9)}</g>'
    )


STEPS = (
    (
        _cells_step,
        "Points scattered over a plane that a few random lines cut into cells.",
        "Random lines cut the space into cells. Each person falls into one cell of every cut.",
    ),
    (
        _table_step,
        "A table of small whole numbers, darker where they are larger; a few are below zero.",
        "Only the number of people in each cell is kept, and random noise is added to every number.",
    ),
    (
        _shape_step,
        "A soft shape, dense where the points were dense.",
        "From the noisy numbers anyone can read, for ever, where people are many and where they are few.",
    ),
)


def step(index: int) -> str:
    """Picture and sentence number ``index`` (0, 1, 2) of how it works."""
    picture, words, sentence = STEPS[index]
    return f"""<div class="fg-step">
    <svg opacity="0" viewBox="0 0 240 148" role="img" aria-label="{words}">{picture()}</svg>
    <p>{sentence}</p></div>"""
