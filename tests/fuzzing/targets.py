"""What strangers hand over: whatever its bytes, it is used without harm or refused in one sentence.

A target takes bytes that decide what is handed over. It returns what became of that, and raises where something else
than a refusal happened.
"""

from __future__ import annotations

import copy
import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from core import Budget, Categorical, Dates, Domain, Numeric, Tables, ask_sql, load, load_local, load_model, release
from core.domain.declarations import Declaration
from core.errors import RequestError
from core.local.survey import parse_survey
from core.models.training import train
from core.runtime.transient import private_folder
from core.sources import open_source
from core.sources.databases import is_database, tables_of
from core.ui.serving.settings import read_settings
from tests.fuzzing.chances import Chances
from tests.releases_for_tests import members_of, npy, zipped

ROOT = Path(__file__).parents[2]
LONGEST_SENTENCE = 4_000


def refused_or(harmless: Callable[[], object]) -> str:
    """What became of a use: "used", or the sentence of its refusal."""
    try:
        harmless()
    except RequestError as problem:
        sentence = str(problem)
        assert sentence and sentence.rstrip()[-1] in ".?!" and len(sentence) < LONGEST_SENTENCE, sentence
        return sentence
    return "used"


def releases(data: bytes) -> str:
    """Release files with another manifest or other arrays."""
    chances = Chances(data)
    content = _altered_archive(chances, chances.one_of(_known_releases()))

    def use() -> None:
        opened = load(content, memory=1 << 26)
        sketch = opened.sketch
        assert np.isfinite([opened.records, opened.records_error]).all()
        low, high = sketch.query_domain.bounds(sketch.metric)
        answers = opened.answer_points(np.asfortranarray(np.stack([low, high, (low + high) / 2])))
        assert np.isfinite(answers.estimate).all()

    return refused_or(use)


def counts_of_reports(data: bytes) -> str:
    """Files of counted local reports."""
    chances = Chances(data)
    content = _altered_archive(chances, chances.one_of(_counted_reports()))
    return refused_or(lambda: load_local(content).table())


def models(data: bytes) -> str:
    """Model files."""
    chances = Chances(data)
    text = json.dumps(chances.altered(copy.deepcopy(_model())))

    def use() -> None:
        model = load_model(text.encode("utf-8", "surrogatepass"))
        middle = {"x": [0.5], "city": ["Bern"]}
        assert len(model.predict(middle)) == 1
        model.coefficients()
        model.card()

    return refused_or(use)


def surveys(data: bytes) -> str:
    """Survey files."""
    chances = Chances(data)
    text = json.dumps(chances.altered(copy.deepcopy(chances.one_of(_surveys()))))
    return refused_or(lambda: parse_survey(text).text)


def declarations(data: bytes) -> str:
    """Declarations in YAML, cut up and put together again."""
    chances = Chances(data)
    lines = _declaration().splitlines()
    for _ in range(1 + chances.below(4)):
        place, action = chances.below(len(lines)), chances.below(5)
        if action == 0 and len(lines) > 1:
            del lines[place]
        elif action == 1:
            lines.insert(place, chances.one_of(lines))
        elif action == 2:
            lines[place] = lines[place].partition(":")[0] + ": " + chances.text()
        elif action == 3:
            lines[place] = chances.one_of(("  ", "\t", "- ", "&a ", "*a ", "!!python/object ", "<<: ")) + lines[place]
        else:
            lines[place] = lines[place].replace(chances.one_of("0123456789:[]{},-"), str(chances.one_of(YAML_PIECES)))
    text = "\n".join(lines)
    return refused_or(lambda: Declaration.of(Declaration.of(text).text()))


def questions(data: bytes) -> str:
    """Questions in SQL, of words that belong there and of others."""
    chances = Chances(data)
    words = [chances.one_of(SQL) for _ in range(chances.below(24))]
    text = ("SELECT " if chances.below(4) else "") + " ".join(word if word else chances.text() for word in words)
    return refused_or(lambda: ask_sql(_tables(), text))


def databases(data: bytes) -> str:
    """SQLite files with other bytes, most of them where names and types are, or cut short."""
    chances = Chances(data)
    content = bytearray(_database())
    for _ in range(1 + chances.below(8)):
        within = chances.one_of((100, 1_600, len(content)))
        content[chances.below(1 << 16) % within] = chances.one_of((0, 0x80, 0xFF, chances.below(256)))
    if chances.below(8) == 0:
        del content[chances.below(len(content)) :]

    with private_folder() as folder:
        path = folder / "damaged.sqlite"
        path.write_bytes(content)
        names: list[str] = []
        became = {refused_or(lambda: names.extend(tables_of(path) if is_database(path) else ()))}
        became |= {refused_or(lambda name=name: _read_through(f"{path}::{name}")) for name in names}
    return " ".join(sorted(became))


