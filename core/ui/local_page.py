"""The page Local reports: make a poll and watch it, be one person, be the collector, find words that nobody listed."""

import atexit
from functools import cache
from pathlib import Path
from subprocess import Popen

import streamlit as st

from ..errors import RequestError
from ..figures.local_figures import errors_figure, local_bars, local_in_words, revealed_in_words
from ..formatting.escapes import in_markdown
from ..formatting.numbers import about, listed, percent, significant
from ..lab.crowd_lessons import TITLE, TOP, most_frequent, searched, told
from ..local.oracle_choice import Outlook, meaning, outlook, outlooks, recommended, sentence
from ..local.oracles.oracle import ORACLES
from ..local.poll_server import class_of, link, own_address, picture, serves
from ..local.poll_store import ASKED_BY_BROWSERS, Poll, Polls, usual_file
from ..local.survey import FINDERS, Survey
from ..local.trust import Shuffled, of_counts
from ..runtime.environment import beside
from .frame.marks import Visibility, bar, choose_one, main_action, mark, note, offer, rail, refusals, show
from .frame.visiting import stranger, visitor_now

QUESTION, ANSWERS, EPSILON = "local-question", "local-answers", "local-epsilon"
POLL_EPSILONS = ("0.2", "0.5", "1", "1.5", "2", "3", "4")
POLL_PEOPLE = "local-people"
CLASSES = (15, 30, 60, 120, 300, 1000)
SHOWN_EVERY = 2.0
PORT = 8502


def poll_view() -> None:
    if stranger() is not None or visitor_now() is not None:
        note("Polls are kept on the computer that runs the app, so only its owner can make one.")
        main_action("Make the poll", ["the owner of this computer"], "local-make")
        return
    survey = _asked()
    missing = ["a question and two answers"] if survey is None else []
    if main_action("Make the poll", missing, "local-make", "It is kept on this computer until you delete its file."):
        st.session_state["local-made"] = Polls(usual_file()).make(survey).id
    if survey is not None and st.button("Try it with a made-up class", key="local-pretend"):
        counts = class_of(st.session_state[POLL_PEOPLE], len(survey.answers))
        st.session_state["local-made"] = Polls(usual_file()).make_up(survey, counts).id
    _existing()


@refusals()
def _asked() -> Survey | None:
    """What the teacher typed, as a survey; None while something is missing or wrong."""
    field, outlook_side = st.columns([1.2, 1], gap="large")
    with field:
        question = st.text_input(
            "Question", key=QUESTION, persist_state="session", placeholder="Did you copy homework?"
        )
        typed = st.text_area("Answers, one a line", key=ANSWERS, persist_state="session", placeholder="Yes\nNo")
        epsilon = st.select_slider("Local ε: what each phone gives away", POLL_EPSILONS, "1", key=EPSILON)
        people = st.select_slider("About so many will answer", CLASSES, 30, key=POLL_PEOPLE)
    answers = list(dict.fromkeys(line.strip() for line in typed.splitlines() if line.strip()))
    if not question.strip() or len(answers) < 2:
        return None
    found = [one for one in outlooks(len(answers), people, epsilon) if one.oracle.name in ASKED_BY_BROWSERS]
    best = recommended(found)
    survey = Survey(question.strip(), tuple(answers), best.oracle)
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


@st.cache_resource(show_spinner=False)
def _servers() -> dict[str, Popen[bytes]]:
    """Servers of polls that this app has started, by where they listen; they end with it."""
    started: dict[str, Popen[bytes]] = {}

    def end() -> None:
        for server in started.values():
            server.terminate()

    atexit.register(end)
    return started


@st.fragment(run_every=SHOWN_EVERY)
def _reached(poll: Poll) -> None:
    """Where a poll is answered: a button that serves it in the class's network, then its links and QR code."""
    address = st.text_input("This computer's address in the class's network", own_address(), key="local-address")
    host = address.strip()
    way, server = link(f"{host}:{PORT}", host, PORT, poll.id), _servers().get(host)
    if serves(host, PORT, poll.id):
        _links(poll, way)
        if server is not None and st.button("Stop serving polls", key="local-stop"):
            _servers().pop(host).terminate()
            server.wait()
            st.rerun()
    elif server is not None and server.poll() is None:
        note("The server of polls is starting; its code appears here when it answers.")
    else:
        if server is not None and server.returncode > 0:
            st.error(
                f"Nothing can listen at {in_markdown(host)}, port {PORT}: either that is not this computer's address, "
                "or another program listens there."
            )
        if st.button("Serve polls in this network", key="local-serve", disabled=not host):
            _servers()[host] = beside("__main__", "poll", f"--host={host}", f"--port={PORT}", f"--polls={usual_file()}")
            st.rerun()
        note("A process of its own serves all polls there until the app ends; it opens the file of polls and no other.")


def _links(poll: Poll, way: str) -> None:
    """The links of a poll that is served, with the QR code that phones read."""
    if poll.made_up:
        note("The projector opens this address; nobody can answer in the place of students who never were:")
        st.code(f"{way}/show", language=None, wrap_lines=True)
        return
    links, code = st.columns([2, 1], gap="large")
    with links:
        note("Students open the first address, and the projector the second, which shows the QR code too:")
        st.code(f"{way}\n{way}/show", language=None, wrap_lines=True)
    with code:
        st.image(picture(way), width=200, caption="For the students' phones", alt="QR code of the first address")


