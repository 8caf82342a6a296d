"""Models as a shared page shows them: their coefficients, and what it needs to predict from a form."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ...analysis.product_sums import Sums, Term
from ...analysis.regression import Regression, regression
from ...domain import Categorical, Column, Cyclic, Domain, Ordered, Vector
from ...errors import RequestError
from ...models.linear_models import LinearModel, NumberModel
from ...models.training_task import Task
from ...releases.release import Release

MOST_TARGETS = 30


def model_facts(model: LinearModel) -> dict[str, Any]:
    """A trained model: without fields where it asks for what a form has none for."""
    fields = [] if model.task.curves else _fields(model.features)
    terms = model.task.terms
    named = model.categories[1:] if len(model.rows) == 1 else model.categories
    whole = np.array([1.0 if term.category else 2.0 * term.half for term in terms])
    return {
        "kind": "model",
        "link": model.kind,
        "label": model.task.label,
        "categories": list(model.categories),
        "radius": model.task.radius,
        "fields": fields,
        "terms": [_term(term) for term in terms],
        "rows": model.weights.tolist(),
        "coefficients": [
            {"name": name, "rows": [[term.name, move, None, None] for term, move in zip(terms, moves, strict=True)]}
            for name, moves in zip(named, (model.slopes * whole).tolist(), strict=True)
        ],
    }


def number_facts(model: NumberModel) -> dict[str, Any]:
    """A trained model of numbers, as one regression: without fields where a form could not ask or would be wrong."""
    table, goal = model.coefficients().iloc[1:], model.goal
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in table.itertuples()]
    ends = [[None if np.isnan(one) else one for one in (row.low, row.high)] for row in table.itertuples()]
    target = {
        "name": model.named,
        "intercept": float(model.coefficients().estimate.iloc[0]),
        "low": goal.middle - goal.half,
        "high": goal.middle + goal.half,
        "link": model.kind,
        "explained": None,
        "deviation": model.residual_deviation,
        "terms": [[row.column, row.category] for row in table.itertuples()],
        "rows": [[name, row.estimate, *end] for name, row, end in zip(names, table.itertuples(), ends, strict=True)],
    }
    shortened = model.task.radius < Task(model.task.domain, model.task.label).radius
    return {
        "kind": "regressions",
        "fields": [] if shortened or model.task.curves else _fields(model.features),
        "targets": [target],
    }


def regression_facts(release: Release) -> dict[str, Any] | None:
    """Each column of numbers predicted from all others, with intervals; None for anything but sums of products."""
    if release.sketch.asked_for != "products":
        return None
    sums = Sums.of(release)
    domain = release.domain
    targets = [c.name for c in domain.columns if not isinstance(c, (Categorical, Vector))][:MOST_TARGETS]
    found = []
    for target in targets:
        try:
            found.append(_regression(regression(sums, target), sums))
        except RequestError:
            continue
    return {"kind": "regressions", "fields": _fields(domain), "targets": found} if found else None


def _regression(fitted: Regression, sums: Sums) -> dict[str, Any]:
    table = fitted.coefficients()
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in table.itertuples()]
    goal = cast(Term, sums.terms[fitted.target])
    return {
        "name": fitted.name,
        "intercept": fitted.intercept,
        "low": goal.middle - goal.half,
        "high": goal.middle + goal.half,
        "explained": fitted.explained,
        "deviation": fitted.residual_deviation,
        "terms": [[row.column, row.category] for row in table.itertuples()],
        "rows": [[name, row.estimate, row.low, row.high] for name, row in zip(names, table.itertuples(), strict=True)],
    }


def _fields(domain: Domain) -> list[dict[str, Any]]:
    """What a form asks for; nothing where a column has no field."""
    if any(isinstance(column, (Cyclic, Vector)) for column in domain.columns):
        return []
    return [_field(column) for column in domain.columns]


def _field(column: Column) -> dict[str, Any]:
    if isinstance(column, Ordered):
        facts = {"kind": "category", "categories": list(column.categories), "places": column.places.tolist()}
        return {"name": column.name} | facts
    if isinstance(column, Categorical):
        return {"name": column.name, "kind": "category", "categories": list(column.categories)}
    low, high = column.bounds(1.0)
    return {"name": column.name, "kind": "number", "low": low, "high": high, "unit": getattr(column, "unit", "")}


def _term(term: Term) -> dict[str, Any]:
    return {"column": term.column, "category": term.category, "middle": term.middle, "half": term.half}
