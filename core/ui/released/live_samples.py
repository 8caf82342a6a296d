"""The live picture of a bundled sample: ε moves in the browser, and picture, odds and forecast move with it."""

import plotly.graph_objects as go
import streamlit as st

from ...figures.density_figures import highest
from ...figures.map_layers import beginning_at, film_figure
from ...figures.meaning import counted
from ...figures.traces import hidden_by_noise
from ...formatting.numbers import percent, rounded
from ...lab.release_lessons import EPSILONS, bundled_live_picture, has_live_picture
from ...releases.release import Release
from ...sources.public_tables import Sample, sample, samples
from ..frame.marks import ONE_TOOL, Visibility, best_guess, mark, note
from ..frame.session import Opened

HEIGHT = 480  # Pixels: a window of 800 shows what is said of it, its slider and all of the picture.
LINE = "<br>"  # Ends a line of a figure's title: both of them fit on a phone.
WHY = (
    "Slide ε: as it falls the noise grows, and hatching covers what the noise hides. These records are public, so "
    "their exact counts may lie behind the picture. Of private records it is never drawn."
)
# What is typed into the field when the slider of the figure is let go, as if a visitor had typed it.
FOLLOWED = """
window.fgFollowed ||= (() => {
  const write = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  const follow = moved => {
    const field = document.querySelector(".st-key-FIELD input");
    if (!field || Number(field.value) === Number(moved.step.label)) return;
    write.call(field, moved.step.label);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new FocusEvent("focusout", { bubbles: true }));
  };
  const find = () => document.querySelectorAll("[class*=st-key-FIGURE] .js-plotly-plot").forEach(figure => {
    if (figure.fgFollowed || !figure.on) return;
    figure.fgFollowed = true;
    figure.on("plotly_sliderend", follow);
  });
  new MutationObserver(find).observe(document.body, { childList: true, subtree: true });
  find();
  return true;
})();
"""


def sample_of(release: Release) -> Sample | None:
    """The bundled sample with a live picture that a release is of, by its public facts; None where there is none."""
    return next((one for one in samples() if has_live_picture(one) and one.domain == release.domain), None)


def live_view(one: Sample, key: str, epsilon: float = 1.0, field: str | None = None) -> None:
    """Draw the live picture of a sample, beginning at an ε.

    `field`: Key of a number that follows the slider once it is let go; None where nothing does.
    """
    mark(Visibility.PUBLIC, f"{one.title}: public records, shown at every ε")
    start = min(range(len(EPSILONS)), key=lambda place: abs(float(EPSILONS[place]) / epsilon - 1.0))
    figure, words = live_figure(one.name)
    st.plotly_chart(beginning_at(figure, start), key=key, config=ONE_TOOL, alt=words)
    if field is not None:
        script = FOLLOWED.replace("FIGURE", key).replace("FIELD", field)
        st.html(f"<script>{script}</script>", unsafe_allow_javascript=True)
    note(WHY)


def released_live_view(opened: Opened) -> None:
    """The live picture of the sample that an opened file is of, beginning at the file's own ε."""
    one = sample_of(opened.release)
    if one is not None:
        live_view(one, "explore-live", float(opened.release.privacy.budget.epsilon))


@st.cache_data(max_entries=4, show_spinner="Making the picture at every ε …")
def live_figure(name: str) -> tuple[go.Figure, str]:
    """The figure, for all visitors, and its words; it begins where nothing is hidden that can be seen."""
    one = sample(name)
    live = bundled_live_picture(name)
    pictures = [live.at(epsilon) for epsilon in EPSILONS]
    answer, error = live.typical
    words = []
    for epsilon, picture in zip(EPSILONS, pictures, strict=True):
        off = error * float(EPSILONS[0]) / float(epsilon)
        hidden = percent(float(hidden_by_noise(picture).mean()))
        words.append(
            f"A 50% guess about anyone can rise to {percent(best_guess(float(epsilon)), 3)}{LINE}"
            f"A typical answer is {rounded(answer, off)} ± {rounded(2 * off, off)} · noise hides {hidden}"
        )
    least, most = (said.replace(LINE, "; ") for said in (words[0], words[-1]))
    said = f"{one.title}. Under ε = {EPSILONS[0]}: {least}. Under ε = {EPSILONS[-1]}: {most}."
    noun, top = counted(one.domain), highest(pictures[-1].estimate)
    film = film_figure(pictures, words, EPSILONS, len(EPSILONS) - 1, one.domain, noun, "ε = ", top)
    return film.update_layout(height=HEIGHT), said
