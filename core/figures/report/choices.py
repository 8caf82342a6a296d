"""What was chosen under noise before anything was measured, and why that keeps the promise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

from ...privacy.events import event_of, total_rho
from ...releases.release import Release


@dataclass(frozen=True)
class Choice:
    """What a mechanism chooses, as a word or two that begin a sentence, and the theorem that covers it."""

    what: str
    theorem: str

    @property
    def sentence(self) -> str:
        """For a person who wants to know what the promise is about."""
        return f"{self.what} was chosen under the same promise."


EXPONENTIAL = (
    "Choices are those of the exponential mechanism (McSherry, Talwar 2007), with a part of epsilon of their own; the "
    "counters have the rest."
)
COMPARED = (
    "The places were found by noisy comparisons (sparse vector technique: Dwork, Roth 2014, Theorem 3.23), with a part "
    "of epsilon of their own; the counters have the rest."
)
CHOICES = {
    "privbayes": Choice("Which columns belong together", EXPONENTIAL),
    "mst": Choice("Which columns belong together", EXPONENTIAL),
    "mwem": Choice("Which answers were measured", EXPONENTIAL),
    "huang-roth": Choice("At which places distances were measured", COMPARED),
}


def choice(release: Release) -> Choice | None:
    """What was privately chosen, and paid for; None where nothing was.

    A file does not say what its mechanism chose for itself, but what it spent: a release made like another one has that
    one's choices, at no cost, and two columns leave a tree nothing to choose.
    """
    found = CHOICES.get(release.sketch.name)
    return found if found is not None and release.privacy.rho > _rho_of_noise(release) else None


def _rho_of_noise(release: Release) -> Fraction:
    """What the noise of the table and of the number of records costs in ρ; the largest of merged parts."""
    sketch, privacy = release.sketch, release.privacy
    table, count = sketch.sensitivity(privacy.neighbours), sketch.count_sensitivity(privacy.neighbours)
    parts = zip_longest(privacy.noise, privacy.count_noise)
    return max(
        total_rho([event_of(table, noise), *([] if counted is None else [event_of(count, counted)])])
        for noise, counted in parts
    )
