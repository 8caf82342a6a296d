"""Small things every page shares: what is private and public, what is missing, the one main action.

Amber and teal mean private and public on every page; a word and a shape (crisp dots, a soft blur) say the same, so
nothing hangs on seeing colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

import streamlit as st

from ...words.escapes import in_html
from .markup import draw


class Visibility(StrEnum):
    """Who gets to see something."""

    PRIVATE = "private"
    PUBLIC = "public"


_SIZE = 'viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"'
_SHAPES = {
    Visibility.PRIVATE: (
        f"<svg {_SIZE}>"
        '<g fill="currentColor"><circle cx="3" cy="3.6" r="1.9"/>'
        '<circle cx="8.8" cy="4.6" r="1.9"/><circle cx="5" cy="9.2" r="1.9"/></g></svg>'
    ),
    Visibility.PUBLIC: (
        f"<svg {_SIZE}>"
        '<g fill="currentColor"><circle cx="6" cy="6" r="6" opacity=".3"/>'
        '<circle cx="6" cy="6" r="4" opacity=".45"/><circle cx="6" cy="6" r="1.9"/></g></svg>'
    ),
}


def mark_markup(visibility: Visibility, text: str) -> str:
    """Markup of a mark: shape, colour and words."""
    return f'<span class="fg-mark fg-{visibility.value}">{_SHAPES[visibility]}<span>{in_html(text)}</span></span>'


def mark(visibility: Visibility, text: str) -> None:
    """A line that says in words, shape and colour who gets to see what follows."""
    draw(mark_markup(visibility, text))


@contextmanager
def rail(visibility: Visibility, key: str, title: str) -> Iterator[None]:
    """A part of a page with a coloured line along its left edge, headed by a mark."""
    with st.container(key=f"fg-{visibility.value}-{key}", gap="xsmall"):
        mark(visibility, title)
        yield


@contextmanager
def side(key: str) -> Iterator[None]:
    """The side of a page, inside a column of its own: it stays in view while the main part scrolls."""
    with st.container(key=f"fg-side-{key}"):
        yield


def note(text: str) -> None:
    """A quiet line of explanation."""
    draw(f'<p class="fg-note">{in_html(text)}</p>')


def facts(lines: Iterable[tuple[str, str]]) -> None:
    """A plain list; every line has a text and, below it in small, what it means ("" for nothing)."""
    items = "".join(
        f"<li>{in_html(text)}{f'<small>{in_html(meaning)}</small>' if meaning else ''}</li>" for text, meaning in lines
    )
    draw(f'<ul class="fg-facts">{items}</ul>')


def missing_sentence(missing: Sequence[str]) -> str:
    """What is still missing, in one sentence: the first three things, and how many more."""
    if not missing:
        return ""
    more = len(missing) - 3
    return "Still missing: " + "; ".join(missing[:3]) + (f"; and {more} more." if more > 0 else ".")


def main_action(label: str, missing: Sequence[str], key: str, note: str = "") -> bool:
    """The one main action of a page, at the foot of the window; True in the run after it was pressed.

    Parameters
    ----------
    label : str
        What the button does, its price included where it has one.
    missing : Sequence[str]
        What must be there before it can be pressed, each a few plain words; the button says so while it waits.
    note : str
        What is good to know when nothing is missing.
    """
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"action-{key}"):
        pressed = st.button(label, type="primary", key=key, disabled=bool(missing))
        words = missing_sentence(missing) or note
        draw(f'<p class="fg-missing" role="status">{in_html(words)}</p>')
    return pressed and not missing
