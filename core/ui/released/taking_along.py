"""Taking along what is shown: a picture, a table, a program that asks it again, a report, a page, and a link to it."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...errors import RequestError
from ...figures.answer_sentences import one_sided
from ...figures.exploration import Centres, Exploration, Modes, Step
from ...figures.programs import notebook_for, script_for
from ...figures.share.catalogue_entries import missing_facts
from ...figures.share.described import CURATORS, Publisher, described
from ...figures.share.passport import Passport
from ...figures.share.shared_page import Asked, share_html
from ...figures.traces import standalone
from ...formatting.escapes import csv_of, in_html, in_markdown
from ...formatting.numbers import listed
from ...releases.comparison import Comparison
from ...releases.release import Release
from ...releases.release_store import public_name
from ...sources.public_tables import bundled_distances, bundled_groups, bundled_releases
from ..frame.marks import draw, main_action, note, offer
from ..frame.session import Opened, Session
from ..frame.visiting import visitor_now
from ..own_data.paying import open_sandbox
from .chosen_view import part_calls, whom
from .kept_files import open_any, open_to_all

REPORT = "Save the report"


def take_along(
    opened: Opened,
    kind: str,
    table: Callable[[], pd.DataFrame],
    steps: tuple[Step, ...] = (),
    figure: go.Figure | Callable[[], go.Figure] | None = None,
    title: str = "",
    remark: str = "",
    typed: bool = False,
    label: str = "Take this along",
) -> None:
    """Offer what a view shows as files; each is made when it is asked for.

    `kind`: One word for the view, fit for the name of a file. `table`: Makes the table of answers. `steps`: what was
    asked, for the program and the notebook; none are offered without steps. `figure`, `title`: the picture, or what
    makes it, and what stands above it. `remark`: what is good to know about the program. `typed`: whether the table is
    offered with the types of its columns, too, and its texts as they are. `label`: what the button says.
    """
    with st.popover(label):
        _file(opened, kind, "Answers (CSV)", "csv", lambda: csv_of(table()))
        if typed:
            _file(opened, kind, "Answers (Parquet)", "parquet", lambda: table().to_parquet(index=False))
        if figure is not None:
            _file(
                opened,
                kind,
                "Picture that zooms (HTML)",
                "html",
                lambda: standalone(figure() if callable(figure) else figure, title),
            )
            st.caption("For a still picture, use the camera above it; the one in the HTML file saves SVG, for print.")
        if steps:
            done = Exploration(opened.name, opened.fingerprint, steps, part_calls(opened))
            _file(opened, kind, "Python script", "py", lambda: script_for(done).encode())
            _file(opened, kind, "Notebook", "ipynb", lambda: notebook_for(done).encode())
            st.caption(f"Both ask the same of the file again, which they look for beside them. {remark}".strip())


def _file(opened: Opened, kind: str, label: str, ending: str, make: Callable[[], bytes]) -> None:
    offer(label, make, f"{opened.stem}-{kind}.{ending}", f"explore-{kind}-{ending}", width="stretch")


def no_report_yet() -> None:
    """The main action while no file is open."""
    main_action(REPORT, ["a released file"], "explore-report")


def report_action(opened: Opened, asked: Opened, compared: tuple[Comparison, str] | None = None) -> None:
    """The main action: the whole file in words and pictures, on one page that may be handed out.

    `compared`: what it is compared with on the page, and the name of that file.
    """
    release, whole = asked.release, opened.release
    looked_at = Asked(overview(release), release, whom(asked), compared)
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-report"):
        offer(
            REPORT,
            lambda: share_html(whole, opened.data, opened.name, looked_at).encode(),
            f"{opened.stem}-report.html",
            "explore-report",
            type="primary",
        )
        what = "its modes" if release.sketch.answers == "closeness" else "how far everyone is"
        shown = f"What it is, what it promises, its picture and {what}"
        if release.sketch.asked_for == "tables":
            shown = "What it is, what it promises, all columns and the pairs that go together"
            shown += "" if compared is None else ", and the difference to the other file"
        elif not has_picture(release):
            shown = "What it is and what it promises"
        words = f"{shown}, on one page that may be handed out."
        draw(f'<p class="fg-missing">{in_html(words)}</p>')


def has_picture(release: Release) -> bool:
    """Whether a report asks for a picture: of sets and products it has none, of tables those of all columns."""
    return not release.domain.holds_sets and release.sketch.asked_for == "places"


def overview(release: Release) -> tuple[Step, ...]:
    """What a report of a file asks besides its picture: its modes, or its centre."""
    if not has_picture(release):
        return ()
    if release.sketch.answers == "closeness":
        return (Modes(),)
    return () if one_sided(release.sketch) else (Centres(),)


RELEASE = "release"
FOLLOWED = "explore-link-followed"  # Session state: the address that was opened last.
DIGITS = 16  # Of a digest, in an address.
EMBEDDED = """
[data-testid="stSidebar"], .st-key-fg-nav, .fg-footer, [data-testid="stBottom"], .stApp h1, .fg-lead,
[data-testid="stExpandSidebarButton"], .stElementContainer:has(h1) { display: none !important; }
.stMainBlockContainer { padding: 0.6rem 1rem !important; }
.st-key-fg-stage { --room: max(20rem, calc(100vh - 9.6rem)) !important; }
"""


def open_linked(visitor: Session) -> None:
    """Open the file that the page's address names, where that is another one than before."""
    address = st.query_params.get(RELEASE, "")
    if not address or st.session_state.get(FOLLOWED) == address:
        return
    st.session_state[FOLLOWED] = address
    for name, opened in visitor.opened.items():
        if len(address) >= DIGITS and opened.fingerprint.startswith(address):
            visitor.current, visitor.counted = name, None
            return
    path = _found(visitor, address)
    if path is None:
        st.error("The file of this link is not on the shelf here, or is not on show; ask whoever sent the link for it.")
        return
    try:
        open_any(visitor, public_name(path.name), path.read_bytes(), keep=False)
    except (RequestError, OSError) as error:
        st.error(in_markdown(error))


