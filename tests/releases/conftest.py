"""A table as people have it, which releases find out of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import Budget

PROMISE = Budget(1, "1e-6")
PEOPLE = 20_000


@pytest.fixture(scope="session")
def people() -> pd.DataFrame:
    """A table as people have it: every value as text, one value that a single person has."""
    rng = np.random.default_rng(0)
    days = pd.to_datetime("2019-03-01") + pd.to_timedelta(rng.integers(0, 1800, PEOPLE), unit="D")
    table = pd.DataFrame(
        {
            "town": rng.choice(["Bern", "Basel", "Chur", "Thun"], PEOPLE, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m", "n/a"], PEOPLE, p=[0.5, 0.4, 0.1]),
            "age": np.clip(rng.normal(45, 15, PEOPLE), 18, 90).astype(int).astype(str),
            "paid": [f"{value:.2f}".replace(".", ",") for value in rng.gamma(2, 20, PEOPLE)],
            "joined": days.strftime("%d.%m.%Y"),
            "member": rng.choice(["yes", "no"], PEOPLE),
            "mail": [f"person{place}@x.org" for place in range(PEOPLE)],
        }
    )
    table.loc[0, "town"] = "Soglio"
    return table
