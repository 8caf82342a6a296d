"""Choosing what methods are compared on: a sample, a file that the visitor declares public, or forecasts alone."""

from __future__ import annotations

import json
from hashlib import sha256

import streamlit as st

from ...domain import Column, Domain
from ...errors import RequestError
from ...formatting.escapes import in_markdown
from ...lab.public_data import from_file
from ...releases.forecast.expected_answers import NORMS
from ...releases.forecast.nearness import DEFAULT_SHARE, kernel_at, suggested_kernel
from ...releases.forecast.recommendation import Closeness, Distances
from ...sources import Upload, open_source
from ...sources.public_tables import public_facts
from ...sources.samples import Sample, sample, samples
from ..frame.marks import note
from ..frame.navigation import DATA
from ..frame.session import OwnData, Session
from ..own_data.picking_records import DECLARED, FILE_TYPES, is_own_file
from .subject import QUERIES, RECORDS, Subject, described, kernels_like, sample_subject

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
        on = st.segmented_control(
            "Compare on", [ON_SAMPLE, ON_FILE, ON_FACTS], default=ON_SAMPLE, required=True, key="compare-on"
        )
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
        question = st.segmented_control(
            "Question",
            list(QUESTIONS),
            default=CLOSENESS,
            required=True,
            format_func=QUESTIONS.__getitem__,
            key="question",
            bind="query-params",
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
