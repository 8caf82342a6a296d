"""Whether a rule that counts how frequent classes are leaves nothing but the largest one."""

from __future__ import annotations

import numpy as np

from ...releases.release import Release
from ...words.numbers import percent
from .scores import class_sizes

NAMED = 0.25
"""Share of their own frequency below which the other classes are named too seldom to speak of a decision."""
FEWEST_OTHERS = 10.0
"""Places of other classes to expect, so that chance alone names a quarter of them or fewer in one case of 300."""


def drowned_in_largest(release: Release, rule: str, codes: np.ndarray) -> str | None:
    """A sentence where the rule of posterior says the largest class nearly everywhere; None where it does not.

    Multiplied by how frequent a class is, a closeness that hardly differs from class to class says which class is the
    largest and nothing about the place.

    Parameters
    ----------
    release : Release
        With classes.
    rule : str
        What decided.
    codes : np.ndarray
        The classes that were said, by number, of any shape.
    """
    if rule != "posterior":
        return None
    sizes = class_sizes(release).number
    largest = int(sizes.argmax())
    others, said = 1.0 - sizes[largest] / sizes.sum(), float(np.mean(codes == largest))
    if codes.size * others < FEWEST_OTHERS or 1.0 - said > NAMED * others:
        return None
    return (
        f"The rule of posterior says the largest class, {release.sketch.classes[largest]!r}, at {percent(said)} of the "
        f"places, though about {percent(others)} of the records are of others: the bandwidth is too wide for it."
    )
