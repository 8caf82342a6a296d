"""Curves of error and what each method costs, as they come in, and each method in words."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ..figures.comparison_figures import (
    Costs,
    advice_sentence,
    costs_figure,
    costs_in_words,
    errors_figure,
    errors_in_words,
    measured_sentence,
    releases_sentence,
    swatch,
)
from ..formatting.escapes import in_html, in_markdown
from ..formatting.numbers import percent, size, taken, wait
from ..lab.comparison_plan import METHODS, ErrorCurve, Method, Outcome, Step, Trial, curves
from ..lab.comparison_trials import PublicData
from ..lab.comparison_work import Bench, Results, Turns, bundled
from ..runtime.environment import Attendance
from .compare_choices import Chosen, marks, plainly
from .compare_subject import Subject
from .frame.marks import choose_one, draw, note, show

# Seconds until the browser looks again what is there: while nothing is, and then. Figures take time to draw, which the
# comparison would rather have.
LOOK_FIRST, LOOK_EVERY = 0.8, 2.5
MEASURES = {"relative_error": "Average error", "upper_error": "Worst answers", "l2_error": "Whole function (L2)"}
DEFAULT, TUNED = "chosen from public facts", "best that was tried"


# Session state: comparisons on samples that this visitor asked to be measured here: all of it, and what was left.
AGAIN, FURTHER = "compare-measured-again", "compare-measured-further"


@st.cache_resource(show_spinner=False)
def _turns() -> Turns:
    """One for the server: its memory is bounded, and what it remembers of samples is everyone's."""
    return Turns(Results(bundled))


def measured_before(subject: Subject) -> bool:
    """Whether what is shown of a sample was measured before, and comes with the app."""
    return subject.shared and subject.identity not in st.session_state.get(AGAIN, ()) and bool(_kept(subject.identity))


@st.cache_data(scope="session", max_entries=32, show_spinner=False)
def _kept(identity: str) -> int:
    return sum(not step.drawn for step in bundled(identity))


def _measured_further(subject: Subject, known: Mapping[Step, Outcome]) -> bool:
    """Whether some of what is known of a sample was measured here, beside what comes with the app."""
    return sum(not step.drawn for step in known) > _kept(subject.identity)


def measure_again(subject: Subject, further: bool) -> None:
    """Offer to measure on this computer what comes with the app; ``further`` where more of it is measured here."""
    where = "Measured before, on another computer" + (", and more of it here." if further else ".")
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        note(f"{where} Here errors come out the same, and times differ.")
        st.button(
            "Measure it here",
            key="compare-again-here",
            on_click=_remember,
            args=(AGAIN, subject.identity),
            type="tertiary",
        )


def measure_further(chosen: Chosen, some: bool, seconds: float) -> None:
    """Offer to measure what nobody has measured yet, which takes time that visitors of a sample did not ask for.

    `some`: whether some of it is known. `seconds`: of one core that it takes at most.
    """
    what, rest = ("Some of this has", "the rest") if some else ("This has", "it")
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        note(f"{what} not been measured yet. Here that takes {wait(seconds)} of one processor core, or less.")
        st.button(
            f"Measure {rest} here",
            key="compare-further-here",
            on_click=_remember,
            args=(FURTHER, chosen.subject.identity),
            type="tertiary" if some else "secondary",
        )


def as_asked(chosen: Chosen) -> Chosen:
    """With a plan that measures on samples only what somebody asked for; a file of one's own is brought for it."""
    subject, state = chosen.subject, st.session_state
    asked = not subject.shared or any(subject.identity in state.get(key, ()) for key in (AGAIN, FURTHER))
    return replace(chosen, plan=replace(chosen.plan, asked=asked))


def _remember(key: str, identity: str) -> None:
    st.session_state[key] = {*st.session_state.get(key, ()), identity}


def bench(subject: Subject) -> Bench:
    """Where this visitor's comparisons are worked on; what comes of shared subjects is remembered for all visitors."""
    shared = subject.shared and subject.identity not in st.session_state.get(AGAIN, ())
    key = "compare-bench-shared" if shared else "compare-bench-own"
    if key not in st.session_state:
        server, number = get_instance(), get_script_run_ctx().session_id
        attendance = Attendance(lambda: server.is_active_session(number))
        st.session_state[key] = Bench(_turns(), attendance, None if shared else Results())
    return st.session_state[key]


def trials_of(chosen: Chosen, known: Mapping[Step, Outcome]) -> list[Trial]:
    """The trials that belong to what is chosen."""
    plan = chosen.plan
    return [
        outcome.value
        for step, outcome in known.items()
        if isinstance(outcome.value, Trial)
        and step.method in plan.methods
        and step.delta == plan.delta
        and step.epsilon in plan.epsilons
    ]


