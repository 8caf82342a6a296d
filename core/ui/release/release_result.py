"""The result: the file to save, what it promises, a first picture of it, and of a sample the truth beside it.

And topping up what was just released: a second release of the same records, and one file of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from ...analysis.answerable import map_size
from ...analysis.classification import DecisionMap, classify_points, decision_map
from ...analysis.density import Curve, Heatmap, grid, line, marginal_grid, marginal_line
from ...analysis.other_columns import FEWEST_PLACES, densest_place
from ...analysis.product_sums import correlations
from ...domain import Vector
from ...figures.answer_sentences import place_words
from ...figures.class_figures import decision_figure, decision_in_words
from ...figures.forecast_figures import exact_figure
from ...figures.label import PrivacyLabel, privacy_label
from ...figures.meaning import left_out_in_words
from ...figures.model_figures import correlation_figure, correlations_in_words
from ...figures.programs import command_for, program_for
from ...figures.release_pictures import MOST_NAMED, picture_figure
from ...formatting.numbers import day, listed, lowered, percent, shown, size
from ...privacy.budget import Budget
from ...releases.engine.building import TableBuilder
from ...releases.going_on import kept_for
from ...releases.payment import LedgerAccount, unit_words
from ...releases.release import Release
from ...releases.release_store import public_name, question_in_words
from ...releases.topping_up import ToppingUp
from ...sources import Source
from ..frame.marks import Visibility, facts, mark, note, odds, rail, refusals, show
from ..frame.navigation import CLASSIFY, EXPLORE, LEDGER
from ..frame.session import Opened, Session
from ..frame.visiting import stranger, visitor_now
from ..released.chosen_view import choose_question
from ..released.kept_files import open_any
from ..released.public_answers import show_table
from .release_task import ReleaseRequest, ReleaseSession, ReleaseTask

PLACES = 300


@dataclass(frozen=True)
class Agreement:
    """How often a release of groups names the group that it would name without its noise, of so many places."""

    same: int  # At how many places.
    # At how many the release is sure, and at how many of these it names another one.
    sure: int
    wrong: int


@dataclass(frozen=True)
class Compared:
    """Exact and released answers at places where records of a sample lie, float64 (n,) each, and the intervals.

    ``agreement`` is about groups, where the release has some.
    """

    exact: np.ndarray
    released: np.ndarray
    low: np.ndarray
    high: np.ndarray
    agreement: Agreement | None = None

    @property
    def error(self) -> float:
        """The typical error as forecasts define it: root mean square, as a share of a typical exact answer."""
        return float(np.sqrt(np.mean((self.released - self.exact) ** 2)) / np.mean(self.exact))

    @property
    def held(self) -> int:
        """How many intervals hold the exact answer."""
        return int(((self.low <= self.exact) & (self.exact <= self.high)).sum())


def compare(release: Release, source: Source) -> Compared:
    """Ask the release and the records themselves at the same places; never to be called on anyone's own data."""
    sketch = release.sketch
    batches = list(source.batches(sketch.domain))
    records = np.concatenate([sketch.domain.encode(batch, sketch.metric) for batch in batches])
    places = np.concatenate([sketch.query_domain.encode(batch, sketch.metric) for batch in batches])
    queries = np.asfortranarray(np.random.default_rng(0).permutation(places)[:PLACES])
    exact = sketch.exact(queries, np.asfortranarray(records))
    answers = release.answer_points(queries)
    agreement = agreement_of(release, source, queries) if sketch.classes else None
    return Compared(exact, answers.estimate, answers.low, answers.high, agreement)


def agreement_of(release: Release, source: Source, queries: np.ndarray) -> Agreement:
    """Compare decisions with those of the same table before its noise."""
    building = TableBuilder(release.sketch, source)
    for _ in building:
        pass
    exact = replace(release, counters=building.exact.table, counted=building.exact.records)
    said, without = classify_points(release, queries), classify_points(exact, queries)
    same = said.codes == without.codes
    return Agreement(int(same.sum()), int(said.certain.sum()), int((said.certain & ~same).sum()))


