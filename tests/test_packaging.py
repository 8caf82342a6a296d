"""What `pip install .` would install."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_package_of_the_library_is_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    folders = {file.parent.relative_to(ROOT / "core") for file in (ROOT / "core").rglob("__init__.py")}
    names = {".".join(("frostglass", *folder.parts)) for folder in folders}
    assert set(project["tool"]["setuptools"]["packages"]) == names