def _read_through(name: str) -> None:
    """Read the columns of a table as numbers where they are numbers, and as categories otherwise."""
    source = open_source(name)
    for column in source.columns[:4]:
        numbers = Numeric(column.name, 0, 9)
        domain = Domain((numbers if column.kind == "number" else Categorical(column.name, ("k1", "k2")),))
        sum(len(domain.encode(batch)) for batch in source.batches(domain))


def configurations(data: bytes) -> str:
    """Configurations of a served app, cut up, and with values that belong elsewhere or nowhere."""
    chances = Chances(data)
    with private_folder() as folder:
        lines = _configuration().replace("FOLDER", str(folder)).splitlines()
        for _ in range(1 + chances.below(3)):
            place, action = chances.below(len(lines)), chances.below(4)
            if action == 0 and len(lines) > 1:
                del lines[place]
            elif action == 1:
                lines.insert(place, chances.one_of(lines))
            elif action == 2:
                lines[place] = lines[place].partition("=")[0] + "= " + chances.one_of(TOML_VALUES)
            else:
                lines[place] = lines[place].partition("=")[0] + "= " + json.dumps(chances.text())
        path = folder / "serving.toml"
        path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
        path.chmod(0o600)
        return refused_or(lambda: read_settings(path).roles_of("ann@example.org", frozenset()))


READERS = (releases, counts_of_reports, models, surveys, declarations, questions, databases, configurations)
TARGETS = MappingProxyType({one.__name__: one for one in READERS})

TOML_VALUES = (
    "9" * 5_000,
    "[" * 20_000,
    "{a=" * 5_000,
    '"/' + "a" * 5_000 + '"',
    *"""\
"https://[::1"|"https://a:99999"|"https://a/?b"|[[]]|[1, 'a']|nan|-inf|0x1F|true|2026-13-45|1979-05-27T07:32:00Z|'
"\\u0000"|"::/0"|{}|a.b = 1""".replace("\n", "|").split("|"),
)

YAML_PIECES = (
    "-1",
    "1e400",
    "[",
    "]",
    "{a: b}",
    "~",
    "null",
    "2026-13-45",
    "0x1F",
    "1_000",
    "|",
    ">",
    "'",
    '"',
    "é",
    "\u202e",
)
SQL = (
    "",
    "",
    *"""\
SELECT|FROM|records|WHERE|GROUP BY|ORDER BY|LIMIT|AND|OR|NOT|BETWEEN|IN|LIKE|HAVING|DESC
COUNT(*)|COUNT(DISTINCT city)|AVG(pay)|SUM(pay)|MEDIAN(pay)|QUANTILE(pay, 0.9)|MIN(pay)|AVG(since)|AS n
city|pay|since|"city"|`city`|'Bern'|'Basel'|'2024-01-05'|DATE '2024-01-05'|10|-1|1e400|0.5|NULL|*|,|(|)
=|<>|>=|<|CASE WHEN|THEN|END|UNION ALL|WITH a AS|--|;|DROP TABLE records|OVER ()|::date|INTERVAL 1 DAY
EXTRACT(YEAR FROM since)""".replace("\n", "|").split("|"),
)
"""Words of questions, and "" for any text."""


def _altered_archive(chances: Chances, content: bytes) -> bytes:
    """A release file, or one of counted reports, with parts of its manifest, its arrays or its bytes changed."""
    action = chances.below(8)
    if action == 0:
        changed = bytearray(content)
        for _ in range(1 + chances.below(8)):
            changed[chances.below(1 << 16) % len(changed)] = chances.below(256)
        return bytes(changed)
    members = members_of(content)
    manifest = json.loads(str(np.load(io.BytesIO(members["manifest.npy"]), allow_pickle=False)))
    if action <= 2:
        name = chances.one_of(sorted(members))
        members[name] = npy(_altered_array(chances, np.load(io.BytesIO(members[name]), allow_pickle=False)))
    if action != 1:
        text = json.dumps(chances.altered(manifest))
        members["manifest.npy"] = npy(np.array(text.encode("utf-8", "replace").decode()))
    return zipped(members, zipfile.ZIP_STORED)


def _altered_array(chances: Chances, array: np.ndarray) -> np.ndarray:
    action = chances.below(4)
    if action == 0 and array.dtype.kind in "iu":
        return array.astype(chances.one_of(["i1", "u8", "f4", "f8", "c8", "U3", "S2", "?"]), copy=False)
    if action == 1:
        return array.reshape(-1)[: chances.below(array.size + 1)]
    if action == 2:
        return array.reshape(chances.one_of([(-1,), (1, -1), (-1, 1), (1, 1, -1)]))
    if array.dtype.kind in "iu" and array.size:
        array = array.astype("i8").reshape(array.shape)
        array.reshape(-1)[chances.below(1 << 16) % array.size] = chances.one_of([2**62, -(2**63), 2**63 - 1, 0, -1])
    return array


