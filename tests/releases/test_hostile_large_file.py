"""Files of large releases from strangers: mapped, so no length and no place in them may be believed."""

import io
import json
import struct
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Race, ReleaseFileError, load
from core.domain import Domain
from core.geometry import kernels
from core.runtime import archive_writing
from core.runtime.archives import END, END64, LOCATOR64
from core.runtime.counter_tables import Narrow, array
from tests.depth import draws
from tests.releases.test_hostile_release_file import MEBIBYTE, little_memory, refused
from tests.releases_for_tests import manifest_in, members_of, npy, small_release, with_manifest, zipped

MADE = small_release()
MADE.counters[2, 3], MADE.counters[5, 7] = 1 << 40, -(1 << 15)
"""Two counters that stand apart would be one too many of 320, so the small release is written by hand."""
QUERY = {"age": [10.0], "city": ["Bern"]}


def arrays() -> dict[str, np.ndarray]:
    """What a file of the release holds, by name."""
    counters = np.where(np.abs(MADE.counters) < 1 << 15, MADE.counters, -(1 << 15)).astype("<i2")
    manifest = np.load(io.BytesIO(MADE.to_bytes(large=0)))["manifest"]
    apart = np.array([2 * 20 + 3, 5 * 20 + 7])
    return {"manifest": manifest, "table": counters, "beyond_at": apart, "beyond": MADE.counters.reshape(-1)[apart]}


def written(**changes: object) -> bytes:
    """The release's file with other arrays; those given as None are left out."""
    file = io.BytesIO()
    archive_writing.write_aligned(
        file, [(name, value) for name, value in (arrays() | changes).items() if value is not None]
    )
    return file.getvalue()


def refused_everywhere(data: bytes, tmp_path, words: str | None = None) -> None:
    """Refused from memory, and from the path that it would be mapped from."""
    refused(data, words)
    path = tmp_path / "hostile.npz"
    path.write_bytes(data)
    with pytest.raises(ReleaseFileError, match=words), little_memory():
        load(path)


GOOD = written()


def test_the_pieces_put_together_are_a_release():
    opened = load(GOOD, verify=True)
    assert np.array_equal(array(opened.counters), MADE.counters)


# The lists of counters that stand apart.


@pytest.mark.parametrize(
    ("places", "counters"),
    [
        ([107, 43], [1 << 40, 1 << 40]),
        ([43, 43], [1 << 40, 1 << 40]),
        ([-1, 43], [1 << 40, 1 << 40]),
        ([43, 320], [1 << 40, 1 << 40]),
        ([-(1 << 63), (1 << 63) - 1], [1 << 40, 1 << 40]),
        ([43, 107], [1 << 40, 5]),
        ([43, 107], [1 << 40, (1 << 15) - 1]),
        ([43, 107], [1 << 40]),
        ([43], [1 << 40, 1 << 40]),
        ([[43, 107]], [[1 << 40, 1 << 40]]),
        (43, 1 << 40),
    ],
)
def test_lists_that_no_table_has_are_refused(places, counters, tmp_path):
    data = written(beyond_at=np.array(places, dtype="<i8"), beyond=np.array(counters, dtype="<i8"))
    refused_everywhere(data, tmp_path, "apart")


@pytest.mark.parametrize("kind", ["<i4", "<i2", "<U4"])
@pytest.mark.parametrize("name", ["beyond_at", "beyond"])
def test_lists_of_another_type_are_refused(kind, name, tmp_path):
    refused_everywhere(written(**{name: np.zeros(2, dtype=kind)}), tmp_path, "apart|lie in it")


@pytest.mark.parametrize("name", ["table", "beyond_at", "beyond"])
def test_arrays_that_are_missing_or_packed_are_refused(name, tmp_path):
    refused_everywhere(written(**{name: None}), tmp_path, f"no {name}")
    members = members_of(GOOD)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for member, content in members.items():
            packed = zipfile.ZIP_DEFLATED if member == f"{name}.npy" else zipfile.ZIP_STORED
            archive.writestr(member, content, packed)
    refused_everywhere(file.getvalue(), tmp_path, "does not lie in it")


def test_the_formats_do_not_mix(tmp_path):
    facts = manifest_in(GOOD)
    text = arrays()["manifest"].item()
    refused_everywhere(written(manifest=np.array(text.replace('_version":2', '_version":1'))), tmp_path, "its format")
    refused_everywhere(zipped(members_of(GOOD), zipfile.ZIP_STORED), tmp_path, "does not lie in it")
    histogram = small_histogram_manifest(facts)
    refused(with_manifest(GOOD, histogram), "format of large releases")


