"""The yes that a release needs, of its owner and where others approve of theirs, and the time until it is there.

Meanwhile every other page has a line that says how far it is.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import streamlit as st

from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import amount, left_in_words, significant, time_left
from ...privacy.ledger.account import Account, price
from ...releases.forecast.draft import Draft
from ...releases.payment import facts_of
from ...runtime.environment import Line
from ...runtime.parameters import SEED_BITS
from ..frame.marks import Visibility, main_action, mark, note, odds_sentence, rail
from ..frame.session import DESK
from ..frame.visiting import attendance
from ..serving.approvals import Request, State
from ..serving.door import the_door
from ..serving.owners import OwnLedger
from .release_route import has_others, picked_way, title
from .release_task import ReleaseRequest, ReleaseSession, ReleaseTask, Stage

if TYPE_CHECKING:
    from .release_task import ReleaseTask


NEWS_EVERY = 2.0  # Seconds until another page looks again.
# Rows after which a bar is half full where nobody knows how many there are: it only says that it goes on.
UNKNOWN_TOTAL = 1_000_000


def progress(making: ReleaseTask) -> tuple[float, str]:
    """The share that is done, and how far it is in words: private, for the owner's eyes."""
    pace = making.pace
    if making.stage == "sealing":
        again = " and reading them once more for the release" if making.order.first is not None else ""
        return 1.0, f"All records are read. Drawing the noise{again}."
    if making.ahead:
        first = "another one has" if making.ahead == 1 else f"{making.ahead} others have"
        return 0.0, f"Waiting until {first} been made, as this server makes few at once; nothing is spent meanwhile."
    if not pace.rows:
        sorting = making.order.sketch.domain.unit.column is not None
        return 0.0, "Bringing the rows of each person together" if sorting else "Opening the data"
    done = min(1.0, pace.rows / pace.total) if pace.total else pace.rows / (pace.rows + UNKNOWN_TOTAL)
    words = [f"{pace.rows:,} of {pace.total:,} rows read" if pace.total else f"{pace.rows:,} rows read"]
    if pace.rate is not None:
        words.append(f"{significant(pace.rate, 2)} rows a second")
    if pace.seconds_left is not None:
        words.append(time_left(pace.seconds_left))
    return done, " · ".join(words)


def release_news(path: str) -> None:
    """Of whoever has a desk: of a release in the making, or one not yet seen, a line with the way there."""
    desk = st.session_state[DESK]
    if desk.making is not None and not desk.seen:
        (_watch_news if desk.making.running else _news_line)(desk.making, path)


@st.fragment(run_every=NEWS_EVERY)
def _watch_news(making: ReleaseTask, path: str) -> None:
    _news_line(making, path)


def _news_line(making: ReleaseTask, path: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="fg-news"):
        if making.running:
            done, words = progress(making)
            far = f"{100 * done:.0f}%" if making.pace.total else words
            mark(Visibility.PRIVATE, f"A release is being made: {far}")
            st.page_link(path, label="Look at it")
        elif making.release is not None:
            mark(Visibility.PUBLIC, "Your release is ready")
            st.page_link(path, label="See and save it")
        else:
            mark(Visibility.PRIVATE, "Your release was not made")
            st.page_link(path, label="See why")


LOOK_EVERY = 0.5
"""Seconds until the browser looks again how far the work is."""
AT_ONCE = 0.3
"""Seconds that a page waits for a release before it shows how far it is."""
FINDS = {
    "fitting": "how many records fit what is declared",
    "count": "how many records there are",
    "spread": "how far records lie apart",
}
"""What is bought first, by the name of its stage."""


def hash_seed(number: int) -> int:
    """The public seed of the sketch's hash functions: the same while an owner tries settings on one data set."""
    return st.session_state.setdefault(f"release-seed-{number}", secrets.randbits(SEED_BITS))


def release_desk() -> ReleaseSession:
    """Where this visitor's release stands."""
    if DESK not in st.session_state:
        st.session_state[DESK] = ReleaseSession()
    return st.session_state[DESK]


