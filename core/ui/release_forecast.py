"""The side of the Release page: what people will get, what a guesser could gain, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ..domain import Numeric
from ..figures.axes import plain
from ..figures.dots import dots, dots_in_words, normal_outcomes
from ..figures.forecast import (
    PLACES,
    error_figure,
    error_in_words,
    possible_releases,
    possible_releases_figure,
    possible_releases_in_words,
)
from ..figures.rounding import rounded
from .bars import budget_bar
from .marks import Visibility, note, rail
from .markup import draw, escape
from .odds import odds
from .release_charts import show
from .release_draft import Draft
from .release_outlook import CURVE, Outlook

if TYPE_CHECKING:
    from .release_steps import Chosen

BAND = 1.96


def typical_answer(seen: Outlook) -> tuple[str, str]:
    """A typical answer and the reach of its 95% band, rounded to what the error supports."""
    error = seen.chosen.standard_error
    return rounded(seen.chosen.estimate, error), rounded(BAND * error, error)


def side_panel(chosen: Chosen) -> DeltaGenerator:
    """Everything that moves with the controls; the place of the error curve, which takes longer to work out."""
    draft, seen, account, after = chosen.draft, chosen.seen, chosen.account, chosen.after
    with rail(Visibility.PUBLIC, "forecast", "What people will get"):
        if draft is None or seen is None:
            note("The forecast appears when the choices can be made.")
        else:
            _headline(draft, seen)
        curve = st.container()
        if seen is not None:
            forecast = seen.chosen
            size, time = _size(forecast.file_bytes), _time(forecast.seconds)
            note(f"{forecast.rows:,} rows of {forecast.columns:,} counters: {size}, {time}.")
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


def _headline(draft: Draft, seen: Outlook) -> None:
    answer, band = typical_answer(seen)
    empty = rounded(seen.chosen.empty_below, max(seen.chosen.noise_error, 1e-9))
    draw(
        f'<p class="fg-figure">{answer} <span>± {band} {escape(draft.counted)}</span></p>'
        f'<p class="fg-note">A typical answer, and the band that 95 of 100 releases fall into. '
        f"Below about {empty} {escape(draft.counted)} a place looks empty.</p>"
    )


def error_curve(draft: Draft, seen: Outlook) -> None:
    """Error against ε, with slack and without, and where the draft stands."""
    epsilons = [float(step) for step in CURVE]
    show(
        error_figure(epsilons, seen.pure_errors, seen.slack_errors, float(draft.budget.epsilon), not draft.budget.pure),
        "release-error-curve",
        error_in_words(epsilons, seen.pure_errors if draft.budget.pure else seen.slack_errors),
    )


def slack_sentence(seen: Outlook) -> str:
    """What slack gains here."""
    gain = seen.gain
    if gain < 1.05:
        return "It would gain nothing here."
    return f"{gain:.2g} × less error here: {_percent(seen.slack)} of a typical answer instead of {_percent(seen.pure)}."


def _percent(forecast) -> str:
    return f"{100 * forecast.relative_error:.2g}%"


def possible_outcomes(draft: Draft, seen: Outlook) -> None:
    """Fifty releases that could come out, of an imagined crowd and of one answer."""
    lines, counts = st.columns(2, gap="medium")
    chosen = seen.chosen
    axis = next((column for column in draft.domain.columns if isinstance(column, Numeric)), None)
    if axis is not None:
        with lines:
            possible = possible_releases(
                axis.low, axis.high, draft.sketch.point_kernel, _places(draft, axis), chosen.estimate,
                chosen.standard_error,
            )
            words = possible_releases_in_words(possible)
            show(possible_releases_figure(possible, plain(axis.name)), "release-possible", words)
            note(f"Fifty possible releases of an imagined crowd (thick line). {words}")
    with counts:
        outcomes = normal_outcomes(chosen.estimate, chosen.standard_error)
        show(dots(outcomes, "a typical answer"), "release-dots", dots_in_words(outcomes, "a typical answer"))
        note("One answer in fifty possible releases, all of them equally likely.")


def _places(draft: Draft, axis: Numeric) -> np.ndarray:
    """Encoded places along a column, all other columns in the middle of their bounds."""
    low, high = draft.domain.bounds(draft.fineness.kernel.metric)
    place = 0
    for column in draft.domain.columns:
        if column is axis:
            break
        place += column.width
    points = np.tile((low + high) / 2, (PLACES, 1))
    points[:, place] = np.linspace(low[place], high[place], PLACES)
    return points


def _size(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6)):
        if count >= 0.95 * size:
            return f"a file of {rounded(count / size, count / size / 5)} {unit}"
    return f"a file of {rounded(count / 1e3, count / 5e3)} KB"


def _time(seconds: float) -> str:
    if seconds < 90:
        return "a second to make" if seconds < 1.5 else f"about {seconds:.0f} seconds to make"
    return f"about {seconds / 60:.0f} minutes to make"
