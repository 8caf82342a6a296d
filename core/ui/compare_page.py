"""The page Compare from top to bottom, with what local reports would give, and the files to take along.

Released functions over the exact one, with the noise drawn again and again.

Only ever of public records: one release of private ones drawn many times would be many releases.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal

import numpy as np
import pandas as pd
import streamlit as st

from ..errors import RequestError
from ..figures.comparison_figures import (
    curves_figure,
    distance,
    errors_figure,
    functions_in_words,
    map_ends,
    map_figure,
    swatch,
)
from ..figures.traces import standalone
from ..formatting.escapes import in_html, in_markdown
from ..formatting.numbers import about, listed, percent, significant
from ..lab.comparison_plan import MEASURES, METHODS, ErrorCurve, Outcome, Step, Trial, curves
from ..lab.comparison_work import Bench, Task
from ..local.trust import Trust, of_density
from ..releases.forecast.recommendation import Closeness
from ..sketches.race import Race
from ..sketches.registry import hashed
from .compare_choices import Chosen, choose_plan, choose_several, choose_subject, first_drawn, marks, plainly
from .compare_results import (
    LOOK_EVERY,
    about_methods,
    as_asked,
    bench,
    choose_measure,
    results,
    shown_curves,
    trials_of,
)
from .compare_subject import Picture, Subject
from .frame.marks import draw, main_action, missing_sentence, note, offer, show
from .frame.session import Session
from .frame.visiting import turn

NEXT_EVERY = 1.2  # Seconds that a draw is shown while they play.
AT, PLAYING, DRAW, LINES = "at", "compare-playing", "compare-draw", "compare-lines"
MOST_LINES = 4  # Curves that are drawn at first: more of them hide each other.


def choose_epsilon(epsilons: tuple[Decimal, ...]) -> Decimal:
    """The ε at which functions are drawn; the one nearest to 1 at first."""
    start = first_drawn(epsilons)
    if len(epsilons) == 1:
        return start
    others = st.session_state.get(AT, start) not in epsilons
    if others:  # chosen within another range; what is set here needs no second value below
        st.session_state[AT] = start
    return st.select_slider(
        "Released at ε =",
        epsilons,
        None if others else start,
        format_func=plainly,
        key=AT,
        bind="query-params",
        width=380,
    )


def functions(chosen: Chosen, desk: Bench) -> None:
    """The functions, and what draws their noise again."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        again = st.button("Draw the noise again", key="compare-again")
        # Nothing moves unless asked to; who asked the system for less motion is not even offered it (style sheet).
        playing = st.toggle("Play", key=PLAYING, help="A new draw of the noise every second.")
    if again:
        st.session_state[DRAW] = st.session_state.get(DRAW, 0) + 1
    picture = chosen.subject.picture
    methods = list(chosen.plan.methods)
    if len(picture.axes) == 1 and len(methods) > MOST_LINES:
        methods = choose_several("Drawn", methods, methods[:MOST_LINES], LINES)
    waiting = desk.running and _waiting(chosen, methods, desk.known(chosen.subject.identity))
    every = NEXT_EVERY if playing else LOOK_EVERY if waiting else None
    st.fragment(_drawn, run_every=every)(chosen, desk, picture, methods, playing)


def _waiting(chosen: Chosen, methods: list[str], known: Mapping[Step, Outcome]) -> list[str]:
    """Methods of which nothing was drawn yet."""
    plan, undrawn = chosen.plan, chosen.plan.undrawn(known)
    return [key for key in methods if key not in undrawn and plan.drawing(key) not in known]


def _drawn(chosen: Chosen, desk: Bench, picture: Picture, methods: list[str], playing: bool) -> None:
    with st.container(key="fg-steady-functions"):
        _draw(chosen, desk, picture, methods, playing)


