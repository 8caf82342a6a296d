"""Home below its first picture: the doors, what was released already, and how it works."""

import streamlit as st

from ..figures import drawings
from .frame.marks import Visibility, draw, facts, rail, refusals
from .frame.navigation import DATA, EXPLORE, LEARN, RELEASE
from .frame.session import Session
from .frame.visiting import opens
from .own_data.picking_records import ORIGIN, SAMPLE, take_sample
from .released.kept_files import kept_releases, open_any
from .released.opening_files import made_up, showcase

MAX_RELEASE_MEGABYTES = 100
# The sample that is released without being described first: everyone knows what age and height look like.
TRIED = "health"


def below(visitor: Session) -> None:
    st.header("Released already: look at one", anchor=False)
    showcase()
    st.space("small")
    doors(visitor)
    st.space("medium")
    released_before(visitor)
    released_examples()
    st.space("medium")
    how_it_works()
    st.space("medium")
    what_is_protected()


def door(title: str, sentence: str, visibility: Visibility | None = None) -> None:
    colour = f" fg-door-{visibility.value}" if visibility else ""
    draw(f'<div class="fg-door{colour}"><h2>{title}</h2><p>{sentence}</p></div>')


def doors(visitor: Session) -> None:
    if not opens(DATA.path):  # on a server for others, to whom it was not given
        door("Explore what was released", "Ask a released file anything, as often as you like.", Visibility.PUBLIC)
        if st.button("Open the releases", type="primary", key="door-explore"):
            st.switch_page(EXPLORE.path)
        return
    own, released, sample = st.columns(3, gap="large")
    with own:
        door(
            "Release a data set",
            "You hold records about people and want to publish something useful and safe.",
            Visibility.PRIVATE,
        )
        if st.button("Start with your data", type="primary", key="door-own"):
            st.switch_page(DATA.path)
    with released:
        door("Explore a released file", "You were given a released file. It is all you need.", Visibility.PUBLIC)
        open_released_file(visitor)
    with sample:
        door("Try it on sample data", "You want to see what it does first, with records that are nobody's secret.")
        with st.container(horizontal=True, gap="small"):
            if st.button("Release ages and heights", key="door-try"):
                take_sample(visitor, TRIED)
                st.switch_page(RELEASE.path)
            if st.button("Pick a sample", key="door-sample"):
                st.session_state[ORIGIN] = SAMPLE
                st.switch_page(DATA.path)
        door("Learn by touching", "You want to understand it, or to teach it: small experiments, no data needed.")
        if st.button("Open the lessons", key="door-learn"):
            st.switch_page(LEARN.path)


@refusals()
def open_released_file(visitor: Session) -> None:
    dropped = st.file_uploader(
        "A released file (.npz)", type="npz", max_upload_size=MAX_RELEASE_MEGABYTES, key="door-release"
    )
    if dropped is None:
        return
    open_any(visitor, dropped.name, dropped.getvalue())
    st.switch_page(EXPLORE.path)


def released_before(visitor: Session) -> None:
    """What this visitor released is found again where a visit begins."""
    kept_releases(visitor, "home", "What you released, kept beside your ledger", most=4)


def released_examples() -> None:
    st.header("More to look at, of made-up records", anchor=False)
    made_up()


def how_it_works() -> None:
    st.header("How it works", anchor=False)
    for index, column in enumerate(st.columns(3, gap="large")):
        with column:
            draw(drawings.step(index))


def what_is_protected() -> None:
    st.header("What stays private, what becomes public", anchor=False)
    private, public = st.columns(2, gap="large")
    with private, rail(Visibility.PRIVATE, "stays", "Stays private"):
        facts(
            [
                (
                    "Whether any one person is in the data, and what their record says",
                    "Even from someone who knows everybody else in it.",
                ),
                ("For ever", "No later question, faster computer or leak of other data weakens it."),
                ("By how much", "You choose a number, ε, and see it as odds before anything is released."),
            ]
        )
    with public, rail(Visibility.PUBLIC, "becomes", "Becomes public"):
        facts(
            [
                ("What is true of the group", "If almost everyone in the data smokes, the shape shows it."),
                (
                    "What you type about the data",
                    "Names of columns, bounds and categories go into the file as they are.",
                ),
                ("That a release was made", "With its ε. Several releases add up, and the ledger keeps count."),
            ]
        )
