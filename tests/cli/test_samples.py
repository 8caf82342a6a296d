"""The commands on the bundled samples, with one bandwidth a column."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest

from core import load
from core.domain.declarations import Declaration
from core.sources.public_tables import Sample, sample, samples
from tests.cli.conftest import refused
from tests.depth import sampled

NARROW = 200


def declared(one: Sample) -> list[str]:
    """A sample's public facts as a declaration, and its kernel as options."""
    Path("declared.yaml").write_text(Declaration(one.domain).text(), encoding="utf-8")
    options, kernel = ["--declaration", "declared.yaml"], one.kernel.to_dict()
    if "bandwidth" in kernel:
        width, names = kernel["bandwidth"], one.domain.names
        by_column = width if isinstance(width, list) else [width] * len(names)
        options += ["--bandwidth", ",".join(f"{name}={of}" for name, of in zip(names, by_column, strict=True))]
    if kernel["name"] != "gaussian":  # which no hashes of a width have
        options += ["--width", str(NARROW)]
    return [*options, "--kernel", kernel["name"], "--power", str(kernel["power"]), "--rows", "60"]


TABLES = [one for one in samples() if all(column.kind != "vector" for column in one.domain.columns)]
"""Places among vectors do not fit into the CSV files that this test asks with."""


@pytest.mark.deep
@pytest.mark.parametrize("name", sampled([one.name for one in TABLES], "city"))
def test_every_sample_is_released_and_asked(command, name, tmp_path):
    one = sample(name)
    result = command("release", one.path, *declared(one), "--epsilon", "2", "--delta", "1e-6", "--out", "sample.npz")
    assert result.exit_code == 0, result.output
    release = load("sample.npz")
    assert [(c.name, c.kind) for c in release.domain.columns] == [(c.name, c.kind) for c in one.domain.columns]
    assert release.domain.unit == one.domain.unit
    assert release.domain.scale == one.domain.scale
    lowest, _ = release.domain.bounds(release.sketch.metric)
    release.domain.decode_points(lowest[None, :], release.sketch.metric).to_csv(tmp_path / "places.csv", index=False)
    answers = pd.read_csv(io.StringIO(command("query", "sample.npz", "places.csv").stdout))
    assert list(answers) == [*one.domain.names, "estimate", "low", "high", "density"]
    assert json.loads(command("inspect", "sample.npz", "--json").stdout)["domain"] == release.domain.to_dict()
    assert command("forecast", "--records", "20000", *declared(one), "--epsilon", "2", "--json").exit_code == 0
    again = ("release", one.path, *declared(one), "--epsilon", "2", "--out", "again.npz")
    refused(command(*again), code=3)
