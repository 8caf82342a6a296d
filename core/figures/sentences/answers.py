"""What Explore says: the released file in one line, and an answer in sentences."""

from __future__ import annotations

import math

import numpy as np

from ...domain import Vector
from ...releases.release import Release
from ...tasks.modes import Mode
from ...words.numbers import best_guess, percent_within, rounded, rounded_all, rounded_range
from ...words.phrases import day, listed
from ..axes import Axis
from ..density import UNSURE, close_by
from ..report import words
from ..report.label import PrivacyLabel

SHARED_NOISE = (
    "All answers of a file share its noise, so their errors move together: a file that misses in one place may miss in "
    "many."
)


def noun(release: Release) -> str:
    """What a kernel sum counts: "people", "records" or "sets"."""
    return words.counted(release.domain)


def what_it_is(label: PrivacyLabel) -> str:
    """Which columns a released file has, and of how many."""
    return f"{listed([column.name for column in label.columns], 4)} of {label.records} {label.counted}"


def who_is_protected(label: PrivacyLabel) -> str:
    """Who is protected by it."""
    whom = f"{label.protected}," if "," in label.protected else label.protected
    return f"{whom} protected"


def one_line(label: PrivacyLabel) -> str:
    """What a released file is, from when, at which ε, and who is protected."""
    protected = f"{who_is_protected(label)}: {label.hidden}"
    return f"{what_it_is(label)} · released {day(label.created)} · {label.promise} · {protected}"


def answer_sentence(estimate: float, low: float, high: float, error: float, counted: str) -> str:
    """An answer in Markdown: how many are close by, within what, or that the noise hides it."""
    if not math.isfinite(error):
        return f"About **{best_guess(estimate, error)}** {close_by(counted)}. {UNSURE}"
    least, most = rounded_range(low, high, error)
    if low <= 0:
        return f"The noise hides whether anyone is here: very likely **fewer than {most}** {close_by(counted)}."
    about = f"About **{rounded(estimate, error)}** {close_by(counted)}"
    return f"{about}; very likely between **{least}** and **{most}**."


def counted_close_by(estimate: np.ndarray, low: np.ndarray, high: np.ndarray, error: np.ndarray) -> list[str]:
    """Answers for the cells of a table, arrays (n,): a number, or below which one it is where the noise hides it."""
    texts = rounded_all(estimate, error)
    ends = zip(low, high, error, strict=True)
    hidden = [f"fewer than {rounded_range(a, b, e)[1]}" if np.isfinite(e) and a <= 0 else "" for a, b, e in ends]
    return [less or text for less, text in zip(hidden, texts, strict=True)]


def inside_sentence(estimate: float, low: float, high: float, error: float, counted: str) -> str:
    """How many are inside an area, in Markdown, with what it may be off by, or that the noise hides it."""
    least, most = rounded_range(max(low, 0.0), high, error)
    if low <= 0:
        return f"The noise hides whether anyone is in here: very likely **fewer than {most}** {counted}."
    off = rounded((high - low) / 2.0, error)
    about = f"About **{rounded(estimate, error)} ± {off}** {counted} in here"
    return f"{about}; very likely between **{least}** and **{most}**."


def density_sentence(density: float, low: float, estimate: float, error: float) -> str:
    """The density in words, as a share of what it would be if everyone were at the very same place; "" when hidden."""
    if low <= 0 or estimate <= 0:
        return ""
    share = percent_within(density, density * error / estimate)
    return f"That is {share} of what it would be if everyone were exactly here."


def averaged_sentence(names: tuple[str, ...]) -> str:
    """What it means that columns are neither drawn nor held; "" when all are."""
    if not names:
        return ""
    them = "them" if len(names) > 1 else "it"
    return f"Averaged over all values of {listed(names)}, likely or not. Hold {them} at a value to see slices."


def place_words(position: dict[str, object], release: Release) -> dict[str, str]:
    """A place in words, by column: numbers to a five-hundredth of their bounds, with unit."""
    said = {}
    for column in release.domain.columns:
        value = position[column.name]
        if isinstance(column, Vector):
            said[column.name] = f"a list of {column.length:,} numbers"
        else:
            axis = Axis.of(column, getattr(column, "categories", None) or [value])
            said[column.name] = axis.words(axis.place(value))
    return said


def standing_out(mode: Mode) -> str:
    """How a mode compares with the noise, in words."""
    if not mode.significant:
        return "could be noise"
    times = mode.prominence_ratio
    return f"{'over 100' if times > 100 else f'{times:.0f}'} times the noise"
