"""What Explore and Classify say: a released file in one line, and answers, rules and distances in sentences."""

import math

import numpy as np

from ..analysis.class_scores import rules_of
from ..analysis.classification import Classification, drowned_in_largest
from ..analysis.modes import Mode
from ..domain import Categorical, Domain, Vector
from ..formatting.escapes import in_markdown
from ..formatting.numbers import (
    best_guess,
    day,
    listed,
    number,
    percent,
    percent_within,
    rounded,
    rounded_all,
    rounded_range,
    with_unit,
)
from ..releases.release import Release
from ..sketches.linear import LinearSketch
from . import meaning
from .density_figures import UNSURE, close_by
from .distance_figures import distance_unit
from .figure_axes import Axis
from .label import PrivacyLabel
from .meaning import clipped

BEYOND_RECORDS = (
    "Bands hold for the population that the records were drawn from at random, and not for the records alone: they "
    "have the luck of the draw besides the noise."
)
NO_RIDGE = (
    "They are of least squares without the ridge that keeps noise out, as that draws slopes towards 0; a line without "
    "an end says that noise hides a slope."
)
MODES_OF_RECORDS = (
    "Which places are modes, and which stand out, holds for these records only: the luck of the draw makes bumps too."
)
SHARED_NOISE = (
    "All answers of a file share its noise, so their errors move together: a file that misses in one place may miss in "
    "many."
)


def noun(release: Release) -> str:
    """What a kernel sum counts: "people", "records" or "sets"."""
    return meaning.counted(release.domain)


def what_it_is(label: PrivacyLabel) -> str:
    """Which columns a released file has, and of how many."""
    return f"{listed([column.name for column in label.columns], 4)} of {label.records} {label.counted}"


def who_is_protected(label: PrivacyLabel) -> str:
    """Who is protected by a released file, in words."""
    whom = f"{label.protected}," if "," in label.protected else label.protected
    return f"{whom} protected"


def one_line(label: PrivacyLabel) -> str:
    """What a released file is, from when, at which ε, and who is protected."""
    protected = f"{who_is_protected(label)}: {label.hidden}"
    return f"{what_it_is(label)} · released {day(label.created)} · {label.promise} · {protected}"


def answer_sentence(
    estimate: float, low: float, high: float, error: float, counted: str, averaged: tuple[str, ...] = ()
) -> str:
    """An answer in Markdown: how many are close by, within what, or that the noise hides it.

    `averaged`: columns whose values it is averaged over. Such an average is smaller than an answer at likely values of
    them, and grows with every column that is drawn or held instead; so it is not called by the same words.
    """
    close = close_by(counted, averaged) + (f" over all values of {listed(averaged)}" if averaged else "")
    if not math.isfinite(error):
        return f"About **{best_guess(estimate, error)}** {close}. {UNSURE}"
    least, most = rounded_range(low, high, error)
    if low <= 0:
        return f"The noise hides whether anyone is here: very likely **fewer than {most}** {close}."
    return f"About **{rounded(estimate, error)}** {close}; very likely between **{least}** and **{most}**."


def counted_close_by(estimate: np.ndarray, low: np.ndarray, high: np.ndarray, error: np.ndarray) -> list[str]:
    """Answers for the cells of a table, arrays (n,): a number, or below which one it is where the noise hides it."""
    texts = rounded_all(estimate, error)
    ends = zip(low, high, error, strict=True)
    hidden = [f"fewer than {rounded_range(a, b, e)[1]}" if np.isfinite(e) and a <= 0 else "" for a, b, e in ends]
    return [less or text for less, text in zip(hidden, texts, strict=True)]


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


# Rules of decision as people ask: the question, and what decides it.
RULES = {
    "likelihood": (
        "Which group is more typical here?",
        "Counts a rare group as much as a frequent one: the share of each group that is near here.",
    ),
    "posterior": (
        "Which group has more people near here?",
        "Frequent groups win more often, as they should when the next person comes from the same crowd.",
    ),
    "distance": ("Which group is nearer on average?", "The average distance from all people of each group."),
    "mean": ("Whose middle is nearest?", "The distance from the mean of each group, however scattered it is."),
    "discriminant": (
        "Which group is likelier, by its middle and its size?",
        "The distance from the mean of each group beside how frequent it is. A mean that noise hides says nothing.",
    ),
    "direction": ("Whose direction is nearest?", "The angle between this vector and the mean direction of each group."),
}
NEARLY = 0.9999  # How sure one may be that noise did not decide: it always could have, however rarely.


def has_groups(release: Release) -> bool:
    """Whether a released file tells groups apart."""
    return bool(release.sketch.classes)


def rules(release: Release) -> tuple[str, ...]:
    """The rules that suit a release with groups, the usual one first."""
    return rules_of(release.sketch)