def _draw(chosen: Chosen, desk: Bench, picture: Picture, methods: list[str], playing: bool) -> None:
    number = st.session_state.get(DRAW, 0) + playing
    st.session_state[DRAW] = number
    known = desk.known(chosen.subject.identity)
    plan = chosen.plan
    draws = {key: known.get(plan.drawing(key)) for key in methods}
    released = {
        key: picture.shaped(outcome.value[number % len(outcome.value)])
        for key, outcome in draws.items()
        if outcome is not None and outcome.value is not None
    }
    (_lines if len(picture.axes) == 1 else _maps)(picture, released, float(plan.shown_at), chosen.subject.answers)
    undrawn = plan.undrawn(known)
    slow = [METHODS[key].card.title for key in methods if key in undrawn and key not in released]
    if slow:
        note(f"Too slow to be drawn here: {listed(slow, len(slow))}.")
    waiting = _waiting(chosen, methods, known)
    if waiting and desk.running:
        note(f"{len(waiting)} of {len(methods)} are on their way.")
    most = max((len(outcome.value) for outcome in draws.values() if outcome and outcome.value is not None), default=0)
    drawn = f"Draw {number % most + 1} of {most}: the same hashes, other noise." if most else ""
    held = f" Held at what is usual: {picture.held}." if picture.held else ""
    note(drawn + held)


def _lines(picture: Picture, released: Mapping[str, np.ndarray], epsilon: float, answers: str) -> None:
    words = functions_in_words(picture.exact, released, marks(), epsilon)
    show(curves_figure(picture.axes[0], picture.exact, released, marks(), picture.answer), "compare-functions", words)


def _maps(picture: Picture, released: Mapping[str, np.ndarray], epsilon: float, answers: str) -> None:
    """Small maps in the same colours, each with its name above."""
    ends = map_ends(picture.exact, answers)
    x, y = picture.axes
    with st.container(key="fg-maps"):
        for key, values in ({"exact": picture.exact} | dict(released)).items():
            with st.container(key=f"compare-map-{key.replace(' ', '-')}", gap=None):
                if key == "exact":
                    title, words, mark = "exact", "The exact function.", ""
                else:
                    title, mark = METHODS[key].card.title, swatch(marks()[key])
                    words = functions_in_words(picture.exact, {key: values}, marks(), epsilon)
                draw(f'<p class="fg-map-title">{mark}{in_html(title)}</p>')
                show(map_figure(x, y, values, ends, picture.answer), f"compare-map-{key}-figure", words)
                if key != "exact":
                    note(f"off by {percent(distance(picture.exact, values))} over the whole map")
    least, most = (significant(end, 3) for end in ends)
    note(f"{x.title} across, {y.title} upwards. The colours of all maps go from {least} to {most} {picture.answer}.")
    note("Over the whole map is over its empty places too; the curves above ask only where records are.")


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
    method = METHODS[curve.method]
    setting = "tuned" if curve.tuned else "public"
    whose = {"method": curve.method, "title": method.card.title, "paper": method.card.paper, "measure": curve.measure}
    names = ("epsilon", "error", "low", "high", "size", "settings_tried", "epsilon_paid", "releases")
    ends = (curve.epsilons, curve.centres, curve.lows, curve.highs)
    points = zip(*ends, curve.sizes, curve.tried, curve.paid, curve.releases, strict=True)
    return [whose | {"setting": setting} | dict(zip(names, point, strict=True)) for point in points]


def trials_table(trials: Sequence[Trial]) -> pd.DataFrame:
    return pd.DataFrame([asdict(trial) for trial in trials])


def save_action(chosen: Chosen, found: Callable[[], list[Trial]], measure: str, tuned: bool) -> None:
    """The main action, and what else can be taken along; files are made of what is known when they are asked for.

    `measure`, `tuned`: which curves the picture shows.
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
            offer(
                "Every trial (CSV)",
                lambda: trials_table(found()).to_csv(index=False).encode(),
                f"{stem}-trials.csv",
                "compare-trials",
                width="stretch",
            )
            offer("Picture that zooms (HTML)", picture, f"{stem}.html", "compare-picture", width="stretch")
            st.caption("For a still picture of any figure, use the camera above it.")
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-compare"):
        offer(
            SAVE,
            lambda: curves_table(found()).to_csv(index=False).encode(),
            f"{stem}.csv",
            "compare-save",
            type="primary",
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
