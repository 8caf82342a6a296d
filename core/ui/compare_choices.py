"""Choosing what is compared: on what, which methods, the range of ε, and whether there is a δ."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from hashlib import sha256
from typing import Literal

import streamlit as st

from ..domain import Column, Domain
from ..errors import RequestError
from ..figures.comparison_figures import MethodMark, method_marks
from ..formatting.escapes import in_markdown
from ..formatting.numbers import count
from ..lab.comparison_plan import METHODS, Method, Plan
from ..lab.comparison_trials import from_file
from ..privacy.budget import Budget
from ..releases.forecast.expected_answers import NORMS
from ..releases.forecast.kernel_choice import DEFAULT_SHARE, kernel_at, suggested_kernel
from ..releases.forecast.recommendation import Closeness, Distances
from ..sources import Upload, open_source
from ..sources.public_tables import Sample, public_facts, sample, samples
from ..sources.source_opening import FILE_TYPES
from .compare_subject import QUERIES, RECORDS, Subject, described, kernels_like, sample_subject
from .frame.marks import choose_one, facts, note
from .frame.navigation import DATA
from .frame.session import OwnData, Session
from .frame.visiting import turn
from .own_data.paying import EPSILONS, SLACK
from .own_data.picking_records import DECLARED, is_own_file

ON_SAMPLE, ON_FILE, ON_FACTS = "A sample", "A public file", "My data"
CLOSENESS, DISTANCE = "closeness", "distance"
QUESTIONS = {CLOSENESS: "How dense is it here?", DISTANCE: "How far is everyone?"}
MOST_COLUMNS = 8
FIRST_COLUMNS = 2
COMPARABLE = "A column needs at least two different numbers, or between 2 and 1,000 different texts."


def choose_subject(visitor: Session) -> Subject | None:
    """Draw the choices; None while something is missing, which is said in its place.

    RequestError when the data cannot be read, or cannot be compared.
    """
    with st.container(horizontal=True, gap="medium"):
        on = choose_one("Compare on", [ON_SAMPLE, ON_FILE, ON_FACTS], "compare-on", ON_SAMPLE)
        known = _choose_sample() if on == ON_SAMPLE else None
    if on == ON_SAMPLE:
        return None if known is None else _on_sample(known)
    return _on_file() if on == ON_FILE else _on_facts(visitor)


def _choose_sample() -> Sample | None:
    known = {one.name: one for one in samples() if not one.domain.holds_sets}
    if not known:
        note("This installation has no sample data.")
        return None
    name = st.selectbox(
        "Sample", list(known), format_func=lambda name: known[name].title, key="sample", bind="query-params", width=260
    )
    return known[name]


def _on_sample(known: Sample) -> Subject:
    question = _choose_question(known.domain, Closeness(known.kernel))
    return _sample_subject(known.name, described(question), question)


@st.cache_resource(max_entries=16, show_spinner=False)
def _sample_subject(name: str, described: str, _question: Closeness | Distances) -> Subject:
    """Samples are everyone's, so all visitors share the exact answers about them."""
    return sample_subject(sample(name), _question)


def _on_file() -> Subject | None:
    note(
        "For data that is published already. Never take private records for it: an error measured against exact "
        "answers gives these answers away, piece by piece."
    )
    dropped = st.file_uploader("A public file", type=FILE_TYPES, key="compare-file")
    declared = st.checkbox(DECLARED, key="compare-declared", disabled=dropped is None)
    if dropped is None or not declared:
        return None
    content = dropped.getvalue()
    if is_own_file(content):
        raise RequestError("That is your own private file from the Data page; nothing was read from it.")
    columns, left_out = _file_columns(sha256(content).hexdigest(), dropped.name, content)
    if not columns:
        raise RequestError(f"No column of this file can be compared. {COMPARABLE}")
    if left_out:
        note(f"Left out: {', '.join(left_out)}. {COMPARABLE}")
    names = st.multiselect(
        "Columns",
        list(columns),
        list(columns)[:FIRST_COLUMNS],
        max_selections=MOST_COLUMNS,
        key="compare-columns",
        format_func=in_markdown,
    )
    if not names:
        note("Pick the columns to compare on.")
        return None
    scale = "none" if len(names) == 1 else "box"
    domain = Domain(tuple(columns[name] for name in names), scale=scale)
    question = _choose_question(domain, Closeness(kernel_at(domain, DEFAULT_SHARE)))
    return _file_subject(f"{dropped.file_id} {names} {described(question)}", dropped.name, content, domain, question)


@st.cache_data(scope="session", max_entries=2, show_spinner=False)
def _file_columns(fingerprint: str, name: str, _content: bytes) -> tuple[dict[str, Column], list[str]]:
    """Columns by name, with bounds and categories read off the file itself, as it is public; and those left out.

    A column that cannot be used, such as one of names, must not keep the others away. Where each has a problem, the
    file has one.
    """
    source = open_source(Upload(name, _content))
    facts: dict[str, Column] = {}
    problem = None
    for column in source.columns:
        if column.kind in ("number", "text"):
            try:
                facts |= public_facts(source, [column.name])
            except RequestError as error:
                problem = error
    if problem is not None and not facts:
        raise problem
    return facts, [column.name for column in source.columns if column.name not in facts]


