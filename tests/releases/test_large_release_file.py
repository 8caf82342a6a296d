"""Files of large releases: every table is read as it was written, mapped or not, by us and by NumPy alone."""

import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core import Budget, Domain, Race, Release, ReleaseFileError, RequestError, load
from core.geometry import kernels
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.runtime import archive_writing
from core.runtime.counter_tables import Narrow, Sum, array
from core.sketches.classes import Classes
from tests.depth import draws
from tests.releases_for_tests import manifest_in, small_release

ENDS = [int(end) for bits in (8, 16, 32, 64) for end in (-(1 << bits - 1), -(1 << bits - 1) + 1, (1 << bits - 1) - 1)]
COUNTERS = st.sampled_from(ENDS) | st.integers(-200, 200) | st.integers(-(1 << 63), (1 << 63) - 1)
MADE = small_release()
QUERIES = {"age": [10.0, 35.5, 90.0, 1000.0], "city": ["Bern", "Basel", "Bern", "Bern"]}


def with_counters(counters: np.ndarray):
    """The small release with other counters in the table's first places."""
    made = small_release()
    made.counters.reshape(-1)[: len(counters)] = counters
    return made


def by_numpy(data: bytes) -> np.ndarray:
    """The table as the format tells a stranger to read it."""
    file = np.load(io.BytesIO(data), allow_pickle=False)
    table = file["table"].astype(np.int64)
    table.flat[file["beyond_at"]] = file["beyond"]
    return table


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A large release's file."""
    place = tmp_path_factory.mktemp("large") / "large.npz"
    MADE.save(place, large=0)
    return place


@pytest.mark.thorough
@given(arrays(np.int64, st.integers(0, 320), elements=COUNTERS))
@settings(max_examples=draws(24, 60))
def test_every_table_survives_its_file(counters):
    made = with_counters(counters)
    data = made.to_bytes(large=0)
    opened = load(data, verify=True)
    assert isinstance(opened.counters, Narrow)
    assert np.array_equal(array(opened.counters), made.counters) and np.array_equal(by_numpy(data), made.counters)
    assert opened.to_bytes(large=0) == data and opened.to_bytes() == made.to_bytes()


@pytest.mark.parametrize("kind", archive_writing.KINDS, ids=str)
def test_the_type_is_the_narrowest_that_holds_all_but_a_few(kind):
    """Of 320 counters one may stand apart, the least value of the type among those that have to."""
    ends = np.iinfo(kind)
    made = with_counters(np.full(320, ends.max))
    made.counters[3, 4] = ends.min
    with np.load(io.BytesIO(made.to_bytes(large=0)), allow_pickle=False) as file:
        assert file["table"].dtype == kind and file["table"][3, 4] == ends.min
        assert file["beyond_at"].tolist() == [3 * 20 + 4] and file["beyond"].tolist() == [ends.min]
    made.counters[0, :2] = ends.min
    if kind != archive_writing.KINDS[-1]:
        with np.load(io.BytesIO(made.to_bytes(large=0)), allow_pickle=False) as file:
            assert file["table"].dtype.itemsize == 2 * kind.itemsize and len(file["beyond"]) == 0


def test_a_mapped_release_answers_as_it_did_and_allocates_nothing_for_its_table(path):
    opened = load(path)
    assert not opened.counters.counters.flags.owndata and not opened.counters.counters.flags.writeable
    for name in ("estimate", "low", "high", "density"):
        assert np.array_equal(getattr(opened.answer(QUERIES), name), getattr(MADE.answer(QUERIES), name))
    assert opened.records == MADE.records and manifest_in(path.read_bytes())["format_version"] == 2
    assert np.load(path, mmap_mode="r")["table"].shape == MADE.counters.shape


def test_entries_begin_where_a_line_of_the_cache_does(path):
    data = path.read_bytes()
    for kind, name in ((None, "table"), ("<i8", "beyond_at"), ("<i8", "beyond")):
        with np.load(io.BytesIO(data)) as file:
            entries = file[name].tobytes()
        if entries:
            assert data.index(entries) % 64 == 0, (kind, name)