def small_histogram_manifest(facts: dict) -> dict:
    from core.sketches.histogram import Histogram

    sketch = Histogram(Domain.from_dict(facts["domain"]), kernels.Laplacian(10.0), cells=(4,))
    return facts | {"mechanism": sketch.name, "parameters": sketch.parameters()}


def test_marks_and_lists_that_differ_are_found_by_verifying_and_harmless_without(tmp_path):
    """A marked counter that is not listed reads as the mark, a listed one that is not marked as it stands there."""
    table = arrays()["table"].copy()
    table[0, 0], table[5, 7] = -(1 << 15), 9
    path = tmp_path / "hostile.npz"
    path.write_bytes(written(table=table))
    opened = load(path)
    assert array(opened.counters)[[0, 2, 5], [0, 3, 7]].tolist() == [-(1 << 15), 1 << 40, 9]
    assert opened.counters.take(np.array([0, 43, 107])).tolist() == [-(1 << 15), 1 << 40, 9]
    for source in (path, path.read_bytes()):
        with pytest.raises(ReleaseFileError, match="marked"):
            load(source, verify=True)


# Places and lengths.


def laid_out(places: dict[str, int], contents: dict[str, bytes]) -> bytes:
    """A zip archive of stored members at chosen places, over each other if need be."""
    data, directory = bytearray(), bytearray()
    for name, place in places.items():
        content, title = contents[name], f"{name}.npy".encode()
        facts = (20, 0, 0, 0, 0x21, zipfile.crc32(content), len(content), len(content), len(title), 0)
        local = struct.pack("<4s5H3L2H", b"PK\x03\x04", *facts) + title
        data.extend(bytes(max(0, place + len(local) + len(content) - len(data))))
        data[place : place + len(local) + len(content)] = local + content
        directory += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, *facts, 0, 0, 0, 0, place) + title
    end = END.pack(b"PK\x05\x06", 0, 0, len(places), len(places), len(directory), len(data), 0)
    return bytes(data) + bytes(directory) + end


def in_step(place: int, name: str) -> int:
    """The first place from there on where a member's entries are aligned."""
    return place + -(place + 30 + len(name) + 4) % 64


@pytest.mark.parametrize("overlap", [0, 64])
def test_arrays_that_lie_over_each_other_are_refused(overlap, tmp_path):
    """Counters that are at once another array's header say what their maker likes, and nothing of the noise."""
    contents = {name: npy(value) for name, value in arrays().items()}
    places, end = {}, 0
    for name, content in contents.items():
        places[name] = in_step(end - (overlap if name == "beyond_at" else 0), name)
        end = places[name] + 30 + len(name) + 4 + len(content)
    data = laid_out(places, contents)
    if overlap:
        refused_everywhere(data, tmp_path, "over each other|altered")
    else:
        assert np.array_equal(array(load(data).counters), MADE.counters)


def test_entries_out_of_step_are_refused(tmp_path):
    contents = {name: npy(value) for name, value in arrays().items()}
    places, end = {}, 0
    for name, content in contents.items():
        places[name] = in_step(end, name) + (name == "table")
        end = places[name] + 30 + len(name) + 4 + len(content)
    refused_everywhere(laid_out(places, contents), tmp_path, "does not lie in it")


@pytest.mark.parametrize("shape", [(1 << 31, 1 << 31), (16, 1 << 33), (9_999_999_999,) * 3])
def test_a_header_of_more_than_the_file_is_refused_without_memory(shape, tmp_path):
    table = npy(np.zeros((16, 20), dtype="<i2")).replace(b"(16, 20), }", f"{shape}, }}".encode().ljust(11), 1)
    with little_memory():
        refused_everywhere(zipped(members_of(GOOD) | {"table.npy": table}, zipfile.ZIP_STORED), tmp_path)


class Holes(io.FileIO):
    """A file in which long runs of zeros take no place on the disk."""

    def write(self, data) -> int:
        if len(data) < MEBIBYTE:
            return super().write(data)
        self.seek(len(data), io.SEEK_CUR)
        return len(data)


