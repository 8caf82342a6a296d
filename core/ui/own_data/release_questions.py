"""Step 1 of a release: what people should be able to ask. One card a question, and below it what belongs to it.

The ways in which a question can be answered are forecast once for every choice that is tried.
"""

import json
from dataclasses import dataclass, replace

import streamlit as st

from ...domain import Categorical, Column, Domain, Vector
from ...releases.forecast.draft import DENSITY, DISTANCE, GROUP, REGRESSION, TABLE, Draft
from ...releases.forecast.expected_answers import NORMS
from ...releases.forecast.recommendation import Recommendation, recommend
from ...sketches.registry import card
from ...sources.public_tables import Sample
from ..frame.marks import note
from ..frame.navigation import TRAIN
from ..frame.visiting import turn

KEY = "release-question"
MODEL = "model"  # Which the page Train answers, and no draft of a release.


@dataclass(frozen=True)
class Question:
    """A question that a released file can answer for ever."""

    key: str  # One of the questions of a `Draft`.
    title: str  # The question as a person asks it.
    sentence: str  # What the answer is.
    also: str  # What the same file answers besides.


WIDE = 3  # From so many columns on, the whole table is what is offered first.
QUESTIONS = (
    Question(
        TABLE,
        "The whole table",
        "How many, by what, together with what, since when, on average.",
        "Every column by itself and with each other: counts, shares, means, medians and what goes together, with a "
        "band on each. Nothing else has to be chosen.",
    ),
    Question(
        DENSITY,
        "How dense is it here?",
        "How many people are close to a place.",
        "The same file shows peaks and groups, finds who would stand out, and makes up people who resemble the real "
        "ones.",
    ),
    Question(
        DISTANCE,
        "How far is everyone from here?",
        "The average distance of all people from a place.",
        "The same file finds the place that is nearest to everyone, as for a depot or a clinic. With a single column "
        "it also finds several such places that share the people among them.",
    ),
    Question(
        GROUP,
        "Which group is this like?",
        "Which of several groups a new record resembles most.",
        "The same file says how sure the answer is, and “don't know” where the noise decides. Each group can also be "
        "looked at by itself.",
    ),
    Question(
        REGRESSION,
        "What predicts what",
        "Any column from any others.",
        "Which column is predicted, and from which others, is chosen afterwards, as often as anyone likes. The same "
        "file shows which columns go together and the main ways in which people differ.",
    ),
    Question(
        MODEL,
        "Predict one column",
        "A model that is trained once.",
        "It is nearer than a file that predicts any column from any others, for the same price, and says nothing else.",
    ),
)

# What is compared between groups.
COMPARED = {
    "closeness": (
        "Who is close by",
        "A record is like the group that is densest around it. Groups may have any shape.",
    ),
    "distance": (
        "Who is near on the whole",
        "A record is like the group whose people are nearest to it on average. "
        "Simple, and good where every group is one cloud.",
    ),
}


def first_question(domain: Domain) -> str:
    """What a page begins with: the whole table where there are several columns, and how dense it is otherwise."""
    wide = len(domain.columns) >= WIDE and not any(isinstance(column, Vector) for column in domain.columns)
    return TABLE if wide else DENSITY


def choose_question(domain: Domain) -> str:
    """Draw the cards; the key of the question that is chosen."""
    by_key = {question.key: question for question in QUESTIONS}
    chosen = st.radio(
        "What should people be able to ask?",
        list(by_key),
        list(by_key).index(first_question(domain)),
        key=KEY,
        persist_state="session",
        horizontal=True,
        format_func=lambda key: by_key[key].title,
        captions=[question.sentence for question in QUESTIONS],
        label_visibility="collapsed",
        width="stretch",
    )
    note(by_key[chosen].also)
    return chosen


def choose_aim(draft: Draft, number: int, sample: Sample | None) -> Draft:
    """The question, the columns that it is asked by, and what belongs to it.

    `number`: Number of the pick on the Data page, part of keys that belong to its columns. `sample`: The bundled
    sample, or None for anyone's own data.
    """
    question = choose_question(draft.domain)
    if question == MODEL:
        st.page_link(TRAIN.path, label="Train a model of this data", icon=":material/arrow_forward:")
        return draft.lacking("another question; a model is trained on the page Train")
    draft = replace(draft, question=question)
    if draft.question == GROUP:
        return _group(draft, number, sample)
    if draft.question == REGRESSION:
        return _predicting(draft, number, sample)
    norm = _norm("release-norm") if draft.question == DISTANCE else None
    return _asking(replace(draft, norm=norm), number, "a column to ask by")


def _predicting(draft: Draft, number: int, sample: Sample | None) -> Draft:
    """With the columns that are in the file; of a sample the one that says the group is among them."""
    known = draft.domain.names
    if sample is not None and sample.label is not None and sample.label.name not in known:
        draft = replace(draft, domain=replace(draft.domain, columns=(*draft.domain.columns, sample.label)))
    draft = _asking(draft, number, "two columns, as one is predicted from another")
    return draft if draft.missing or len(draft.domain.columns) > 1 else draft.lacking("a second column to predict from")


