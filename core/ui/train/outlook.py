"""How well a model is likely to do, before anything is spent: from public facts, on public reference records."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from ...domain import Domain
from ...figures.model_figures import EXPLAINED, RIGHT, training_figure, training_in_words
from ...models.records import Task
from ...models.rehearsal import USUAL_RECORDS, yardsticks
from ...models.training import forecast_curve
from ...privacy.budget import Budget
from ...words.numbers import percent
from ..frame.charts import show
from ..frame.marks import note

TRIED = tuple(Decimal(epsilon) for epsilon in ("0.01", "0.1", "1", "10"))
MANY = 1_500
"""Coefficients up to which a curve is drawn while somebody waits."""
RECORDS = tuple(count * 10**power for power in range(2, 8) for count in (1, 2, 5))


def choose_records() -> int:
    """A public guess of how many records there are."""
    count: int = st.select_slider(
        "How many records there are at least",
        RECORDS,
        USUAL_RECORDS,
        format_func=lambda records: f"{records:,}",
        key="train-records",
        help="Say what anyone may know, and do not count your records for it. The forecast depends on it, and where "
        "several classifiers compete how they are made.",
    )
    return count


def outlook(domain: Domain, label: str, budget: Budget, records: int) -> None:
    """The curve of what is right against ε, and what it means."""
    task = Task(domain, label)
    if (task.features.dimensions + 1) * task.rows > MANY:
        note("There are too many coordinates for a forecast to be drawn while you wait.")
        return
    epsilons = sorted({*TRIED, budget.epsilon})
    budgets = tuple(Budget(epsilon, budget.delta, budget.neighbours) for epsilon in epsilons)
    curve = forecast_curve(domain, label, budgets, records=records)
    common, best = yardsticks(domain, label)
    right = [0.0 if offer.rehearsal is None else max(0.0, offer.rehearsal.right) for _, offer in curve]
    best, measure = max(best, *right), RIGHT if task.categories else EXPLAINED
    here = right[epsilons.index(budget.epsilon)]
    steps = [float(epsilon) for epsilon in epsilons]
    kept = max(0.0, here - common) / max(best - common, 1e-9)
    st.markdown(
        f"A forecast on made-up records: about **{percent(min(kept, 1.0))}** of what could be learnt beyond "
        f"{measure.least} is kept."
    )
    show(
        training_figure(steps, right, float(budget.epsilon), common, best, measure),
        "train-outlook",
        training_in_words(steps, right, common, best, measure),
    )
    note(
        "How predictable your own column is, only your records know, and nobody looked at them. The curve says at "
        "which ε noise begins to matter for so many columns and records."
    )
