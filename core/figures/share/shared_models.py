"""Models as a shared page shows them: their coefficients, and what it needs to predict from a form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...analysis.product_sums import Sums
from ...analysis.regression import Regression, regression
from ...domain import Categorical, Vector
from ...errors import RequestError
from ...models.linear_models import LinearModel, NumberModel
from ...releases.release import Release
from ..model_figures import reaches

MOST_TARGETS = 30


def model_facts(model: LinearModel) -> dict[str, Any]:
    """A trained model: what carries each class; the page predicts by what the file itself says."""
    named = model.categories[1:] if len(model.rows) == 1 else model.categories
    tables = [reaches(model, row) for row in range(len(named))]
    return {
        "kind": "model",
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
    """A trained model of numbers, as one regression."""
    every = model.coefficients().iloc[1:]
    straight = every.drop(every.index[[place for places, _ in model.task.curves_of.values() for place in places]])
    target = {
        "name": model.named,
        "link": model.kind,
        "explained": None,
        "deviation": model.residual_deviation,
        "mean_off": None if model.of_mean is None else model.goal.half * model.of_mean,
        "rows": _estimates(straight),
        "curves": _curves(model, 0),
    }
    return {"kind": "regressions", "targets": [target]}


def _estimates(table: pd.DataFrame) -> list[list[Any]]:
    """Of each coefficient its name, the estimate and the ends of its interval; None where nothing says them."""
    names = [f"{row.column} = {row.category}" if row.category else row.column for row in table.itertuples()]
    ends = [[None if np.isnan(end) else end for end in (row.low, row.high)] for row in table.itertuples()]
    return [[name, row.estimate, *end] for name, row, end in zip(names, table.itertuples(), ends, strict=True)]


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
            found.append(_regression(regression(sums, target)))
        except RequestError:
            continue
    return {"kind": "regressions", "targets": found} if found else None


def _regression(fitted: Regression) -> dict[str, Any]:
    return {
        "name": fitted.name,
        "explained": fitted.explained,
        "deviation": fitted.residual_deviation,
        "weights": fitted.weights.tolist(),  # of what lies between -1 and 1, in the order of the columns
        "rows": _estimates(fitted.coefficients()),
    }
