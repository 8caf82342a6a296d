"""The side of the Release page: what people will get, what a guesser could gain, and what it costs."""

from __future__ import annotations

import math

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...figures.forecast_figures import error_figure, error_in_words
from ...forecast.columns import column_errors, drowned_columns
from ...forecast.draft import REGRESSION, Draft
from ...forecast.words import error_definition, forecast_sentence, size_and_time, size_limit, typical_answer
from ...words.escapes import in_html
from ...words.numbers import percent, significant
from ...words.phrases import shown
from ..frame.charts import show
from ..frame.marks import Visibility, budget_bar, draw, note, odds, rail
from .outlook import CURVE, errors, limit, promising


def side_panel(draft: Draft) -> DeltaGenerator:
    """Everything that moves with the controls; the place of the error curve, which takes longer to work out."""
    account, after = draft.account, draft.after
    with rail(Visibility.PUBLIC, "forecast", "What people will get"):
        if draft.way is None:
            note("The forecast appears when the choices can be made.")
        else:
            _headline(draft)
        curve = st.container()
        if draft.way is not None:
            note(_made(draft))
    with rail(Visibility.PUBLIC, "risk", "What a guesser could gain"):
        if draft.budget is None:
            note("It depends on ε.")
        else:
            odds(float(draft.total.epsilon), float(draft.total.delta), draft.protected)
    with rail(Visibility.PRIVATE, "budget", "Privacy budget" if account is None else f"Budget of {account.name}"):
        if account is None or after is None:
            note("It appears when the data set has a total.")
        else:
            before = account.spent
            budget_bar(before, max(0.0, after.spent - before), float(account.total.epsilon))
    return curve


def _made(draft: Draft) -> str:
    """How large the file is, and what keeps it from being larger."""
    numbers = f"{math.prod((draft.several or draft.sketch).shape):,} numbers"
    if draft.several is not None:
        return f"This is the question that you are choosing, with its share. All of them come to {numbers} in one file."
    made = f"{numbers}: a file of {size_and_time(draft.forecast)} to make."
    return f"{made} {size_limit(limit(draft))}".strip()


def _headline(draft: Draft) -> None:
    answer = typical_answer(draft, draft.forecast)
    draw(
        f'<p class="fg-figure">{answer.figure} <span>± {answer.band} {in_html(answer.unit)}</span></p>'
        f'<p class="fg-note">{in_html(forecast_sentence(draft, draft.forecast))}</p>'
    )
    if draft.sample is not None:
        note(f"Found on your public sample, “{shown(draft.sample.title)}”: true as far as your records are like it.")
    if draft.question != REGRESSION:
        note(error_definition(draft.forecast))
    hidden = drowned_columns(column_errors(draft.sketch, draft.noise, draft.records))
    if hidden:
        note(hidden)


def error_curve(draft: Draft) -> None:
    """Error against ε, with slack and without, and where the draft stands."""
    pure, slack = errors(draft, slack=False), errors(draft, slack=True)
    epsilons, budget = [float(step) for step in CURVE], draft.budget
    whole = "all records" if draft.measures_closeness else "the distance"
    show(
        error_figure(epsilons, pure, slack, float(budget.epsilon), not budget.pure, whole),
        "release-error-curve",
        error_in_words(epsilons, pure if budget.pure else slack, whole),
    )


def slack_sentence(draft: Draft) -> str:
    """What slack gains here."""
    pure, slack = (promising(draft, slack)[1] for slack in (False, True))
    gain = pure.promised_error / slack.promised_error
    if gain < 1.05:
        return "It would gain nothing here."
    if draft.question == REGRESSION:
        return f"{significant(gain, 2)} × less error here."
    return f"{significant(gain, 2)} × less error here: {slack.error_words} instead of {percent(pure.promised_error)}."
