"""A guided tour of a minute and a half, for demonstrations: it goes on by itself, pauses, and follows the arrow keys.

Every picture and number in it is of a released file that comes with the app, worked out in this moment. Where a visitor
asks for little motion, nothing goes on by itself.
"""

from collections.abc import Callable

import streamlit as st

from ..figures.answer_sentences import answer_sentence, noun
from ..figures.figure_axes import View
from ..figures.release_pictures import in_words, picture_figure
from ..formatting.escapes import in_html
from ..releases.release import load
from ..sources.public_tables import Sample, bundled_releases, sample
from .frame.marks import draw, for_screen, show
from .frame.navigation import DATA, EXPLORE, TOUR
from .frame.session import Opened, Session
from .frame.visiting import opens
from .released import public_answers
from .released.asked_points import say
from .released.live_samples import live_view

# Session state: the step that is shown, whether the tour pauses, and the released file that it is about.
AT, WAITS, FILE = "tour-at", "tour-waits", "tour-file"
SHOWN = "health"  # The sample that the tour is about: everyone knows what age and height look like.
ASKED = {"age": 10.0, "height": 140.0}
SECONDS = 15
HEIGHT = 440  # Of its pictures, in pixels, which are seen as a whole below title and buttons on a window 800 high.
# Space pauses unless it presses a button; the clock of a step begins anew whenever it was paused.
KEYS = """
window.fgTouring ||= (() => {
  const press = name => document.querySelector(`.st-key-tour-${name} button`)?.click();
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const keys = { ArrowRight: "next", PageDown: "next", ArrowLeft: "back", PageUp: "back", " ": "pause", Escape: "end" };
  let step = "", since = 0;
  addEventListener("keydown", event => {
    if (!document.querySelector(".fg-tour") || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target.closest("input, textarea, select, [role=slider], [role=radio], [role=combobox]")) return;
    if (event.key === " " && event.target.closest("button, a, summary")) return;
    if (!keys[event.key]) return;
    event.preventDefault();
    press(keys[event.key]);
  });
  setInterval(() => {
    const mark = document.querySelector(".fg-tour-plays");
    if (!mark || still.matches || document.hidden) return void (step = "");
    if (mark.className !== step) [step, since] = [mark.className, performance.now()];
    else if (performance.now() - since > SECONDS * 1000) step = "", press("next");
  }, 250);
  return true;
})();
"""


@st.fragment
def tour(visitor: Session) -> None:
    """The step that is reached, its picture, and the buttons; only this is drawn again as it goes on."""
    at = min(st.session_state.setdefault(AT, 0), len(STEPS) - 1)
    waits, last = st.session_state.setdefault(WAITS, False), at == len(STEPS) - 1
    title, words, picture = STEPS[at]
    plays = "" if waits or last else " fg-tour-plays"
    draw(
        f'<div class="fg-tour fg-tour-{at}{plays}" role="status"><p class="fg-group">{at + 1} of {len(STEPS)}</p>'
        f'<h1>{in_html(title)}</h1><p class="fg-lead">{in_html(words)}</p>'
        f'<div class="fg-tour-clock"><i></i></div></div>'
    )
    with st.container(key="fg-tour-buttons", horizontal=True, gap="small"):
        st.button("Back", key="tour-back", disabled=at == 0, on_click=_go, args=(at - 1,))
        st.button("Go on" if waits else "Pause", key="tour-pause", disabled=last, on_click=_pause)
        st.button("Next", key="tour-next", type="primary", disabled=last, on_click=_go, args=(at + 1,))
        if st.button("End the tour", key="tour-end", type="tertiary"):
            _end()
            st.rerun()
        draw('<p class="fg-note fg-tour-still">You asked for little motion, so the tour waits for you: press Next.</p>')
    picture(visitor)
    st.html(f"<script>{KEYS.replace('SECONDS', str(SECONDS))}</script>", unsafe_allow_javascript=True)


def _go(step: int) -> None:
    st.session_state[AT] = min(max(step, 0), len(STEPS) - 1)


def _pause() -> None:
    st.session_state[WAITS] = not st.session_state[WAITS]


def _end() -> None:
    st.query_params.pop(TOUR, None)
    for key in (TOUR, AT, WAITS, FILE):
        st.session_state.pop(key, None)


def _released() -> tuple[Sample, Opened]:
    if FILE not in st.session_state:
        path = next(path for one, path in bundled_releases() if one.name == SHOWN)
        data = path.read_bytes()
        st.session_state[FILE] = Opened(path.name, data, load(data))
    return sample(SHOWN), st.session_state[FILE]


def _density(asked: dict[str, float] | None) -> None:
    _, opened = _released()
    picture = public_answers.picture(opened.identity, opened.release, View(opened.release.domain.names))
    figure = picture_figure(opened.release, picture, asked=tuple(asked.values()) if asked else None)
    figure.update_layout(height=HEIGHT)
    show(for_screen(figure), f"tour-picture-{bool(asked)}", in_words(opened.release, picture))


def _people(_: Session) -> None:
    from ..figures.drawings import hero

    draw(hero())


def _table(_: Session) -> None:
    from ..figures.drawings import step

    draw(step(1))


def _shape(_: Session) -> None:
    _density(None)


def _question(_: Session) -> None:
    _, opened = _released()
    found = opened.release.answer({name: [value] for name, value in ASKED.items()}, public_answers.LEVEL)
    parts = (found.estimate, found.low, found.high, found.standard_error)
    sentence = answer_sentence(*(float(part[0]) for part in parts), noun(opened.release))
    say(f"Aged 10 and 140 cm tall: {sentence[:1].lower()}{sentence[1:]}")
    _density(ASKED)


def _odds(_: Session) -> None:
    one, _ = _released()
    live_view(one, "tour-live")


def _yours(visitor: Session) -> None:
    with st.container(horizontal=True, gap="small"):
        if st.button("Explore this release", key="tour-explore", type="primary"):
            _, opened = _released()
            visitor.remember(opened.name, opened.data, opened.release)
            _end()
            st.switch_page(EXPLORE.path)
        if opens(DATA.path) and st.button("Start with your data", key="tour-data"):
            _end()
            st.switch_page(DATA.path)
    _density(None)


# Title, words and picture of each step.
STEPS: tuple[tuple[str, str, Callable[[Session], None]], ...] = (
    (
        "Records about people",
        "Each amber point is somebody. What all of them have in common is worth knowing. What any one of them said is "
        "nobody's business.",
        _people,
    ),
    (
        "Count, and add noise",
        "Frostglass counts how many fall into each of many cells, and adds random noise to every count. How much is "
        "one number, ε (epsilon): the smaller it is, the more noise, and the more privacy.",
        _table,
    ),
    (
        "The shape comes through",
        "Age and height of some 8,000 real people, from noisy counts alone: children grow, adults do not. Hatching "
        "covers what the noise hides.",
        _shape,
    ),
    (
        "Ask it anything, for ever",
        "Every answer says how far off it may be, and no question costs anyone any more privacy.",
        _question,
    ),
    (
        "How much privacy? Slide ε",
        "A smaller ε is more privacy: the noise grows until the picture dissolves, and a guess about any one person "
        "is no better than a coin. A larger one brings both back. These records are public, so we may watch.",
        _odds,
    ),
    (
        "One small file",
        "It opens anywhere, needs neither network nor account, and a ledger keeps count of what was promised. Now it "
        "is your turn.",
        _yours,
    ),
)
