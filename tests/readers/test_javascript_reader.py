"""The JavaScript reader answers as Python does, to nine digits, for every file that was ever handed out."""

import io
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path

import numpy as np
import playwright
import pytest

import core
from core.analysis.product_sums import Sums
from core.domain import Categorical, Coordinate, Cyclic, Dates, Domain, Numeric, Ordered
from core.geometry import kernels
from core.models.linear_models import LinearModel, NumberModel, load_model
from core.models.training_task import Task
from core.releases.comparison import Comparison
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.features import Features
from core.sketches.histogram import Histogram
from core.sketches.race import Race
from core.sources.public_tables import FOLDER as SAMPLES
from tests.depth import sampled
from tests.known_releases.make import FOLDER as KNOWN
from tests.known_releases.make import queries_of
from tests.releases_for_tests import small_release
from tests.tables_for_tests import table_release

NODE = Path(playwright.__file__).parent / "driver" / "node"
READER = Path(core.__file__).parents[1] / "readers" / "javascript"
ASK = Path(__file__).parent / "ask.mjs"
# Not decoded, with the reason; of everything else that was ever handed out the answers are compared.
OF_A_PAPER = "the mechanism of another paper, which takes part in comparisons alone"
NOT_DECODED = dict.fromkeys(
    (
        *("boxes", "convex", "cosines", "embedding", "flat", "fourier", "functional"),
        *("lattice", "marginals", "network", "rounds"),
    ),
    OF_A_PAPER,
)
# Asked by tables, as tests/figures/share/test_tables_in_javascript.py does, by sums of products, and by records.
NOT_BY_PLACES = {"counted", "permutation", "products", "stepped", "tables"}
SLOW = {"city", "towns", "stars", "colours", "visits", "flights"}  # Of the samples: seconds each on a noisy machine.
BY_PLACES = sorted(path for path in KNOWN.glob("*.npz") if path.stem[:-2] not in (*NOT_DECODED, *NOT_BY_PLACES))