def _asking(draft: Draft, number: int, missing: str) -> Draft:
    """With the columns that a query has, and the one that says the group; or with what is missing."""
    question = DISTANCE if draft.question == GROUP and draft.norm is not None else draft.question
    columns = _asked_by(draft.domain, question, number, draft.label)
    if not columns:
        return draft.lacking(missing)
    labels = tuple(column for column in draft.domain.columns if column.name == draft.label)
    by = _counted_by([column.name for column in columns], number) if draft.question == TABLE else ()
    return replace(draft, domain=replace(draft.domain, columns=(*columns, *labels)), by=by)


def _counted_by(names: list[str], number: int) -> tuple[str, ...]:
    """The columns by which the others are counted; none leaves the pairs to the forecast."""
    if len(names) < WIDE:
        return ()
    chosen = st.multiselect(
        "Count all columns only by some, such as the city and the year?",
        names,
        key=f"release-by-{number}",
        persist_state="session",
        placeholder="no: every two columns together, as far as noise lets them be seen",
        help="Then each column is counted together with these, and with no other. Fewer pairs have less noise; every "
        "column is in the file by itself all the same.",
    )
    return tuple(chosen)


def _asked_by(domain: Domain, question: str, number: int, label: str | None = None) -> tuple[Column, ...]:
    """The columns that a query has; distances start without categories, which lie in no direction."""
    columns = [column for column in domain.columns if column.name != label]
    if len(columns) == 1:
        return tuple(columns)
    measured = [column.name for column in columns if not isinstance(column, Categorical)]
    names = [column.name for column in columns]
    chosen = st.multiselect(
        "By which columns?",
        names,
        measured or names if question == DISTANCE else names,
        key=f"release-columns-{question}-{number}-{label}",
        persist_state="session",
        help="Fewer columns give clearer answers: what is left out does not blur the rest, and is not in the file.",
    )
    return tuple(column for column in columns if column.name in chosen)


def _norm(key: str) -> str:
    norm = st.segmented_control(
        "How is distance measured?",
        list(NORMS),
        key=key,
        format_func=lambda norm: NORMS[norm][0],
        required=True,
        default="l1",
        persist_state="session",
    )
    note(NORMS[norm][1])
    return norm


def _group(draft: Draft, number: int, sample: Sample | None) -> Draft:
    """The column that says the group, what is compared between groups, and by which columns."""
    domain = draft.domain
    labels = {column.name: column for column in domain.columns if isinstance(column, Categorical)}
    if sample is not None and sample.label is not None:
        labels = {sample.label.name: sample.label} | labels
    if not labels or len({*labels, *domain.names}) < 2:
        note(
            "It needs a column of categories that says the group, and another column to compare by. Declare both on "
            "the Data page: the categories become public, as everything that is typed there does."
        )
        return draft.lacking("a column of categories that says the group")
    known = len(labels) == 1 or (sample is not None and sample.label is not None)
    label = st.selectbox(
        "Which column says the group?",
        list(labels),
        index=0 if known else None,
        key=f"release-label-{number}",
        persist_state="session",
        placeholder="pick a column",
    )
    compared = st.segmented_control(
        "What is compared?",
        list(COMPARED),
        key="release-compared",
        required=True,
        default="closeness",
        format_func=lambda which: COMPARED[which][0],
        persist_state="session",
    )
    note(COMPARED[compared][1])
    st.page_link(TRAIN.path, label="Not sure which suits? Train lets several compete for the same price")
    norm = None if compared == "closeness" else _norm("release-group-norm")
    draft = replace(draft, norm=norm)
    if label is None:
        return draft.lacking("the column that says the group")
    others = tuple(column for column in domain.columns if column.name != label)
    labelled = replace(domain, columns=(*others, labels[label]))
    return _asking(replace(draft, label=label, domain=labelled), number, "a column to compare by")


def possible_ways(draft: Draft) -> list[Recommendation]:
    """All ways to answer a draft's question, the best first, those that cannot last; RequestError where none can."""
    kernel = None if draft.kernel is None else draft.kernel.to_dict()
    budget = draft.budget
    promise = [str(budget.epsilon), str(budget.delta), budget.neighbours]
    guessed = [*draft.known, draft.radius, draft.seed, draft.finest]
    asked = [draft.question, draft.norm, draft.label, draft.by, draft.choosing]
    return _ways(json.dumps([draft.domain.to_dict(), *asked, kernel, promise, guessed]), draft)


# What is cached is public, and still kept to the visitor's own session: it tells what they typed.
@st.cache_data(scope="session", max_entries=100, show_spinner="Comparing the ways to do it …")
def _ways(key: str, _draft: Draft) -> list[Recommendation]:
    """``key``: a text that differs whenever the ways may."""
    with turn():
        return list(
            recommend(
                _draft.domain,
                _draft.records,
                _draft.budget,
                _draft.asked,
                label=_draft.label,
                density=_draft.density,
                sample=_draft.sample,
            )
        )


def title(name: str) -> str:
    """What a mechanism does, with its name."""
    return card(name).plainly
