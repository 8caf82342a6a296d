"""Data: three decisions (which records, who is one person, how much privacy), and a table of everything else."""

from collections.abc import Sequence

import streamlit as st

from core.domain import Domain
from core.domain.domain import LONGEST_RECORD
from core.domain.drafts import person_among
from core.errors import RequestError
from core.formatting.escapes import in_markdown
from core.privacy.accounting import Cost
from core.privacy.budget import Budget
from core.privacy.ledger.log import Did
from core.sources.public_tables import Sample, sample
from core.ui.column_form import column_table, used_columns
from core.ui.declaration_draft import ColumnDraft, Declaration, keep, restore
from core.ui.filling_rows import (
    offer_codebook,
    offer_common_knowledge,
    offer_own_labels,
    paid_for_lines,
    start_from_sample,
)
from core.ui.finding_out import Decision, decide, fill_found, find, offer_commands
from core.ui.frame.marks import Visibility, facts, main_action, note, rail, side
from core.ui.frame.navigation import DATA, RELEASE
from core.ui.frame.session import OwnData, Records, Session
from core.ui.frame.visiting import write_down
from core.ui.own_data.picking_records import pick_records
from core.ui.surroundings import frame

CLAMP, DROP = "Move them to the nearest bound", "Leave those rows out"
OWN, SKIP, REFUSE = "Keep them as a group of their own", "Leave those rows out", "Stop, and say where"
EACH_ROW, BY_COLUMN = "Each row is one person", "A column says who the person is"

WHY = """
Suppose this page read the smallest and the largest salary off your data and suggested them as bounds. The bounds go
into every released file, so that file would say, without any noise, what the best-paid person earns.

Someone who knows all salaries but one could go further: they compare the bound in the file with what they know, and
read the missing salary off it. Histograms, averages and counts shown here would leak in the same way, one look at a
time, as soon as anything you publish depends on what you saw.

So what nobody knows is found out with noise, for a share of ε, or you type what you know **without** looking: nobody is
older than 125, a percentage lies between 0 and 100. Wide bounds cost some accuracy. Narrow ones are not dangerous
either: a value outside is moved to the bound.
"""


def declare(records: Records, known: Sample | None) -> tuple[Declaration, dict[int, ColumnDraft]]:
    """The second decision, and everything else as it stands; its columns by their place, too."""
    st.header("2 · Who is one person?", anchor=False)
    unit_column, unit_records, each_row = person(records, known)
    if known is not None:
        start_from_sample(records.columns, records.number, known)
    drafts = used_columns(records.columns, records.number, unit_column)
    outside, missing, record = rules(records, None if known is None else known.domain)
    who, sample = (unit_column, unit_records, each_row), None if known is None else known.domain
    return Declaration(tuple(drafts.values()), outside, missing, *who, sample, record), drafts


def what_was_found(records: Records) -> None:
    """Names and kinds, which are all that is looked at before something is released."""
    if records.sample:
        columns = f"{records.title}: {len(records.columns):,} columns"
        note(f"{columns}. It is a sample, and nobody's secret; here it is treated as if it were.")
    elif records.found is not None:
        with rail(Visibility.PRIVATE, "found", "What was found, which only you see"):
            facts(records.found.facts(records.title))


def person(records: Records, known: Sample | None) -> tuple[str | None, int | None, bool]:
    """The id column, the most rows a person keeps, and whether each row is a person by itself.

    A sample says who; otherwise a column whose name says that it tells people apart is proposed.
    """
    names, number = [column.name for column in records.columns], records.number
    proposed = known.domain.unit.column if known is not None else person_among(names)
    if proposed is not None and f"data-who-{number}" not in st.session_state:
        st.session_state[f"data-who-{number}"] = BY_COLUMN
        st.session_state[f"data-id-{number}"] = proposed
        if known is not None:
            st.session_state[f"data-rows-{number}"] = known.domain.unit.records
    who = st.radio(
        "Who is one person?",
        [EACH_ROW, BY_COLUMN],
        key=f"data-who-{number}",
        persist_state="session",
        label_visibility="collapsed",
        horizontal=True,
    )
    if who == EACH_ROW:
        note("If someone may appear in several rows, only a single row of theirs is protected.")
        return None, None, True
    column, most = st.columns(2, gap="large")
    chosen = column.selectbox("The column", names, index=None, key=f"data-id-{number}", persist_state="session")
    rows = most.number_input(
        "At most this many rows each",
        1,
        1_000_000,
        None,
        key=f"data-rows-{number}",
        persist_state="session",
        placeholder="such as 10",
    )
    note("Of anyone with more, that many are picked at random. More rows a person need more noise.")
    return chosen, rows, False


