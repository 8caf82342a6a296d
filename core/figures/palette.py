"""The colours: amber for what is private, teal for what is public, the neutral rest, and the scale of densities.

The theme of the app and every figure take their colours from here. A colour of text has one shade a theme; a colour
of shapes has one shade that stands out from both backgrounds, so that a figure need not know the theme.

The scale has ten shades along a line of one hue through the palette's teal in the OKLab space, equally far from each
other (Ottosson 2020), from the background of the theme to its foreground: so equal steps of density look equal,
lightness alone tells them apart, and they survive a grey print. The app's configuration holds the same shades (a test
keeps them together); a heat map without a scale of its own gets the shades of the visitor's theme in the browser.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Colour:
    """Three shades of one colour, as ``#RRGGBB``.

    ``light`` and ``dark`` are for text on the light and on the dark theme: at least 4.5:1 on the page's background
    (WCAG 2.2, success criterion 1.4.3). ``shape`` is for lines, dots and areas on either: at least 3:1 (1.4.11).
    """

    light: str
    dark: str
    shape: str


AMBER = Colour(light="#865100", dark="#F0B65E", shape="#BF790C")  # What is private.
TEAL = Colour(light="#0B6660", dark="#5ECDC2", shape="#1A9188")  # What is public.
INK = Colour(light="#1B262B", dark="#E4EBEC", shape="#6F8790")  # Everything without such a meaning.
FAINT = Colour(light="#55636A", dark="#9FB0B6", shape="#7B8F97")  # Text of second rank.
RED = Colour(light="#A01F18", dark="#FFA79F", shape="#D9534A")  # Errors, and nothing else.
PAPER = Colour(light="#F9FBFA", dark="#11171A", shape="#F9FBFA")  # The background of a page.


def rgb(hexadecimal: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of a colour written ``#RRGGBB``."""
    return int(hexadecimal[1:3], 16), int(hexadecimal[3:5], 16), int(hexadecimal[5:7], 16)


def faded(hexadecimal: str, opacity: float) -> str:
    """The colour at an opacity between 0 and 1, as CSS and Plotly write it."""
    red, green, blue = rgb(hexadecimal)
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


# A Plotly colour scale for released densities: from the page showing through to full teal, on either theme.
DENSITY_SCALE = [[step / 10, faded(TEAL.shape, (step / 10) ** 0.8)] for step in range(11)]


# Colours from few people to many, on a light background.
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
# Colours from few people to many, on a dark background.
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


def colour_scale(shades: tuple[str, ...]) -> list[list]:
    """The shades as Plotly writes a colour scale."""
    return [[index / (len(shades) - 1), shade] for index, shade in enumerate(shades)]
