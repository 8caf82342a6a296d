"""Help for those who do not know a column's bounds: a public file that has them, or a purchase with a share of ε.

A purchase is a small release of its own, written into the ledger first. Every file that shows the bounds has their
price in its promise, see `core.releases.bounded.covering_bounds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import streamlit as st

from ...domain import Numeric
from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...formatting.numbers import listed
from ...privacy.accounting import Cost
from ...privacy.budget import Budget
from ...privacy.choosing.private_bounds import Grid, plan_bounds
from ...privacy.ledger.account import Account, price
from ...privacy.ledger.ledger import Ledger
from ...privacy.neighbours import Neighbours
from ...releases.bounded import private_bounds
from ...releases.payment import check_remembered, unit_words
from ...releases.purchases import Purchase
from ...sources import Upload, open_source
from ...sources.public_tables import public_facts
from ...sources.source_opening import FILE_TYPES
from ..frame.marks import Visibility, note, rail
from ..frame.session import Records, Session
from ..own_data.paying import choose_payer, ledger_for
from ..own_data.picking_records import is_own_file
from .column_form import fill_row, used_key
from .declaration_draft import ColumnDraft, Declaration, EntryDraft

DEFAULT_PRICE = 0.1
REACHES = {
    1e3: "a thousand",
    1e4: "ten thousand",
    1e5: "a hundred thousand",
    1e6: "a million",
    1e9: "a billion",
    1e12: "a million millions",
}
# Cells of the grid on which quantiles are found: on the widest range two neighbours differ by about a fifth.
CELLS = 512
SMALLEST = 0.01  # Size below which differences do not matter when a range spans orders of magnitude.


def purchase(visitor: Session, records: Records, declared: Declaration) -> None:
    """Offer to buy the bounds that are empty; what was bought is put into the rows by `fill_bought`."""
    note(
        "The app counts the records in coarse cells, adds noise, and reads off between which bounds all but about one "
        "in fifty lie. That is a release: it is written into the ledger, less is left for the others, and every file "
        "that shows the bounds promises that much less."
    )
    wanted = [column for column in declared.columns if _lacks_bounds(column)]
    if not wanted:
        note("Every column in use has its bounds. Empty a column's bounds to buy them.")
        return
    try:
        ledger = ledger_for(visitor, records.sample)
        unit = declared.unit
        neighbours, account, lacking = choose_payer(
            visitor, ledger, records, records.number, unit_words(unit), slack=False
        )
    except RequestError as error:
        note(str(error))
        return
    cost, reach = st.columns(2, gap="medium")
    epsilon = cost.number_input(
        "Price of all these bounds together (ε)",
        0.0,
        10.0,
        DEFAULT_PRICE,
        step=None,
        format="%.12g",
        key=f"bounds-price-{records.number}",
        persist_state="session",
    )
    most = reach.selectbox(
        "Surely nobody is further from zero than",
        list(REACHES),
        index=None,
        format_func=REACHES.__getitem__,
        key=f"bounds-reach-{records.number}",
        persist_state="session",
    )
    given = {"how far from zero anyone can be": most, "a price": epsilon}
    missing = [*lacking, *(word for word, value in given.items() if not value)]
    words = f"Buy the bounds of {in_markdown(listed([column.name for column in wanted], 3))}" + (
        "" if missing else f" for {price(Budget(epsilon))}"
    )
    if st.button(words, disabled=bool(missing), key="bounds-buy"):
        _buy(visitor, records, wanted, declared, ledger, account, neighbours, Decimal(repr(epsilon)), most)
    if missing:
        note("Still missing: " + "; ".join(missing) + ".")


def _buy(
    visitor: Session,
    records: Records,
    wanted: Sequence[ColumnDraft],
    declared: Declaration,
    ledger: Ledger,
    account: Account,
    neighbours: Neighbours,
    epsilon: Decimal,
    most: float,
) -> None:
    """Spend, then count with noise; the rows are filled in the next run, as theirs are drawn already in this one.

    A second click ends this run at the next word to Streamlit, be it after the price was paid. So there is none between
    paying and remembering, and the run of that click finds everything bought.
    """
    budget, unit = Budget(epsilon, 0, neighbours), unit_words(declared.unit)

    def spend(cost: Cost) -> None:
        check_remembered(ledger, account.name)
        if not account.known:
            total = account.total
            ledger.register(account.name, total.epsilon, total.delta, neighbours, unit)
        facts = {"mechanism": "bounds", "columns": [column.name for column in wanted]}
        ledger.spend(account.name, cost, facts, neighbours=neighbours, unit=unit)

    grids = {column.name: Grid(-most, most, CELLS, "log", SMALLEST) for column in wanted}
    cost = plan_bounds(len(grids), budget, declared.unit).cost

    def buy() -> Purchase:
        return Purchase(private_bounds(records.source, grids, budget, declared.unit, spend=spend), cost)

    try:
        with st.spinner("Counting"):
            visitor.purchases.once(records.number, (tuple(grids), most, budget, declared.unit, account.name), buy)
    except RequestError as error:
        st.error(in_markdown(error))
        return
    visitor.dataset = account.name
    st.rerun()


def _lacks_bounds(column: ColumnDraft | EntryDraft) -> bool:
    if not isinstance(column, ColumnDraft) or column.written:  # what is bought are bounds of numbers as they lie
        return False
    return not (column.categorical or column.vector) and (column.low is None or column.high is None)


def fill_bought(visitor: Session, records: Records) -> None:
    """Put bounds that were just bought into the rows; called before the rows are drawn."""
    bought = visitor.purchases.take_fresh(records.number)
    for place, column in enumerate(records.source.columns):
        if column.name in bought:
            found = bought[column.name]
            fill_row(records.number, place, Numeric(column.name, found.low, found.high))
    vague = [name for name, found in bought.items() if not found.found]
    if vague:
        note(f"Too few records for the noise: the whole range was taken for {listed(vague)}. Narrow it if you can.")


TROUBLE = "bounds-trouble"


def unknown_bounds(visitor: Session, records: Records, declared: Declaration) -> None:
    """Offer to fill the empty bounds of the used columns."""
    if trouble := st.session_state.pop(TROUBLE, None):
        st.error(in_markdown(trouble))
    help_wanted = st.expander(
        "I do not know the bounds", type="compact", key=f"unknown-{records.number}", on_change="rerun"
    )
    if not help_wanted.open:  # nobody's ledger is opened, or made, before it is needed
        return
    with help_wanted:
        with rail(Visibility.PUBLIC, "bounds", "From a public file"):
            _public_file(records)
        st.space("small")
        with rail(Visibility.PRIVATE, "bounds", "Bought with a share of ε"):
            purchase(visitor, records, declared)


def _public_file(records: Records) -> None:
    note(
        "Is there a published table with the same columns, last year's perhaps? What it holds is public already, so "
        "its smallest and largest values may be. Never use your own file for this."
    )
    key = f"public-file-{records.number}"
    st.file_uploader("A public file", type=FILE_TYPES, key=key, on_change=_fill_from_public, args=(records, key))


def _fill_from_public(records: Records, key: str) -> None:
    """Fill what is empty; a callback runs before the page is drawn, while widgets may still be given values."""
    dropped = st.session_state.get(key)
    if dropped is None:
        return
    if is_own_file(dropped.getvalue()):
        st.session_state[TROUBLE] = (
            "That is your own file, whose smallest and largest values would give people away; nothing was read from it."
        )
        return
    places = {
        column.name: place
        for place, column in enumerate(records.source.columns)
        if st.session_state.get(used_key(records.number, place))
    }
    try:
        facts = public_facts(open_source(Upload(dropped.name, dropped.getvalue())), list(places))
    except RequestError as error:
        st.session_state[TROUBLE] = str(error)
        return
    for name, fact in facts.items():
        fill_row(records.number, places[name], fact)
