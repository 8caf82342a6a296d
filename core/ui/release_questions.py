"""Step 1 of a release: what people should be able to ask. One card a question."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from .markup import draw, escape

CARDS_A_ROW = 3


@dataclass(frozen=True)
class Question:
    """A question that a released file can answer for ever.

    Attributes
    ----------
    key : in the session state.
    title : the question as a person asks it.
    sentence : what the answer is.
    also : what the same file answers besides.
    picture, picture_words : SVG that takes its colours from the style sheet, and its text alternative.
    """

    key: str
    title: str
    sentence: str
    also: str
    picture: str
    picture_words: str


DENSITY = Question(
    "density",
    "How dense is it here?",
    "How many people are close to a given place, anywhere inside the bounds.",
    "The same file shows peaks and groups, finds who would stand out, and makes up people who resemble the real ones.",
    '<path class="fg-cloud" opacity=".22" d="M0 66C40 66 46 18 78 18c30 0 32 34 58 34 22 0 26-16 44-16 26 0 30 30 60 '
    '30v6H0z"/><path d="M0 66C40 66 46 18 78 18c30 0 32 34 58 34 22 0 26-16 44-16 26 0 30 30 60 30" fill="none" '
    'class="fg-outline"/><path class="fg-line" stroke-dasharray="3 3" d="M104 70V34"/><circle class="fg-cloud" '
    'cx="104" cy="34" r="4.5"/>',
    "A hilly outline; a dashed line asks how high it is at one place.",
)
QUESTIONS: tuple[Question, ...] = (DENSITY,)
KEY = "release-question"


def choose_question() -> Question:
    """Draw the cards; the question that is chosen."""
    by_key = {question.key: question for question in QUESTIONS}
    chosen = by_key.get(st.session_state.setdefault(KEY, QUESTIONS[0].key), QUESTIONS[0])
    for start in range(0, len(QUESTIONS), CARDS_A_ROW):
        row = QUESTIONS[start : start + CARDS_A_ROW]
        for question, column in zip(row, st.columns(len(row), gap="medium"), strict=True):
            with column:
                _card(question, question is chosen)
    return chosen


def _card(question: Question, chosen: bool) -> None:
    state = "fg-card fg-card-chosen" if chosen else "fg-card"
    draw(
        f'<div class="{state}"><svg viewBox="0 0 240 74" role="img" aria-label="{escape(question.picture_words)}">'
        f"{question.picture}</svg><div><h4>{escape(question.title)}</h4><p>{escape(question.sentence)}</p>"
        f'<p class="fg-note">{escape(question.also)}</p></div></div>'
    )
    if not chosen:
        st.button(
            f"Let people ask: {question.title}", key=f"{KEY}-{question.key}", type="tertiary",
            on_click=st.session_state.__setitem__, args=(KEY, question.key),
        )
