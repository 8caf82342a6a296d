"""The third decision: how much privacy, out of which total; a part of it finds out what nobody has said.

Finding out is a small release of its own, written into the ledger first. Every file that shows what was found has its
price in its promise; see `core.releases.discovery`.

Records that are sets are released by the command line; the page has the commands to do it.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ..domain.declarations import stated
from ..errors import RequestError
from ..formatting.escapes import in_markdown
from ..formatting.numbers import amount, listed
from ..privacy.budget import Budget
from ..privacy.composition import failing
from ..privacy.ledger.account import Account
from ..privacy.ledger.ledger import Ledger
from ..releases.discovery import bought_alone, by_forecast, format_words, loss_words
from ..releases.discovery_stage import Discovery
from ..releases.payment import LedgerAccount, Purchase, unit_words
from ..runtime.environment import PROGRAM
from ..sources import ColumnInfo
from .declaration_draft import Declaration, keeper
from .filling_rows import fill_entry, leave_out
from .frame.marks import note
from .frame.session import Records, Session
from .own_data.paying import SLACK, WITH_SLACK, choose_epsilon, choose_payer, choose_slack, ledger_for

PURE = (
    "Without the one-in-a-million risk no values of categories can be found, as one that a single person has would "
    "show that person: switch it on, or type the categories."
)
PARTS = {"0.05": "a twentieth", "0.1": "a tenth", "0.15": "15%", "0.2": "a fifth", "0.25": "a quarter"}


@dataclass(frozen=True)
class Decision:
    """What is to be found out, and who pays for it; ``missing`` says in a few words what it lacks."""

    action: str
    missing: tuple[str, ...]
    consequence: str = ""
    stage: Discovery | None = None
    ledger: Ledger | None = None
    account: Account | None = None


def decide(visitor: Session, records: Records, declared: Declaration) -> Decision | None:
    """Draw the third decision, where something is to be found out; None where nothing is.

    Of a sample everything is known, and where everything is said the page Release asks.
    """
    if records.sample is not None:
        return None
    st.session_state.setdefault(WITH_SLACK, True)  # without it no categories can be found
    bought = visitor.purchases.made_of(records.number)
    if not declared.to_find:
        if bought:
            st.header("3 · How much privacy?", anchor=False)
            note(f"Found out for {listed([one.price for one in bought])}. To correct what was found costs nothing.")
            if hidden := _hidden(bought):
                note(hidden)
            heaps = [heap for one in bought if one.found is not None for heap in one.found.heaps]
            if heaps:
                note(f"Where numbers pile up: {' '.join(heaps)}")
            if lines := [one.found.beyond for one in bought if one.found is not None and one.found.beyond]:
                note(in_markdown(" ".join(lines)))
        return None
    st.header("3 · How much privacy?", anchor=False)
    epsilon, slack = choose_epsilon(), choose_slack()
    paying = st.container()
    fine = st.expander("Fine-tune", type="compact", key=f"fine-tune-{records.number}")
    if not declared.each_row and not (declared.unit_column and declared.unit_records):
        note("First say " + ("how many rows one person may have." if declared.unit_column else "who one person is."))
        return Decision("Find out", ())
    try:
        unit = unit_words(declared.unit)
        ledger = ledger_for(visitor, None)
        with paying:
            neighbours, account, missing = choose_payer(
                visitor, ledger, records, records.number, unit, slack, epsilon, fine
            )
    except RequestError as error:
        note(str(error))
        return Decision("Find out", (str(error).removesuffix("."),))
    if epsilon is None:
        return Decision("Find out", ("a privacy loss ε", *missing))
    budget = Budget(epsilon, SLACK if slack else 0, neighbours)
    try:
        asked = Discovery.of_source(
            records.source, budget, unit=declared.unit, columns=[column.name for column in declared.to_find]
        )
        many = fine.number_input(
            "About how many rows?",
            1,
            None,
            None,
            key=f"about-rows-{records.number}",
            placeholder="Nobody may know",
            help="If anybody may know it: with fewer rows more of the promise finds out, so that less becomes “other”.",
        )
        stage = by_forecast(asked, None, many)
        note(_in_words(stage, many))
    except RequestError as error:
        note(str(error))
        return Decision("Find out", (*missing, "something that can be found out"))
    whole = f"ε = {amount(epsilon)}"
    if account is not None and not account.has_room_for(stage.cost):
        missing = (*missing, "room in the total for finding out")
        note(_no_room(account))
    part = PARTS[stage.share]
    consequence = f"{part.capitalize()} of {whole} is spent; the rest is for the release."
    return Decision(f"Find out, for {part} of {whole}", missing, consequence, stage, ledger, account)


def _hidden(bought: Sequence[Purchase]) -> str:
    """What to do where noise hid most of what there was to find; "" where it did not."""
    whys = [why for one in bought for why in one.said.values()]
    hidden = sum(isinstance(why, str) and "noise" in why for why in whys)
    if not whys or 2 * hidden < len(whys):
        return ""
    return (
        f"Noise hid {'all' if hidden == len(whys) else 'most'} columns, as it does where there are few rows: open "
        "their lines and say what anyone may know of them. That costs nothing."
    )


def _no_room(account: Account) -> str:
    """Why a total cannot pay for finding out, and what to do: a second file of one name met a grey button alone."""
    name = in_markdown(account.name)
    if any(failing(cost.events) for cost in account.releases):
        return (
            f"Values were found out of “{name}” before, and a total allows that once. Are these the same people? Then "
            "fill the lines from the declaration that you saved, or say what was found. Are they others? Then give "
            "this data set another name."
        )
    return f"Too little is left of the total of “{name}”: take a smaller ε, or say what is known of the columns."


def _in_words(stage: Discovery, many: float | None) -> str:
    """What finding out gives, and what noise hides, before it is paid for."""
    part = PARTS[stage.share].capitalize()
    if stage.budget.pure:
        told = f"{PURE} {format_words(stage, many, 'rows')}" if stage.texts else ""
        return f"{part} of it finds out formats and ranges. {told}".strip()
    hidden = loss_words(stage, many, "rows")
    return f"{part} of it finds out what nobody said: formats, ranges and frequent values. {hidden}".strip()


def find(visitor: Session, records: Records, decision: Decision) -> None:
    """Spend, then count with noise; the fields are filled in the next run, as theirs are drawn already in this one.

    A second click ends this run at the next word to Streamlit, be it after the price was paid. So there is none between
    paying and remembering, and the run of that click finds everything found.
    """
    stage, account, keep = decision.stage, decision.account, keeper(visitor, records)

    def buy() -> Purchase:
        total = None if account.known else account.total
        payer = LedgerAccount(decision.ledger, account.name, stage.budget, unit_words(stage.unit), total)
        found = bought_alone(stage, records.source, payer)
        names = tuple(one.name for one in found.columns if not one.said)
        price = f"{PARTS[stage.share]} of ε = {amount(stage.budget.epsilon)}"
        said = {
            one.name: one.why if one.column is None else list(stated((one.column,)).items()) for one in found.columns
        }
        bought = Purchase(names, found.cost, stage.budget, found.left, price, found.kept, found, said)
        if keep is not None:
            keep(bought)
        return bought

    try:
        with st.spinner("Finding out"):
            visitor.purchases.once(records.number, (stage.columns, stage.budget, stage.unit, account.name), buy)
    except RequestError as error:
        st.error(in_markdown(error))
        return
    visitor.dataset = account.name
    st.rerun()


def fill_found(visitor: Session, records: Records) -> None:
    """Put what was just found into the fields; before they are drawn."""
    places = {column.name: place for place, column in enumerate(records.columns)}
    for purchase in visitor.purchases.take_fresh(records.number):
        for name, said in purchase.said.items():
            place = places[name]
            if isinstance(said, str):
                leave_out(records.number, place, said)
            else:
                fill_entry(records.number, place, records.columns[place], said, f"found, for {purchase.price}")


TITLE = "Is each record a set: a basket, tags, or whom someone follows?"
LISTS = "lists of items, see below"


def offer_commands(records: Records) -> None:
    """Say that sets are released by the command line, and with which words."""
    with st.expander(TITLE, type="compact"):
        note(
            "A set has no columns with bounds; its question is how many others overlap with it. The command line "
            "releases sets, and the page Explore asks the file that it makes."
        )
        note("Each row holds a whole set, in a list or in a text that is cut, say at every “;” with --separator ';'.")
        st.code(basket_command(records.title, records.columns), language=None, wrap_lines=True)
        if len(records.columns) > 1:
            note("Each row says who and what, as the edges of a graph do; all rows of one person are one set.")
            st.code(edges_command(records.title, records.columns), language=None, wrap_lines=True)


def basket_command(title: str, columns: Sequence[ColumnInfo]) -> str:
    """The command that releases a column of whole sets: the first one with lists, where there is one."""
    lists = [column.name for column in columns if column.lists]
    return _command(title, f"--items {shlex.quote((lists or [columns[0].name])[0])}")


def edges_command(title: str, columns: Sequence[ColumnInfo]) -> str:
    """The command that gathers sets from two columns, the first ones of those that there are."""
    who, what = (column.name for column in columns[:2])
    return _command(title, f"--items {shlex.quote(what)} --gathered --unit {shlex.quote(f'{who}:1')}")


def _command(title: str, items: str) -> str:
    return f"{PROGRAM} release {shlex.quote(title)} {items} --epsilon 1 --out sets.npz"
