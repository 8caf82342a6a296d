"""The released files that come with the app, as pictures: real records large, with where they are from."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ...sources.samples import Sample, bundled_distances, bundled_releases
from ...words.escapes import in_html
from ...words.phrases import several
from ..frame.frame import EXPLORE
from ..frame.markup import draw
from ..frame.session import Session


def showcase(visitor: Session) -> None:
    """Draw the bundled releases of real records, with their stories; picking one opens it and goes to Explore."""
    real = [(one, path) for one, path in bundled_releases() if one.source]
    if not real:
        return
    for place, (one, path) in zip(st.columns(len(real), gap="medium"), real, strict=True):
        with place:
            _one(visitor, path, one.name, one.title, _words(one))
            draw(f'<p class="fg-note">{in_html(one.story)} <small>{in_html(one.source)}</small></p>')


def gallery(visitor: Session) -> None:
    """Draw all bundled releases small; picking one opens it and goes to Explore."""
    _row(visitor, [*bundled_releases()], bundled_distances())


def made_up(visitor: Session) -> None:
    """Draw those of made-up records small."""
    _row(visitor, [(one, path) for one, path in bundled_releases() if not one.source], bundled_distances())


def _row(visitor: Session, near: list[tuple[Sample, Path]], far: tuple[tuple[Sample, Path], ...]) -> None:
    row = st.container(horizontal=True, gap="small", key="fg-pictures")
    for one, path in near:
        with row:
            _one(visitor, path, one.name, one.title, _words(one))
    for one, path in far:
        with row:
            title = f"{one.title}: distances"
            words = f"Picture of average distances, strongest where everyone is nearest, of: {one.title}"
            _one(visitor, path, f"{one.name}-distance", title, words)


def _words(one: Sample) -> str:
    return f"Where {several(one.domain.record)} are many and where few, by the released file: {one.title}"


def _one(visitor: Session, path: Path, name: str, title: str, words: str) -> None:
    """A picture with a button."""
    with st.container(key=f"gallery-{name}", gap="xsmall"):
        st.image(path.with_suffix(".png"), width="stretch", alt=words)
        if st.button(title, key=f"gallery-open-{name}", type="tertiary"):
            visitor.open(path.name, path.read_bytes())
            st.switch_page(EXPLORE.path)