def ask(*questions: dict) -> list[dict]:
    """What the reader says to questions, each about a file."""
    lines = "\n".join(json.dumps({**one, "file": str(one["file"])}) for one in questions)
    command = [str(NODE), str(ASK), str(READER / "index.js")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def places(release: core.Release) -> dict:
    """Seven places in the box and one outside it, as far as the columns may say one."""
    queries = queries_of(release.sketch.query_domain)
    try:
        release.answer(queries)
    except core.RequestError:  # twice as far north as there is any latitude
        queries = {name: values[:-1] for name, values in queries.items()}
    return queries


def questions(path: Path) -> list[tuple[dict, core.Release]]:
    """A question for each population of a file, with the release that Python asks."""
    release = core.load(path)
    found = []
    for name, part in (release.parts or {"": release}).items():
        for group in ("", *part.sketch.classes[:3]):
            asked = part.of_class(group) if group else part
            queries = {name: [plain(one) for one in values] for name, values in places(asked).items()}
            found.append(({"file": path, "part": name, "group": group, "queries": queries}, asked))
    return found


@cache
def everything(files: tuple[Path, ...]) -> dict[Path, list[tuple[dict, dict, core.Release]]]:
    """All questions to some files, asked by one process."""
    asked = [one for path in files for one in questions(path)]
    said = ask(*(question for question, _ in asked))
    found = {}
    for (question, release), answers in zip(asked, said, strict=True):
        found.setdefault(question["file"], []).append((question, answers, release))
    return found


def numbers(values: list) -> np.ndarray:
    return np.array([float(value) for value in values])


def compare(question: dict, said: dict, release: core.Release) -> None:
    assert "refused" not in said, said
    answers = release.answer(question["queries"])
    largest = np.abs(answers.estimate).max()
    for name, theirs in (
        ("estimate", "estimate"),
        ("standard_error", "standardError"),
        ("low", "low"),
        ("high", "high"),
    ):
        np.testing.assert_allclose(numbers(said[theirs]), getattr(answers, name), rtol=1e-9, atol=1e-9 * largest)
    np.testing.assert_allclose(
        numbers(said["density"]), answers.density, rtol=1e-9, atol=1e-9 * np.abs(answers.density).max()
    )
    assert said["records"] == pytest.approx(release.records, rel=1e-9)
    assert float(said["error"]) == pytest.approx(release.records_error, rel=1e-9)


@pytest.mark.few(8)
@pytest.mark.parametrize("path", BY_PLACES, ids=lambda path: path.stem)
def test_answers_are_those_of_python_to_nine_digits(path):
    for question, said, release in everything(tuple(BY_PLACES))[path]:
        compare(question, said, release)


FILES = sorted((SAMPLES / "releases").glob("*.npz"))
QUICK = tuple(path for path in FILES if path.stem.split("-")[0] not in SLOW)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", sampled([path.stem for path in FILES], *[path.stem for path in QUICK]))
def test_answers_about_bundled_samples_are_those_of_python(name):
    path = SAMPLES / "releases" / f"{name}.npz"
    for question, said, release in everything(QUICK if path in QUICK else (path,))[path]:
        compare(question, said, release)


def test_what_is_not_decoded_is_named_with_its_reason():
    stems = {path.name.split(".")[0].rpartition("-")[0] for path in KNOWN.iterdir() if path.suffix in (".npz", ".json")}
    decoded = {path.stem.rpartition("-")[0] for path in BY_PLACES} | NOT_BY_PLACES
    assert decoded | set(NOT_DECODED) == stems and not decoded & set(NOT_DECODED)


def test_a_mechanism_that_is_not_known_is_refused_in_a_sentence():
    said = ask(*({"file": next(KNOWN.glob(f"{name}-*.npz"))} for name in NOT_DECODED))
    sentence = "The release is of a mechanism that this reader cannot ask: open it with Frostglass."
    assert said == [{"refused": sentence}] * len(NOT_DECODED)


@pytest.mark.thorough
def test_an_encoded_column_is_asked_by_what_it_reads_as_python_asks_it():
    path, random = KNOWN / "encoded-1.npz", np.random.default_rng(5)
    queries = {
        "v": random.uniform(-1.5, 1.5, (6, 3)).tolist(),
        "t": random.uniform(-0.5, 2.5, 6).tolist(),
        "kind": ["a", "b"] * 3,
    }
    (said,) = ask({"file": path, "queries": queries})
    compare({"queries": queries}, said, core.load(path))
    del queries["t"]
    (said,) = ask({"file": path, "queries": queries})
    assert said == {"refused": 'The question says nothing about the column "t".'}


def test_sums_of_products_are_those_of_python_to_nine_digits():
    path = KNOWN / "products-1.npz"
    (said,), sums = ask({"file": path, "sums": True}), Sums.of(core.load(path))
    np.testing.assert_allclose(np.array(said["matrix"], float), sums.matrix, rtol=1e-9)
    assert said["deviation"] == pytest.approx(sums.deviation, rel=1e-9)
    assert said["names"] == [["", ""], *([one.column, one.category] for one in sums.terms[1:])]


def test_a_grid_is_read_with_another_bandwidth_as_python_reads_it():
    path = SAMPLES / "releases" / "health.npz"
    release = core.load(path)
    queries, bandwidth = queries_of(release.domain), 2.0 * release.sketch.kernel.bandwidth
    (said,) = ask({"file": path, "queries": queries, "bandwidth": bandwidth})
    compare({"queries": queries}, said, release.smoothed(bandwidth))


PLANE = Domain.of(x=(0.0, 9.0), y=(-3.0, 4.0))
# Sums of dozens of products, rows of one hash and of several, and waves that few places tell, or only all do.
MAPPED = {
    "sum of products": (Histogram(PLANE, kernels.Exponential(0.8), (12, 8), halvings=1, fine=0.4), 9, 7),
    "one hash": (Race(PLANE, kernels.Euclidean(1.5), rows=12, width=64), 9, 50),
    "rehashed": (Race(PLANE, kernels.Euclidean(0.2), rows=12, width=16), 9, 50),
    "angle": (Race(PLANE, kernels.Angular(), rows=12, width=8), 9, 50),
    "hashes": (Race(PLANE, kernels.Laplacian(1.5), rows=12, width=64), 9, 7),
    "power": (Race(PLANE, kernels.Euclidean(2.0, power=3), rows=12, width=64), 9, 50),
    "a line and a place": (Race(PLANE, kernels.Laplacian(1.5), rows=12, width=64), 9, 1),
    "few places": (Features(PLANE, kernels.Gaussian(1.5), rows=40), 45, 60),
    "all places": (Features(PLANE, kernels.Laplacian(0.5), rows=40), 45, 7),
}


@pytest.mark.thorough
def test_maps_are_those_of_python_at_once_and_in_strips(tmp_path):
    asked, expected = [], []
    for name, (sketch, across, up) in MAPPED.items():
        table = sketch.zeros()
        sketch.add(table, np.asfortranarray([9.0, 7.0] * np.random.default_rng(1).random((300, 2)) - [0.0, 3.0]))
        release = seal(sketch, ExactTable(table, 300), core.Budget(1))
        release.save(tmp_path / f"{name}.npz")
        x, y = np.linspace(-0.5, 9.0, across).tolist(), np.linspace(-3.0, 4.0, up).tolist()
        asked += [{"file": tmp_path / f"{name}.npz", "across": {"x": x, "y": strip}} for strip in (y, y[:3], y[3:])]
        asked.append({"file": tmp_path / f"{name}.npz", "queries": {"x": x[3:4], "y": y[:1]}})
        expected.append(({"queries": {"x": x * up, "y": [one for one in y for _ in x]}}, release))
    found = ask(*asked)
    for place, (queries, release) in enumerate(expected):
        whole, *parts, alone = found[4 * place : 4 * place + 4]
        compare(queries, whole, release)
        compare(asked[4 * place + 3], alone, release)
        for name in ("estimate", "standardError"):
            joined = numbers(parts[0][name] + parts[1][name])
            np.testing.assert_allclose(joined, numbers(whole[name]), rtol=1e-9, atol=1e-9 * release.records)


def test_bands_of_whole_numbers_on_two_grids_are_those_of_python(tmp_path):
    """What the grid misses was looked for at places of a fine cell, and not of a coarse one: bands were others."""
    domain = Domain((Numeric("x", 0, 9), Numeric("hour", 0, 24, step=1)), scale="none")
    sketch = Histogram(domain, kernels.Exponential(2.0), (16, 0), halvings=1, fine=0.5)
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(np.random.default_rng(1).integers(0, 9, (300, 2)).astype(float)))
    release = seal(sketch, ExactTable(table, 300), core.Budget(1))
    release.save(tmp_path / "hours.npz")
    queries = {"x": [0.0, 3.3, 8.9], "hour": [2, 7, 24]}
    (said,) = ask({"file": tmp_path / "hours.npz", "queries": queries})
    compare({"queries": queries}, said, release)


