"""Released tables as the shared page decodes them, without a browser: Python's answers to nine digits."""

import base64
import json
import math
import subprocess
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from playwright._impl._driver import compute_driver_executable

from core import Budget, Domain, load
from core.analysis.beyond_records import for_population
from core.analysis.density import grid, line
from core.domain import Categorical, Dates, Numeric, Ordered
from core.domain.dates import STEPS
from core.figures.share.shared_page import READER, pictured, worked_out
from core.figures.share.shared_pictures import live_facts, table_facts
from core.figures.traces import hidden_by_noise
from core.releases.job import release
from core.releases.release import Release
from core.sketches.tables.best_guess import BestGuess
from core.sketches.tables.tables import Tables
from core.sources.public_tables import RELEASES
from tests.depth import deep
from tests.tables_for_tests import inhabitants, table_release, where_of

KNOWN = Path(__file__).parents[2] / "known_releases"
SHARED = Path(__file__).parents[3] / "core" / "figures" / "share"
NODE = str(compute_driver_executable()[0])
ASKED = """
import { readFileSync } from "node:fs";
const { open } = await import(process.argv[1]);
const { file, known, questions } = JSON.parse(readFileSync(0, "utf8"));
const tables = (await open(Uint8Array.from(Buffer.from(file, "base64")))).tables(0.95, known);
const meant = (where) => Object.fromEntries(Object.entries(where).map(([place, cells]) =>
  [place, Float64Array.from({ length: tables.axes[place].cells }, (_, i) => Number(cells.includes(i)))]));
const answers = {
  records: () => tables.records,
  count: (kept, where) => tables.count(kept, meant(where)),
  shares: (of, where) => tables.shares(of, meant(where)),
  mean: (place, kept, where) => tables.mean(place, kept, meant(where)),
  quantile: (place, share, where) => tables.quantile(place, share, meant(where)),
  strengths: () => tables.strengths(),
  guess: (table) => tables.guesses.of(table),
  fine: (place) => tables.guesses.fine(place),
};
const plain = (value) => ArrayBuffer.isView(value) ? [...value].map(plain) : Array.isArray(value) ? value.map(plain)
  : value && typeof value === "object"
  ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
  : Number.isNaN(value) ? null : value;
console.log(JSON.stringify(questions.map(([name, ...rest]) => plain(answers[name](...rest)))));
"""


