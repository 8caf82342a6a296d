"""Small releases with real noise, made from arrays, and release files put together by hand."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np

from core import Budget, Domain, Race, Release
from core.geometry import kernels
from core.releases.engine.building import ExactTable
from core.releases.seal import seal

SEED = 0x0123456789ABCDEF0123456789ABCDEF


def small_release(
    budget=None, *, domain=None, kernel=None, noise_source=None, rows=16, width=20, records=400
) -> Release:
    """A release of records drawn evenly from the domain's box, categories included."""
    domain = domain or Domain.of(age=(0, 100), city=["Bern", "Basel"])
    kernel = kernel or kernels.Euclidean(bandwidth=10.0)
    sketch = Race(domain, kernel, rows=rows, width=width, seed=SEED)
    random = np.random.default_rng(5)
    low, high = domain.bounds(sketch.metric)
    points = np.asfortranarray(low + (high - low) * random.random((records, domain.dimensions)))
    table = sketch.zeros()
    sketch.add(table, points)
    return seal(sketch, ExactTable(table, records), budget or Budget(epsilon=1), noise_source=noise_source)


def counted_release(budget=None) -> Release:
    """A release so wide that a count of records of its own is worth its share of the budget."""
    return small_release(budget, kernel=kernels.Euclidean(bandwidth=0.05), rows=16, width=2000)


def manifest_in(data: bytes) -> dict:
    """The manifest of a release file, read with NumPy alone."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return json.loads(str(arrays["manifest"]))


def members_of(data: bytes) -> dict[str, bytes]:
    """The .npy members of a release file, by name, unpacked."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def npy(array: object) -> bytes:
    """An array as NumPy writes it, pickles and all."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A plain zip archive of the members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def with_manifest(data: bytes, manifest: object) -> bytes:
    """The release file with another manifest: a text, or a value that is written as JSON."""
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    return zipped(members_of(data) | {"manifest.npy": npy(np.array(text))})


def with_table(data: bytes, table: object) -> bytes:
    """The release file with another table, an array or the bytes of a member."""
    return zipped(members_of(data) | {"table.npy": table if isinstance(table, bytes) else npy(table)})