def rules(records: Records, known: Domain | None) -> tuple[str, str, str]:
    """What happens to rows that do not fit, and what one row is called in every answer; all of it has a default."""
    number = records.number
    key = f"data-record-{number}"
    if known is not None:
        st.session_state.setdefault(key, known.record)
    with st.expander("Rows with gaps, values outside the bounds, and what one row is called", type="compact"):
        outside, missing = st.columns(2, gap="large")
        clamp = outside.radio(
            "Values outside the bounds", [CLAMP, DROP], key=f"data-outside-{number}", persist_state="session"
        )
        gaps = missing.radio(
            "Rows with missing values",
            [OWN, SKIP, REFUSE],
            0 if known is None else 1,
            key=f"data-missing-{number}",
            persist_state="session",
            help="A group of their own counts how many miss a value, column by column. Tables have one for categories, "
            "numbers and dates; curves and distances leave out rows that miss a number or a date.",
        )
        typed = st.text_input(
            "What is one row, in a word?",
            key=key,
            persist_state="session",
            max_chars=LONGEST_RECORD,
            placeholder="such as person, visit or loan",
            width=260,
            help="Answers count them by this word, which becomes public.",
        )
    rule = {SKIP: "drop", REFUSE: "refuse", OWN: "category"}[gaps]
    return "clamp" if clamp == CLAMP else "drop", rule, " ".join((typed or "").split())


def consequences(declared: Declaration) -> None:
    """What becomes public by what was said, and what does not."""
    with rail(Visibility.PUBLIC, "becomes", "Becomes public by this"):
        facts(declared.becomes_public() or [("Nothing yet", "It grows as you decide.")])
    st.space("small")
    with rail(Visibility.PRIVATE, "stays", "Stays private"):
        facts([("Every value in every row", ""), ("The exact number of rows", ""), ("The name of the file", "")])


def keep_declaration(declared: Declaration, paid: Sequence[tuple[Cost, Budget]]) -> None:
    """Hand out what was declared as a file, for the next time, the command line and Python."""
    try:
        text = declared.file(paid)
    except RequestError:
        return  # the button below says what is wrong
    with st.expander("Keep this declaration as a file", type="compact"):
        note("The command line takes it with `--declaration`, and this page as a codebook.")
        st.code(text, language="yaml")
        st.download_button("Save the declaration", text, "declaration.yaml", "application/yaml", key="data-keep")


def finish(visitor: Session, records: Records, declared: Declaration, decision: Decision | None) -> None:
    """The one main action: to find out what nobody said, or to go on."""
    missing = declared.still_missing()
    if decision is not None:
        missing = [*missing, *decision.missing]
        if main_action(decision.action, missing, "data-find", decision.consequence):
            find(visitor, records, decision)
        return
    if not missing:
        bought = [(one.cost, one.whole) for one in visitor.purchases.made_of(records.number)]
        keep_declaration(declared, [*paid_for_lines(records), *bought])
    if not main_action("Use this data", missing, "data-use", "Nothing is released by this; the next page does that."):
        return
    try:
        domain = declared.domain()
        records.source.check_columns(domain)  # all columns that cannot be read as they are declared, before they cost
        write_down(Did.DECLARED, {"columns": list(domain.names)})
        bought = visitor.purchases.made_of(records.number, domain.fields)
        paid = tuple(cost for cost, _ in paid_for_lines(records))
        visitor.own = OwnData(records.title, records.source, domain, records.sample, bought, declared.longest, paid)
    except RequestError as error:
        st.error(in_markdown(error))
    else:
        st.switch_page(RELEASE.path)


with frame(DATA) as visitor:
    main, aside = st.columns([3.2, 1], gap="large")
    with main:
        st.header("1 · Which records?", anchor=False)
        records = pick_records(visitor)
        if records is None:
            declared = Declaration(())
            main_action("Use this data", ["some records"], "data-use")
        else:
            what_was_found(records)
            restore(visitor, records)
            fill_found(visitor, records)
            known = sample(records.sample) if records.sample else None
            declared, drafts = declare(records, known)
            decision = decide(visitor, records, declared)
            st.header("What anyone may know of each column", anchor=False)
            note("Think of anyone, not of the people in this file. What stands here becomes public with the release.")
            if known is None:
                offer_codebook(records)
                offer_own_labels(records)
                offer_common_knowledge(records, declared)
            column_table(records.columns, records.number, drafts, declared.unit_column)
            if known is None:
                offer_commands(records)
            with st.expander("Why is nothing of my data shown here?", type="compact"):
                st.markdown(WHY)
            keep(visitor, records)
            finish(visitor, records, declared, decision)
    with aside, side("data"):
        consequences(declared)
