"""The colours: legible on both themes, and the same in the configuration, the style sheet and the figures."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import streamlit as st

from core.figures.palette import AMBER, DENSITY_SCALE, FAINT, INK, PAPER, RED, TEAL, faded, rgb
from core.ui.frame import style_and_scripts
from core.ui.frame.style_and_scripts import STYLE

CONFIG = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text())
WHITE = "#FFFFFF"


def luminance(colour: str) -> float:
    parts = [part / 255 for part in rgb(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", [AMBER, TEAL, INK, FAINT, RED])
def test_text_is_legible_on_every_background_of_the_theme(colour, theme):
    section = CONFIG["theme"][theme]
    page, inputs, sidebar = section["backgroundColor"], section["secondaryBackgroundColor"], section["sidebar"]
    backgrounds = [page, inputs, sidebar["backgroundColor"]]
    assert section["backgroundColor"] == getattr(PAPER, theme)
    assert min(contrast(getattr(colour, theme), background) for background in backgrounds) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("colour", [AMBER, TEAL, INK, FAINT, RED])
def test_shapes_stand_out_on_either_theme(colour, theme):
    assert contrast(colour.shape, getattr(PAPER, theme)) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_primary_button_is_legible_and_stands_out(theme):
    section = CONFIG["theme"][theme]
    assert contrast(section["primaryColor"], WHITE) >= 4.5
    assert contrast(section["primaryColor"], section["backgroundColor"]) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_only_amber_teal_and_red_have_a_hue(theme):
    section = CONFIG["theme"][theme]
    assert (section["orangeTextColor"], section["orangeColor"]) == (getattr(AMBER, theme), AMBER.shape)
    assert (section["greenTextColor"], section["greenColor"]) == (getattr(TEAL, theme), TEAL.shape)
    assert section["redTextColor"] == getattr(RED, theme)
    for hue in ("primary", "blue", "yellow", "violet", "gray", "text", "link", "border"):
        assert max(rgb(section[f"{hue}Color"])) - min(rgb(section[f"{hue}Color"])) < 40, hue


def test_the_style_sheet_takes_its_colours_from_the_palette():
    for colour in (AMBER, TEAL, INK, FAINT):
        assert f"light-dark({colour.light}, {colour.dark})" in STYLE and colour.shape in STYLE


def test_the_density_scale_runs_from_the_page_to_full_teal():
    assert DENSITY_SCALE[0] == [0.0, faded(TEAL.shape, 0)] and DENSITY_SCALE[-1] == [1.0, faded(TEAL.shape, 1)]


def test_no_heading_is_left_out_below_a_page_s_title():
    """Streamlit's subheader is a third heading; below a title comes a second one, which readers jump to."""
    root = Path(__file__).parents[3]
    pages = [root / "app.py", *(root / "pages").glob("*.py"), *(root / "core" / "ui").rglob("*.py")]
    assert not [path.name for path in pages if "st.subheader" in path.read_text(encoding="utf-8")]


# What of Streamlit's inside the style sheet names, which its next version may call otherwise: as few as there can be.
NAMED = {
    "InputInstructions": 1,
    "portal": 1,
    "stBaseButton-secondary": 1,
    "stBaseButton-tertiary": 2,
    "stBottom": 3,
    "stBottomBlockContainer": 3,
    "stButtonGroup": 3,
    "stCaptionContainer": 2,
    "stColumn": 3,
    "stDialog": 1,
    "stExpandSidebarButton": 3,
    "stExpander": 2,
    "stExpanderDetails": 1,
    "stFileUploaderDropzone": 1,
    "stFileUploaderDropzoneInstructions": 1,
    "stHeader": 3,
    "stHorizontalBlock": 1,
    "stLayoutWrapper": 3,
    "stMarkdownContainer": 2,
    "stPopover": 2,
    "stPopoverBody": 1,
    "stRadioCaption": 1,
    "stRadioGroup": 1,
    "stRadioOption": 1,
    "stSelectbox": 1,
    "stSidebar": 3,
    "stSliderThumbValue": 1,
    "stWidgetLabel": 2,
}
OVERRULED = 15


def rules() -> str:
    return (
        Path(style_and_scripts.__file__).with_name("theme.css").read_text(encoding="utf-8") + style_and_scripts.ANYWHERE
    )


def test_what_the_style_sheet_names_of_streamlits_inside_is_listed_here_and_grows_no_more():
    named = Counter(re.findall(r'data-testid\^?="([^"]+)"', rules()))
    assert dict(named) == NAMED
    assert rules().count("!important") == OVERRULED


@pytest.mark.thorough
def test_the_streamlit_that_is_installed_still_has_what_the_style_sheet_names():
    program = Path(st.__file__).parent / "static" / "static"
    known = "".join(path.read_text(encoding="utf-8", errors="ignore") for path in program.rglob("*.js"))
    assert [name for name in NAMED if name.partition("-")[0] not in known] == []


def test_no_tag_of_what_is_chosen_from_a_list_is_hidden_below_its_edge():
    """Streamlit cuts a list of tags off after some lines: of twelve columns "By which columns?" showed seven."""
    assert re.search(r"\.stMultiSelect div \{[^}]*max-height: none", STYLE)
