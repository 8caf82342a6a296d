"""Data: pick records and say what is publicly known about them."""

import streamlit as st

from core.domain import Domain
from core.domain.domain import LONGEST_RECORD
from core.errors import RequestError
from core.formatting.escapes import in_markdown
from core.privacy.ledger.log import Did
from core.privacy.neighbours import PrivacyUnit
from core.sources.samples import sample
from core.ui.data.column_form import column_rows
from core.ui.data.declaration_draft import Declaration
from core.ui.data.filling_rows import offer_codebook, offer_common_knowledge
from core.ui.data.set_commands import offer_commands
from core.ui.data.unknown_bounds import fill_bought, unknown_bounds
from core.ui.frame.marks import Visibility, facts, main_action, note, rail, side
from core.ui.frame.navigation import DATA, RELEASE
from core.ui.frame.session import OwnData, Records, Session
from core.ui.frame.visiting import write_down
from core.ui.own_data.picking_records import pick_records
from core.ui.surroundings import frame

CLAMP, DROP = "Move them to the nearest bound", "Leave those rows out"
SKIP, REFUSE, OWN = "Leave those rows out", "Stop, and say where", "Keep them as a group of their own"
EACH_ROW, BY_COLUMN = "Each row is one person", "A column says who the person is"

WHY = """
Suppose this page read the smallest and the largest salary off your data and suggested them as bounds. The bounds go
into every released file, so that file would say, without any noise, what the best-paid person earns.

Someone who knows all salaries but one could go further: they compare the bound in the file with what they know, and
read the missing salary off it. Histograms, averages and counts shown here would leak in the same way, one look at a
time, as soon as anything you publish depends on what you saw.

So you type what you know **without** looking: nobody is older than 125, a percentage lies between 0 and 100. Wide
bounds cost some accuracy. Narrow ones are not dangerous either: a value outside is moved to the bound.
"""


def declare(visitor: Session, records: Records) -> Declaration:
    picked = sample(records.sample) if records.sample else None
    known = None if picked is None else picked.domain
    if known is not None:
        start_person(records, known.unit)
    what_was_found(records)
    st.header("What could anyone have?", anchor=False)
    note("Think of anyone, not of the people in this file. What you type here becomes public with the release.")
    fill_bought(visitor, records)
    if records.sample is None:
        offer_codebook(records)
    columns = column_rows(records.source.columns, records.number, picked)
    st.header("Who is one person?", anchor=False)
    unit_column, unit_records, each_row = person(records)
    record = what_one_row_is(records, known)
    st.header("Rows that do not fit", anchor=False)
    outside, missing = st.columns(2, gap="large")
    clamp = outside.radio("Values outside the bounds", [CLAMP, DROP], key="data-outside", persist_state="session")
    gaps = missing.radio(
        "Rows with missing values",
        [SKIP, REFUSE, OWN],
        key="data-missing",
        persist_state="session",
        help="A group of their own counts how many miss a value, column by column. Tables have one for categories, "
        "numbers and dates; curves and distances leave out rows that miss a number or a date.",
    )
    return Declaration(
        columns,
        "clamp" if clamp == CLAMP else "drop",
        {SKIP: "drop", REFUSE: "refuse", OWN: "category"}[gaps],
        unit_column,
        unit_records,
        each_row,
        known,
        record,
    )


def what_was_found(records: Records) -> None:
    if records.sample:
        columns = f"{records.title}: {len(records.source.columns):,} columns"
        note(f"{columns}. It is a sample, and nobody's secret; here it is treated as if it were.")
    elif records.found is not None:
        with rail(Visibility.PRIVATE, "found", "What was found, which only you see"):
            facts(records.found.facts(records.title))


