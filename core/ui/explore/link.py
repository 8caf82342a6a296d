"""A file's address: a link opens exactly this picture, also inside another page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

from ...errors import RequestError
from ...figures.share.shared_page import share_html
from ...releases.shelf import public_name
from ...sources.samples import bundled_distances, bundled_groups, bundled_releases
from ...words.escapes import in_html, in_markdown
from ..frame.marks import note
from ..frame.markup import draw
from ..frame.session import Opened, Session
from ..frame.visiting import visitor_now
from ..ledger.opening import open_sandbox
from ..release.shelves import open_to_all

RELEASE = "release"
FOLLOWED = "explore-link-followed"
"""Session state: the address that was opened last."""
DIGITS = 16
"""Of a digest, in an address."""
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
    from .opening import open_any  # which offers links, too

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
        st.download_button(
            "One page that needs nothing else (HTML)",
            lambda: share_html(opened.release, opened.data, opened.name).encode(),
            f"{opened.stem}.html",
            "text/html",
            key="explore-share-page",
            on_click="ignore",
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
