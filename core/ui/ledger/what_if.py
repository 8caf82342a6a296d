"""What one more release would do, and why costs together are less than their sum."""

from __future__ import annotations

from fractions import Fraction

import streamlit as st

from ...figures.ledger_figures import loss_distribution
from ...privacy.accounting import Cost, PureParts, epsilon_spent
from ...privacy.calibration import calibrate
from ...privacy.ledger.ledger import Ledger, Status
from ...privacy.neighbours import Neighbours, Sensitivity
from ...words.escapes import in_markdown
from ...words.numbers import amount, significant
from ..frame.bars import budget_bar
from ..frame.charts import show
from ..frame.marks import note
from ..release.privacy import EPSILONS, SLACK

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