def start_person(records: Records, unit: PrivacyUnit) -> None:
    """Start from who one person is in a sample; what is chosen afterwards stays."""
    number = records.number
    if unit.column is not None and f"data-who-{number}" not in st.session_state:
        st.session_state[f"data-who-{number}"] = BY_COLUMN
        st.session_state[f"data-id-{number}"] = unit.column
        st.session_state[f"data-rows-{number}"] = unit.records


def person(records: Records) -> tuple[str | None, int | None, bool]:
    """The id column, the most rows a person keeps, and whether each row is a person by itself."""
    number = records.number
    who = st.radio(
        "Who is one person?",
        [EACH_ROW, BY_COLUMN],
        key=f"data-who-{number}",
        persist_state="session",
        label_visibility="collapsed",
    )
    if who == EACH_ROW:
        note("If someone may appear in several rows, only a single row of theirs is protected.")
        return None, None, True
    names = [column.name for column in records.source.columns]
    column, most = st.columns(2, gap="large")
    chosen = column.selectbox("The column", names, index=None, key=f"data-id-{number}", persist_state="session")
    rows = most.number_input(
        "At most this many rows each", 1, 1_000_000, None, key=f"data-rows-{number}", persist_state="session"
    )
    note("Of anyone with more, that many are picked at random. More rows a person need more noise.")
    return chosen, rows, False


def what_one_row_is(records: Records, known: Domain | None) -> str:
    """What a row is called in every answer; people, unless the owner says otherwise."""
    key = f"data-record-{records.number}"
    if known is not None:
        st.session_state.setdefault(key, known.record)
    typed = st.text_input(
        "What is one row, in a word?",
        key=key,
        persist_state="session",
        max_chars=LONGEST_RECORD,
        placeholder="person",
        width=260,
        help="Such as person, visit, star or loan. Answers count them by this word, which becomes public.",
    )
    return " ".join((typed or "").split())


def consequences(declared: Declaration) -> None:
    with rail(Visibility.PUBLIC, "becomes", "Becomes public by this"):
        facts(declared.becomes_public() or [("Nothing yet", "It grows as you type.")])
    st.space("small")
    with rail(Visibility.PRIVATE, "stays", "Stays private"):
        facts([("Every value in every row", ""), ("The exact number of rows", ""), ("The name of the file", "")])


def keep_declaration(declared: Declaration) -> None:
    """Hand out what was declared as a file, for the next time, the command line and Python."""
    try:
        text = declared.file()
    except RequestError:
        return  # the button below says what is wrong
    with st.expander("Keep this declaration as a file", type="compact"):
        note("The command line takes it with `--declaration`, and this page under “Fill the rows from a codebook”.")
        st.code(text, language="yaml")
        st.download_button("Save the declaration", text, "declaration.yaml", "application/yaml", key="data-keep")


def finish(visitor: Session, records: Records, declared: Declaration) -> None:
    missing = declared.still_missing()
    if not missing:
        keep_declaration(declared)
    if not main_action("Use this data", missing, "data-use", "Nothing is released by this; the next page does that."):
        return
    try:
        domain = declared.domain()
        write_down(Did.DECLARED, {"columns": list(domain.names)})
        bought = visitor.purchases.paid_for(records.number, domain.names)
        visitor.own = OwnData(records.title, records.source, domain, records.sample, bought, declared.longest)
    except RequestError as error:
        st.error(in_markdown(error))
    else:
        st.switch_page(RELEASE.path)


with frame(DATA) as visitor:
    main, aside = st.columns([3.2, 1], gap="large")
    with main:
        records = pick_records(visitor)
        if records is None:
            declared = Declaration(())
            main_action("Use this data", ["some records"], "data-use")
        else:
            declared = declare(visitor, records)
            offer_common_knowledge(records, declared)
            unknown_bounds(visitor, records, declared)
            if records.sample is None:
                offer_commands(records)
            with st.expander("Why is nothing of my data shown here?", type="compact"):
                st.markdown(WHY)
            finish(visitor, records, declared)
    with aside, side("data"):
        consequences(declared)
