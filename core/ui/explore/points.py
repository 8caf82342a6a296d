"""The Your points view: a visitor's own points in, what the file says at each of them out. Every release has it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from ...errors import RequestError
from ...figures.answer_sentences import SHARED_NOISE, counted_close_by, kind_sentence, noun, place_words
from ...figures.density_figures import close_by
from ...figures.distance_figures import distance_title, distance_unit
from ...figures.report.exploration import MAX_PLACES, Points
from ...releases.release import Release
from ...sketches.answers import Answers
from ...sources.public_tables import beside
from ...words.escapes import in_markdown
from ...words.numbers import rounded_all, rounded_range
from ...words.phrases import count
from ..frame.marks import Visibility, mark, note
from ..frame.session import Opened
from ..released import public_answers
from ..released.asked_points import LISTED, dropped_table, note_rest, worked_out
from ..released.chosen_view import drawable
from ..released.taking_along import take_along
from .example import Example, example_of

READ = "explore-asked-read"
BETWEEN = "very likely between"


def points_view(opened: Opened) -> None:
    """Everything under Your points."""
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
    try:
        table, found = answered(opened, dropped or example)
    except RequestError as error:
        st.error(in_markdown(error))
        return
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