@pytest.mark.parametrize("kernel", [kernels.Laplacian(0.6), kernels.Euclidean(0.6, power=3)], ids=("apart", "power"))
def test_lines_of_hashes_through_categories_and_averages_are_those_of_python(kernel, tmp_path):
    domain = Domain(
        (Numeric("x", 0.0, 9.0), Categorical("kind", tuple("abc")), Categorical("side", ("left", "right"))), scale="box"
    )
    table = (sketch := Race(domain, kernel, rows=12, width=64)).zeros()
    sketch.add(table, np.asfortranarray(np.random.default_rng(1).random((300, domain.dimensions))))
    release = seal(sketch, ExactTable(table, 300), core.Budget(1))
    release.save(tmp_path / "race.npz")
    steady, uneven = np.linspace(0.0, 9.0, 70).tolist(), [7.0, 0.1, 0.2, 9.5, 0.2]
    drawn = [
        {"x": uneven, "kind": ["c", "a"]},
        {"kind": ["b", "c", "a"], "x": steady},
        {"x": steady[::-1], "kind": ["b"]},
    ]
    for across, said in zip(
        drawn, ask(*({"file": tmp_path / "race.npz", "across": one} for one in drawn)), strict=True
    ):
        each = {
            name: np.ravel(values).tolist() for name, values in zip(across, np.meshgrid(*across.values()), strict=True)
        }
        sides = [release.answer(each | {"side": [side] * len(each["x"])}).estimate for side in ("left", "right")]
        expected = np.mean(sides, axis=0)
        np.testing.assert_allclose(numbers(said["estimate"]), expected, rtol=1e-9, atol=1e-9 * release.records)


@pytest.mark.parametrize("bounds", [(0.0, 1e6), (10.0, 1e5), (-500.0, 2000.0)])
def test_amounts_on_a_scale_of_ratios_are_placed_as_python_places_them(bounds, tmp_path):
    domain = Domain((Numeric("pay", *bounds, scale="log"), Numeric("x", 0, 1)))
    sketch = Race(domain, kernels.Euclidean(2.0), rows=12, width=32)
    table = sketch.zeros()
    low, high = domain.bounds("l2")
    sketch.add(table, np.asfortranarray(low + (high - low) * np.random.default_rng(1).random((300, 2))))
    release = seal(sketch, ExactTable(table, 300), core.Budget(1))
    release.save(tmp_path / "amounts.npz")
    queries = {"pay": [0.5, -3.0, 17.0, 999.5, *bounds, 1e7], "x": [0.5] * 7}
    (said,) = ask({"file": tmp_path / "amounts.npz", "queries": queries})
    compare({"queries": queries}, said, release)


