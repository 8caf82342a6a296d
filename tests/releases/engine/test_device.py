"""Adding on a graphics processor, with its loops compiled for this one, against the loops that are used without one."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Domain, Items
from core.domain.item_sets import Sets
from core.geometry.kernels import Angular, Euclidean, Gaussian, Laplacian, Manhattan, Mixture, Product
from core.releases.engine import device
from core.releases.engine.building import TableBuilder
from core.releases.engine.device import LOOPS, Device, device_at_hand, on_device
from core.sketches.features import Features
from core.sketches.minhash import MinHash
from core.sketches.moments import Moments
from core.sketches.part import Part
from core.sketches.parts import Parts
from core.sketches.race import Race
from core.sources import open_source
from tests.depth import draws

PLANE = Domain.of(x=(-3, 3), y=(-3, 3))
LONG = Domain.of(**{f"c{place}": (-1, 2) for place in range(17)})
TAGS = Domain((Items("tags"),))
MEANINGS = r"""
#include <math.h>
#define HOST
#define KERNEL void
#define INLINE static inline
#define ADD(place, value) (*(place) += (value))
#define LEAST(place, value) (*(place) = *(place) < (value) ? *(place) : (value))
#define __dadd_rn(a, b) ((a) + (b))
#define __dmul_rn(a, b) ((a) * (b))
#define __fma_rn(a, b, c) fma(a, b, c)
#define __syncthreads()
struct place { int x, y; } blockIdx, gridDim, threadIdx, blockDim = {1, 1};
unsigned long long shared[6144];
void block(int x, int y, int across, int down) {
  blockIdx = (struct place){x, y};
  gridDim = (struct place){across, down};
}
"""
NUMBERS = {"int32": ctypes.c_int32, "uint32": ctypes.c_uint32, "int64": ctypes.c_int64, "uint64": ctypes.c_uint64}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The loops of a device on this processor, one block after the other and each of one thread, as often as asked."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")

    def device_of(meanings: str) -> Device:
        folder = tmp_path_factory.mktemp("loops")
        (folder / "loops.c").write_text(meanings + LOOPS.read_text(encoding="utf-8"))
        options = ["-std=gnu11", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", "loops.so", "loops.c", "-lm"]
        subprocess.run([compiler, *options], cwd=folder, check=True)
        loops = ctypes.CDLL(str(folder / "loops.so"))

        def start(name, blocks, threads, shared, given):
            assert 1 <= threads <= 1024 and 0 <= shared <= 48 << 10
            assert all(not isinstance(one, np.ndarray) or one.flags.c_contiguous for one in given)
            arguments = [
                ctypes.c_void_p(one.ctypes.data) if isinstance(one, np.ndarray) else NUMBERS[one.dtype.name](one)
                for one in given
            ]
            for x, y in np.ndindex(blocks):
                loops.block(x, y, *blocks)
                getattr(loops, name)(*arguments)

        return Device(np.array, np.zeros, np.asarray, start)

    return device_of


@pytest.fixture(scope="module")
def there(request) -> Device:
    """A real device where there is one."""
    return device_at_hand() or request.getfixturevalue("compiled")(MEANINGS)


@pytest.fixture(scope="module", autouse=True)
def short_batches():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "FEWEST", 1)
        yield


def points(domain: Domain, count: int, seed: int) -> np.ndarray:
    low, high = domain.bounds("l2")
    drawn = np.random.default_rng(seed).uniform(low, high, (count, len(low)))
    drawn[: count // 4] = np.round(drawn[: count // 4])  # where cells end, if anywhere
    return np.asfortranarray(drawn)


def sets(count: int, seed: int) -> Sets:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 30, count)
    return Sets.of_sizes(sizes, random.integers(0, 200, sizes.sum()).astype(np.uint64))


def same(sketch, batches, device: Device) -> bool:
    """Whether batches give the same table there as here, and it was made there."""
    add = on_device(sketch, device)
    exact = [sketch.zeros(), sketch.zeros()]
    for batch in batches:
        sketch.add(exact[0], batch)
        add(exact[1], batch)
    assert np.array_equal(*exact) and exact[1].dtype == sketch.counter_type
    return add._usable


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


@pytest.mark.thorough
@given(st.sampled_from(KERNELS), st.integers(0, 2**128 - 1), st.sampled_from([2, 7, 64, 20_000]), st.integers(64, 90))
@settings(max_examples=draws(12, 60))
def test_tables_of_points_are_the_same(there, kernel, seed, width, count):
    race = Race(PLANE, kernel, rows=9, width=width, seed=seed, groups=4)
    assert same(race, [points(PLANE, count, 1), points(PLANE, count + 7, 2)], there) or count < race.shape[1]


@pytest.mark.thorough
@given(st.sampled_from([PLANE, LONG]), st.integers(0, 2**128 - 1), st.sampled_from([1.0, 1e-9]), st.integers(1, 300))
@settings(max_examples=draws(12, 60))
def test_tables_of_waves_are_the_same(there, domain, seed, bandwidth, count):
    for wave in ("circle", "quadrant"):
        features = Features(domain, Gaussian(bandwidth), rows=9, seed=seed, groups=4, wave=wave)
        assert same(features, [points(domain, count, 1), points(domain, 17, 2)], there) or count == 1


def test_many_waves_of_one_record_keep_their_halves_apart(there):
    features = Features(PLANE, Gaussian(1.0), rows=8, seed=1, wave="circle")
    assert same(features, [np.asfortranarray(np.ones((40_003, 2)))], there)


def test_chains_of_fused_operations_are_the_same(there):
    assert same(Race(LONG, Euclidean(0.3), rows=8, width=16, seed=5), [points(LONG, 40, 3)], there)


@pytest.mark.thorough
@given(st.sampled_from(["classic", "one-permutation"]), st.integers(0, 2**128 - 1), st.sampled_from([None, 3]))
@settings(max_examples=draws(8, 20))
def test_tables_of_sets_are_the_same(there, scheme, seed, longest):
    sketch = MinHash(TAGS, rows=600, width=32, scheme=scheme, longest=longest, seed=seed, groups=2)
    assert same(sketch, [sets(40, 1), sets(33, 2)], there)


def test_a_device_that_fails_in_the_middle_counts_nobody_twice(there):
    race, calls = Race(PLANE, Euclidean(1.0), rows=50, width=30, seed=1), [0]

    def out_of_memory_at_last(array):
        calls[0] += 1
        if calls[0] == 20:
            raise MemoryError
        return there.to_host(array)

    failing = replace(there, to_host=out_of_memory_at_last)
    assert not same(race, [points(PLANE, 64, seed) for seed in range(30)], failing)
    assert calls[0] == 20  # and never again


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("asked", "done"),
    [("__fma_rn(a, b, c) fma(a, b, c)", "__fma_rn(a, b, c) ((a) * (b) + (c))"), ("__dmul_rn(a, b) ((a) * (b))", "")],
    ids=["twice", "once"],
)
def test_a_device_that_rounds_otherwise_is_not_used(compiled, asked, done):
    """No cell of the sketches themselves would tell."""
    careless = MEANINGS.replace(f"#define {asked}", f"#define {done}" if done else ONCE)
    assert careless != MEANINGS
    domain = LONG if done else PLANE
    assert not same(Race(domain, Euclidean(3.0), rows=8, width=16, seed=5), [points(domain, 50, 3)], compiled(careless))
    features = Features(domain, Gaussian(3.0), rows=8, seed=5)
    assert not same(features, [points(domain, 50, 3)], compiled(careless))


ONCE = """#define __dmul_rn(a, b) ((long double)(a) * (b))
#undef __dadd_rn
#define __dadd_rn(a, b) ((double)((long double)(a) + (b)))"""


