"""Making a poll, and watching it: the teacher's part. Students reach another server, which knows polls alone."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ...errors import RequestError
from ...figures.poll_figures import local_bars, local_in_words, revealed_in_words
from ...local.choosing import meaning, outlook, outlooks, recommended
from ...local.poll.link import link, own_address, picture
from ...local.poll.made_up import class_of
from ...local.poll.store import ASKED_BY_BROWSERS, Poll, Polls, usual_file
from ...local.survey import Survey
from ...words.escapes import in_markdown
from ..frame.charts import show
from ..frame.marks import Visibility, main_action, mark, note, rail
from ..frame.owner import stranger
from ..frame.visiting import visitor_now

QUESTION, ANSWERS, EPSILON = "local-question", "local-answers", "local-epsilon"
EPSILONS = ("0.2", "0.5", "1", "1.5", "2", "3", "4")
PEOPLE = "local-people"
CLASSES = (15, 30, 60, 120, 300, 1000)
SHOWN_EVERY = 2.0
PORT = 8502


def poll_view() -> None:
    """Everything under Ask a class."""
    if stranger() is not None or visitor_now() is not None:
        note("Polls are kept on the computer that runs the app, so only its owner can make one.")
        main_action("Make the poll", ["the owner of this computer"], "local-make")
        return
    survey = _asked()
    missing = ["a question and two answers"] if survey is None else []
    if main_action("Make the poll", missing, "local-make", "It is kept on this computer until you delete its file."):
        st.session_state["local-made"] = Polls(usual_file()).make(survey).id
    if survey is not None and st.button("Try it with a made-up class", key="local-pretend"):
        counts = class_of(st.session_state[PEOPLE], len(survey.answers))
        st.session_state["local-made"] = Polls(usual_file()).make_up(survey, counts).id
    _existing()


def _asked() -> Survey | None:
    """What the teacher typed, as a survey; None while something is missing or wrong."""
    field, outlook_side = st.columns([1.2, 1], gap="large")
    with field:
        question = st.text_input(
            "Question", key=QUESTION, persist_state="session", placeholder="Did you copy homework?"
        )
        typed = st.text_area("Answers, one a line", key=ANSWERS, persist_state="session", placeholder="Yes\nNo")
        epsilon = st.select_slider("Local ε: what each phone gives away", EPSILONS, "1", key=EPSILON)
        people = st.select_slider("About so many will answer", CLASSES, 30, key=PEOPLE)
    answers = list(dict.fromkeys(line.strip() for line in typed.splitlines() if line.strip()))
    if not question.strip() or len(answers) < 2:
        return None
    try:
        found = [one for one in outlooks(len(answers), people, epsilon) if one.oracle.name in ASKED_BY_BROWSERS]
        best = recommended(found)
        survey = Survey(question.strip(), tuple(answers), best.oracle)
    except RequestError as error:
        st.error(in_markdown(error))
        return None
    with outlook_side, rail(Visibility.PUBLIC, "local", "What you will learn"):
        note(f"By {best.oracle.title}, with {people:,} people, {meaning(outlook(best.oracle, people))}")
        note("Coins are flipped on the phones. What comes here is a report, and nobody's answer.")
    return survey


def _existing() -> None:
    """The polls there are: the link of each, its bars, and the way to end it."""
    file = usual_file()
    if not file.exists():
        return
    try:
        polls = Polls(file)
        names = polls.every()[::-1]
    except RequestError:
        st.error("The file of polls cannot be read.")
        return
    if not names:
        return
    st.header("Your polls", anchor=False)
    made = st.session_state.get("local-made")
    name = st.selectbox(
        "Poll",
        names,
        names.index(made) if made in names else 0,
        format_func=lambda one: _title(polls.poll(one)),
        key=f"local-poll-{made}",
    )
    poll = polls.poll(name)
    _reached(poll)
    _watched(str(file), name)
    if poll.made_up and polls.truth(name) is None:
        if st.button("Reveal what they said", key="local-reveal"):
            polls.reveal(name)
            st.rerun()
    elif not poll.made_up and st.button(
        "Closed" if poll.closed else "Close this poll", disabled=poll.closed, key="local-close"
    ):
        polls.close(name)
        st.rerun()


def _title(poll: Poll) -> str:
    return f"{poll.survey.question}{' (a made-up class)' if poll.made_up else ''}"


def _reached(poll: Poll) -> None:
    """The links of a poll, with the QR code that phones read."""
    links, code = st.columns([2, 1], gap="large")
    with links:
        address = st.text_input("This computer's address in the class's network", own_address(), key="local-address")
        way = link(f"{address.strip()}:{PORT}", address.strip(), PORT, poll.id)
        note("Serve all polls there by this command:")
        st.code(f"frostglass poll --host {address.strip()} --port {PORT}", language=None, wrap_lines=True)
        if poll.made_up:
            note("The projector opens this address; nobody can answer in the place of students who never were:")
            st.code(f"{way}/show", language=None, wrap_lines=True)
        else:
            note("Students open the first address, and the projector the second, which shows the QR code too:")
            st.code(f"{way}\n{way}/show", language=None, wrap_lines=True)
    if not poll.made_up:
        with code:
            st.image(picture(way), width=200, caption="For the students' phones", alt="QR code of the first address")


@st.fragment(run_every=SHOWN_EVERY)
def _watched(file: str, name: str) -> None:
    """The bars as they stand."""
    polls = Polls(Path(file))
    counted, truth = polls.counted(name), polls.truth(name)
    if counted is None:
        note("Nobody has answered yet.")
        return
    people, table = counted.tally.people, counted.table()
    mark(Visibility.PUBLIC, f"{people:,} reports; the bars may be handed out")
    show(local_bars(table, people, truth), "local-bars", local_in_words(table, people, truth))
    if truth is not None:
        note(revealed_in_words(table, people, truth))
    st.download_button("Save the counts", counted.to_bytes, f"poll-{name}.npz", key="local-save", on_click="ignore")
