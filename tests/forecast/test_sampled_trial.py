"""A few hundred public records tell what grids and random rows do to the many that they stand for."""

import math

import numpy as np
import pytest

from core.domain import Domain
from core.forecast.sampled_trial import sampled_trial
from core.geometry.kernels import Gaussian, Laplacian
from core.sketches.grids.histogram import Histogram
from core.sketches.hashed.features import Features

RECORDS = 8_000


def spikes(random, columns):
    """Two fifths at one value of each column, the others in whole numbers."""
    values = np.where(random.random((RECORDS + 400, columns)) < 0.4, 20.0, np.round(random.gamma(3, 10, (8_400, 1))))
    return values.clip(0, 200) / 200


def bell(random, columns):
    return (random.normal(0.5, 0.08, (RECORDS + 400, columns))).clip(0, 1)


def missed(sketch, queries, records, draws):
    """Root mean square error of an average without noise."""
    exact, errors = sketch.exact(queries, records), []
    for seed in range(draws):
        drawn = sketch.reseeded(100 + seed)
        table = drawn.zeros()
        drawn.add(table, records)
        errors.append(drawn.answer(table, len(records), queries, 0.0, 0.95).estimate - exact)
    return math.sqrt(float(np.mean(np.square(errors)))) / len(records)


@pytest.mark.parametrize(
    ("made", "columns", "sketch", "draws", "off"),
    [
        (bell, 1, lambda domain: Histogram(domain, Laplacian(0.1), (30,)), 1, 2.0),
        (spikes, 1, lambda domain: Histogram(domain, Laplacian(0.1), (30,)), 1, 1.25),
        (bell, 12, lambda domain: Features(domain, Gaussian(0.1), rows=400, seed=0), 6, 1.25),
    ],
    ids=["a grid whose errors average out", "a grid where many share values", "rows that hardly see two records"],
)
def test_three_hundred_records_foretell_the_error_of_thousands(made, columns, sketch, draws, off):
    """All seeds are fixed, so it holds always or never.

    What a grid does to each of 300 smooth records by itself would make 3.7 times what it does to thousands.
    """
    made_up = sketch(Domain.of(**{f"c{place}": (0, 1) for place in range(columns)}))
    points = np.asfortranarray(made(np.random.default_rng(5), columns))
    told = sampled_trial(made_up, points[:300]).of(RECORDS).absolute
    truth = missed(made_up, np.asfortranarray(points[300:400]), np.asfortranarray(points[400:]), draws)
    assert 1.0 / off < told / truth < off, (told, truth)
