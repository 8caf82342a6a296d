"""The shared page: it runs its own script and nothing else, names no other host, and carries the file as it is."""

import base64
import gzip
import json
import re
import subprocess
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import playwright
import pytest
from playwright._impl._driver import compute_driver_executable

import core
from core import Budget, Domain, PrivacyUnit, RequestError, load, train
from core.analysis.beyond_records import for_population
from core.analysis.regression import regression
from core.domain import Categorical, Dates, Numeric
from core.domain.round_columns import Coordinate
from core.figures.answer_sentences import BEYOND_RECORDS, MODES_OF_RECORDS
from core.figures.exploration import Modes
from core.figures.figure_axes import Axis as PictureAxis
from core.figures.meaning import column_values
from core.figures.share.described import read_public
from core.figures.share.page_sections import regression_facts, steps_html
from core.figures.share.shared_page import FOLDER, READER, script, share_html, short_title
from core.formatting.escapes import in_html
from core.geometry import kernels
from core.privacy.noise.randomness import SeededSource
from core.releases.engine.building import ExactTable
from core.releases.seal import seal
from core.sketches.directions import Directions
from core.sketches.histogram import Histogram
from core.sketches.living import Living
from core.sketches.race import Race
from core.sketches.tables.tables import Tables
from core.sources.public_tables import bundled_releases
from tests.depth import deep
from tests.known_releases.make import FOLDER as KNOWN
from tests.readers.test_javascript_reader import ask, compare
from tests.releases_for_tests import small_release

HOSTILE = '</script><img src=x onerror="alert(1)">'
CATEGORIES = ["<b>'\"&amp;</b>", "=HYPERLINK(1)", "-->"]


NODE = str(compute_driver_executable()[0])
VOID = {"meta", "br", "img", "hr", "input"}


class Reader(HTMLParser):
    """Reads a page into its structure, its text, and what it might fetch or run."""

    def __init__(self, page: str):
        super().__init__(convert_charrefs=True)
        self.structure, self.open, self.texts, self.attributes = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.structure.append((tag, tuple(name for name, _ in attributes)))
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag
        self.structure.append(f"/{tag}")

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def values(self, name: str) -> list[str]:
        return [value for attribute, value in self.attributes if attribute == name]


def page_of(name: str, categories) -> tuple[str, bytes]:
    domain = Domain.of(**{name: (0, 100)}, city=list(categories))
    made = small_release(domain=domain, kernel=kernels.Laplacian(8.0), noise_source=SeededSource(1), records=2_000)
    release = replace(made, private=True)
    data = release.to_bytes()
    return share_html(release, data, f"{name}.npz"), data


