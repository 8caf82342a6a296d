"""The page Ledger: what it holds, what promises of a total and of further releases would come to."""

from decimal import Decimal
from fractions import Fraction

import streamlit as st

from ..figures.ledger_figures import budget_bars, loss_distribution, time_line
from ..formatting.escapes import in_markdown
from ..formatting.numbers import (
    amount,
    count,
    day,
    left_in_words,
    listed,
    lowered,
    number,
    rounded_down,
    shown,
    significant,
)
from ..privacy.accounting import Cost, PureParts, epsilon_spent, spent
from ..privacy.budget import Budget, Neighbours, PrivacyUnit, Sensitivity, unit_in_words
from ..privacy.calibration import calibrate
from ..privacy.ledger.account import Status, left_of_total, price
from ..privacy.ledger.ledger import Entry, Ledger
from ..privacy.ledger.ledger_records import LONGEST_NAME
from ..releases.payment import unit_words
from ..releases.release_store import question_in_words
from .frame.marks import bar, budget_bar, facts, main_action, note, refusals, show
from .own_data.paying import COUNTED_TOGETHER, EPSILONS, RELATIONS, SLACK, WHY_TOGETHER

MOST_BARS = 15
MOST_LISTED = 12
PICK = "ledger-dataset"


def pick_account(ledger: Ledger, preferred: str | None) -> Status:
    """Draw all budgets as bars and let the owner pick one; its status."""
    statuses = [ledger.status(name) for name in ledger.names()]
    names = [status.name for status in statuses]
    drawn = statuses[-MOST_BARS:]
    words = "; ".join(f"{one.name}: {significant(one.spent, 3)} of {one.epsilon:f} spent" for one in drawn)
    show(
        budget_bars([one.name for one in drawn], [float(one.epsilon) for one in drawn], [one.spent for one in drawn]),
        "ledger-bars",
        words,
    )
    if len(drawn) < len(statuses):
        note(f"The last {MOST_BARS} of {len(statuses)} data sets are drawn.")
    if st.session_state.get(PICK) not in names:
        st.session_state[PICK] = preferred if preferred in names else names[-1]
    name = st.selectbox("Data set", names, key=PICK, persist_state="session")
    return statuses[names.index(name)]


def show_account(status: Status, begins_again: bool = False) -> None:
    """One data set: its promise, what is left, and its releases on a time line; that of a sample is no promise."""
    total, rest = float(status.epsilon), left_of_total(status).removeprefix("ε = ")
    ends = f"ε = {significant(total, 3)} in all", f"left {rest}"
    more = left_in_words(status.left, "")
    bar([status.spent / total], " and ".join(ends), *ends)
    facts(
        [
            (
                f"In all, ε = {amount(status.epsilon)}{_slack(status.delta)} is "
                + ("there to play with" if begins_again else "promised for ever"),
                f"To {unit_in_words(status.unit)}, since {day(status.created)}.",
            ),
            ("Hidden: " + lowered(RELATIONS[status.neighbours]), ""),
            _another(status, more),
        ]
    )
    if not status.releases:
        note("Nothing has been released of it.")
        return
    costs = [entry.cost for entry in status.releases]
    together = [spent(costs[: count + 1], status.delta) for count in range(len(costs))]
    promised = [float(cost.epsilon) for cost in costs]
    words = f"{count(len(costs), 'release')}; ε = {significant(together[-1], 3)} of {number(total)} is spent."
    show(
        time_line(status.created, [entry.when for entry in status.releases], promised, together, total),
        "ledger-time-line",
        words,
    )
    listed = status.releases[-MOST_LISTED:][::-1]
    facts([(_promised(entry) + status.unspent(entry), _made(entry)) for entry in listed])
    if len(listed) < len(costs):
        note(f"And {len(costs) - len(listed)} earlier ones.")


def _another(status: Status, more: str) -> tuple[str, str]:
    """What may follow. With a δ costs add up to less than their sum, and what is left is one number, above."""
    if more:
        return f"{more.capitalize()} is left for another release", ""
    if status.delta:
        return "Releases cost less together than by themselves", "Try what one more would leave, on the right or below."
    return f"One more release of ε = {amount(rounded_down(status.left))} may follow", ""


def _promised(entry: Entry) -> str:
    return f"{day(entry.when)}: ε = {amount(entry.cost.epsilon)}{_slack(entry.cost.delta)}"


def _made(entry: Entry) -> str:
    """What was released, as far as the ledger was told, and the mark by which to find it."""
    words = [
        _asked(entry),
        "made after a look at the exact answer" if entry.note.get("compared_with_exact") else "",
        f"file {shown(str(entry.note['file']))}" if "file" in entry.note else "",
        f"entry {entry.id}",
    ]
    said = ", ".join(word.strip() for word in words if word.strip())
    return said[:1].upper() + said[1:]


def _asked(entry: Entry) -> str:
    """What was asked of which columns; of a model, which it predicts from which others."""
    columns = [str(name) for name in entry.note.get("columns", ())]
    mechanism, parameters = str(entry.note.get("mechanism", "")), entry.note.get("parameters")
    question, label = question_in_words(mechanism), parameters.get("label") if isinstance(parameters, dict) else None
    if question is None and isinstance(label, str):
        others = [name for name in columns if name != label]
        return f"a model of {shown(label)}" + (f" from {listed(others, 4)}" if others else "")
    return (question or shown(mechanism)) + (f" of {listed(columns, 4)}" if columns else "")


