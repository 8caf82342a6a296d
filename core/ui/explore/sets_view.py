"""A released file of sets: how much all of them overlap with one that is typed, or with those in a small file."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st

from ...analysis.uncertainty import quantile_dots
from ...domain import Domain
from ...figures.exploration import MAX_PLACES, Points
from ...figures.forecast_figures import dots, dots_in_words
from ...formatting.numbers import count, listed, percent_within, rounded, rounded_all, rounded_range
from ...releases.release import Release
from ...sketches.answers import Answers
from ...sources.public_tables import beside, told_apart
from ..frame.marks import BARE, Visibility, mark, note, refusals, show
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import EACH_DOT, LISTED, dropped_table, note_rest, say
from ..released.taking_along import take_along
from .own_points import BETWEEN, answer_columns, answered

TYPED = "explore-items"
OVERLAP = "sets like it"
MOST_TYPED = 10_000
MOST_SAID = 6
NO_PICTURE = (
    "Sets have no axes, so there is no picture of them and there are no modes: ask about one set here, or about many "
    "in a file."
)


def one_set_view(opened: Opened) -> None:
    release = opened.release
    field, answer = st.columns([1, 1.2], gap="large")
    with field:
        with st.form("explore-items-form", border=False):
            typed = st.text_area(
                "The items of a set",
                key=TYPED,
                height=150,
                persist_state="session",
                placeholder=f"{_separator(release.domain)} ".join(("bread", "milk", "butter")) + "\nor one item a line",
            )
            st.form_submit_button("Ask")
        note(f"{NO_PICTURE} The file holds no list of items: one that nobody has overlaps with nothing.")
    items = items_of(typed, release.domain)
    with answer:
        _answer(opened, items) if items else note("Type or paste items, and the answer stands here.")
    if items:
        place = {release.domain.names[0]: [items]}
        take_along(
            opened,
            "set",
            lambda: _table(release, pa.table({"items": [", ".join(items)]}), release.answer([items])),
            (Points(place),),
            remark="They hold the items.",
        )


def _separator(domain: Domain) -> str:
    (column,) = domain.columns
    return column.separator or ","


def items_of(typed: str, domain: Domain) -> list[str]:
    """The different items in a text, by line, and cut where the records were cut, or else at commas."""
    parts = (part.strip() for part in re.split(f"{re.escape(_separator(domain))}|\n", typed))
    return list(dict.fromkeys(part for part in parts if part))


def _answer(opened: Opened, items: list[str]) -> None:
    """How much all sets overlap with these items, in words and as fifty dots."""
    if len(items) > MOST_TYPED:
        st.error(f"A set that is typed has at most {MOST_TYPED:,} items; ask about a longer one in a file.")
        return
    release = opened.release
    found = release.answer([items], public_answers.LEVEL)
    estimate, low, high, error = (
        float(part[0]) for part in (found.estimate, found.low, found.high, found.standard_error)
    )
    say(overlap_sentence(estimate, low, high, error))
    outcomes = quantile_dots(found, 0)
    show(dots(outcomes, OVERLAP), "explore-dots", dots_in_words(outcomes, OVERLAP), BARE)
    share = share_sentence(float(found.density[0]), low, estimate, error)
    note(" ".join(part for part in (f"Asked about {_counted(items)}.", EACH_DOT, share) if part))
    with st.popover("What is overlap?"):
        note(meaning(release))


def overlap_sentence(estimate: float, low: float, high: float, error: float) -> str:
    """An answer in Markdown: how many sets are like it, those that overlap in part as less, or that noise hides it."""
    least, most = rounded_range(low, high, error)
    if low <= 0:
        return f"The noise hides whether any set overlaps with it: very likely **fewer than {most}** {OVERLAP}."
    return f"About **{rounded(estimate, error)}** {OVERLAP}; very likely between **{least}** and **{most}**."


def share_sentence(density: float, low: float, estimate: float, error: float) -> str:
    """The average overlap in words; "" when the noise hides it."""
    if low <= 0 or estimate <= 0:
        return ""
    return f"On average a set overlaps with it by {percent_within(density, density * error / estimate)}."


def _counted(items: list[str]) -> str:
    return f"{count(len(items), 'item')}: {listed(items, MOST_SAID)}"


def meaning(release: Release) -> str:
    """What an answer counts, for someone who never heard of a Jaccard similarity."""
    longest = getattr(release.sketch, "longest", None)
    bound = (
        ""
        if longest is None
        else (
            f" Of a set with more than {longest:,} different items, {longest:,} picked by public random numbers "
            f"count, in "
            "yours as well."
        )
    )
    return (
        "Every set counts by how much it overlaps with yours: the items that both have, as a share of all items that "
        "either has (the Jaccard similarity). The same items count as 1, no common item as 0, and two common items of "
        f"four in all as a half.{bound} The sum was released with noise, so it is known only up to the interval."
    )


@refusals()
def sets_view(opened: Opened) -> None:
    release = opened.release
    mark(Visibility.PRIVATE, "Your sets stay in this session; the file is asked about them, and nothing is added to it")
    dropped = dropped_table("sets", release.domain.names, "explore-asked-sets")
    if dropped is None:
        note(how_sets_look(release.domain))
        return
    table, found = answered(opened, dropped)
    every = table.num_rows
    st.markdown(
        f"**{count(every, 'set')}** answered. Each answer is how much all sets of the file "
        "overlap with it: a set with the same items counts as 1, one with no common item as 0."
    )
    st.dataframe(
        _listed(release, table, found),
        hide_index=True,
        key="explore-answered-sets",
        alt="The sets and the answer at each of them",
    )
    note_rest(every)
    name = release.domain.names[0]
    steps = () if every > MAX_PLACES else (Points({name: table.column(name).to_pylist()}),)
    kept = told_apart(table, release.domain)
    take_along(opened, "sets", lambda: _table(release, kept, found), steps, remark="They hold your sets.")


def how_sets_look(domain: Domain) -> str:
    """What a file of sets must look like, for those who have none yet."""
    (column,) = domain.columns
    if column.gathered:
        return f"One row for each item of a set, with who it belongs to in {domain.unit.column}; or one list a row."
    if column.separator:
        return f"One set a row, its items separated by “{column.separator}”; or a column of lists (Parquet)."
    return "One set a row, in a column of lists (Parquet, Arrow or Feather)."


def _table(release: Release, sets: pa.Table, found: Answers) -> pd.DataFrame:
    """The sets, or what tells them apart, with their answers."""
    return beside(sets, answer_columns(release, found)).to_pandas()


def _listed(release: Release, table: pa.Table, found: Answers) -> pd.DataFrame:
    """The first sets with their answers, in the digits that these support."""
    estimate, low, high, error = (
        part[:LISTED] for part in (found.estimate, found.low, found.high, found.standard_error)
    )
    low = np.maximum(low, 0.0)  # an overlap is never less than nothing
    ends = [rounded_range(a, b, e) for a, b, e in zip(low, high, error, strict=True)]
    sets = table.slice(0, LISTED).to_pandas()
    name = release.domain.names[0]
    sets[name] = [value if isinstance(value, str) else _items_in_words(value) for value in sets[name]]
    return sets.assign(
        **{OVERLAP: rounded_all(estimate, error), BETWEEN: [f"{least} and {most}" for least, most in ends]}
    )


def _items_in_words(items: np.ndarray) -> str:
    said = [str(item) for item in items[:MOST_SAID]]
    return ", ".join(said) + (" …" if len(items) > MOST_SAID else "")
