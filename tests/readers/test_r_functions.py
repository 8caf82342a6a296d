"""The R functions read grids, tables and products as Python does. They need R and its package jsonlite, which most
machines that test this do not have: the tests are left out there, and say so."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import core
from core.analysis.product_sums import Sums
from tests.known_releases.make import FOLDER as KNOWN

FUNCTIONS = Path(core.__file__).parents[1] / "readers" / "r" / "frostglass.R"
RSCRIPT = shutil.which("Rscript")
HAS_JSONLITE = (
    RSCRIPT is not None
    and not subprocess.run(
        [RSCRIPT, "-e", "jsonlite::toJSON(1)"], capture_output=True, timeout=60, check=False
    ).returncode
)
pytestmark = pytest.mark.skipif(not HAS_JSONLITE, reason="needs Rscript and its package jsonlite")


def said_by_r(name: str, expression: str) -> object:
    code = f"source({json.dumps(str(FUNCTIONS))}); release <- read_release({json.dumps(str(KNOWN / name))})\n"
    code += f"cat(jsonlite::toJSON({expression}, digits = NA))"
    done = subprocess.run([RSCRIPT, "-e", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_sums_of_products_are_those_of_python():
    sums = Sums.of(release := core.load(KNOWN / "products-1.npz"))
    said = said_by_r("products-1.npz", "product_sums(release)")
    np.testing.assert_allclose(said["sums"], sums.sketch.matrix(np.asarray(release.counters)), rtol=1e-9)
    assert said["error"] == pytest.approx([sums.deviation], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "columns"), [("tables-1", (0, 2)), ("tables-1", (1,)), ("counted-1", (0, 2, 3)), ("counted-1", (1,))]
)
def test_tables_are_those_of_python(name, columns):
    release = core.load(KNOWN / f"{name}.npz")
    names = ", ".join(json.dumps(release.domain.names[place]) for place in columns)
    said = said_by_r(f"{name}.npz", f"table_counts(release, c({names}))")
    np.testing.assert_allclose(said, release.asked().reading.counts(columns), rtol=1e-9, atol=1e-9)


def test_a_grid_answers_as_python_does(tmp_path):
    release = core.load(KNOWN / "parts-3.npz").parts["age and pay"]
    release.save(tmp_path / "grid.npz")
    places = "data.frame(age = c(20, 60, 99), pay = c(1000, 4000, 0))"
    said = said_by_r(tmp_path / "grid.npz", f"grid_answers(release, {places})")
    expected = release.estimate({"age": [20.0, 60.0, 99.0], "pay": [1000.0, 4000.0, 0.0]})
    np.testing.assert_allclose([one["estimate"] for one in said], expected, rtol=1e-9)


def test_what_it_does_not_know_is_refused_in_a_sentence():
    asked = f"grid_answers(read_release({json.dumps(str(KNOWN / 'people-1.npz'))}), NULL)"
    code = f"source({json.dumps(str(FUNCTIONS))}); {asked}"
    done = subprocess.run([RSCRIPT, "-e", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode and "The release is no grid." in done.stderr
