"""The colour scale of released densities: one hue, the teal of what is public, in even steps.

Ten shades along a line of one hue through the palette's teal in the OKLab space, equally far from each other (Ottosson
2020), from the background of the theme to its foreground: so equal steps of density look equal, lightness alone tells
them apart, and they survive a grey print. The app's configuration holds the same shades (a test keeps them together);
a heat map without a scale of its own gets the shades of the visitor's theme in the browser.
"""

from __future__ import annotations

LIGHT_SHADES = (
    "#E3F4F2",
    "#BCE6E1",
    "#97D6CE",
    "#73C4BB",
    "#51B1A8",
    "#2F9D94",
    "#1B8880",
    "#15736B",
    "#105E58",
    "#0A4A45",
)
"""From few to many, on a light background."""
DARK_SHADES = (
    "#142B29",
    "#0C403C",
    "#0D5650",
    "#136C65",
    "#1A837B",
    "#299A91",
    "#48B0A7",
    "#67C7BD",
    "#88DCD3",
    "#ACF1E9",
)
"""From few to many, on a dark background."""


def colour_scale(shades: tuple[str, ...]) -> list[list]:
    """The shades as Plotly writes a colour scale."""
    return [[index / (len(shades) - 1), shade] for index, shade in enumerate(shades)]
