"""Domains of a release of several questions: of all of them together, and of each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..checks import check_choice, field_names
from ..domain import Column, Domain
from ..errors import RequestError

OWN = ("columns", "scale", "category_distance")
"""Of a domain: what parts may have of their own."""


def joined(domains: Sequence[Domain]) -> Domain:
    """All columns of several domains that share their rules and the people whom they protect.

    Raises
    ------
    RequestError
        When they do not, or declare a column differently.
    """
    first = domains[0]
    columns: dict[str, Column] = {}
    for domain in domains:
        if domain.unit != first.unit:
            raise RequestError("The parts of a release must protect the same people, as one promise is made to them.")
        if _rules(domain) != _rules(first):
            raise RequestError(
                "The parts of a release must treat values outside the bounds and missing ones alike, as they are of "
                "the same records."
            )
        for column in domain.columns:
            if columns.setdefault(column.name, column) != column:
                raise RequestError(
                    f"The column {column.name!r} is declared differently in two parts; say once what it may hold."
                )
    return replace(first, columns=tuple(columns.values()), scale="none", category_distance=1.0)


def _rules(domain: Domain) -> dict[str, object]:
    """What is said of records beside their columns, and beside how a part compares them."""
    return {name: getattr(domain, name) for name in field_names(Domain) if name not in OWN}


def of_part(domain: Domain, own: Domain) -> Domain:
    """The columns of a part, as another domain declares them."""
    return restricted(domain, list(own.names), own.scale, own.category_distance)


def restricted(domain: Domain, names: object, scale: Any, category_distance: Any) -> Domain:
    """Some columns of a domain, compared in a way of their own; RequestError when it does not have them."""
    by_name = {column.name: column for column in domain.columns}
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name in by_name for name in names):
        raise RequestError("The columns of a part must be a list of columns of the release.")
    check_choice(scale, "The scale of a part", ("none", "box"))
    columns = tuple(by_name[name] for name in names)
    return replace(domain, columns=columns, scale=scale, category_distance=category_distance)
