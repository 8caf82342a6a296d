"""Taking answers along: a picture, a table, a program that asks the same again, and a report of the whole file."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from ...figures.answer_sentences import one_sided
from ...figures.paper import standalone
from ...figures.report.exploration import Centres, Density, Exploration, Modes, Step
from ...figures.report.programs import notebook_for, script_for
from ...figures.report.report_html import report_html
from ...releases.comparison import Comparison
from ...releases.release import Release
from ...sketches.products.products import Products
from ...sketches.tables.tables import Tables
from ...tasks.centres import nearest_place
from ...words.escapes import csv_of, in_html
from ..frame.marks import main_action
from ..frame.markup import draw
from ..frame.session import Opened
from .answers import DISTANCE_MAP_SIZE
from .columns import drawable
from .groups import part_calls, whom

REPORT = "Save the report"


def take_along(
    opened: Opened,
    kind: str,
    table: Callable[[], pd.DataFrame],
    steps: tuple[Step, ...] = (),
    figure: go.Figure | None = None,
    title: str = "",
    remark: str = "",
    typed: bool = False,
    label: str = "Take this along",
) -> None:
    """Offer what a view shows as files; each is made when it is asked for.

    Parameters
    ----------
    opened : Opened
        The released file.
    kind : str
        One word for the view, fit for the name of a file.
    table : Callable[[], pd.DataFrame]
        Makes the table of answers.
    steps : tuple[Step, ...]
        What was asked, for the program and the notebook; none are offered without steps.
    figure, title : go.Figure | None, str
        The picture and what stands above it.
    remark : str
        What is good to know about the program.
    typed : bool
        Whether the table is offered with the types of its columns, too, and its texts as they are.
    label : str
        What the button says.
    """
    with st.popover(label):
        _file(opened, kind, "Answers (CSV)", "csv", "text/csv", lambda: csv_of(table()))
        if typed:
            mime = "application/vnd.apache.parquet"
            _file(opened, kind, "Answers (Parquet)", "parquet", mime, lambda: table().to_parquet(index=False))
        if figure is not None:
            _file(opened, kind, "Picture that zooms (HTML)", "html", "text/html", lambda: standalone(figure, title))
            st.caption("For a still picture, use the camera above it; the one in the HTML file saves SVG, for print.")
        if steps:
            done = Exploration(opened.name, opened.fingerprint, steps, part_calls(opened))
            _file(opened, kind, "Python script", "py", "text/x-python", lambda: script_for(done).encode())
            _file(opened, kind, "Notebook", "ipynb", "application/x-ipynb+json", lambda: notebook_for(done).encode())
            st.caption(f"Both ask the same of the file again, which they look for beside them. {remark}".strip())


def _file(opened: Opened, kind: str, label: str, ending: str, mime: str, make: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        make,
        f"{opened.stem}-{kind}.{ending}",
        mime,
        key=f"explore-{kind}-{ending}",
        on_click="ignore",
        width="stretch",
    )


def no_report_yet() -> None:
    """The main action while no file is open."""
    main_action(REPORT, ["a released file"], "explore-report")


def report_action(opened: Opened, asked: Opened, compared: tuple[Comparison, str] | None = None) -> None:
    """The main action: the whole file in words and pictures, on one page that may be handed out.

    Parameters
    ----------
    opened, asked : Opened
        The released file, and the part of it that is explored.
    compared : tuple[Comparison, str] | None
        What it is compared with on the page, and the name of that file.
    """
    release, whole = asked.release, opened.release
    with st.bottom, st.container(horizontal=True, vertical_alignment="center", gap="medium", key="action-report"):
        st.download_button(
            REPORT,
            lambda: report_html(whole, overview(release), opened.data, release, whom(asked), compared).encode(),
            f"{opened.stem}-report.html",
            "text/html",
            key="explore-report",
            type="primary",
            on_click="ignore",
        )
        what = "its modes" if release.sketch.answers == "closeness" else "how far everyone is"
        shown = f"What it is, what it promises, its picture and {what}"
        if release.sketch.name == Tables.name:
            shown = "What it is, what it promises, all columns and the pairs that go together"
            shown += "" if compared is None else ", and the difference to the other file"
        elif not has_picture(release):
            shown = "What it is and what it promises"
        words = f"{shown}, on one page that may be handed out."
        draw(f'<p class="fg-missing">{in_html(words)}</p>')


def has_picture(release: Release) -> bool:
    """Whether a report asks for a picture: of sets and products it has none, of tables those of all columns."""
    return not release.domain.holds_sets and release.sketch.name not in (Products.name, Tables.name)


def overview(release: Release) -> tuple[Step, ...]:
    """What a report of a file shows: a picture over the first columns, and its modes or its centre."""
    if not has_picture(release):
        return ()
    axes = drawable(release.domain)[:2]
    if release.sketch.answers == "closeness":
        return (*((Density(axes, {}),) if axes else ()), Modes())
    pictures = (Density(axes, rest_at_nearest(release, axes), DISTANCE_MAP_SIZE),) if axes else ()
    return pictures if one_sided(release.sketch) else (*pictures, Centres())


def rest_at_nearest(release: Release, axes: tuple[str, ...]) -> dict[str, object]:
    """Where the columns that are not drawn are held: where everyone is nearest."""
    return {name: value for name, value in nearest_place(release).items() if name not in axes}
