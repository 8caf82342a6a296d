"""Release files from strangers: cut short, altered, crafted. Each gets one sentence, and no memory."""

import copy
import io
import json
import struct
import tracemalloc
import warnings
import zipfile
from contextlib import contextmanager, suppress
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import Budget, Domain, Release, ReleaseFileError, RequestError, load
from tests.depth import draws
from tests.releases_for_tests import (
    counted_release,
    manifest_in,
    members_of,
    npy,
    small_release,
    with_manifest,
    with_table,
    zipped,
)
from tests.tables_for_tests import LETTERS

GOOD = small_release().to_bytes()
GAUSSIAN = small_release(Budget(1, "1e-6")).to_bytes()
COUNTED = counted_release().to_bytes()
SHAPE = (16, 20)
MEBIBYTE = 1 << 20


@pytest.fixture(autouse=True, scope="module")
def imported():
    """What reading imports and compiles the first time is no memory that a file takes."""
    for data in (GOOD, GAUSSIAN, COUNTED):
        harmless(load(data))


def refused(data: bytes, words: str | None = None) -> None:
    with pytest.raises(ReleaseFileError, match=words) as caught:
        load(data)
    sentence = str(caught.value)
    assert sentence[0].isupper() and sentence.endswith(".") and len(sentence) < 2_000


