"""The page Compare from top to bottom, with what local reports would give, and the files to take along."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from decimal import Decimal

import pandas as pd
import streamlit as st

from ...errors import RequestError
from ...figures.comparison_figures import errors_figure
from ...figures.paper import standalone
from ...formatting.escapes import in_html, in_markdown
from ...formatting.numbers import about, percent
from ...lab.comparison_methods import METHODS
from ...lab.comparison_plan import MEASURES, ErrorCurve, Trial, curves
from ...lab.comparison_work import Task
from ...local.trust import Trust, of_density
from ...releases.forecast.recommendation import Closeness
from ...sketches.hashed.race import Race
from ...sketches.mechanism_choice import hashed
from ..frame.marks import draw, main_action, missing_sentence, note
from ..frame.session import Session
from ..frame.visiting import turn
from .choosing_methods import Chosen, choose_plan, marks
from .choosing_subject import choose_subject
from .functions import choose_epsilon, functions
from .results import about_methods, as_asked, bench, choose_measure, results, shown_curves, trials_of
from .subject import Subject

LEAST, MOST = Decimal("0.1"), Decimal(10)  # ε between which local reports are of use and a promise.
SHOWN = 3


def beside_local(subject: Subject, epsilons: Sequence[Decimal]) -> None:
    """RACE with an owner beside RACE of local reports, by forecast; worked out when it is asked for."""
    if not isinstance(subject.question, Closeness):
        return
    st.header("With nobody to trust", anchor=False)
    if not hashed(subject.question.kernel):
        note(
            "Local reports say which random cell a record falls into, and this kernel has no such cells: choose "
            "another above to compare."
        )
        return
    note("Every device randomises its own record before it leaves, and the collector adds up what arrives.")
    if not st.toggle("Forecast what local reports would give", key="compare-local"):
        return
    try:
        rows = tuple(_trust(subject.identity, subject, epsilon) for epsilon in shown(epsilons))
    except RequestError as error:
        note(in_markdown(error))
        return
    st.dataframe(
        {
            "ε": [f"{one.epsilon:g}" for one in rows],
            "with an owner": [percent(one.owner) for one in rows],
            "local reports": [percent(one.local) for one in rows],
            "people": [about(one.needed) for one in rows],
        },
        hide_index=True,
        key="compare-local-table",
        alt=f"RACE with an owner and of local reports, for {subject.records:,} records",
    )
    note(
        f"Both are RACE with {subject.records:,} records, each with the rows that suit it. Errors are forecast "
        "standard deviations, as shares of all records; the last column "
        "says how many people local reports need for the owner's error."
    )


def shown(epsilons: Sequence[Decimal]) -> list[Decimal]:
    """A few of the ε of a plan: its ends, and one between."""
    fine = [one for one in epsilons if LEAST <= one <= MOST]
    return sorted({fine[place * (len(fine) - 1) // (SHOWN - 1)] for place in range(SHOWN)}) if fine else [Decimal(1)]


@st.cache_data(max_entries=64, show_spinner="Forecasting", scope="session")
def _trust(identity: str, _subject: Subject, epsilon: Decimal) -> Trust:
    sketch = Race(_subject.domain, _subject.question.kernel, seed=0)
    with turn():
        return of_density(sketch, epsilon, _subject.records, getattr(_subject.question, "density", None))


SAVE = "Save the curves (CSV)"


def curves_table(trials: Sequence[Trial]) -> pd.DataFrame:
    """A row for every point of every curve."""
    rows = [row for measure in MEASURES for curve in curves(trials, measure) for row in _rows(curve)]
    return pd.DataFrame(rows)


def _rows(curve: ErrorCurve) -> list[dict]:
    points = zip(
        curve.epsilons,
        curve.centres,
        curve.lows,
        curve.highs,
        curve.sizes,
        curve.tried,
        curve.paid,
        curve.releases,
        strict=True,
    )
    return [
        {
            "method": curve.method,
            "title": METHODS[curve.method].title,
            "paper": METHODS[curve.method].paper,
            "measure": curve.measure,
            "setting": "tuned" if curve.tuned else "public",
            "epsilon": epsilon,
            "error": centre,
            "low": low,
            "high": high,
            "size": size,
            "settings_tried": tried,
            "epsilon_paid": paid,
            "releases": releases,
        }
        for epsilon, centre, low, high, size, tried, paid, releases in points
    ]


def trials_table(trials: Sequence[Trial]) -> pd.DataFrame:
    """A row for every trial."""
    return pd.DataFrame([asdict(trial) for trial in trials])


def save_action(chosen: Chosen, found: Callable[[], list[Trial]], measure: str, tuned: bool) -> None:
    """The main action, and what else can be taken along; files are made of what is known when they are asked for.

    Parameters
    ----------
    measure, tuned : str, bool
        Which curves the picture shows.
    """
    subject = chosen.subject
    stem = f"comparison-{re.sub(r'[^a-z0-9]+', '-', subject.title.lower()).strip('-')}"
    missing = [] if found() else ["the first curves"]

    def picture() -> bytes:
        drawn = shown_curves(found(), measure, tuned)
        return standalone(
            errors_figure(drawn, marks(), chosen.present, chosen.span), f"Error against ε: {subject.title}"
        )

    if not missing:
        with st.popover("Take this along"):
            st.download_button(
                "Every trial (CSV)",
                lambda: trials_table(found()).to_csv(index=False).encode(),
                f"{stem}-trials.csv",
                "text/csv",
                key="compare-trials",
                on_click="ignore",
                width="stretch",
            )
            st.download_button(
                "Picture that zooms (HTML)",
                picture,
                f"{stem}.html",
                "text/html",
                key="compare-picture",
                on_click="ignore",
                width="stretch",
            )
            st.caption("For a still picture of any figure, use the camera above it.")
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-compare"):
        st.download_button(
            SAVE,
            lambda: curves_table(found()).to_csv(index=False).encode(),
            f"{stem}.csv",
            "text/csv",
            key="compare-save",
            type="primary",
            on_click="ignore",
            disabled=bool(missing),
        )
        words = missing_sentence(missing) or "Every curve with its band, settings and what tuning would cost."
        draw(f'<p class="fg-missing" role="status">{in_html(words)}</p>')


def nothing_to_save(missing: str) -> None:
    """The main action while nothing is compared."""
    main_action(SAVE, [missing], "compare-save")


def compare(visitor: Session) -> None:
    """Choices, curves, costs, functions, methods; RequestError when the data cannot be read or compared."""
    subject = choose_subject(visitor)
    if subject is None:
        nothing_yet()
        return
    chosen = choose_plan(subject)
    if chosen is None:
        nothing_yet("a method")
        return
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        st.header("Error against ε", anchor=False, width="content")
        measure, tuned = choose_measure(subject.data)
    curves, pictures = st.container(), st.container()
    with pictures:
        chosen = _shown(chosen)
    chosen = as_asked(chosen)
    desk = bench(subject)
    desk.aim(Task(subject.identity, chosen.plan, subject.work))
    with curves:
        results(chosen, desk, measure, tuned)
    if subject.data is not None:
        with pictures:
            functions(chosen, desk)
    beside_local(subject, chosen.plan.epsilons)
    st.header("How each works", anchor=False)
    about_methods(chosen, desk.known(subject.identity), measure, desk.running)
    save_action(chosen, lambda: trials_of(chosen, desk.known(subject.identity)), measure, tuned)


def _shown(chosen: Chosen) -> Chosen:
    """With the ε at which functions are drawn: chosen where they are, and known before anything is worked out."""
    if chosen.subject.data is None:
        return chosen
    st.header("What is released", anchor=False)
    exact = "The thick grey line" if len(chosen.subject.picture.axes) == 1 else "The first map"
    note(f"{exact} is exact, and the others are what one would get.")
    shown_at = choose_epsilon(chosen.plan.epsilons)
    return replace(chosen, plan=replace(chosen.plan, shown_at=shown_at, places=len(chosen.subject.picture.points)))


def nothing_yet(missing: str = "public data to compare on") -> None:
    """The main action while there is nothing to compare."""
    nothing_to_save(missing)
