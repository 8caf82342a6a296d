"""Release the sample data: python sample_data/release_samples.py [--pictures] [NAME ...]

Writes the released files of each sample (all, or the named ones) into sample_data/releases, for the galleries of the
app: one of its density, unless it is nothing but vectors, which a gallery cannot draw; one of its groups, where it has
a column of classes; and one of distances, where these suit it.
The noise is real, drawn from the operating system, so every run makes other files; run it when samples, mechanism or
file format change. Parameters are chosen from public facts alone, as an owner would: rows by the forecast, fewer where
the file would grow too large.

Beside each file that a gallery shows lies its picture, which takes seconds to draw; `--pictures` draws the pictures of
the files that there are, and releases nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from PIL import Image

from core import Budget, Histogram, Race, Release, load, release
from core.domain import Vector
from core.figures.release_pictures import density_picture, groups_picture
from core.releases.bounds_and_centre import CentrePurchase
from core.releases.forecast.sketch_sizes import sized_rows
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.registry import distance
from core.sources import open_source
from core.sources.public_tables import (
    RELEASES,
    Sample,
    bundled_distances,
    bundled_groups,
    bundled_releases,
    sample,
    samples,
)

PURE, WITH_SLACK = Budget(1), Budget(1, "1e-6")
"""Both kinds of promise are shown. Under slack of one in a million the noise of an answer does not grow with the number
of rows, so a table may have the many rows that narrow kernels, many columns or several records a person need."""
STRAIGHT = ("city",)
"""Samples that distances suit: a place on a map is some way from everyone."""
WIDTH = 1_000
MOST_ROWS = 720
"""Keeps every file below 1.2 MB: noise and counts take up to 1.6 bytes a counter."""


def budget_of(one: Sample) -> Budget:
    """The promise that a sample is released under: no slack where a record counts in one row."""
    return PURE if len(one.domain.columns) == 1 or one.release == Histogram.name else WITH_SLACK


def sketch_of(one: Sample, budget: Budget) -> Histogram | Race:
    """A sketch of a sample: a histogram, or a RACE of as many rows as serve best and fit into the file."""
    if one.release == Histogram.name:
        return Histogram(one.domain, one.kernel).sized_for(budget, one.records_guess)
    sketch = Race(one.domain, one.kernel, width=WIDTH)
    return sketch.with_rows(min(sized_rows(sketch, budget, one.records_guess, one.density_guess).rows, MOST_ROWS))


def of_vectors(one: Sample) -> bool:
    """Whether a sample is nothing but vectors."""
    return all(isinstance(column, Vector) for column in one.domain.columns)


def density(one: Sample) -> Release:
    """The release of a sample's density."""
    budget = budget_of(one)
    return release(sketch_of(one, budget), one.path, budget)


def groups(one: Sample) -> Release:
    """The release of a sample's groups: directions around a bought pole for vectors, closeness for all else."""
    domain = replace(one.domain, columns=(*one.domain.columns, one.label))
    if of_vectors(one):
        sketch = Classes(domain, one.label.name, Directions(one.domain))
        return release(sketch, open_source(one.path), WITH_SLACK, centre=CentrePurchase())
    if one.release == Histogram.name:
        sketch = Classes(domain, one.label.name, Histogram(one.domain, one.kernel)).sized_for(PURE, one.records_guess)
        return release(sketch, one.path, PURE)
    rows = MOST_ROWS // len(one.label.categories)
    sketch = Classes(domain, one.label.name, Race(one.domain, one.kernel, rows, WIDTH))
    return release(sketch, one.path, WITH_SLACK)


def straight_lines(one: Sample) -> Release:
    """The release of a sample's straight-line distances."""
    return release(distance(one.domain, "l2"), one.path, PURE, records=one.records_guess)


def draw_pictures() -> None:
    """The pictures of all files that galleries show."""
    for one, file in (*bundled_releases(), *bundled_distances()):
        Image.fromarray(density_picture(load(file), one.show)).save(file.with_suffix(".png"), optimize=True)
    for one, file in bundled_groups():
        if not of_vectors(one):
            Image.fromarray(groups_picture(load(file), one.show)).save(file.with_suffix(".png"), optimize=True)


def release_all(chosen: Iterable[Sample]) -> None:
    """Release these samples."""
    RELEASES.mkdir(exist_ok=True)
    for one in chosen:
        made = {} if of_vectors(one) else {one.name: density(one)}
        if one.label is not None:
            made[f"{one.name}-groups"] = groups(one)
        if one.name in STRAIGHT:
            made[f"{one.name}-distance"] = straight_lines(one)
        for name, its in made.items():
            file = RELEASES / f"{name}.npz"
            its.save(file)
            print(f"{name}: {' by '.join(f'{side:,}' for side in its.counters.shape)}, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    names = sys.argv[1:]
    if "--pictures" not in names:
        release_all(map(sample, names) if names else samples())
    draw_pictures()