def payload_of(page: str) -> dict:
    """What the page's script reads."""
    packed = re.search(r'id="payload">([^<]*)<', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_hostile_names_leave_the_structure_as_it_is_and_the_script_reads_them_whole():
    page, data = page_of(HOSTILE, CATEGORIES)
    harmless, _ = page_of("age", ["a", "b", "c"])
    assert Reader(page).structure == Reader(harmless).structure
    assert HOSTILE not in page
    payload = payload_of(page)
    columns = payload["subjects"][0]["columns"]
    assert columns[0]["name"] == HOSTILE and columns[1]["categories"] == CATEGORIES
    assert base64.b64decode(re.search(r'id="file">([^<]*)<', page)[1]) == data
    assert [paper[1] for paper in payload["papers"]] == ["bib", "datacite.json", "manifest.json"]


def test_its_policy_allows_the_one_script_and_style_and_no_request():
    page, _ = page_of("age", ["a", "b"])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    for kind, text in (("script-src", script), ("style-src", style)):
        assert rules[kind] == f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
    assert rules["font-src"] == "data:" and len(rules) == 6
    rest = re.sub(r'<script type="application/ld\+json">[^<]*</script>', "", page.replace(script, ""))
    assert not re.search(r"https?:|//[a-z0-9.-]+\.[a-z]{2,}", rest)
    assert "http" not in script and "import(" not in script and "innerHTML" not in script
    assert not {"src", "href", "style", "onclick"} & {name for name, _ in Reader(page).attributes}


def test_the_head_has_croissant_metadata_of_the_file_that_the_page_carries():
    page, data = page_of(HOSTILE, CATEGORIES)
    (text,) = re.findall(r'<script type="application/ld\+json">([^<]*)</script>', page[: page.index("</head>")])
    metadata = json.loads(text)
    assert metadata["@type"] == "sc:Dataset" and metadata["distribution"][0]["sha256"] == sha256(data).hexdigest()
    assert [one["name"] for one in metadata["variableMeasured"]] == [HOSTILE, "city"]


def test_a_teaching_file_says_that_it_protects_nobody_and_is_no_data_set_for_search_engines():
    made = small_release(noise_source=SeededSource(1))
    page = share_html(made, made.to_bytes(teaching=True), "taught.npz")
    assert "it protects nobody" in Reader(page).text and "ld+json" not in page


def test_a_file_that_is_too_large_to_carry_is_refused(monkeypatch):
    monkeypatch.setattr("core.figures.share.shared_page.MOST_BYTES", 100)
    made = small_release()
    with pytest.raises(RequestError, match="a page carries at most 100: hand out the file itself"):
        share_html(made, made.to_bytes(), "large.npz")


@pytest.mark.parametrize(
    "contents", [b"", b"{}", b"PK\x03\x04", b"hello", b"\x00" * 1000, b'{"format": "frostglass-model"}']
)
def test_what_is_no_public_file_is_refused(contents):
    with pytest.raises(RequestError):
        read_public(contents)


def kinds_of(sketch, records: int = 500) -> list[str]:
    """How a page would answer for a release of a sketch."""
    from core.figures.share.shared_page import contents
    from core.releases.engine.building import ExactTable
    from core.releases.seal import seal

    table = sketch.zeros()
    low, high = sketch.domain.bounds(sketch.metric)
    sketch.add(table, np.asfortranarray(low + (high - low) * np.random.default_rng(1).random((records, len(low)))))
    return [facts["kind"] for facts in contents(seal(sketch, ExactTable(table, records), Budget(epsilon=1)))]


@pytest.mark.thorough
def test_the_page_asks_the_counters_itself_and_pictures_of_few_mechanisms_are_drawn_beforehand():
    domain = Domain((Numeric("x", 0, 1), Numeric("y", 0, 1, step=0.25)))
    assert kinds_of(Histogram(domain, kernels.Gaussian(0.1), (8, 0))) == ["live"]
    assert kinds_of(Histogram(domain, kernels.Exponential(0.4), (8, 0))) == ["live"]  # a sum of Gaussians
    assert kinds_of(Race(domain, kernels.Euclidean(0.4), rows=8, width=16)) == ["live"]
    assert kinds_of(Directions(domain, pole=(1.0, 0.0))) == ["lattice"]
    one = Domain.of(x=(0, 1))
    assert kinds_of(Histogram(one, kernels.Euclidean(0.4), (8,))) == ["live"]  # read as it is, and not as a sum


def test_a_page_is_called_as_its_file_is_and_by_its_columns_where_that_says_nothing():
    """Headings were a line of all columns with the number of records before it."""
    domain = Domain((Dates("since", "2024-01-01", "2024-12-31"), Numeric("age", 0, 100)))
    sketch = Tables.of(domain).sized_for(Budget(1), 2_000)
    made = seal(sketch, ExactTable(sketch.zeros(), 0), Budget(1))
    names = ("library-visits.npz", "release.npz", "visits-2024.npz", "<b>.npz", "c0ffee00.npz")
    found = [short_title(made, name) for name in names]
    assert found == ["Library visits, 2024", "Since and age, 2024", "Visits 2024", *["Since and age, 2024"] * 2]
    page = share_html(made, made.to_bytes(), "library-visits.npz")
    assert "<h1>Library visits, 2024</h1>" in page and "<title>Library visits, 2024</title>" in page


@pytest.mark.parametrize(
    "name", ["salaries", *[deep(one.name) for one, _ in bundled_releases() if one.name != "salaries"]]
)
def test_bundled_releases_fit_into_three_megabytes(name):
    (path,) = [path for one, path in bundled_releases() if one.name == name]
    data = path.read_bytes()
    assert len(share_html(read_public(data), data, path.name)) <= 3_000_000


def test_a_page_for_the_population_has_longer_bands_that_were_drawn_beforehand():
    domain = Domain((Numeric("x", 0, 1),))
    sketch = Histogram(domain, kernels.Gaussian(0.1), (16,))
    table = sketch.zeros()
    sketch.add(table, np.asfortranarray(np.random.default_rng(1).random((400, 1))))
    made = seal(sketch, ExactTable(table, 400), Budget(epsilon=5))
    alone, beyond = (payload_of(share_html(one, made.to_bytes(), "x.npz")) for one in (made, for_population(made)))
    assert [one["subjects"][0]["kind"] for one in (alone, beyond)] == ["live", "lattice"]
    assert BEYOND_RECORDS in beyond["sharedNoise"] and BEYOND_RECORDS not in alone["sharedNoise"]


@pytest.mark.thorough
def test_a_report_for_the_population_says_that_its_modes_are_of_the_records_only():
    made = small_release(records=500)
    for one in (made, for_population(made)):
        told = MODES_OF_RECORDS in "".join(steps_html(one, (Modes(2),), "", []))
        assert told == (one.population is not None)


def test_bands_of_coefficients_and_curves_are_said_to_hold_for_the_records_only():
    assert script().count("these records only") == 3  # of regressions, of classes, and of curves


def test_sums_of_products_are_read_as_coefficients_and_not_as_people_close_by():
    data = (KNOWN / "products-1.npz").read_bytes()
    html = share_html(load(data), data, "products-1.npz")
    assert "A coefficient says by how much" in html and "close by" not in html.partition("How to read it")[2][:800]


def test_a_warning_about_a_model_stands_by_itself_and_not_in_the_line_above_it():
    data = (KNOWN / "permutation-1.model.json").read_bytes()
    model = read_public(data)
    html = share_html(model, data, "permutation-1.model.json")
    line = re.search(r"<p class='made'>(.*?)</p>", html)[1]
    assert model.warnings and all(
        words not in line and f"<p class='warning'>{words}" in html for words in model.warnings
    )


def test_a_model_of_persons_says_that_it_hides_a_person_and_by_what_they_are_told():
    """A page of readings, twelve a contract, spoke of a guess about one record."""
    domain = Domain((Numeric("x", 0, 1), Numeric("y", 0, 1)), unit=PrivacyUnit("N° contrat", 12))
    random = np.random.default_rng(1)
    people = pd.DataFrame({"x": random.random(600), "y": random.random(600), "N° contrat": np.arange(600) // 12})
    model = train(people, "y", domain, Budget(1), records=600)
    html = share_html(model, json.dumps(model.to_dict()).encode(), "model.json")
    assert "guess about one person can rise to at most 73.1%" in html and "guess about one record" not in html
    assert "each told by N° contrat and with at most 12 records" in html


def test_the_script_is_one_that_a_browser_can_run(tmp_path):
    """Two modules of the reader had constants of one name, and no page opened."""
    path = tmp_path / "page.cjs"
    path.write_text(script(), encoding="utf-8")
    node = Path(playwright.__file__).parent / "driver" / "node"
    done = subprocess.run([str(node), "--check", str(path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-800:]


def test_a_page_carries_every_line_of_its_script_but_remarks():
    carried = set(script().splitlines())
    assert not [line for line in carried if line.startswith((" ", "//", "* "))]
    others = {"inside.js", "pictured.js", "matrix.js", "index.js"}  # what is drawn in the app, and the package's door
    modules = [one for one in (*FOLDER.glob("*.js"), *READER.glob("*.js")) if one.name not in others]
    lines = {line.strip() for one in modules for line in one.read_text(encoding="utf-8").splitlines()}
    code = [line for line in lines if line and not line.startswith(("//", "/**", "*", "import ", "export "))]
    assert set(code) <= carried


def test_the_form_of_sums_of_products_predicts_as_in_python_to_nine_digits():
    data = (KNOWN / "products-1.npz").read_bytes()
    made = load(data)
    targets = regression_facts(made)["targets"]
    domain = made.domain
    numbers = {one.name: 0.75 * one.low + 0.25 * one.high for one in domain.columns if one.kind == "numeric"}
    asked = numbers | {name: domain.categories_of(name)[-1] for name in domain.names if name not in numbers}
    code = (
        f"import {{ byRegression }} from '{(FOLDER / 'forms.js').as_uri()}';"
        f"import {{ Between }} from '{(READER / 'models.js').as_uri()}';"
        f"import {{ open }} from '{(READER / 'index.js').as_uri()}';"
        "import { readFileSync } from 'fs';"
        "const [file, targets, values] = JSON.parse(readFileSync(0, 'utf8'));"
        "const { domain } = await open(Uint8Array.from(Buffer.from(file, 'base64')));"
        "const column = (name) => domain.columns.find((one) => one.name === name);"
        "console.log(JSON.stringify(targets.map(({ name, weights }) =>"
        " byRegression(weights, new Between(domain.without(name)), column(name), values))))"
    )
    command = [NODE, "--input-type=module", "-e", code]
    given = json.dumps([base64.b64encode(data).decode(), targets, asked])
    run = subprocess.run(command, input=given, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    queries = {name: [value] for name, value in asked.items()}
    expected = [float(regression(made, target["name"]).predict(queries).estimate[0]) for target in targets]
    assert targets and json.loads(run.stdout) == pytest.approx(expected, rel=1e-9)


def test_quartiles_of_amounts_to_the_cent_have_no_more_digits_than_noise_allows():
    """Half were said to be "4388.42 to 6254.72", where noise moves either by tens; whole years stay as they are."""
    code = f"""import {{ bandWords, wholeDigits }} from {json.dumps((FOLDER / "numbers.js").as_uri())};
    const paid = {{ gap: 0.01, low: 0, high: 10000 }}, age = {{ gap: 1, low: 18, high: 90 }};
    const words = [[paid, 4388.42, 4300, 4480], [age, 44, 42, 46]].map(([axis, est, low, high]) =>
      bandWords(axis, {{ est, low, high }}, true));
    console.log(JSON.stringify([...words, wholeDigits(paid), wholeDigits(age)]));"""
    run = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True)
    assert json.loads(run.stdout) == ["4390 (4300 to 4480)", "44 (42 to 46)", 0, 1], run.stderr


def test_where_half_lie_of_a_column_that_nobody_surely_has_is_not_said():
    """Of hours that no record had as numbers half were said to be "14 to 14"."""
    quartiles = (
        "quartiles: [{ est: 14, low: 0, high: 24 }, { est: 14, low: 0, high: 24 }, { est: 16, low: 0, high: 24 }]"
    )
    axis = '{ kind: "number", gap: 1, low: 0, high: 24, unit: "h" }'
    none, some, part = said_by_the_page(
        "numbers.js",
        "halfWords",
        f"[NaN, 15].map((est) => halfWords({axis}, {{ mean: {{ est }}, {quartiles} }})).concat("
        f"halfWords({axis}, {{ mean: {{ est: 15 }}, {quartiles} }}, {{ {quartiles} }}))",
    )
    assert none == "Too few have a value to be told from none."
    assert some == "Half are 14 to 16 h." and part == "Half are 14 to 16 h; of everyone 14 to 16."


def test_noise_alone_is_no_difference_between_groups_and_no_two_columns_that_go_together():
    """Of nine columns that had nothing to do with each other, two were said to go together by 0.35."""
    code = f"""import {{ groupsApart, strongestPair }} from {json.dumps((FOLDER / "numbers.js").as_uri())};
    const yoga = {{ name: "Yoga", value: "25", est: 25.5, low: 20.5, high: 30.5 }};
    const rowing = {{ name: "Rowing", value: "27", est: 27, low: 22, high: 32 }};
    const tennis = {{ ...rowing, name: "Tennis" }}, axes = [{{ name: "Sport" }}, {{ name: "Fee" }}];
    const surely = {{ name: "Golf", value: "39", est: 39, low: 34.5, high: 43.5 }};
    const strength = (low) => ({{ columns: [0, 1], est: 0.22, low, high: 0.31 }});
    const pair = (low, others = 0) => strongestPair(Array(others + 1).fill(strength(low)), axes);
    const twelve = [surely, tennis, yoga, ...Array(9).fill(rowing)];
    const asked = [[rowing, yoga], [surely, yoga], [tennis, surely, yoga], twelve];
    const near = {{ ...surely, est: 38, low: 33.5, high: 42.5 }};
    const groups = [...asked, [yoga, surely, near]].map((all) => groupsApart(all, "Mean fee"));
    console.log(JSON.stringify([...groups, pair(0), pair(0.04), pair(0.04, 14), pair(0.1, 14)]));"""
    run = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True)
    assert json.loads(run.stdout) == [
        "Mean fee surely differs between no two groups: noise hides what there may be.",
        "Mean fee is highest for Golf: 39; lowest for Yoga: 25.",
        "Mean fee is highest for Golf: 39.",
        "Mean fee surely differs between no two groups: noise hides what there may be.",  # of twelve one by chance
        "Mean fee is lowest for Yoga: 25.",
        "No two columns surely go together: noise hides what there may be.",
        "Sport and Fee surely go together most.",
        "No two columns surely go together: noise hides what there may be.",  # one of fifteen by chance
        "Sport and Fee surely go together.",
    ], run.stderr


def test_years_read_as_years_in_the_bands_of_means_too():
    code = f"""import {{ bandWords }} from {json.dumps((FOLDER / "numbers.js").as_uri())};
    const axis = {{ kind: "number", low: 1900, high: 2100, gap: 1 }};
    const said = (est) => bandWords(axis, {{ est, low: est - 1.9, high: est + 1.9 }});
    console.log(JSON.stringify([said(2021.2), said(12021.2)]));"""
    run = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True)
    assert json.loads(run.stdout) == ["2021.2 (2019.3 to 2023.1)", "12,021.2 (12,019.3 to 12,023.1)"], run.stderr


def said_by_the_page(module: str, names: str, said: str) -> list:
    """What an expression over functions of one of the page's modules gives."""
    code = f"import {{ {names} }} from {json.dumps((FOLDER / module).as_uri())}; console.log(JSON.stringify({said}));"
    run = subprocess.run([NODE, "--input-type=module", "-e", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_longitudes_beyond_180_degrees_are_written_as_anyone_writes_them_with_no_blank_before_the_sign():
    column = '{ kind: "number", low: 172, high: 188, unit: "°", turns: true }'
    marks, words = said_by_the_page(
        "numbers.js", "marksOf, placeWords", f"[marksOf({column}, [172, 188], 4), placeWords({column}, 181.25)]"
    )
    assert marks == [[175, "175"], [180, "180"], [185, "\N{MINUS SIGN}175"]] and words == "\N{MINUS SIGN}178.75°"
    longitude = Coordinate("lon", "longitude", -22, -12, 172, -172)
    assert column_values(longitude) == "172 to −172°"
    assert PictureAxis.of(longitude, np.array([172.0, 188.0])).words(181.25) == "\N{MINUS SIGN}178.75°"


def test_marks_of_whole_numbers_are_whole():
    """Under five years stood 2005.0, 2006.0 and so on, as there was room for a mark between them."""
    years = '{ kind: "number", low: 2005, high: 2009, gap: 1 }'
    marks = said_by_the_page("numbers.js", "marksOf", f"marksOf({years}, [2005, 2009.5], 9)")
    assert marks == [[year, str(year)] for year in range(2005, 2010)]


def test_marks_of_an_axis_in_millions_say_so_in_a_word():
    """They were 4,000,000,000, of which every second one had no room."""
    marks = said_by_the_page("numbers.js", "roundMarks", "roundMarks(-5e9, 5e9, 3)")
    assert [words for _, words in marks] == ["\u22125 billion", "0", "5 billion"]
    marks = said_by_the_page("numbers.js", "roundMarks", "roundMarks(0, 1.6e6, 4)")
    assert [words for _, words in marks] == ["0", "0.5 million", "1.0 million", "1.5 million"]
    assert said_by_the_page("numbers.js", "roundMarks", "roundMarks(0, 2e4, 2)")[-1] == [20000, "20,000"]


def test_names_that_run_from_right_to_left_leave_numbers_beside_them_in_place():
    name = "\u05e9\u05dd \u05d4\u05e2\u05d9\u05e8"
    sentence, wanted = (
        f"Most often {name}: 30%, {name} and x",
        f"Most often \u2068{name}\u2069: 30%, \u2068{name}\u2069 and x",
    )
    assert said_by_the_page("canvas.js", "isolated", f"isolated({json.dumps(sentence)})") == wanted == in_html(sentence)


@pytest.mark.thorough
def test_a_living_release_has_a_page_that_asks_all_periods_and_each_as_in_python(tmp_path):
    names = tuple(f"2024-{month:02}" for month in range(1, 7))
    domain = Domain((Categorical("month", names), Numeric("x", 0, 1), Numeric("y", 0, 1)))
    inner = Race(domain.without("month"), kernels.Euclidean(bandwidth=0.2), rows=16, width=16, seed=5)
    random, budget = np.random.default_rng(3), Budget(2, "1e-6")
    people = {"month": random.choice(names, 900), "x": random.random(900), "y": random.random(900)}
    made = core.release(Living.of(domain, "month", inner, budget, released=4), people, budget)
    data, path = made.to_bytes(), tmp_path / "living.npz"
    path.write_bytes(data)
    subjects = payload_of(share_html(made, data, "living.npz"))["subjects"]
    assert [one["name"] for one in subjects] == ["2024-01 to 2024-04", *reversed(names[:4])]
    queries = {"x": [0.1, 0.5, 0.9], "y": [0.3, 0.2, 1.0]}
    runs = [made.run(), *(made.run(name, name) for name in reversed(names[:4]))]
    for said, run in zip(
        ask(*({"file": path, "run": one["run"], "queries": queries} for one in subjects)), runs, strict=True
    ):
        compare({"queries": queries}, said, run)


def test_a_sentence_names_all_that_may_be_ahead_each_with_its_share_and_no_stretch_that_noise_chose():
    """Of M 50.4% and F 49.1% it said "Most are M or F: 50.4%", and of dates spread evenly "Most in July: 18%"."""
    letters = '{ kind: "category", words: ["F", "M", "other", "missing"], valued: 3, cells: 4, missing: 3 }'
    shares = "{ est: [0.491, 0.504, 0.005, 0], low: [0.48, 0.49, 0, 0], high: [0.50, 0.515, 0.02, 0.01] }"
    said = said_by_the_page("numbers.js", "leadOf", f"leadOf({letters}, {shares}, 1)")
    assert re.fullmatch(r"Most often M \(50%\) or F \(49%\)|Most often M \(50\.4%\) or F \(49\.1%\)", said)
    dates = '{ kind: "date", cells: 3, missing: -1 }'
    even = "{ est: [0.34, 0.33, 0.33], low: [0.3, 0.3, 0.3], high: [0.37, 0.36, 0.36] }"
    assert said_by_the_page("numbers.js", "leadOf", f"leadOf({dates}, {even}, 0)") == ""


def test_years_under_a_picture_of_two_columns_are_round():
    """Under cells of two years stood 1940, 1952, 1958 and so on: where every third cell begins."""
    edges = list(range(1940, 2026, 2))
    years = f'{{ kind: "number", low: 1940, high: 2024, gap: 1, valued: {len(edges) - 1}, edges: {edges} }}'
    marks = said_by_the_page("pictures.js", "namesAlong", f"namesAlong({years}, 8, 8)")
    assert [words for _, words in marks] == ["1940", "1960", "1980", "2000", "2020"]
    assert [cell for cell, _ in marks] == [0.25 + 10 * place for place in range(5)]  # a year is half of a cell


def test_a_place_among_years_is_a_year():
    """A point that was asked stood at 1979.0."""
    years = '{ kind: "number", low: 1940, high: 2024, gap: 1, unit: "" }'
    assert said_by_the_page("numbers.js", "placeWords", f"placeWords({years}, 1978.7)") == "1979"
