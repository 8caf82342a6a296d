"""Models as a shared page shows them: their coefficients, and what it needs to predict from a form."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pandas as pd

from ...analysis.product_sums import Sums, Term, terms_of
from ...analysis.regression import Regression, regression
from ...domain import Categorical, Column, Cyclic, Domain, Ordered, Vector
from ...errors import RequestError
from ...models.bending import height
from ...models.linear_models import LinearModel, NumberModel
from ...models.training_task import Task
from ...releases.release import Release
from ..model_figures import reaches

MOST_TARGETS = 30


def model_facts(model: LinearModel) -> dict[str, Any]:
    """A trained model: without fields where it asks for what a form has none for."""
    terms, rows, bent = model.task.terms, model.weights, model.task.curves + model.task.waves > 0
    if bent:  # a knot has a share of its own in a record, and everything adds up
        halves, middles = (np.array([getattr(term, name) for term in terms]) for name in ("half", "middle"))
        slopes, intercepts = model.without_waves
        rows = np.column_stack((intercepts + slopes @ middles, slopes * halves))
    named = model.categories[1:] if len(model.rows) == 1 else model.categories
    tables = [reaches(model, row) for row in range(len(named))]
    return {
        "kind": "model",
        "link": model.kind,
        "label": model.task.label,
        "categories": list(model.categories),
        "radius": None if bent else model.task.radius,
        "fields": [] if bent and _shortens(model) else _fields(model.features),
        "waves": _waves(model),
        "terms": [_term(term) | knot for term, knot in zip(terms, _knots(model), strict=True)],
        "rows": rows.tolist(),
        "banded": model.bands is not None,
        "coefficients": [
            {"name": name, "rows": _carrying(table), "curves": _curves(model, row)}
            for row, (name, table) in enumerate(zip(named, tables, strict=True))
        ],
    }


def _carrying(table: pd.DataFrame) -> list[list[Any]]:
    """Name, how far it moves what is predicted over its range, and between which ends; None where nothing says them."""
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in table.itertuples()]
    whole = np.where(table.estimate == 0.0, 1.0, table.carries / table.estimate.replace(0.0, 1.0))
    ends = [[None if np.isnan(end) else end for end in pair] for pair in zip(table.low, table.high, strict=True)]
    return [
        [name, float(move), *(None if end is None else end * by for end in pair)]
        for name, move, by, pair in zip(names, table.carries, whole.tolist(), ends, strict=True)
    ]


def _shortens(model: LinearModel | NumberModel) -> bool:
    """Whether records are shortened to a radius that was chosen, so that what columns add does not add up."""
    return model.task.radius < Task(model.task.domain, model.task.label).radius


def _waves(model: LinearModel | NumberModel) -> dict[str, Any] | None:
    """Of each wave its turns a unit of each coordinate, and what its cosine and sine weigh in each row of scores."""
    task = model.task
    if not task.waves:
        return None
    weights = model.weights[:, task.lines + 1 :] * (height(task.waves, task.corner) * model.to_natural)
    inputs = [_term(term) for term in terms_of(task.flat)]
    return {"terms": inputs, "speeds": task.frequencies.tolist(), "weights": weights.tolist()}


def _knots(model: LinearModel | NumberModel) -> list[dict[str, Any]]:
    """Of each term where the knot of a curve is, and how far it is from the next ones; nothing of others."""
    found: list[dict[str, Any]] = [{} for _ in model.task.terms]
    for terms, places in model.task.curves_of.values():
        for term, place in zip(terms, places.tolist(), strict=True):
            found[term] = {"place": place, "step": float(places[1] - places[0])}
    return found


def _curves(model: LinearModel | NumberModel, row: int) -> list[dict[str, Any]]:
    """The curves of a row of scores, with bands where they are known."""
    return [
        {
            "name": curve.column,
            "texts": list(curve.texts),
            "values": curve.values.tolist(),
            "reach": None if curve.reach is None else curve.reach.tolist(),
        }
        for curve in model.curves(row)
    ]


def number_facts(model: NumberModel) -> dict[str, Any]:
    """A trained model of numbers, as one regression: without fields where a form could not ask or would be wrong."""
    table, goal = model.coefficients(), model.goal
    slopes, intercepts = (one[0] * model.to_natural for one in model.without_waves)
    every = table.iloc[1:]
    bent = [place for places, _ in model.task.curves_of.values() for place in places]
    straight = every.drop(every.index[bent])
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in straight.itertuples()]
    ends = [[None if np.isnan(one) else one for one in (row.low, row.high)] for row in straight.itertuples()]
    target = {
        "name": model.named,
        "intercept": float(intercepts) + (0.0 if model.counts else goal.middle),
        "low": goal.middle - goal.half,
        "high": goal.middle + goal.half,
        "link": model.kind,
        "explained": None,
        "deviation": model.residual_deviation,
        "mean_off": None if model.of_mean is None else goal.half * model.of_mean,
        "terms": [[row.column, row.category] for row in every.itertuples()],
        "knots": _knots(model),
        "moves": slopes.tolist(),
        "waves": _waves(model),
        "rows": [[name, row.estimate, *end] for name, row, end in zip(names, straight.itertuples(), ends, strict=True)],
        "curves": _curves(model, 0),
    }
    return {"kind": "regressions", "fields": [] if _shortens(model) else _fields(model.features), "targets": [target]}


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
        "moves": table.estimate.tolist(),
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
