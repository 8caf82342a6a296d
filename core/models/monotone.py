"""Curves that only rise or only fall, where the owner of the data declares it: at no price.

A released curve is a function f at its knots. In its place stands the function g that rises (or falls) and is nearest
to it, least in Σ_k (f_k - g_k)² over the knots: isotonic regression, exact by pooling neighbours (Barlow et al. 1972).
g is the projection onto a convex cone. So where the truth rises no draw of the noise leaves g farther from it than f
was, and where it does not, g is the nearest that was declared. It follows from what was released and from public words:
it costs nothing. (Knots weighted by what bands say of their noise did no better, as bands are told by a short walk.)

Curves without a constant span all lines with their knots (`bending`), so g is weights again and a constant, which goes
to the intercept. Weights are rounded to whole units u, which moves the slope of a curve by ½u (1 + Σ_l 2^((l-1)/2)) at
most, and g is given a slope of twice that: what is released does rise. A straight line of the wrong sign becomes level.

A model is the sum of what its columns add, so it rises with a column where the column's curve does. Two things would
break that, and are left out: waves, which look at several columns together, and shortening records that are longer than
a radius, which moves what all other columns add. Those are predicted by the same weights at full length.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import isotonic_regression

from ..analysis.product_sums import terms_of
from ..domain import Categorical
from ..errors import RequestError
from .bending import curved, knots
from .linear_models import Model
from .model_file import DIRECTIONS
from .training_task import Task

Declared = Mapping[str, int] | Sequence[int] | None  # As scikit-learn takes `monotonic_cst`.


def directions_of(task: Task, declared: Declared) -> tuple[int, ...]:
    """Of each coordinate before any bends, 1 where it only raises what is predicted, -1 where it lowers it; () of none.

    `declared`: Columns with 1, -1 or 0; or one of these for each feature, in their order. RequestError when that cannot
    be declared of such a column or model.
    """
    columns = [column for column in task.features.columns for _ in range(column.width)]
    if declared is None:
        return ()
    if isinstance(declared, Mapping):
        for name in declared:
            if name not in task.features.names:
                raise RequestError(f"There is no column {name!r} to predict from, so it has no direction.")
        ways = [declared.get(one.name, 0) for one in columns]
    else:
        of_columns = dict(zip(task.features.names, declared, strict=False))
        each = len(declared) == len(columns)
        ways = list(declared) if each else [of_columns.get(one.name, 0) for one in columns]
        if len(declared) not in (len(columns), len(task.features.columns)):
            raise RequestError(f"There must be a direction for each of {len(task.features.columns):,} columns.")
    for way, column in zip(ways, columns, strict=True):
        if isinstance(way, bool) or way not in (-1, 0, 1):
            raise RequestError(
                "A direction is 1 for what only raises it, -1 for what only lowers it, or 0 for neither."
            )
        if way and isinstance(column, Categorical):
            raise RequestError(f"The values of {column.name!r} have no order along a line: they neither rise nor fall.")
    if not any(ways):
        return ()
    if len(task.categories) > 2:
        raise RequestError("A direction needs a number or two classes to predict: of more none is above the others.")
    if task.radius < math.sqrt(task.corner):
        raise RequestError("Records that are shortened follow no direction: leave the radius out.")
    if task.waves or task.products:
        raise RequestError(
            "Waves and products look at several columns together and follow no direction: leave them out."
        )
    return tuple(int(way) for way in ways)


def monotone(model: Model, directions: Sequence[int]) -> Model:
    """The model with curves that go where they were declared to go, for records of any length.

    `directions`: See `directions_of`.
    """
    if not any(directions):
        return model
    task = replace(model.task, radius=None)
    rows, end, bent = model.rows.copy(), 1, task.bent
    for way, bends in zip(directions, bent.tolist(), strict=True):
        start, end = end, end + (1 << task.curves if bends else 1)
        for row in range(len(rows) if way else 0):
            # Of two classes with a row each the first one's falls where the second one's rises.
            sign = -way if len(rows) == 2 and row == 0 else way
            own = rows[row, start:end]
            constant, rows[row, start:end] = (0, sign * np.maximum(sign * own, 0)) if not bends else _risen(own, sign)
            rows[row, 0] += constant
    said = ", ".join(f"{term.name}={way}" for term, way in zip(terms_of(task.flat), directions, strict=True) if way)
    return replace(model, task=task, rows=rows, details={**model.details, DIRECTIONS: said})


def _risen(weights: np.ndarray, sign: int) -> tuple[int, np.ndarray]:
    """The nearest curve that rises, or falls for a sign of -1: its constant and its weights, in whole units.

    `weights`: Of a number and its tents (`bending.curved`), int64 (2^halvings,).
    """
    halvings = len(weights).bit_length() - 1
    basis = curved(knots(halvings), halvings)
    basis = np.column_stack((np.ones(len(basis)), basis))
    found = np.linalg.solve(basis, isotonic_regression(sign * (basis[:, 1:] @ weights)).x)
    found[1] += 1.0 + sum(2.0 ** (level / 2.0) for level in range(halvings))
    whole = sign * np.rint(found).astype(np.int64)
    return int(whole[0]), whole[1:]
