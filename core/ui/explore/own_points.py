"""A visitor's own points: what a released file answers at each, and how unusual each is among its people."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pyarrow as pa
import pyarrow.parquet as pq
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ...analysis.anomalies import REFERENCE_POINTS, AnomalyScores, score
from ...domain import Categorical, Column, Dates, Domain, Ordered
from ...domain.column import Scalar
from ...figures.answer_sentences import SHARED_NOISE, counted_close_by, kind_sentence, noun, place_words
from ...figures.density_figures import close_by
from ...figures.distance_figures import distance_title, distance_unit
from ...figures.exploration import MAX_PLACES, SCORES, Anomalies, Points, Step
from ...figures.figure_axes import View
from ...figures.map_layers import MAX_DRAWN, add_points
from ...figures.release_pictures import in_words, picture_figure
from ...formatting.escapes import in_markdown
from ...formatting.numbers import count, listed, plural, rounded_all, rounded_range
from ...releases.release import Release
from ...sketches.answers import Answers
from ...sources.public_tables import Sample, beside, samples
from ..frame.marks import Visibility, for_screen, mark, note, picture_config, refusals, show
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import LISTED, dropped_table, note_rest, tidy, worked_out
from ..released.chosen_view import choose_two, drawable
from ..released.taking_along import take_along

PLACES, SEED = 12, 7
EXAMPLE = "These places are an example, spread over the public bounds. Drop a table of your own above."
OF_SAMPLE = (
    "These are an example: some records of the bundled sample, which are public. Drop a table of your own above."
)


@dataclass(frozen=True)
class Example:
    """A table that nobody dropped, with what a dropped one has."""

    file_id: str
    name: str
    data: bytes
    words: str = EXAMPLE  # What is said of it while nothing was dropped.

    def getvalue(self) -> bytes:
        """The table, CSV."""
        return self.data


def example_of(domain: Domain, identity: str) -> Example | None:
    """Places of a domain; None where there are columns that no few numbers say, and no bundled sample has them."""
    if len(drawable(domain)) < len(domain.columns):
        return _of_sample(domain, identity)
    random = np.random.default_rng(SEED)
    table = pd.DataFrame({column.name: _values(column, random.random(PLACES)) for column in domain.columns})
    return Example(f"example of {identity}", "example.csv", table.to_csv(index=False).encode())


def _of_sample(domain: Domain, identity: str) -> Example | None:
    """Records, evenly far apart, of the bundled sample with all of these columns; their file is public."""
    one = next((one for one in samples() if set(domain.columns) <= _columns(one)), None)
    if one is None or one.path.suffix != ".parquet":
        return None
    table = pq.read_table(one.path, columns=list(domain.names))
    table = table.take(np.linspace(0, table.num_rows - 1, PLACES).astype(int))
    written = pa.BufferOutputStream()
    pq.write_table(table, written)
    return Example(f"example of {identity}", "example.parquet", written.getvalue().to_pybytes(), OF_SAMPLE)


def _columns(one: Sample) -> set[Column]:
    return {*one.domain.columns, *([] if one.label is None else [one.label])}


def _values(column: Column, shares: np.ndarray) -> list[object]:
    """Values of a column at shares of its range."""
    if isinstance(column, (Categorical, Ordered)):
        return [column.categories[int(share * len(column.categories))] for share in shares]
    assert isinstance(column, Scalar)
    low, high = column.bounds(1.0)
    numbers = [low + float(share) * (high - low) for share in shares]
    if isinstance(column, Dates):
        return [column.text(number) for number in numbers]
    return [tidy(float(number), column) for number in column.between(np.array(numbers))]


READ = "explore-asked-read"
BETWEEN = "very likely between"


@refusals()
def points_view(opened: Opened) -> None:
    release = opened.release
    if not drawable(release.domain):
        st.info(
            "Every column of this file is a long list of numbers (a vector), so there is no picture to draw. Bring "
            "vectors of your own: the file answers at each of them."
        )
    mark(Visibility.PRIVATE, "Your points stay in this session; the file is asked at them, and nothing is added to it")
    dropped = dropped_table("points", release.domain.names, "explore-asked")
    example = None if dropped else example_of(opened.release.domain, opened.identity)
    if dropped is None:
        note("Further columns, such as a number that tells the points apart, are handed back as they are.")
        if example is None:
            return
        note(example.words)
    table, found = answered(opened, dropped or example)
    every = table.num_rows
    st.markdown(f"**{count(every, 'point')}** answered. {_meaning(release)}")
    asked = beside(table, answer_columns(release, found)).to_pandas()
    st.dataframe(
        shown_answers(release, table, found),
        hide_index=True,
        key="explore-answered",
        alt="The points and the answer at each of them",
    )
    note_rest(every)
    note(SHARED_NOISE)
    steps = (
        () if every > MAX_PLACES else (Points({name: table.column(name).to_pylist() for name in release.domain.names}),)
    )
    take_along(opened, "points", lambda: asked, steps, remark="They hold your points.")


def answered(opened: Opened, dropped: UploadedFile | Example) -> tuple[pa.Table, Answers]:
    """The points, or sets, and the answers, with intervals as the visitor wants them."""
    together = st.toggle(
        "Intervals that all hold at once",
        key="explore-asked-together",
        help="Each interval holds at its own point in 95 of 100 files, but one file may miss at many points. Longer "
        "ones hold at all points in 95 of 100 files.",
        wrap=True,
    )

    def work(table: pa.Table) -> Answers:
        return opened.release.answer(table, public_answers.LEVEL, together)

    return worked_out(opened, dropped, READ, "Asking …", work, together)


def _meaning(release: Release) -> str:
    if release.sketch.answers == "distance":
        return f"Each answer is how far everyone is from the point, on average. {kind_sentence(release.sketch)}"
    return in_markdown(
        f"Each answer is the number of {noun(release)} close by: who is exactly there counts as 1, who is farther away "
        "as less."
    )


def answer_columns(release: Release, found: Answers) -> dict[str, np.ndarray]:
    """The answers by the names that they have in the file: average distances, or sums of closeness and the density."""
    named = {"estimate": found.estimate, "low": found.low, "high": found.high}
    if release.sketch.answers == "distance":
        return {"mean" if name == "estimate" else name: part / release.records for name, part in named.items()}
    return named | {"density": found.density}


def shown_answers(release: Release, table: pa.Table, found: Answers) -> pd.DataFrame:
    """The first points with their answers, in the digits that these support."""
    far = release.sketch.answers == "distance"
    number = release.records if far else 1.0
    estimate, low, high, error = (
        part[:LISTED] / number for part in (found.estimate, found.low, found.high, found.standard_error)
    )
    # Nobody reads that fewer than none are close by; the file that is taken along has the raw answers.
    at_least = np.maximum(low, 0.0)
    ends = [
        rounded_range(a, b, e) if np.isfinite(e) else ("−∞", "∞") for a, b, e in zip(at_least, high, error, strict=True)
    ]
    points = table.slice(0, LISTED).to_pandas()
    for name in release.domain.names:
        if name not in drawable(release.domain):  # nobody reads hundreds of numbers in a cell
            said = {other: points[other].iloc[0] for other in release.domain.names} if len(points) else None
            points[name] = place_words(said, release)[name] if said else ""
    name = distance_title(distance_unit(release.sketch)) if far else close_by(noun(release))
    answered = {
        name: rounded_all(estimate, error) if far else counted_close_by(estimate, low, high, error),
        BETWEEN: [f"{least} and {most}" for least, most in ends],
    }
    taken = {name: f"answer: {name}" for name in answered if name in points.columns}
    return pd.concat([points, pd.DataFrame(answered).rename(columns=taken)], axis=1)


FILE, ANOMALIES_READ = "explore-points", "explore-points-read"
# Shares of people in the emptiest places, as they are asked for.
SHARES = {"1 in 100": 0.01, "2 in 100": 0.02, "5 in 100": 0.05, "10 in 100": 0.1, "20 in 100": 0.2}


@refusals()
def anomalies_view(opened: Opened) -> None:
    mark(Visibility.PRIVATE, "Your points stay in this session; they are compared with the file, never added to it")
    dropped = dropped_table("points", opened.release.domain.names, FILE)
    example = None if dropped else example_of(opened.release.domain, opened.identity)
    if dropped is None:
        note("Further columns, such as a number that tells the points apart, are handed back as they are.")
        if example is None:
            return
        note(example.words)
    share = _choose_share(noun(opened.release))
    table, scores = worked_out(
        opened,
        dropped or example,
        ANOMALIES_READ,
        "Comparing …",
        lambda points: score(
            opened.release,
            points,
            public_answers.LEVEL,
            share=share,
            population=public_answers.population(opened.identity, opened.release),
        ),
        share,
    )
    _say(scores, share, noun(opened.release))
    estimate = scores.density * opened.release.records
    result = beside(table, {"estimate": estimate} | {name: getattr(scores, name) for name in SCORES}).to_pandas()
    figure, title = None, ""
    if drawable(opened.release.domain):
        figure, title = _show(opened, table, scores)
    st.dataframe(
        _most_unusual(opened.release, result, scores),
        hide_index=True,
        key="explore-anomalies",
        alt="The points, the most unusual first",
    )
    if len(result) > LISTED:
        note(f"The {LISTED} most unusual are listed; the file has all {len(result):,}.")
    take_along(
        opened,
        "anomalies",
        lambda: result,
        _steps(opened.release, table, share),
        figure,
        title,
        "They hold your points.",
    )


def _choose_share(counted: str) -> float:
    """Let the visitor say how many are to be called unusual."""
    chosen = st.select_slider(
        f"Call so many {counted} unusual",
        list(SHARES),
        "5 in 100",
        key="explore-anomalies-share",
        persist_state="session",
        width=360,
        help=f"A point is called unusual where it lies in an emptier place than all but so many {counted} do. More "
        "finds more of what is truly odd, and calls as many more ordinary ones unusual.",
    )
    return SHARES[chosen]


def _steps(release: Release, table: pa.Table, share: float) -> tuple[Step, ...]:
    """The comparison for a program, unless there are more points than a program should hold."""
    if table.num_rows > MAX_PLACES:
        return ()
    return (Anomalies({name: table.column(name).to_pylist() for name in release.domain.names}, share=share),)


def _say(scores: AnomalyScores, share: float, counted: str) -> None:
    unusual, sure, every = int(scores.anomalous.sum()), int(scores.certain.sum()), len(scores.score)
    st.markdown(how_many_unusual(unusual, sure, every, share, counted))
    note(
        f"The score is the share of {counted} that lie in places as empty as the point's or emptier, counted over "
        f"{REFERENCE_POINTS:,} synthetic ones: 0.01 says one in a hundred. Of all {counted}, up to about "
        f"{100 * share:.0f} in 100 are called unusual, ordinary ones too. A point is surely so when even the upper end "
        "of its interval says it, which noise alone seldom brings about."
    )


def how_many_unusual(unusual: int, sure: int, every: int, share: float, counted: str) -> str:
    """How many of so many points are unusual, how many of them surely, and what that means; Markdown."""
    points, rest = count(every, "point"), f"{100 * (1 - share):.0f} in 100 {counted} of the file"
    if unusual == 0:
        return f"**None of {points}** is unusual: none lies in an emptier place than {rest} do."
    which = f"All {points}" if unusual == every > 1 else f"{unusual:,} of {points}"
    surely = {0: "none of them surely", unusual: "surely so"}.get(sure, f"{sure:,} of them surely")
    return f"**{which}** {plural(unusual, 'is', 'are')} unusual, {surely}: in emptier places than {rest}."


def _show(opened: Opened, table: pa.Table, scores: AnomalyScores) -> tuple[go.Figure, str]:
    """Draw the points on the density; the figure and its title."""
    domain = opened.release.domain
    columns = choose_two(domain)
    picture = public_answers.picture(opened.identity, opened.release, View(columns))
    axes = tuple(domain.columns[domain.names.index(name)] for name in columns)
    figure = add_points(picture_figure(opened.release, picture), table.to_pandas(), axes, scores.anomalous)
    show(for_screen(figure), "explore-anomalies-picture", in_words(opened.release, picture), picture_config(opened))
    if table.num_rows > MAX_DRAWN:
        note(f"{MAX_DRAWN:,} points are drawn, unusual ones first.")
    return figure, f"Points on the density over {listed(columns)}"


def _most_unusual(release: Release, result: pd.DataFrame, scores: AnomalyScores) -> pd.DataFrame:
    """The points to be listed, the most unusual first, their answers in the digits that their errors support."""
    order = scores.score.argsort(kind="stable")[:LISTED]
    error = (scores.high - scores.low)[order] / 4.0 * release.records
    answered = result.columns[-len(SCORES) - 1 :]
    shown = result.iloc[order].drop(columns=answered)
    low, high = scores.low[order] * release.records, scores.high[order] * release.records
    shown[close_by(noun(release))] = counted_close_by(scores.density[order] * release.records, low, high, error)
    shown["score"] = rounded_all(scores.score[order], np.full(len(order), 1.0 / REFERENCE_POINTS))
    shown["unusual"] = np.where(scores.certain[order], "surely", np.where(scores.anomalous[order], "yes", ""))
    return shown
