"""The pages of the app, by which all of it names them, and the ways from one to another."""

from dataclasses import dataclass

import streamlit as st

from ...formatting.escapes import in_html
from .marks import Visibility, draw
from .style_and_scripts import offer_presenting
from .visiting import opens, visitor_now, who_is_here


@dataclass(frozen=True)
class Page:
    """A page of the app.

    ``heading`` and ``lead`` stand on top of it; ``promise`` says in a few words who gets to see what is on it.
    """

    path: str
    title: str
    heading: str = ""
    lead: str = ""
    visibility: Visibility | None = None
    promise: str = ""


PRIVATE_PROMISE = "Private: only this browser and the computer that runs the app see what is on this page"
PUBLIC_PROMISE = "Public: everything on this page may be handed out"

HOME = Page("app.py", "Home")
TOUR = "tour"  # Key of the switch, and its name in the address: ``?tour=true`` begins the tour on Home.
DATA = Page(
    "pages/data.py",
    "Data",
    "Describe your data",
    "Say what anyone may know of it. A small part of the promise finds out the rest; until then no value is read.",
    Visibility.PRIVATE,
    PRIVATE_PROMISE,
)
RELEASE = Page(
    "pages/release.py",
    "Release",
    "Release one small file",
    "Choose what people should be able to ask, and how much privacy each person keeps.",
    Visibility.PRIVATE,
    PRIVATE_PROMISE + ", until you release it",
)
TRAIN = Page(
    "pages/train.py",
    "Train",
    "Train a model",
    "Predict one column from all others. The model is a file of plain numbers; your records are not in it.",
    Visibility.PRIVATE,
    PRIVATE_PROMISE + ", until you train it",
)
LEDGER = Page(
    "pages/ledger.py",
    "Ledger",
    "The privacy ledger",
    "Every release costs some privacy, and the costs add up. Here is what was promised, spent and left.",
    Visibility.PRIVATE,
    PRIVATE_PROMISE,
)
EXPLORE = Page(
    "pages/explore.py",
    "Explore",
    "Explore a released file",
    "Ask the released file anything, as often as you like: no answer costs anyone any more privacy.",
    Visibility.PUBLIC,
    PUBLIC_PROMISE,
)
CLASSIFY = Page(
    "pages/classify.py",
    "Classify",
    "Which group is this like?",
    "Ask a released file with groups which of them a place is most like, and whether the noise lets it know.",
    Visibility.PUBLIC,
    PUBLIC_PROMISE,
)
# Each lesson is headed by its own question.
LEARN = Page("pages/learn.py", "Learn")
COMPARE = Page(
    "pages/compare.py",
    "Compare",
    "Which method is best for this?",
    "Every method that can answer, side by side: how far off it is, how long it takes, and what it releases.",
    Visibility.PUBLIC,
    "Public: samples, files that you declare public, and forecasts from public facts",
)

LOCAL = Page(
    "pages/local.py",
    "Local reports",
    "Local reports",
    "Nobody is trusted here: every phone randomises its own answer, and what comes back still adds up.",
    Visibility.PUBLIC,
    "Public: reports are randomised before anyone sees them",
)

COMBINE = Page(
    "pages/combine.py",
    "Combine",
    "Make one release together",
    "Several owners add up what they have, and none of them shows a record to anybody.",
    Visibility.PRIVATE,
    PRIVATE_PROMISE + ", but for the files that you hand on",
)

APPROVE = Page(
    "pages/approve.py",
    "Approve",
    "Releases that wait for a yes",
    "What would be released, of which data set, and at what price. No value of the data is shown here, or anywhere.",
    Visibility.PRIVATE,
    "Private: those who approve releases see what is on this page",
)

GROUPS: tuple[tuple[str, tuple[Page, ...]], ...] = (
    ("Own data", (DATA, RELEASE, LEDGER)),
    ("Released files", (EXPLORE,)),
    ("Understand", (LEARN,)),
    ("For experts", (TRAIN, CLASSIFY, COMPARE, LOCAL, COMBINE)),
)


def draw_navigation() -> None:
    """The sidebar; and one line of the same links, which the style sheet shows in its place on a phone.

    Streamlit's sidebar covers a phone's whole width and stays open when a link in it is followed.
    """
    groups = _groups()
    with st.container(horizontal=True, gap=None, key="fg-nav"):
        for page in (HOME, *(page for _, pages in groups for page in pages)):
            st.page_link(page.path, label=page.title)
    with st.sidebar:
        st.page_link(HOME.path, label=HOME.title, width="stretch")
        for group, pages in groups:
            draw(f'<p class="fg-group">{in_html(group)}</p>')
            for page in pages:
                st.page_link(page.path, label=page.title, width="stretch")
        who_is_here()
        offer_presenting()


def _groups() -> list[tuple[str, tuple[Page, ...]]]:
    """The pages that this visitor may open; that for approvals is there only where others are served."""
    served = visitor_now() is not None
    groups = [*GROUPS, ("Released by others", (APPROVE,))] if served else GROUPS
    opened = [(group, tuple(page for page in pages if opens(page.path))) for group, pages in groups]
    return [(group, pages) for group, pages in opened if pages]
