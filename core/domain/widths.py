"""Whether one column's range makes up nearly all of every distance, which public bounds say."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from .domain import Domain
from .scalar import Scalar
from .vector import Vector

MUCH_WIDER = 10.0
"""How many times a column's range may be another's before noise that suits the one drowns the other."""


class Widths(NamedTuple):
    """The columns of the widest and the narrowest range, and how many times the one is the other."""

    widest: str
    narrowest: str
    times: float


def unlike_widths(domain: Domain) -> Widths | None:
    """The columns that are much wider and narrower than each other; None where none are, or a scale evens them."""
    ranges = {column.name: column.span for column in domain.columns if isinstance(column, (Scalar, Vector))}
    if domain.scale == "box" or len(ranges) < 2:
        return None
    widest, narrowest = max(ranges, key=ranges.__getitem__), min(ranges, key=ranges.__getitem__)
    times = ranges[widest] / ranges[narrowest]
    return Widths(widest, narrowest, times) if times > MUCH_WIDER else None


def evenly_scaled(domain: Domain) -> Domain:
    """The same, with each column compared as a share of its bounds where one is much wider than another."""
    return domain if unlike_widths(domain) is None else replace(domain, scale="box")