def offer_comparison(desk: ReleaseSession, making: ReleaseTask, opened: Opened) -> None:
    """The switch, and behind it the truth under a mark that nobody can miss; nothing for anyone's own data."""
    if making.order.sample is None:
        return
    if not st.toggle("Compare with the exact answer — sample data only", key="release-exact", wrap=True):
        return
    desk.looked.add(making.order.sample)
    compared = _compared(opened.identity, opened.release, making.order.source)
    with st.container(key="fg-exact"):
        mark(Visibility.PRIVATE, "Exact and not private: shown only because this is made-up sample data")
        words = (
            f"At {len(compared.exact)} places the typical error is {percent(compared.error)} of a typical answer, and "
            f"{compared.held} of its {len(compared.exact)} intervals of 95% hold the exact answer."
        )
        show(exact_figure(compared.exact, compared.released), "release-exact-figure", words)
        note(words)
        if compared.agreement is not None:
            note(_agreement_words(compared.agreement, len(compared.exact)))
        note(
            "Never look like this at real data: what you choose after a look gives away what you saw. A release of "
            "this sample that is made after it says so in your ledger."
        )


def _agreement_words(agreement: Agreement, places: int) -> str:
    return (
        f"At {agreement.same} of these places it names the group that it would name without its noise. It is sure at "
        f"{agreement.sure} of them, and wrong about that at {agreement.wrong}."
    )


@st.cache_data(scope="session", max_entries=4, show_spinner=False)
def _compared(fingerprint: str, _release: Release, _source: Source) -> Compared:
    return compare(_release, _source)


MAP_SIZE = 48


def release_picture(name: str, release: Release, contents: str) -> tuple[go.Figure, str, str] | None:
    """A figure over the first one or two columns that can be an axis, its words, and what is to be said below it.

    None where there is no picture; tables are drawn in the browser.

    `name`: Of the released file, by which the picture is remembered.
    """
    if release.sketch.asked_for == "products":
        found = correlations(release)
        return correlation_figure(found), correlations_in_words(found), ""
    picture = _picture(name, release)
    if picture is None:
        return None
    if isinstance(picture, DecisionMap):
        words = decision_in_words(f"Which group each place is like, in {contents}", picture)
        return decision_figure(picture, release.sketch.query_domain), words, ""
    what = "Density" if release.sketch.answers == "closeness" else "Average distance"
    return picture_figure(release, picture), f"{what} of {contents}.", _cut(release, picture)


def _cut(release: Release, picture: Curve | Heatmap) -> str:
    """Where the columns that are not drawn are held, if they are."""
    if not picture.at:
        return ""
    said = place_words(dict(picture.at), release)
    held = listed([f"{name} near {shown(said[name])}" for name in picture.at], MOST_NAMED)
    return f"A cut through the densest place: {held}. Explore shows other columns and places."


@st.cache_data(scope="session", max_entries=4, show_spinner=False)
def _picture(name: str, _release: Release) -> Curve | Heatmap | DecisionMap | None:
    columns = _release.sketch.query_domain.columns
    axes = [column.name for column in columns if not isinstance(column, Vector)][:2]
    averaged = len(axes) < len(columns)
    if _release.sketch.classes:
        return decision_map(_release, *axes) if len(axes) == 2 else None
    if not axes:
        return None
    if len(axes) == 1:
        return marginal_line(_release, *axes) if averaged else line(_release, *axes)
    x, y = axes
    held = {name: value for name, value in densest_place(_release).items() if name not in axes}
    if held:
        return grid(_release, x, y, held, size=map_size(_release, MAP_SIZE))
    if not averaged:
        return grid(_release, x, y, size=map_size(_release, MAP_SIZE))
    return marginal_grid(_release, x, y, size=map_size(_release, MAP_SIZE, FEWEST_PLACES))


def show_result(visitor: Session, desk: ReleaseSession) -> None:
    """The page after a release was made."""
    opened = _opened(visitor, desk.making)
    _go_on(opened, desk.making)  # first: whatever happens to the rest of the page, the file can be saved
    st.header("It is released", anchor=False)
    label = privacy_label(opened.release, opened.data)
    main, aside = st.columns([1.75, 1], gap="large")
    with main, rail(Visibility.PUBLIC, "file", "Public: this file may be handed out"):
        note(f"{_contents(label)}, released {day(label.created)}.")
        asked = choose_question(opened)
        tables = asked.release.sketch.asked_for == "tables"
        if tables and (words := left_out_in_words(asked.release)):
            note(words)
        if tables:
            show_table(asked, "release-picture", alone=True)
        elif (drawn := release_picture(asked.identity, asked.release, lowered(_contents(label)))) is not None:
            figure, words, below = drawn
            show(figure, "release-picture", words)
            if below:
                note(below)
        offer_comparison(desk, desk.making, asked)
    with aside, rail(Visibility.PUBLIC, "label", "Its privacy label"):
        _label(opened.release, label)
    offer_more(visitor, desk.making.order, opened)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="release-next"):
        st.page_link(LEDGER.path, label="See what is left of the budget")
        if st.button("Make another release", key="release-again"):
            desk.clear()
            st.rerun()


