"""What a release costs and who pays: how much privacy each person keeps, which ledger, and which data set in it."""

import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import amount, listed, rounded_down
from ...privacy.budget import Budget, Neighbours
from ...privacy.ledger.account import Account
from ...privacy.ledger.ledger import Ledger
from ...privacy.ledger.ledger_records import LONGEST_NAME, look_alike, named_after
from ...privacy.ledger.ledger_store import default_place
from ...releases.payment import with_columns
from ...releases.release_store import Sandbox
from ..frame.marks import note, odds_sentence, refusals
from ..frame.session import OwnData, Session
from ..frame.visiting import stranger, visitor_now
from ..serving.door import the_door
from ..serving.owners import served_ledger
from ..serving.settings import Settings

STEP, EXACT, WITH_SLACK, RELATION = ("release-epsilon", "release-epsilon-exact", "release-slack", "release-relation")
START = Decimal(1)
WHAT = (
    "How much the presence of any one person may change what comes out. Smaller is more private, larger is more "
    "accurate, and all of it is paid from the budget."
)
SLACK = Decimal("0.000001")  # The δ behind the switch: one in a million.
COUNTED_TOGETHER = "Count several releases as less than their sum, for a one-in-a-million risk"
WHY_TOGETHER = (
    "Losses of several releases hardly ever all point the same way, so that together they cost less than the sum of "
    "their ε, but for a chance of at most one in a million."
)
# Steps of the slider: round numbers, about equally far apart on a logarithmic scale from 0.01 to 10.
EPSILONS = tuple(
    Decimal(step)
    for step in (
        "0.01 0.012 0.015 0.02 0.025 0.03 0.04 0.05 0.06 0.08 "
        "0.1 0.12 0.15 0.2 0.25 0.3 0.4 0.5 0.6 0.8 "
        "1 1.2 1.5 2 2.5 3 4 5 6 8 10"
    ).split()
)
RELATIONS = {
    Neighbours.ADD_REMOVE: "That someone is in the data at all",
    Neighbours.REPLACE_ONE: "What someone's record says",
}
CAPTIONS = (
    "Nobody can tell whether any one person is in it. How many there are stays private too.",
    "Nobody can tell what any one record holds. That someone is in the data, and how many are, is not hidden.",
)


def left_of(own: OwnData, promised: Budget) -> Budget:
    """What finding out columns left of a promise that it was the first part of; of another one, all of it."""
    if promised != own.within:
        return promised
    left = own.bought[0].left
    left = replace(left, epsilon=rounded_down(left.epsilon))
    less = "" if promised.pure else " With this risk prices come to less together than each of them alone."
    note(
        f"Finding out was paid out of it. What is made takes the rest, ε = {amount(left.epsilon)}, and the file "
        f"promises all of it.{less}"
    )
    return left


@refusals()
def choose_epsilon(live: bool = False) -> Decimal | None:
    """The slider on its logarithmic scale, with an exact field beside it; None while no promise can be made with it.

    `live`: Whether a picture below has the slider, which the field follows.
    """
    st.session_state.setdefault(STEP, START)
    st.session_state.setdefault(EXACT, float(START))
    slider, field = st.columns([4, 1.15], gap="medium", vertical_alignment="bottom", wrap=False)
    if live:
        slider.caption("Slide the ε of the picture, or type it: smaller is more private, larger is more accurate.")
    else:
        slider.select_slider(
            "Privacy loss ε",
            EPSILONS,
            format_func=amount,
            key=STEP,
            persist_state="session",
            on_change=_step_moved,
            help=WHAT,
        )
    typed = field.number_input(
        "Privacy loss ε" if live else "exactly",
        0.0,
        100.0,
        step=None,
        format="%.12g",
        key=EXACT,
        persist_state="session",
        on_change=_exact_typed,
        help=WHAT if live else None,
    )
    if not typed:
        return None
    return Budget(typed).epsilon