def drowned_sentence(release: Release, rule: str, codes: np.ndarray) -> str | None:
    """What to say, in Markdown, where the rule says the largest group nearly everywhere."""
    drowned = drowned_in_largest(release, rule, codes)
    if drowned is None:
        return None
    return f"{in_markdown(drowned)} Ask **{RULES['likelihood'][0]}** under How it decides."


def asked_domain(release: Release) -> Domain:
    """The columns of a place that can be asked."""
    return release.sketch.query_domain


def decision_sentence(found: Classification) -> str:
    """What is said of the first place, in Markdown."""
    name, share = found.labels[0], percent(float(found.probabilities[0, found.codes[0]]))
    sure = min(float(found.confidence[0]), NEARLY)
    if found.certain[0]:
        return (
            f"Most like **{name}**: {share} likely. It is {percent(sure)} sure that the file would say the same "
            "without its noise."
        )
    return (
        f"**Don't know.** The noisy counts make {name} {share} likely, but the noise may have decided that: the chance "
        f"that without it they name another is {percent(1 - sure)}."
    )


ONE_SIDED = ("above", "below")


def kind_of(sketch: LinearSketch) -> tuple[str, float]:
    """The kind of a sketch's distances, and the number that belongs to it: "l1", "l2", "squared", "lp" and P, …"""
    kind, _, number = sketch.distance_norm.partition(":")
    return kind, float(number or 1)


def one_sided(sketch: LinearSketch) -> bool:
    """Whether only who lies on one side of a place counts, so that there is no place in the middle of everyone."""
    return kind_of(sketch)[0] in ONE_SIDED


def distance_sentence(sketch: LinearSketch, mean: float, low: float, high: float, error: float) -> str:
    """An average distance in Markdown, with its interval; what noise takes below zero is only bounded from above."""
    kind, power = kind_of(sketch)
    unit = distance_unit(sketch)
    if not math.isfinite(error):
        return f"Everyone is about **{with_unit(best_guess(mean, error), unit)}** away on average. {UNSURE}"
    least, most = rounded_range(low, high, error)
    if low <= 0:
        return f"The noise hides how far everyone is: on average very likely **less than {with_unit(most, unit)}**."
    far = f"**{with_unit(rounded(mean, error), unit)}**"
    between = f"very likely between **{least}** and **{most}**."
    if kind == "squared":
        return f"The squared distance of everyone is {far} on average; {between}"
    if kind in ONE_SIDED:
        return f"Everyone is {far} {kind} this place on average; {between}"
    counted = f", counting differences to the power {number(power)}" if kind == "lp" else ""
    return f"Everyone is {far} away on average{counted}; {between}"


def root_sentence(sketch: LinearSketch, mean: float, error: float) -> str:
    """A squared distance as a distance; "" for other kinds."""
    if kind_of(sketch)[0] != "squared" or mean <= 0:
        return ""
    root = mean**0.5
    unit = distance_unit(sketch).removesuffix("²").removeprefix("squared ")
    text = with_unit(rounded(root, error / (2.0 * root)), unit)
    return f"The root of it is {text}, as a distance in which those far away count more."


def kind_sentence(sketch: LinearSketch) -> str:
    """Which kind of distance it is, for someone who never heard of several."""
    kind, power = kind_of(sketch)
    names = sketch.domain.names
    sentences = [_KINDS[kind].format(number(power))]
    if kind == "l1":
        one = len(names) == 1 and sketch.domain.dimensions == 1
        alone = f"Distance is the difference in {listed(names)}."
        sentences = [alone if one else sentences[0]]
    if sketch.domain.scale == "box":
        sentences.append("A column's whole range, from its least to its greatest possible value, counts as 1.")
    if any(isinstance(column, Categorical) for column in sketch.domain.columns) and kind in ("l1", "l2", "capped"):
        apart = with_unit(number(sketch.domain.category_distance), distance_unit(sketch))
        sentences.append(f"Someone of another category is {apart} away by that alone.")
    sentences.append(clipped(sketch))
    return " ".join(sentence for sentence in sentences if sentence)


_KINDS = {
    "l1": "Distance goes column by column and is added up, as on a walk along the streets of a grid.",
    "l2": "Distance is measured in a straight line, as the crow flies.",
    "squared": "Distances go in a straight line and are squared before they are averaged, so whoever is twice as far "
    "away counts four times.",
    "lp": "Differences go column by column, to the power {}, and are added up.",
    "capped": "Distance goes column by column and is added up; no difference counts as more than {}.",
    "above": "Only those who lie above the place count, column by column, by how far; everyone else counts as 0.",
    "below": "Only those who lie below the place count, column by column, by how far; everyone else counts as 0.",
}