@st.cache_resource(scope="session", max_entries=4, show_spinner="Reading the file …")
def _file_subject(
    identity: str, title: str, _content: bytes, _domain: Domain, _question: Closeness | Distances
) -> Subject:
    data = from_file(Upload(title, _content), _domain, _question, title=title, records=RECORDS, queries=QUERIES)
    return Subject(identity, title, _domain, _question, len(data.records), data, _domain.names[:2])


def _on_facts(visitor: Session) -> Subject | None:
    note(
        "Errors against the exact answers of private records would give these away, so here forecasts are compared: "
        "made from what you declared in public, and no record is read."
    )
    if visitor.own is None:
        note("There is nothing to forecast yet: say first what is publicly known about your data.")
        st.page_link(DATA.path, label="Describe your data")
        return None
    own = visitor.own
    own.domain.check_coordinates()
    records = st.number_input(
        "About how many records are there, as far as everyone may know?",
        1,
        10**12,
        10_000,
        key="compare-records",
        width=380,
    )
    question = _choose_question(own.domain, Closeness(_own_kernel(own)))
    identity = json.dumps([own.domain.to_dict(), records, described(question)])
    return Subject(identity, own.title, own.domain, question, int(records))


def _own_kernel(own: OwnData):
    suggested = None if own.sample is None else suggested_kernel(own.domain, sample(own.sample))
    return suggested or kernel_at(own.domain, DEFAULT_SHARE)


def _choose_question(domain: Domain, closeness: Closeness) -> Closeness | Distances:
    """What is asked, and how closeness or distance is measured."""
    with st.container(horizontal=True, gap="medium"):
        question = choose_one(
            "Question", list(QUESTIONS), "question", CLOSENESS, linked=True, format_func=QUESTIONS.__getitem__
        )
        if question == DISTANCE:
            norm = st.selectbox(
                "Distance",
                list(NORMS),
                format_func=lambda norm: NORMS[norm][0],
                key="norm",
                bind="query-params",
                width=260,
            )
            return Distances(norm)
        kernel = closeness.kernel
        others = kernels_like(kernel)
        own = f"{kernel.name.capitalize()}, as suggested"
        title = st.selectbox(
            "Kernel",
            [own, *others],
            key="kernel",
            bind="query-params",
            width=260,
            help="How closeness falls off with distance. Methods differ in the kernels that they serve; all of these "
            "are half gone at the same distance.",
        )
    return Closeness(others.get(title, kernel))


STEPS = tuple(step for step in EPSILONS if step >= Decimal("0.05"))  # The slider of ε has these.
# Where errors are measured within the range, besides its ends.
TRIED = tuple(map(Decimal, ("0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")))


def marks() -> dict[str, MethodMark]:
    """How every method is shown, by its key: only methods for one kind of question are seen together."""
    return {
        key: mark
        for answers in ("closeness", "distance")
        for key, mark in method_marks(
            {key: method.card.title for key, method in METHODS.items() if method.card.answers == answers}
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
        return float(self.plan.epsilons[0]), float(self.plan.epsilons[-1])


def choose_plan(subject: Subject) -> Chosen | None:
    """Draw the choices, folded so that curves are what one sees first; None while no method is chosen."""
    with st.expander("Methods, range of ε and δ", type="compact"):
        low, high, slack, chosen, left_out = _choices(subject)
        if left_out:
            note(f"{count(len(left_out), 'method')} cannot take part:")
            facts((method.card.title, refusal) for method, refusal in left_out)
    if not chosen:
        note("No method can answer this question on these columns." if chosen is None else "Pick at least one method.")
        return None
    delta = SLACK if slack else Decimal(0)
    return Chosen(subject, Plan(tuple(chosen), tried_between(low, high), delta, subject.data is not None), left_out)


def _choices(subject: Subject) -> tuple[Decimal, Decimal, bool, list[str] | None, tuple[tuple[Method, str], ...]]:
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
    methods = tuple(method.card.name for method, refusal in subject.taking_part(Budget(1)) if refusal is None)
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
        return [(method.card.name, refusal) for method, refusal in _subject.taking_part(Budget(1, delta))]


def choose_several(
    label: str, options: Sequence[str], start: Sequence[str], key: str, bind: Literal["query-params"] | None = None
) -> list[str]:
    """Let the visitor pick some methods, in the order of the options; what was picked among others no longer counts.

    `start`: what is picked at first, and again whenever the options are others.
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
        format_func=lambda key: METHODS[key].card.title,
    )
    return [option for option in options if option in chosen]
