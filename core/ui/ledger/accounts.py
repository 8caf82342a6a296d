"""What the ledger holds: all data sets at a glance, and one of them in full."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from ...errors import RequestError
from ...figures.ledger_figures import budget_bars, time_line
from ...privacy.accounting import spent
from ...privacy.ledger.ledger import Entry, Ledger, Status
from ...privacy.unit import unit_in_words
from ...sketches.registry import card
from ...words.numbers import amount, left_in_words, number, rounded_down, significant
from ...words.phrases import count, day, listed, lowered, shown
from ..frame.bars import bar
from ..frame.charts import show
from ..frame.marks import facts, note
from ..release.privacy import RELATIONS

MOST_BARS = 15
MOST_LISTED = 12
QUESTIONS = {
    "tables": "the whole table",
    "classes": "which group a place is like",
    "parts": "several questions",
    "bounds": "bounds",
    "quantiles": "quantiles",
    "count": "how many there are",
}
"""What mechanisms were asked whose card does not say it."""
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
    total, left = float(status.epsilon), max(0.0, float(status.epsilon) - status.spent)
    rest = left_in_words(left, significant(left, 3))
    ends = f"spent {significant(status.spent, 3)}", f"left {rest} of {significant(total, 3)}"
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
            (
                f"{more.capitalize()} is left for another release"
                if more
                else f"One more release of ε = {amount(rounded_down(status.left))} may follow",
                "As a single number; a sketch of many rows may have more, as they add up to less."
                if status.delta
                else "",
            ),
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
    facts([(_promised(entry), _made(entry)) for entry in listed])
    if len(listed) < len(costs):
        note(f"And {len(costs) - len(listed)} earlier ones.")


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
    question, label = _question(mechanism), parameters.get("label") if isinstance(parameters, dict) else None
    if question is None and isinstance(label, str):
        others = [name for name in columns if name != label]
        return f"a model of {shown(label)}" + (f" from {listed(others, 4)}" if others else "")
    return (question or shown(mechanism)) + (f" of {listed(columns, 4)}" if columns else "")


def _question(mechanism: str) -> str | None:
    """What was asked, as far as a mechanism tells; None for a model, and for one of another version."""
    if mechanism in QUESTIONS:
        return QUESTIONS[mechanism]
    try:
        answers = card(mechanism).answers
    except RequestError:
        return None
    return {"closeness": "how dense it is", "distance": "how far everyone is", "regression": "what predicts what"}.get(
        answers, answers
    )


def _slack(delta: Decimal) -> str:
    return f" with risk δ = {delta:f}" if delta else ""
