"""The drawings of the app as SVG: the hero, how it works, and a small picture for every question.

The hero's points are no data: they are a fixed low-discrepancy sequence bent into a few clouds. It takes its colours
from the style sheet.

A question's picture stands in front of a card's words as generated content, which has a text alternative of its own; so
a card stays an ordinary radio button, for keyboards and screen readers alike. Such a picture cannot take its colours
from the page, so it uses the shades that stand out from both backgrounds.
"""

import math
from statistics import NormalDist
from urllib.parse import quote

from .palette import AMBER, FAINT, INK, TEAL

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


PICTURE_WIDTH, PICTURE_HEIGHT = 240, 84


def _dots(points: list[tuple[float, float]], radius: float, colour: str) -> str:
    circles = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"/>' for x, y in points)
    return f'<g fill="{colour}">{circles}</g>'


def table_picture() -> str:
    """Three small columns of bars, one bar of each in teal: what is pointed at in one is shown in the others."""
    bars = []
    for place, heights in enumerate(((26, 44, 58, 34, 20), (52, 38, 30, 18, 12), (16, 30, 46, 60, 40))):
        for i, height in enumerate(heights):
            colour = TEAL.shape if (place, i) in ((0, 2), (1, 0), (1, 1), (2, 3)) else FAINT.shape
            left, top = 8 + 78 * place + 13 * i, 74 - height
            bars.append(f'<rect x="{left}" y="{top}" width="10" height="{height}" fill="{colour}"/>')
    return "".join(bars) + f'<path stroke="{FAINT.shape}" stroke-width="1.4" d="M4 75.5H72M82 75.5H150M160 75.5H228"/>'


def density_picture() -> str:
    """A hilly outline; a dashed line asks how high it is at one place."""
    hills = "M0 74C40 74 46 22 78 22c30 0 32 38 58 38 22 0 26-18 44-18 26 0 30 32 60 32"
    return (
        f'<path fill="{TEAL.shape}" opacity=".22" d="{hills}v6H0z"/>'
        f'<path d="{hills}" fill="none" stroke="{TEAL.shape}" stroke-width="2.4"/>'
        f'<path stroke="{FAINT.shape}" stroke-width="1.6" stroke-dasharray="4 4" d="M104 80V40"/>'
        f'<circle cx="104" cy="40" r="5.5" fill="{TEAL.shape}"/>'
    )


_PEOPLE = [(22, 20), (52, 62), (74, 14), (98, 70), (152, 66), (170, 12), (196, 52), (226, 26)]
_HERE = (124, 40)


def distance_picture() -> str:
    """Lines from every point to one place among them."""
    lines = "".join(f'<path d="M{x} {y}L{_HERE[0]} {_HERE[1]}"/>' for x, y in _PEOPLE)
    return (
        f'<g stroke="{FAINT.shape}" stroke-width="1.3" opacity=".8">{lines}</g>'
        + _dots(_PEOPLE, 4, AMBER.shape)
        + _dots([_HERE], 6.5, TEAL.shape)
    )


def group_picture() -> str:
    """Two groups of points; one place between them, with an arrow to the nearer group."""
    left = [
        (52 + 30 * math.cos(2.4 * i) * math.sqrt(i / 9), 42 + 26 * math.sin(2.4 * i) * math.sqrt(i / 9))
        for i in range(1, 10)
    ]
    right = [
        (192 + 32 * math.cos(2.4 * i) * math.sqrt(i / 9), 42 + 28 * math.sin(2.4 * i) * math.sqrt(i / 9))
        for i in range(1, 10)
    ]
    squares = "".join(f'<rect x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2"/>' for x, y in right)
    return (
        f'<path stroke="{FAINT.shape}" stroke-width="1.6" stroke-dasharray="5 4" d="M122 2V82"/>'
        + _dots([(round(x, 1), round(y, 1)) for x, y in left], 4, INK.shape)
        + f'<g fill="none" stroke="{INK.shape}" stroke-width="2">{squares}</g>'
        f'<path fill="none" stroke="{TEAL.shape}" stroke-width="2.2" d="M134 42h18m-6-5 6 5-6 5"/>'
        + _dots([(134, 42)], 6.5, TEAL.shape)
    )


def regression_picture() -> str:
    """Points about a rising line, with a band around it."""
    points = [(20 + 22 * i, 70 - 6 * i + 9 * math.sin(4.1 * i + 1.0)) for i in range(10)]
    return (
        f'<path fill="{TEAL.shape}" opacity=".22" d="M6 66C90 56 150 34 234 2V22C150 46 90 64 6 84z"/>'
        + _dots([(x, round(y, 1)) for x, y in points], 4, INK.shape)
        + f'<path fill="none" stroke="{TEAL.shape}" stroke-width="2.4" d="M6 75L234 12"/>'
    )


def model_picture() -> str:
    """Three bars that lead to one dot."""
    ends = ((18, 54), (42, 84), (66, 34))
    bars = "".join(f'<path stroke="{INK.shape}" stroke-width="8" d="M24 {y}h{wide}"/>' for y, wide in ends)
    lines = "".join(f'<path d="M{28 + wide} {y}C150 {y} 150 42 196 42"/>' for y, wide in ends)
    return (
        bars + f'<g fill="none" stroke="{TEAL.shape}" stroke-width="2">{lines}</g>' + _dots([(204, 42)], 8, TEAL.shape)
    )


def picture_address(inside: str) -> str:
    """A picture as a style sheet names it, of the inside of its SVG."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {PICTURE_WIDTH} {PICTURE_HEIGHT}">{inside}</svg>'
    return f'url("data:image/svg+xml,{quote(svg)}")'


def picture_style(key: str, pictures: list[tuple[str, str]]) -> str:
    """Style rules that put a picture on top of each option of the radio group with a key.

    `pictures`: For each option in order, the inside of its SVG and its text alternative.
    """
    rules = []
    for place, (inside, words) in enumerate(pictures, 1):
        option = f'.st-key-{key} [data-testid="stRadioGroup"] > div:nth-child({place})::before'
        rules.append(f'{option} {{ content: {picture_address(inside)} / "{words}"; }}')
    return "\n".join(rules)