@contextmanager
def little_memory(limit: int = 8 * MEBIBYTE):
    """Fails when what happens inside holds more than the limit at any moment."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit, f"{peak:,} bytes"


def changed(data: bytes = GOOD, **facts: object) -> bytes:
    """A file whose manifest says something else; a path is written with two underscores."""
    manifest = manifest_in(data)
    for path, fact in facts.items():
        *way, last = path.split("__")
        place = manifest
        for step in way:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = fact
    return with_manifest(data, manifest)


def test_the_pieces_put_together_again_are_a_release():
    """The tests below change one thing each of what this one leaves as it is."""
    assert load(with_table(changed(), load(GOOD).counters)).private


# What is no archive, or another one.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK",
        b"\x93NUMPY" + bytes(200),
        bytes(1000),
        b"PK\x05\x06" + bytes(18),
        GOOD[1:],
        GOOD + b"\0",
        b"\0" + GOOD,
    ],
    ids=range(8),
)
def test_other_bytes_are_no_release(data):
    refused(data)


def test_a_file_cut_short_anywhere_is_refused():
    for length in range(0, len(GOOD), 7):
        refused(GOOD[:length])


def test_an_archive_of_other_arrays_is_no_release():
    refused(zipped({"x.npy": npy(np.arange(3))}), "no release has")
    refused(zipped({"table.npy": npy(np.arange(3))}), "no manifest")
    refused(zipped({}), "no manifest")
    refused(zipped({"manifest.npy": npy(np.array("{}"))}), "not a release")
    refused(zipped({"manifest.npy": members_of(GOOD)["manifest.npy"]}), "no table")


@pytest.mark.thorough
def test_members_that_no_release_has_are_refused():
    refused(zipped(members_of(GOOD) | {"../../etc/passwd": b"x"}), "no release has|more than")
    refused(zipped(members_of(GOOD) | {"extra.npy": npy(np.arange(3))}), "no release has")
    refused(zipped({f"{i}.npy": b"" for i in range(draws(5_000, 60_000))}), "more than")
    assert zipfile.ZipFile(io.BytesIO(zipped(members_of(GOOD)))).testzip() is None


def test_two_members_of_one_name_are_refused():
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")
        for name in ("manifest.npy", "table.npy", "table.npy"):
            archive.writestr(name, members_of(GOOD)[name])
    refused(file.getvalue(), "two arrays")


def test_a_comment_and_64_bit_records_are_refused():
    file = io.BytesIO(GOOD)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"hello"
    refused(file.getvalue())

    start = GOOD.rindex(b"PK\x05\x06")
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 2, 2, 100, 1 << 60)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, start, 1)
    refused(GOOD[:start] + end64 + locator + GOOD[start:])
    # A locator that hides in the comment of the last member, where the directory seems to end as it should.
    file = io.BytesIO(GOOD)
    with zipfile.ZipFile(file, "a") as archive:
        archive.infolist()[-1].comment = locator
        archive._didModify = True
    refused(file.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing_are_refused(method):
    refused(zipped(members_of(GOOD), method), "packed")


def test_an_encrypted_member_is_refused():
    data = bytearray(GOOD)
    place = data.index(b"PK\x01\x02")
    data[place + 8] |= 1
    refused(bytes(data), "encrypted")


@given(flips=st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(1, 255)), min_size=1, max_size=6))
@settings(max_examples=draws(60, 400))
def test_altered_bytes_never_change_what_a_release_says(flips):
    data = bytearray(GOOD)
    for place, bits in flips:
        data[place] ^= bits
    with suppress(ReleaseFileError):
        opened = load(bytes(data))
        # Bytes that mean nothing, such as dates of members, may change; then nothing else has.
        assert opened.to_bytes() == GOOD


@given(st.data())
@settings(max_examples=draws(60, 300))
def test_pieces_of_archives_are_refused_or_harmless(data):
    sources = [GOOD, GAUSSIAN, zipped(members_of(GOOD), zipfile.ZIP_STORED)]
    pieces = []
    for _ in range(data.draw(st.integers(1, 4))):
        source = data.draw(st.sampled_from(sources))
        start = data.draw(st.integers(0, len(source)))
        pieces.append(source[start : data.draw(st.integers(start, len(source)))])
    with suppress(ReleaseFileError), little_memory():
        load(b"".join(pieces))


# Arrays that are not what a release has.


@pytest.mark.parametrize(
    "table",
    [
        np.zeros(SHAPE, dtype=object),
        np.zeros(SHAPE),
        np.zeros(SHAPE, dtype=complex),
        np.zeros(SHAPE, dtype="u4"),
        np.zeros(SHAPE, dtype=">i4"),
        np.zeros(SHAPE, dtype="M8[s]"),
        np.zeros(SHAPE, dtype="V8"),
        np.zeros(SHAPE, dtype=[("a", "i4")]),
        np.zeros(SHAPE, dtype="S4"),
        np.zeros(SHAPE, dtype="U4"),
        np.zeros(SHAPE, dtype=bool),
        np.asfortranarray(np.zeros(SHAPE, dtype="i4")),
        np.zeros((SHAPE[1], SHAPE[0]), dtype="i4"),
        np.zeros((SHAPE[0], SHAPE[1] - 1), dtype="i4"),
        np.zeros((SHAPE[0] + 1, SHAPE[1]), dtype="i4"),
        np.zeros((*SHAPE, 1), dtype="i4"),
        np.zeros(SHAPE[0] * SHAPE[1], dtype="i4"),
        np.zeros((0, SHAPE[1]), dtype="i4"),
        np.zeros((), dtype="i4"),
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00\xff\xff",
        b"not an array at all",
    ],
    ids=range(23),
)
def test_a_table_of_another_kind_is_refused(table):
    refused(with_table(GOOD, table))


def header(text: bytes, version: tuple[int, int] = (1, 0)) -> bytes:
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<L", len(text)) + text


@pytest.mark.parametrize(
    "opening",
    [
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (16, 20), }\n", (2, 0)),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (16, 20), }\n", (3, 0)),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (16, 20), }" + b" " * 60_000 + b"\n"),
        header(b"(" * 500 + b"\n"),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (-16, -20), }\n"),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (16.0, 20), }\n"),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999, 20), }\n"),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (1000000000, 1000000000, 1000000000), }\n"),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (16, 21), }\n"),
        header(b"{'descr': '<i3', 'fortran_order': False, 'shape': (16, 20), }\n"),
        header(b"{'descr': '<i4', 'fortran_order': False, 'shape': (16, 20), 'more': 1, }\n"),
        header(b"{'descr': __import__('os').abort(), 'fortran_order': False, 'shape': (16, 20), }\n"),
    ],
    ids=range(12),
)
def test_a_header_of_another_kind_is_refused(opening):
    with little_memory():
        refused(with_table(GOOD, opening + bytes(16 * 20 * 4)))


@pytest.mark.thorough
@given(st.data())
@settings(max_examples=draws(60, 300))
def test_altered_arrays_are_refused_or_harmless(data):
    """The same as altered bytes, but with checksums that fit, so that the arrays themselves are what is judged."""
    members = members_of(COUNTED)
    name = data.draw(st.sampled_from(sorted(members)))
    content = bytearray(members[name])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, min(len(content), 400) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.one_of(st.none(), st.integers(0, len(content))))])
    with suppress(ReleaseFileError), little_memory():
        harmless(load(zipped(members | {name: content})))


def bomb(declared: tuple[int, int], kind: str = "|i1") -> bytes:
    """A file of a few kilobytes with an honest header and as many zeros as deflate packs into it."""
    opening = header(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {declared}, }}\n".encode())
    size = int(np.dtype(kind).itemsize) * declared[0] * declared[1]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.npy", members_of(GOOD)["manifest.npy"])
        with archive.open("table.npy", "w", force_zip64=True) as stream:
            stream.write(opening)
            for start in range(0, size, MEBIBYTE):
                stream.write(bytes(min(MEBIBYTE, size - start)))
    return file.getvalue()


@pytest.mark.thorough
def test_a_bomb_is_refused_before_it_goes_off():
    data = bomb((1_000, 64_000))
    assert len(data) < 100_000
    with little_memory():
        refused(data, "unpack to")


def test_a_length_that_no_file_of_its_size_unpacks_to_is_refused():
    data = bytearray(GOOD)
    place = data.rindex(b"PK\x01\x02")  # the last member's entry in the directory: sizes at 20 and 24
    struct.pack_into("<L", data, place + 24, 0xFFFFFFF0)
    with little_memory():
        refused(bytes(data), "unpacks to more")


@pytest.mark.thorough
def test_a_manifest_beyond_the_limit_is_refused():
    data = with_manifest(GOOD, " " * 8_000_001)
    with little_memory():
        refused(data, "longer than 8,000,000")


def test_a_manifest_that_is_no_text_is_refused():
    for array in (np.array(["{}"]), np.array(7), np.array("{}").astype("S"), np.array([["{}"]])):
        refused(zipped(members_of(GOOD) | {"manifest.npy": npy(array)}))
    impossible = npy(np.array("{}")).replace("{}".encode("utf-32-le"), b"\xff\xff\xff\xff" * 2)
    refused(zipped(members_of(GOOD) | {"manifest.npy": impossible}), "not a text")


# Manifests that are not what they should be.


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "[" * 100_000,
        '{"a":' * 100_000,
        json.dumps(manifest_in(GOOD)).replace('"created"', '"private": true, "created"'),
        json.dumps(manifest_in(GOOD)).replace("100.0", "NaN"),
        json.dumps(manifest_in(GOOD)).replace("100.0", "1e999"),
        json.dumps(manifest_in(GOOD)).replace("100.0", "9223372036854775808"),
        json.dumps(manifest_in(GOOD)).replace("100.0", "1" * 5_000),
    ],
    ids=range(11),
)
def test_json_of_another_kind_is_refused(text):
    refused(with_manifest(GOOD, text), "manifest|not a release")


def test_a_newer_format_says_that_it_is_newer():
    refused(changed(format_version=5), "newer version")
    refused(changed(format_version=5, novelty={"a": 1}), "newer version")
    for version in (0, -1, "1", True, 1.0, None, []):
        refused(changed(format_version=version), "no version")


def test_an_unknown_mechanism_says_so():
    for mechanism in ("wizardry", "", "Race", None, 7, ["race"], {"race": 1}):
        refused(changed(mechanism=mechanism), "mechanism")


def test_fields_that_are_missing_or_too_many_are_refused():
    manifest = manifest_in(GOOD)
    for field in manifest:
        refused(with_manifest(GOOD, {key: value for key, value in manifest.items() if key != field}))
    refused(changed(exact_count=412), "no others")
    refused(changed(privacy__noise_seed=5), "no others")


@pytest.mark.few(33)
@pytest.mark.parametrize(
    "facts",
    [
        {"private": 1},
        {"private": "true"},
        {"created": "yesterday"},
        {"created": "2026-11-20T10:00:00"},
        {"created": 5},
        {"created": "2026-11-20T10:00:00+00:00" + " " * 2000},
        {"software": ""},
        {"software": None},
        {"software": "x" * 2000},
        {"software": "\ud800"},
        {"parameters__rows": 17},
        {"parameters__rows": None},
        {"parameters__rows": 0},
        {"parameters__rows": -16},
        {"parameters__rows": 16.0},
        {"parameters__rows": True},
        {"parameters__width": 19},
        {"parameters__width": 1 << 40},
        {"parameters__groups": 1 << 40},
        {"parameters__groups": 17},
        {"parameters__seed": 7},
        {"parameters__seed": "7"},
        {"parameters__seed": "٣" * 32},
        {"parameters__kernel": None},
        {"parameters__kernel__name": "gravity"},
        {"parameters__kernel__name": ["euclidean"]},
        {"parameters__kernel__bandwidth": 0},
        {"parameters__kernel__bandwidth": [1.0] * 3},
        {"parameters__kernel__bandwidth": [[1.0]]},
        {"parameters__kernel__power": 1_000},
        {"domain__columns": []},
        {"domain__columns": {}},
        {"domain__columns__0__low": 100.0},
        {"domain__columns__0__low": "0"},
        {"domain__columns__0__name": "city"},
        {"domain__columns__1__categories": ["Bern"]},
        {"domain__columns__1__categories": ["Bern", "Bern"]},
        {"domain__columns__1__categories": "Bern"},
        {"domain__unit": {"column": "person", "records": 3}},
        {"domain__unit__records": 3},
        {"privacy__unit__column": "person"},
        {"privacy__epsilon": "0"},
        {"privacy__epsilon": "1e99999999"},
        {"privacy__epsilon": 1},
        {"privacy__epsilon": "0.5"},
        {"privacy__delta": "0.5"},
        {"privacy__delta": "0.000001"},
        {"privacy__neighbours": "replace_one"},
        {"privacy__neighbours": "friends"},
        {"privacy__rho": "1e999999999"},
        {"privacy__rho": "1/0"},
        {"privacy__rho": "1/33"},
        {"privacy__noise": []},
        {"privacy__noise": None},
        {"privacy__noise__0__parameter": "15"},
        {"privacy__noise__0__parameter": "1" * 190},
        {"privacy__noise__0__parameter": "0"},
        {"privacy__noise__0__parameter": "-16"},
        {"privacy__noise__0__distribution": "discrete_gaussian"},
        {"privacy__noise__0__distribution": "uniform"},
        {"privacy__count_noise": [{"distribution": "discrete_laplace", "parameter": "100"}]},
        {"privacy__overlap_epsilon": "0.5"},
        {"privacy__overlap_epsilon": "2"},
        {"privacy__overlap_epsilon": "1e9999999999"},
        {"privacy__overlap_delta": "-1"},
        {"privacy__overlap_delta": "sNaN"},
    ],
    ids=lambda facts: next(iter(facts)),
)
def test_facts_of_another_kind_or_that_contradict_each_other_are_refused(facts):
    with little_memory():
        refused(changed(**facts))


def test_noise_that_does_not_keep_a_gaussian_promise_is_refused():
    sigma2 = manifest_in(GAUSSIAN)["privacy"]["noise"][0]["parameter"]
    assert load(changed(GAUSSIAN, privacy__noise__0__parameter=sigma2))
    for parameter in ("1", "1/1000000", str(Fraction(sigma2) * Fraction(99, 100))):
        refused(changed(GAUSSIAN, privacy__noise__0__parameter=parameter), "does not keep")
    refused(changed(GAUSSIAN, privacy__epsilon="0.99", privacy__overlap_epsilon="0.99"), "does not keep")
    refused(changed(GAUSSIAN, privacy__delta="0", privacy__overlap_delta="0"), "does not keep")


def test_a_count_that_nothing_hides_is_refused():
    members = members_of(GOOD)
    for count in (np.array(412), np.array([412]), np.array(412.0)):
        refused(zipped(members | {"count.npy": npy(count)}))
    counted = members_of(COUNTED)
    assert load(zipped(counted)).counted is not None
    refused(zipped({name: content for name, content in counted.items() if name != "count.npy"}), "count")
    for count in (np.array([412]), np.array(412.0), np.array("412"), np.array(True), np.array(None)):
        refused(zipped(counted | {"count.npy": npy(count)}))


@pytest.mark.parametrize(
    "parameters, columns",
    [
        ({"rows": 1_000_000, "groups": 1_000, "width": 2}, 1_000),
        ({"rows": 1_000_000, "width": 2}, 100_000),
        ({"rows": 100_000, "width": 2, "kernel": {"name": "euclidean", "bandwidth": 1.0, "power": 32}}, 100),
        ({"rows": 100_000, "width": 2, "kernel": {"name": "laplacian", "bandwidth": 1.0, "power": 1}}, 1_000),
    ],
)
def test_sketches_that_need_too_much_memory_are_refused_before_hashes_are_drawn(parameters, columns):
    vector = {"kind": "vector", "name": "v", "length": columns, "low": 0.0, "high": 1.0, "unit": ""}
    manifest = manifest_in(GOOD)
    manifest["domain"]["columns"] = [vector]
    manifest["parameters"] |= parameters
    honest = np.zeros((parameters["rows"], 2), dtype=np.int8)
    data = with_table(with_manifest(GOOD, manifest), honest)
    with little_memory():
        refused(data, "bytes of memory to open|more than")


@pytest.mark.thorough
def test_kernels_of_many_kernels_are_refused():
    kernel = {"name": "euclidean", "bandwidth": 1.0, "power": 1}
    for _ in range(4):
        kernel = {"name": "product", "parts": [kernel] * 16}
    refused(changed(parameters__kernel=kernel), "kernels")


def test_what_a_reader_allows_decides():
    with pytest.raises(ReleaseFileError, match="1,000 are allowed"):
        load(COUNTED, memory=1_000)
    assert load(COUNTED, memory=10 * MEBIBYTE)


# Anything at all, in JSON.

NUMBERS = st.one_of(
    st.sampled_from([0, 1, -1, 2, 16, 20, 2**31, 2**62, -(2**63), 2**63, 10**30, 0.5, 1e-300, 1e300, -1e308, 1e308]),
    st.integers(),
    st.floats(),
)
TEXTS = st.one_of(
    st.sampled_from(["", "0", "1", "-1", "1/2", "1/0", "NaN", "Infinity", "1e999999999", "0." + "1" * 40, "²", "\0"]),
    st.text(LETTERS, max_size=20),
)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inside: st.one_of(st.lists(inside, max_size=4), st.dictionaries(TEXTS, inside, max_size=4)),
    max_leaves=6,
)


def places(value: object, way: tuple = ()) -> list[tuple]:
    """The ways to every part of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way] * bool(way) + [place for key, part in inside for place in places(part, (*way, key))]


