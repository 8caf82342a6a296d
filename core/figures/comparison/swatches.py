"""The mark of a method beside its name: the same colour, line and symbol as in the figures, as a small drawing."""

from __future__ import annotations

from .marks import MethodMark

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
