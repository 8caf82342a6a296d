"""The rule that missing values are a category of their own, for every column that can have one."""

from __future__ import annotations

from collections.abc import Mapping

RULE = "category"
WITH_CATEGORY = ("number", "date", "category", "ordered", "yes_no")
"""Kinds of columns that missing values can be a category of; of others, they are dropped."""


def under_rule(entry: object) -> object:
    """An entry of a declaration under the rule; what it says itself of missing values goes first."""
    if not isinstance(entry, Mapping) or str(entry.get("kind", "")) not in WITH_CATEGORY:
        return entry
    if "missing_category" in entry:
        return entry
    return {"on_missing": RULE} | dict(entry)
