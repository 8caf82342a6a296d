"""The forecast of a release as it is shown: its numbers, answers that could come out, and what is tried for it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import cast

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ...domain import Dates, Domain, Scalar
from ...errors import RequestError
from ...figures.figure_axes import date_ticks
from ...figures.forecast_figures import (
    PLACES,
    PossibleReleases,
    dots,
    dots_in_words,
    error_figure,
    error_in_words,
    normal_outcomes,
    possible_distances,
    possible_distances_in_words,
    possible_releases,
    possible_releases_figure,
    possible_releases_in_words,
)
from ...formatting.escapes import in_html, in_markdown, in_plotly
from ...formatting.numbers import count, shown, significant
from ...privacy.budget import Budget, Neighbours
from ...releases.forecast.budget_for import budget_for, seen_of
from ...releases.forecast.draft import REGRESSION, TABLE, Draft, Guessed
from ...releases.forecast.expected_answers import (
    BAND,
    column_errors,
    drowned_columns,
    error_definition,
    forecast_sentence,
    size_and_time,
    size_limit,
    typical_answer,
)
from ...releases.forecast.forecast import Forecast, error_curve, forecast, forecast_planned
from ...releases.forecast.public_records import PublicRecords
from ...releases.forecast.recommendation import Question, recommend
from ...releases.forecast.sketch_sizes import choose_size, sized_rows
from ...releases.forecast.trial import check_sample
from ...sketches.grouped import GroupedSketch
from ...sketches.linear import LinearSketch
from ...sketches.plan import plan
from ...sketches.tables.tables import Tables
from ...sources import Upload, open_source
from ...sources.public_tables import public_table
from ...sources.source_opening import FILE_TYPES
from ..frame.marks import Visibility, budget_bar, draw, note, odds, rail, show
from ..frame.visiting import turn
from ..own_data.paying import EPSILONS, SLACK, set_epsilon
from ..own_data.picking_records import DECLARED, is_own_file
from .several import added

CURVE = EPSILONS[::2]  # Where the error curve is computed; it is smooth enough in between.


def promising(draft: Draft, slack: bool) -> tuple[LinearSketch, Forecast]:
    """The sketch at the size that suits a promise with a δ of one in a million, or with none, and its forecast."""
    budget = Budget(draft.budget.epsilon, SLACK if slack else 0, draft.budget.neighbours)
    if budget == draft.budget:
        return draft.sketch, draft.forecast
    facts = [str(budget.epsilon), str(budget.delta), budget.neighbours, *draft.known, draft.settled]
    if draft.question == TABLE:  # whose cells follow from the promise as well
        described = json.dumps([draft.domain.to_dict(), draft.by, draft.choosing, *facts])
        return _table(described, draft.domain, draft.records, budget, draft.asked)
    described = _described(draft.sketch, facts)
    return _forecast(described, draft.sketch, budget, draft.guessed, draft.settled)


def errors(draft: Draft, slack: bool) -> np.ndarray:
    """Promised errors along `CURVE`, at the size that suits the present ε, with a δ or without."""
    sketch, _ = promising(draft, slack)
    neighbours = draft.budget.neighbours
    facts = _described(sketch, [slack, neighbours, *draft.known])
    return _curve(facts, sketch, slack, neighbours, draft.guessed)


def limit(draft: Draft) -> str:
    """What kept the table from being larger; empty where it has no rows, or somebody settled them."""
    if draft.settled or not draft.one.in_groups:
        return ""
    facts = [str(draft.budget.epsilon), str(draft.budget.delta), draft.budget.neighbours, *draft.known]
    return _stopped_by(_described(draft.sketch, facts), draft.sketch, draft.budget, draft.guessed)


def _described(sketch: LinearSketch, facts: list) -> str:
    """A text that differs whenever the forecast may."""
    return json.dumps([sketch.name, sketch.domain.to_dict(), sketch.parameters(), *facts])


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=300, show_spinner=False)
def _forecast(
    key: str, _sketch: LinearSketch, _budget: Budget, _guessed: Guessed, _settled: bool
) -> tuple[LinearSketch, Forecast]:
    with turn():
        if not _settled:
            _sketch = choose_size(_sketch, _budget, *_guessed)
        return _sketch, forecast(_sketch, _budget, *_guessed)


def within_promise(draft: Draft) -> Draft:
    """The draft with the forecast of the noise that it will have, where a part of its promise was spent before."""
    if draft.within is None or draft.way is None or draft.several is not None or not draft.has_places:
        return draft
    facts = [str(draft.promise.epsilon), str(draft.promise.delta), *draft.known]
    seen = _after_finding(_described(draft.sketch, facts), draft.sketch, draft.promise, draft.guessed)
    return replace(draft, way=replace(draft.way, forecast=seen))


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _after_finding(key: str, _sketch: LinearSketch, _budget: Budget, _guessed: Guessed) -> Forecast:
    with turn():
        return forecast_planned(_sketch, plan(_sketch, _budget, gaussian_only=True), *_guessed)


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _table(
    key: str, _domain: Domain, _records: int, _budget: Budget, _asked: Question
) -> tuple[LinearSketch, Forecast]:
    with turn():
        way = recommend(_domain, _records, _budget, _asked)[0]
        return way.answering, way.outlook


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _curve(key: str, _sketch: LinearSketch, _slack: bool, _neighbours: Neighbours, _guessed: Guessed) -> np.ndarray:
    epsilons, (records, density, sample) = [float(step) for step in CURVE], _guessed
    with turn():
        return error_curve(_sketch, records, epsilons, float(SLACK) if _slack else 0.0, _neighbours, density, sample)


@st.cache_data(scope="session", max_entries=100, show_spinner=False)
def _stopped_by(key: str, _sketch: LinearSketch, _budget: Budget, _guessed: Guessed) -> str:
    with turn():
        return sized_rows(_sketch, _budget, *_guessed).stopped_by


def side_panel(draft: Draft, promised: Budget | None) -> DeltaGenerator:
    """Everything that moves with the controls; the place of the error curve, which takes longer to work out.

    `promised`: by the file, which may show what was paid for before; None before there is a budget.
    """
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
        if promised is None:
            note("It depends on ε.")
        else:
            odds(float(promised.epsilon), float(promised.delta), draft.protected)
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


NEED, NEED_ERROR, NEED_VISIBLE = "release-need", "release-need-error", "release-need-visible"


def offer_need(draft: Draft) -> None:
    """From the end: let the owner say how exact it has to be, and find the smallest ε that does it."""
    with st.popover("From what you need"):
        whole = "all records" if draft.measures_closeness else "the distance"
        st.number_input(
            f"An answer may be off by (% of {whole})",
            0.0,
            99.0,
            None,
            key=NEED_ERROR,
            persist_state="session",
            help="One standard deviation: two of three answers are nearer, and 95 of 100 within twice of it.",
        )
        st.number_input(
            f"Groups of so many {draft.counted} must be told from none",
            0,
            None,
            None,
            key=NEED_VISIBLE,
            persist_state="session",
        )
        st.button("Find the smallest ε", on_click=_find, args=(draft,), key="release-need-find")
        if NEED in st.session_state:
            note(in_markdown(st.session_state[NEED]))


def _find(draft: Draft) -> None:
    """Solve for ε and put it in, or say why there is none."""
    error, visible = st.session_state.get(NEED_ERROR), st.session_state.get(NEED_VISIBLE)
    try:
        with turn():
            found = budget_for(
                partial(_seen, draft),
                records=draft.records,
                error=error / 100.0 if error else None,
                visible=visible or None,
                delta=draft.promise.delta,
                neighbours=draft.promise.neighbours,
            )
    except RequestError as problem:
        st.session_state[NEED] = str(problem)
        return
    st.session_state[NEED] = found.sentence
    set_epsilon(found.budget.epsilon)


def _seen(draft: Draft, budget: Budget, records: float) -> Sequence[Forecast]:
    """What the draft would give under another promise, of so many records."""
    if draft.has_places:
        sized = draft.sketch if draft.settled else choose_size(draft.sketch, budget, records, *draft.guessed[1:])
        return seen_of(sized, budget, records, draft.density, draft.sample)
    way = recommend(draft.domain, records, budget, draft.asked)[0]
    return (way.outlook,) if draft.question == REGRESSION else seen_of(way.answering, budget, records)


def draw_error_curve(draft: Draft) -> None:
    """Error against ε, with slack and without, and where the draft stands."""
    pure, slack = errors(draft, slack=False), errors(draft, slack=True)
    epsilons, budget = [float(step) for step in CURVE], draft.budget
    whole = "all records" if draft.measures_closeness else "the distance"
    show(
        error_figure(epsilons, pure, slack, float(budget.epsilon), not budget.pure, whole),
        "release-error-curve",
        error_in_words(epsilons, pure if budget.pure else slack, whole),
    )


WORTH_A_RISK = 1.05  # Times less error from which on a δ is said to gain something.


def slack_sentence(draft: Draft) -> str:
    """What a typical answer may be off by with a pure promise and with a δ, whichever is chosen.

    Of a whole table, how many pairs can be seen with either, where it differs: single columns share the promise then.
    """
    answers, pairs = [], []
    for slack in (False, True):
        budget = Budget(draft.budget.epsilon, SLACK if slack else 0, draft.budget.neighbours)
        sketch, seen = promising(draft, slack)
        answers.append(typical_answer(replace(draft, budget=budget), seen))
        pairs.append(len(cast(Tables, sketch).pairs) if draft.question == TABLE else 0)
    if pairs[0] != pairs[1]:
        less = count(pairs[0], "pair") if pairs[0] else "none"
        return f"This risk lets {count(pairs[1], 'pair')} of columns be counted, where a pure promise lets {less}."
    # Not rounded to what their errors support, so that whoever divides the two finds the number that is said.
    pure, risky = (f"± {significant(BAND * answer.error, 2)} {answer.unit}".rstrip() for answer in answers)
    nearer = answers[0].error / answers[1].error
    if nearer < WORTH_A_RISK:
        return f"It would gain nothing here: a typical answer is {pure} with a pure promise, {risky} with this risk."
    answer = "A correlation" if draft.question == REGRESSION else "A typical answer"
    return f"{answer} is {pure} with a pure promise, {risky} with this risk: {significant(nearer, 2)} times nearer."


def possible_outcomes(draft: Draft) -> None:
    """Fifty releases that could come out, of an imagined crowd and of one answer."""
    axis = next((column for column in draft.one.domain.columns if isinstance(column, Scalar)), None)
    answer = typical_answer(draft, draft.forecast)
    *before, counts = st.columns([1] if axis is None else 2, gap="medium")
    for lines in before:
        with lines:
            possible, words = _of_a_crowd(draft, axis)
            title = "answer" if draft.measures_closeness else "average distance"
            ticks = date_ticks(axis) if isinstance(axis, Dates) else ()
            show(possible_releases_figure(possible, in_plotly(axis.name), title, ticks), "release-possible", words)
            note(f"Fifty possible releases of an imagined crowd (thick line). {words}")
    with counts:
        outcomes = normal_outcomes(answer.value, answer.error)
        words = dots_in_words(outcomes, answer.name)
        show(dots(outcomes, in_plotly(answer.name)), "release-dots", words)
        note("One answer in fifty possible releases, all of them equally likely.")


def _of_a_crowd(draft: Draft, axis: Scalar) -> tuple[PossibleReleases, str]:
    """Possible releases along a column, and what they come to."""
    one, forecast = draft.one, draft.forecast
    places = _places(one.domain, one.metric, axis)
    if draft.measures_closeness:
        kernel = cast(GroupedSketch, one).point_kernel
        possible = possible_releases(axis.low, axis.high, kernel, places, forecast.estimate, forecast.standard_error)
        return possible, possible_releases_in_words(possible)
    variance = draft.noise.variance
    possible = possible_distances(axis.low, axis.high, one, places, forecast.records, variance)
    return possible, possible_distances_in_words(possible)


def _places(domain: Domain, metric: str, axis: Scalar) -> np.ndarray:
    """Encoded places along a column, all other columns in the middle of their bounds."""
    low, high = domain.bounds(metric)
    place = 0
    for column in domain.columns:
        if column is axis:
            break
        place += column.width
    points = np.tile((low + high) / 2, (PLACES, 1))
    points[:, place] = np.linspace(low[place], high[place], PLACES)
    return np.asfortranarray(points)


WHAT = (
    "Is there a published table of records like these: last year's, another town's, or that of volunteers? With 200 of "
    "them or more, in the same columns, the forecast and the best way to make the release are found on them and not on "
    "made-up records. What is chosen by them can be read off the file, so they are not kept secret. Never take a part "
    "of your own records, not even the first few."
)


def choose_sample(draft: Draft, number: int) -> Draft:
    """Let the owner drop a public sample, and say that it is public; what cannot be used is refused, and left out.

    `number`: Number of the pick on the Data page, part of every key.
    """
    kept, file, declared = (f"release-sample-{part}-{number}" for part in ("kept", "file", "declared"))
    with st.expander("I have a public sample of such records", type="compact", key=f"release-sample-{number}"):
        with rail(Visibility.PUBLIC, "sample", "A public sample"):
            note(WHAT)
            st.file_uploader("A public file", type=FILE_TYPES, key=file, on_change=_keep, args=(file, kept, declared))
            title, content = st.session_state.get(kept, ("", b""))
            public = st.checkbox(DECLARED, key=declared, disabled=not title, persist_state="session")
            if not (title and public):
                return draft
            try:
                found = _opened(title, content, _needed(draft, number))
            except RequestError as problem:
                st.error(in_markdown(problem))
                return draft
            note(f"The forecast is tried on {len(found.table):,} records of “{shown(title)}”.")
    return replace(draft, sample=found, density=None)


def _keep(file: str, kept: str, declared: str) -> None:
    """Keep what was dropped when the page is left, as the uploader does not; whether it is public is said anew."""
    dropped = st.session_state.get(file)
    st.session_state[kept] = ("", b"") if dropped is None else (dropped.name, dropped.getvalue())
    st.session_state[declared] = False


def _needed(draft: Draft, number: int) -> Domain:
    """The columns that the questions of the release have, all of them together."""
    asked = [draft.compared, *(one.draft.compared for one in added(number) if one.draft.has_places)]
    columns = {column.name: column for domain in asked for column in domain.columns}
    return replace(draft.compared, columns=tuple(columns.values()))


def _opened(title: str, content: bytes, domain: Domain) -> PublicRecords:
    if is_own_file(content):
        raise RequestError("That is your own private file from the Data page; nothing was read from it.")
    return _read(f"{sha256(content).hexdigest()} {json.dumps(domain.to_dict())}", title, content, domain)


@st.cache_resource(scope="session", max_entries=2, show_spinner="Reading the file …")
def _read(key: str, _title: str, _content: bytes, _domain: Domain) -> PublicRecords:
    found = PublicRecords(_title, public_table(open_source(Upload(_title, _content)), _domain))
    check_sample(found.encoded(_domain, "l2"))
    return found
