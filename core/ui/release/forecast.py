"""The side of the Release page: what people will get, what a guesser could gain, and what it costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...figures.forecast import error_figure, error_in_words
from ...words.escapes import in_html
from ...words.numbers import percent, significant
from ..frame.bars import budget_bar
from ..frame.charts import show
from ..frame.marks import Visibility, note, rail
from ..frame.markup import draw
from ..frame.odds import odds
from .outlook import CURVE, Outlook
from .words import forecast_sentence, size_and_time, typical_answer

if TYPE_CHECKING:
    from .steps import Chosen


def side_panel(chosen: Chosen) -> DeltaGenerator:
    """Everything that moves with the controls; the place of the error curve, which takes longer to work out."""
    draft, seen, account, after = chosen.draft, chosen.seen, chosen.account, chosen.after
    with rail(Visibility.PUBLIC, "forecast", "What people will get"):
        if draft is None or seen is None:
            note("The forecast appears when the choices can be made.")
        else:
            _headline(seen)
        curve = st.container()
        if seen is not None:
            note(f"{math.prod(seen.sketch.shape):,} numbers: a file of {size_and_time(seen.chosen)} to make.")
    with rail(Visibility.PUBLIC, "risk", "What a guesser could gain"):
        if draft is None:
            note("It depends on ε.")
        else:
            odds(float(draft.budget.epsilon), float(draft.budget.delta), draft.protected)
    with rail(Visibility.PRIVATE, "budget", "Privacy budget" if account is None else f"Budget of {account.name}"):
        if account is None or after is None:
            note("It appears when the data set has a total.")
        else:
            before = account.spent
            budget_bar(before, max(0.0, after.spent - before), float(account.total.epsilon))
    return curve


def _headline(seen: Outlook) -> None:
    answer = typical_answer(seen.draft, seen.chosen)
    draw(
        f'<p class="fg-figure">{answer.figure} <span>± {answer.band} {in_html(answer.unit)}</span></p>'
        f'<p class="fg-note">{in_html(forecast_sentence(seen.draft, seen.chosen))}</p>'
    )


def error_curve(seen: Outlook) -> None:
    """Error against ε, with slack and without, and where the draft stands."""
    epsilons, budget = [float(step) for step in CURVE], seen.draft.budget
    show(
        error_figure(epsilons, seen.pure_errors, seen.slack_errors, float(budget.epsilon), not budget.pure),
        "release-error-curve",
        error_in_words(epsilons, seen.pure_errors if budget.pure else seen.slack_errors),
    )


def slack_sentence(seen: Outlook) -> str:
    """What slack gains here."""
    gain = seen.gain
    if gain < 1.05:
        return "It would gain nothing here."
    slack, pure = percent(seen.slack.relative_error), percent(seen.pure.relative_error)
    return f"{significant(gain, 2)} × less error here: {slack} of a typical answer instead of {pure}."
