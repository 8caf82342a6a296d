"""What every lesson has: a name for its address, one thing to do, one thing to see, and a few words about both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from ..formatting.escapes import in_html
from .frame.marks import BARE, draw, show

# The privacy loss, which lessons share: whoever moves it in one finds it so in the next, and in the address.
EPSILON = "epsilon"
EPSILONS = ("0.05", "0.1", "0.2", "0.3", "0.5", "0.8", "1", "1.5", "2", "3", "5", "10")


@dataclass(frozen=True)
class Lesson:
    """What belongs to an experiment, as ``lessons.toml`` has it."""

    name: str  # Short, as it stands in the address of the page.
    title: str  # A question or statement.
    # What to try and what to watch, a sentence each.
    do: str
    see: str
    told: dict[str, str]  # Paragraphs by their headings.
    questions: dict[str, str]  # For a class, each with its answer.
    for_experts: bool = False


def show_lesson(lesson: Lesson, experiment: Callable[[], None], place: int, of: int) -> None:
    """The whole lesson: what to do, the experiment, which draws the controls and what they move, and what it means."""
    which = f"Lesson {place} of {of}" + ", for experts" * lesson.for_experts
    draw(
        f'<p class="fg-group">{which}</p><h1 class="fg-lesson">{in_html(lesson.title)}</h1>'
        f'<dl class="fg-task"><dt>Do</dt><dd>{in_html(lesson.do)}</dd><dt>See</dt><dd>{in_html(lesson.see)}</dd></dl>'
    )
    with st.container(key="fg-experiment"):
        experiment()
    st.space("small")
    for column, (heading, words) in zip(st.columns(len(lesson.told), gap="large"), lesson.told.items(), strict=True):
        with column:
            draw(f'<div class="fg-meaning"><h2>{in_html(heading)}</h2><p>{in_html(words)}</p></div>')


def choose_epsilon() -> str:
    """The slider for the privacy loss that lessons share, as exact text."""
    return st.select_slider(
        "Privacy loss ε",
        EPSILONS,
        value="1",
        key=EPSILON,
        bind="query-params",
        help="How much the presence of any one person may change what comes out. Smaller is more private.",
    )


def slide(label: str, steps: Sequence[Any], start: Any, key: str) -> Any:
    """A slider over some steps, whose place is in the page's address."""
    return st.select_slider(label, steps, value=start, key=key, bind="query-params", format_func=_written)


def _written(step: object) -> str:
    return f"{step:,}" if isinstance(step, int) else str(step)


def picture(figure: go.Figure, key: str, words: str) -> None:
    """A figure of an experiment, with its text alternative."""
    show(figure, f"learn-{key}", words, BARE)


def say(finding: str, meaning: str = "") -> None:
    """What the experiment shows at present; screen readers speak it whenever it changes."""
    small = f"<small>{in_html(meaning)}</small>" if meaning else ""
    draw(f'<p class="fg-odds fg-finding" role="status">{in_html(finding)}{small}</p>')


PACE = 0.9  # Seconds a step.


def playing(key: str) -> float | None:
    """How often the part of the page that holds the slider runs again by itself: None while nobody plays."""
    return PACE if st.session_state.get(_flag(key)) else None


def advance(key: str, steps: list[int]) -> None:
    """Before the slider is drawn: go one step on while it plays, and stop at the end.

    It stops when the browser itself says that the slider is at its end: a run that was under way when the last step was
    set still brings the step before, and would put the slider back.
    """
    if not st.session_state.get(_flag(key)):
        return
    here = st.session_state.get(key, steps[0])
    later = [step for step in steps if step > here]
    if later:
        st.session_state[key] = later[0]
    else:
        st.session_state[_flag(key)] = False
        st.rerun(scope="app")


def play_button(key: str, steps: list[int]) -> None:
    """Start from where the slider stands, or anew when it is at its end; pressed again, it stops."""
    active = bool(st.session_state.get(_flag(key)))
    if st.button("Stop" if active else "Play", key=f"play-{key}", width=90):
        if not active and st.session_state.get(key, steps[0]) >= steps[-1]:
            st.session_state[key] = steps[0]
        st.session_state[_flag(key)] = not active
        st.rerun(scope="app")


def _flag(key: str) -> str:
    return f"playing-{key}"