def test_a_file_full_of_holes_costs_what_it_holds(tmp_path, monkeypatch):
    """A table of 8 GiB that takes no disk is no release's, but opened and asked it takes no memory either."""
    domain = Domain.of(x=(0, 1e9))
    sketch = Race(domain, kernels.Euclidean(0.05), rows=4, width=1 << 28, groups=2, seed=1)
    facts = manifest_in(GOOD) | {"domain": domain.to_dict(), "parameters": sketch.parameters()}
    facts["privacy"] = small_release(domain=domain, rows=4).privacy.to_dict()
    path, none, piece = tmp_path / "holes.npz", np.zeros(0, dtype="<i8"), np.zeros(1 << 20, dtype="<i8")
    table = archive_writing.Entries(piece.dtype, sketch.shape, (piece for _ in range(1024)))
    manifest = np.array(json.dumps(facts))
    with monkeypatch.context() as patch, Holes(path, "w") as file:
        crc32 = zipfile.crc32
        patch.setattr(zipfile, "crc32", lambda data, value=0: 0 if len(data) >= MEBIBYTE else crc32(data, value))
        archive_writing.write_aligned(
            file, [("manifest", manifest), ("table", table), ("beyond_at", none), ("beyond", none)]
        )
    with pytest.raises(ReleaseFileError, match=r"8,589,93\d,\d{3} bytes"), path.open("rb") as file:
        load(file)
    with little_memory():
        opened = load(path, memory=3 << 30)  # one of its four rows is 2 GiB as int64
        assert opened.sketch == sketch and not opened.counters.take(np.array([0, 1 << 29, (1 << 30) - 1])).any()


# Directories in 64 bits.


@pytest.fixture(scope="module")
def long():
    """The release's file as if it were longer than 32 bits can say: all that is longer then is in 64 bits here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(zipfile, "ZIP64_LIMIT", 100)
        data = written()
    assert data.count(b"PK\x06\x06") == 1 and struct.pack("<L", 0xFFFFFFFF) in data
    return data


def test_files_in_64_bits_are_read_by_us_and_by_numpy(long, tmp_path):
    path = tmp_path / "long.npz"
    path.write_bytes(long)
    for source in (path, long):
        assert np.array_equal(array(load(source, verify=True).counters), MADE.counters)
    with np.load(path, allow_pickle=False) as file:
        assert np.array_equal(file["beyond"], arrays()["beyond"]) and file["table"].shape == (16, 20)


@pytest.mark.parametrize("field", range(1, 10))
@pytest.mark.parametrize("change", [1, -1, 1 << 15, 1 << 31, (1 << 32) - 1])
def test_a_64_bit_record_that_says_anything_else_is_refused(long, field, change):
    """Only the versions of the programs that made and can read it mean nothing."""
    place = long.rindex(b"PK\x06\x06")
    facts = list(END64.unpack_from(long, place))
    width = 2 if field in (2, 3) else 4 if field in (4, 5) else 8
    facts[field] = (facts[field] + change) % (1 << 8 * width)
    data = long[:place] + END64.pack(*facts) + long[place + END64.size :]
    if field in (2, 3):
        assert load(data)
    else:
        refused(data)


def test_a_64_bit_directory_that_is_not_where_it_should_be_is_refused(long):
    place = long.rindex(b"PK\x06\x07")
    record, locator, end = long[place - END64.size : place], long[place : place + LOCATOR64.size], long[-END.size :]
    before = long[: place - END64.size]
    facts = list(LOCATOR64.unpack(locator))
    for field, value in ((1, 1), (2, 0), (2, facts[2] + 1), (2, (1 << 64) - 1), (3, 0), (3, 2)):
        other = [*facts[:field], value, *facts[field + 1 :]]
        refused(before + record + LOCATOR64.pack(*other) + end)
    refused(before + locator + end)
    refused(before + record + end)
    refused(before + record + b"\0" + locator + end)
    refused(before + record + record + LOCATOR64.pack(*facts[:2], facts[2] + END64.size, 1) + end)


@pytest.mark.thorough
@given(data=st.data())
@settings(max_examples=draws(60, 300))
def test_altered_bytes_are_refused_by_verifying_and_harmless_without(data, long):
    source = bytearray(data.draw(st.sampled_from([GOOD, long])))
    for _ in range(data.draw(st.integers(1, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] ^= data.draw(st.integers(1, 255))
    with suppress(ReleaseFileError), little_memory():
        opened = load(bytes(source), verify=True)
        assert isinstance(opened.counters, Narrow) and np.array_equal(array(opened.counters), MADE.counters)


@pytest.mark.thorough
@given(data=st.data())
@settings(max_examples=draws(60, 300))
def test_altered_bytes_of_a_mapped_file_never_lead_outside_it(data, long, path_to_alter):
    source = bytearray(data.draw(st.sampled_from([GOOD, long])))
    for _ in range(data.draw(st.integers(1, 4))):
        source[data.draw(st.integers(0, len(source) - 1))] ^= data.draw(st.integers(1, 255))
    path_to_alter.write_bytes(source)
    with suppress(ReleaseFileError), little_memory(64 * MEBIBYTE):
        opened = load(path_to_alter)
        assert opened.privacy == MADE.privacy and np.isfinite(opened.estimate(QUERY)).all()
        assert array(opened.counters).shape == MADE.counters.shape


@pytest.fixture(scope="module")
def path_to_alter(tmp_path_factory):
    return tmp_path_factory.mktemp("altered") / "large.npz"
