"""What stops the reading of a record."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A condition in SQL under which a record is refused.

    Attributes
    ----------
    condition : str
        Holds of a record that is refused; where it is null, it does not hold.
    column : str
        The column at fault.
    problem : str
        How the message goes on after naming the place.
    """

    condition: str
    column: str
    problem: str
