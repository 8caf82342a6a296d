"""The colour scale: one hue, even steps, from background to foreground, the same in the app's configuration."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from core.figures.palette import DARK_SHADES, LIGHT_SHADES, PAPER, TEAL, colour_scale, rgb

THEMES = {"light": LIGHT_SHADES, "dark": DARK_SHADES}
CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())


def oklab(colour: str) -> np.ndarray:
    """Lightness and two hue axes of the OKLab space (Ottosson 2020)."""
    part = np.array(rgb(colour)) / 255
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    to_cones = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ linear)


@pytest.mark.parametrize("theme", THEMES)
def test_equal_steps_look_equal(theme):
    steps = np.linalg.norm(np.diff([oklab(shade) for shade in THEMES[theme]], axis=0), axis=1)
    assert steps.max() / steps.min() < 1.05


@pytest.mark.parametrize("theme", THEMES)
def test_lightness_alone_tells_shades_apart_and_the_hue_is_the_teal_of_public(theme):
    points = np.array([oklab(shade) for shade in THEMES[theme]])
    teal = oklab(TEAL.shape)
    assert (np.abs(np.diff(points[:, 0])) > 0.06).all()
    hues = np.degrees(np.arctan2(points[:, 2], points[:, 1]) - np.arctan2(teal[2], teal[1]))
    assert np.abs((hues + 180) % 360 - 180).max() < 3


@pytest.mark.parametrize("theme", THEMES)
def test_the_scale_starts_beside_the_page_and_ends_far_from_it(theme):
    page = oklab(getattr(PAPER, theme))[0]
    lightness = [oklab(shade)[0] for shade in THEMES[theme]]
    assert abs(lightness[0] - page) < 0.08 < 0.5 < abs(lightness[-1] - page)


@pytest.mark.parametrize("theme", THEMES)
def test_the_configuration_of_the_app_has_the_same_shades(theme):
    assert tuple(CONFIG["theme"][theme]["chartSequentialColors"]) == THEMES[theme]


def test_a_plotly_scale_runs_from_0_to_1():
    scale = colour_scale(LIGHT_SHADES)
    assert scale[0] == [0, LIGHT_SHADES[0]] and scale[-1] == [1, LIGHT_SHADES[-1]] and len(scale) == 10