def shown_curves(trials: Iterable[Trial], measure: str, tuned: bool) -> list[ErrorCurve]:
    """A curve of every method; at the best setting that was tried, those that have none to tune are as ever."""
    return [
        curve
        for curve in curves(trials, measure)
        if curve.tuned == (tuned and METHODS[curve.method].card.size is not None)
    ]


def choose_measure(data: PublicData | None) -> tuple[str, bool]:
    """Which error is drawn, and whether at the best setting that was tried; forecasts leave no choice."""
    if data is None:
        return "relative_error", False
    offered = [key for key in MEASURES if data.grid is not None or key != "l2_error"]
    if st.session_state.get("error", offered[0]) not in offered:  # chosen for data of one column
        del st.session_state["error"]
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        measure = choose_one(
            "Error", offered, "error", offered[0], linked=True, silent=True, format_func=MEASURES.__getitem__
        )
        setting = choose_one(
            "Setting",
            [DEFAULT, TUNED],
            "setting",
            DEFAULT,
            linked=True,
            silent=True,
            format_func=lambda text: text[0].upper() + text[1:],
        )
    return measure, setting == TUNED


def results(chosen: Chosen, desk: Bench, measure: str, tuned: bool) -> None:
    """Everything that was found so far; looked at again while more is on its way."""
    if desk.running:
        empty = not trials_of(chosen, desk.known(chosen.subject.identity))
        every = LOOK_FIRST if empty else LOOK_EVERY
        st.fragment(_watch, run_every=every)(chosen, desk, measure, tuned, empty)
    else:
        _found(chosen, desk, measure, tuned)


def _watch(chosen: Chosen, desk: Bench, measure: str, tuned: bool, empty: bool) -> None:
    """Look again; the whole page is drawn anew when it is over, and when there is something to save at last."""
    if not desk.running or (empty and trials_of(chosen, desk.known(chosen.subject.identity))):
        st.rerun()
    _found(chosen, desk, measure, tuned)


def _found(chosen: Chosen, desk: Bench, measure: str, tuned: bool) -> None:
    known = desk.known(chosen.subject.identity)
    with st.container(key="fg-steady-results"):
        _everything(chosen, desk, known, measure, tuned)


def _everything(chosen: Chosen, desk: Bench, known: Mapping[Step, Outcome], measure: str, tuned: bool) -> None:
    _progress(chosen, desk, known)
    before = measured_before(chosen.subject)
    further = before and _measured_further(chosen.subject, known)
    found = trials_of(chosen, known)
    left = 0.0 if chosen.plan.asked else chosen.plan.seconds_left(known)
    if left:
        measure_further(chosen, bool(found), left)
    drawn = shown_curves(found, measure, tuned)
    if drawn:
        _curves(chosen, drawn, tuned)
        advised = known.get(chosen.plan.advising)
        if advised is not None and advised.value is not None:
            note(advice_sentence(advised.value, drawn, chosen.present, chosen.subject.data is not None))
        here = "the computer that runs this app"
        elsewhere = "another computer"
        computer = f"{elsewhere}, or of {here}" if further else elsewhere if before else here
        _costs(found, chosen.subject.data is not None, computer)
    elif desk.running:
        note("The best settings are looked for last; they appear here." if found else "The first curves appear here.")
    elif not left:
        note("Nothing was found yet." if desk.stopped else "No method gave an answer.")
    for sentence in _missing(chosen, found, drawn, known):
        note(sentence)
    if before and not left:
        measure_again(chosen.subject, further)


def _missing(
    chosen: Chosen, found: list[Trial], drawn: list[ErrorCurve], known: Mapping[Step, Outcome]
) -> Iterator[str]:
    """What is not there and why; a sentence a method."""
    problems = {step.method: outcome.problem for step, outcome in known.items() if outcome.problem}
    measured = {trial.method for trial in found}
    slow, every = chosen.plan.slow(known), len(chosen.plan.epsilons)
    points = {curve.method: len(curve.epsilons) for curve in drawn if not curve.tuned}
    for key in chosen.plan.methods:
        if key in problems and key not in measured:
            yield f"{METHODS[key].card.title} is missing. {problems[key]}"
        elif key in slow and points.get(key, every) < every:
            yield f"{METHODS[key].card.title} takes long, so it was measured at {points[key]} of {every} ε only."


def _progress(chosen: Chosen, desk: Bench, known: Mapping[Step, Outcome]) -> None:
    """How far it is, with a way to stop it; nothing once it is done."""
    if not desk.running and not desk.stopped:
        return
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="compare-progress"):
        if desk.stopped:
            st.button("Go on", key="compare-go-on", on_click=desk.go_on)
            note("Stopped. What was found stays.")
        else:
            st.button("Stop", key="compare-stop", on_click=desk.stop)
            doing = desk.doing
            words = "Waiting for a free core" if doing is None else "What is recommended"
            if doing is not None and not doing.advising:
                title = METHODS[doing.method].card.title
                words = f"{'Drawing ' if doing.drawn else ''}{title} at ε = {plainly(doing.epsilon)}"
                words += ", looking for its best setting" if doing.tuning else ""
            st.progress(chosen.plan.progress(known), in_markdown(words))


