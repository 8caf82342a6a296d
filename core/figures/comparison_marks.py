"""How each of many methods is shown, the same in every figure: a colour, a symbol and a kind of line together.

Amber and teal say private and public on every page and red is for errors, so methods have none of their hues: blue,
violet, magenta and the neutral slate are left. Four shades that stand out from a light page and from a dark one at once
cannot tell twenty methods apart, least of all to the colour-blind; so nothing hangs on the colour alone. Neighbours in
the list differ in colour and symbol, and every fourth one in the kind of line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..formatting.escapes import in_plotly
from .palette import FAINT

# Blue, magenta, violet, slate: at least 3:1 on either background (WCAG 2.2, 1.4.11), and of different lightness.
COLOURS = ("#2A5FD0", "#B8408C", "#A07BE0", FAINT.shape)
# As many as share no divisor with the colours, so that a pair of both comes back only after 28 methods.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class MethodMark:
    """How a method is shown."""

    title: str  # For people, safe for Plotly.
    colour: str
    # As Plotly names them.
    symbol: str
    dash: str

    def line(self, width: float) -> dict:
        return {"color": self.colour, "dash": self.dash, "width": width}

    def marker(self, **more: object) -> dict:
        return {"color": self.colour, "symbol": self.symbol, "size": 7} | more


def method_marks(titles: Mapping[str, str]) -> dict[str, MethodMark]:
    """The mark of every method by its key.

    Parameters
    ----------
    titles : Mapping[str, str]
        By their keys, of all methods that could ever be seen together, chosen or not and always in the same order: so a
        method keeps its mark when others come and go.
    """
    return {
        key: MethodMark(
            in_plotly(title),
            COLOURS[i % len(COLOURS)],
            SYMBOLS[i % len(SYMBOLS)],
            DASHES[i // len(COLOURS) % len(DASHES)],
        )
        for i, (key, title) in enumerate(titles.items())
    }


_SYMBOLS = {
    "circle": '<circle cx="14" cy="6" r="3.6"/>',
    "square": '<rect x="10.6" y="2.6" width="6.8" height="6.8"/>',
    "diamond": '<path d="M14 1.4L18.6 6L14 10.6L9.4 6Z"/>',
    "triangle-up": '<path d="M14 1.8L18.4 9.4H9.6Z"/>',
    "triangle-down": '<path d="M14 10.2L18.4 2.6H9.6Z"/>',
    "x": '<path d="M10 3.6L11.6 2L14 4.4L16.4 2L18 3.6L15.6 6L18 8.4L16.4 10L14 7.6L11.6 10L10 8.4L12.4 6Z"/>',
    "star": '<path d="M14 1L15.2 4.6H19L16 6.8L17.1 10.4L14 8.2L10.9 10.4L12 6.8L9 4.6H12.8Z"/>',
}
_DASHES = {"solid": "none", "dash": "6 3", "dot": "1.6 2.4", "dashdot": "6 2.4 1.6 2.4", "longdash": "9 3"}


def swatch(mark: MethodMark) -> str:
    """Trusted markup of the mark; it says nothing that the name beside it does not, so it is silent."""
    return (
        f'<svg class="fg-swatch" viewBox="0 0 28 12" aria-hidden="true" fill="{mark.colour}">'
        f'<line x1="0" y1="6" x2="28" y2="6" stroke="{mark.colour}" stroke-width="2" '
        f'stroke-dasharray="{_DASHES[mark.dash]}"/>{_SYMBOLS[mark.symbol]}</svg>'
    )
