"""How figures are shown: calm, with words for those who do not see them, and one tool, to save a picture.

The live picture of a sample is one of them: ε moves in the browser, and picture, odds and forecast move with it.
"""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from ...figures.density_figures import highest, scale_aside
from ...figures.map_layers import beginning_at, film_figure
from ...figures.report.meaning import counted
from ...figures.traces import hidden_by_noise
from ...formatting.numbers import percent, rounded
from ...lab.live_pictures import EPSILONS, bundled_live_picture, has_live_picture
from ...releases.release import Release
from ...sources.public_tables import Sample, sample, samples
from .marks import Visibility, best_guess, mark, note
from .session import Opened

PHONE, AROUND = 270, 130  # Pixels that a map has on a phone from side to side, and that axes and legend take below it.
WIDE = 0.6  # Height by width below which a map is wider than the stage that it is on.
BARE = {"displayModeBar": False}  # No tools.
ONE_TOOL = {"displaylogo": False, "modeBarButtons": [["toImage"]], "scrollZoom": False}


def picture_config(opened: Opened) -> dict:
    """What the buttons of a large picture do: the camera saves it, named after the file.

    On a phone they would cover what stands above the picture, and no finger zooms it: the camera is alone there.
    """
    tools = {"modeBarButtons": [["toImage"]]} if on_a_phone() else {}
    return tools | {"toImageButtonOptions": {"format": "png", "filename": opened.stem, "scale": 2}, "scrollZoom": False}


def for_screen(figure: go.Figure) -> go.Figure:
    """A map as it suits the visitor's screen: with its colour bar at its side on a wide one, and no gap on a phone.

    On a phone a map whose units are equal is as high as they make it: there is no gap below it. Plotly gives a figure
    its height before the browser says how wide the screen is. So a browser that says that it is a phone's is believed.
    A map that is far wider than high keeps its colour bar above it on any screen, and all of the width for itself.
    """
    shape = shape_of(figure)
    if not on_a_phone():
        if shape is None or shape >= WIDE:
            return scale_aside(figure)
        return figure.update_traces(colorbar={"y": 0.94}, selector={"type": "heatmap"})  # clear of what it is called
    if shape is None:
        return figure
    around = (figure.layout.margin.t or 0) + AROUND
    return figure.update_layout(height=round(min(figure.layout.height, PHONE * shape + around)))


def shape_of(figure: go.Figure) -> float | None:
    """How many times as high as wide a map is whose units are equal; None for any other."""
    ratio = figure.layout.yaxis.scaleratio
    if ratio is None:
        return None
    (left, right), (low, high) = figure.layout.xaxis.range, figure.layout.yaxis.range
    return ratio * (high - low) / (right - left)


def fit_stage(figure: go.Figure) -> None:
    """Let the stage be no higher than a map needs, as there would be a gap below it; its style has the sizes."""
    shape = shape_of(figure)
    if shape is not None:
        # What says that it is a phone has been given a height already; a narrow window has not.
        beside, around = ("5rem", "14rem") if shape < WIDE else ("11rem", "11rem")  # the colour bar is above, or beside
        narrow = "" if on_a_phone() else f"; --narrow: calc((100vw - {beside}) * {shape:.4f} + {around})"
        st.html(f"<style>.st-key-fg-stage {{ --shape: {shape:.4f}{narrow} }}</style>")


def on_a_phone() -> bool:
    """Whether the visitor's browser says that it is a phone's."""
    headers = {name.lower(): value for name, value in dict(st.context.headers).items()}
    return headers.get("sec-ch-ua-mobile") == "?1" or "Mobi" in headers.get("user-agent", "")


def show(figure: go.Figure, key: str, words: str, tools: dict[str, Any] = ONE_TOOL) -> None:
    """Draw a figure; `words` is its text alternative, `tools` which buttons it has."""
    st.plotly_chart(figure, key=key, config=tools, alt=words)


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
    figure, words = _live_figure(one.name)
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
def _live_figure(name: str) -> tuple[go.Figure, str]:
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
