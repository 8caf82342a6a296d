"""The bundled samples as cards with pictures, one of which can be picked."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path

import streamlit as st

from ...figures.drawings import group_picture, picture_address
from ...sources.samples import bundled_releases, samples

PICKED = "data-sample"
"""Session state of the picked sample's name."""
CARDS = f".st-key-{PICKED} [data-testid='stRadioGroup']"
LOOK = f"""
{CARDS} {{ display: grid; width: 100%; gap: 0.7rem; align-items: stretch;
  grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }}
{CARDS} > div {{ position: relative; margin: 0; padding: 0.8rem 0.9rem 0.8rem 6.6rem; min-height: 6.6rem;
  border: 1px solid var(--hairline); border-radius: 0.5rem; }}
{CARDS} > div::before {{ content: ""; position: absolute; left: 0.7rem; top: 0.8rem; width: 5.2rem; height: 5.2rem;
  background: center / contain no-repeat; }}
{CARDS} > div:hover {{ border-color: var(--faint); }}
{CARDS} > div[data-selected] {{ border-color: var(--amber-shape); box-shadow: inset 0 0 0 1px var(--amber-shape); }}
{CARDS} > div:has(:focus-visible) {{ outline: 2px solid var(--ink); outline-offset: 2px; }}
{CARDS} [data-testid="stRadioOption"] {{ margin: 0; }}
{CARDS} [data-testid="stRadioOption"]::after {{ content: ""; position: absolute; inset: 0; cursor: pointer; }}
{CARDS} [data-testid="stRadioOption"] p {{ font-weight: 600; }}
{CARDS} [data-testid="stRadioCaption"] {{ margin: 0; padding: 0; }}
"""


def pick_sample() -> str | None:
    """Let the visitor pick a sample; its name."""
    known = {one.name: one for one in samples()}
    st.html(f"<style>{_style()}</style>")
    return st.radio(
        "Sample",
        list(known),
        index=None,
        format_func=lambda name: known[name].title,
        captions=[one.told for one in known.values()],
        key=PICKED,
        persist_state="session",
    )


@cache
def _style() -> str:
    """The look of the cards; a picture is inside it, as a style sheet cannot name a file of the library."""
    pictures = {one.name: path.with_suffix(".png") for one, path in bundled_releases()}
    shown = [
        f"{CARDS} > div:nth-child({place})::before {{ background-image: {_address(pictures.get(one.name))}; }}"
        for place, one in enumerate(samples(), 1)
    ]
    return LOOK + "\n".join(shown)


def _address(picture: Path | None) -> str:
    """The picture of a sample's release; of many columns, of which there is none, that of telling groups apart."""
    if picture is None or not picture.is_file():
        return picture_address(group_picture())
    return f"url(data:image/png;base64,{b64encode(picture.read_bytes()).decode()})"
