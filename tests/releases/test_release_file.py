"""Release files: what goes in, what comes out, and that a failed write leaves nothing."""

import io
import json
import os
import stat
import zipfile
import zlib

import numpy as np
import pytest

from core import Budget, Domain, Race, RequestError, load
from core.domain import PrivacyUnit
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from core.sketches.registry import cards
from tests.releases_for_tests import counted_release, manifest_in, small_release

QUERIES = {"age": [10.0, 35.5, 90.0], "city": ["Bern", "Basel", "Bern"]}
BUDGETS = [
    Budget(1),
    Budget("0.3", "1e-9"),
    Budget(2, 0, "replace_one"),
    Budget(5, "0.001", "replace_one"),
    Budget("0.01"),
    Budget(100, "1e-6"),
]
DOMAINS = [
    Domain.of(age=(0, 100), city=["Bern", "Basel"]),
    Domain.of(x=(-1e6, 1e-9), y=(0, 1), outside="drop", missing="refuse", scale="box"),
    Domain.of(age=(0, 100), missing="refuse"),
    Domain.of(age=(0, 100), unit=PrivacyUnit("person", 7)),
    Domain.of(**{'"; DROP <b>\u202e': (0, 1), "é\n\0": ["</script>", "'\"\\"]}),
]


def same(left, right):
    assert type(left.sketch) is type(right.sketch)
    assert left.sketch == right.sketch
    assert left.counters.dtype == right.counters.dtype == np.int64
    np.testing.assert_array_equal(left.counters, right.counters)
    for field in ("counted", "privacy", "private", "created", "software"):
        assert getattr(left, field) == getattr(right, field)


@pytest.mark.few(10)
@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_a_release_survives_its_file(budget, domain):
    made = small_release(budget, domain=domain)
    same(load(made.to_bytes()), made)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Manhattan(bandwidth=3.0, power=2),
        kernels.Laplacian(bandwidth=(3.0, 0.1)),
        kernels.Angular(power=4),
        kernels.Mixture(
            (kernels.Euclidean(2.0), kernels.Product((kernels.Angular(), kernels.Euclidean(9.0)))), (0.3, 0.7)
        ),
    ],
)
def test_every_kernel_survives_its_file(kernel):
    made = small_release(kernel=kernel)
    same(load(made.to_bytes()), made)


def test_a_merged_release_survives_its_file():
    first, second = small_release(Budget(1)), small_release(Budget("0.5"))
    merged = first.merged(second).merged(first)
    same(load(merged.to_bytes()), merged)


def test_answers_are_the_same_to_the_last_bit():
    made = small_release()
    opened = load(made.to_bytes())
    np.testing.assert_array_equal(opened.estimate(QUERIES), made.estimate(QUERIES))
    np.testing.assert_array_equal(opened.interval(QUERIES), made.interval(QUERIES))


def test_anyone_can_read_it_with_numpy():
    made = counted_release()
    with np.load(io.BytesIO(made.to_bytes()), allow_pickle=False) as arrays:
        assert set(arrays) == {"manifest", "table", "count"}
        assert arrays["manifest"].shape == () and arrays["manifest"].dtype.kind == "U"
        assert arrays["count"].shape == () and arrays["count"].dtype == np.int64 and arrays["count"] == made.counted
        np.testing.assert_array_equal(arrays["table"], made.counters)


def test_without_a_count_there_is_none_in_the_file():
    made = small_release()
    assert made.counted is None  # of so few columns the sum says as much
    assert "count.npy" not in np.load(io.BytesIO(made.to_bytes()), allow_pickle=False)
    same(load(made.to_bytes()), made)


@pytest.mark.parametrize(
    "extremes, kind",
    [
        ((-128, 127), np.int8),
        ((-129, 0), np.int16),
        ((0, 128), np.int16),
        ((-32768, 32767), np.int16),
        ((0, 32768), np.int32),
        ((-(2**31), 2**31 - 1), np.int32),
        ((0, 2**31), np.int64),
        ((-(2**63), 2**63 - 1), np.int64),
    ],
)
def test_the_table_takes_the_smallest_type_that_holds_it(extremes, kind):
    made = small_release()
    made.counters.flat[:] = 0
    made.counters.flat[:2] = extremes
    data = made.to_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        assert arrays["table"].dtype == kind
    same(load(data), made)


def test_the_same_release_gives_the_same_bytes(tmp_path):
    made = small_release()
    made.save(tmp_path / "a.npz")
    load(tmp_path / "a.npz").save(str(tmp_path / "b.npz"))
    contents = {(tmp_path / name).read_bytes() for name in ("a.npz", "b.npz")}
    assert contents == {made.to_bytes()}


def test_noise_is_packed_without_a_search_for_repeats():
    """As small as zlib's codes for single bytes make it, and no slower."""
    made = small_release()
    noise = np.random.default_rng(0).normal(0, 530, made.counters.shape).astype(np.int16)
    made.counters[:] = noise
    with zipfile.ZipFile(io.BytesIO(made.to_bytes())) as archive:
        packed = archive.getinfo("table.npy").compress_size
    codes = zlib.compressobj(1, zlib.DEFLATED, -15, 8, zlib.Z_RLE)
    header = io.BytesIO()
    np.save(header, noise)
    # NumPy hands a table over in pieces, after its header.
    assert packed == pytest.approx(len(codes.compress(header.getvalue()) + codes.flush()), abs=8)


