"""Choosing methods, the range of ε, and whether there is a δ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

import streamlit as st

from ...figures.comparison_figures import MethodMark, method_marks
from ...formatting.numbers import count
from ...lab.comparison_methods import METHODS, Method
from ...lab.comparison_plan import Plan
from ...privacy.budget import Budget
from ..frame.marks import facts, note
from ..frame.visiting import turn
from ..own_data.privacy_loss import EPSILONS, SLACK
from .subject import Subject

STEPS = tuple(step for step in EPSILONS if step >= Decimal("0.05"))  # The slider of ε has these.
# Where errors are measured within the range, besides its ends.
TRIED = tuple(map(Decimal, ("0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")))


def marks() -> dict[str, MethodMark]:
    """How every method is shown, by its key: only methods for one kind of question are seen together."""
    return {
        key: mark
        for answers in ("closeness", "distance")
        for key, mark in method_marks(
            {key: method.title for key, method in METHODS.items() if method.answers == answers}
        ).items()
    }


def plainly(epsilon: Decimal) -> str:
    """An ε as it stands on a slider and in the address of the page."""
    return f"{epsilon.normalize():f}"


@dataclass(frozen=True)
class Chosen:
    """What is compared."""

    subject: Subject
    plan: Plan  # Which methods, and under which promises.
    left_out: tuple[tuple[Method, str], ...]  # Methods that cannot take part, with the reason.

    @property
    def present(self) -> float:
        """The ε that is looked at: where functions are drawn, or in the middle."""
        plan = self.plan
        return float(plan.shown_at or plan.epsilons[len(plan.epsilons) // 2])

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest ε."""
        return float(self.plan.epsilons[0]), float(self.plan.epsilons[-1])


def choose_plan(subject: Subject) -> Chosen | None:
    """Draw the choices, folded so that curves are what one sees first; None while no method is chosen."""
    with st.expander("Methods, range of ε and δ", type="compact"):
        low, high, slack, chosen, left_out = _choices(subject)
        if left_out:
            note(f"{count(len(left_out), 'method')} cannot take part:")
            facts((method.title, refusal) for method, refusal in left_out)
    if not chosen:
        note("No method can answer this question on these columns." if chosen is None else "Pick at least one method.")
        return None
    delta = SLACK if slack else Decimal(0)
    return Chosen(subject, Plan(tuple(chosen), tried_between(low, high), delta, subject.data is not None), left_out)


def _choices(
    subject: Subject,
) -> tuple[Decimal, Decimal, bool, list[str] | None, tuple[tuple[Method, str], ...]]:
    """The ends of ε, whether there is a δ, the methods that were picked, None where none can be, and those left out."""
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        low, high = st.select_slider(
            "Range of the privacy loss ε",
            STEPS,
            (STEPS[0], STEPS[-1]),
            format_func=plainly,
            key="epsilons",
            bind="query-params",
            width=380,
        )
        slack = st.toggle(
            f"With a one-in-a-million risk (δ = {SLACK:f})",
            key="slack",
            bind="query-params",
            help="With a chance of at most one in a million, what comes out may say more about someone than ε allows. "
            "Some methods exist only with it, and most are better.",
        )
    delta = SLACK if slack else Decimal(0)
    taking_part = _taking_part(subject.identity, delta, subject)
    possible = [key for key, refusal in taking_part if refusal is None]
    left_out = tuple((METHODS[key], refusal) for key, refusal in taking_part if refusal is not None)
    chosen = choose_several("Methods", possible, possible, "methods", "query-params") if possible else None
    return low, high, slack, chosen, left_out


def tried_between(low: Decimal, high: Decimal) -> tuple[Decimal, ...]:
    """The ε at which errors are measured within a range."""
    return tuple(sorted({low, high} | {step for step in TRIED if low <= step <= high}))


def first_plan(subject: Subject) -> Plan:
    """What is measured before anything is chosen: all methods that need no δ, over the whole range."""
    methods = tuple(method.key for method, refusal in subject.taking_part(Budget(1)) if refusal is None)
    return Plan(methods, tried_between(STEPS[0], STEPS[-1]), Decimal(0), measured=True)


def first_shown(subject: Subject) -> Plan:
    """The same with the functions that are drawn below."""
    plan = first_plan(subject)
    return replace(plan, shown_at=first_drawn(plan.epsilons), places=len(subject.picture.points))


def first_drawn(epsilons: Sequence[Decimal]) -> Decimal:
    """The ε at which functions are drawn before another is chosen: the one nearest to 1."""
    return min(epsilons, key=lambda epsilon: abs(epsilon.ln()))


# Some methods draw all their public random numbers to know whether they can.
@st.cache_data(scope="session", max_entries=32, show_spinner=False)
def _taking_part(identity: str, delta: Decimal, _subject: Subject) -> list[tuple[str, str | None]]:
    with turn():
        return [(method.key, refusal) for method, refusal in _subject.taking_part(Budget(1, delta))]


def choose_several(
    label: str, options: Sequence[str], start: Sequence[str], key: str, bind: Literal["query-params"] | None = None
) -> list[str]:
    """Let the visitor pick some methods, in the order of the options; what was picked among others no longer counts.

    Parameters
    ----------
    start : Sequence[str]
        What is picked at first, and again whenever the options are others.
    """
    others = st.session_state.get(f"{key}-of", options) != options
    st.session_state[f"{key}-of"] = options
    if others:
        st.session_state[key] = list(start)
    # A choice that was just made here needs no default, and Streamlit would warn that it has two values.
    chosen = st.pills(
        label,
        options,
        selection_mode="multi",
        default=None if others else start,
        key=key,
        bind=bind,
        format_func=lambda key: METHODS[key].title,
    )
    return [option for option in options if option in chosen]