WHOLE = Domain(
    (
        Numeric("x", -2, 6),
        Numeric("pay", 0, 1e6, scale="log"),
        Numeric("rooms", 1, 9, step=1),
        Dates("day", "2024-01-01", "2024-12-31"),
        Coordinate("place", "latitude", 45.8, 47.8, 5.9, 10.5),
        Ordered("size", ("small", "middle", "large"), positions=(0, 1, 5)),
        Cyclic("hour", part="hour"),
        Categorical("town", ("Bern", "Basel", "Chur")),
        Categorical("kind", ("a", "b")),
    )
)
ASKED = {
    "x": [4.7, -9.0, 0.1],
    "pay": [3e4, 2e6, 0.0],
    "rooms": [3, 4, 9],
    "day": ["2024-03-01", "2024-12-31", "2023-05-05"],
    "place": [46.9, 47.1, 12.0],
    "size": ["large", "small", "middle"],
    "hour": ["0", "7", "23"],
    "town": ["Chur", "Bern", "Basel"],
    "kind": ["a", "b", "b"],
}
BENT = [(0, 0, None), (0, 0, 0.7), (3, 0, None), (0, 6, 1.1), (2, 5, None)]
TOLD = [("town", "multinomial"), ("town", "one-vs-rest"), ("kind", "logistic"), ("x", "number"), ("rooms", "count")]
BESIDE = [("kind", "svm"), ("day", "number"), ("pay", "count")]


def made_up(label: str, kind: str, curves: int, waves: int, radius: float | None) -> LinearModel | NumberModel:
    domain = WHOLE if kind != "count" else replace(WHOLE, columns=(Numeric(label, 0, 9), *WHOLE.without(label).columns))
    products = int(curves == 2 or waves == 6)
    task, random = Task(domain, label, radius, curves=curves, waves=waves, products=products), np.random.default_rng(3)
    rows = random.integers(-(2**21), 2**21, (task.rows, task.width + 1))
    model = LinearModel if task.categories else NumberModel
    promise = 0.8, rows, core.Budget(1), "a method", "A theorem."
    if task.categories:
        return model(task, kind, *promise)
    half = random.normal(0.0, 0.03, (task.width + 1,) * 2)
    spread = half @ half.T
    return model(task, kind, *promise, errors=np.sqrt(np.diag(spread)), covariance=spread)


@pytest.mark.thorough
def test_models_predict_as_in_python_to_nine_digits_with_curves_and_waves(tmp_path):
    known = KNOWN / "permutation-1.model.json"
    asked, expected = [{"file": known, "model": True, "queries": {"x": [1.0, 9.0], "y": [7.5, -1.0]}}], []
    expected.append(load_model(known).probabilities(asked[0]["queries"]))
    cases = [(*one, *bent) for one in TOLD for bent in BENT] + [(*one, 1, 3, 0.9) for one in BESIDE]
    for place, (label, *rest) in enumerate(cases):
        path, made = tmp_path / f"{place}.json", made_up(label, *rest)
        made.save(path)
        queries = {name: values for name, values in ASKED.items() if name != label}
        asked.append({"file": path, "model": True, "queries": queries})
        if made.task.categories:
            expected.append(made.probabilities(queries))
        elif label == "day":  # dates are said to the day
            expected.append(made.numbers(queries)[:, None])
        else:
            expected.append(made.predict(queries).to_numpy(float))
    for said, wanted in zip(ask(*asked), expected, strict=True):
        found = np.array(said, float)[:, : wanted.shape[1]]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def changed(name: str, *steps: object) -> bytes:
    """A known file whose manifest says something else: the keys to it, and the value."""
    held = dict(np.load(KNOWN / f"{name}-1.npz", allow_pickle=False))
    facts = place = json.loads(str(held["manifest"]))
    *keys, last, value = steps
    for key in keys:
        place = place[key]
    place[last] = value
    written = io.BytesIO()
    np.savez(written, **held | {"manifest": np.array(json.dumps(facts))})
    return written.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return written.getvalue()


