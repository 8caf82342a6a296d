"""Programs that make a release once more: run for real, and the file is of the same sketch and promise."""

import shlex

import numpy as np
import pandas as pd
import pytest

from core import Budget, load, release
from core.domain import Categorical, Coordinate, Domain, Numeric, PrivacyUnit, Reading
from core.figures.report.again import command_for, program_for
from core.geometry.kernels import Gaussian
from core.sketches.grids.histogram import Histogram
from core.sketches.part import Part
from core.sketches.tables.tables import Tables
from tests.figures.report.explorations import HARMLESS, HOSTILE, release_of
from tests.figures.report.test_script import shape_of

ODD = "pay' \" + 1"
DOMAIN = Domain((Numeric(ODD, 0, 100, reading=Reading(), missing_category="none"), Categorical("town", ("a", "b"))))


def people(n: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(2)
    return pd.DataFrame({ODD: random.uniform(0, 100, n), "town": random.choice(["a", "b"], n)})


def of_tables():
    return release(Tables.of(DOMAIN, 6), people(), Budget(1, "1e-9"), records=400)


def of_parts():
    density = Histogram(Domain((Numeric("x", 0, 1),)), Gaussian(0.1))
    members = [Part(sketch, name) for sketch, name in ((density, "one"), (Tables.of(density.domain, 4), "two"))]
    return release(members, pd.DataFrame({"x": np.linspace(0, 1, 300)}), Budget(2), records=300)


def executed(program: str, arguments: list[str], monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["program.py", *arguments])
    exec(compile(program, "program.py", "exec"), {})  # as a file is run, without the seconds of a new process


def test_a_program_makes_a_file_of_the_same_kind_that_merges(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made = of_tables()
    people().to_parquet(tmp_path / "people.parquet")
    program = program_for(made)
    assert "Declaration.of(" in program and str(tmp_path) not in program
    executed(program, [str(tmp_path / "people.parquet"), "mine", str(tmp_path / "again.npz")], monkeypatch)
    again = load(tmp_path / "again.npz")
    assert again.sketch == made.sketch and again.privacy.epsilon == made.privacy.epsilon
    assert again.privacy.neighbours == made.privacy.neighbours and not np.array_equal(again.counters, made.counters)
    assert again.merged(made).records == pytest.approx(800, abs=60)


def test_names_of_a_file_are_nothing_but_data():
    assert shape_of(program_for(release_of(HOSTILE))) == shape_of(program_for(release_of(HARMLESS)))
    words = shlex.split(command_for(of_tables(), "it's; rm *.npz"))
    assert words[words.index("--like") + 1] == "it's; rm *.npz" and words[words.index("--delta") + 1] == "0.000000001"


def test_what_no_declaration_says_is_written_as_the_file_has_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    alone = Domain((Coordinate("lat", "latitude", 45, 46, 4, 5),), unit=PrivacyUnit("who", 2))
    frame = pd.DataFrame({"lat": np.linspace(45, 46, 300), "who": np.arange(300)})
    made = release(Tables.of(alone, 4), frame, Budget(2, 0, "replace_one"), records=300)
    program = program_for(made)
    assert "Domain.from_dict(" in program
    frame.to_parquet(tmp_path / "places.parquet")
    executed(program, [str(tmp_path / "places.parquet"), "places", str(tmp_path / "out.npz")], monkeypatch)
    assert load(tmp_path / "out.npz").sketch == made.sketch
    assert load(tmp_path / "out.npz").privacy.neighbours == made.privacy.neighbours


def test_several_questions_are_asked_once_more(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    made = of_parts()
    (tmp_path / "x.csv").write_text("x\n" + "0.5\n" * 50)
    executed(program_for(made), [str(tmp_path / "x.csv"), "x", str(tmp_path / "out.npz")], monkeypatch)
    assert load(tmp_path / "out.npz").sketch == made.sketch