def _step_moved() -> None:
    st.session_state[EXACT] = float(st.session_state[STEP])


def _exact_typed() -> None:
    if st.session_state[EXACT]:
        st.session_state[STEP] = nearest_step(Decimal(str(st.session_state[EXACT])))


def set_epsilon(epsilon: Decimal) -> None:
    """Put an ε into the slider and the field, before they are drawn: in a callback."""
    st.session_state[EXACT], st.session_state[STEP] = float(epsilon), nearest_step(epsilon)


def choose_slack(sample: bool = False) -> bool:
    """The switch for δ beside ε, named by what it buys, with its price; how much it buys is said by the forecasts.

    What was tried on a sample says nothing of people's own data, of which no categories can be found without it.
    """
    risky = st.toggle(
        f"Less noise, for a one-in-a-million risk (δ = {SLACK:f})",
        key=f"{WITH_SLACK}-sample" if sample else WITH_SLACK,
        persist_state="session",
        wrap=True,
        help="Less noise is needed to hide a person in many numbers at once. Off, the promise is pure: ε always holds.",
    )
    note(
        "Its price: with a chance of at most one in a million, what comes out may say more about someone than ε allows."
    )
    return risky


def choose_relation(settled: Neighbours | None) -> Neighbours:
    """What is hidden about a person; a data set that the ledger knows has settled it already."""
    if settled is not None:
        st.session_state[RELATION] = settled
    chosen = st.radio(
        "What should stay hidden?",
        list(RELATIONS),
        format_func=RELATIONS.__getitem__,
        captions=CAPTIONS,
        help="Ask what it says about someone to be on the list. To be among the patients of a clinic says much; to "
        "have been drawn for a survey of all voters says next to nothing.",
        key=RELATION,
        persist_state="session",
        disabled=settled is not None,
    )
    if settled is not None:
        note("The budget of this data set was promised for this, and promises of two kinds do not add up.")
    return chosen


def nearest_step(epsilon: Decimal) -> Decimal:
    """The step of the slider that is nearest to an ε, on its logarithmic scale."""
    return min(EPSILONS, key=lambda step: abs((step / epsilon).ln()))


VARIABLE, WITNESS = "FROSTGLASS_LEDGER", "FROSTGLASS_WITNESS"


def open_ledger(visitor: Session) -> Ledger:
    """The ledger that ``FROSTGLASS_LEDGER`` names, or the one in the user's data folder; a stranger's own otherwise.

    ``FROSTGLASS_WITNESS`` names its second place, where it has one.

    A ledger lists what its owner holds and has released, which is nobody else's business. So whoever may be someone
    else counts in a ledger of the session, which knows of nothing else and ends with it.

    RequestError when it cannot be used.
    """
    if stranger() is not None:
        return Ledger(visitor.folder / "ledger.sqlite")
    if (owner := visitor_now()) is not None:
        return served_ledger(_rules(), owner.name)
    return Ledger(os.environ.get(VARIABLE) or None, os.environ.get(WITNESS, ""))


def open_sandbox(visitor: Session) -> Sandbox:
    """What counts the releases of bundled samples, beside the ledger of `open_ledger`; it can begin again.

    Where others are served it is one of the session, as somebody else's samples are nobody's business either.
    """
    if stranger() is not None or visitor_now() is not None:
        return Sandbox.beside(visitor.folder / "ledger.sqlite")
    return Sandbox.beside(os.environ.get(VARIABLE) or None)


def ledger_for(visitor: Session, sample: str | None) -> Ledger:
    """The ledger that pays for a release: of a bundled sample, by its name, or of the visitor's own records."""
    return open_ledger(visitor) if sample is None else open_sandbox(visitor).ledger


def known_ledger() -> Ledger | None:
    """The owner's ledger where there is one already; None for strangers; RequestError when it cannot be used."""
    if stranger() is None and (owner := visitor_now()) is not None:
        return served_ledger(_rules(), owner.name)
    where = os.environ.get(VARIABLE) or default_place()
    if stranger() is not None or not ((isinstance(where, str) and "://" in where) or Path(where).expanduser().exists()):
        return None
    return Ledger(where, os.environ.get(WITNESS, ""))