HOSTILE = {
    "nothing": lambda: b"",
    "a text": lambda: b"<script>alert(1)</script>" * 20,
    "another archive": lambda: zipped({"a.txt": b"x"}),
    "cut short": lambda: (KNOWN / "features-1.npz").read_bytes()[:-40],
    "too many rows": lambda: changed("features", "parameters", "rows", 10**9),
    "rows that are a text": lambda: changed("features", "parameters", "rows", "9"),
    "another size": lambda: changed("numbers", "parameters", "rows", 23),
    "an unknown kernel": lambda: changed("numbers", "parameters", "kernel", "name", "constructor"),
    "a mechanism of objects": lambda: changed("numbers", "mechanism", "__proto__"),
    "bounds the wrong way": lambda: changed("numbers", "domain", "columns", 0, "low", 11),
    "no domain": lambda: changed("numbers", "domain", None),
    "no privacy": lambda: changed("numbers", "privacy", 7),
    "a newer version": lambda: changed("numbers", "format_version", 9),
    "a huge grid": lambda: changed("histogram", "parameters", "cells", [2**26]),
    "cells beyond all": lambda: changed("tables", "parameters", "bins", [2**20, 4]),
    "tables of no columns": lambda: changed("tables", "parameters", "tables", [[0, 9]]),
    "too few weights": lambda: changed("tables", "parameters", "weights", [1]),
    "a huge strategy": lambda: changed("distance", "parameters", "strategy", "hats", [1] * 30),
}


@pytest.mark.thorough
def test_hostile_files_are_refused_in_one_sentence(tmp_path):
    for place, make in enumerate(HOSTILE.values()):
        (tmp_path / f"{place}.npz").write_bytes(make())
    answers = ask(*({"file": tmp_path / f"{place}.npz"} for place in range(len(HOSTILE))))
    for name, said in zip(HOSTILE, answers, strict=True):
        assert list(said) == ["refused"], name
        assert said["refused"].endswith(".") and "\n" not in said["refused"], name


def saved(folder: Path, *releases: core.Release) -> list[Path]:
    places = [folder / f"{place}.npz" for place in range(len(releases))]
    for place, release in zip(places, releases, strict=True):
        release.save(place, teaching=not release.private)
    return places


def same_differences(said: dict, found: object) -> None:
    for end, name in (("est", "estimate"), ("low", "low"), ("high", "high")):
        expected = np.asarray(getattr(found, name), float)
        np.testing.assert_allclose(numbers(said[end]), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


@pytest.mark.thorough
def test_what_two_releases_differ_by_has_the_bands_of_python(tmp_path):
    near = [small_release(records=records) for records in (400, 900)]
    first, second = saved(tmp_path, *near)
    queries = queries_of(near[0].domain)
    (said,) = ask({"file": first, "other": str(second), "compared": [["answer", queries]]})
    same_differences(said[0], Comparison(*near).answer(queries))
    tables = [table_release(seed=seed) for seed in (1, 2)]
    first, second = saved(tmp_path, *tables)
    names = [axis.name for axis in tables[0].sketch.axes]
    asked = [["table", [1]], ["table", [0, 1]], ["mean", names.index("age")]]
    (said,) = ask({"file": first, "other": str(second), "compared": asked})
    compared = Comparison(*tables)
    expected = compared.table(names[1]), compared.table(*names[:2]), compared.mean("age")
    for found, wanted in zip(said, expected, strict=True):
        same_differences(found, wanted)


def test_releases_that_mean_different_things_are_not_compared(tmp_path):
    made = small_release()
    first, second, third = saved(tmp_path, made, small_release(kernel=kernels.Laplacian(3.0)), table_release())
    said = ask(*({"file": first, "other": str(other), "compared": []} for other in (first, second, third)))
    assert said[0]["refused"].startswith("These are the same release")
    assert "kernels or bandwidths are others" in said[1]["refused"] and "the second of" in said[2]["refused"]


@pytest.mark.deep
@pytest.mark.skipif(shutil.which("tsc") is None, reason="needs TypeScript's tsc, which `make types` fetches")
def test_the_modules_of_the_reader_and_of_the_page_name_what_there_is():
    done = subprocess.run(["tsc", "--project", str(READER)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[:4000]


def test_a_question_that_makes_no_sense_is_refused_in_one_sentence():
    path = KNOWN / "people-1.npz"
    asked = [
        {"age": [3]},
        {"age": ["x"], "city": ["Bern"]},
        {"age": [3], "city": ["Rome"]},
        {"age": [3, 4, 5], "city": ["Bern"] * 2},
    ]
    for said in ask(*({"file": path, "queries": queries} for queries in asked)):
        assert said["refused"].endswith(".") and "Rome" not in said["refused"]
