"""Bounds bought from a source: what is counted of whom, and what the ledger hears first."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.errors import BudgetError, RequestError
from core.privacy.budget import Budget, PrivacyUnit
from core.privacy.choosing.private_bounds import Grid
from core.privacy.ledger.ledger import Ledger
from core.releases.bounds_and_centre import private_bounds
from core.sources import open_source


def people(seed=0):
    rng = np.random.default_rng(seed)
    pay = rng.lognormal(8, 0.4, 30_000)
    pay[:20] = np.nan
    return pd.DataFrame({"pay": pay, "age": rng.normal(45, 12, 30_000), "who": np.arange(30_000)})


def test_several_columns_for_one_price(tmp_path):
    frame = people()
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.register("staff", "1")
    grids = {"pay": Grid(-1e9, 1e9, spacing="log"), "age": Grid(-1000, 1000, cells=250)}
    found = private_bounds(
        open_source(frame), grids, Budget("0.4"), spend=lambda cost: ledger.spend("staff", cost), quantiles=(0.02, 0.98)
    )
    for name, bounds in found.items():
        values = frame[name].dropna()
        assert bounds.found
        assert 0.93 < values.between(bounds.low, bounds.high).mean()
        assert bounds.high - bounds.low < 3 * (values.quantile(0.98) - values.quantile(0.02))
    assert ledger.status("staff").spent == pytest.approx(0.4, rel=1e-3)
    with pytest.raises(BudgetError):
        private_bounds(open_source(frame), grids, Budget("0.7"), spend=lambda cost: ledger.spend("staff", cost))


def test_a_person_with_many_records_counts_a_few_times():
    # One person's 29,000 records far away must not carry the bounds with them.
    frame = people().assign(who=lambda table: np.where(table.index < 29_000, -1, table["who"]))
    frame.loc[frame["who"] == -1, "age"] = 900.0
    unit, budget = PrivacyUnit("who", 2), Budget(20)  # so large that noise has no say
    found = private_bounds(open_source(frame), {"age": Grid(-1000, 1000)}, budget, unit, spend=lambda cost: None)
    assert found["age"].high < 200


def test_a_source_that_cannot_be_read_spends_nothing():
    spent = []
    with pytest.raises(RequestError):
        private_bounds(open_source(people()), {"size": Grid(0, 1)}, Budget(1), spend=spent.append)
    assert not spent
