"""What a page is opened with: what its script decodes tables from, the first picture, and that names stay text."""

import json
import subprocess

import numpy as np
import pytest

from core import Budget, Categorical, Domain, Numeric
from core.domain import Cyclic, Ordered
from core.figures.share.shared_page import FOLDER, READER, share_html
from core.figures.share.shared_pictures import table_facts
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.job import release
from core.releases.release import load
from core.releases.seal import seal
from core.sketches.race import Race
from core.sketches.tables.tables import Tables
from tests.figures.explorations import HOSTILE, report_of
from tests.figures.share.test_shared_page import NODE, Reader, payload_of
from tests.known_releases.make import FOLDER as KNOWN
from tests.tables_for_tests import COLUMNS, inhabitants, table_release


@pytest.fixture(scope="module")
def made():
    return release(Tables.of(Domain(COLUMNS)), inhabitants(4_000), Budget(4, "1e-6"), noise_source=SeededSource(1))


@pytest.mark.thorough
def test_a_page_of_tables_says_all_that_its_script_needs_to_decode_them(made):
    written = report_of(made)
    (facts,) = payload_of(written)["subjects"]
    axes = made.sketch.axes
    assert facts["kind"] == "tables" and [one["name"] for one in facts["axes"]] == [axis.name for axis in axes]
    for one, axis in zip(facts["axes"], axes, strict=True):
        assert len(one["words"]) == axis.cells
    assert not payload_of(written)["stills"] and Reader(written).values("id").count("explore") == 1
    assert "hold the exact number in 95 of 100 cases" in Reader(written).text


@pytest.mark.thorough
def test_a_map_has_the_coasts_inside_its_box():
    made = table_release(places=True)
    facts = table_facts(made)
    longitude, latitude = (made.sketch.axes[place] for place in facts["map"]["columns"])
    assert (longitude.name, latitude.name) == ("lon", "lat")
    places = np.vstack(facts["map"]["lines"])
    for place, axis in zip(places.T, (longitude, latitude), strict=True):
        aside = 0.06 * (axis.high - axis.low)
        assert len(place) > 10 and axis.low - aside <= place.min() and place.max() <= axis.high + aside


def test_hostile_names_stay_text_and_nothing_runs():
    domain = Domain((Numeric(HOSTILE, 0, 10), Categorical("c", ("<b>x", "y&", "z"))))
    random = np.random.default_rng(3)
    data = {HOSTILE: random.uniform(0, 10, 500), "c": random.choice(["<b>x", "y&", "z"], 500)}
    made = release(Tables.of(domain, 5), data, Budget(2))
    page = Reader(report_of(load(made.to_bytes())))
    tags = {tag[0] for tag in page.structure if isinstance(tag, tuple)}
    assert not tags & {"b", "img", "iframe"} and "<b>x" in page.text


OPENED = """import { readFileSync } from "node:fs";
const [{ Live }, { unpackedAnswers }, { openRelease }] =
  await Promise.all(process.argv.slice(1).map((path) => import(path)));
const found = await Promise.all(JSON.parse(readFileSync(0)).map(async ([file, facts, opening]) => {
  const live = new Live(facts, await openRelease(new Uint8Array(readFileSync(file))));
  const [x, y] = opening.columns;
  live.bring(x, y, unpackedAnswers(opening));
  const window = live.whole(x, y);
  const others = [new Live({ ...live }, live.own).brought(x, y, window, {}), live.brought(x, y, window, { 0: 0 }),
    live.brought(y, x, live.whole(y, x), {}), live.brought(x, y, { ...window, x: [0, 1e-3] }, {})];
  const own = live.strip(live.laid(x, y, window, [...opening.shape].reverse()), {});
  const numbers = (one) => ["est", "low", "high", "error"].map((name) => Array.from(one[name]));
  return [numbers(own), numbers(live.brought(x, y, window, {})), others];
}));
console.log(JSON.stringify(found));
"""
# Grids, distances that hold columns, waves, a map of the earth; and a RACE that averages over the rest.
OPENING_FILES = ("circles-1", "distance-1", "earth-1", "features-1", "histogram-1", "large-2", "moments-1", "people-1")


def test_the_picture_that_a_page_opens_with_is_what_its_decoder_answers(tmp_path):
    rest = Ordered("grade", tuple("abc"), (0.0, 1.0, 3.0)), Cyclic("day", tuple("mtwtfss"[:3])), Numeric("z", -1.0, 1.0)
    domain = Domain((Numeric("x", 0.0, 9.0), Categorical("kind", tuple("ab")), *rest), scale="box")
    table = (sketch := Race(domain, kernels.Euclidean(0.6, power=2), rows=12, width=64)).zeros()
    sketch.add(table, np.asfortranarray(np.random.default_rng(1).random((300, domain.dimensions))))
    made = seal(sketch, ExactTable(table, 300), Budget(1))
    made.save(tmp_path / "race.npz")
    asked = []
    for path in (tmp_path / "race.npz", *(KNOWN / f"{name}.npz" for name in OPENING_FILES)):
        payload = payload_of(share_html(load(path), path.read_bytes(), path.name))
        asked.append([str(path), payload["subjects"][0], payload["opening"]])
    modules = [str(FOLDER / "live.js"), str(FOLDER / "bytes.js"), str(READER / "release.js")]
    command = [NODE, "--input-type=module", "-e", OPENED, *modules]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, timeout=120, check=True)
    for own, brought, others in json.loads(done.stdout):
        assert others == [None] * 4
        np.testing.assert_allclose(brought, own, rtol=1e-9, atol=1e-9 * np.abs(own[0]).max())


def test_a_page_opens_with_no_picture_of_dates_or_of_a_grid_that_is_averaged():
    for name in ("calendar-1", "midnight-1"):
        path = KNOWN / f"{name}.npz"
        assert payload_of(share_html(load(path), path.read_bytes(), path.name))["opening"] is None