def _rules() -> Settings:
    """Where the ledger is, which holds from the start, and which releases need approval, as of now."""
    door = the_door()
    if (now := door.rules) is None:
        raise RequestError("The configuration of this server cannot be used at the moment, so nothing can be released.")
    return replace(door.started, approval=now.approval)


def note_stranger() -> None:
    """Say why the ledger is not the owner's, where it is not."""
    if (why := stranger()) is not None:
        note(
            f"Others may reach this app ({why}), so what you spend is counted in this session only and forgotten with "
            "it; on your own computer, the app keeps count for ever."
        )


OFTEN = (1, 2, 3, 5, 10)  # How many releases a total may be chosen for.
MOST = Decimal(100)  # No total is larger, as it would promise next to nothing.


def choose_total(epsilon: Decimal | None, number: int, protected: str) -> Decimal | None:
    """Let the owner say how many releases there will ever be, or type the total; None while it is neither.

    Nothing is chosen at first, as it is a promise for ever and the owner's to make. The number follows ε while a choice
    of releases stands; typing a number takes the choice back.

    `epsilon`: What one release costs; without it only the number can be typed. `number`: Number of the pick on the Data
    page, part of every key. `protected`: "person" or "record", whatever is protected.
    """
    often, typed = f"release-often-{number}", f"release-total-{number}"
    asked = epsilon is not None
    times, field = st.columns([1.9, 1], gap="medium", vertical_alignment="bottom") if asked else (None, st.container())
    chosen: int | None = None
    if times is not None:
        chosen = times.segmented_control(
            "How many releases of this quality do you ever want to make?",
            OFTEN,
            key=often,
            persist_state="session",
            help="The total of the data set becomes that many times this ε. It is a promise to the people in it: all "
            "releases together will never pass it, and it cannot be changed later.",
        )
    exact = None if chosen is None or epsilon is None else chosen * epsilon
    if exact is not None and exact > MOST:
        note(f"That would come to ε = {amount(exact)}, and a total is at most {MOST}, as more would promise nothing.")
        exact = None
    if chosen is not None:
        st.session_state[typed] = None if exact is None else float(exact)
    given = field.number_input(
        "Its total budget, for ever (ε)",
        0.0,
        float(MOST),
        None,
        step=None,
        format="%.12g",
        key=typed,
        persist_state="session",
        on_change=_forget,
        args=(often,),
        help="All releases of this data set together will never pass it. It is a promise to the people in it and "
        "cannot be changed later.",
    )
    total = exact if exact is not None else Decimal(str(given)) if given else None
    if total is not None:
        note(f"After all of them together: {_lowered(odds_sentence(float(total), protected=protected))}")
    return total


def _forget(often: str) -> None:
    """A total that was typed is no multiple any more."""
    st.session_state[often] = None


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


SAMPLE_TOTAL = 3
WHAT_IS_FORGOTTEN = "Forgets what was spent on all samples, and the files released of them that are kept here."


