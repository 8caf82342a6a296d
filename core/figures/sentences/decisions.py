"""What the Classify page says: rules as questions, and answers in sentences."""

from __future__ import annotations

import numpy as np

from ...domain import Domain
from ...releases.release import Release
from ...tasks.class_scores import rules_of
from ...tasks.classification import Classification, drowned_in_largest
from ...words.escapes import in_markdown
from ...words.numbers import percent

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
    "direction": ("Whose direction is nearest?", "The angle between this vector and the mean direction of each group."),
}
"""Rules of decision as people ask: the question, and what decides it."""
NEARLY = 0.9999
"""How sure one may be that noise did not decide: it always could have, however rarely."""


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
    name, share = found.labels[0], found.probabilities[0, found.codes[0]]
    sure = percent(min(float(found.confidence[0]), NEARLY))
    if found.certain[0]:
        return (
            f"Most like **{name}**: {percent(float(share))} likely. It is {sure} sure that the file would say the same "
            "without its noise."
        )
    return (
        f"**Don't know.** Perhaps {name}, but the noise may have decided that: it is only {sure} sure that the file "
        "would say the same without it."
    )