@cache
def _known_releases() -> tuple[bytes, ...]:
    """One small release of every kind that was ever written."""
    return tuple(path.read_bytes() for path in sorted((ROOT / "tests" / "known_releases").glob("*.npz")))


@cache
def _counted_reports() -> tuple[bytes, ...]:
    """A file of each kind of survey whose answers are counted."""
    from core.local.heavy_hitters import Alphabet
    from core.local.local_answers import FoundRelease, SketchRelease
    from core.local.local_release import LocalRelease
    from core.local.survey import OpenSurvey, Survey, TextSurvey, sketch
    from core.local.text_searches import PrefixExtending

    survey = Survey.of("Which?", ("a", "b", "c"), "oue", 1)
    tally = survey.oracle.aggregate(survey.oracle.privatise(np.zeros(50, dtype=np.int64)))
    asked = OpenSurvey("Which?", sketch("count-min", 1, rows=3, width=8))
    counted = asked.oracle.aggregate(asked.oracle.privatise(asked.keys(["a"] * 50)))
    search = TextSurvey("Which?", PrefixExtending(Alphabet("ab", 2), 4, 1))
    found = FoundRelease.of(search, search.oracle.privatise(["ab"] * 500), 0)
    made = (LocalRelease.of(survey, tally, 0), SketchRelease.of(asked, counted, 0, ["a", "b"]), found)
    return tuple(one.to_bytes() for one in made)


@cache
def _model() -> Any:
    columns = Domain.of(x=(0, 1), city=["Bern", "Basel"], ill=["no", "yes"])
    people = pd.DataFrame(
        {"x": np.linspace(0, 1, 60), "city": ["Bern", "Basel"] * 30, "ill": ["no"] * 30 + ["yes"] * 30}
    )
    return train(people, "ill", columns, Budget(1)).to_dict()


@cache
def _surveys() -> tuple[Any, ...]:
    from core.local.survey import OpenSurvey, Survey, sketch

    names = ("de", "oue", "olh", "hr", "ss")
    listed = tuple(json.loads(Survey.of("Which?", ("a", "b", "c"), name, 1).text) for name in names)
    return listed + tuple(json.loads(OpenSurvey("Which?", sketch(name, 1)).text) for name in ("rappor", "count-min"))


@cache
def _declaration() -> str:
    paper = (ROOT / "docs" / "columns.md").read_text(encoding="utf-8")
    return paper.partition("```yaml\n")[2].partition("```")[0]


@cache
def _database() -> bytes:
    """Tables, a view and an index in pages so small that most bytes mean something."""
    with private_folder() as folder:
        with closing(sqlite3.connect(folder / "whole.sqlite")) as base:
            base.execute("PRAGMA page_size=512")
            base.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT, price DOUBLE, raw BLOB)")
            base.execute("CREATE VIEW items AS SELECT item, price * 2 AS twice FROM orders")
            base.execute("CREATE INDEX by_item ON orders (item)")
            base.execute("CREATE TABLE codes (code TEXT PRIMARY KEY, number NUM) WITHOUT ROWID")
            rows = [(f"é{one}", one / 3, b"x" * (one % 90)) for one in range(60)]
            base.executemany("INSERT INTO orders (item, price, raw) VALUES (?, ?, ?)", rows)
            base.executemany("INSERT INTO codes VALUES (?, ?)", [(f"k{one}", one) for one in range(30)])
            base.commit()
        return (folder / "whole.sqlite").read_bytes()


@cache
def _configuration() -> str:
    """The example of the paper, with folders that are there and without secrets in other files."""
    paper = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    text = paper.partition("```toml\n")[2].partition("```")[0]
    for name in ("/var/lib/frostglass", "/srv/data/ann"):
        text = text.replace(name, "FOLDER")
    return re.sub(r'(client|cookie)_secret_file = "[^"]*"', r'\1_secret = "0123456789abcdef0123456789abcdef"', text)


@cache
def _tables() -> Any:
    since = Dates("since", "2024-01-01", "2024-12-31")
    columns = Domain((Categorical("city", ("Basel", "Bern")), Numeric("pay", 0, 9_000), since))
    days = pd.date_range("2024-01-01", periods=300).astype(str)
    people = pd.DataFrame({"city": ["Bern", "Basel"] * 150, "pay": np.linspace(0, 9_000, 300), "since": days})
    return release(Tables(columns), people, Budget(1), records=300)
