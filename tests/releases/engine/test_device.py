"""The path of a graphics processor, with NumPy in the place of its arrays, against the compiled loops."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, Items
from core.domain.item_sets import Sets
from core.geometry.kernels import Angular, Euclidean, Laplacian, Manhattan, Mixture, Product
from core.releases.engine import device
from core.releases.engine.building import TableBuilder
from core.releases.engine.device import Arrays, device_arrays, on_device
from core.sketches.hashed.features import Features
from core.sketches.hashed.minhash import MinHash
from core.sketches.hashed.race import Race
from core.sketches.part import Part
from core.sketches.parts import Parts
from core.sources import open_source
from tests.depth import draws

PLANE = Domain.of(x=(-3, 3), y=(-3, 3))
LONG = Domain.of(**{f"c{place}": (-1, 2) for place in range(17)})
TAGS = Domain((Items("tags"),))


class Far(np.ndarray):
    """An array that, as one of a device, works with its like alone: never with one of NumPy's, not even as an index."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        assert all(isinstance(given, Far) or np.ndim(given) == 0 for given in inputs)
        return near(getattr(ufunc, method)(*map(near, inputs), **options)).view(Far)

    def __getitem__(self, places):
        return super().__getitem__(index(places))

    def __setitem__(self, places, values):
        assert isinstance(values, Far)
        super().__setitem__(index(places), near(values))


def near(array):
    return array.view(np.ndarray) if isinstance(array, np.ndarray) else array


def index(places):
    assert isinstance(places, Far) or not isinstance(places, np.ndarray)
    return near(places)


def counted(places, minlength):
    assert isinstance(places, Far)
    return np.bincount(near(places), minlength=minlength).view(Far)


def least_at(out, places, values):
    assert all(isinstance(array, Far) for array in (out, places, values))
    np.minimum.at(near(out), near(places), near(values))


def to_host(array):
    assert isinstance(array, Far)
    return near(array)


FAR = SimpleNamespace(
    asarray=lambda array: np.array(array).view(Far),
    zeros=lambda *shape: np.zeros(*shape).view(Far),
    full=lambda *shape: np.full(*shape).view(Far),
    where=lambda *arrays: np.where(*map(to_host, arrays)).view(Far),
    bincount=counted,
    minimum=np.minimum,
    maximum=np.maximum,
    floor=np.floor,
)


def rounded_once(a, x, s) -> Far:
    """a x + s in exact arithmetic, then rounded."""
    exact = np.vectorize(lambda a, x, s: float(Fraction(a) * Fraction(x) + Fraction(s)), otypes=[float])
    return exact(*map(to_host, (a, x, s))).view(Far)


DEVICE = Arrays(FAR, rounded_once, least_at, to_host)


def points(domain: Domain, count: int, seed: int) -> np.ndarray:
    low, high = domain.bounds("l2")
    drawn = np.random.default_rng(seed).uniform(low, high, (count, len(low)))
    drawn[: count // 4] = np.round(drawn[: count // 4])  # where cells end, if anywhere
    return np.asfortranarray(drawn)


def sets(count: int, seed: int) -> Sets:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 30, count)
    return Sets.of_sizes(sizes, random.integers(0, 200, sizes.sum()).astype(np.uint64))


def tables(sketch, batches, add) -> list[np.ndarray]:
    here, there = sketch.zeros(), sketch.zeros()
    for batch in batches:
        sketch.add(here, batch)
        add(there, batch)
    return [here, there]


KERNELS = [
    Euclidean(0.5),
    Euclidean((0.5, 2.0), power=3),
    Manhattan(0.001),
    Euclidean(1e-16),  # the last bit of a projection decides
    Mixture((Euclidean(1e-16), Laplacian(1e-16)), (0.5, 0.5)),
    Angular(power=4),
    Laplacian(1.0),
    Product((Euclidean(2.0), Angular())),
    Mixture((Euclidean(1.0), Laplacian(1.0), Manhattan(0.1, power=2)), (0.4, 0.4, 0.2)),
]


@given(st.sampled_from(KERNELS), st.integers(0, 2**128 - 1), st.sampled_from([2, 7, 64]), st.integers(64, 90))
@settings(max_examples=draws(12, 30))
def test_tables_of_points_are_the_same(kernel, seed, width, count):
    race = Race(PLANE, kernel, rows=9, width=width, seed=seed, groups=4)
    add = on_device(race, DEVICE)
    here, there = tables(race, [points(PLANE, count, 1), points(PLANE, count + 7, 2)], add)
    assert add._usable and np.array_equal(here, there)


def test_chains_of_fused_operations_are_the_same(monkeypatch):
    monkeypatch.setattr(device, "SAMPLE", 8)
    race = Race(LONG, Euclidean(0.3), rows=8, width=16, seed=5)
    add = on_device(race, DEVICE)
    assert add._blocks._fused
    here, there = tables(race, [points(LONG, 40, 3)], add)
    assert add._usable and np.array_equal(here, there)


