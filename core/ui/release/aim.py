"""What people shall be able to ask of a release: a question, and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...domain import Domain

DENSITY, DISTANCE, GROUP = "density", "distance", "group"
"""How dense is it here? How far is everyone from here? Which group is this like?"""
CLOSENESS = "closeness"


@dataclass(frozen=True)
class Aim:
    """A question with what belongs to it; all of it is public.

    Attributes
    ----------
    question : str
        `DENSITY`, `DISTANCE` or `GROUP`.
    norm : str | None
        How distance is measured, "l1", "l2" or "squared"; None where closeness is asked for.
    label : str | None
        The column that says the group, of the question for it.
    """

    question: str
    norm: str | None = None
    label: str | None = None

    @property
    def answers(self) -> str:
        """What is summed over the records: "closeness", or "distance"."""
        return CLOSENESS if self.norm is None else DISTANCE

    def compared(self, domain: Domain) -> Domain:
        """The columns of a query: all of them but the one that says the group."""
        if self.label is None:
            return domain
        return replace(domain, columns=tuple(column for column in domain.columns if column.name != self.label))
