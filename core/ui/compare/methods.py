"""Each method in words: where it is published, how it works, its best setting and what finding that would have cost."""

from __future__ import annotations

from collections.abc import Mapping

from ...experiments.comparison_methods import METHODS, Method
from ...experiments.comparison_plan import Outcome, Step
from ...experiments.comparison_results import ErrorCurve, curves
from ...figures.comparison_marks import swatch
from ...words.escapes import in_html
from ...words.numbers import percent
from ..frame.marks import note
from ..frame.markup import draw
from .choice import Chosen, marks
from .results import trials_of


def about_methods(chosen: Chosen, known: Mapping[Step, Outcome], measure: str, looking: bool) -> None:
    """A list of the methods that take part; ``looking`` while their best settings are still looked for."""
    if looking and chosen.subject.data is not None:
        note("What tuning would gain, and what it would cost, is said here when all is tried.")
    drawn = curves(trials_of(chosen, known), measure)
    by_key = {(curve.method, curve.tuned): curve for curve in drawn}
    items = []
    for key in chosen.plan.methods:
        method = METHODS[key]
        said = (
            ""
            if chosen.subject.data is None
            else tuning_sentence(
                method, chosen.plan.sizes(key, known), by_key.get((key, False)), by_key.get((key, True)), chosen.present
            )
        )
        idea = f"<small>{in_html(method.idea)}</small>" if method.idea else ""
        tuning = f"<small>{in_html(said)}</small>" if said else ""
        items.append(
            f"<li>{swatch(marks()[key])}<strong>{in_html(method.title)}</strong> "
            f'<span class="fg-paper">{in_html(method.paper)}</span>{idea}{tuning}</li>'
        )
    draw(f'<ul class="fg-facts">{"".join(items)}</ul>')


def tuning_sentence(
    method: Method, sizes: tuple[int | None, ...], default: ErrorCurve | None, tuned: ErrorCurve | None, epsilon: float
) -> str:
    """What its best setting is near an ε, how much better than the one that public facts choose, and at what cost.

    Parameters
    ----------
    sizes : tuple[int | None, ...]
        Settings to try, as far as they are known.
    default, tuned : ErrorCurve | None
        Its curves, as far as they are known; nothing is said where one is missing.
    """
    if method.setting is None or len(sizes) == 1:
        return "Public facts choose its setting; there is none to tune."
    if tuned is None or default is None:
        return ""
    place = min(range(len(tuned.epsilons)), key=lambda i: abs(tuned.epsilons[i] / epsilon - 1))
    at = tuned.epsilons[place]
    if at not in default.epsilons:
        return ""
    chosen, best, size = default.centres[default.epsilons.index(at)], tuned.centres[place], tuned.sizes[place]
    error = f"At ε = {at:g} its error is {percent(chosen)} at the setting that public facts choose"
    paid = f"ε = {tuned.paid[place]:g} in place of {at:g}"
    cost = f"Trying {tuned.tried[place]} settings on private data would cost {paid}"
    if size is None:
        return f"{error}, and none of the {tuned.tried[place] - 1} others that were tried was better. {cost}."
    return f"{error} and {percent(best)} at the best one ({method.setting}: {size:,}). {cost}."
