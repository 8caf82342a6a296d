"""Release the sample data: python sample_data/release_samples.py [NAME ...]

Writes one released file a sample (all, or the named ones) into sample_data/releases, for the galleries of the app;
samples of nothing but vectors are left out, as a gallery cannot draw them.
The noise is real, drawn from the operating system, so every run makes other files; run it when samples, mechanism or
file format change. Parameters are chosen from public facts alone, as an owner would: rows by the forecast, fewer where
the file would grow too large.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core import Budget, Race, release
from core.columns import Vector
from core.forecast import choose_rows
from core.samples import RELEASES, Sample, sample, samples

PURE, WITH_SLACK = Budget(1), Budget(1, "1e-6")
"""Both kinds of promise are shown. Under slack of one in a million the noise of an answer does not grow with the number
of rows, so a table may have the many rows that narrow kernels, many columns or several records a person need."""
WIDTH = 1_000
MOST_ROWS = 720
"""Keeps every file below 1.2 MB: noise and counts take up to 1.6 bytes a counter."""


def budget_of(one: Sample) -> Budget:
    """The promise that a sample is released under: no slack where one column is all there is."""
    return PURE if len(one.domain.columns) == 1 else WITH_SLACK


def sketch_of(one: Sample, budget: Budget) -> Race:
    """A RACE sketch of a sample's public facts, with as many rows as serve best and fit into the file."""
    sketch = Race(one.domain, one.kernel, width=WIDTH)
    return sketch.with_rows(min(choose_rows(sketch, budget, one.records_guess, one.density_guess), MOST_ROWS))


def main(names: list[str]) -> None:
    """Release the named samples, or all."""
    RELEASES.mkdir(exist_ok=True)
    drawn = [one for one in samples() if not all(isinstance(column, Vector) for column in one.domain.columns)]
    for one in map(sample, names) if names else drawn:
        budget = budget_of(one)
        made = release(sketch_of(one, budget), one.path, budget)
        file = RELEASES / f"{one.name}.npz"
        made.save(file)
        print(f"{one.name}: {made.table.shape[0]:,} rows, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