@st.fragment(run_every=SHOWN_EVERY)
def _watched(file: str, name: str) -> None:
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
    offer("Save the counts", counted.to_bytes, f"poll-{name}.npz", "local-save")


HOW_OFTEN = ("Never", "Once or twice", "More often", "I would rather not say")
ASKED_WITH = {"One answer": "de", "A few answers": "ss", "A bit for each": "oue"}


def person_view() -> None:
    field, seen = st.columns([1, 1.2], gap="large")
    with field:
        st.markdown("**How often did you copy homework?**")
        answer = st.radio("You think", HOW_OFTEN, key="person-answer")
        how = choose_one("Your phone sends", list(ASKED_WITH), "person-oracle", "One answer")
        epsilon = st.select_slider("Local ε", POLL_EPSILONS, "1", key="person-epsilon")
        flips = st.session_state.setdefault("person-flips", 0)
        if st.button("Flip the coins again", key="person-flip"):
            st.session_state["person-flips"] = flips + 1
    sent = told(ASKED_WITH[how], len(HOW_OFTEN), epsilon, HOW_OFTEN.index(answer), st.session_state["person-flips"])
    with seen, rail(Visibility.PUBLIC, "person", "What travels, and what anyone may conclude"):
        named = [HOW_OFTEN[place] for place in sent.named]
        st.markdown(f"Your phone sends: **{listed(named) if named else 'none of them'}**")
        note("Whoever thought before that all answers were equally likely, thinks now:")
        for name, chance in zip(HOW_OFTEN, sent.chances, strict=True):
            said = percent(float(chance), 2)
            bar([float(chance)], f"{name}: {said}", name, said)
        note(
            f"No answer has become more than {sent.odds:.2f} times likelier than another. These coins are repeatable, "
            "for a lesson; those of a poll are not."
        )


WORD_PEOPLE = (10_000, 100_000, 300_000, 1_000_000)
WORD_EPSILONS = ("1", "2", "3", "4")


def words_view() -> None:
    """A search for the frequent words of a public text."""
    st.header("Find words that nobody listed", anchor=False)
    note(
        f"Everyone has one word of {TITLE}, cut to six letters, and reports it. No list of words is asked: the search "
        "builds them up, letter by letter, from the reports alone."
    )
    crowd, loss, way, action = st.columns([1.1, 0.9, 1.2, 0.7], gap="medium", vertical_alignment="bottom")
    people = crowd.select_slider("People", WORD_PEOPLE, 100_000, key="words-people", format_func=lambda one: f"{one:,}")
    epsilon = loss.select_slider("Local ε", WORD_EPSILONS, "3", key="words-epsilon")
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


EPSILONS = ("0.2", "0.5", "1", "2", "3", "4")
DOMAINS = (2, 4, 10, 30, 100, 300, 1000, 3000, 10_000)
PEOPLE = (100, 1000, 10_000, 100_000, 1_000_000)
SHUFFLED_DELTA = 1e-6  # Of what a crowd hides, where reports come in random order.
SHOWN = ("de", "oue", "ss", "hm", "pgr", "hr")


def collector_view() -> None:
    field, drawn = st.columns([1, 2], gap="large")
    with field:
        domain = st.select_slider("Answers", DOMAINS, 100, key="collector-domain", format_func=lambda one: f"{one:,}")
        people = st.select_slider("People", PEOPLE, 10_000, key="collector-people", format_func=lambda one: f"{one:,}")
        epsilon = st.select_slider("Local ε", EPSILONS, "1", key="collector-epsilon")
    every = _every(domain, people, epsilon)
    with drawn:
        errors = {
            name: [
                one.share_error for size in DOMAINS for one in _every(size, people, epsilon) if one.oracle.name == name
            ]
            for name in SHOWN
        }
        titles = {name: ORACLES[name].title for name in SHOWN if len(errors[name]) == len(DOMAINS)}
        best = recommended(every)
        show(
            errors_figure(DOMAINS, {title: errors[name] for name, title in titles.items()}),
            "collector-errors",
            f"Errors of {len(titles)} oracles over numbers of answers. {sentence(best)}",
        )
    with field, rail(Visibility.PUBLIC, "collector", "What to take"):
        note(sentence(best))
        note(_with_an_owner(best))
        note(Shuffled.of(best.oracle, people).sentence(SHUFFLED_DELTA))
    st.dataframe(
        {
            "oracle": [one.oracle.title for one in every],
            "± points": [float(f"{100 * one.share_error:.3g}") for one in every],
            "bits sent": [one.bits for one in every],
        },
        hide_index=True,
        column_config={
            "± points": st.column_config.NumberColumn(help="To how many points in a hundred a share is known"),
            "bits sent": st.column_config.NumberColumn(help="How long the report of one phone is"),
        },
        key="collector-table",
        alt="Every oracle with its error and the length of its reports, the best first",
    )
    words_view()


def _with_an_owner(best: Outlook) -> str:
    """What it costs that nobody is trusted."""
    found = of_counts(best)
    return (
        f"An owner whom all of them trust would know a share to ± {significant(200 * found.owner, 2)} points at the "
        f"same ε. Local reports need {about(found.needed)} people for that."
    )


@cache
def _every(domain: int, people: int, epsilon: str) -> tuple[Outlook, ...]:
    try:
        return tuple(outlooks(domain, people, epsilon))
    except RequestError:
        return ()
