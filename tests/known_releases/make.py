"""Adds files to this folder; never changes one that is there."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from core import Budget, Domain, Race, Release
from core.domain import (
    Categorical,
    ChosenWords,
    Cyclic,
    Dates,
    Encoder,
    Items,
    Numeric,
    Ordered,
    PrivacyUnit,
    Reading,
    TextLength,
    Vector,
)
from core.domain.round_columns import position
from core.geometry import kernels
from core.geometry.projection import FastProjection
from core.lab.published.grid_cells import Marginals
from core.lab.published.huang_roth import HuangRoth
from core.lab.published.mwem import MWEM
from core.lab.published.privbayes import PrivBayes
from core.releases.engine.building import ExactTable
from core.releases.job import release
from core.releases.manifest import FORMAT_VERSION, LARGE_FORMAT_VERSION, PARTS_FORMAT_VERSION
from core.releases.seal import seal
from core.sketches.adaptive import Adaptive
from core.sketches.classes import Classes
from core.sketches.directions import Directions
from core.sketches.distance import Distance
from core.sketches.features import Features
from core.sketches.histogram import Histogram
from core.sketches.linear import LinearSketch
from core.sketches.mechanism_spec import PublicInputs
from core.sketches.minhash import MinHash
from core.sketches.moments import Moments
from core.sketches.part import Part
from core.sketches.projected import Projected
from core.sketches.projected_distance import ProjectedDistance
from core.sketches.registry import card
from core.sketches.sums_of_products import Products
from core.sketches.tables.tables import Tables

FOLDER = Path(__file__).parent
ANSWERS = ("estimate", "low", "high", "density", "standard_error")
RECORDS = 500
PLACES = Domain.of(x=(0, 10), y=(0, 4))


def numbers() -> Release:
    """Three numbers, more cells than columns, Laplace noise, a count of its own."""
    domain = Domain.of(x=(0, 10), y=(-1, 1), z=(0, 1000), scale="box")
    return _release(Race(domain, kernels.Euclidean(bandwidth=0.002), rows=24, width=700, groups=4), Budget(2))


def large() -> Release:
    """Written as the largest releases are: in 8 bits, and apart what these do not hold."""
    domain = Domain.of(x=(0, 10), y=(-1, 1), z=(0, 1000), scale="box")
    return _release(Race(domain, kernels.Euclidean(bandwidth=0.002), rows=24, width=400, groups=4), Budget("1.2"))


def people() -> Release:
    """Numbers and categories of people with several records, a mixture of kernels, Gaussian noise."""
    domain = Domain.of(age=(0, 100), city=["Bern", "Zürich", "Genève"], unit=PrivacyUnit("person", 2), outside="drop")
    mixture = kernels.Mixture((kernels.Laplacian((10.0, 1.0)), kernels.Manhattan(20.0, power=2)), (0.25, 0.75))
    return _release(Race(domain, mixture, rows=32, width=64), Budget("1.5", "1e-6"))


def merged() -> Release:
    """Two releases added, the number of records public."""
    domain = Domain.of(x=(0, 1), missing="refuse")
    sketch = Race(domain, kernels.Euclidean(0.05, power=3), rows=40, width=50, groups=5)
    parts = [_release(sketch, Budget(epsilon, 0, "replace_one")) for epsilon in ("0.5", 3)]
    return parts[0].merged(parts[1])


def angles() -> Release:
    """A column of vectors beside a number, a product of kernels."""
    domain = Domain((Vector("v", 4, -1.0, 1.0), *Domain.of(t=(0, 1)).columns))
    product = kernels.Product((kernels.Angular(power=2), kernels.Laplacian(2.0)))
    return _release(Race(domain, product, rows=20, width=30, groups=2), Budget("0.7"))


def features() -> Release:
    """Random features of a smooth kernel, quadrants under Laplace noise."""
    domain = Domain.of(x=(0, 10), y=(-1, 1), scale="box")
    return _release(Features(domain, kernels.SmoothSquared(0.3), rows=40, groups=4), Budget(1))


def waves() -> Release:
    """Random features in fixed point by the fast transform, Gaussian noise."""
    domain = Domain((Vector("v", 12, -1.0, 1.0),))
    return _release(Features(domain, kernels.Gaussian(0.8), 64, transform="fast", wave="circle"), Budget(1, "1e-6"))


def histogram() -> Release:
    """A histogram beside categories, read through a Laplacian kernel."""
    domain = Domain.of(x=(0, 10), city=["Bern", "Zürich"], scale="box")
    sketch = Histogram(domain, kernels.Laplacian((0.1, 1.0)))
    return _release(sketch.sized_for(Budget(1), RECORDS), Budget(1))


def projected() -> Release:
    """RACE of projected vectors."""
    domain = Domain((Vector("v", 40, -1.0, 1.0),))
    return _release(Projected.of(domain, kernels.Euclidean(2.0), Race, 8, rows=24, width=50), Budget(2))


def distance() -> Release:
    """Distance sums over two columns, one far longer than the other, and a category."""
    domain = Domain.of(pay=(0, 9000), age=(0, 100), sex=["f", "m"])
    return _release(Distance(domain).sized_for(Budget(1), RECORDS), Budget(1))


def straight() -> Release:
    """Straight-line distances through random directions."""
    domain = Domain.of(east=(0, 20), north=(0, 16))
    return _release(ProjectedDistance(domain).sized_for(Budget(1), RECORDS), Budget(1))


def moments() -> Release:
    """Squared distances, the number of records public."""
    domain = Domain.of(x=(0, 10), y=(-1, 1), missing="refuse")
    budget = Budget(1, "1e-6", "replace_one")
    return _release(Moments(domain, radius=4.0).sized_for(budget, RECORDS), budget)


def directions() -> Release:
    """Classes of directions from a pole, projected; noise drawn as vectors."""
    domain = Domain((Vector("v", 32, -1.0, 1.0), *Domain.of(kind=["a", "b", "c"]).columns))
    pole = tuple(float(k % 3 - 1) for k in range(10))
    inner = Directions(domain.without("kind"), projection=FastProjection(32, 10), pole=pole)
    return _release(Classes(domain, "kind", inner), Budget("1.5"))


def classes() -> Release:
    """Classes of a RACE."""
    domain = Domain.of(x=(0, 10), y=(-1, 1), kind=["calm", "wild"], scale="box")
    return _release(Classes(domain, "kind", Race(domain.without("kind"), kernels.Smooth(0.2), 24, 40)), Budget(1))


def baskets() -> Release:
    """Sets of items that are texts, thrown into rows by one permutation, the longest ones shortened."""
    domain = Domain((Items("basket", separator=";"),))
    sketch = MinHash(domain, 48, 300, scheme="one-permutation", longest=9)
    return _release_sets(sketch, ["beer", "bread", "chips", "milk", "nappies", "tea"], Budget(2))


def edges() -> Release:
    """Lists of numbers, one a person, Gaussian noise."""
    domain = Domain((Items("to", gathered=True),), unit=PrivacyUnit("from", 1))
    return _release_sets(MinHash(domain, 60, 100, groups=5), list(range(-3, 50)), Budget(1, "1e-6"))


def _rival(name: str, size: int, budget: Budget, domain: Domain = PLACES) -> Release:
    """A small release of a rival."""
    rival = card(name)
    far = rival.answers == "distance"
    kernel = None if far else kernels.Gaussian(0.3 * float(domain.bounds()[1][0]))
    facts = PublicInputs(domain, budget, kernel, "l1" if far else None, size)
    return _release(rival.make(facts).sized_for(budget, RECORDS), budget)


def fourier() -> Release:
    """Fourier coefficients of two columns under one noise vector."""
    return _rival("fourier-series", 3, Budget(2))


def cosines() -> Release:
    """Products of cosines, the number of records public."""
    return _rival("trigonometric", 4, Budget(2, 0, "replace_one"), Domain.of(x=(0, 10), y=(0, 4), missing="refuse"))


def functional() -> Release:
    """Functional Gaussian noise."""
    return _rival("pfda", 4, Budget(2, "1e-6"))


def lattice() -> Release:
    """Sums on a lattice, read through Bernstein polynomials."""
    return _rival("bernstein", 5, Budget(2))


def embedding() -> Release:
    """Weights of synthetic points."""
    return _rival("mean-embedding", 20, Budget(2))


def flat() -> Release:
    """Counts of cells beside categories."""
    return _rival("flat-histogram", 6, Budget(2), Domain.of(x=(0, 10), city=["Bern", "Zürich"]))


def boxes() -> Release:
    """Counts of cells and of boxes of them."""
    return _rival("hierarchical-histogram", 3, Budget(2))


def marginals() -> Release:
    """Tables of single columns and of a pair, released for themselves."""
    domain = Domain.of(x=(0, 10), y=(0, 4), city=["Bern", "Zürich"])
    return _release(Marginals(domain, "l2", (4, 3, 2), ((0,), (1,), (0, 2))), Budget(2))


def network() -> Release:
    """A Bayesian network that was chosen under noise."""
    domain = Domain.of(x=(0, 10), y=(0, 4), z=(0, 1), city=["Bern", "Zürich"])
    return _release(PrivBayes(domain, kernels.Gaussian(1.0), cells=4, degree=1), Budget(4))


def rounds() -> Release:
    """Measured answers that were picked under noise, Gaussian where it is the less of the two."""
    return _release(MWEM(PLACES, kernels.Gaussian(3.0), rounds=3, cells=(5, 5), queries=20), Budget(4, "1e-6"))


def convex() -> Release:
    """Sums of distances at places that were found by comparisons."""
    return _release(HuangRoth(PLACES, 5), Budget(4))


def parts() -> Release:
    """Several questions under one promise: of different columns, one with classes, a third of people's rows missing."""
    rules = {"unit": PrivacyUnit("person", 2), "scale": "box"}
    both = Domain.of(age=(0, 100), pay=(0, 9000), **rules)
    told = Domain.of(age=(0, 100), pay=(0, 9000), sex=["f", "m"], **rules)
    members = [
        Part(Histogram(both, kernels.Gaussian(0.2)).sized_for(Budget(1), RECORDS), "age and pay"),
        Part(Distance(Domain.of(pay=(0, 9000), unit=PrivacyUnit("person", 2))), "how far pays are", 2.0),
        Part(Classes(told, "sex", Race(both, kernels.Laplacian(0.3), rows=12, width=40, groups=4)), "pay by sex"),
    ]
    random = np.random.default_rng(7)
    frame = pd.DataFrame({"person": np.arange(RECORDS) // 3, "age": random.uniform(10, 90, RECORDS)})
    frame["pay"] = np.where(random.random(RECORDS) < 0.3, np.nan, random.gamma(3, 800, RECORDS))
    frame["sex"] = random.choice(["f", "m"], RECORDS)
    return release(members, frame, Budget(2, "1e-6"), records=RECORDS)


def calendar() -> Release:
    """Dates to the hour and ordered categories, read from texts with words for none."""
    school = Ordered("school", ("none", "low", "mid", "high"), (0, 4, 9, 13), missing_category="none")
    since = Dates("since", "2020-01-01", "2020-12-31", "hour", format="%d.%m.%Y", missing=("never",))
    domain = Domain((since, school), scale="box")
    return _release(Histogram(domain, kernels.Gaussian(0.2), cells=(24, 8)), Budget(2))


def earth() -> Release:
    """Distances in kilometres between latitudes and longitudes, beyond the antimeridian too."""
    domain = Domain(position("lat", "lon", -20, -15, 177, -178, Reading(("n/a",), ",")))
    return _release(Distance(domain).sized_for(Budget(2), RECORDS), Budget(2))


def circles() -> Release:
    """Hours and directions of the wind around circles, a category of missing values, and chosen words."""
    domain = Domain(
        (
            Cyclic("hour", part="hour"),
            Cyclic("wind", ("N", "E", "S", "W")),
            Categorical("member", ("no", "yes", "missing"), (("0",), ("1",), ()), ("n/a",), "missing"),
            ChosenWords("about", ("refund", "broken", "other")),
            TextLength("long", 100, "words"),
            Numeric("pay", 0, 50, "EUR", Reading(("-9",)), 0.5),
        ),
        scale="box",
    )
    return _release(Race(domain, kernels.Euclidean(1.5), rows=24, width=64, groups=4), Budget(2))


def midnight() -> Release:
    """A histogram of hours around a circle, beside numbers on a grid and categories."""
    domain = Domain((Cyclic("hour", part="hour"), Numeric("pay", 0, 50), Categorical("member", ("no", "yes"))))
    return _release(Histogram(domain, kernels.Gaussian((2.0, 5.0, 0.5)), cells=(12,)), Budget(2))


def tables() -> Release:
    """Residuals of all pairs of columns, of numbers with halved cells and of categories, under Gaussian noise."""
    domain = Domain.of(age=(0, 100), pay=(0, 9000), city=["Bern", "Zürich", "Genève"])
    sketch = Tables.of(domain, (5, 4), halvings=(3, 0)).measuring_contrasts()
    return _release(sketch, Budget("0.5", "1e-4"))


def stepped() -> Release:
    """Residuals of all pairs of columns that have steps: values, cells of several of them, and months."""
    columns = (
        Numeric("rooms", 1, 9, step=1),
        Numeric("age", 0, 120, step=1),
        Dates("joined", "2023-01-15", "2024-01-14"),
        Categorical("member", ("no", "yes")),
    )
    return _release(Tables.of(Domain(columns), 12, halvings=5).measuring_contrasts(), Budget("0.5", "1e-4"))


def counted() -> Release:
    """Counts of tables of three columns and of one, of people with several records, under pure noise."""
    domain = Domain.of(age=(0, 100), pay=(0, 9000), sex=["f", "m"], city=["Bern", "Zürich"], unit=PrivacyUnit("id", 2))
    named = [("age", "sex", "city"), ("pay",)]
    return _release(Tables.of(domain, 4, named, 5).sized_for(Budget(1), RECORDS), Budget(1))


def products() -> Release:
    """Sums of products of numbers and categories, of people with several records, under pure noise."""
    domain = Domain.of(age=(0, 100), pay=(0, 9000), city=["Bern", "Zürich", "Genève"], unit=PrivacyUnit("id", 2))
    return _release(Products(domain), Budget(2))


def encoded() -> Release:
    """Two numbers that a public map makes of a vector and a number, in the unit disc."""
    matrix = {"matrix": [[0.5, -0.25, 1.0, 0.125], [0.0, 1.5, -0.5, 1.0]], "offset": [0.25, -0.5]}
    reads = (Vector("v", 3, -1.0, 1.0), Numeric("t", 0, 2))
    steps = (matrix, {"function": "tanh"}, {"ball": 1.0})
    column = Encoder("e", 2, -1.0, 1.0, "", reads, steps, "LDA of 500 public records", "0123456789abcdef" * 4)
    domain = Domain((column, *Domain.of(kind=["a", "b"]).columns))
    return _release(Race(domain, kernels.Euclidean(bandwidth=0.5), rows=24, width=300, groups=4), Budget(2))


MAKERS = {
    maker.__name__: maker
    for maker in (
        numbers,
        large,
        people,
        merged,
        angles,
        features,
        waves,
        histogram,
        projected,
        distance,
        straight,
        moments,
        directions,
        classes,
        baskets,
        edges,
        fourier,
        cosines,
        functional,
        lattice,
        embedding,
        flat,
        boxes,
        marginals,
        network,
        rounds,
        convex,
        parts,
        calendar,
        earth,
        circles,
        midnight,
        tables,
        stepped,
        counted,
        products,
        encoded,
    )
}


FITTED = {"rounds": 1e-4, "convex": 1e-6, "embedding": 1e-6}
"""How far answers may be off, as a share, where they come from a fit or a factorisation that libraries round."""
LARGE = {"large"}
"""Those that are written in the format of large releases."""


def queries_of(domain: Domain) -> dict[str, list]:
    """Seven places in the box, a corner included, and one outside it; or a few sets."""
    if domain.holds_sets:
        queries = [["beer", "chips"], ["milk"], [1, 2, 3], list(range(40)), ["-3", 7, "seven"]]
        cut = domain.columns[0].separator
        return {domain.names[0]: [cut.join(map(str, one)) if cut else [str(item) for item in one] for one in queries]}
    random = np.random.default_rng(11)
    low, high = domain.bounds()
    shares = np.vstack(
        [random.random((6, domain.dimensions)), np.zeros(domain.dimensions), np.full(domain.dimensions, 2)]
    )
    frame = domain.decode_points(low + shares * (high - low))
    return {name: [_plain(value) for value in frame[name]] for name in frame}


def _plain(value: object) -> object:
    """A value as JSON has it."""
    if isinstance(value, datetime):
        return value.isoformat()
    return np.asarray(value).tolist() if np.ndim(value) else value


def _release(sketch: LinearSketch | Adaptive, budget: Budget) -> Release:
    """Records in two clusters, as the domain's own encoder reads them."""
    random = np.random.default_rng(7)
    low, high = sketch.domain.bounds()
    centres = np.where(random.random((RECORDS, 1)) < 0.7, 0.3, 0.8)
    shares = np.clip(centres + 0.1 * random.standard_normal((RECORDS, sketch.domain.dimensions)), 0.0, 1.0)
    frame = sketch.domain.decode_points(low + shares * (high - low))
    batch = pa.RecordBatch.from_pydict({name: list(frame[name]) for name in frame})
    if isinstance(sketch, Adaptive):
        return release(sketch, batch.to_pandas(), budget)
    points = sketch.domain.encode_queries(batch, sketch.metric)
    table = sketch.zeros()
    sketch.add(table, points)
    return seal(sketch, ExactTable(table, sketch.count(points)), budget)


def _release_sets(sketch: MinHash, items: list, budget: Budget) -> Release:
    """Random sets, of which some are long, as the domain's own encoder reads them."""
    random = np.random.default_rng(7)
    column = sketch.domain.columns[0]
    lists = [
        [items[int(place)] for place in (len(items) * random.random(int(size)) ** 2)]
        for size in np.minimum(random.zipf(1.6, RECORDS), 40)
    ]
    values = [column.separator.join(map(str, one)) for one in lists] if column.separator else lists
    sets = sketch.domain.encode(pa.RecordBatch.from_pydict({column.name: values}))
    table = sketch.zeros()
    sketch.add(table, sets)
    return seal(sketch, ExactTable(table, sketch.count(sets)), budget)


def facts_of(release: Release, tolerance: float) -> dict:
    """Questions, and what the release answers."""
    queries = queries_of(release.sketch.query_domain)
    answers = None if release.parts else release.answer(queries)
    return {
        "queries": queries,
        "answers": {key: getattr(answers, key).tolist() for key in ANSWERS if answers is not None},
        "tolerance": tolerance,
        "records": release.records,
        "records_error": release.records_error,
        "shape": list(release.counters.shape),
        "total": int(release.counters.sum()),
    }


def make(name: str) -> None:
    """Write a file and its answers, unless they are there."""
    release = MAKERS[name]()
    version = PARTS_FORMAT_VERSION if release.parts else LARGE_FORMAT_VERSION if name in LARGE else FORMAT_VERSION
    stem = FOLDER / f"{name}-{version}"
    facts = facts_of(release, FITTED.get(name, 1e-9))
    if release.parts:
        facts = {"parts": {part: facts_of(one, 1e-9) for part, one in release.parts.items()}}
    with stem.with_suffix(".json").open("x", encoding="utf-8") as file:
        file.write(json.dumps(facts, ensure_ascii=False, indent=1) + "\n")
    release.save(stem.with_suffix(".npz"), large=0 if name in LARGE else release.counters.size)


if __name__ == "__main__":
    for wanted in sys.argv[1:]:
        make(wanted)