def choose_payer(
    visitor: Session,
    ledger: Ledger,
    own: OwnData,
    number: int,
    unit: str,
    slack: bool,
    epsilon: Decimal | None = None,
    fine: DeltaGenerator | None = None,
) -> tuple[Neighbours, Account | None, tuple[str, ...]]:
    """Let the owner name the data set and, when the ledger does not know it, its total; a sample has both.

    `number`: Number of the pick on the Data page, part of every key. `unit`: Whom the release protects, in the ledger's
    words. `slack`: Whether the release needs a total with a δ. `epsilon`: What this release costs, by which a new total
    may be chosen as so many times that; None asks for a number. `fine`: The place of what hardly anyone changes: what
    is hidden, and a δ of the total; None draws it here.

    Returns what the release hides; who pays, None while nobody does; and what is missing, in a few words each.
    """
    if own.sample is not None:
        return _sample_pays(visitor, ledger, own.title, unit, fine or st.container())
    name = _name(ledger, own, number)
    note_stranger()
    if name and (known := ledger.known(name)):
        account = Account.of(known)
        risk = " with a one-in-a-million risk" if account.total.delta else ""
        note(f"Its total is ε = {account.total.epsilon:f}{risk}, for ever.")
        with fine or st.container():
            neighbours = choose_relation(account.total.neighbours)
        trouble = account.mismatch(neighbours, unit)
        if trouble:
            st.error(in_markdown(trouble))
        return neighbours, account, ("a data set that protects the same people",) if trouble else ()
    if others := with_columns(ledger, [column.name for column in own.source.columns]):
        said = listed([f"“{in_markdown(one)}”" for one in others], 3, "or")
        note(f"Of the same columns was released before. Are these the people of {said}? Then choose that data set.")
    total = choose_total(epsilon, number, "record" if unit == "record" else "person")
    with fine or st.container():
        delta = SLACK if _total_slack(slack) else 0
        neighbours = choose_relation(None)
    if name and total:
        return neighbours, Account(name, Budget(total, delta, neighbours), unit), ()
    words = {"a name for the data set": name, "the total budget of the data set": total}
    return neighbours, None, tuple(word for word, given in words.items() if not given)


def _sample_pays(
    visitor: Session, ledger: Ledger, name: str, unit: str, fine: DeltaGenerator
) -> tuple[Neighbours, Account, tuple[str, ...]]:
    """A sample needs no promise: its total is set, and begins again whenever one likes.

    The total has a δ, so that releases with and without one can be tried from it.
    """
    status = ledger.known(name)
    known = None if status is None else Account.of(status)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        note(f"A sample has ε = {SAMPLE_TOTAL} to play with, counted apart from your own data.")
        if known and st.button("Begin again", key="sandbox-begin-again", help=WHAT_IS_FORGOTTEN):
            begin_again(visitor)
    with fine:
        neighbours = choose_relation(None if known is None else known.total.neighbours)
    account = known or Account(name, Budget(SAMPLE_TOTAL, SLACK, neighbours), unit)
    trouble = account.mismatch(neighbours, unit)
    if trouble:
        st.error(in_markdown(trouble))
    return neighbours, account, ("a sample that begins again, as it protects others now",) if trouble else ()


def begin_again(visitor: Session) -> None:
    """Forget what was spent on samples, and run the page again."""
    open_sandbox(visitor).begin_again()
    st.rerun(scope="app")


def _name(ledger: Ledger, own: OwnData, number: int) -> str | None:
    """The name in the ledger's spelling, or None for one that cannot be used."""
    names = ledger.names()
    default = (named_after(own.title, names) or own.title)[:LONGEST_NAME].strip()
    offered = names if default in names or not default.isprintable() else [default, *names]
    typed = st.selectbox(
        "Data set in your ledger",
        offered,
        index=offered.index(default) if default in offered else None,
        accept_new_options=True,
        key=f"release-dataset-{number}",
        persist_state="session",
        help="Whatever is released of the same people must be paid from the same budget, so use one name for them, "
        "always. The name stays in your ledger.",
    )
    typed = (typed or "").strip()
    if not 1 <= len(typed) <= LONGEST_NAME or not typed.isprintable():
        return None
    return typed if typed in names else next((known for known in names if look_alike(known, typed)), typed)


def _total_slack(needed: bool) -> bool:
    """Whether the new total has a δ; a release with one needs it."""
    if needed:
        st.toggle(COUNTED_TOGETHER, True, key="release-total-slack-needed", disabled=True, help=WHY_TOGETHER, wrap=True)
        return True
    return st.toggle(COUNTED_TOGETHER, key="release-total-slack", persist_state="session", help=WHY_TOGETHER, wrap=True)
