"""How each of many methods is shown, the same in every figure: a colour, a symbol and a kind of line together.

Amber and teal say private and public on every page and red is for errors, so methods have none of their hues: blue,
violet, magenta and the neutral slate are left. Four shades that stand out from a light page and from a dark one at once
cannot tell twenty methods apart, least of all to the colour-blind; so nothing hangs on the colour alone. Neighbours in
the list differ in colour and symbol, and every fourth one in the kind of line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...words.escapes import in_plotly
from ..palette import FAINT

COLOURS = ("#2A5FD0", "#B8408C", "#A07BE0", FAINT.shape)
"""Blue, magenta, violet, slate: at least 3:1 on either background (WCAG 2.2, 1.4.11), and of different lightness."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down")
"""As many as share no divisor with the colours, so that a pair of both comes back only after 28 methods."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")


@dataclass(frozen=True)
class MethodMark:
    """How a method is shown.

    Attributes
    ----------
    title : str
        For people, safe for Plotly.
    colour : str
        ``#RRGGBB``.
    symbol, dash : str
        As Plotly names them.
    """

    title: str
    colour: str
    symbol: str
    dash: str

    def line(self, width: float) -> dict:
        """The line, as Plotly takes it."""
        return {"color": self.colour, "dash": self.dash, "width": width}

    def marker(self, **more: object) -> dict:
        """The symbol, as Plotly takes it."""
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