def _go_on(opened: Opened, making: ReleaseTask) -> None:
    """To the page that asks the file what it was made for, as anyone can who gets it; and the file itself."""
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-save"):
        if st.button("Explore it", key="release-explore", type="primary"):
            st.switch_page(CLASSIFY.path if opened.release.sketch.classes else EXPLORE.path)
        st.download_button(
            "Save the file", opened.data, opened.name, "application/octet-stream", key="release-save", on_click="ignore"
        )
        _as_program(opened)
        note(f"{size(len(opened.data))}. {_where_kept(making)}")


def _as_program(opened: Opened) -> None:
    """The same release as a program and as a command, for other records: next month's, or another branch's."""
    with st.popover("As a program"):
        st.caption("The same columns, question and promise for other records, such as those of next month.")
        st.download_button(
            "Python program",
            lambda: program_for(opened.release).encode(),
            f"{opened.stem}-again.py",
            "text/x-python",
            key="release-program",
            on_click="ignore",
            width="stretch",
        )
        st.caption("On the command line, with the file beside it:")
        st.code(command_for(opened.release, opened.name), language=None, wrap_lines=True)


def _where_kept(making: ReleaseTask) -> str:
    """Whether the release is there when this session is not."""
    if making.kept is None or stranger() is not None:
        again = "only this session keeps it, and making it again would cost the same again."
        return f"{making.remark} Save it now: {again}".strip()
    return "A copy is kept beside your ledger and is here again after a reload."


def _opened(visitor: Session, making: ReleaseTask) -> Opened:
    """The release among the visitor's open files, where the pages on released sketches find it."""
    name = file_name(making)
    if name not in visitor.opened:
        asked = question_in_words(making.release.sketch.name)
        title = f"{making.order.dataset}: {asked}" if asked and stranger() is None else ""
        visitor.remember(name, making.release.to_bytes(), making.release, title)
    return visitor.opened[name]


def file_name(making: ReleaseTask) -> str:
    """A name that says nothing of the data: the time of release, and a mark that tells two of one second apart."""
    if making.kept is not None:
        return public_name(making.kept.name)
    stamp = "".join(sign for sign in making.release.created[:19] if sign.isdigit() or sign == "T")
    return f"release-{stamp}-{making.order.ticket[:4]}.npz"


def _contents(label: PrivacyLabel) -> str:
    records = f"{label.records[:1].upper()}{label.records[1:]}"
    return f"{records} {label.counted} by {listed([column.name for column in label.columns])}"


def _label(release: Release, label: PrivacyLabel) -> None:
    """The promise as odds, and what else the file says of itself."""
    privacy = release.privacy
    odds(float(privacy.epsilon), float(privacy.delta), "record" if privacy.unit.column is None else "person")
    facts(
        [
            (label.promise, label.slack),
            (f"Protects {label.protected}", f"Hidden is {label.hidden}."),
            (f"Holds {label.records} {label.counted}", f"The number is {label.records_source}."),
            *([] if label.parts else [(label.table[:1].upper() + label.table[1:], " ".join(label.noise))]),
            *((f"{part.name}: {percent(part.share, 2)} of the budget", part.sentences[0]) for part in label.parts),
            ("Fingerprint of the file", label.fingerprint),
        ]
    )


def offer_more(visitor: Session, order: ReleaseRequest, opened: Opened) -> None:
    """How much less noise more ε would leave, and the button that pays for it.

    Not where others are served: there a steward may have to say yes, which the page Release asks for.
    """
    if visitor_now() is not None:
        return
    with st.expander("Spend more on it", type="compact"), refusals():
        kept = kept_for(opened.release, order.ledger, order.dataset)
        if kept is None:
            note("A second release of the same records is made, and one file of both, weighted by how exact each is.")
        else:
            note("What was kept beside the ledger is shown with less noise, as if all had been spent at once.")
        more = st.number_input(
            "Privacy loss ε to add", 0.0, 100.0, None, step=None, format="%.12g", key="release-more", width=200
        )
        if not more:
            return
        wanted = ToppingUp(opened.release, Budget(more).epsilon, kept)
        note(wanted.sentence)
        if not st.button(f"Pay ε = {wanted.more:f} more", key="release-pay-more"):
            return
        payer = LedgerAccount(order.ledger, order.dataset, wanted.second, unit_words(opened.release.domain.unit))
        with st.spinner("Making it"):
            made = wanted.made(lambda: order.source, payer)
        open_any(visitor, f"both-{payer.note.get('file', opened.name)}", made.to_bytes(), title=opened.title)
        st.switch_page(CLASSIFY.path if made.sketch.classes else EXPLORE.path)