@given(st.sampled_from(["classic", "one-permutation"]), st.integers(0, 2**128 - 1), st.sampled_from([None, 3]))
@settings(max_examples=draws(8, 20))
def test_tables_of_sets_are_the_same(scheme, seed, longest):
    sketch = MinHash(TAGS, rows=20, width=32, scheme=scheme, longest=longest, seed=seed)
    add = on_device(sketch, DEVICE)
    here, there = tables(sketch, [sets(40, 1), sets(33, 2)], add)
    assert add._usable and there.dtype == np.int32 and np.array_equal(here, there)


def test_small_blocks_give_the_same(monkeypatch):
    monkeypatch.setattr(device, "BLOCK", 200)
    monkeypatch.setattr(device, "ITEM_BLOCK", 1 << 13)
    race = Race(PLANE, Laplacian(1.0), rows=50, width=30, seed=1)
    sketches = [(race, points(PLANE, 99, 1))]
    sketches += [
        (MinHash(TAGS, rows=600, width=8, scheme=scheme, seed=1), sets(99, 1))
        for scheme in ("classic", "one-permutation")
    ]
    for sketch, batch in sketches:
        add = on_device(sketch, DEVICE)
        assert len(list(add._blocks.pieces(batch))) > 1 or len(list(add._blocks.blocks(batch))) > 3
        here, there = tables(sketch, [batch], add)
        assert add._usable and np.array_equal(here, there)


def test_a_device_that_fails_in_the_middle_counts_nobody_twice(monkeypatch):
    monkeypatch.setattr(device, "BLOCK", 200)
    race, calls = Race(PLANE, Euclidean(1.0), rows=50, width=30, seed=1), [0]

    def out_of_memory_at_last(array):
        calls[0] += 1
        if calls[0] == 500:
            raise MemoryError
        return to_host(array)

    add = on_device(race, replace(DEVICE, to_host=out_of_memory_at_last))
    here, there = tables(race, [points(PLANE, 64, seed) for seed in range(30)], add)
    assert calls[0] == 500 and add._usable is False  # not before, and never again
    assert np.array_equal(here, there)


def test_a_device_that_rounds_otherwise_is_not_used(monkeypatch):
    """Here it rounds a product before it adds: no cell of the sketch itself would tell."""
    monkeypatch.setattr(device, "SAMPLE", 8)
    race = Race(LONG, Euclidean(3.0), rows=8, width=16, seed=5)
    careless = replace(DEVICE, fused=lambda a, x, s: a * x + s)
    add = on_device(race, careless)
    here, there = tables(race, [points(LONG, 50, 3)], add)
    assert add._usable is False and np.array_equal(here, there)


def test_small_batches_other_mechanisms_and_large_tables_stay(monkeypatch):
    race = Race(PLANE, Euclidean(1.0), rows=20, width=30, seed=1)
    add = on_device(race, DEVICE)
    here, there = tables(race, [points(PLANE, 5, 1)], add)
    assert add._usable is None and np.array_equal(here, there)
    features = Features(PLANE, Laplacian(1.0), rows=8, seed=1)
    assert on_device(features, DEVICE) == features.add
    monkeypatch.setattr(device, "MOST_COUNTERS", 10)
    assert on_device(race, DEVICE) == race.add


@pytest.mark.parametrize("parts", [False, True], ids=["one", "parts"])
def test_a_building_uses_the_device_that_is_there(monkeypatch, parts):
    race = Race(PLANE, Euclidean(1.0), rows=20, width=30, seed=1)
    sums = Features(PLANE, Laplacian(1.0), rows=8, seed=1)
    sketch = Parts.of([Part(race, noise=1.0), Part(sums, "sums", noise=1.0)]) if parts else race
    source = open_source(points(PLANE, 500, 1))
    exact = []
    for found in (None, DEVICE):
        asked = []
        monkeypatch.setattr(device, "_cupy", lambda found=found, asked=asked: asked.append(1) or found)
        building = TableBuilder(sketch, source)
        for _ in building:
            pass
        exact.append(building.exact.table)
        assert asked
    assert np.array_equal(*exact) and sketch.split(exact[0])[0].sum() == 500 * 20


def test_a_device_is_left_alone_when_it_is_not_wanted(monkeypatch):
    monkeypatch.setattr(device, "_cupy", lambda: DEVICE)
    monkeypatch.delenv("FROSTGLASS_DEVICE", raising=False)
    assert device_arrays() is DEVICE
    monkeypatch.setenv("FROSTGLASS_DEVICE", "CPU")
    assert device_arrays() is None


def test_no_library_means_no_device(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    device._cupy.cache_clear()
    assert device._cupy() is None
    device._cupy.cache_clear()
