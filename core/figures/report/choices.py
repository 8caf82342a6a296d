"""What was chosen under noise before anything was measured, and why that keeps the promise."""

from __future__ import annotations

from fractions import Fraction
from itertools import zip_longest

from ...privacy.events import event_of, total_rho
from ...releases.release import Release
from ...sketches.card import PrivateChoice
from ...sketches.registry import card_of


def choice(release: Release) -> PrivateChoice | None:
    """What was privately chosen, and paid for; None where nothing was.

    A file does not say what its mechanism chose for itself, but what it spent: a release made like another one has that
    one's choices, at no cost, and two columns leave a tree nothing to choose.
    """
    found = card_of(release.sketch).choice
    if found is None or not found.made(release.sketch):
        return None
    return found if release.privacy.rho > _rho_of_noise(release) else None


def _rho_of_noise(release: Release) -> Fraction:
    """What the noise of the table and of the number of records costs in ρ; the largest of merged parts."""
    sketch, privacy = release.sketch, release.privacy
    table, count = sketch.sensitivity(privacy.neighbours), sketch.count_sensitivity(privacy.neighbours)
    parts = zip_longest(privacy.noise, privacy.count_noise)
    return max(
        total_rho([event_of(table, noise), *([] if counted is None else [event_of(count, counted)])])
        for noise, counted in parts
    )