def _slack(delta: Decimal) -> str:
    return f" with risk δ = {delta:f}" if delta else ""


EACH_ROW, BY_COLUMN = "Each row is one person", "A column says who the person is"


@refusals()
def register_data_set(ledger: Ledger) -> str | None:
    """Let the owner promise a total; the name of the data set in the run in which it was registered."""
    note(
        "A data set is registered by its first release, or here. The total is a promise to the people in it: all "
        "releases together will never pass it, and it cannot be changed."
    )
    named, total = st.columns([1.6, 1], gap="medium")
    name = named.text_input("Name of the data set", max_chars=LONGEST_NAME, key="ledger-name").strip()
    epsilon = total.number_input(
        "Its total budget, for ever (ε)", 0.0, 100.0, None, step=None, format="%.12g", key="ledger-total"
    )
    slack = st.toggle(COUNTED_TOGETHER, key="ledger-total-slack", wrap=True, help=WHY_TOGETHER)
    hidden, unit, missing = _people()
    words = {"a name for the data set": name, "its total budget": epsilon}
    missing = [*(word for word, given in words.items() if not given), *missing]
    label = f"Register for {price(Budget(epsilon))}" if epsilon else "Register"
    if not main_action(label, missing, "ledger-register", "Nothing is released by this."):
        return None
    ledger.register(name, epsilon, SLACK if slack else 0, hidden, unit)
    return name


def _people():
    """What is hidden of whom: the relation, the unit in the ledger's words, and what is missing."""
    who, what = st.columns(2, gap="medium")
    hidden = what.radio(
        "What should stay hidden?", list(RELATIONS), format_func=RELATIONS.__getitem__, key="ledger-relation"
    )
    if who.radio("Who is one person?", [EACH_ROW, BY_COLUMN], key="ledger-unit") == EACH_ROW:
        return hidden, unit_words(PrivacyUnit()), []
    column = who.text_input("The column", key="ledger-unit-column").strip()
    rows = who.number_input("At most this many rows each", 1, 1_000_000, None, key="ledger-unit-rows")
    given = {"the column that says who the person is": column, "how many rows one person may have": rows}
    missing = [word for word, value in given.items() if not value]
    return hidden, "" if missing else unit_words(PrivacyUnit(column, rows)), missing


ROWS = (1, 10, 100, 1_000, 10_000)
EXAMPLE_ROWS = 1_000


@st.fragment
def what_if(ledger: Ledger, status: Status) -> None:
    """Let the owner try a release without making it."""
    epsilon = st.select_slider(
        "One more release at ε =",
        EPSILONS,
        EPSILONS[20],
        format_func=amount,
        key="ledger-epsilon",
        persist_state="session",
    )
    rows = st.select_slider(
        "of a sketch of … rows",
        ROWS,
        EXAMPLE_ROWS,
        format_func=lambda rows: f"{rows:,}",
        key="ledger-rows",
        persist_state="session",
        help="A single count has one row; a density sketch has hundreds or thousands.",
    )
    slack = status.delta > 0 and st.toggle(
        "with a one-in-a-million risk", key="ledger-slack", persist_state="session", wrap=True
    )
    preview = ledger.what_if(status.name, cost_of_rows(epsilon, rows, slack, status.neighbours))
    if not preview.admitted:
        st.warning(in_markdown(preview.refusal))
        return
    added = max(0.0, preview.spent - status.spent)
    budget_bar(status.spent, added, float(status.epsilon))
    adds = significant(added, 3)
    note(f"It may be made. By itself it promises ε = {amount(epsilon)}, and it adds {adds} to what is spent.")


def cost_of_rows(epsilon, rows: int, slack: bool, neighbours: Neighbours) -> Cost:
    """The cost of a sketch in which a record touches one counter a row (or two, when it is replaced)."""
    touched = rows * (1 if neighbours is Neighbours.ADD_REMOVE else 2)
    sensitivity = Sensitivity(touched, touched, parts=rows, unit_shifts=True)
    delta = SLACK if slack else 0
    return Cost.of([(sensitivity, calibrate(sensitivity, Fraction(epsilon), Fraction(delta)))], epsilon, delta)


def explain_composition(status: Status) -> None:
    """Why many small losses together are less than their sum; with the ledger's own figures."""
    delta = status.delta or SLACK
    together = epsilon_spent([PureParts(Fraction(1, EXAMPLE_ROWS), EXAMPLE_ROWS)], float(delta))
    shown = significant(together, 3)
    rows = f"{EXAMPLE_ROWS:,} rows at ε = 1"
    if status.delta:
        note(
            f"A release of {rows} gives away a thousandth in every row, now for and now against the truth about "
            "someone. So many small coins hardly ever fall alike: with a one-in-a-million risk, all rows together "
            f"count as ε = {shown}."
        )
    else:
        note(
            "This total was promised without such a risk, so the ε of its releases add up to the last digit. A total "
            f"with a one-in-a-million risk would count a release of {rows} as {shown} only: every row gives away "
            "little, now for and now against the truth about someone, and so many small coins hardly ever fall alike."
        )
    words = f"What all rows give away is spread around zero: hardly ever beyond {shown}, never beyond 1."
    show(loss_distribution(1.0, EXAMPLE_ROWS, together), "ledger-losses", words)