def test_the_manifest_holds_what_it_should_and_nothing_else():
    made = small_release(records=412)
    manifest = manifest_in(made.to_bytes())
    assert set(manifest) == {
        "format",
        "format_version",
        "mechanism",
        "parameters",
        "domain",
        "privacy",
        "private",
        "created",
        "software",
    }
    assert (manifest["format"], manifest["format_version"]) == ("frostglass-release", 1)
    assert manifest["mechanism"] == "race" and manifest["private"] is True
    assert set(manifest["parameters"]) == {"kernel", "rows", "width", "groups", "seed"}
    assert set(manifest["domain"]) == {"columns", "outside", "missing", "unit", "scale", "category_distance"}
    assert set(manifest["privacy"]) >= {"epsilon", "delta", "rho", "neighbours", "unit", "noise", "theorem"}
    # The one private number that is not a counter: the exact number of records.
    assert "412" not in json.dumps({key: value for key, value in manifest.items() if key != "created"})


def test_nothing_of_the_machine_goes_into_the_file(tmp_path):
    path = tmp_path / "telltale-folder" / "telltale-name.npz"
    path.parent.mkdir()
    small_release().save(path)
    assert b"telltale" not in path.read_bytes()


def test_a_teaching_release_is_saved_only_as_one(tmp_path):
    lesson = small_release(noise_source=SeededSource(3))
    for attempt in (lesson.to_bytes, lambda: lesson.save(tmp_path / "lesson.npz")):
        with pytest.raises(RequestError, match="protects nobody"):
            attempt()
    assert list(tmp_path.iterdir()) == []
    lesson.save(tmp_path / "lesson.npz", teaching=True)
    data = (tmp_path / "lesson.npz").read_bytes()
    assert manifest_in(data)["private"] is False
    opened = load(data)
    assert opened.private is False
    with pytest.raises(RequestError, match="protects nobody"):
        opened.to_bytes()


def test_what_merges_with_a_lesson_is_a_lesson():
    merged = small_release().merged(small_release(noise_source=SeededSource(3)))
    assert load(merged.to_bytes(teaching=True)).private is False


def test_a_write_that_fails_leaves_the_older_file_alone(tmp_path, monkeypatch):
    path = tmp_path / "skin.npz"
    path.write_bytes(b"older")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RequestError, match="No space left"):
        small_release().save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["skin.npz"]
    assert path.read_bytes() == b"older"


def test_a_program_that_is_interrupted_leaves_no_file(tmp_path, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small_release().save(tmp_path / "skin.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_saved_file_has_the_permissions_of_any_new_file(tmp_path):
    small_release().save(tmp_path / "skin.npz")
    (tmp_path / "plain").touch()
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("skin.npz", "plain")}
    assert len(modes) == 1


@pytest.mark.parametrize("place", ["no/such/folder/a.npz", ".", "", "a\0b", 7, None])
def test_places_that_cannot_be_written_get_a_sentence(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError):
        small_release().save(place)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["missing.npz", ".", "", "a\0b", 7, None, io.StringIO("text")])
def test_places_that_cannot_be_read_get_a_sentence(tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError):
        load(place)


def test_a_file_is_opened_from_wherever_it_is(tmp_path):
    made = small_release()
    path = tmp_path / "skin.npz"
    made.save(path)
    with path.open("rb") as file:
        for source in (path, str(path), file, io.BytesIO(path.read_bytes()), bytearray(path.read_bytes())):
            same(load(source), made)


def test_a_file_that_numpy_wrote_again_is_still_a_release():
    made = counted_release()
    with np.load(io.BytesIO(made.to_bytes()), allow_pickle=False) as arrays:
        for write in (np.savez, np.savez_compressed):
            file = io.BytesIO()
            write(file, **arrays)
            same(load(file.getvalue()), made)


@pytest.mark.thorough
def test_a_nearly_empty_table_is_stored_so_that_it_can_be_read_back():
    # Hardly any noise, so hardly anything but zeros: deflated, this would unpack to far more than a reader believes.
    made = small_release(Budget(100), rows=8, width=1 << 19, domain=Domain.of(x=(0, 1e9)), records=10)
    assert made.counters.nbytes > 1 << 24
    assert np.count_nonzero(made.counters) < 1_000
    same(load(made.to_bytes()), made)


def test_the_registry_names_every_mechanism_by_its_name():
    formats = {name: card.sketch for name, card in cards().items() if card.sketch is not None}
    assert formats["race"] is Race
    assert list(formats) == [sketch.name for sketch in formats.values()]


def test_a_mechanism_without_a_format_is_not_saved():
    class Homemade(Race):
        name = "homemade"

    made = small_release()
    sketch = Homemade(made.domain, made.sketch.kernel, rows=16, width=20)
    with pytest.raises(RequestError, match="homemade"):
        type(made)(sketch, made.counters, made.counted, made.privacy, True, made.created, made.software).to_bytes()