def test_memory_is_what_is_allocated(path):
    with np.load(path, allow_pickle=False) as file:  # what noise threw beyond the narrow type is listed, and read
        listed = file["beyond_at"].nbytes + file["beyond"].nbytes
    row = MADE.sketch.setup_bytes + 8 * MADE.counters.shape[1] + listed
    assert load(path, memory=row)
    with pytest.raises(ReleaseFileError, match="memory"):
        load(path, memory=row - 1)
    with pytest.raises(ReleaseFileError, match="memory"):
        load(path.read_bytes(), memory=row)
    with path.open("rb") as file, pytest.raises(ReleaseFileError, match="memory"):
        load(file, memory=row)


def test_a_file_that_is_replaced_or_deleted_goes_on_answering(tmp_path):
    place = tmp_path / "large.npz"
    MADE.save(place, large=0)
    opened = load(place)
    before = opened.estimate(QUERIES)
    with_counters(np.zeros(320, dtype=np.int64)).save(place, large=0)
    assert not np.array_equal(load(place).estimate(QUERIES), before)
    place.unlink()
    assert np.array_equal(opened.estimate(QUERIES), before)


def test_merging_reads_tables_where_they_lie_and_writes_their_sum(path, tmp_path):
    other = small_release(Budget(2))
    other.save(tmp_path / "other.npz", large=0)
    merged = load(path).merged(load(tmp_path / "other.npz"))
    assert isinstance(merged.counters, Sum)
    merged.save(tmp_path / "merged.npz", large=0)
    opened = load(tmp_path / "merged.npz")
    assert np.array_equal(array(opened.counters), MADE.counters + other.counters)
    assert np.array_equal(opened.estimate(QUERIES), MADE.merged(other).estimate(QUERIES))
    with pytest.raises(RequestError, match="same release"):
        load(path).merged(load(path))


def test_classes_of_a_mapped_release_are_mapped_releases(tmp_path):
    domain = Domain.of(x=(0, 10), kind=["a", "b", "c"])
    sketch = Classes(domain, "kind", Race(domain.without("kind"), kernels.Euclidean(1.0), rows=8, width=30, seed=1))
    made = seal(sketch, ExactTable(sketch.zeros(), np.zeros(3, dtype=np.int64)), Budget(1))
    made.save(tmp_path / "classes.npz", large=0)
    opened = load(tmp_path / "classes.npz")
    places = [[1.0], [5.0]]
    for part in (lambda release: release, Release.of_everyone, lambda release: release.of_class("b")):
        assert np.array_equal(part(opened).estimate(places), part(made).estimate(places))
    assert np.array_equal(opened.counts, made.counts)


def test_small_releases_keep_their_format():
    assert (
        manifest_in(MADE.to_bytes())["format_version"] == 1 == manifest_in(MADE.to_bytes(large=320))["format_version"]
    )
    assert manifest_in(MADE.to_bytes(large=319))["format_version"] == 2


def test_a_disk_that_is_full_half_way_leaves_no_file(tmp_path, monkeypatch):
    """The table is written as it is read: the disk may refuse any piece of it."""

    def full(table):
        yield from narrow_arrays(table)
        raise OSError(28, os.strerror(28))

    narrow_arrays = archive_writing.arrays
    monkeypatch.setattr(archive_writing, "arrays", full)
    with pytest.raises(RequestError, match="No space left"):
        MADE.save(tmp_path / "large.npz", large=0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("bits", "kind"), [(8, "|i1"), (16, "<i2"), (32, "<i4")])
def test_whole_numbers_take_the_smallest_type_that_holds_both_of_its_ends(bits, kind):
    most = 2 ** (bits - 1) - 1
    assert archive_writing.smallest_integers(np.array([-most - 1, most])).dtype.str == kind
    for beyond in (-most - 2, most + 1):
        assert archive_writing.smallest_integers(np.array([0, beyond])).dtype.itemsize == bits // 4
