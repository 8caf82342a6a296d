"""Bounds that are bought from the command line."""

from __future__ import annotations

import pytest

from core import Ledger, load
from tests.cli.conftest import SMALL, refused

BOUGHT = ("--columns", "x,y", "--bounds", "y=0:10", "--private-bounds", "x=-1000:1000", *SMALL)


@pytest.mark.parametrize("delta", ["0", "1e-6"])
def test_bounds_and_table_together_spend_what_was_typed(command, source, ledger, delta):
    # Noise is real: with a tenth of this, a bound lay far out in one of a few dozen runs.
    options = ("--epsilon", "20", "--delta", delta, "--bounds-share", "0.25", "--out", "people.npz")
    result = command("release", source, *BOUGHT, *options)
    assert result.exit_code == 0, result.output
    assert "The bounds of 'x' are " in result.stderr
    release = load("people.npz")
    column = release.domain.columns[0]
    assert -100 < column.low < 4
    assert 7 < column.high < 100
    assert release.privacy.epsilon == 20
    status = Ledger(ledger).status("people")
    assert len(status.releases) == 1
    assert status.left == 0
    assert status.releases[0].note["parameters"] == release.sketch.parameters()


def test_too_few_records_leave_the_generous_range(command, source):
    result = command("release", source, *BOUGHT, "--epsilon", "0.0001", "--out", "people.npz")
    assert result.exit_code == 0, result.output
    assert "the whole range, as nothing narrower stood out of the noise" in result.stderr
    assert load("people.npz").domain.columns[0].low == -1000


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--bounds-share", "1"), "strictly between 0 and 1"),
        (("--bounds-share", "x"), "finite number"),
        (("--private-bounds", "x=0:1"), "each once"),
        (("--private-bounds", "0:1"), "column by column"),
        (("--private-bounds", "z=0:1"), "'z' is described but"),
        (("--private-bounds", "y=0:1"), "given twice"),
    ],
)
def test_what_cannot_be_bought(command, source, tmp_path, options, sentence):
    said = refused(command("release", source, *BOUGHT, *options, "--epsilon", "1", "--out", "people.npz"))
    assert sentence in said
    assert "nothing was spent" in said
    assert not (tmp_path / "people.npz").exists()


def test_what_must_be_known_before(command, source, released):
    options = ("release", source, "--private-bounds", "x=0:9", "--epsilon", "1", "--out", "people.npz")
    assert "--rows" in refused(command(*options, "--bounds", "y=0:10", "--bandwidth", "1"))
    assert "--like" in refused(command(*options, "--like", released))
    said = refused(command("release", source, "--bounds", "x=0:9", *SMALL, "--bounds-share", "0.2", *options[4:]))
    assert said.startswith("--bounds-share")
