"""Releases that grow: begun once for the whole price, gone on with for nothing, and asked for runs of periods."""

import numpy as np
import pandas as pd
import pytest

from core import Ledger, load

MONTHS = tuple(f"2024-{month:02}" for month in range(1, 7))
SKETCH = ("--kernel", "euclidean", "--bandwidth", "1", "--rows", "40", "--width", "16", "--seed", "1")


@pytest.mark.thorough
def test_a_stream_of_months_is_paid_for_once_and_asked_for_any_run(command, ledger):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"month": random.choice(MONTHS, 6_000), "x": random.uniform(0, 8, 6_000)})
    frame.to_csv("visits.csv", index=False)
    columns = ("--bounds", "x=0:8", "--categories", f"month={','.join(MONTHS)}", "--period", "month")
    own = (*columns, "--epsilon", "1", "--delta", "1e-6", "--mechanism", "race", *SKETCH, "--dataset", "visits")
    begun = command("living", "begin", "visits.csv", *own, "--until", "2024-02", "--out", "visits.npz")
    assert begun.exit_code == 0 and "2 of 6 periods" in begun.stderr and "pays for all periods" in begun.stderr
    grown = command("living", "go-on", "visits.npz", "visits.csv", "--dataset", "visits", "--until", "2024-05")
    assert grown.exit_code == 0 and "until 2024-05. Nothing more was spent." in grown.stderr
    again = command("living", "go-on", "visits.npz", "visits.csv", "--dataset", "visits", "--until", "2024-05")
    assert again.exit_code == 2 and "is in the release already" in again.stderr
    run = command("living", "run", "visits.npz", "--first", "2024-02", "--last", "2024-04", "--out", "run.npz")
    assert run.exit_code == 0
    made, exact = load("run.npz"), int(frame["month"].isin(MONTHS[1:4]).sum())
    assert abs(made.records - exact) < 8 * made.records_error + 1
    assert len(Ledger(ledger).status("visits").releases) == 1
    told = command("living", "forecast", "12", "--epsilon", "1", "--delta", "1e-6")
    assert told.exit_code == 0 and "by_period" in told.stdout
