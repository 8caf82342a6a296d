"""Finding words that nobody listed: everyone reports one word of a public text, and frequent ones come up."""

from __future__ import annotations

import streamlit as st

from ...errors import RequestError
from ...experiments.local_lessons import TITLE, TOP, most_frequent, searched
from ...figures.poll_figures import local_bars, local_in_words
from ...local.hitters.table import FINDERS
from ...words.escapes import in_markdown
from ..frame.charts import show
from ..frame.marks import note

PEOPLE = (10_000, 100_000, 300_000, 1_000_000)
EPSILONS = ("1", "2", "3", "4")


def words_view() -> None:
    """A search for the frequent words of a public text."""
    st.header("Find words that nobody listed", anchor=False)
    note(
        f"Everyone has one word of {TITLE}, cut to six letters, and reports it. No list of words is asked: the search "
        "builds them up, letter by letter, from the reports alone."
    )
    crowd, loss, way, action = st.columns([1.1, 0.9, 1.2, 0.7], gap="medium", vertical_alignment="bottom")
    people = crowd.select_slider("People", PEOPLE, 100_000, key="words-people", format_func=lambda one: f"{one:,}")
    epsilon = loss.select_slider("Local ε", EPSILONS, "3", key="words-epsilon")
    search = way.selectbox("Search", list(FINDERS), format_func=lambda one: FINDERS[one].title, key="words-search")
    asked = action.button("Ask everyone", key="words-ask", type="primary")
    if asked:
        try:
            with st.spinner("Everyone reports, and the search goes on letter by letter"):
                st.session_state["words-found"] = people, searched(search, people, epsilon)
        except RequestError as error:
            st.error(in_markdown(error))
    if "words-found" not in st.session_state:
        return
    people, found = st.session_state["words-found"]
    if found.empty:
        note("The noise hides all words: ask more people, or with a larger ε.")
        return
    show(local_bars(found, people, found["truth"].tolist()), "words-bars", local_in_words(found, people))
    hit = len(set(found["value"]) & set(most_frequent()))
    note(
        f"{hit} of the {TOP} most frequent words were found. The text is public, so the marks may show how many really "
        "had each word."
    )
