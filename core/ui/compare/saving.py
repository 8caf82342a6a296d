"""Taking a comparison along: its curves and trials as tables, and its picture."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict

import pandas as pd
import streamlit as st

from ...experiments.comparison_methods import METHODS
from ...experiments.comparison_results import MEASURES, ErrorCurve, Trial, curves
from ...figures.comparison_curves import errors_figure
from ...figures.paper import standalone
from ...words.escapes import in_html
from ..frame.marks import main_action, missing_sentence
from ..frame.markup import draw
from .choice import Chosen, marks
from .results import shown_curves

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
    found : Callable[[], list[Trial]]
        The trials there are.
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
