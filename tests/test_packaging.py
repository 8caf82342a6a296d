"""What `pip install .` installs, and that the locked versions are what it asks for."""

import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.wheel import built

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
LOCKED = ("requirements.txt", "requirements-dev.txt")


def asked(*lists: list[str]) -> list[Requirement]:
    """What some lists ask for, extras of our own left out, as their lists are there too."""
    every = [Requirement(line) for lines in lists for line in lines]
    return [one for one in every if one.name != "frostglass"]


def locked(file: str) -> dict[str, list[Requirement]]:
    text = (ROOT / file).read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split("--hash=")[0] for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found: dict[str, list[Requirement]] = {}
    for line in map(Requirement, lines):
        found.setdefault(canonicalize_name(line.name), []).append(line)
    return found


@pytest.mark.parametrize(
    ("file", "lists"),
    [
        ("requirements.txt", (PROJECT["project"]["dependencies"], EXTRAS["app"], EXTRAS["sql"])),
        (
            "requirements-dev.txt",
            (
                PROJECT["project"]["dependencies"],
                *(lines for extra, lines in EXTRAS.items() if extra != "device"),
                PROJECT["dependency-groups"]["dev"],
            ),
        ),
    ],
)
def test_the_ranges_admit_the_locked_versions(file, lists):
    versions = locked(file)
    for requirement in asked(*lists):
        assert requirement.specifier, f"{requirement} has no oldest version"
        for line in versions[canonicalize_name(requirement.name)]:
            (exact,) = line.specifier
            assert exact.operator == "==" and requirement.specifier.contains(exact.version), (requirement, line)


def test_tests_run_with_the_versions_of_the_app():
    app, development = map(locked, LOCKED)
    assert {name: development.get(name) for name in app} == app


@pytest.mark.parametrize("file", LOCKED)
def test_a_lock_holds_hashes_for_all_platforms_and_no_address(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert not re.search(r"://|^\s*-(?!-hash=sha256:[0-9a-f]{64}\b)|[ =]/", text, re.MULTILINE)
    pieces = re.split(r"^(?=\S)", text.split("make lock\n")[1], flags=re.MULTILINE)
    assert all("--hash=sha256:" in piece for piece in pieces if piece)
    assert text.count("--hash", text.index("\nnumpy=="), text.index("\npandas==")) > 20


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("wheel"))


@pytest.mark.deep
def test_a_wheel_holds_the_library_and_the_app_once(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        texts = {name: archive.read(name) for name in names}
    library = {file for file in (ROOT / "core").rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    app = [*(ROOT / "pages").glob("*.py"), *(ROOT / "sample_data" / "releases").iterdir()]
    app += [ROOT / place for place in ("app.py", ".streamlit/config.toml", "docs/teaching.md")]
    app += [file for file in (ROOT / "sample_data").iterdir() if file.suffix in (".toml", ".csv", ".parquet")]
    app += [file for name in ("texts", "answers", "comparisons") for file in (ROOT / "sample_data" / name).iterdir()]
    app += (ROOT / "readers" / "javascript").glob("*.js")
    expected = {f"frostglass/{file.relative_to(ROOT / 'core')}": file for file in library}
    expected |= {f"frostglass/app/{file.relative_to(ROOT)}": file for file in app}
    assert names == set(expected) and "frostglass/py.typed" in names
    for name, file in expected.items():
        content = file.read_bytes()
        if name.startswith("frostglass/app/") and file.suffix == ".py":
            content = content.replace(b" from core.", b" from frostglass.").replace(
                b"\nfrom core.", b"\nfrom frostglass."
            )
        assert texts[name] == content


@pytest.mark.thorough
def test_a_wheel_asks_for_streamlit_with_the_app_alone(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (place,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(place).decode().splitlines()
    needed = [Requirement(line.split(": ")[1]) for line in lines if line.startswith("Requires-Dist")]
    always = {one.name for one in needed if one.marker is None}
    assert {"numpy", "scikit-learn"} <= always and not {"streamlit", "dask", "duckdb", "psycopg", "mbi"} & always
    streamlit = next(one for one in needed if one.name == "streamlit")
    assert streamlit.marker.evaluate({"extra": "app"}) and not streamlit.marker.evaluate({"extra": "sql"})
