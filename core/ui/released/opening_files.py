"""Opening a released file: one dropped, one that comes with the app, or one made or opened before in this session."""

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import streamlit as st

from ...figures.answer_sentences import what_it_is, who_is_protected
from ...figures.figure_axes import View
from ...figures.share.described import bibtex, datacite, manifest_text
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import day, several
from ...sources.public_tables import Sample, bundled_distances, bundled_releases
from ..frame.marks import Visibility, draw, facts, mark, mark_markup, note, offer, rail, refusals
from ..frame.navigation import EXPLORE
from ..frame.session import Opened, Session
from . import public_answers
from .chosen_view import drawable
from .kept_files import keeps_opened, kept_releases, open_any, released_here
from .taking_along import RELEASE, share_offers


def showcase() -> None:
    """Draw the bundled releases of real records, with their stories; each leads to Explore, which opens it."""
    real = [(one, path) for one, path in bundled_releases() if one.source]
    if not real:
        return
    for place, (one, path) in zip(st.columns(len(real), gap="medium"), real, strict=True):
        with place:
            _one(path, one.name, one.title, _words(one))
            draw(f'<p class="fg-note">{in_html(one.story)} <small>{in_html(one.source)}</small></p>')


def gallery() -> None:
    """Draw all bundled releases small; each leads to Explore, which opens it."""
    _row([*bundled_releases()], bundled_distances())


def made_up() -> None:
    """Draw those of made-up records small."""
    _row([(one, path) for one, path in bundled_releases() if not one.source], bundled_distances())


def _row(near: list[tuple[Sample, Path]], far: tuple[tuple[Sample, Path], ...]) -> None:
    row = st.container(horizontal=True, gap="small", key="fg-pictures")
    for one, path in near:
        with row:
            _one(path, one.name, one.title, _words(one))
    for one, path in far:
        with row:
            title = f"{one.title}: distances"
            words = f"Picture of average distances, strongest where everyone is nearest, of: {one.title}"
            _one(path, f"{one.name}-distance", title, words)


def _words(one: Sample) -> str:
    return f"Where {several(one.domain.record)} are many and where few, by the released file: {one.title}"


def _one(path: Path, name: str, title: str, words: str) -> None:
    """A link and no button, which would have the page that is left run once more, and a browser draw it again."""
    with st.container(key=f"gallery-{name}", gap="xsmall"):
        st.image(path.with_suffix(".png"), width="stretch", alt=words)
        with st.container(key=f"gallery-open-{name}"):
            st.page_link(EXPLORE.path, label=title, query_params={RELEASE: path.stem})


def openings_ahead() -> Iterator[None]:
    """Work out with what bundled releases open, one a step, for all visitors: a label may take a second, a map half."""
    for _, path in bundled_releases():
        data = path.read_bytes()
        opened = Opened(path.name, data, public_answers.kept_open(sha256(data).hexdigest(), data))
        public_answers.label(opened.identity, opened)
        columns = drawable(opened.release.domain)
        if len(columns) == 2:
            view = View(columns, ())
            public_answers.picture(opened.identity, opened.release, view)
            public_answers.can_be_pictured(opened, view)
        yield


MAX_MEGABYTES = 100
KEPT_NOWHERE = "It is read in this session only."
WHAT_IT_IS = (
    ("A table of noisy counts", "Made once from private records, and everything needed to ask it questions."),
    ("Nobody's record", "What it says about any one person is hidden by the noise; its ε says how well."),
    ("Safe to open", "It holds numbers and a description, nothing that runs. A damaged or forged file is refused."),
)


@refusals()
def drop_zone(visitor: Session, key: str) -> None:
    """Take a file; a bad one gets one sentence, and what was open stays open."""
    dropped = st.file_uploader("A released file (.npz)", type="npz", max_upload_size=MAX_MEGABYTES, key=key)
    # The uploader hands its file over again on every run; it is opened once.
    if dropped is None or st.session_state.get(f"{key}-read") == dropped.file_id:
        return
    open_any(visitor, dropped.name, dropped.getvalue())
    st.session_state[f"{key}-read"] = dropped.file_id
    st.rerun()


def where_it_goes() -> str:
    """What becomes of a file that is opened: the owner of the computer keeps it, and nobody else does."""
    kept = "It is kept on the shelf of this computer until you remove it." if keeps_opened() else KEPT_NOWHERE
    return f"{kept} You need nothing else: no data, no password, no connection."


def open_first(visitor: Session) -> None:
    """What the page shows while nothing is open."""
    drop, what = st.columns([1.2, 1], gap="large")
    with drop:
        drop_zone(visitor, "explore-file")
        note(where_it_goes())
    with what, rail(Visibility.PUBLIC, "what", "What a released file is"):
        facts(WHAT_IT_IS)
    kept_releases(visitor, "explore")
    released_here(visitor, "explore")
    st.space("medium")
    st.header("Or look at one of these", anchor=False)
    gallery()


def headline(opened: Opened) -> None:
    """One line about what is open: what it is, its ε and its promise; where there is room, what that hides."""
    label, _ = public_answers.label(opened.fingerprint, opened)
    promise = f'<span class="fg-whole">{in_html(label.promise)}</span>'
    line = f"{in_html(what_it_is(label))} · {promise} · {in_html(who_is_protected(label))}"
    roomy = f'<span class="fg-roomy">: {in_html(label.hidden)} · released {day(label.created)}</span>'
    name = f'<strong title="{in_html(opened.name)}">{in_html(opened.called)}</strong>'
    public = mark_markup(Visibility.PUBLIC, "Public")
    draw(f'<p class="fg-odds fg-opened">{public} {name} · {line}{roomy}</p>')
    if not label.private:
        st.warning("A teaching file: its noise can be repeated, so it protects nobody.", icon=":material/school:")


def about(visitor: Session, opened: Opened, fits: Callable[[Opened], bool] = lambda _: True) -> None:
    """What the file promises in full, and the way to another file that ``fits`` the page."""
    with st.popover("Its promise"):
        _, sentences = public_answers.label(opened.fingerprint, opened)
        facts((sentence, "") for sentence in sentences)
        cite(opened)
    share_offers(opened)
    with st.popover("Open"):
        open_another(visitor, opened, fits)


def cite(opened: Opened) -> None:
    """Offer how the file is cited and what it says of itself, as files."""
    label, _ = public_answers.label(opened.fingerprint, opened)
    offers = (
        ("Cite it (BibTeX)", "bib", partial(bibtex, label)),
        ("For a DOI (JSON)", "datacite.json", partial(datacite, label, len(opened.data))),
        ("Its manifest (JSON)", "manifest.json", partial(manifest_text, opened.data)),
    )
    with st.container(horizontal=True, gap="small"):
        for title, ending, make in offers:
            offer(title, make, f"{opened.stem}.{ending}", f"explore-cite-{ending}")


def open_another(visitor: Session, opened: Opened, fits: Callable[[Opened], bool] = lambda _: True) -> None:
    """A drop zone, and the files that are open already and fit the page."""
    drop_zone(visitor, "explore-another")
    others = [name for name, other in reversed(visitor.opened.items()) if name != opened.name and fits(other)]
    if others:
        mark(Visibility.PUBLIC, "Open in this session")
    for name in others:
        if st.button(in_markdown(visitor.opened[name].called), key=f"explore-open-{name}", type="tertiary"):
            visitor.current = name
            st.rerun()
    if st.button("Close this file", key="explore-close"):
        visitor.close(opened.name)
        st.rerun()
    kept_releases(visitor, "explore-another")
