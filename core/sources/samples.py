"""The bundled sample data: small, public or made up, and safe to show as it is.

They are the only data whose exact density is ever drawn beside a private one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..domain import Categorical, Domain
from ..domain.columns import column_from_dict
from ..errors import RequestError
from ..geometry.kernels import Kernel, kernel_from_dict
from ..privacy.neighbours import EACH_RECORD, PrivacyUnit
from ..runtime.environment import APP

FOLDER = APP / "sample_data"
RELEASES = FOLDER / "releases"  # Released files, named like their samples; of those samples that have a column to draw.
# Answers of these files that take long, worked out before; named by the first 16 digits of a file's SHA-256.
ANSWERS = FOLDER / "answers"

NUMBER = {"kind": "numeric", "unit": ""}  # What a column is that the catalogue says nothing else of.


@dataclass(frozen=True)
class Sample:
    """One bundled data set with what is publicly known about it."""

    name: str  # Short name, of letters only.
    title: str
    story: str
    path: Path
    # Columns with bounds and categories, and who one person is; the column of classes is not among them.
    domain: Domain
    kernel: Kernel  # suits the domain
    label: Categorical | None  # The column of classes, if there is one.
    show: tuple[str, ...]  # The one or two columns to look at first.
    # Round public guesses to forecast with: the number of records that a release keeps, and the average closeness of
    # two of them under the kernel.
    records_guess: int
    density_guess: float
    # For columns of vectors, what no vector is longer than, by the column's name.
    longest: Mapping[str, float] = field(default_factory=dict)
    source: str = ""  # Where real records are from, and under which licence; empty where they are made up.
    release: str = "race"  # Name of the mechanism that its released file was made with.

    @property
    def told(self) -> str:
        """The story with where the records are from."""
        return f"{self.story} {self.source or 'Made up'}."


@cache
def samples() -> tuple[Sample, ...]:
    """All samples, in the order of the catalogue; none where the library was installed without them."""
    catalogue = FOLDER / "catalogue.toml"
    if not catalogue.is_file():
        return ()
    return tuple(map(_sample, tomllib.loads(catalogue.read_text(encoding="utf-8"))["sample"]))


def sample(name: str) -> Sample:
    """The sample of a name; RequestError where there is none."""
    for one in samples():
        if one.name == name:
            return one
    known = ", ".join(one.name for one in samples()) or "none, as the sample data is not installed"
    raise RequestError(f"There is no sample {name!r}; there are: {known}.")


def bundled_releases() -> tuple[tuple[Sample, Path], ...]:
    """Samples with the released file that comes with each, where there is one; in the order of the catalogue."""
    files = ((one, RELEASES / f"{one.name}.npz") for one in samples())
    return tuple((one, path) for one, path in files if path.is_file())


def bundled_groups() -> tuple[tuple[Sample, Path], ...]:
    """Samples with a column of classes and the released file that tells these apart, where there is one."""
    files = ((one, RELEASES / f"{one.name}-groups.npz") for one in samples() if one.label is not None)
    return tuple((one, path) for one, path in files if path.is_file())


def bundled_distances() -> tuple[tuple[Sample, Path], ...]:
    """Samples with the released file of average distances that comes with each, where there is one."""
    files = ((one, RELEASES / f"{one.name}-distance.npz") for one in samples())
    return tuple((one, path) for one, path in files if path.is_file())


def _sample(entry: dict) -> Sample:
    person = entry.get("person")
    label = entry.get("label")
    domain = Domain(
        tuple(map(_column, entry["columns"])),
        unit=EACH_RECORD if person is None else PrivacyUnit(**person),
        scale=entry.get("scale", "none"),
        category_distance=entry.get("category_distance", 1.0),
        record=entry["record"],
        outside=entry.get("outside", "clamp"),
    )
    return Sample(
        entry["name"],
        entry["title"],
        entry["story"],
        FOLDER / entry["file"],
        domain,
        kernel_from_dict(entry["kernel"]),
        None if label is None else _column(label),
        tuple(entry["show"]),
        entry["records_guess"],
        entry["density_guess"],
        {column["name"]: column["longest"] for column in entry["columns"] if "longest" in column},
        entry.get("source", ""),
        entry.get("release", "race"),
    )


def _column(entry: dict):
    if "longest" in entry:
        entry = {key: value for key, value in entry.items() if key != "longest"} | {
            "kind": "vector",
            "low": -entry["longest"],
            "high": entry["longest"],
            "unit": "",
        }
    kind = {} if "kind" in entry else {"kind": "categorical"} if "categories" in entry else NUMBER
    return column_from_dict(kind | entry)