@st.dialog("Release it?", on_dismiss="rerun")
def confirm(desk: ReleaseSession, order: ReleaseRequest, draft: Draft) -> None:
    """Ask once more, in words; the ticket of the order counts once, however often the button is pressed."""
    budget = order.budget
    odds = odds_sentence(float(order.promised.epsilon), float(order.promised.delta), draft.protected)
    # Names are data set names as the owner typed them: as text, in which nothing is Markdown.
    st.markdown(f"You hand out one file, for ever, at the price of **{price(budget)}**.")
    st.text(f"It is paid from the budget of “{order.dataset}”.")
    if priced := [(name, cost) for name, cost in draft.first if cost is not None]:
        parts = " and ".join(f"{FINDS[name]} (ε = {amount(cost.epsilon)} of it)" for name, cost in priced)
        changes = _may_change(draft) if draft.settles_later else "Where hardly any do, nothing more is spent."
        st.markdown(f"It finds out first {parts}. {changes}")
    if order.bought:
        st.markdown(
            f"The file also shows what was found out and paid for before, so what it promises is "
            f"**{price(order.promised)}**."
        )
    st.markdown(odds)
    if order.total is not None:
        st.markdown(f"Its total of **{price(order.total)}** is promised by this, for all releases there will ever be.")
    left = left_in_words(draft.left, f"ε = {amount(draft.left)}")
    st.markdown(
        f"What is spent cannot be had back, even if nobody ever gets the file. "
        f"It leaves **{left}** of the total of {amount(draft.account.total.epsilon)}."
    )
    with st.container(horizontal=True, gap="small"):
        ticket = (order.ticket,)
        yes = st.button("Yes, release it", type="primary", key="release-yes", on_click=desk.confirm, args=ticket)
        no = st.button("Not yet", key="release-no", on_click=desk.decline)
    if yes or no:
        st.rerun()


def _may_change(draft: Draft) -> str:
    """What finding the distance may change of what was shown before it is paid for."""
    follows = "The size of the file follows from it, and the price stays the same."
    if not has_others(draft):
        return follows
    shown = f"“{in_markdown(title(draft.chosen.name))}”"
    if picked_way(draft) == draft.chosen.name:
        return f"It is then made as you chose, with {shown}, if that can be done at that distance. {follows}"
    return f"It may then be made otherwise than with {shown}, as another way may be better. {follows}"


def show_progress(making: ReleaseTask) -> None:
    """Progress with a way out; a release that takes but a moment is there before any of it is drawn."""
    making.start(attendance(), _line())
    if making.wait(AT_ONCE):
        st.rerun()
    st.header("Making the release", anchor=False)
    _watch(making)
    note(
        "You can go on with anything else here meanwhile; it is worked on in the background, and is here when you come "
        "back. Keep this browser tab open: nothing is paid for while nobody is there to get it, and closing the tab "
        "stops it."
    )


@st.fragment(run_every=LOOK_EVERY)
def _watch(making: ReleaseTask) -> None:
    """How far it is, looked at again and again; when it is over, the whole page shows what came of it."""
    if not making.running:
        st.rerun()
    done, words = progress(making)
    with rail(Visibility.PRIVATE, "progress", "Only you see this"):
        st.progress(done, in_markdown(words))
        if making.stage is Stage.READING:
            st.button("Stop, at no cost", key="release-stop", on_click=making.stop)
            note("Nothing is spent before all records are read. Then the price is paid and the noise is drawn.")
        else:
            note("The price is paid now, and cannot be had back.")


@st.cache_resource(show_spinner=False)
def _line() -> Line | None:
    """Where the releases of a server's visitors wait for each other; on one's own computer they do not."""
    door = the_door()
    return None if door is None else Line(door.started.limits.releases_at_once)


def asks_first(order: ReleaseRequest, account: Account, said: str) -> bool:
    """Where a release needs the yes of somebody else and has none yet, offer to ask; whether that is so."""
    ledger = order.ledger
    if not isinstance(ledger, OwnLedger) or not ledger.needs_approval(account.releases, order.cost, account.total):
        return False
    plan = ledger.plan(order.dataset, account.total, order.cost, facts_of(order.sketch))
    found = ledger.approvals.latest(ledger.who, plan)
    if found is not None and _granted(found, ledger):
        note(f"Approved by {in_markdown(', '.join(found.yeses))}, for one release exactly like this.")
        return False
    if found is not None and found.state is State.WAITING:
        said_yes = sum(name != ledger.who for name in found.yeses)
        missing = [f"the yes of a steward ({said_yes} of {ledger.approval.people} given to request {found.number})"]
        note("Nothing is spent until then. Come back with the same choices, or stay: any click here looks again.")
        main_action("Release", missing, "release")
        return True
    if found is not None and found.state is State.DECLINED:
        note(f"Request {found.number} for exactly this was declined. You may ask for something smaller, or again.")
    words = f"More than ε = {ledger.approval.epsilon:g} of a data set needs the yes of a steward. Nothing is spent now."
    if main_action("Ask for approval", (), "release", words):
        try:
            ledger.approvals.ask(ledger.who, plan)
        except RequestError as error:
            st.error(in_markdown(error))
        else:
            st.rerun()  # which says that it waits, and offers no second request
    return True


def _granted(request: Request, ledger: OwnLedger) -> bool:
    yeses = {name for name in request.yeses if name != ledger.who}
    return request.state is State.WAITING and len(yeses) >= ledger.approval.people
