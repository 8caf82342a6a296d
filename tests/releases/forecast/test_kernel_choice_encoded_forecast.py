"""An encoder is proposed where records lie near a plane, with an error that a release then has; and nowhere else."""

import numpy as np
import pandas as pd
import pytest

from core import Budget, Closeness, Domain, kernels, recommend_encoder, release
from core.domain import Categorical, Numeric
from tests.depth import deep

NAMES = [f"x{place}" for place in range(5)]
DOMAIN = Domain(tuple(Numeric(name, -4, 4) for name in NAMES))
ASKED = Closeness(kernels.Gaussian(0.8), seed=1)
PLANE = np.linalg.qr(np.random.default_rng(7).normal(size=(5, 5)))[0][:2]


def near_a_plane(records, away, seed):
    random = np.random.default_rng(seed)
    found = random.normal(size=(records, 2)) * (1.0, 0.6) @ PLANE + away * random.normal(size=(records, 5))
    return pd.DataFrame(np.clip(found, -4, 4), columns=NAMES)


@pytest.mark.deep
def test_an_encoder_whose_release_has_the_error_that_it_was_proposed_for():
    records = near_a_plane(5_000, 0.02, 1)
    one = recommend_encoder(DOMAIN, len(records), Budget(1), ASKED, near_a_plane(600, 0.02, 2), otherwise=1_000)
    made = release(one.sketch, records, Budget(1))
    places = near_a_plane(100, 0.02, 3).to_numpy()
    exact = ASKED.kernel.evaluate(places, records.to_numpy()).reshape(100, -1).sum(axis=1)
    error = float(np.sqrt(np.mean((made.estimate(places) - exact) ** 2)))
    assert one.outlook.standard_error / 3 < error < 3 * one.outlook.standard_error
    (encoder,) = made.sketch.domain.columns
    assert encoder.reads == DOMAIN.columns and encoder.sample and "300 public records" in encoder.origin


@pytest.mark.thorough
@pytest.mark.parametrize("away", [deep(0.02), 1.5])
def test_an_encoder_that_leaves_away_more_than_it_spares(away):
    sample = near_a_plane(600, away, 2)
    assert bool(recommend_encoder(DOMAIN, 5_000, Budget(1), ASKED, sample, otherwise=100)) == (away < 1)


def test_columns_for_which_no_plane_is_looked_for():
    few = Domain(DOMAIN.columns[:3])
    assert recommend_encoder(few, 5_000, Budget(1), ASKED, near_a_plane(600, 0.02, 2)) is None
    assert recommend_encoder(DOMAIN, 5_000, Budget(1), ASKED, near_a_plane(100, 0.02, 2)) is None
    mixed = Domain((*DOMAIN.columns, Categorical("sex", ("f", "m"))))
    assert recommend_encoder(mixed, 5_000, Budget(1), ASKED, near_a_plane(600, 0.02, 2).assign(sex="f")) is None
