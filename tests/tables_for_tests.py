"""A small private table of several kinds of columns, and releases of its tables."""

import numpy as np
import pandas as pd
from hypothesis import strategies

from core import Budget, Domain
from core.domain import Categorical, Dates, Numeric, Ordered
from core.domain.round_columns import position
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.release import Release
from core.releases.seal import seal
from core.sketches.tables.table_answers import TableAnswers
from core.sketches.tables.tables import Tables

TOWNS, SCHOOLS = ("Lyon", "Nice", "Paris"), ("none", "school", "degree")
COLUMNS = (
    Dates("since", "2021-01-01", "2023-12-31"),
    Categorical("town", TOWNS),
    Numeric("age", 0, 119, "years", step=1),
    Numeric("pay", 0, 100_000, "EUR"),
    Ordered("school", SCHOOLS, missing_category="none"),
)
PLACES = position("lat", "lon", 42, 50, 1, 9)
CENTRES = np.array([[45.76, 4.83], [43.7, 7.26], [48.85, 2.35]])

LETTERS = strategies.characters(exclude_categories=["Cs"])
"""All that can be in a text: what Hypothesis takes by itself too, but only after having looked for it for seconds."""


def inhabitants(n: int = 4_000) -> pd.DataFrame:
    """Made-up people: pay depends on the town and the age, places on the town."""
    random = np.random.default_rng(7)
    town = random.choice(3, n, p=[0.3, 0.2, 0.5])
    age = np.clip(random.normal(45, 15, n), 0, 119).round()
    days = (random.beta(2, 1.5, n) * 1095).astype("m8[D]")
    place = CENTRES[town] + random.normal(0, 0.2, (n, 2))
    return pd.DataFrame(
        {
            "since": np.datetime64("2021-01-01") + days,
            "town": np.array(TOWNS)[town],
            "age": age,
            "pay": np.clip(random.lognormal(10.2, 0.3, n) * (1 + 0.4 * (town == 2)), 0, 100_000),
            "school": random.choice(SCHOOLS, n, p=[0.1, 0.6, 0.3]),
            "lat": place[:, 0],
            "lon": place[:, 1],
        }
    )


def table_release(
    places: bool = False, tables: object = "pairs", seed: int = 0, budget: Budget | None = None
) -> Release:
    """A release of tables of these people, with the same noise every time."""
    domain = Domain(COLUMNS + (PLACES if places else ()))
    budget = budget or Budget(2, "1e-6")
    sketch = Tables.of(domain, 12, tables, 3).sized_for(budget, 4_000.0)
    table = sketch.zeros()
    sketch.add(table, domain.encode_queries(inhabitants()))
    return seal(sketch, ExactTable(table, np.array(4_000)), budget, noise_source=SeededSource(seed))


def without_noise() -> TableAnswers:
    """What tables of these people say where nothing is hidden."""
    domain = Domain(COLUMNS)
    sketch = Tables.of(domain, 12, "pairs", 8).sized_for(Budget(2, "1e-6"), 4_000.0)
    table = sketch.zeros()
    sketch.add(table, domain.encode_queries(inhabitants()))
    return TableAnswers(sketch.reading(table, 0.0, None, np.inf))


def where_of(answers: TableAnswers, part: dict) -> dict[str, object]:
    """Cells by the names of their columns as the condition of a question: categories, a stretch, or no value."""
    axes = {axis.name: axis for axis in answers.axes}
    return {name: _condition(axes[name], cells) for name, cells in part.items()}


def _condition(axis, cells):
    if axis.categories:
        return [axis.categories[cell] for cell in cells]
    if max(cells) >= axis.valued:
        return None
    ends = axis.edges()[min(cells)], axis.edges()[max(cells) + 1]
    return tuple(axis.column.between(np.array(ends))) if isinstance(axis.column, Dates) else ends