def harmless(release: Release) -> None:
    """Whatever was opened can be used like any release; a request may still be refused in words."""
    with suppress(RequestError):
        low, high = release.domain.bounds(release.sketch.metric)
        answers = release.answer_points(np.asfortranarray(np.stack([low, high, (low + high) / 2])))
        assert np.isfinite(answers.estimate).all()
    assert np.isfinite([release.records, release.records_error]).all()
    assert load(release.to_bytes(teaching=True)).counters.shape == release.counters.shape


@given(st.data())
@settings(max_examples=draws(60, 600))
def test_altered_manifests_are_refused_or_harmless(data):
    source = data.draw(st.sampled_from([GOOD, GAUSSIAN]))
    manifest = copy.deepcopy(manifest_in(source))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(places(manifest)))
        part = manifest
        for step in way:
            part = part[step]
        match data.draw(st.sampled_from(["replace", "replace", "replace", "remove", "repeat"])):
            case "replace":
                part[last] = data.draw(ANYTHING)
            case "remove":
                del part[last]
            case "repeat" if isinstance(part, list):
                part.extend([part[last]] * data.draw(st.integers(1, 20)))
            case _:
                part["again"] = part.get(last)
    with suppress(ReleaseFileError), little_memory(64 * MEBIBYTE):
        harmless(load(with_manifest(source, manifest)))


@given(st.dictionaries(st.sampled_from([*manifest_in(GOOD), "more"]), ANYTHING))
def test_manifests_of_anything_are_refused(facts):
    refused(with_manifest(GOOD, {"format": "frostglass-release", "format_version": 1} | facts))


def test_the_limits_are_what_the_files_of_large_releases_need():
    """The widest manifest that a release may have is within the limit."""
    from core.releases.manifest import MAX_MANIFEST

    letters = ["\x01" * 999 + chr(200 + i) for i in range(990)]  # JSON writes each of these with six characters
    wordy = Domain.of(text=letters)
    assert len(json.dumps(wordy.to_dict(), ensure_ascii=False)) < MAX_MANIFEST
    with pytest.raises(RequestError, match="1,000,000 characters"):
        Domain.of(text=letters, more=letters)