def keep_address(visitor: Session) -> None:
    """Put the file that is shown into the page's address, where others can be led to it."""
    opened = visitor.shown if visitor.counted is None else None
    address = opened.fingerprint[:DIGITS] if opened and _found(visitor, opened.fingerprint) else None
    st.session_state[FOLLOWED] = address
    if address is None:
        st.query_params.pop(RELEASE, None)
    elif st.query_params.get(RELEASE) != address:
        st.query_params[RELEASE] = address


def share_offers(opened: Opened) -> None:
    """A link to this picture, and the whole file as a page of its own."""
    # Opened, it is drawn again: what was chosen on the picture since belongs into its link.
    with st.popover("Share", on_change="rerun"):
        offer(
            "One page that needs nothing else (HTML)",
            lambda: share_html(opened.release, opened.data, opened.name).encode(),
            f"{opened.stem}.html",
            "explore-share-page",
            width="stretch",
        )
        note("It opens anywhere, without Python or a network: people ask it, and take the file along.")
        if RELEASE in st.query_params:
            link = address_of(st.context.url or "", chosen())
            draw("<p>A link to this picture, for whoever reaches this app:</p>")
            st.code(link, language=None, wrap_lines=True)
            if visitor_now() is None:  # a served app lets no other page show it
                draw("<p>Inside another page:</p>")
                frame = f'<iframe src="{in_html(link)}&amp;embed=true" width="100%" height="720"></iframe>'
                st.code(frame, language=None, wrap_lines=True)
        else:
            note("It has no link yet: keep it on the shelf of this app under a name.")
        _passport_offer(opened)


def _passport_offer(opened: Opened) -> None:
    """The papers that registries, evaluators and archives ask for, with the five facts that no file knows."""
    with st.expander("Papers for registries and archives"):
        if not opened.release.private:
            note("A teaching file has no passport: its noise can be repeated and protects nobody.")
            return
        note("What registries, evaluators and archives ask, written from the file. Five facts it does not know:")
        curator = st.text_input("Who publishes it", key="passport-curator")
        kind = st.selectbox("What they are", CURATORS, index=None, key="passport-kind")
        use = st.text_input("What it is to be used for", key="passport-use")
        region = st.text_input("Where the people live", key="passport-region")
        licence = st.text_input("Terms of use", key="passport-licence")
        try:
            publisher = Publisher(curator, kind or "", use, region, licence)
        except RequestError as error:
            st.error(in_markdown(error))
            return
        offer(
            "All papers (ZIP)",
            lambda: Passport(described(opened.release, opened.name, opened.data), publisher, opened.data).zipped(),
            f"{opened.stem}-passport.zip",
            "passport-papers",
            width="stretch",
        )
        missing = missing_facts(publisher)
        if missing:
            note(f"Without the {listed(missing)} there is no entry for the registry of deployments among them.")


def chosen() -> list[tuple[str, str]]:
    """What the address of the page says: names and values, some names several times."""
    return [(name, value) for name in st.query_params for value in st.query_params.get_all(name)]


def address_of(page: str, choices: Sequence[tuple[str, str]]) -> str:
    """The address of a page with what was chosen on it."""
    return f"{page.partition('?')[0]}?{urlencode(choices)}"


def dress_embedded() -> None:
    """Inside another page: the picture and the promise, and nothing around them."""
    if st.context.is_embedded:
        draw(f"<style>{EMBEDDED}</style>")


def _found(visitor: Session, address: str) -> Path | None:
    """The file of a name or of the beginning of a digest, among what this visitor may open."""
    for path in _bundled():
        if address == path.stem or (len(address) >= DIGITS and _digest_of_bundled(path).startswith(address)):
            return path
    for shelf, shown in [*open_to_all(), (open_sandbox(visitor).shelf, False)]:
        path = shelf.find(address, shown)
        if path is not None:
            return path
    return None


def _bundled() -> Iterator[Path]:
    for kind in (bundled_releases, bundled_groups, bundled_distances):
        yield from (path for _, path in kind())


@st.cache_data(show_spinner=False)
def _digest_of_bundled(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