def test_small_batches_other_mechanisms_and_large_tables_stay(there, monkeypatch):
    race = Race(PLANE, Euclidean(1.0), rows=20, width=30, seed=1)
    assert same(race, [points(PLANE, 5, 1)], there) is None
    for other in (Features(LONG, Gaussian(1.0), rows=8, seed=1, transform="fast"), Moments(PLANE)):
        assert on_device(other, there) == other.add
    monkeypatch.setattr(device, "MOST_COUNTERS", 10)
    assert on_device(race, there) == race.add


@pytest.mark.parametrize("parts", [False, True], ids=["one", "parts"])
def test_a_building_uses_the_device_that_is_there(there, monkeypatch, parts):
    race = Race(PLANE, Euclidean(1.0), rows=20, width=30, seed=1)
    sums = Features(PLANE, Laplacian(1.0), rows=8, seed=1)
    sketch = Parts.of([Part(race, noise=1.0), Part(sums, "sums", noise=1.0)]) if parts else race
    source = open_source(points(PLANE, 500, 1))
    exact, started = [], []
    watched = replace(there, start=lambda name, *more: started.append(name) or there.start(name, *more))
    for found in (None, watched):
        monkeypatch.setattr(device, "_cupy", lambda found=found: found)
        building = TableBuilder(sketch, source)
        for _ in building:
            pass
        exact.append(building.exact.table)
    assert set(started) == {"add_cells", *(["add_waves"] if parts else [])}
    assert np.array_equal(*exact) and sketch.split(exact[0])[0].sum() == 500 * 20


def test_a_device_is_left_alone_when_it_is_not_wanted(monkeypatch):
    found = object()
    monkeypatch.setattr(device, "_cupy", lambda: found)
    monkeypatch.delenv("FROSTGLASS_DEVICE", raising=False)
    assert device_at_hand() is found
    monkeypatch.setenv("FROSTGLASS_DEVICE", "CPU")
    assert device_at_hand() is None


def test_no_library_means_no_device(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    device._cupy.cache_clear()
    assert device._cupy() is None
    device._cupy.cache_clear()