def asked(made: Release, questions: list) -> list:
    """What the page's script answers."""
    file = base64.b64encode(made.to_bytes(teaching=not made.private)).decode()
    given = {"file": file, "known": table_facts(made)["known"], "questions": questions}
    run = subprocess.run(
        [NODE, "--input-type=module", "-e", ASKED, (READER / "index.js").as_uri()],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


def near(found, expected, scale: float | None = None) -> None:
    """Alike to nine digits of the largest; nothing where Python says nothing."""
    found = np.array([math.nan if one is None else one for one in np.atleast_1d(found).ravel()], dtype=float)
    expected = np.atleast_1d(np.asarray(expected, dtype=float)).ravel()
    assert found.shape == expected.shape
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    scale = np.nanmax(np.abs(expected), initial=1e-300) if scale is None else scale
    assert np.nanmax(np.abs(found - expected), initial=0.0) <= 1e-9 * scale


def as_numbers(axis, frame, end: str) -> np.ndarray:
    """Answers about a column in its own numbers, also of dates."""
    values = frame[end]
    if "datetime" not in str(values.dtype):
        return values.to_numpy(float)
    missing = values.isna().to_numpy()
    numbers = np.full(len(values), math.nan)
    numbers[~missing] = axis.column.numbers_of(values.to_numpy()[~missing])
    return numbers


def same_as_in_python(made: Release) -> None:
    answers, guess = made.asked(), BestGuess(made.asked().reading)
    axes, known = answers.axes, sorted(answers.reading.noise.by_columns)
    questions, expected = [["records"]], [answers.reading.records]
    for which in known:
        if len(which) == 1:
            (place,) = which
            axis = axes[place]
            questions += [["count", [place], {}], ["shares", [place], {}], ["guess", [place]], ["fine", place]]
            expected += [answers.table(axis.name), answers.shares(axis.name), guess.counts(which)]
            expected += [guess.fine_counts(place)]
        if len(which) > 3:
            continue
        for place in which:
            axis, others = axes[place], [other for other in which if other != place]
            part = {other: list(range(axes[other].cells // 2, axes[other].valued)) for other in others}
            where = where_of(answers, {axes[other].name: cells for other, cells in part.items()})
            questions += [["shares", [place], part], ["count", [], part]]
            expected += [answers.shares(axis.name, where=where), answers.count(where)]
            if axis.categories:
                continue
            questions += [["mean", place, [], part], ["quantile", place, 0.5, part], ["quantile", place, 0.25, part]]
            expected += [(axis, answers.mean(axis.name, where=where))]
            expected += [(axis, answers.quantile(axis.name, share, where=where)) for share in (0.5, 0.25)]
            if len(others) == 1:
                questions.append(["mean", place, others, {}])
                expected.append((axis, answers.mean(axis.name, by=[axes[others[0]].name])))
        if len(which) == 2:
            questions += [["guess", list(which)], ["count", list(which)[::-1], {}]]
            expected += [guess.counts(which), answers.table(*(axes[place].name for place in which[::-1]))]
    if len(axes) > 2 and (0, 1, 2) not in known:
        questions.append(["guess", [0, 1, 2]])
        expected.append(guess.counts((0, 1, 2)))
    for found, wanted in zip(asked(made, questions), expected, strict=True):
        axis, frame = wanted if isinstance(wanted, tuple) else (None, wanted)
        if not hasattr(frame, "columns"):
            near(found, frame)
            continue
        for name, end in (("est", "estimate"), ("low", "low"), ("high", "high")):
            values = frame[end] if axis is None else as_numbers(axis, frame, end)
            # A mean or quantile is as exact as the bounds of its column are wide, and a date to the second.
            dates = axis is not None and isinstance(axis.column, Dates)
            scale = None if axis is None else 1e9 / STEPS[axis.column.step] if dates else axis.high - axis.low
            near(found[name], values, scale)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [deep("tables-1"), "stepped-1", deep("counted-1")])
def test_every_known_file_of_tables_is_answered_as_in_python(name):
    same_as_in_python(load(KNOWN / f"{name}.npz"))


@pytest.mark.thorough
@pytest.mark.parametrize("tables", ["singles", [("town", "age", "school"), ("since", "town")], deep("pairs")])
def test_pairs_single_columns_and_threes_are_answered_as_in_python(tables):
    made = table_release(tables=tables)
    same_as_in_python(made)
    found = made.asked().strengths() if tables != "singles" else []
    (strengths,) = asked(made, [["strengths"]])
    assert len(strengths) == len(found)
    names = [axis.name for axis in made.sketch.axes]
    by_names = {tuple(names[place] for place in one["columns"]): one for one in strengths}
    for row in found.itertuples() if len(found) else ():
        one = by_names[row.column, row.other]
        near([one["est"], one["low"], one["high"]], [row.estimate, row.low, row.high], 1.0)
    lows = [one["low"] for one in strengths]
    assert lows == sorted(lows, reverse=True)


@pytest.mark.thorough
def test_columns_that_others_join_are_guessed_as_in_python():
    """Along a tree, and where there is a circle; three of them too."""
    for tables in (
        [("town", "age"), ("age", "pay"), ("pay", "since")],
        [("town", "age"), ("age", "pay"), ("town", "pay"), ("since", "pay")],
    ):
        made = table_release(tables=tables, budget=Budget(2))
        guess = BestGuess(made.asked().reading)
        questions = [list(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 1, 3), (0, 1, 2))]
        for found, table in zip(asked(made, [["guess", table] for table in questions]), questions, strict=True):
            near(found, guess.counts(tuple(table)))


@pytest.mark.thorough
def test_counted_cells_and_missing_values_and_a_known_number_are_answered_as_in_python():
    rows = inhabitants(1_000)
    rows.loc[::7, "age"] = np.nan
    columns = (
        Numeric("age", 0, 119, step=1, missing_category="unknown"),
        Categorical("town", ("Lyon", "Nice", "Paris")),
    )
    domain = Domain((*columns, Ordered("school", ("none", "school", "degree"))))
    made = release(Tables.of(domain, 8, halvings=2), rows, Budget(2))
    same_as_in_python(made)
    same_as_in_python(for_population(made))
    counted = release(Tables.of(domain, 8, halvings=3).counting("margins"), rows, Budget(2))
    same_as_in_python(counted)
    same_as_in_python(replace(counted, counted=None))


@pytest.mark.thorough
def test_amounts_on_a_scale_of_ratios_are_answered_as_in_python():
    rows = inhabitants(1_000)
    columns = (Numeric("pay", 0, 1e9, "EUR", scale="log"), Categorical("town", ("Lyon", "Nice", "Paris")))
    same_as_in_python(release(Tables.of(Domain(columns), 8, halvings=2), rows, Budget(2)))


@pytest.mark.thorough
def test_quantiles_in_heaps_of_equal_values_are_answered_as_in_python():
    random, count = np.random.default_rng(3), 4_000
    rows = inhabitants(count)
    rows["pay"] = np.where(random.random(count) < 0.6, 500.0, random.lognormal(6.0, 1.0, count).clip(0, 10_000))
    columns = (Numeric("pay", 0, 10_000), Categorical("town", ("Lyon", "Nice", "Paris")))
    made = release(Tables.of(Domain(columns), 24, halvings=4), rows, Budget(2))
    assert made.asked().quantile("pay").estimate[0] == 500.0
    same_as_in_python(made)


@pytest.mark.thorough
def test_counts_that_were_found_before_enter_the_page_as_they_do_in_python(monkeypatch):
    made = table_release()
    plain = made.asked().reading
    counts = {"Lyon": plain.counts((1,))[0] + 9.0, "Paris": plain.counts((1,))[2] - 7.0}
    beside = plain.beside({"town": counts}, 20.0)
    assert beside.noise.found
    monkeypatch.setattr(Release, "_reading", lambda _: beside)
    same_as_in_python(made)


@pytest.mark.thorough
def test_of_many_pairs_what_all_of_them_have_in_common_is_learnt_as_in_python():
    """Python learnt it of ten pairs and more, and pages did not hear of it."""
    random = np.random.default_rng(4)
    mood = random.normal(0.0, 1.0, 600)
    letters = np.array(list("abc"))
    rows = {f"c{i}": letters[np.clip(mood + random.normal(0.0, 1.0, 600), 0, 2).astype(int)] for i in range(5)}
    made = release(Tables.of(Domain(tuple(Categorical(name, tuple("abc")) for name in rows))), rows, Budget(2))
    guess = BestGuess(made.asked().reading)
    assert guess.common is not None
    pairs = list(combinations(range(5), 2))
    for found, pair in zip(asked(made, [["guess", list(pair)] for pair in pairs]), pairs, strict=True):
        near(found, guess.counts(pair))


def test_the_page_hatches_where_pictures_and_modes_say_that_noise_decides():
    """The page hatched cell by cell: an empty corner of noise had two solid cells that no picture of the app had."""
    picture = grid(load(RELEASES / "health.npz"), "age", "height", size=64)
    curve = line(load(RELEASES / "visits.npz"), "hour", {"minutes": 30.0}, points=90)
    given = [
        {name: getattr(one, name).ravel().tolist() for name in ("low", "high")}
        | {"est": one.estimate.ravel().tolist(), "error": one.standard_error.ravel().tolist()}
        | {"shape": one.estimate.shape, "together": one.together, "noise": min(one.noise, 1e300)}
        for one in (picture, curve)
    ]
    program = """
    import { readFileSync } from "node:fs";
    const { hiddenByNoise } = await import(process.argv[1]);
    const asked = JSON.parse(readFileSync(0, "utf8"));
    const hidden = (one) => Array.from(hiddenByNoise(one, one.together, one.noise, false), Boolean);
    console.log(JSON.stringify(asked.map(hidden)));
    """
    command = [NODE, "--input-type=module", "-e", program, (SHARED / "lattice.js").as_uri()]
    run = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]
    hidden = [hidden_by_noise(one) for one in (picture, curve)]
    for found, expected in zip(json.loads(run.stdout), hidden, strict=True):
        assert found == expected.ravel().tolist()
    assert 0.1 < hidden[0].mean() < 0.9
    facts = live_facts(load(RELEASES / "health.npz"))
    assert (facts["together"], facts["noise"]) == (picture.together, picture.noise)


def test_a_map_that_was_worked_out_before_is_drawn_as_it_is_and_is_what_a_browser_would_work_out():
    """A browser took two seconds to draw the city, whose map comes with the app."""
    made, data = load(RELEASES / "health.npz"), (RELEASES / "health.npz").read_bytes()
    picture = grid(made, "age", "height", size=12)
    handed_over = pictured(made, data, "", ("", "", None)) | {"given": worked_out(picture)}
    program = """
    import { readFileSync } from "node:fs";
    const [{ Live }, { unpackedSteps, unzipped }, { openRelease }] =
      await Promise.all(process.argv.slice(1).map((one) => import(one)));
    const data = JSON.parse(readFileSync(0, "utf8"));
    const live = new Live(await unzipped(data.facts), await openRelease(Buffer.from(data.file, "base64")));
    const [x, y] = live.columns.map(({ low, high }) => [low, high]);
    live.bring(0, 1, unpackedSteps(await unzipped(data.given)));
    const pictures = [live.brought(0, 1, { x, y }, {}), live.picture(0, 1, { x, y }, [12, 12], {})];
    const others = [live.brought(1, 0, { x: y, y: x }, {}), live.brought(0, 1, { x: [x[0], x[1] - 1], y }, {})];
    live.bring(0, 1, null);
    others.push(live.brought(0, 1, { x, y }, {}));
    const parts = (one) => ["est", "low", "high", "rect", "shape"].map((name) => [...one[name]]);
    console.log(JSON.stringify([...pictures, ...others].map((one) => one && parts(one))));
    """
    modules = [SHARED / "live.js", SHARED / "bytes.js", READER / "release.js"]
    command = [NODE, "--input-type=module", "-e", program, *(one.as_uri() for one in modules)]
    run = subprocess.run(command, input=json.dumps(handed_over), capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr[-2000:]
    given, drawn, turned, closer, after = json.loads(run.stdout)
    for one, other in zip(given, drawn, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5 * max(given[2]))
    assert turned is None and closer is None and after is None
    top = picture.estimate.argmax()  # which is asked first, and has its answer from here
    assert np.argmax(given[0]) == top
    assert [numbers[top] for numbers in given[:3]] == [
        numbers.flat[top] for numbers in (picture.estimate, picture.low, picture.high)
    ]
