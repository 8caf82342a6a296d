"""Contests of tables: columns in cells, counted in pairs, and made-up records that models learn from.

Everybody gets the same cells. Counts are right where they are near the exact ones; records are where models that learn
from them tell people apart who were in none of the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core import Budget, Categorical, Domain
from core.analysis.sampling import sample
from core.releases.release import Release

from ..table_rivals import by_aim, by_mst, by_usual, distance, exact_pairs, mst, usual
from .fetched_sets import FetchedSet
from .rounds import Draw, Round

BINS, MOST_COLUMNS = 8, 8
REAL = "real records"


@dataclass(frozen=True)
class Cut:
    """Some columns, categories first, of which numbers are cut into equal bins.

    Attributes
    ----------
    cells : np.ndarray
        Of every record along each column, (columns, records).
    counts : list[int]
        How many a column has.
    """

    cells: np.ndarray
    counts: list[int]

    @classmethod
    def of(cls, fetched: FetchedSet) -> Cut:
        """The first of all columns."""
        cells, counts = [], []
        for name in [*fetched.categories, *fetched.numbers][:MOST_COLUMNS]:
            known = fetched.categories.get(name)
            values = fetched.records[name]
            if known is None:
                low, high = fetched.numbers[name]
                share = (values.to_numpy(float) - low) / (high - low)
                cells.append(np.clip((share * BINS).astype(int), 0, BINS - 1))
            else:
                cells.append(pd.Categorical(values, known).codes.astype(int))
            counts.append(BINS if known is None else len(known))
        return cls(np.array(cells), counts)

    @property
    def domain(self) -> Domain:
        """Of categories, whose names are in the order of the cells."""
        known = [tuple(f"v{place:02}" for place in range(count)) for count in self.counts]
        return Domain(tuple(Categorical(f"c{column}", values) for column, values in enumerate(known)))

    def frame(self, cells: np.ndarray) -> pd.DataFrame:
        """Records in these cells."""
        return pd.DataFrame({f"c{place}": [f"v{cell:02}" for cell in own] for place, own in enumerate(cells)})


def pairs(fetched: FetchedSet) -> Round:
    """Counts of all pairs of columns, of which numbers are cut into equal bins."""
    cut = Cut.of(fetched)
    exact, frame = exact_pairs(cut.cells, cut.counts), cut.frame(cut.cells)

    def by(method: Callable[..., object]) -> Draw:
        return lambda budget, draw: (distance(method(cut.domain, frame, budget, BINS, cut.counts), exact), None)

    def sampled(answer: np.ndarray) -> float:
        made = np.asarray(answer, dtype=int).reshape(len(cut.counts), -1)
        return distance(exact_pairs(made, cut.counts), exact)

    here = {"frostglass": by(by_usual), "MST (mbi)": by(by_mst), "AIM (mbi)": by(by_aim)}
    return Round(here, {"cells": cut.cells}, {"contest": "pairs"}, sampled)


def samples(fetched: FetchedSet) -> Round:
    """The last column of categories told from the same cells by models that learn from made-up records."""
    cut, label = Cut.of(fetched), len(fetched.categories) - 1
    learnt, held = cut.cells[:, fetched.training], cut.cells[:, ~fetched.training]
    frame = cut.frame(learnt)

    def wrong(made: np.ndarray) -> float:
        told = _told_by_models(np.delete(made, label, axis=0).T, made[label], np.delete(held, label, axis=0).T)
        return float(np.mean([one != held[label] for one in told]))

    def by(method: Callable[..., Release]) -> Draw:
        def draw(budget: Budget, seed: int) -> tuple[float, None]:
            points = sample(method(cut.domain, frame, budget, BINS), learnt.shape[1], seed).points
            return wrong(np.array([points[name].astype(str).str[1:].astype(int) for name in cut.domain.names])), None

        return draw

    here = {"frostglass": by(usual), "MST (mbi)": by(mst), REAL: lambda budget, draw: (wrong(learnt), None)}
    return Round(
        here, {"cells": learnt}, {"contest": "samples"}, lambda made: wrong(made.reshape(len(learnt), -1).astype(int))
    )


def _told_by_models(points: np.ndarray, goals: np.ndarray, asked: np.ndarray) -> list[np.ndarray]:
    """What scikit-learn's boosting and logistic regression say, which learn from such records."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    if len(np.unique(goals)) == 1:
        return [np.full(len(asked), goals[0])]
    lines = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(max_iter=1_000))
    return [model.fit(points, goals).predict(asked) for model in (HistGradientBoostingClassifier(), lines)]