def _curves(chosen: Chosen, drawn: list[ErrorCurve], tuned: bool) -> None:
    present = chosen.present
    words = errors_in_words(drawn, marks(), present)
    show(errors_figure(drawn, marks(), present, chosen.span), f"compare-errors-{drawn[0].measure}-{tuned}", words)
    if chosen.subject.data is None:
        note("Forecasts, each at the setting that public facts choose.")
        return
    setting = (
        "at the best setting that was tried on the exact answers"
        if tuned
        else ("at the setting that public facts choose")
    )
    note(
        f"{releases_sentence(drawn, setting)} The legend begins with the least error at ε = {present:g}, which is the "
        "dotted line."
        + (" Settings chosen so are not private; what finding them would cost is said below." if tuned else "")
    )
    note(measured_sentence(chosen.subject.data, drawn[0].measure))


def _costs(found: Iterable[Trial], measured: bool, computer: str) -> None:
    """What each method takes besides: medians over the trials at the setting that public facts choose."""
    plain = [trial for trial in found if not trial.tuning and trial.size is None]
    quantities = (
        ("Time to build", "seconds_build", taken),
        ("Time for one question", "seconds_query", taken),
        ("Size of the file", "file_bytes", size),
    )
    st.header("What each costs besides", anchor=False)
    shown = [quantity for quantity in quantities if measured or quantity[1] != "seconds_query"]
    for column, (title, attribute, in_words) in zip(st.columns(len(shown), gap="large"), shown, strict=True):
        values = {}
        for key in METHODS:
            sizes = sorted(getattr(trial, attribute) for trial in plain if trial.method == key)
            sizes = [size for size in sizes if math.isfinite(size) and size > 0]
            if sizes:
                values[key] = sizes[len(sizes) // 2]
        with column:
            note(title)
            if values:
                costs = Costs(title, values, {key: in_words(value) for key, value in values.items()})
                show(costs_figure(costs, marks()), f"compare-{attribute}", costs_in_words(costs, marks()))
    where = f"on one core of {computer}" if measured else "roughly, on two cores"
    note(f"Times are {where}, at the setting that public facts choose; the scale is logarithmic.")


def about_methods(chosen: Chosen, known: Mapping[Step, Outcome], measure: str, looking: bool) -> None:
    """A list of the methods that take part; ``looking`` while their best settings are still looked for."""
    if looking and chosen.subject.data is not None:
        note("What tuning would gain, and what it would cost, is said here when all is tried.")
    drawn = curves(trials_of(chosen, known), measure)
    by_key = {(curve.method, curve.tuned): curve for curve in drawn}
    items = []
    for key in chosen.plan.methods:
        method = METHODS[key]
        said = (
            ""
            if chosen.subject.data is None
            else tuning_sentence(
                method, chosen.plan.sizes(key, known), by_key.get((key, False)), by_key.get((key, True)), chosen.present
            )
        )
        idea = f"<small>{in_html(method.card.idea)}</small>" if method.card.idea else ""
        tuning = f"<small>{in_html(said)}</small>" if said else ""
        items.append(
            f"<li>{swatch(marks()[key])}<strong>{in_html(method.card.title)}</strong> "
            f'<span class="fg-paper">{in_html(method.card.paper)}</span>{idea}{tuning}</li>'
        )
    draw(f'<ul class="fg-facts">{"".join(items)}</ul>')


def tuning_sentence(
    method: Method, sizes: tuple[int | None, ...], default: ErrorCurve | None, tuned: ErrorCurve | None, epsilon: float
) -> str:
    """What its best setting is near an ε, how much better than the one that public facts choose, and at what cost.

    `sizes`: Settings to try, as far as they are known. `default`, `tuned`: its curves, as far as they are known;
    nothing is said where one is missing.
    """
    if method.card.size is None or len(sizes) == 1:
        return "Public facts choose its setting; there is none to tune."
    if tuned is None or default is None:
        return ""
    place = min(range(len(tuned.epsilons)), key=lambda i: abs(tuned.epsilons[i] / epsilon - 1))
    at = tuned.epsilons[place]
    if at not in default.epsilons:
        return ""
    chosen, best, size = default.centres[default.epsilons.index(at)], tuned.centres[place], tuned.sizes[place]
    error = f"At ε = {at:g} its error is {percent(chosen)} at the setting that public facts choose"
    paid = f"ε = {tuned.paid[place]:g} in place of {at:g}"
    cost = f"Trying {tuned.tried[place]} settings on private data would cost {paid}"
    if size is None:
        return f"{error}, and none of the {tuned.tried[place] - 1} others that were tried was better. {cost}."
    return f"{error} and {percent(best)} at the best one ({method.card.size}: {size:,}). {cost}."
