"""What pages are drawn with: marks of private and public, the one main action, figures, and the one door for HTML.

Amber and teal mean private and public on every page; a word and a shape (crisp dots, a soft blur) say the same, so
nothing hangs on seeing colours.

Figures are shown calm, with words for those who do not see them, and one tool, to save a picture. Nothing here takes
seconds to load, as the first words of Home are drawn with it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from enum import StrEnum
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from ...errors import RequestError
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import left_in_words, percent, rounded_down, significant
from .session import Opened


def draw(markup: str) -> None:
    """Draw trusted markup whose every foreign part went through `core.formatting.escapes.in_html`.

    Markdown ends an HTML block at the first blank line, and would read what follows as Markdown; so the markup is
    joined to one line. (``st.html`` would be stricter, but it removes SVG.)
    """
    one_line = " ".join(line.strip() for line in markup.splitlines())
    st.markdown(f'<div class="fg">{one_line}</div>', unsafe_allow_html=True, anchors=False)


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
def refusals(say: Callable[[str], Any] = st.error) -> Iterator[None]:
    """Say in a part of a page, or in a function that draws one, why something was refused, and leave out the rest."""
    try:
        yield
    except RequestError as refusal:
        say(in_markdown(refusal))


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

    `label`: what the button does, its price included where it has one. `missing`: what must be there before it can be
    pressed, each a few plain words; the button says so while it waits.
    """
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"action-{key}"):
        pressed = st.button(label, type="primary", key=key, disabled=bool(missing))
        words = missing_sentence(missing) or note
        draw(f'<p class="fg-missing" role="status">{in_html(words)}</p>')
    return pressed and not missing


def choose_one(
    label: str, options: Sequence[Any], key: str, start: Any, linked: bool = False, silent: bool = False, **look: Any
) -> Any:
    """Buttons of which one is always chosen, `linked` in the page's address too; a `silent` label is heard alone."""
    look |= {"bind": "query-params"} if linked else {}
    look |= {"label_visibility": "collapsed"} if silent else {}
    return st.segmented_control(label, options, default=start, required=True, key=key, **look)


# What browsers are told of a file, by the ending of its name; of others, that it holds bytes.
KINDS = {
    "bib": "application/x-bibtex",
    "csv": "text/csv",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "py": "text/x-python",
    "zip": "application/zip",
}


def offer(label: str, content: bytes | str | Callable[[], bytes | str], name: str, key: str, **look: Any) -> None:
    """A button that saves a file, which is made when it is asked for; the page is not drawn again for it."""
    kind = KINDS.get(name.rpartition(".")[2], "application/octet-stream")
    st.download_button(label, content, name, kind, key=key, on_click="ignore", **look)


def bar(shares: Sequence[float], words: str, left: str, right: str) -> None:
    """A bar filled by shares of it, from the left; the first is dark, those after it lighter.

    `shares`: each between 0 and 1; what goes past the end is cut off. `words`: the bar for those who do not see it.
    """
    spans = "".join(f'<span style="width:{100 * max(0.0, min(1.0, share)):.2f}%"></span>' for share in shares)
    draw(
        f'<div class="fg-bar" role="img" aria-label="{in_html(words)}">{spans}</div>'
        f'<div class="fg-scale"><span>{in_html(left)}</span><span>{in_html(right)}</span></div>'
    )


def budget_bar(spent: float, price: float, total: float) -> None:
    """A budget: what earlier releases spent, what the next one would cost, and what then is left (all in ε).

    Words say what is left, now and then, and not the shares of the total that were taken: with a δ promises add up to
    less than their sum, so neither share is the ε of a release.
    """
    now, then = max(0.0, total - spent), max(0.0, total - spent - price)
    # Never more than there is, as the price beside it says it; nine places, as a difference of floats ends in noise.
    left, rest = (
        left_in_words(one, significant(float(rounded_down(Decimal(str(round(one, 9))))), 3)) for one in (now, then)
    )
    whole = significant(total, 3)
    words = f"Of a budget of {whole}, {left} is left now, and {rest} after this release."
    bar([spent / total, price / total], words, f"left now {left} of {whole}", f"after this {rest}")


def best_guess(epsilon: float, delta: float = 0.0) -> float:
    """How often the best possible guesser is right about one person, who started from a fair coin.

    Telling two equally likely neighbouring data sets apart from an (ε, δ)-private release succeeds with probability
    at most ``(e^ε + δ) / (1 + e^ε)``: one half plus half the largest total variation distance that (ε, δ) allows.

    References
    ----------
    Kairouz, Oh and Viswanath (2015), The composition theorem for differential privacy, theorem 2.1.
    """
    return min(1.0, (1.0 + delta * math.exp(-epsilon)) / (1.0 + math.exp(-epsilon)))


def odds_sentence(epsilon: float, delta: float = 0.0, protected: str = "person") -> str:
    """The promise in one sentence; ``protected`` is "person" or "record", whatever the release protects."""
    most = percent(best_guess(epsilon, delta), 3)
    return f"A coin-flip (50%) guess about one {protected} can rise to at most {most}."


def odds(epsilon: float, delta: float = 0.0, protected: str = "person") -> None:
    """The promise as a sentence with a bar from a coin flip to certainty."""
    share = best_guess(epsilon, delta)
    before, after = odds_sentence(epsilon, delta, protected).rsplit(" ", 1)
    draw(
        f"""<p class="fg-odds">{in_html(before)} <strong>{in_html(after)}</strong> That is the worst case:
        a guesser who knows everyone else and has all the time in the world.</p>"""
    )
    bar([2 * share - 1], f"{percent(share, 3)} on a scale from 50% to 100%", "50% a coin flip", "100% certain")


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
    from ...figures.density_figures import scale_aside

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
